// Python in the page, behind a small seam: start(), ask(request), stop(). Nothing is loaded before the first call.

const root = () => document.documentElement.dataset.content_root || "./";

// Scripts can be loaded from the disk, where fetch is not allowed.
const loading = new Map();
export function script(name) {
  if (!loading.has(name)) {
    loading.set(
      name,
      new Promise((done, failed) => {
        const element = document.createElement("script");
        element.src = `${root()}_static/python/${name}`;
        element.onload = done;
        element.onerror = () => {
          loading.delete(name);
          failed(new Error(`${name} could not be loaded. Is the book's folder complete, and the network there?`));
        };
        document.head.append(element);
      }),
    );
  }
  return loading.get(name);
}

let worker = null;
let starting = null;
let number = 0;
const waiting = new Map();

function send(message) {
  number += 1;
  return new Promise((done, failed) => {
    waiting.set(number, { done, failed });
    worker.postMessage({ ...message, number });
  });
}

async function begin() {
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to run Python: it needs WebAssembly and DecompressionStream (2023 or later).");
  }
  await script("engine.js");
  const { wasm, files, worker: source } = globalThis.softlookupPython;
  worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    const { done, failed } = waiting.get(data.number) || {};
    waiting.delete(data.number);
    if (!done) return;
    if (data.failed) failed(new Error(data.failed));
    else done(data.result);
  };
  worker.onerror = (event) => stop(event.message || "Python stopped");
  return send({ begin: { wasm, files, book: root().replace(/\/$/, "") } });
}

export function start() {
  starting ||= begin().catch((error) => {
    stop(error.message);
    throw error;
  });
  return starting;
}

// Ask once Python has started. After limit milliseconds it is stopped; the next call starts it again.
export async function ask(request, limit = 10_000) {
  await start();
  const timer = setTimeout(
    () => stop(`Your code ran longer than ${limit / 1000} seconds and was stopped. Is there a loop that never ends?`),
    limit,
  );
  try {
    return await send({ request });
  } finally {
    clearTimeout(timer);
  }
}

const loaded = new Set();
export async function load(chapter) {
  await Promise.all([start(), script(`tasks_${chapter}.js`)]);
  if (loaded.has(chapter)) return;
  await send({ request: { do: "load", chapter, file: globalThis.softlookupTasks[chapter] } });
  loaded.add(chapter);
}

export function stop(why = "You stopped it.") {
  worker?.terminate();
  worker = null;
  starting = null;
  loaded.clear();
  const left = [...waiting.values()];
  waiting.clear();
  for (const { failed } of left) failed(new Error(why));
}
