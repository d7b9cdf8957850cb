// Runs CPython, compiled to WebAssembly, in a worker. In: {begin: {wasm, files, book}, number} once, then {request, number}.
// Out: {number, result}, or {number, failed} and broken: true where Python cannot go on. Requests are those of in_page.session.

import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

import { unzipped } from "./unzip.js";

const MARK = "\u0001answer "; // begins the line of the session's answer among what Python prints
let python = null;
let answer = "";
let noise = "";

const unpacked = (base64) =>
  unzipped(Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)));

function printed(line) {
  if (line.startsWith(MARK)) answer = line.slice(MARK.length);
  else noise = (noise + line + "\n").slice(-2000);
}

class Broken extends Error {}

function turn(source) {
  const text = new TextEncoder().encode(source);
  try {
    const at = python.exports.host_alloc(text.length) >>> 0;
    if (!at) throw new Error("its memory is full");
    new Uint8Array(python.exports.memory.buffer).set(text, at);
    return python.exports.turn(at, text.length);
  } catch (error) {
    throw new Broken(`Python stopped: ${error.message || error}. The next check starts it again.`);
  }
}

async function begin({ wasm, files, book }) {
  const folder = new Map();
  for (const [name, packed] of Object.entries(files)) folder.set(name, new File(new Uint8Array(await unpacked(packed))));
  const module = await WebAssembly.compile(await unpacked(wasm));
  const descriptors = [
    new OpenFile(new File([])),
    ConsoleStdout.lineBuffered(printed),
    ConsoleStdout.lineBuffered(printed),
    new PreopenDirectory("/usr/local/lib", folder),
    new PreopenDirectory("/", new Map([["tmp", new Directory(new Map())]])),
  ];
  const wasi = new WASI(["/usr/local/bin/python.wasm"], ["TMPDIR=/tmp", "PYTHONTZPATH=", "HOME=/tmp"], descriptors, {
    debug: false,
  });
  python = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: wasi.wasiImport,
    host: { call: () => -1 },
  });
  wasi.inst = python;
  python.exports._initialize();
  const first = `import sys; sys.path.append("/usr/local/lib/softlookup.zip")
from softlookup.in_page.session import answer as _answer`;
  if (turn(first)) throw new Error(noise || "Python did not start");
  return ask({ do: "begin", book });
}

function ask(request) {
  answer = "";
  noise = "";
  const text = JSON.stringify(JSON.stringify(request)); // a string of JSON is a string of Python, too
  const failed = turn(`print("\\n" + "\\u0001answer " + _answer(${text}), flush=True)`);
  if (failed || !answer) throw new Broken(noise || "Python gave no answer. The next check starts it again.");
  const { result, failed: why } = JSON.parse(answer);
  if (why) throw new Error(why);
  return result;
}

onmessage = async ({ data }) => {
  try {
    const result = data.begin ? await begin(data.begin) : ask(data.request);
    postMessage({ number: data.number, result });
  } catch (error) {
    const broken = error instanceof Broken || Boolean(data.begin);
    postMessage({ number: data.number, failed: String(error.message || error), broken });
  }
};
