// The whole model as a place: thumbnails of every attention map, the residual streams that run by them, the encoder's
// output on its way to the decoder, and the likeliest next tokens at the end.

import { still } from "./motion.js";
import { nameOf } from "./opened.js";
import { strip } from "./strip.js";
import { thumbnail } from "./thumbnail.js";
import { TRANSLATOR } from "./views.js";
import { plain } from "./words.js";

const BARS = 6, MOST = 13, FLOW_MS = 400;

/** `pick(side, token)` hears which word was pressed; `followed(side)` says which word's vector the streams carry. */
export function picture(run, state, open, { pick, followed }) {
  const place = make("div", { class: "lvm-place", role: "group", "aria-label": "The whole model" });
  const inside = make("div", { class: "lvm-machine" });
  const box = (name, ...children) => make("div", { class: name }, ...children);
  const [source, written, ends, turn] = ["lvm-in lvm-english", "lvm-in lvm-so-far", "lvm-out", "lvm-turn"].map((name) => box(name));
  const dots = { encoder: box("lvm-dot"), decoder: box("lvm-dot") };
  let [thumbs, stops, flows, last] = [[], [], [], [null, null]];

  function thumb(kind, layer, head) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const node = make("button", { type: "button", class: "lvm-thumb", tabindex: -1, "aria-label": nameOf({ kind, layer, head }), onclick: () => open({ kind, layer, head }) }, canvas);
    thumbs.push({ node, canvas, kind, layer, head });
    return node;
  }

  /** Thumbnails of one kind: the mean of all, then those of each layer. */
  function stack(kind) {
    const mean = thumb(kind, null, null);
    const blocks = run.source.layers.map((_, layer) => Array.from({ length: run.source.heads }, (_, head) => thumb(kind, layer, head)));
    return [box("lvm-side", make("p", {}, TRANSLATOR[kind].name), mean, make("p", {}, "mean")), ...blocks.map((block) => box(`lvm-block lvm-${kind}`, block))];
  }

  function build() {
    const layers = run.source.layers.map((_, l) => l);
    inside.style.setProperty("--layers", layers.length);
    stops = layers.map(() => box("lvm-stop"));
    flows = layers.map(() => box("lvm-flow"));
    const stream = (name, dot, children) => box(`lvm-stream ${name}`, dot, children);
    inside.replaceChildren(box(""), ...layers.map((l) => box("lvm-layer", `layer ${l + 1}`)), box(""),
      ...stack("encoder"), box(""),
      source, stream("lvm-up", dots.encoder, flows), turn,
      stream("lvm-memory", [], layers.map(() => box("lvm-drop"))),
      ...stack("cross"), ends,
      written, stream("lvm-down", dots.decoder, stops),
      ...stack("self"));
    turn.append(make("p", {}, "encoder’s output"));
    place.append(inside);
    thumbs[1].node.tabIndex = 0;
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
    const { tokens } = run.source;
    const word = (side, token, t) => make("button", { type: "button", class: "lvm-word", "aria-pressed": String(t === followed(side)), onclick: () => pick(side, t) }, plain(token));
    const focused = document.activeElement.closest?.(".lvm-in");
    const nth = focused && [...focused.children].indexOf(document.activeElement);
    source.replaceChildren(...tokens.slice(0, tokens.length > MOST ? MOST - 1 : MOST).map((token, t) => word("encoder", token, t)), ...(tokens.length > MOST ? ["…"] : []));
    const from = Math.max(0, at - 3);
    written.replaceChildren(...(step ? run.steps.slice(from, at + 1).map(({ fed }, t) => word("decoder", fed, from + t)) : []));
    if (focused) focused.children[Math.min(nth, focused.children.length - 1)]?.focus({ preventScroll: true });
    ends.replaceChildren(make("p", {}, "next token"), ...bars(step));
    const carried = (vectors, l, whose) => (vectors ? [strip({ values: vectors[l + 1], label: `Vector of ${plain(whose)} after layer ${l + 1}`, nameOf: () => "" })] : []);
    const reading = followed("encoder");
    flows.forEach((flow, l) => {
      const strips = carried(run.source.states?.map((layer) => layer[reading]), l, tokens[reading]);
      flow.replaceChildren(...strips.map(({ node }) => node));
      strips.forEach((one) => one.draw());
    });
    stops.forEach((stop, l) => {
      const strips = carried(step?.states, l, step?.fed ?? "");
      stop.replaceChildren(...(step?.lens ? [make("span", {}, plain(step.lens[l].token)), " ", show(step.lens[l].p)] : []), ...strips.map(({ node }) => node));
      strips.forEach((one) => one.draw());
    });
    if (last[0] !== run.source) flow(dots.encoder);
    else if (playing && last[1] !== at) flow(dots.decoder);
    last = [run.source, at];
  }

  /** The thumbnail that stands next in a direction. */
  function nearest(from, [down, right]) {
    const middle = (node) => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = middle(from);
    const ahead = thumbs.map(({ node }) => node).flatMap((node) => {
      const [toRight, below] = [middle(node)[0] - x, middle(node)[1] - y];
      const along = right * toRight + down * below;
      const aside = Math.abs(right ? below : toRight);
      return along > 1 && (down || aside < from.offsetHeight / 2) ? [[along + 2 * aside, node]] : [];
    });
    return ahead.sort(([one], [other]) => one - other)[0]?.[1];
  }

  place.addEventListener("keydown", (event) => {
    const arrow = STEPS[event.key];
    if (!arrow || !document.activeElement.classList.contains("lvm-thumb")) return;
    event.preventDefault();
    nearest(document.activeElement, arrow)?.focus();
  });
  place.addEventListener("focusin", ({ target }) => thumbs.forEach(({ node }) => { node.tabIndex = node === target ? 0 : -1; }));
  new MutationObserver(() => thumbs.length && draw(last[1])).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return { place, draw };
}
