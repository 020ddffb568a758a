// On every page: a tick in the contents beside each chapter whose exercises are solved.

import {KEY, pageOf, progressOf, readSaved} from "./saved.js";

function read() {
  try {
    return readSaved(localStorage.getItem(KEY)).saved;
  } catch {
    return readSaved(null).saved; // a browser that keeps nothing
  }
}

function tick() {
  const saved = read();
  for (const link of document.querySelectorAll(".bd-sidebar-primary a.reference.internal")) {
    const found = progressOf(saved, pageOf(new URL(link.href).pathname));
    link.querySelector(".exercise-tick")?.remove();
    if (found) link.append(mark(found));
  }
}

function mark({done, of}) {
  const all = done === of;
  const made = Object.assign(document.createElement("span"), {
    className: "exercise-tick",
    textContent: all ? " \u2713" : ` ${done}/${of}`,
    title: `${done} of ${of} exercises solved`,
  });
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", made.title);
  return made;
}

tick();
addEventListener("storage", tick);
addEventListener("exercise-saved", tick);
