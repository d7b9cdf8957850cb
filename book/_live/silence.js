// Heads of the language model that the reader silences: what each costs alone, and what the model writes without them.

import { largest } from "./decoding.js";
import { engine } from "./engine.js";
import { form } from "./form.js";

const EXAMPLES = [
  "ROMEO:\nWhat light is this? Speak to me, my lord, and tell me what",
  "KING RICHARD:\nMy lord, the queen is here, and I will not",
  "First Citizen:\nWe will not go. Speak, and tell us what you",
];
const TOKENS = 24;
const CANDIDATES = 4;
const signed = (number) => (number > 0.005 ? `+${show(number)}` : show(number));
const nameOf = ([layer, head]) => `${layer + 1}.${head + 1}`;

/** The likeliest next tokens of either pass, as bars. */
function candidates(whole, changed) {
  const ids = [...new Set([...largest(whole.p, CANDIDATES), ...largest(changed.p, CANDIDATES)])];
  const cell = (p) => [make("td", { class: "lvm-number" }, p < 0.0005 ? "< 0.001" : p.toFixed(3)),
    make("td", { class: "lvm-track" }, make("div", { class: "lvm-fill", style: `inline-size: ${100 * p}%` }))];
  return ids.map((id) => make("tr", {}, make("th", { scope: "row" }, whole.names[id]), cell(whole.p[id]), cell(changed.p[id])));
}

/** A text, with what was given in grey. */
const text = ({ prompt, text: all }) => make("p", { class: "lvm-written", lang: "en" }, make("span", { class: "lvm-own" }, prompt), all.slice(prompt.length));

/** `given.silenced` says which head is silenced first, "1.5": its layer and its number, both counted from 1. */
export function silence(root, given) {
  const id = nextId("lvm");
  const model = engine("writer_weights.js", "softlookupWriter", SIZES.writer);
  let silenced = [given.silenced.split(".").map((from1) => from1 - 1)];
  let whole = null; // the pass in which no head is silenced
  let asked = 0;
  const board = make("div", { class: "lvm-board", role: "group", "aria-label": "Heads to silence" });
  const losses = make("p", { class: "lvm-said", "aria-live": "polite" });
  const body = make("tbody", {});
  const [before, after] = [make("div", {}), make("div", {})];
  const result = make("div", { class: "lvm-result" }, make("p", { class: "lvm-name" }, "How much the loss of your text rises without each head alone. Press heads to silence them together."),
    board, losses, make("div", { class: "lvm-columns" }, before, after),
    make("table", { class: "slf-table lvm-candidates" }, make("caption", {}, "The next token"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "token"), make("th", { scope: "col", colspan: 2 }, "all heads"), make("th", { scope: "col", colspan: 2 }, "silenced"))), body));
  result.hidden = true;

  const isSilent = (one) => silenced.some((other) => nameOf(other) === nameOf(one));
  const buttons = () => [...board.querySelectorAll("button")];

  /** The grid of heads: a row for each layer. */
  function grid() {
    const button = (layer, head) => make("button", { type: "button", class: "lvm-head-cell", "data-head": nameOf([layer, head]), "aria-label": `head ${nameOf([layer, head])}`,
      onclick: () => {
        const one = [layer, head];
        silenced = isSilent(one) ? silenced.filter((other) => nameOf(other) !== nameOf(one)) : [...silenced, one];
        draw();
      } }, "…");
    const range = (count) => Array.from({ length: count }, (_, i) => i);
    board.replaceChildren(make("table", { class: "slf-table lvm-heads" },
      make("thead", {}, make("tr", {}, make("td", {}), range(whole.heads).map((head) => make("th", { scope: "col" }, `head ${head + 1}`)))),
      make("tbody", {}, range(whole.layers).map((layer) => make("tr", {}, make("th", { scope: "row" }, `layer ${layer + 1}`), range(whole.heads).map((head) => make("td", {}, button(layer, head))))))));
  }

  /** The model once more, without the heads that are silenced now. */
  async function draw() {
    asked += 1;
    const mine = asked;
    for (const one of buttons()) one.setAttribute("aria-pressed", String(silenced.some((other) => nameOf(other) === one.dataset.head)));
    const changed = silenced.length ? await model.ask({ without: { text: whole.given, silenced, tokens: TOKENS } }) : whole;
    if (mine !== asked) return; // another head was pressed since
    const which = silenced.map(nameOf).sort().join(", ");
    before.replaceChildren(make("p", { class: "lvm-name" }, "With all heads"), text(whole));
    after.replaceChildren(make("p", { class: "lvm-name" }, which ? `Without ${which}` : "No head is silenced"), text(changed));
    losses.replaceChildren("Loss of your text: ", strong(show(whole.loss)), " nats per token with all heads, ", strong(show(changed.loss)), which ? ` without ${which} (${signed(changed.loss - whole.loss)}).` : " now.");
    body.replaceChildren(...candidates(whole, changed));
  }

  async function compute(words, tell) {
    await model.ready(tell, "Reading …");
    whole = { ...await model.ask({ without: { text: words, silenced: [], tokens: TOKENS } }), given: words };
    grid();
    await draw();
    result.hidden = false;
    tell("Silencing each head alone …");
    let most = 0;
    const rises = new Map();
    const all = await model.ask({ each: { text: words } }, ({ head: { layer, head, loss } }) => {
      rises.set(nameOf([layer, head]), loss - whole.loss);
      most = Math.max(most, loss - whole.loss);
      for (const one of buttons()) {
        const rise = rises.get(one.dataset.head);
        if (rise === undefined) continue;
        one.textContent = signed(rise);
        one.style.setProperty("--w", Math.max(0, rise / most) || 0);
        one.setAttribute("aria-label", `head ${one.dataset.head}: ${signed(rise)}`);
      }
    });
    if (!all) return "";
    const [worst] = [...rises].sort((a, b) => b[1] - a[1])[0];
    return `Without head ${worst} the loss rises most.`;
  }

  const input = form({
    id, label: "A text (Enter starts a line; Ctrl+Enter computes)", lang: "en", text: EXAMPLES[0], lines: 3, manyLines: true, examples: EXAMPLES.slice(1), examplesName: "Example texts",
    press: "Silence heads", first: model.first, act: compute,
  });
  root.append(input.place, result);
}
