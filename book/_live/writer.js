// The writer's figure: the reader's words go in, and a language model continues them token by token.

import { candidates, drawing } from "./candidates.js";
import { slider } from "./controls.js";
import { engine } from "./engine.js";
import { follow } from "./follow.js";
import { form } from "./form.js";
import { maps } from "./maps.js";
import { transport } from "./transport.js";
import { readBefore, WRITER } from "./views.js";
import { neverSeen } from "./words.js";
import { written } from "./written.js";

const EXAMPLES = [
  "ROMEO:\nWhat light is",
  "KING RICHARD:\nMy lord, the queen",
  "First Citizen:\nWe will not",
];
const BEYOND = ["The computer in our office"];
const LONGEST = 200;

/** How the next token is drawn, and how many are. */
function settings(id, changed) {
  const how = drawing(id, { temperature: 0.8, least: 0, topP: 0.9 });
  const tokens = slider(id, "tokens", "tokens", { least: 10, most: LONGEST, step: 10, value: 60 });
  const bar = make("div", { class: "lvm-controls", role: "group", "aria-label": "Sampling" }, how.places, tokens.place);
  bar.onchange = changed;
  return { bar, values: () => ({ ...how.values(), tokens: Number(tokens.input.value) }) };
}

/** `record` is the run that is shown before the model is loaded. */
export function writer(root, record) {
  const id = nextId("lvm");
  const run = { source: null, steps: [], done: false };
  const model = engine("writer_weights.js", "softlookupWriter", SIZES.writer);
  let uniforms = null; // the run's luck: a setting that changes keeps it
  const how = settings(id, () => {
    if (!run.source || run.stored) return;
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
          Object.assign(run, { text, source: read, steps: [], done: false, stored: false });
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
    id, label: "How does the text begin? (Enter starts a line; Ctrl+Enter writes on.)", lang: "en", text: EXAMPLES[0], lines: 2, manyLines: true, flat: true, examples: EXAMPLES, examplesName: "Example beginnings",
    about: "Trained on plays of Shakespeare and nothing else. Ctrl+Enter writes on.", beyond: BEYOND,
    settings: [how.bar], press: "Write on", first: model.first, more: [stop], act: write,
  });
  root.append(asked.place, result);

  let at = -1;
  const player = transport(run, (step, playing) => {
    at = step;
    parts.forEach((part) => part.draw(step, playing));
  });
  /** Load the model and write another text; what is shown is the token at the same step. */
  async function compute() {
    const step = at;
    await asked.again(run.text);
    player.goTo(step);
  }
  const ids = () => [...run.source.ids, ...run.steps.map(({ id }) => id)];
  const own = () => run.source.tokens.length;
  /** The vectors of the token at a position, before the first layer and after each. */
  function statesAt(position) {
    const { states } = position < own() ? run.source : run.steps[position - own() + 1] ?? {};
    return states?.map((layer) => layer[position < own() ? position : 0]);
  }
  const trail = follow(run, {
    parts: PARTS.writer, titles: { decoder: "The language model" }, layers: LAYERS.writer, size: SIZES.writer, ask: model.ask, compute,
    tokens: () => readBefore(run, run.steps.length), asks: (side, token) => ({ ids: ids().slice(0, token + 1) }), states: (side, token) => statesAt(token),
    read: (step) => own() - 1 + Math.max(0, step), chosen: () => {}, step: (by) => (run.steps[at + by] ? (player.goTo(at + by), true) : false),
  });
  const text = written(run, player.goTo, (token) => trail.begin("decoder", token));
  const parts = [text, candidates(run, { how }), trail, maps(run, id, WRITER, undefined, { compute, size: SIZES.writer })];
  result.append(text.top, player.bar, ...parts.slice(1).map(({ place }) => place));
  Object.assign(run, record);
  result.hidden = false;
  player.goTo(run.steps.length - 1);
}
