import assert from "node:assert/strict";
import {cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {pathToFileURL} from "node:url";

// The module where it may write: beside a package of its own.
async function elsewhere(context) {
  const folder = mkdtempSync(join(tmpdir(), "stdlib-"));
  context.after(() => rmSync(folder, {recursive: true}));
  for (const name of ["stdlib.mjs", "pack.py"]) cpSync(new URL(name, import.meta.url), join(folder, name));
  mkdirSync(join(folder, "node_modules/pyodide"), {recursive: true});
  for (const name of ["package.json", "python_stdlib.zip"]) writeFileSync(join(folder, "node_modules/pyodide", name), "{}");
  const {keepStandardLibrary, standardLibrary} = await import(pathToFileURL(join(folder, "stdlib.mjs")));
  const cache = join(folder, "node_modules/.cache");
  const files = () => readdirSync(cache).sort().map((name) => join(cache, name));
  return {keep: keepStandardLibrary, used: standardLibrary, files, own: join(folder, "node_modules/pyodide/python_stdlib.zip")};
}

test("what is kept is used, and nothing else lies beside it", async (context) => {
  const {keep, used, files, own} = await elsewhere(context);
  assert.equal(used(), own);
  keep("compiled");
  assert.equal(used(), files()[0]);
  assert.equal(files().length, 2);
});

test("what is damaged, half written or alone is not used, and can be kept anew", async (context) => {
  const {keep, used, files, own} = await elsewhere(context);
  keep("compiled");
  const [zip, hash] = files();
  for (const [path, content] of [[zip, "compil"], [zip, "compiler"], [hash, ""], [hash, "0"]]) {
    writeFileSync(path, content);
    assert.equal(used(), own);
    keep("compiled");
    assert.equal(used(), zip);
  }
  rmSync(hash);
  assert.equal(used(), own);
});
