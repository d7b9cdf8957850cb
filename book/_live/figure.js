// The translator's figure: a sentence goes in, French comes out token by token, and every part shows the same step.

import { root as base } from "../_python/scripts.js";
import { asked, part } from "./asked.js";
import { candidates } from "./candidates.js";
import { controls } from "./controls.js";
import { translatorEngine } from "./engine.js";
import { form } from "./form.js";
import { transport } from "./transport.js";
import { tree } from "./tree.js";
import { words } from "./words.js";

const EXAMPLES = [
  "A brown dog carries a yellow ball out of the water.",
  "Two men are playing pool in a bar.",
  "A boy jumps into a pool.",
];
const SHORT = ["A girl reads a red book.", "Two dogs play with a yellow ball."];
const BEYOND = ["The government raised taxes last year.", "What time does the train leave?"];

/** `full` brings what the translator's own page shows besides: {machine, stored}. */
export function figure(root, full = null) {
  const id = nextId("lvm");
  const run = { text: null, source: null, steps: [], tree: null, best: null, done: false, stored: false };
  const model = translatorEngine();
  const how = controls(id, () => run.source && !run.stored && input.again());
  const result = make("div", { class: "lvm-result" });
  result.hidden = true;
  const more = make("a", {}, "Look inside: candidates, every layer and head, beams ▸");

  async function translate(text, tell) {
    let first = null;
    await model.ready(tell, "Translating …");
    const began = performance.now();
    const values = how.values();
    const { best } = await model.ask({ translate: { text, how: { ...values, lens: full !== null } } }, ({ read, grew, wrote }) => {
      if (read) {
        Object.assign(run, { text, source: read, steps: [], tree: values.beams > 1 ? [] : null, best: null, done: false, stored: false });
        result.hidden = false;
        more.href = `${base()}book/live.html?text=${encodeURIComponent(text)}`;
        looks.machine?.read();
        if (run.tree) player.goTo(-1); // what is seen to grow is not played again
        else player.restart();
        return;
      }
      first ??= performance.now() - began;
      if (grew) {
        run.tree.push(grew);
        draw(-1, true);
      } else {
        run.steps.push(wrote);
        if (!run.tree) player.more();
      }
    });
    Object.assign(run, { done: true, best });
    if (run.tree) player.goTo(run.steps.length - 1);
    else player.more();
    return `${run.steps.length} tokens in ${((performance.now() - began) / 1000).toFixed(1)} s; the first after ${(first / 1000).toFixed(1)} s.`;
  }

  const input = form({
    id, label: "Your English sentence", lang: "en", text: full ? EXAMPLES[0] : SHORT[0], about: "Trained on captions of photographs and nothing else: no “I”, no questions.",
    examples: full ? EXAMPLES : SHORT, examplesName: "Example sentences", beyond: full ? BEYOND : BEYOND.slice(0, 1),
    settings: full ? [how.bar] : [], press: "Translate", first: model.first, act: translate,
  });
  root.append(input.place, result);

  const draw = (at, playing) => {
    run.upto = playing ? at : run.steps.length - 1;
    for (const one of parts) one.draw(at, playing);
  };
  const player = transport(run, draw);
  const text = words(run, player.goTo);
  const looks = full ? { machine: full.machine(root, run, { player, input, how, rows: text.rows }), candidates: candidates(run), tree: tree(run) } : {};
  const parts = [text, ...Object.values(looks)];
  result.append(text.top, ...(full ? [] : [text.rows]), player.bar, ...(full ? parts.slice(1).map(({ place }) => place) : [make("p", { class: "lvm-more" }, more)]));
  if (part !== "opened" && part in looks) player.bar.after(looks[part].place); // what a link asked for comes first
  const record = full?.stored();
  if (record) {
    Object.assign(run, record);
    result.hidden = false;
    looks.machine.begin(asked);
  }
}
