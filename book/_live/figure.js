// The translator's figure: a sentence goes in, French comes out token by token, and every part shows the same step.

import { asked, part } from "./asked.js";
import { candidates } from "./candidates.js";
import { controls } from "./controls.js";
import { translatorEngine } from "./engine.js";
import { form } from "./form.js";
import { machine } from "./machine.js";
import { stored } from "./stored.js";
import { transport } from "./transport.js";
import { tree } from "./tree.js";
import { words } from "./words.js";

const EXAMPLES = [
  "A brown dog carries a yellow ball out of the water.",
  "Two men are playing pool in a bar.",
  "A boy jumps into a pool.",
];
const BEYOND = ["The government raised taxes last year.", "What time does the train leave?"];

export function figure(root) {
  const id = nextId("lvm");
  const run = { text: null, source: null, steps: [], tree: null, best: null, done: false, stored: false };
  const model = translatorEngine();
  const how = controls(id, () => run.source && !run.stored && input.again());
  const result = make("div", { class: "lvm-result" });
  result.hidden = true;

  async function translate(text, tell) {
    let first = null;
    await model.ready(tell, "Translating …");
    const began = performance.now();
    const values = how.values();
    const { best } = await model.ask({ translate: { text, how: { ...values, lens: true } } }, ({ read, grew, wrote }) => {
      if (read) {
        Object.assign(run, { text, source: read, steps: [], tree: values.beams > 1 ? [] : null, best: null, done: false, stored: false });
        result.hidden = false;
        looks.machine.read();
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
    id, label: "Your English sentence", lang: "en", text: EXAMPLES[0], about: "Trained on captions of photographs and nothing else: no “I”, no questions.",
    examples: EXAMPLES, examplesName: "Example sentences", beyond: BEYOND,
    flat: true, settings: [how.bar], press: "Translate", first: model.first, act: translate,
  });
  root.append(input.place, result);

  const draw = (at, playing) => {
    run.upto = playing ? at : run.steps.length - 1;
    for (const one of parts) one.draw(at, playing);
  };
  const player = transport(run, draw);
  const text = words(run, player.goTo, (token) => looks.machine.pick("encoder", token));
  const looks = { machine: machine(root, run, { player, input, how, text, ask: model.ask }), candidates: candidates(run, { start: () => how.values().temperature || 1, compute: () => looks.machine.compute() }), tree: tree(run) };
  const parts = [text, ...Object.values(looks)];
  result.append(make("div", { class: "lvm-lead" }, text.top, player.bar), ...parts.slice(1).map(({ place }) => place));
  if (part !== "opened" && part in looks) result.firstChild.after(looks[part].place); // what a link asked for comes first
  const record = stored();
  if (record) {
    Object.assign(run, record);
    result.hidden = false;
    looks.machine.begin(asked);
  }
}
