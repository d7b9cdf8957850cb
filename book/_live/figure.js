// The figure: a sentence goes in, French comes out token by token, and every part shows the same step.

import { root as base } from "../_python/scripts.js";
import { candidates } from "./candidates.js";
import { controls } from "./controls.js";
import { start, translate } from "./engine.js";
import { maps } from "./maps.js";
import { transport } from "./transport.js";
import { tree } from "./tree.js";
import { words } from "./words.js";

const EXAMPLES = [
  "A brown dog carries a yellow ball out of the water.",
  "Two women in hats are reading newspapers on a bench.",
  "A boy jumps over a puddle while his sister takes a picture.",
];
const SHORT = "A girl reads a red book.";

export function figure(root, full) {
  const id = nextId("lvm");
  const run = { source: null, steps: [], tree: null, done: false };
  let busy = false;

  const box = make("textarea", { id: `${id}-text`, rows: 2, maxlength: 600, spellcheck: "false", lang: "en" });
  box.value = new URLSearchParams(location.search).get("text") ?? (full ? EXAMPLES[0] : SHORT);
  const go = make("button", { type: "submit", class: "lvm-go" }, "Translate");
  const state = make("span", { class: "lvm-state", role: "status" }, `The first press loads the model (${SIZE}, once).`);
  const examples = make("div", { class: "lvm-examples", role: "group", "aria-label": "Example sentences" }, "Examples: ",
    EXAMPLES.map((one) => make("button", { type: "button", onclick: () => { box.value = one; again(); } }, one)));
  const how = controls(id, () => run.source && again());
  const form = make("form", { class: "lvm-form" },
    make("label", { for: box.id }, "Your English sentence"), box, full ? [examples, how.bar] : [], make("div", { class: "lvm-bar" }, go, state));
  const result = make("div", { class: "lvm-result" });
  result.hidden = true;
  root.append(form, result);

  const player = transport(run, draw);
  const text = words(run, player.goTo);
  const parts = full ? [text, candidates(run), maps(run, id), tree(run)] : [text];
  const more = make("a", {}, "Look inside: candidates, every layer and head, beams ▸");
  result.append(text.top, player.bar, ...(full ? parts.slice(1).map(({ place }) => place) : [make("p", { class: "lvm-more" }, more)]));

  function draw(at, playing) {
    for (const part of parts) part.draw(at, playing);
  }

  const again = () => form.requestSubmit();
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    go.setAttribute("aria-disabled", "true");
    state.textContent = run.source ? "Translating …" : `Loading the model (${SIZE}, once) …`;
    let first = null;
    try {
      await start();
      const began = performance.now();
      state.textContent = "Translating …";
      const found = await translate(box.value, how.values(), {
        read: (source) => {
          Object.assign(run, { source, steps: [], tree: null, done: false });
          result.hidden = false;
          more.href = `${base()}book/live.html?text=${encodeURIComponent(box.value)}`;
          player.restart();
        },
        wrote: (step) => {
          first ??= performance.now() - began;
          run.steps.push(step);
          player.more();
        },
      });
      Object.assign(run, { done: true, tree: found.tree, best: found.best });
      player.more();
      state.textContent = `${run.steps.length} tokens in ${((performance.now() - began) / 1000).toFixed(1)} s; the first after ${(first / 1000).toFixed(1)} s.`;
    } catch (error) {
      state.textContent = error.message;
    }
    busy = false;
    go.setAttribute("aria-disabled", "false");
  };
  box.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    again();
  };
}
