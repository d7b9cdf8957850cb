// CPython with numpy, compiled to WebAssembly for WASI, as the book carries it.

import { started } from "./machine.js";
import { Broken, file, serve } from "./serve.js";

const MARK = "\u0001answer "; // begins the line of the session's answer among what Python prints
let python = null;
let answer = "";
let noise = "";

function printed(line) {
  if (line.startsWith(MARK)) answer = line.slice(MARK.length);
  else noise = (noise + line + "\n").slice(-2000);
}

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

function ask(request) {
  answer = "";
  noise = "";
  const text = JSON.stringify(request); // a string of JSON is a string of Python, too
  const failed = turn(`print("\\n" + "\\u0001answer " + _answer(${text}), flush=True)`);
  if (failed || !answer) throw new Broken(noise || "Python gave no answer. The next check starts it again.");
  return answer;
}

serve(async ({ files }) => {
  const compiled = file("python.wasm").then((bytes) => WebAssembly.compile(bytes));
  const [module, memory, ...contents] = await Promise.all([compiled, file("python.memory"), ...files.map(file)]);
  let write = null;
  ({ python, write } = await started(module, new Map(files.map((name, at) => [name, contents[at]])), printed));
  restore(python.exports.memory, memory);
  return { answer: ask, write };
});

// Put back the memory of a Python that has begun already (see snapshot.mjs): how many blocks of 64 KiB it has, which
// pieces of PIECE bytes differ from those of a new one, and these.
const PIECE = 1024;
function restore(memory, image) {
  const view = new DataView(image.buffer);
  const [blocks, count] = [view.getUint32(0, true), view.getUint32(4, true)];
  memory.grow(blocks - memory.buffer.byteLength / 65536);
  const bytes = new Uint8Array(memory.buffer);
  for (let one = 0; one < count; one += 1) {
    const from = 8 + 4 * count + PIECE * one;
    bytes.set(image.subarray(from, from + PIECE), PIECE * view.getUint32(8 + 4 * one, true));
  }
}
