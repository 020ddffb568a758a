// Draws one what-if: puts what state.js knows into the section that lib/whatif/html.py wrote. Decides nothing.

import {patchHtml} from "./patch.js";
import {isStale, placeOfValue, textOfSlider} from "./state.js";

const TYPED_AFTER = 250; // ms
const FADES_AFTER = 300; // ms
const SIZE = `${(BYTES / 1e6).toFixed(1)} MB`;

// What a section says about itself; its start is what its fields hold.
export function describe(section) {
  const fields = fieldsOf(section);
  return {
    id: section.id,
    name: section.dataset.name,
    key: section.id.replace(/^what-if-/, ""),
    start: Object.fromEntries(fields.map((field) => [field.name, startOf(field)])),
    controls: Object.fromEntries(fields.map((field) => [field.name, optionsOf(field)])),
  };
}

const fieldsOf = (section) => [...section.querySelectorAll("[data-control] [name]")];
const optionsOf = (field) => (field.options ? [...field.options].map((option) => option.value) : null);
const startOf = (field) =>
  field.options ? [...field.options].find((option) => option.defaultSelected).value : field.defaultValue;

// Switch the controls on, and report what a reader does with them.
export function open(section, {moved, reset, touched, copied}) {
  const form = section.querySelector("form");
  form.reset();
  form.querySelector("fieldset").disabled = false;
  addCopyButton(form.querySelector(".what-if-reset"), copied);
  const touch = ({target}) => {
    if (!target.closest("[data-control]")) return;
    section.classList.add("what-if-touched");
    touched();
  };
  for (const kind of ["pointerdown", "focusin", "keydown"]) form.addEventListener(kind, touch);
  listen(form, moved, reset);
}

// A slider and a choice count at once, a text when a moment has passed without a further key.
function listen(form, moved, reset) {
  let typing = null;
  const read = (target) => (clearTimeout(typing), moved(...moveOf(target)));
  form.addEventListener("input", ({target}) => {
    clearTimeout(typing);
    if (target.type === "text") typing = setTimeout(() => read(target), TYPED_AFTER);
    else read(target);
  });
  form.addEventListener("change", ({target}) => target.type === "text" && read(target));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => (clearTimeout(typing), setTimeout(reset))); // once the fields are put back
}

function addCopyButton(reset, copied) {
  const button = make("button", {type: "button", className: "what-if-copy", textContent: "Copy link"});
  button.addEventListener("click", copied);
  const both = make("div", {className: "what-if-buttons"});
  reset.replaceWith(both);
  both.append(reset, button);
}

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

function moveOf(target) {
  const slider = target.type === "range";
  return slider ? [target.dataset.for, textOfSlider(target.value, scaleOf(target))] : [target.name, target.value];
}

const scaleOf = (slider) => ({log: slider.dataset.scale === "log", whole: "whole" in slider.dataset});

export function draw(section, whatIf, engine, busy) {
  const {controls, more, message, answer} = partsOf(section);
  for (const control of controls) drawControl(control, whatIf);
  if (more) unfoldMoved(more, whatIf);
  drawMessage(section, message, whatIf, engine);
  answer.setAttribute("aria-busy", String(busy));
  drawStale(answer, isStale(whatIf), busy);
}

// Folded inputs are shown when one is refused, and once when a link has set one: a reader can fold them again.
function unfoldMoved(more, {values, start}) {
  const moved = [...more.querySelectorAll("[name]")].some(({name}) => values[name] !== start[name]);
  if (more.querySelector("[aria-invalid]") || (moved && !("told" in more.dataset))) more.open = true;
  if (moved) more.dataset.told = "";
  else delete more.dataset.told;
}

const fading = new WeakMap(); // answer -> timer after which it is marked as the one before

// While an answer is on its way the one before is not marked within the blink of a move: that would cost a frame.
function drawStale(answer, stale, busy) {
  clearTimeout(fading.get(answer));
  if (stale && busy) fading.set(answer, setTimeout(() => answer.classList.add("what-if-stale"), FADES_AFTER));
  else if (stale !== answer.classList.contains("what-if-stale")) answer.classList.toggle("what-if-stale", stale);
}

const parts = new WeakMap(); // section -> its parts: looked up once, drawn three times a move

function partsOf(section) {
  if (!parts.has(section)) parts.set(section, findParts(section));
  return parts.get(section);
}

function findParts(section) {
  const [more, message, answer, chart, plot, caption] = ["more", "message", "answer", "chart", "plot", "chart figcaption"]
    .map((part) => section.querySelector(`.what-if-${part}`));
  return {controls: fieldsOf(section).map(controlOf), more, message, answer, chart, plot, caption};
}

function controlOf(field) {
  const box = field.closest("[data-control]");
  const unit = box.querySelector(".what-if-unit")?.textContent ?? "";
  return {field, box, unit, slider: box.querySelector("input[type=range]"), name: field.name};
}

// A field or slider that is in the reader's hand is left alone.
function drawControl({field, box, unit, slider, name}, {values, refusal, answer}) {
  const text = values[name];
  if (field !== document.activeElement && field.value !== text) field.value = text;
  drawFault(field, box, refusal?.control === name ? refusal.message : "");
  if (!slider) return;
  if (slider !== document.activeElement && answer?.texts[name] === text) {
    slider.value = placeOfValue(answer.inputs[name], scaleOf(slider));
  }
  const said = `${text} ${unit}`.trim();
  if (slider.getAttribute("aria-valuetext") !== said) slider.setAttribute("aria-valuetext", said);
}

// A refusal stands beside its control and is read with it.
function drawFault(field, control, message) {
  const id = `${field.id}-fault`;
  const shown = document.getElementById(id);
  if (message === (shown?.textContent ?? "")) return;
  shown?.remove();
  const others = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
  if (message) control.append(make("p", {id, className: "what-if-fault", textContent: message}));
  if (message && field === document.activeElement) control.lastElementChild.scrollIntoView({block: "nearest"});
  setOrRemove(field, "aria-describedby", [...(message ? [id] : []), ...others].join(" "));
  setOrRemove(field, "aria-invalid", message && "true");
}

const setOrRemove = (element, name, value) =>
  value ? element.setAttribute(name, value) : element.removeAttribute(name);

const speaking = new WeakMap(); // section -> timer of the sentence that is to be said
const SPEAK_AFTER = 600; // ms without a further answer: a drag is summed up once

function drawMessage(section, message, whatIf, engine) {
  const {kind, text} = messageOf(whatIf, engine, section.contains(document.activeElement));
  clearTimeout(speaking.get(section));
  if (kind === "spoken") speaking.set(section, setTimeout(() => say(message, kind, text), SPEAK_AFTER));
  else say(message, kind, text);
  drawProgress(message, kind === "loading" ? engine.loaded : null);
}

function messageOf(whatIf, engine, touched) {
  if (engine.phase === "stopped" && (whatIf.wanted || touched)) return {kind: "stopped", text: engine.message};
  if (engine.phase === "booting" && (whatIf.wanted || touched)) return {kind: "loading", text: loadingText(engine)};
  if (whatIf.refusal) return {kind: whatIf.refusal.control ? "spoken" : "refused", text: whatIf.refusal.message};
  if (whatIf.notice) return {kind: "notice", text: whatIf.notice};
  return {kind: "spoken", text: whatIf.answer?.title ?? ""};
}

const loadingText = ({loaded}) =>
  loaded < BYTES ? `Fetching ${SIZE}, once: Python and the library of this book.` : "Starting Python.";

// Only one kind is for the ear alone; the same words are not said twice.
function say(message, kind, text) {
  message.className = `what-if-message what-if-${kind}`;
  if (message.textContent !== text) message.textContent = text;
}

function drawProgress(message, loaded) {
  const bar = message.nextElementSibling?.matches("progress") ? message.nextElementSibling : null;
  if (loaded === null) return bar?.remove();
  const shown = bar ?? make("progress", {max: BYTES, ariaLabel: `${SIZE} to fetch`});
  if (!bar) message.after(shown);
  shown.value = loaded;
}

// Put an answer on the page: the chart, its finding and table, the rows. The chart comes first: setting a font on its
// canvas makes the browser work out the style of all that has changed before.
export function drawAnswer(section, {chart, chart_html, html}, drawChart) {
  const shown = partsOf(section);
  shown.chart.hidden = !chart;
  if (chart) drawChart(shown.plot, chart);
  patchHtml(shown.caption, chart_html);
  patchHtml(shown.answer, html);
}

// What is folded away in the last answer: how its numbers come about, and its chart as a table.
export function drawFolds(section, {folds, table}) {
  const {answer, caption} = partsOf(section);
  for (const fold of answer.querySelectorAll("[data-key]")) {
    patchHtml(fold.querySelector("[data-apart]"), folds[fold.dataset.key]);
  }
  const apart = caption.querySelector("[data-apart]");
  if (apart) patchHtml(apart, table);
}
