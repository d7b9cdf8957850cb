// A sentence in French twice: as the model has learned it, and with position 0 for every token of the encoder.

import { translatorEngine } from "./engine.js";
import { form } from "./form.js";

const WAYS = [["with positions", true], ["without positions", false]];

export function order(root, { text: sentence }) {
  const model = translatorEngine();
  const lines = WAYS.map(([words]) => [make("th", { scope: "row" }, words), make("td", { lang: "fr" })]);
  const result = make("div", { class: "lvm-result" }, make("table", { class: "slf-table lvm-ways" }, make("tbody", {}, lines.map((line) => make("tr", {}, line)))));
  result.hidden = true;

  async function translate(text, tell) {
    await model.ready(tell, "Translating twice …");
    const found = [];
    for (const [, positions] of WAYS) found.push(await model.ask({ translate: { text, how: { beams: 4, alpha: 1, positions } } }));
    found.forEach((one, i) => { lines[i][1].textContent = one.text; });
    result.hidden = false;
    return found[0].text === found[1].text ? "Both are alike." : "They differ.";
  }

  const input = form({
    id: nextId("lvm"), label: "Your English sentence", lang: "en", text: sentence, press: "Translate", first: model.first, act: translate,
    examples: ["A man bites a dog.", "A dog bites a man.", "A red car and a blue truck.", "A blue car and a red truck."], examplesName: "Example sentences",
  });
  root.append(input.place, result);
}
