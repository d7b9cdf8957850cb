// Python in the page, behind a small seam: start, load, ask, stop. Nothing is loaded before the first call.

import { root, script } from "./scripts.js";

const LIMIT = 10_000; // milliseconds for a request
let worker = null;
let giveUp = () => {}; // ends the wait for a download
let starting = null;
let life = 0; // counts the stops: what began in an earlier life must not touch this one
let number = 0;
let turn = Promise.resolve();
const waiting = new Map();
const listeners = new Set();
const loaded = new Set();

function send(message) {
  number += 1;
  const mine = number;
  return new Promise((done, failed) => {
    if (!worker) {
      failed(new Error("Python was stopped."));
      return;
    }
    waiting.set(mine, { done, failed });
    worker.postMessage({ ...message, number: mine });
  });
}

async function begin() {
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to run Python: it needs WebAssembly and DecompressionStream (2023 or later).");
  }
  const mine = life;
  const stopped = new Promise((_, failed) => { giveUp = failed; });
  await Promise.race([script("engine.js"), stopped]);
  if (mine !== life) throw new Error("You stopped it.");
  const { worker: source, pieces, ...packed } = globalThis.softlookupPython;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  if (packed.pyodide) packed.pyodide = new URL(packed.pyodide, new URL(root(), document.baseURI)).href;
  worker = new Worker(address, { type: packed.pyodide ? "module" : "classic" }); // Pyodide refuses classic ones
  worker.onmessage = ({ data }) => {
    URL.revokeObjectURL(address);
    const { done, failed } = waiting.get(data.number) || {};
    waiting.delete(data.number);
    if (!done || mine !== life) return;
    if (data.failed) failed(new Error(data.failed));
    else done(data.result);
    if (data.broken) stop("Python stopped.");
  };
  worker.onerror = (event) => mine === life && stop(event.message || "Python stopped.");
  const begun = send({ begin: { ...packed, book: root().replace(/\/$/, "") } });
  tell(0.01);
  const sum = pieces.reduce((bytes, one) => bytes + one.bytes, 0);
  let here = 0;
  const fed = pieces.map(async ({ script: name, file, part, parts, bytes }) => {
    await script(name);
    if (mine !== life) return;
    worker.postMessage({ file, part, parts, text: globalThis.softlookupPieces[name] });
    here += bytes;
    tell((0.9 * here) / sum);
  });
  await Promise.race([begun, stopped, Promise.all(fed).then(() => begun)]);
  tell(1);
}

// How far Python has come, from 0 to 1: for those who listen.
let far = 0;
function tell(share) {
  far = share;
  for (const hear of listeners) hear(far);
}
export function whileStarting(hear) {
  listeners.add(hear);
  hear(far);
}

export function start() {
  if (!starting) {
    const mine = life;
    starting = begin().catch((error) => {
      if (mine === life) stop(error.message);
      throw error;
    });
  }
  return starting;
}

// Have a notebook's questions on the page.
export const questions = (chapter) => script(`tasks_${chapter}.js`);

async function load(chapter) {
  await Promise.all([start(), questions(chapter)]);
  const mine = life;
  if (loaded.has(chapter)) return;
  await send({ request: { do: "load", chapter, file: globalThis.softlookupTasks[chapter] } });
  if (mine === life) loaded.add(chapter);
}

// Have Python, and a notebook's questions in it, before somebody asks; what fails now is said when somebody does.
export function warm(chapter = null) {
  const warmed = turn.then(() => (chapter === null ? start() : load(chapter)));
  turn = warmed.catch(() => {});
}

// One request after the other: the time of a request is its own, not that of those before it. A check names the
// notebook whose questions it needs: Python may have been started anew since the last one.
export function ask(request, chapter = null) {
  const asked = async () => {
    await (chapter === null ? start() : load(chapter));
    const mine = life;
    const said = `Your code ran longer than ${LIMIT / 1000} seconds and was stopped. Is there a loop that never ends?`;
    const timer = setTimeout(() => mine === life && stop(said), LIMIT);
    try {
      return await send({ request });
    } finally {
      clearTimeout(timer);
    }
  };
  const result = turn.then(asked);
  turn = result.catch(() => {});
  return result;
}

export function stop(why = "You stopped it.") {
  life += 1;
  worker?.terminate();
  giveUp(new Error(why));
  worker = null;
  starting = null;
  tell(0);
  loaded.clear();
  const left = [...waiting.values()];
  waiting.clear();
  for (const { failed } of left) failed(new Error(why));
}
