// Ends, ticks and texts of a chart's axes, and its series on one shared x. Pure; the still picture has the same rules.

const LETTERS = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "K"]];
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const AIR = 0.06; // kept free at an end, as a share of the axis
const DECADES = [[[1, 2, 3, 5], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 6], [[1], 12]];

// Four digits as people write them: K to T, powers of ten beyond.
export function numberText(value, digits = 4) {
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e3)) return String(Number(value.toPrecision(digits)));
  if (size >= 1e3 && size < 1e15) {
    const [scale, letter] = LETTERS.find(([s]) => size >= 0.9999 * s);
    return `${Number((value / scale).toPrecision(digits))}${letter}`;
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = `10${String(Number(exponent)).replace("-", "⁻").replace(/\d/g, (digit) => RAISED[digit])}`;
  return Number(mantissa) === 1 ? power : `${Number(mantissa)}·${power}`;
}

// The series of a stacked chart, from the top of the pile down so that each is drawn over the one above it: `y` is where
// it ends, `own` its values, `middle` the height of its name. Other charts stay as they are.
export function piled(chart) {
  if (!chart.stacked) return chart;
  let below = chart.series[0].y.map(() => 0);
  const series = chart.series.map((one, colour) => {
    const y = one.y.map((value, i) => below[i] + value);
    const middle = (below.at(-1) + y.at(-1)) / 2;
    below = y;
    return {...one, y, own: one.y, middle, colour};
  });
  return {...chart, series: series.reverse()};
}

// Where bars have their ticks: under each, or under every so many.
export function barTicks(chart, atMost) {
  const places = [...new Set(chart.series.flatMap((series) => series.x))].sort((a, b) => a - b);
  const step = Math.ceil(places.length / atMost);
  return places.filter((_, i) => i % step === 0);
}

// Few round numbers between two ends.
export function ticks(low, high, scale, atMost) {
  return scale === "log" ? logTicks(low, high, atMost) : linearTicks(low, high, atMost);
}

function logTicks(low, high, atMost) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  for (const [factors, step] of DECADES) {
    const found = [];
    for (let e = first; e <= last; e += step) found.push(...factors.map((f) => Number(`${f}e${e}`)));
    const inside = found.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
    if (inside.length <= atMost) return inside;
  }
  return [low, high];
}

function linearTicks(low, high, atMost) {
  const rough = (high - low) / Math.max(1, atMost - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * (1 - 1e-9));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found.map((value) => Number(value.toPrecision(12)));
}

// The ends of an axis: all series and reference lines with some air.
export function limits(chart, axis) {
  const values = chart.series.flatMap((series) => series[axis]);
  values.push(...chart.references.filter((line) => line.axis === axis).map((line) => line.value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (chart[axis].scale === "log") {
    const factor = low === high ? 1.1 : (high / low) ** airOf(chart, axis);
    return [low / factor, high * factor];
  }
  return linearLimits(chart, axis, low, high);
}

function linearLimits(chart, axis, low, high) {
  const air = airOf(chart, axis) * (high - low || Math.abs(high) || 1);
  const bars = hasKind(chart, "bars");
  if (axis === "y" && (bars || chart.stacked)) return [Math.min(0, low), high + air];
  if (!bars) return [low - air, high + air];
  const gap = smallestGap(chart);
  return [low - 0.6 * gap, high + 0.6 * gap];
}

const airOf = (chart, axis) => (axis === "x" && hasKind(chart, "line") ? 0 : AIR);

export const hasKind = (chart, kind) => chart.series.some((series) => series.kind === kind);

function smallestGap(chart) {
  const places = [...new Set(chart.series.flatMap((series) => series.x))].sort((a, b) => a - b);
  return Math.min(...places.slice(1).map((place, i) => place - places[i]), places.length > 1 ? Infinity : 1);
}

// The series as columns over one rising x, with null where a series has no point.
export function aligned(chart) {
  const xs = [...new Set(chart.series.flatMap((series) => series.x))].sort((a, b) => a - b);
  const columns = chart.series.map((series) => {
    const at = new Map(series.x.map((x, i) => [x, series.y[i]]));
    return xs.map((x) => at.get(x) ?? null);
  });
  return [xs, ...columns];
}

// Heights of labels, pushed apart until none touches the next; each stays as near as it can to where it belongs.
export function spread(wanted, height, low, high) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const placed = [];
  let top = low;
  order.forEach((i, rank) => {
    const room = high - (order.length - 1 - rank) * height;
    placed[i] = Math.max(top, Math.min(wanted[i], room));
    top = placed[i] + height;
  });
  return placed;
}
