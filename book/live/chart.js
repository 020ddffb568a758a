// Draws a what-if's chart with uPlot: lines, points and bars, log axes, reference lines, labels in place.
// Text and axes take the page's own text colour whenever they are drawn, so that they follow the theme.

import uPlot from "uplot";
import {along, alongHorizontal, alongVertical, besidePoint, boxAt, freest} from "./labels.js";
import {aligned, barTicks, hasKind, limits, numberText, piled, spread, ticks} from "./scale.js";

const COLOURS = ["#1b7abf", "#d55e00", "#0b9069", "#b8579a", "#997500", "#7a7a7a"]; // as in lib/plots/style.py
const DASHES = [[], [], [], [7, 3], [7, 3], [2, 3]];
const [FAINT, SOFT] = [0.14, 0.55]; // opacity of grid lines, of reference lines
const LINE = 15; // px from one line of text to the next
const WIDEST = 620; // px
const LABEL_SHARE = 0.3; // of the width, at most, for labels at line ends
const FONT = '13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const drawings = new WeakMap(); // element -> {uplot, chart, kind}

// Draw a chart into an element, or move the one that is there.
export function draw(element, given) {
  const chart = withEnds(piled(given));
  const kinds = chart.series.map((series) => series.kind);
  const kind = JSON.stringify([chart.x.scale, chart.y.scale, chart.stacked, kinds]);
  const drawing = drawings.get(element);
  if (drawing?.kind === kind) {
    drawing.chart = chart;
    drawing.uplot.batch((u) => u.setData(aligned(chart))); // at once: see drawAnswer
  } else {
    drawing?.uplot.destroy();
    drawings.set(element, create(element, chart, kind));
  }
  element.setAttribute("role", "img"); // last: a font on the canvas asks for the style of all that was changed
  element.setAttribute("aria-label", chart.alt);
}

const withEnds = (chart) => ({...chart, ends: {x: limits(chart, "x"), y: limits(chart, "y")}});

function create(element, chart, kind) {
  const drawing = {chart, kind, ink: inkOf(element)};
  const size = sizeOf(element);
  const reading = Object.assign(document.createElement("p"), {className: "what-if-reading", ariaHidden: "true"});
  element.replaceChildren();
  element.removeAttribute("tabindex"); // the still picture may have scrolled; this one fits
  drawing.uplot = new uPlot(options(drawing, reading, size), aligned(chart), element);
  element.append(reading);
  observe(element, drawing);
  return drawing;
}

const inkOf = (element) => getComputedStyle(element).color;

function sizeOf(element) {
  const width = Math.min(element.clientWidth, WIDEST);
  return {width, height: Math.round(Math.max(230, 0.6 * width))};
}

const themes = new MutationObserver(() => redraws.forEach((redraw) => redraw()));
const redraws = new Set();
themes.observe(document.documentElement, {attributeFilter: ["data-theme", "data-mode", "class"]});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraws.forEach((redraw) => redraw()));

function observe(element, drawing) {
  const {uplot} = drawing;
  const redraw = () => {
    drawing.ink = inkOf(element);
    uplot.redraw(false, true);
  };
  redraws.add(redraw);
  const sizes = new ResizeObserver(() => {
    const size = sizeOf(element);
    if (size.width && size.width !== uplot.width) uplot.setSize(size);
  });
  sizes.observe(element);
  uplot.hooks.destroy = [() => (redraws.delete(redraw), sizes.disconnect())];
}

function options(drawing, reading, size) {
  return {
    ...size,
    series: [{}, ...drawing.chart.series.map(seriesOptions)],
    scales: Object.fromEntries(["x", "y"].map((axis) => [axis, scaleOptions(drawing, axis)])),
    axes: [axisOptions(drawing, "x"), axisOptions(drawing, "y")],
    padding: [2 * LINE, (u) => rightOf(u, drawing.chart), 2, 4],
    legend: {show: false},
    cursor: {y: false, drag: {x: false, y: false}, points: {size: 7}},
    hooks: {
      draw: [(u) => annotate(u, drawing)],
      setCursor: [(u) => (reading.textContent = readingText(u, drawing.chart))],
    },
  };
}

const colourOf = ({colour}, i) => COLOURS[(colour ?? i) % COLOURS.length];

function seriesOptions(series, i) {
  const [{kind}, stroke] = [series, colourOf(series, i)];
  if (kind === "points") return {stroke, paths: () => null, points: {show: true, size: 8, fill: stroke}};
  if (kind === "bars") return {stroke, fill: stroke, paths: uPlot.paths.bars({size: [0.7, 80]}), points: {show: false}};
  if (series.own) return {stroke, fill: stroke, width: 0, paths: uPlot.paths.linear(), points: {show: false}};
  const dash = DASHES[i % DASHES.length];
  const path = {paths: uPlot.paths.spline(), pxAlign: 0}; // points put on whole pixels would bend the curve
  return {stroke, width: 2.5, dash, spanGaps: true, ...path, points: {show: false}};
}

function scaleOptions(drawing, axis) {
  return {time: false, distr: drawing.chart[axis].scale === "log" ? 3 : 1, range: () => drawing.chart.ends[axis]};
}

function axisOptions(drawing, axis) {
  const ink = () => drawing.ink;
  const faint = () => withAlpha(drawing.ink, FAINT);
  return {
    scale: axis,
    font: FONT,
    stroke: ink,
    grid: {stroke: faint, width: 1},
    ticks: {stroke: ink, width: 1, size: 4},
    border: {show: true, stroke: ink, width: 1},
    gap: 3,
    size: axis === "x" ? 42 : (u, values) => roomFor(u.ctx, values ?? []),
    splits: (u) => splitsOf(u, drawing.chart, axis),
    filter: (u, splits) => splits,
    values: (u, splits) => splits.map((value) => numberText(value, 4)),
  };
}

function splitsOf(u, chart, axis) {
  if (axis === "x" && hasKind(chart, "bars")) return barTicks(chart, tickCount(u, axis));
  return ticks(...chart.ends[axis], chart[axis].scale, tickCount(u, axis));
}

// Beside an axis, for its numbers, in steps: the canvas is made anew, and the plot jumps, whenever it changes.
const roomFor = (ctx, texts) => 8 * Math.ceil((12 + Math.max(0, ...texts.map((text) => textWidth(ctx, text)))) / 8);

const tickCount = (u, axis) => Math.max(2, Math.min(6, Math.floor(axis === "x" ? u.width / 70 : u.height / 45)));

// ---- Text on the canvas: axis labels, labels at line ends and at points, reference lines

function annotate(u, {chart, ink}) {
  const {ctx} = u;
  ctx.save();
  ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
  ctx.font = FONT;
  ctx.textBaseline = "alphabetic"; // the axes leave another one
  ctx.fillStyle = ink;
  const box = boxOf(u);
  write(ctx, chart.y.label, 4, LINE, "left");
  write(ctx, chart.x.label, Math.max(box.left + box.width, textWidth(ctx, chart.x.label) + 4), u.height - 5, "right");
  const taken = labelLineEnds(u, chart, box);
  drawReferences(u, chart, ink, box);
  labelInside(u, chart, box, taken);
  ctx.restore();
}

function boxOf(u) {
  const [left, top, width, height] = ["left", "top", "width", "height"].map((side) => u.bbox[side] / uPlot.pxRatio);
  return {left, top, width, height, right: left + width, bottom: top + height};
}

const xOf = (u, value, box) => box.left + u.valToPos(value, "x");
const yOf = (u, value, box) => box.top + u.valToPos(value, "y");

function write(ctx, text, x, y, align) {
  ctx.textAlign = align;
  ctx.fillText(text, x, y);
}

const widths = new Map(); // text -> px: measuring is slow, and the same few texts come again with every move

function textWidth(ctx, text) {
  if (!widths.has(text)) {
    ctx.save();
    ctx.font = FONT;
    widths.set(text, ctx.measureText(text).width);
    ctx.restore();
  }
  return widths.get(text);
}

const endsOf = (chart) =>
  chart.series.map((series, i) => ({...series, shade: colourOf(series, i)})).filter(({kind, own}) => kind === "line" || own);

function rightOf(u, chart) {
  const room = LABEL_SHARE * u.width;
  const lines = endsOf(chart).flatMap(({label}) => wrap(u.ctx, label, room));
  return Math.max(18, ...lines.map((line) => textWidth(u.ctx, line) + 20));
}

function wrap(ctx, text, room) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && textWidth(ctx, longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// Gives the boxes that the labels take.
function labelLineEnds(u, chart, box) {
  const ends = endsOf(chart).map((series) => ({
    colour: series.shade,
    lines: wrap(u.ctx, series.label, LABEL_SHARE * u.width),
    y: yOf(u, series.middle ?? series.y.at(-1), box),
    x: xOf(u, series.x.at(-1), box),
  }));
  const height = LINE * Math.max(1, ...ends.map(({lines}) => lines.length));
  const placed = spread(ends.map(({y}) => y), height, box.top, box.bottom);
  return ends.flatMap(({colour, lines, x, y}, i) => {
    stroke(u.ctx, colour, [[x, y], [box.right + 12, placed[i]]]);
    const first = placed[i] + 4 - (LINE * (lines.length - 1)) / 2;
    return lines.map((line, n) => {
      const at = {x: box.right + 15, y: first + n * LINE, align: "left"};
      write(u.ctx, line, at.x, at.y, at.align);
      return boxAt(at, textWidth(u.ctx, line), LINE);
    });
  });
}

function stroke(ctx, colour, points, dash = []) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.2;
  ctx.setLineDash(dash);
  ctx.beginPath();
  points.forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.stroke();
}

function drawReferences(u, chart, ink, box) {
  for (const line of chart.references) stroke(u.ctx, withAlpha(ink, SOFT), acrossBox(u, line, box), [4, 3]);
}

function acrossBox(u, {axis, value}, box) {
  const at = axis === "x" ? xOf(u, value, box) : yOf(u, value, box);
  return axis === "x" ? [[at, box.top], [at, box.bottom]] : [[box.left, at], [box.right, at]];
}

// Reference lines and points get their names where room is; a group of points has one, led to the highest.
function labelInside(u, chart, box, taken) {
  const bounds = {left: box.left, top: LINE, right: u.width, bottom: box.bottom};
  const room = {taken, crossed: crossedBy(u, chart, box), bounds};
  for (const {label, axis, value} of chart.references) {
    const places = axis === "x" ? alongVertical : alongHorizontal;
    const at = axis === "x" ? xOf(u, value, box) : yOf(u, value, box);
    place(u.ctx, label, places(at, box, LINE), room);
  }
  const named = (kind) => kind === "points" || (kind === "bars" && !chart.stacked && chart.series.length > 1);
  chart.series.forEach(({label, kind, x, y}, i) => {
    if (!named(kind) || !x.length) return;
    const top = y.indexOf(Math.max(...y));
    const at = [xOf(u, x[top], box), yOf(u, y[top], box)];
    const name = place(u.ctx, label, besidePoint(...at), room);
    stroke(u.ctx, COLOURS[i % COLOURS.length], [at, [name.x, name.y - 4.5]]);
  });
}

function crossedBy(u, chart, box) {
  const lines = chart.references.map((line) => acrossBox(u, line, box));
  const series = chart.series.map(({x, y}) => x.map((value, i) => [xOf(u, value, box), yOf(u, y[i], box)]));
  const joined = series.filter((_, i) => chart.series[i].kind === "line");
  return [...series.flat(), ...[...joined, ...lines].flatMap((places) => along(places))];
}

function place(ctx, text, places, room) {
  const size = {width: textWidth(ctx, text), height: LINE};
  const found = freest(places, size, room);
  room.taken.push(boxAt(found, size.width, size.height));
  write(ctx, text, found.x, found.y, found.align);
  return found;
}

function readingText(u, chart) {
  const {idx} = u.cursor;
  if (idx === null || idx === undefined) return "";
  const values = chart.series.map(({label, own}, i) => [label, (own ?? u.data[i + 1])[idx]]).filter(([, value]) => value !== null);
  const all = [[chart.x.label, u.data[0][idx]], ...values];
  return all.map(([label, value]) => `${label}: ${numberText(value)}`).join(" · ");
}

const withAlpha = (colour, alpha) => colour.replace(/^rgba?\(([^,]+,[^,]+,[^,)]+).*\)$/, `rgba($1, ${alpha})`);
