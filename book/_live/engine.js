// A model behind a small seam: a worker and its weights, which one script carries. Nothing is loaded before it is asked for.

import { script } from "../_python/scripts.js";

/** What stands beside a button that nobody has pressed. */
export const unpressed = (size) => `The first press loads the model (${size}, once).`;

/** The model that the script `file` carries, as the global `name`; `size` says how much is loaded. */
export function engine(file, name, size) {
  let worker = null;
  let number = 0;
  let starting = null;
  const waiting = new Map();

  /** Give the worker something to do; `said` hears of what comes before the end. */
  function ask(message, said = () => {}) {
    number += 1;
    const mine = number;
    return new Promise((done, failed) => {
      waiting.set(mine, { done, failed, said });
      worker.postMessage({ ...message, number: mine });
    });
  }

  async function begin() {
    if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old: it needs DecompressionStream (2023 or later).");
    await script(file, "live");
    const { header, text, worker: source } = globalThis[name];
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
    await ask({ begin: { header, text } });
    URL.revokeObjectURL(address);
    delete globalThis[name].text; // the worker has it now
  }

  /** Load the model, once; a failed try may be made again. */
  function start() {
    starting ??= begin().catch((error) => {
      starting = null;
      throw error;
    });
    return starting;
  }

  /** Load the model and say so; say what comes after it, too. */
  async function ready(tell, then) {
    tell(worker ? then : `Loading the model (${size}, once) …`);
    await start();
    tell(then);
  }

  return { ready, ask, first: unpressed(size) };
}

export const translatorEngine = () => engine("weights.js", "softlookupTranslator", SIZES.translator);
