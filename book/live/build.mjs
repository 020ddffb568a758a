// Bundles the scripts of the book's pages: node book/live/build.mjs --out _build/live
//
// manifest.json names the scripts and the style that a page loads; all else follows from the script. Every name carries
// a hash of `lib` and of all that went in, or Pyodide's version: a cache never mixes an old `lib` with new pages.

import {createHash} from "node:crypto";
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync, existsSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join, relative, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";
import {gzipSync} from "node:zlib";
import {keepStandardLibrary, standardLibrary} from "./stdlib.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "../..");
const PYODIDE = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
const LOCK = JSON.parse(readFileSync(join(PYODIDE, "pyodide-lock.json"), "utf8")).info;
const NODE = ["node:*"]; // Pyodide's branches for Node: never taken in a page
const VERSION = JSON.parse(readFileSync(join(PYODIDE, "package.json"), "utf8")).version;

// Everything that goes in, by its path from the root: lib, these scripts, and by the lock Pyodide and uPlot.
function inputs() {
  const lib = readdirSync(join(ROOT, "lib"), {recursive: true}).filter((name) => /\.(py|toml)$/.test(name));
  const own = readdirSync(HERE).filter((name) => /\.(js|mjs|css|py|json)$/.test(name) && !name.includes(".test."));
  return [...lib.map((name) => `lib/${name.replaceAll("\\", "/")}`), ...own.map((name) => `book/live/${name}`)].sort();
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(ROOT, path))).update("\0");
  return hash.digest("hex").slice(0, 10);
}

// Python packs its own modules: Pyodide runs here as it will in the page.
async function packs(paths) {
  const {loadPyodide} = await import("pyodide");
  const stdLibURL = standardLibrary();
  const python = await loadPyodide({env: {PYTHONHASHSEED: "0"}, stdLibURL});
  const put = (path, source) => (python.FS.mkdirTree(dirname(path)), python.FS.writeFile(path, readFileSync(source)));
  for (const path of paths.filter((name) => name.startsWith("lib/"))) put(`/in/${path}`, join(ROOT, path));
  put("/stdlib.zip", stdLibURL);
  put("/home/pyodide/pack.py", join(HERE, "pack.py"));
  if (python.pyimport("pack").pack("/in", "/stdlib.zip", "/out-lib.zip", "/out-stdlib.zip"))
    keepStandardLibrary(python.FS.readFile("/stdlib.zip"));
  return {lib: python.FS.readFile("/out-lib.zip"), stdlib: python.FS.readFile("/out-stdlib.zip")};
}

// Pyodide's own script, the greater part of it: minified.
async function pyodideScript() {
  const {build} = await import("esbuild");
  const entry = join(PYODIDE, "pyodide.asm.mjs");
  const options = {bundle: true, minify: true, format: "esm", external: NODE, write: false};
  const {outputFiles} = await build({entryPoints: [entry], ...options});
  return outputFiles[0].contents;
}

async function bundle(out, hash, parts) {
  const {build} = await import("esbuild");
  await build({
    entryPoints: {
      [`live-${hash}`]: join(HERE, "main.js"),
      [`chart-${hash}`]: join(HERE, "chart.js"),
      [`editor-${hash}`]: join(HERE, "editor.js"),
      [`progress-${hash}`]: join(HERE, "progress.js"),
      [`worker-${hash}`]: join(HERE, "worker.js"),
    },
    outdir: out,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    external: NODE,
    define: {
      CHART: JSON.stringify(`./chart-${hash}.js`),
      EDITOR: JSON.stringify(`./editor-${hash}.js`),
      WORKER: JSON.stringify(`./worker-${hash}.js`),
      LOCK: JSON.stringify(LOCK),
      PARTS: JSON.stringify(parts),
      BYTES: String(Object.values(parts).reduce((sum, part) => sum + part.bytes, 0)),
    },
    logLevel: "warning",
  });
  await build({entryPoints: {[`live-${hash}`]: join(HERE, "style.css")}, outdir: out, bundle: true, minify: true});
}

const pages = (hash) =>
  ({script: `live-${hash}.js`, style: `live-${hash}.css`, progress: `progress-${hash}.js`});

async function make(target, hash, paths) {
  const out = `${target}.unfinished`; // what is there stays until all is made
  rmSync(out, {recursive: true, force: true});
  mkdirSync(out, {recursive: true});
  const write = (file, data) => (writeFileSync(join(out, file), data), {file, bytes: data.length});
  const {lib, stdlib} = await packs(paths);
  const packed = (data) => gzipSync(data, {level: 9});
  const parts = {
    // Packed here, so that any static server sends it small; not named .gz, which some servers would unpack themselves.
    wasm: write(`pyodide-${VERSION}.wasm.bin`, packed(readFileSync(join(PYODIDE, "pyodide.asm.wasm")))),
    script: write(`pyodide-${VERSION}.js.bin`, packed(await pyodideScript())),
    stdlib: write(`stdlib-${VERSION}-${hash}.zip.bin`, packed(stdlib)),
    lib: write(`lib-${hash}.zip.bin`, packed(lib)),
  };
  await bundle(out, hash, parts);
  write("manifest.json", JSON.stringify({hash, ...pages(hash), parts}));
  rmSync(target, {recursive: true, force: true});
  renameSync(out, target);
  const megabytes = Object.values(parts).reduce((sum, part) => sum + part.bytes, 0) / 1e6;
  console.log(`==> live page: ${relative(process.cwd(), target)} (${megabytes.toFixed(1)} MB at a first touch)`);
}

const {values} = parseArgs({options: {out: {type: "string", default: join(ROOT, "_build/live")}}});
const out = resolve(values.out);
const paths = inputs();
const hash = hashOf(paths);
const manifest = join(out, "manifest.json");
if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, "utf8")).hash !== hash) {
  await make(out, hash, paths).catch((error) => {
    console.error(`the live page was not built: ${error.message}`); // not with the source line: it is a megabyte long
    process.exit(1);
  });
}
