// The translator behind a small seam. Nothing is loaded before the first call.

import { script } from "../_python/scripts.js";

let worker = null;
let number = 0;
const waiting = new Map();

/** Give the worker something to do; `said` hears of what comes before the end. */
function send(message, said = () => {}) {
  number += 1;
  const mine = number;
  return new Promise((done, failed) => {
    waiting.set(mine, { done, failed, said });
    worker.postMessage({ ...message, number: mine });
  });
}

async function begin() {
  if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old: it needs DecompressionStream (2023 or later).");
  await script("weights.js", "live");
  const { header, text, worker: source } = globalThis.softlookupTranslator;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  worker = new Worker(address);
  worker.onmessage = ({ data }) => {
    const { done, failed, said } = waiting.get(data.number);
    if (!("done" in data || "failed" in data)) {
      said(data);
      return;
    }
    waiting.delete(data.number);
    if (data.failed) failed(new Error(data.failed));
    else done(data.done);
  };
  await send({ begin: { header, text } });
  URL.revokeObjectURL(address);
  delete globalThis.softlookupTranslator.text; // the worker has it now
}

let starting = null;

/** Load the model, once; a failed try may be made again. */
export function start() {
  starting ??= begin().catch((error) => {
    starting = null;
    throw error;
  });
  return starting;
}

/** Translate a text, once `start` is done: {tokens, ...} goes to `read`, each step to `wrote`, the text and the tree come back. */
export function translate(text, how, { read, wrote }) {
  return send({ translate: { text, how } }, (data) => (data.read ? read(data.read) : wrote(data.wrote)));
}
