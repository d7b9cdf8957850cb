// Attention maps of one kind on the reader's own sentence, and a link to the whole model at the same layer and head.

import { root as base } from "../_python/scripts.js";
import { translatorEngine } from "./engine.js";
import { form } from "./form.js";
import { maps } from "./maps.js";
import { TRANSLATOR } from "./views.js";
import { joined, warned } from "./words.js";

/** `given` says what is shown first: {show, layer, head, text}. */
export function look(root, given) {
  const id = nextId("lvm");
  const run = { source: null, steps: [] };
  const model = translatorEngine();
  const map = maps(run, id, { [given.show]: TRANSLATOR[given.show] }, given);
  const french = make("p", { class: "lvm-french", lang: "fr" });
  const more = make("a", {}, "The whole model on this sentence ▸");
  const result = make("div", { class: "lvm-result" }, french, map.place, make("p", { class: "lvm-more" }, more));
  result.hidden = true;
  more.onclick = () => { more.href = address(); };

  /** The whole model, where this figure stands now. */
  const address = () => `${base()}book/live.html?${new URLSearchParams({ text: run.text, show: given.show, ...map.chosen() })}`;

  async function translate(text, tell) {
    await model.ready(tell, "Translating …");
    const found = { steps: [] };
    await model.ask({ translate: { text, how: {} } }, ({ read, wrote }) => {
      if (read) found.source = read;
      else found.steps.push(wrote);
    });
    Object.assign(run, found, { text });
    result.hidden = false;
    french.textContent = joined(run.steps.map(({ token }) => token));
    map.draw(run.steps.length - 1);
    more.href = address();
    return `${run.source.tokens.length} English tokens, ${run.steps.length} French ones. ${warned(run.source, run.text)}`;
  }

  const input = form({
    id, label: "Your English sentence", lang: "en", text: given.text, examples: [], press: "Show the weights", first: model.first, act: translate,
  });
  root.append(input.place, result);
}
