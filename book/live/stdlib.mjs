// Python's standard library for Pyodide, with the bytecode that an earlier bundle made of what it used: without it each
// start compiles it from source, two thirds of its time. It lies beside the package, on which and on pack.py it depends.

import {createHash} from "node:crypto";
import {existsSync, mkdirSync, readFileSync, renameSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join} from "node:path";

const PYODIDE = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
const SOURCE = join(PYODIDE, "python_stdlib.zip");
const FOLDER = join(PYODIDE, "../.cache");
const hashOf = (data) => createHash("sha256").update(data).digest("hex");
const hashOfFiles = (...paths) => hashOf(paths.map((path) => hashOf(readFileSync(path))).join());
const KEPT = join(FOLDER, `stdlib-${hashOfFiles(SOURCE, new URL("pack.py", import.meta.url))}.zip`);

// The path of what is kept if that is whole, else of Pyodide's own.
export function standardLibrary() {
  const [hash] = [KEPT, `${KEPT}.sha256`].every(existsSync) ? [readFileSync(`${KEPT}.sha256`, "utf8")] : [];
  return hash && hashOf(readFileSync(KEPT)) === hash ? KEPT : SOURCE;
}

// A process that is stopped in here leaves a hash that does not fit.
export function keepStandardLibrary(data) {
  mkdirSync(FOLDER, {recursive: true});
  for (const [path, content] of [[`${KEPT}.sha256`, hashOf(data)], [KEPT, data]]) {
    writeFileSync(`${path}.${process.pid}`, content);
    renameSync(`${path}.${process.pid}`, path);
  }
}
