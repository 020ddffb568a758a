// Runs pytest inside Pyodide: node tests/pyodide/run.mjs PACKAGES LEFT_OUT ARGUMENT...
// PACKAGES is the folder of the packages for Pyodide; LEFT_OUT are the files that are not collected, joined by colons;
// the arguments are pytest's, their paths the repository's.

import {mkdirSync, readdirSync, readFileSync, statSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {loadPyodide} from "../../book/live/node_modules/pyodide/pyodide.mjs";
import {standardLibrary} from "../../book/live/stdlib.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const [packages, leftOut, ...options] = process.argv.slice(2);

// Hypothesis keeps its table of all characters beside the bytecode; a line that is printed leaves Python as a whole.
const env = {HOME: "/home/pyodide", HYPOTHESIS_STORAGE_DIRECTORY: "/pycache/hypothesis"};
const python = await loadPyodide({env, stdout: console.log, stdLibURL: standardLibrary()});
// Into memory: each look at a file that is mounted leaves Python, and pytest takes many.
function copy(folder, place) {
  python.FS.mkdirTree(place);
  for (const entry of readdirSync(folder, {withFileTypes: true})) {
    const [from, to] = [join(folder, entry.name), `${place}/${entry.name}`];
    if (["__pycache__", "node_modules"].includes(entry.name)) continue;
    if (entry.isDirectory()) copy(from, to);
    else {
      python.FS.writeFile(to, readFileSync(from));
      python.FS.utime(to, ...Array(2).fill(statSync(from).mtimeMs)); // by which Python knows its bytecode
    }
  }
}

copy(resolve(packages), "/packages");
for (const name of ["lib", "tests", "book"]) copy(resolve(ROOT, name), `/repository/${name}`);
const kept = resolve(packages, "../pycache/pyodide");
mkdirSync(kept, {recursive: true});
python.FS.mkdirTree("/pycache");
python.mountNodeFS("/pycache", kept);
python.globals.set("left_out", python.toPy(leftOut.split(":")));
python.globals.set("options", python.toPy(options));
process.exit(
  python.runPython(`
import gc
import linecache
import os
import sys

sys.path[:0] = ["/packages", "/repository"]
sys.dont_write_bytecode, sys.pycache_prefix = False, "/pycache"
os.chdir("/repository")

import hypothesis
import pytest

# Each example takes ten times as long as in CPython; what is sought here is a difference between the two.
hypothesis.settings.register_profile("pyodide", deadline=None, database=None, max_examples=5)
hypothesis.settings.load_profile("pyodide")
gc.set_threshold(100_000, 50, 100)  # what a test run makes, it keeps

class Selection:
    """Instead of --ignore: pytest compares each of those with every file of a folder, for every argument in it."""

    left_out = {f"/repository/{path}" for path in left_out}

    def pytest_ignore_collect(self, collection_path):
        return str(collection_path) in self.left_out or None

    def pytest_collection_finish(self):
        linecache.clearcache()  # of all modules with examples: each doctest would look whether they have changed
        gc.freeze()

int(pytest.main(options, plugins=[Selection()]))
`),
);
