// The whole model as a place: thumbnails of every attention map, the residual streams that run by them, the encoder's
// output on its way to the decoder, and the likeliest next tokens at the end.

import { still } from "./motion.js";
import { nameOf } from "./opened.js";
import { thumbnail } from "./thumbnail.js";
import { TRANSLATOR } from "./views.js";

const BARS = 6, MOST = 13, FLOW_MS = 400;

/** A token without the sign that it starts a word, unless that is all of it. */
const plain = (token) => token.replace(/^▁(?=.)/, "");

export function picture(run, state, open) {
  const place = make("div", { class: "lvm-place", role: "group", "aria-label": "The whole model" });
  const inside = make("div", { class: "lvm-machine" });
  const box = (name, ...children) => make("div", { class: name }, ...children);
  const [source, written, ends, turn] = ["lvm-in lvm-english", "lvm-in lvm-so-far", "lvm-out", "lvm-turn"].map((name) => box(name));
  const dots = { encoder: box("lvm-dot"), decoder: box("lvm-dot") };
  let [thumbs, rows, stops, last] = [[], [], [], [null, null]];

  function thumb(kind, layer, head) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const node = make("button", { type: "button", class: "lvm-thumb", tabindex: -1, "aria-label": nameOf({ kind, layer, head }), onclick: () => open({ kind, layer, head }) }, canvas);
    thumbs.push({ node, canvas, kind, layer, head });
    return node;
  }

  /** Thumbnails of one kind: the mean of all, then two by two those of each layer. */
  function stack(kind) {
    const mean = thumb(kind, null, null);
    const blocks = run.source.layers.map((_, layer) => Array.from({ length: run.source.heads }, (_, head) => thumb(kind, layer, head)));
    for (let from = 0; from < run.source.heads; from += 2) rows.push([mean, ...blocks.flatMap((block) => block.slice(from, from + 2))]);
    return [box("lvm-side", make("p", {}, TRANSLATOR[kind].name), mean, make("p", {}, "mean")), ...blocks.map((block) => box(`lvm-block lvm-${kind}`, block))];
  }

  function build() {
    const layers = run.source.layers.map((_, l) => l);
    inside.style.setProperty("--layers", layers.length);
    stops = layers.map(() => box("lvm-stop"));
    const stream = (name, dot, children) => box(`lvm-stream ${name}`, dot, children);
    inside.replaceChildren(box(""), ...layers.map((l) => box("lvm-layer", `layer ${l + 1}`)), box(""),
      ...stack("encoder"), box(""),
      source, stream("lvm-up", dots.encoder, layers.map((l) => box("", l ? [] : "residual stream"))), turn,
      stream("lvm-memory", [], layers.map(() => box("lvm-drop"))),
      ...stack("cross"), ends,
      written, stream("lvm-down", dots.decoder, stops),
      ...stack("self"));
    turn.append(make("p", {}, "encoder’s output"));
    place.append(inside);
    rows[0][1].tabIndex = 0;
  }

  /** What comes out: the likeliest next tokens. */
  function bars(step) {
    const row = ({ id, token, p }) => make("div", id === step.id ? { class: "lvm-chosen" } : {}, make("span", {}, token), make("span", { class: "lvm-number" }, show(p)), make("span", { class: "lvm-fill", style: `inline-size: ${100 * p}%` }));
    return step ? step.candidates.slice(0, BARS).map(row) : [];
  }

  /** A token's vector runs along a stream. */
  function flow(dot) {
    if (still.matches) return;
    dot.animate({ left: ["0%", "100%"], opacity: [1, 1] }, FLOW_MS);
  }

  function draw(at, playing) {
    if (!thumbs.length) build();
    const style = getComputedStyle(place);
    const colours = ["--slf-key", "--slf-query"].map((name) => style.getPropertyValue(name).split(" ").map(Number));
    const views = Object.fromEntries(Object.entries(TRANSLATOR).map(([kind, { view }]) => {
      const shown = view(run, at);
      return [kind, { ...shown, marked: shown.current ?? state.row, all: shown.rows.map((_, t) => shown.weights(t)) }];
    }));
    for (const each of thumbs) {
      thumbnail(each, views[each.kind], run.source.heads, colours);
      each.node.setAttribute("aria-pressed", String(["kind", "layer", "head"].every((name) => each[name] === state[name])));
    }
    const step = run.steps[at];
    const words = (tokens) => tokens.map((token) => make("span", {}, plain(token)));
    const { tokens } = run.source;
    source.replaceChildren(...words(tokens.length > MOST ? [...tokens.slice(0, MOST - 1), "…"] : tokens));
    written.replaceChildren(...(step ? words(run.steps.slice(Math.max(0, at - 3), at + 1).map(({ fed }) => fed)) : []));
    ends.replaceChildren(make("p", {}, "next token"), ...bars(step));
    stops.forEach((stop, l) => stop.replaceChildren(...(step?.lens ? [make("span", {}, plain(step.lens[l].token)), " ", show(step.lens[l].p)] : [])));
    if (last[0] !== run.source) flow(dots.encoder);
    else if (playing && last[1] !== at) flow(dots.decoder);
    last = [run.source, at];
  }

  place.addEventListener("keydown", (event) => {
    const arrow = STEPS[event.key];
    const r = rows.findIndex((row) => row.includes(document.activeElement));
    if (!arrow || r < 0) return;
    event.preventDefault();
    let next = document.activeElement;
    for (let [y, x] = [r, rows[r].indexOf(next)]; rows[y]?.[x] && next === document.activeElement;) {
      y += arrow[0];
      x += arrow[1];
      next = rows[y]?.[x] ?? next;
    }
    next.focus();
  });
  place.addEventListener("focusin", ({ target }) => thumbs.forEach(({ node }) => { node.tabIndex = node === target ? 0 : -1; }));
  new MutationObserver(() => thumbs.length && draw(last[1])).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return { place, draw };
}
