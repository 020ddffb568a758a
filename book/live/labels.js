// Finds places for a chart's labels where they cover neither each other nor the lines. Pure: boxes and points in px.

const AIR = 2; // px kept free around a label
const ROWS = [-6, 16, -20, 30, -36, -52, -68]; // px from a point to the base line of its name, best first
const BESIDE = ROWS.flatMap((dy) => [[8, dy], [-8, dy]]);

// Labels stand in rows of one text line's height; x and y give a text's start or end on its base line.
export const besidePoint = (x, y) =>
  BESIDE.map(([dx, dy]) => ({x: x + dx, y: y + dy, align: dx > 0 ? "left" : "right"}));

export const alongVertical = (x, box, line) =>
  [...Array(Math.max(1, Math.floor(box.height / line)))].flatMap((_, row) =>
    [["left", 5], ["right", -5]].map(([align, dx]) => ({x: x + dx, y: box.top + line * (row + 0.8), align})));

export const alongHorizontal = (y, box, line) =>
  [-4, line].flatMap((dy) => [
    {x: box.right - 2, y: y + dy, align: "right"},
    {x: box.left + 4, y: y + dy, align: "left"},
  ]);

// The first of the places that costs least: text over text or off the picture is worst, then text over a line.
export function freest(places, {width, height}, {taken, crossed, bounds}) {
  let [best, least] = [null, Infinity];
  for (const place of places) {
    const asked = cost(boxAt(place, width, height), taken, crossed, bounds);
    if (asked < least) [best, least] = [place, asked];
    if (!least) break; // mostly the first
  }
  return best;
}

export function boxAt({x, y, align}, width, height) {
  const left = align === "left" ? x : x - width;
  return {left: left - AIR, right: left + width + AIR, top: y - 0.8 * height - AIR, bottom: y + 0.25 * height + AIR};
}

function cost(box, taken, crossed, bounds) {
  const area = (box.right - box.left) * (box.bottom - box.top);
  const covered = taken.reduce((sum, other) => sum + overlap(box, other), 0);
  const lines = crossed.filter(([x, y]) => x > box.left && x < box.right && y > box.top && y < box.bottom).length;
  return 1000 * (covered + area - overlap(box, bounds)) + lines;
}

function overlap(a, b) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

// Points along a line through these places, close enough that no label slips between two.
export function along(places, every = 6) {
  return places.slice(1).flatMap(([x, y], i) => {
    const [x0, y0] = places[i];
    const steps = Math.max(1, Math.ceil(Math.hypot(x - x0, y - y0) / every));
    return [...Array(steps)].map((_, k) => [x0 + ((x - x0) * k) / steps, y0 + ((y - y0) * k) / steps]);
  });
}
