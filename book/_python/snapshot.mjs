// Begin Python once, when it is packed, and write down its memory: a page then need not import numpy and the judge anew.
// node snapshot.mjs FOLDER: python.wasm and the zip archives in it are read; python.memory and the names of the modules
// that were loaded are written.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { started } from "./machine.js";

const PIECE = 1024; // as wasi.js has it
const [folder] = process.argv.slice(2);
const files = new Map();
for (const name of readdirSync(folder).filter((one) => one.endsWith(".zip"))) {
  files.set(name, new Uint8Array(readFileSync(join(folder, name))));
}
const module = await WebAssembly.compile(readFileSync(join(folder, "python.wasm")));
const lines = [];
// The same memory each time: neither chance nor the clock is in it.
const instead = {
  random_get: (at, length) => (new Uint8Array(python.exports.memory.buffer, at, length).fill(0), 0),
  clock_time_get: (id, precision, at) => (new DataView(python.exports.memory.buffer).setBigUint64(at, 0n, true), 0),
};
const { python } = await started(module, files, (line) => lines.push(line), instead);
const fresh = new Uint8Array(python.exports.memory.buffer.slice(0));
python.exports._initialize();

function turn(source) {
  const text = new TextEncoder().encode(source);
  const at = python.exports.host_alloc(text.length) >>> 0;
  new Uint8Array(python.exports.memory.buffer).set(text, at);
  if (python.exports.turn(at, text.length)) throw new Error(lines.join("\n"));
}

turn(`import sys; sys.path.append("/usr/local/lib/softlookup.zip")
from softlookup_course.in_page.session import answer as _answer
import gc, os, zipimport
del os.environ["PYTHONHASHSEED"]
print("\\u0001", *sorted(name for name, module in sys.modules.items() if getattr(module, "__file__", None)))
zipimport._zip_directory_cache.clear(); sys.path_importer_cache.clear(); gc.collect()`);
const memory = new Uint8Array(python.exports.memory.buffer);
const differing = [];
for (let at = 0; at < memory.length; at += PIECE) {
  const piece = memory.subarray(at, at + PIECE);
  if (piece.some((byte, one) => byte !== (fresh[at + one] ?? 0))) differing.push(at / PIECE);
}
const image = new Uint8Array(8 + differing.length * (4 + PIECE));
const view = new DataView(image.buffer);
view.setUint32(0, memory.length / 65536, true);
view.setUint32(4, differing.length, true);
differing.forEach((place, one) => {
  view.setUint32(8 + 4 * one, place, true);
  image.set(memory.subarray(place * PIECE, (place + 1) * PIECE), 8 + 4 * differing.length + PIECE * one);
});
writeFileSync(join(folder, "python.memory"), image);
writeFileSync(join(folder, "modules"), lines.find((line) => line.startsWith("\u0001")).slice(2));
