// Draws the exercises of a page and reports what a reader does with them. What follows is decided in state.js.

import {ASIDE, KEY, pageOf, readSaved, withCode, withoutCode, withPage, withSolved} from "./saved.js";

const SAVED_AFTER = 300; // ms without a further key
const SIZE = `${(BYTES / 1e6).toFixed(1)} MB`;
const KEYS = navigator.platform?.startsWith("Mac") ? "\u2318 Enter" : "Ctrl+Enter";
const READY = `Run shows the verdicts (${KEYS}). In the editor Tab indents; Escape, then Tab, leaves it.`;
const LOST = "What this browser had kept of the exercises is damaged or from another edition. It was set aside: ";

const sections = [...document.querySelectorAll("section.exercise")];
const editors = new Map(); // section -> its editor, or a stand-in over the plain field
const drawn = new WeakMap(); // section -> the attempt that it shows
const names = sections.map(({dataset}) => dataset.name);

// ---- What is kept

function keep(change) {
  try {
    const {saved} = readSaved(localStorage.getItem(KEY));
    localStorage.setItem(KEY, JSON.stringify(withPage(change(saved), pageOf(location.pathname), names)));
    dispatchEvent(new Event("exercise-saved"));
  } catch {
    return; // a browser that keeps nothing: the exercises work all the same
  }
}

function restored() {
  const text = kept(KEY);
  const {saved, damaged} = readSaved(text);
  if (damaged) setAside(text);
  return {saved, aside: damaged ? text : kept(ASIDE)};
}

function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function setAside(text) {
  try {
    localStorage.removeItem(KEY); // first: there may be room for one of the two
    localStorage.setItem(ASIDE, text);
  } catch {
    return; // it is offered all the same, on this page
  }
}

// ---- One exercise

export function openExercises({run, touched}) {
  if (!sections.length) return;
  const {saved, aside} = restored();
  for (const section of sections) open(section, saved, {run, touched});
  if (aside !== null) offer(sections[0], aside);
  showAlone();
}

function open(section, saved, {run, touched}) {
  const form = section.querySelector("form");
  const field = form.querySelector("textarea");
  const {name} = section.dataset;
  form.reset();
  form.querySelector("fieldset").disabled = false;
  editors.set(section, {text: () => field.value, write: (text) => (field.value = text), focus: () => field.focus()});
  if (name in saved.code) field.value = saved.code[name];
  if (saved.solved.includes(name)) section.classList.add("exercise-solved");
  say(section, "ready", READY);
  form.querySelector(".exercise-buttons").append(linkTo(section));

  let saving = null;
  const save = () => ((saving = null), keep((known) => withCode(known, name, editors.get(section).text())));
  const changed = () => (clearTimeout(saving), (saving = setTimeout(save, SAVED_AFTER)));
  addEventListener("pagehide", () => saving && (clearTimeout(saving), save())); // the last keys before a reload
  const start = () => run(section.id, name, editors.get(section).text());
  const touch = once(() => (touched(), improve(section, field, {changed, run: start})));
  field.addEventListener("input", changed);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.preventDefault(), start();
  });
  for (const kind of ["focusin", "pointerdown"]) form.addEventListener(kind, touch);
  form.addEventListener("submit", (event) => (event.preventDefault(), start()));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    restart(section, field);
    clearTimeout(saving);
    saving = null;
    keep((known) => withoutCode(known, name));
  });
}

const once = (action) => {
  let done = false;
  return () => done || ((done = true), action());
};

async function improve(section, field, actions) {
  try {
    const {edit} = await import(new URL(EDITOR, import.meta.url).href);
    const name = `solution.py: ${section.querySelector(".exercise-title strong").textContent}`;
    editors.set(section, edit(field, {name, ...actions}));
  } catch {
    return; // the plain field stays, and works
  }
}

function restart(section, field) {
  editors.get(section).write(field.defaultValue);
  section.classList.remove("exercise-solved");
  section.querySelector(".exercise-verdicts").hidden = true;
  say(section, "ready", READY);
}

function linkTo(section) {
  const link = new URL(location.href);
  link.search = `?exercise=${section.dataset.name}`;
  link.hash = "";
  return make("a", {href: link.href, textContent: "This exercise alone", className: "exercise-link"});
}

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

function say(section, kind, text) {
  const message = section.querySelector(".exercise-message");
  message.className = `exercise-message exercise-${kind}`;
  if (message.textContent !== text) message.textContent = text;
}

function offer(section, text) {
  const link = make("a", {
    href: URL.createObjectURL(new Blob([text], {type: "application/json"})),
    download: "exercises-set-aside.json",
    textContent: "download it",
  });
  link.addEventListener("click", () => localStorage.removeItem(ASIDE));
  const note = make("p", {className: "exercise-set-aside"});
  note.append(LOST, link, ".");
  section.before(note);
}

// ---- What came of a run

export function drawExercises({attempts, engine}) {
  for (const section of sections) {
    const attempt = attempts[section.id];
    if (!attempt) continue;
    say(section, ...wordsFor(attempt, engine));
    drawRows(section, attempt);
    if (attempt !== drawn.get(section) && attempt.phase === "judged") drawEnd(section, attempt);
    drawn.set(section, attempt);
  }
}

function wordsFor({phase, summary, ok, failure}, engine) {
  if (phase === "failed") return ["bad", failure];
  if (phase === "judged") return [ok ? "good" : "bad", summary];
  if (engine.phase !== "booting") return ["ready", "Running."];
  const fetching = engine.loaded < BYTES;
  return ["ready", fetching ? `Fetching ${SIZE}, once: Python and the library of this book.` : "Starting Python."];
}

function drawRows(section, {rows, printed}) {
  const place = section.querySelector(".exercise-verdicts");
  const body = place.querySelector("tbody");
  if (body.rows.length > rows.length || rows.length === 0) body.replaceChildren();
  for (const row of rows.slice(body.rows.length)) body.insertAdjacentHTML("beforeend", row);
  place.hidden = rows.length === 0 && !printed;
  const shown = place.querySelector("pre");
  shown.textContent = printed && `Printed:\n${printed}`;
  shown.hidden = !printed;
}

function drawEnd(section, {ok}) {
  section.classList.toggle("exercise-solved", ok);
  if (ok) keep((saved) => withSolved(saved, section.dataset.name));
}

// ---- ?exercise=NAME: one exercise alone, for the page of a course

function showAlone() {
  const wanted = new URLSearchParams(location.search).get("exercise");
  const section = sections.find(({dataset}) => dataset.name === wanted);
  if (!section) return;
  document.body.classList.add("exercise-alone");
  for (let inside = section; inside !== document.body; inside = inside.parentElement) {
    for (const other of inside.parentElement.children) {
      if (other !== inside && !["SCRIPT", "STYLE"].includes(other.tagName)) other.hidden = true;
    }
  }
  section.after(make("p", {className: "exercise-whole", innerHTML: `<a href="${location.pathname}#${section.id}"></a>`}));
  document.querySelector(".exercise-whole a").textContent = `The whole chapter: ${document.title.split(" \u2014 ")[0]}`;
}
