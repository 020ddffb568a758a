// Makes an element show a piece of HTML with as few changes as possible: focus, selection and open disclosures survive.
//
// Between two moves it is numbers that change, hardly ever tags. A part that has the same tags as before is not parsed:
// what differs is written into its texts and attributes. The HTML is well formed, without elements that have no end.
// What lies in an element with `data-apart` is left as it is: it is put there by itself.

const PIECES = /<[^>]*>|[^<]+/g; // tags and texts: in values and texts, < and > are escaped
const VALUES = /(?<![\w-])(?!data-key=)([\w-]+)="([^"]*)"/g; // a key is no value: with another one it is another tag
const LETTERS = {amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'"}; // as Python's html.escape names them
const ESCAPED = new RegExp(`&(${Object.keys(LETTERS).join("|")});`, "g");

const drawn = new WeakMap(); // element -> {pieces, nodes}: as they were last written, and the node of each

// The parts are the outermost elements; what stands between them is left out. Where there are more or fewer than before,
// those behind them are moved as they are.
export function patchHtml(element, html) {
  const parts = partsOf(html);
  const old = element.children; // as they are at any moment
  parts.forEach((pieces, i) => {
    while (old.length > parts.length && isOther(old[i], pieces)) old[i].remove();
    if (old.length < parts.length && isOther(old[i], pieces)) insert(element, old[i], pieces);
    else patchPart(element, old[i], pieces);
  });
  while (old.length > parts.length) element.lastElementChild.remove();
}

const isOther = (old, pieces) => drawn.has(old) && drawn.get(old).pieces[0] !== pieces[0];

function insert(element, before, pieces) {
  const fresh = parsed(pieces.join("")).firstChild;
  element.insertBefore(fresh, before);
  remember(fresh, pieces);
}

function partsOf(html) {
  const parts = [];
  let depth = 0;
  for (const piece of html.match(PIECES) ?? []) {
    if (depth > 0) parts.at(-1).push(piece);
    else if (isTag(piece)) parts.push([piece]);
    if (isTag(piece)) depth += isEnd(piece) ? -1 : 1;
  }
  return parts;
}

const isTag = (piece) => piece[0] === "<";
const isEnd = (piece) => piece[1] === "/" && isTag(piece);

function patchPart(parent, old, pieces) {
  if (!old) return insert(parent, null, pieces);
  if (rewrite(drawn.get(old), pieces)) return;
  const fresh = parsed(pieces.join("")).firstChild;
  const shown = alike(old, fresh) ? old : fresh;
  const folds = foldsOf(old);
  if (shown === old) patchElement(old, fresh);
  else old.replaceWith(fresh);
  for (const [key, fold] of foldsOf(shown)) if (folds.has(key)) restore(fold, folds.get(key));
  remember(shown, pieces);
}

// By their keys: whether each is open, and what lies in it.
function foldsOf(element) {
  const found = [...element.querySelectorAll("details[data-key]")];
  return new Map(found.map((fold) => [fold.dataset.key, {fold, open: fold.open, inside: insideOf(fold)}]));
}

const insideOf = (fold) => [...(fold.querySelector("[data-apart]")?.childNodes ?? [])];

// A fold that has moved is as it was.
function restore({fold}, before) {
  if (fold === before.fold) return;
  fold.open = before.open;
  fold.querySelector("[data-apart]")?.replaceChildren(...before.inside);
}

// ---- The same tags: values and texts are written one by one.

function rewrite(before, pieces) {
  const changed = before && changesOf(before.pieces, pieces);
  if (!changed?.every((i) => before.nodes[i]?.isConnected)) return false; // something else has changed the page
  for (const i of changed) write(before.nodes[i], pieces[i]);
  before.pieces = pieces;
  return true;
}

// The places of the pieces that differ, or null where a tag is another one.
function changesOf(before, pieces) {
  if (before.length !== pieces.length) return null;
  const places = [];
  for (let i = 0; i < pieces.length; i++) {
    if (pieces[i] === before[i]) continue;
    if (shapeOf(pieces[i]) !== shapeOf(before[i])) return null;
    places.push(i);
  }
  return places;
}

const shapeOf = (piece) => (isTag(piece) ? piece.replace(VALUES, "$1") : "");

function write(node, piece) {
  if (!isTag(piece)) node.data = plain(piece);
  else for (const [, name, value] of piece.matchAll(VALUES)) node.setAttribute(name, plain(value));
}

const plain = (text) => text.replace(ESCAPED, (_, name) => LETTERS[name]);

// Finds the node of each tag and text, in the order of both; an end has none. What does not fit is not remembered.
function remember(element, pieces) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_ALL, withoutApart);
  let node = element;
  const nodes = pieces.map((piece) => {
    if (isEnd(piece)) return null;
    const found = node;
    node = walker.nextNode();
    return found;
  });
  const fits = pieces.every((piece, i) => isEnd(piece) || nodes[i]?.nodeType === kindOf(piece));
  if (fits && !node) drawn.set(element, {pieces, nodes});
  else drawn.delete(element);
}

const withoutApart = ({parentNode}) =>
  isApart(parentNode) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;

const kindOf = (piece) => (isTag(piece) ? Node.ELEMENT_NODE : Node.TEXT_NODE);

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// ---- Other tags: one element is made like another.

function patch(old, fresh) {
  let node = old.firstChild;
  for (let wanted = fresh.firstChild, after; wanted; wanted = after) {
    after = wanted.nextSibling; // before it is moved
    const following = node?.nextSibling ?? null;
    if (!node) old.append(wanted);
    else if (!alike(node, wanted)) node.replaceWith(wanted);
    else if (node.nodeType !== Node.ELEMENT_NODE) setText(node, wanted.data);
    else if (!node.isEqualNode(wanted)) patchElement(node, wanted);
    node = following;
  }
  while (node) {
    const following = node.nextSibling;
    node.remove();
    node = following;
  }
}

function setText(node, text) {
  if (node.data !== text) node.data = text;
}

function patchElement(old, fresh) {
  patchAttributes(old, fresh);
  if (!isApart(old)) patch(old, fresh);
}

const isApart = (element) => element?.hasAttribute?.("data-apart");

const alike = (a, b) => a.nodeName === b.nodeName && a.getAttribute?.("data-key") === b.getAttribute?.("data-key");

// What is there and not in the new one is removed, but for `open`: that is the reader's.
function patchAttributes(old, fresh) {
  if (!old.hasAttributes() && !fresh.hasAttributes()) return;
  for (const name of fresh.getAttributeNames()) {
    const value = fresh.getAttribute(name);
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of old.getAttributeNames()) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
}
