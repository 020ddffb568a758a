// Connects the page's what-ifs with one worker: events go into state.js, what follows from them is done here.

import {
  begin, DAMAGED, isAtStart, isBusy, isSeenAlike, isTry, isWanted, next, question, readAddress, writeAddress,
} from "./state.js";
import {drawExercises, openExercises} from "./exercises.js";
import {describe, draw, drawAnswer, drawFolds, open} from "./view.js";

const VIEWED_FOR = 1000; // ms in view before the runtime is fetched ahead
const STALLED_AFTER = 30_000; // ms without a further byte, or of starting Python, on a slow machine
const ANSWER_TAKES = 10_000; // ms at most; the slowest what-if needs a tenth of a second, at first half a second more
const ADDRESS_AFTER = 400; // ms without a further answer: browsers limit how often an address may change

const VERDICT_TAKES = 4_000; // ms for each call of a reader's function

const STALLED = "Nothing more came for 30 s, so this was ended. Move a control to try again.";
const STUCK =
  "No answer within 10 s, so the calculation was ended. The last good answer stays. Move a control to try again.";
const ENDLESS = "Stopped after 4 s without an answer. Does a loop never end? Change the code and run it again.";
const NO_WORKER = "The page's worker could not be started. Move a control to try again.";
const COPIED = "The link to these values is copied.";

const sections = [...document.querySelectorAll("section.what-if")];
const whatIfs = sections.map(describe);
let state = begin(whatIfs);
let worker = null;
let limit = null;
let charts = null; // a promise of their library
let chartLibrary = null; // once it is there
let addressTimer = null;

function dispatch(event) {
  const before = state;
  state = next(state, event);
  if (isWanted(state)) boot();
  ask();
  for (const section of sections) render(section, before);
  if (state.attempts !== before.attempts || state.engine !== before.engine) drawExercises(state);
}

function render(section, before) {
  const whatIf = state.whatIfs[section.id];
  if (isSeenAlike(state, before, section.id)) return;
  const {answer, folded} = before.whatIfs[section.id];
  if (whatIf.answer !== answer) renderAnswer(section, whatIf.answer); // see drawAnswer
  if (whatIf.folded && whatIf.folded !== folded) drawFolds(section, whatIf.folded);
  draw(section, whatIf, state.engine, isBusy(state, section.id));
}

function renderAnswer(section, answer) {
  drawAnswer(section, answer, drawChart);
  clearTimeout(addressTimer);
  addressTimer = setTimeout(writeAddresses, ADDRESS_AFTER);
}

// ---- The worker

function boot() {
  if (!["asleep", "ahead"].includes(state.engine.phase)) return;
  worker ??= hire();
  worker.postMessage({type: "boot"});
  state = next(state, {type: "booting"});
  endAfter(STALLED_AFTER, STALLED);
  loadCharts();
}

function fetchAhead() {
  if (state.engine.phase !== "asleep") return;
  worker = hire();
  worker.postMessage({type: "fetch"});
  dispatch({type: "fetching"});
}

function ask() {
  const asked = question(state);
  if (!asked) return;
  state = next(state, {type: "asked", question: asked});
  worker.postMessage({type: isTry(asked) ? "try" : "ask", ...asked});
  endAfter(ANSWER_TAKES, STUCK);
}

function hire() {
  const hired = new Worker(new URL(WORKER, import.meta.url), {type: "module"});
  hired.onmessage = ({data}) => hired === worker && receive(data);
  hired.onerror = () => hired === worker && end(NO_WORKER);
  return hired;
}

function receive(message) {
  clearTimeout(limit);
  if (message.type === "failed") return end(isTry(state.asked) ? brokenBy(message) : failedWith(message));
  if (message.type === "replied") return replied(message);
  if (message.type === "running") return endAfter(VERDICT_TAKES, ENDLESS);
  if (message.type === "verdict") endAfter(VERDICT_TAKES, ENDLESS);
  if (message.type === "progress" && state.engine.phase === "booting") endAfter(STALLED_AFTER, STALLED);
  dispatch(message);
}

function replied(message) {
  dispatch(replyIn(message));
  if (state.asked) endAfter(ANSWER_TAKES, STUCK); // what is folded away is still to come, or the next answer
}

function replyIn({question, reply}) {
  const {ok, message, control, ...rest} = JSON.parse(reply);
  if (ok) return {type: "answered", question, answer: rest};
  return rest.folds ? {type: "unfolded", question, folded: rest} : {type: "refused", question, message, control};
}

const failedWith = ({message}) => `The calculation failed: ${message}. Move a control to try again.`;
const brokenBy = ({message}) => `The code ended Python: ${message}. Change it and run it again.`;

function endAfter(milliseconds, message) {
  clearTimeout(limit);
  limit = setTimeout(() => end(message), milliseconds);
}

function end(message) {
  clearTimeout(limit);
  worker.terminate();
  worker = null;
  dispatch({type: "failed", message});
}

// ---- Charts: their library comes with the first touch.

function loadCharts() {
  charts ??= import(new URL(CHART, import.meta.url).href);
  charts.then((library) => (chartLibrary = library), () => (charts = null));
  return charts;
}

async function drawChart(plot, chart) {
  try {
    (chartLibrary ?? (await loadCharts())).draw(plot, chart);
  } catch {
    plot.textContent = "The chart could not be drawn; its numbers are in the table."; // better than the old picture
  }
}

// ---- The address

function restore() {
  const {values, damaged} = readAddress(location.search, whatIfs);
  for (const {id, key} of whatIfs) {
    if (key in values) dispatch({type: "opened", id, values: values[key]});
    else if (!isAtStart(state.whatIfs[id])) dispatch({type: "reset", id});
    if (damaged.includes(key)) dispatch({type: "noticed", id, notice: DAMAGED});
  }
  const gone = damaged.some((key) => !whatIfs.some((whatIf) => whatIf.key === key));
  if (gone && whatIfs.length) dispatch({type: "noticed", id: whatIfs[0].id, notice: DAMAGED});
}

function writeAddresses() {
  clearTimeout(addressTimer);
  const answered = whatIfs.filter(({id}) => state.whatIfs[id].answer);
  const search = answered.reduce((query, {id, key}) => writeAddress(query, key, moved(id)), location.search);
  if (search !== location.search) history.replaceState(history.state, "", location.pathname + search + location.hash);
}

const moved = (id) => (isAtStart(state.whatIfs[id]) ? null : state.whatIfs[id].shown);

async function copyLink({id, key}) {
  const link = location.origin + location.pathname + writeAddress("", key, moved(id)) + `#${id}`;
  const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
  dispatch({type: "noticed", id, notice: copied ? COPIED : `The link to these values: ${link}`});
}

// ---- The page

function watchView(section) {
  let timer = null;
  const observer = new IntersectionObserver(([{isIntersecting}]) => {
    clearTimeout(timer);
    if (isIntersecting) timer = setTimeout(() => (observer.disconnect(), whenIdle(fetchAhead)), VIEWED_FOR);
  });
  observer.observe(section.querySelector("form"));
}

const whenIdle = (action) => (window.requestIdleCallback ?? setTimeout)(action);
const savesData = () => navigator.connection?.saveData || matchMedia("(prefers-reduced-data: reduce)").matches;

function touched() {
  dispatch({type: "touched"});
  boot();
}

sections.forEach((section, i) => {
  const {id} = section;
  open(section, {
    moved: (control, value) => dispatch({type: "moved", id, control, value}),
    reset: () => dispatch({type: "reset", id}),
    copied: () => copyLink(whatIfs[i]),
    touched,
  });
  if (!savesData()) watchView(section);
});
openExercises({
  run: (id, name, code) => (touched(), dispatch({type: "tried", id, name, code})),
  touched,
});
for (const section of sections) draw(section, state.whatIfs[section.id], state.engine, false);
restore();
addEventListener("popstate", restore);
addEventListener("pagehide", writeAddresses);
