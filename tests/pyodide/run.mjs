// Runs pytest inside Pyodide: node tests/pyodide/run.mjs PACKAGES ARGUMENT...
// PACKAGES is the folder of the packages for Pyodide; the arguments are pytest's, their paths the repository's.

import {dirname, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {loadPyodide} from "../../book/live/node_modules/pyodide/pyodide.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const [packages, ...options] = process.argv.slice(2);

const python = await loadPyodide({env: {PYTHONDONTWRITEBYTECODE: "1", HOME: "/home/pyodide"}});
function mount(folder, place) {
  python.FS.mkdirTree(place);
  python.mountNodeFS(place, resolve(folder));
}

mount(packages, "/packages");
for (const name of ["lib", "tests", "book"]) mount(resolve(ROOT, name), `/repository/${name}`);
python.globals.set("options", python.toPy(options));
process.exit(
  python.runPython(`
import os
import sys

sys.path[:0] = ["/packages", "/repository"]
os.chdir("/repository")

import hypothesis
import pytest

# Each example takes ten times as long as in CPython; what is sought here is a difference between the two.
hypothesis.settings.register_profile("pyodide", deadline=None, database=None, max_examples=5)
hypothesis.settings.load_profile("pyodide")
int(pytest.main(options))
`),
);
