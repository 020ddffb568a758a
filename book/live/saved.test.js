import assert from "node:assert/strict";
import {test} from "node:test";
import {
  nothing, pageOf, progressOf, readSaved, withCode, withoutCode, withPage, withSolved,
} from "./saved.js";

const kept = withPage(withSolved(withCode(nothing(), "train_flops", "x"), "train_flops"), "notebooks/a", ["train_flops", "b"]);

test("what was kept is read again", () => {
  assert.deepEqual(readSaved(JSON.stringify(kept)), {saved: kept, damaged: false});
  assert.deepEqual(readSaved(null), {saved: nothing(), damaged: false});
});

test("a damaged or an older state is said to be so, and nothing of it is taken", () => {
  const odd = ["", "{", "null", "[]", "7", '{"form":0,"code":{},"solved":[],"pages":{}}', JSON.stringify({...kept, code: {a: 1}}),
    JSON.stringify({...kept, solved: "a"}), JSON.stringify({...kept, pages: {a: "b"}}), JSON.stringify(kept).slice(0, -1)];
  for (const text of odd) assert.deepEqual(readSaved(text), {saved: nothing(), damaged: true}, text);
});

test("starting again forgets the code and the tick of one exercise alone", () => {
  const two = withSolved(withCode(kept, "b", "y"), "b");
  assert.deepEqual(withoutCode(two, "b"), kept);
});

test("solving twice counts once, and a page without a solved exercise has no mark", () => {
  assert.deepEqual(progressOf(withSolved(kept, "train_flops"), "notebooks/a"), {done: 1, of: 2});
  assert.equal(progressOf(kept, "notebooks/other"), null);
  assert.equal(progressOf(withoutCode(kept, "train_flops"), "notebooks/a"), null);
});

test("a page is the same page wherever the book lies", () => {
  assert.equal(pageOf("/x/y/notebooks/recipes.html"), "notebooks/recipes");
  assert.equal(pageOf("/notebooks/recipes.html"), "notebooks/recipes");
});
