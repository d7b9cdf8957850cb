// The loss of a translation that the reader writes: how probable the model found each of its tokens.

import { translatorEngine } from "./engine.js";
import { form } from "./form.js";

export function loss(root, { text: english, target: french }) {
  const id = nextId("lvm");
  const model = translatorEngine();
  const target = make("textarea", { id: `${id}-target`, rows: 2, maxlength: 600, spellcheck: "false", lang: "fr" });
  target.value = french;
  const names = ["label", "probability p", "loss −log p", "", "likeliest token"];
  const body = make("tbody", {});
  const total = make("p", { class: "lvm-said", "aria-live": "polite" });
  const result = make("div", { class: "lvm-result" },
    make("div", { class: "lvm-board" }, make("table", { class: "slf-table lvm-candidates lvm-losses" }, make("caption", {}, "Each token, given those before it"),
      make("thead", {}, make("tr", {}, names.map((name) => make(name ? "th" : "td", name ? { scope: "col" } : { class: "lvm-track" }, name)))), body)), total);
  result.hidden = true;

  async function compute(text, tell) {
    await model.ready(tell, "Computing …");
    const rows = await model.ask({ score: { text, target: target.value } });
    const worst = Math.max(...rows.map(({ loss: one }) => one));
    body.replaceChildren(...rows.map((one) => make("tr", {}, make("th", { scope: "row" }, one.label),
      make("td", { class: "lvm-number" }, one.p < 0.0005 ? one.p.toExponential(0).replace("-", "−") : one.p.toFixed(3)), make("td", { class: "lvm-number" }, show(one.loss)),
      make("td", { class: "lvm-track" }, make("div", { class: "lvm-fill", style: `inline-size: ${(100 * one.loss) / worst}%` })),
      make("td", {}, one.likeliest === one.label ? "the same" : `${one.likeliest} (${one.highest.toFixed(3)})`))));
    const mean = rows.reduce((sum, { loss: one }) => sum + one, 0) / rows.length;
    total.replaceChildren("Mean loss ", strong(show(mean)), `, perplexity ${Math.exp(mean).toFixed(mean < 5 ? 1 : 0)}, over ${rows.length} tokens.`);
    result.hidden = false;
    return "";
  }

  const input = form({
    id, label: "An English sentence", lang: "en", text: english, examples: [], lines: 1, press: "Compute the loss", first: model.first, act: compute,
    settings: [make("label", { for: target.id }, "A French translation of it, good or bad"), target],
  });
  target.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    input.again();
  };
  root.append(input.place, result);
}
