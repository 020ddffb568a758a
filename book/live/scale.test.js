import assert from "node:assert/strict";
import {test} from "node:test";
import {along, alongHorizontal, alongVertical, besidePoint, boxAt, freest} from "./labels.js";
import {aligned, barTicks, limits, numberText, piled, spread, ticks} from "./scale.js";

const chart = (series, x = "linear", y = "linear", references = []) =>
  ({x: {scale: x}, y: {scale: y}, series, references});
const line = (x, y) => ({kind: "line", label: "line", x, y});

test("numbers are written as people write them, like the still picture's ticks", () => {
  const texts = [0, 0.45, 20, 5000, 2e9, 1e12, 1e22, 5e21, 0.0002, -1500].map((value) => numberText(value, 4));
  assert.deepEqual(texts, ["0", "0.45", "20", "5K", "2B", "1T", "10²²", "5·10²¹", "2·10⁻⁴", "-1.5K"]);
});

test("ticks are few, round and inside", () => {
  assert.deepEqual(ticks(1e18, 1e24, "log", 6), [1e18, 1e20, 1e22, 1e24]);
  assert.deepEqual(ticks(2e9, 7e10, "log", 6), [2e9, 5e9, 1e10, 2e10, 5e10]);
  assert.deepEqual(ticks(0, 1, "linear", 6), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(2.04, 2.17, "linear", 6), [2.05, 2.1, 2.15]);
});

test("limits hold every series and reference line", () => {
  const both = chart([line([1, 10], [2, 3])], "log", "linear", [{axis: "x", value: 100}, {axis: "y", value: 1}]);
  assert.deepEqual(limits(both, "x"), [1, 100]);
  const [low, high] = limits(both, "y");
  assert.ok(low < 1 && high > 3);
});

test("bars stand on zero", () => {
  const bars = chart([{kind: "bars", label: "b", x: [1, 2, 3], y: [5, 6, 7]}]);
  assert.equal(limits(bars, "y")[0], 0);
  assert.deepEqual(limits(bars, "x"), [0.4, 3.6]);
});

test("what is stacked ends where the next begins, and is drawn from the top down", () => {
  const bars = (label, y) => ({kind: "bars", label, x: [0, 1], y});
  const pile = piled({...chart([bars("a", [1, 2]), bars("b", [3, 4])]), stacked: true});
  assert.deepEqual(pile.series.map(({label, y}) => [label, y]), [["b", [4, 6]], ["a", [1, 2]]]);
  assert.deepEqual(pile.series.map(({middle}) => middle), [4, 1]);
  assert.deepEqual(pile.series.map(({colour}) => colour), [1, 0]);
  assert.equal(limits(pile, "y")[0], 0);
  assert.ok(limits(pile, "y")[1] > 6);
});

test("ticks stand under bars", () => {
  const bars = chart([{kind: "bars", label: "a", x: [0, 1, 2, 3, 4], y: [1, 1, 1, 1, 1]}]);
  assert.deepEqual(barTicks(bars, 8), [0, 1, 2, 3, 4]);
  assert.deepEqual(barTicks(bars, 3), [0, 2, 4]);
});

test("a single value still has an axis", () => {
  for (const scale of ["linear", "log"]) {
    const [low, high] = limits(chart([line([5], [5])], scale, scale), "y");
    assert.ok(low < 5 && high > 5);
  }
});

test("series over different x share one rising column of x", () => {
  const both = chart([line([3, 1], [30, 10]), line([2, 3], [200, 300])]);
  assert.deepEqual(aligned(both), [[1, 2, 3], [10, null, 30], [null, 200, 300]]);
});

test("labels that would touch are pushed apart, in order and inside", () => {
  assert.deepEqual(spread([10, 12, 90], 15, 0, 100), [10, 25, 90]);
  assert.deepEqual(spread([99, 98], 15, 0, 100), [100, 85]);
});

test("a label takes the first place that covers nothing", () => {
  const bounds = {left: 0, top: 0, right: 200, bottom: 100};
  const size = {width: 40, height: 12};
  const free = {taken: [], crossed: [], bounds};
  const first = freest(besidePoint(50, 50), size, free);
  assert.deepEqual(first, {x: 58, y: 44, align: "left"});
  const second = freest(besidePoint(50, 50), size, {...free, taken: [boxAt(first, 40, 12)]});
  assert.equal(second.align, "right");
  assert.equal(freest(besidePoint(190, 50), size, free).align, "right");
  assert.equal(freest(alongVertical(190, {top: 0, height: 60}, 15), size, free).align, "right");
  assert.ok(freest(alongHorizontal(10, {left: 0, right: 200}, 15), size, free).y > 10);
});

test("a label keeps off a line", () => {
  const crossed = along([[0, 40], [200, 40]]);
  assert.ok(crossed.length > 30);
  const bounds = {left: 0, top: 0, right: 200, bottom: 100};
  const found = freest(besidePoint(50, 50), {width: 40, height: 12}, {taken: [], crossed, bounds});
  assert.equal(found.y, 66);
});
