// Both sentences as tokens. The source is shaded by the cross-attention of the token that was written last.

import { pathTo } from "./decoding.js";

/** A token without the sign that it starts a word, unless that is all of it. */
export const plain = (token) => token.replace(/^▁(?=.)/, "");

/** The text of some tokens. */
export const joined = (tokens) => tokens.filter((one) => one !== "(end)").join("").replaceAll("▁", " ").trim();

/** Mean cross-attention of a step over all layers and heads, or over those asked for. */
export function crossOf({ layers }, heads, layer = null, head = null) {
  return meanOf(layers.map(({ cross }) => cross.weights), heads, layer, head);
}

/** Mean of weights [layers] of (heads * keys) over layers and heads, or those asked for. */
export function meanOf(weights, heads, layer, head) {
  const keys = weights[0].length / heads;
  const layers = layer === null ? weights : [weights[layer]];
  const asked = head === null ? Array.from({ length: heads }, (_, n) => n) : [head];
  return Array.from({ length: keys }, (_, s) => {
    const sum = layers.reduce((all, one) => all + asked.reduce((some, n) => some + one[n * keys + s], 0), 0);
    return sum / (layers.length * asked.length);
  });
}

/** What became of characters that the model does not know. */
export const neverSeen = (unknown) => (unknown.length ? `The model has never seen ${unknown.join(", ")}. It reads each as the token (unknown), and cannot tell what stood there.` : "");

const FEW = 2;
const SHARE = 0.4;

/** The same, and whether so many words fall into small pieces that the sentence is hardly English. */
export function warned({ unknown, splintered }, text) {
  const many = text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;
  const strange = splintered.length >= FEW && splintered.length >= SHARE * many
    ? `Is this English? ${splintered.length} of ${many} words fall into three or more small pieces (${splintered.slice(0, 3).join(", ")}), so the model has hardly met them, and its French may mean nothing.` : "";
  return [neverSeen(unknown), strange].filter(Boolean).join(" ");
}

/** `goTo(step)` chooses a French token, `follow(token)` an English one, where one can be followed. */
export function words(run, goTo, follow = null) {
  const source = make("div", { class: "lvm-tokens" });
  const target = make("div", { class: "lvm-tokens" });
  const french = make("p", { class: "lvm-french", lang: "fr" });
  const said = make("p", { class: "lvm-said", "aria-live": "polite" });
  const missed = make("p", { class: "lvm-missed" });
  const row = (name, place) => make("div", { class: "lvm-row", role: "group", "aria-label": name }, make("p", { class: "lvm-name", "aria-hidden": "true" }, name), place);
  const top = make("div", {}, french, missed);
  const rows = make("div", { class: "lvm-rows" }, row("English tokens", source), row("French tokens", target), said);

  function draw(at, playing) {
    said.setAttribute("aria-live", playing ? "off" : "polite");
    const grown = run.best === null && run.tree?.at(-1); // what a beam search keeps that goes on
    const step = run.steps[at];
    const weights = step && crossOf(step, run.source.heads);
    const shown = grown ? pathTo(run.tree, [run.tree.length - 1, 0]).map(({ name }) => name) : run.steps.slice(0, at + 1).map(({ token }) => token);
    const later = playing || grown ? [] : run.steps.slice(at + 1); // written already, and behind the step that is shown
    const now = joined(shown);
    french.replaceChildren(now || (later.length ? "" : "…"), make("span", { class: "lvm-later" }, joined([...shown, ...later.map(({ token }) => token)]).slice(now.length)));
    french.classList.toggle("lvm-grows", Boolean(grown));
    const held = [...source.children].indexOf(document.activeElement);
    source.replaceChildren(...run.source.tokens.map((token, s) => make(follow ? "button" : "span", { ...(follow ? { type: "button", onclick: () => follow(s) } : {}), class: "lvm-token", style: `--w: ${weights ? weights[s] : 0}` },
      make("span", {}, token), make("span", { class: "lvm-number" }, weights ? show(weights[s]) : "–"))));
    if (held >= 0) source.children[Math.min(held, source.children.length - 1)].focus({ preventScroll: true });
    missed.textContent = warned(run.source, run.text);
    missed.hidden = !missed.textContent;
    const focused = [...target.children].indexOf(document.activeElement);
    target.replaceChildren(...run.steps.slice(0, at + 1 + later.length).map(({ token }, t) => make("button", {
      type: "button", class: t > at ? "lvm-token lvm-later" : "lvm-token", "aria-pressed": String(t === at), onclick: () => goTo(t),
    }, token)));
    target.children[Math.min(focused, target.children.length - 1)]?.focus({ preventScroll: true });
    if (!step) {
      said.textContent = grown ? `Step ${run.tree.length} of the beam search: the likeliest of the ${grown.length} texts that it keeps.` : `The encoder has read ${run.source.tokens.length} tokens.`;
      return;
    }
    const most = weights.indexOf(Math.max(...weights));
    const { p } = step.candidates.find(({ id }) => id === step.id);
    said.replaceChildren(`Step ${at + 1}: after `, strong(step.fed), " the decoder wrote ", strong(step.token), ` (probability ${p < 0.005 ? "< 0.01" : show(p)}), with most cross-attention on `,
      strong(run.source.tokens[most]), ` (${show(weights[most])}, the mean of all layers and heads).`);
  }
  return { top, rows, draw };
}
