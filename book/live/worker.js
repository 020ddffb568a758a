// Answers questions in a worker: boots Python once, then calls lib.whatif.page for each.
//
// In:  {type: "fetch"} | {type: "boot"} | {type: "ask", question, name, settings} | {type: "try", question, name, code}
// Out: {type: "progress", loaded} | {type: "ready"} | {type: "replied", question, reply}, once or twice
//      | {type: "failed", message}
//      | {type: "running"} | {type: "verdict", question, row, printed} | {type: "judged", question, summary, ok}

import {loadPyodide} from "pyodide";

const REPORT_EVERY = 100_000; // bytes
const plainFetch = self.fetch.bind(self);
const responses = {};
let loaded = 0;
let reported = 0;
let python = null;
let respond = null;
let attempt = null;

// A part of the runtime, counted as it comes; `whole` waits for its end, so that it is there before it is used.
function part(name, whole) {
  responses[name] ??= request(new URL(PARTS[name].file, import.meta.url), whole);
  return responses[name];
}

async function request(url, whole) {
  const response = await plainFetch(url);
  if (!response.ok) throw new Error(`${url.pathname} was not found on the server (${response.status})`);
  const stream = response.body.pipeThrough(new TransformStream({transform: count}));
  return whole ? new Response(await new Response(stream).blob()) : new Response(stream);
}

function count(chunk, controller) {
  controller.enqueue(chunk);
  loaded += chunk.byteLength;
  if (loaded - reported < REPORT_EVERY && loaded < BYTES) return;
  reported = loaded;
  postMessage({type: "progress", loaded});
}

async function unpacked(name, type) {
  const {body} = await part(name);
  return new Response(body.pipeThrough(new DecompressionStream("gzip")), {headers: {"Content-Type": type}});
}

// Pyodide asks for its two files by name: they are under way already.
function fetchOwn(url, options) {
  if (String(url).endsWith("/pyodide.asm.wasm")) return unpacked("wasm", "application/wasm");
  return String(url).endsWith("/python_stdlib.zip") ? unpacked("stdlib", "application/zip") : plainFetch(url, options);
}

async function importPart(name) {
  const url = URL.createObjectURL(await (await unpacked(name, "text/javascript")).blob());
  return import(url).finally(() => URL.revokeObjectURL(url));
}

async function boot() {
  const parts = Object.keys(PARTS).map((name) => part(name));
  const missing = Promise.all(parts).then(() => new Promise(() => {})); // fails if one is missing, or else says nothing
  await Promise.race([start(), missing]);
  postMessage({type: "ready"});
}

async function start() {
  self.fetch = fetchOwn;
  const {default: createPyodideModule} = await importPart("script");
  const indexURL = new URL(".", import.meta.url).href;
  python = await loadPyodide({indexURL, createPyodideModule, lockFileContents: {info: LOCK, packages: {}}});
  python.FS.writeFile("/lib.zip", new Uint8Array(await (await unpacked("lib", "application/zip")).arrayBuffer()));
  python.runPython("import sys; sys.path.insert(0, '/lib.zip')");
  respond = python.pyimport("lib.whatif.page").respond;
}

// What is seen at once is sent before what is folded away is worked out. The page reads the replies: a text is sent in
// less time than what it holds.
function answer({question, name, settings}) {
  for (const reply of respond(name, JSON.stringify(settings))) postMessage({type: "replied", question, reply});
}

// A reader's solution: verdicts are sent one by one, so that the page can end an endless loop and keep the others.
function judge({question, name, code}) {
  attempt ??= python.pyimport("lib.exercises.page").attempt;
  postMessage({type: "running"});
  for (const reply of attempt(name, code)) {
    const found = JSON.parse(reply);
    postMessage({type: "summary" in found ? "judged" : "verdict", question, ...found});
  }
}

async function receive(message) {
  if (message.type === "fetch") await Promise.all(Object.keys(PARTS).map((name) => part(name, true)));
  else if (message.type === "boot") await boot();
  else if (message.type === "try") judge(message);
  else answer(message);
}

self.onmessage = ({data}) =>
  receive(data).catch((error) => postMessage({type: "failed", message: lastLine(error)}));

// Of a Python traceback, the line that says what went wrong.
const lastLine = (error) => String(error.message ?? error).trim().split("\n").at(-1);
