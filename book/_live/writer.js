// The writer's figure: the reader's words go in, and a language model continues them token by token.

import { candidates } from "./candidates.js";
import { slider } from "./controls.js";
import { engine } from "./engine.js";
import { form } from "./form.js";
import { maps } from "./maps.js";
import { transport } from "./transport.js";
import { WRITER } from "./views.js";
import { neverSeen } from "./words.js";
import { written } from "./written.js";

const EXAMPLES = [
  "ROMEO:\nWhat light is",
  "KING RICHARD:\nMy lord, the queen",
  "First Citizen:\nWe will not",
];
const BEYOND = ["The computer in our office"];
const LONGEST = 200;

/** How the next token is drawn. */
function settings(id, changed) {
  const off = (none, digits) => (number) => (number === none ? "off" : number.toFixed(digits));
  const sliders = {
    temperature: slider(id, "temperature", "temperature τ", { least: 0, most: 2, step: 0.1, value: 0.8, said: (tau) => (tau ? tau.toFixed(1) : "0, greedy") }),
    topK: slider(id, "top-k", "top-k", { least: 0, most: 100, step: 1, value: 0, said: off(0, 0) }),
    topP: slider(id, "top-p", "top-p", { least: 0.05, most: 1, step: 0.05, value: 0.9, said: off(1, 2) }),
    tokens: slider(id, "tokens", "tokens", { least: 10, most: LONGEST, step: 10, value: 60 }),
  };
  const bar = make("div", { class: "lvm-controls", role: "group", "aria-label": "Sampling" }, Object.values(sliders).map(({ place }) => place));
  bar.onchange = changed;
  const value = (name) => Number(sliders[name].input.value);
  const values = () => ({ temperature: value("temperature"), topK: value("topK") || null, topP: value("topP") < 1 ? value("topP") : null, tokens: value("tokens") });
  return { bar, values };
}

export function writer(root) {
  const id = nextId("lvm");
  const run = { source: null, steps: [], done: false };
  const model = engine("writer_weights.js", "softlookupWriter", SIZES.writer);
  let uniforms = null; // the run's luck: a setting that changes keeps it
  const how = settings(id, () => {
    if (!run.source) return;
    keep = true;
    asked.again();
  });
  let keep = false;
  const result = make("div", { class: "lvm-result" });
  result.hidden = true;
  const stop = make("button", { type: "button", "aria-disabled": "true", onclick: () => halt() }, "Stop");
  let stopped = false; // the worker may be ahead of the page: what it wrote since is not shown

  function halt() {
    if (stop.getAttribute("aria-disabled") === "true") return;
    stopped = true;
    model.ask({ stop: true });
  }

  async function write(text, tell) {
    await model.ready(tell, "Writing …");
    if (!keep || !uniforms) uniforms = Array.from({ length: LONGEST }, Math.random);
    keep = false;
    const began = performance.now();
    stopped = false;
    stop.setAttribute("aria-disabled", "false");
    try {
      const { full } = await model.ask({ write: { text, how: { ...how.values(), uniforms } } }, ({ read, wrote }) => {
        if (read) {
          Object.assign(run, { source: read, steps: [], done: false });
          result.hidden = false;
          player.restart();
        } else if (!stopped) {
          run.steps.push(wrote);
          player.more();
        }
      });
      run.done = true;
      player.more();
      return `${run.steps.length} tokens in ${((performance.now() - began) / 1000).toFixed(1)} s.${full && !stopped ? " The model's context is full." : ""} ${neverSeen(run.source.unknown)}`;
    } finally {
      stop.setAttribute("aria-disabled", "true");
    }
  }

  const asked = form({
    id, label: "How does the text begin? (Enter starts a line; Ctrl+Enter writes on.)", lang: "en", text: EXAMPLES[0], lines: 3, manyLines: true, examples: EXAMPLES, examplesName: "Example beginnings",
    about: "Trained on plays of Shakespeare and nothing else.", beyond: BEYOND,
    settings: [how.bar], press: "Write on", first: model.first, more: [stop], act: write,
  });
  root.append(asked.place, result);

  const player = transport(run, (at, playing) => parts.forEach((part) => part.draw(at, playing)));
  const text = written(run, player.goTo);
  const parts = [text, candidates(run, "after temperature and cut"), maps(run, id, WRITER)];
  result.append(text.top, player.bar, ...parts.slice(1).map(({ place }) => place));
}
