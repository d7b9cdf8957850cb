// The translator's figure: a sentence goes in, French comes out token by token, and every part shows the same step.

import { root as base } from "../_python/scripts.js";
import { candidates } from "./candidates.js";
import { controls } from "./controls.js";
import { engine } from "./engine.js";
import { form } from "./form.js";
import { maps } from "./maps.js";
import { transport } from "./transport.js";
import { tree } from "./tree.js";
import { TRANSLATOR } from "./views.js";
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
  const model = engine("weights.js", "softlookupTranslator");
  const how = controls(id, () => run.source && asked.again());
  const result = make("div", { class: "lvm-result" });
  result.hidden = true;
  const more = make("a", {}, "Look inside: candidates, every layer and head, beams ▸");

  async function translate(text, tell) {
    let first = null;
    tell(run.source ? "Translating …" : `Loading the model (${SIZES.translator}, once) …`);
    await model.start();
    const began = performance.now();
    tell("Translating …");
    const found = await model.ask({ translate: { text, how: how.values() } }, ({ read, wrote }) => {
      if (read) {
        Object.assign(run, { source: read, steps: [], tree: null, done: false });
        result.hidden = false;
        more.href = `${base()}book/live.html?text=${encodeURIComponent(text)}`;
        player.restart();
      } else {
        first ??= performance.now() - began;
        run.steps.push(wrote);
        player.more();
      }
    });
    Object.assign(run, { done: true, tree: found.tree, best: found.best });
    player.more();
    return `${run.steps.length} tokens in ${((performance.now() - began) / 1000).toFixed(1)} s; the first after ${(first / 1000).toFixed(1)} s.`;
  }

  const asked = form({
    id, label: "Your English sentence", lang: "en", text: full ? EXAMPLES[0] : SHORT, examples: full ? EXAMPLES : [], examplesName: "Example sentences",
    settings: full ? [how.bar] : [], press: "Translate", first: `The first press loads the model (${SIZES.translator}, once).`, act: translate,
  });
  root.append(asked.place, result);

  const player = transport(run, (at, playing) => parts.forEach((part) => part.draw(at, playing)));
  const text = words(run, player.goTo);
  const parts = full ? [text, candidates(run), maps(run, id, TRANSLATOR), tree(run)] : [text];
  result.append(text.top, player.bar, ...(full ? parts.slice(1).map(({ place }) => place) : [make("p", { class: "lvm-more" }, more)]));
}
