// The words that a head moves between: what is attended to at the left, what attends at the right, weights as lines.

import { meanOf } from "./words.js";

const LEAST = 0.03; // weaker lines are not drawn

/** `pick(row)` hears which word at the right was pressed. */
export function threads(run, pick) {
  const place = make("div", { class: "lvm-threads", role: "group", "aria-label": "Words as lines" });

  /** `shown` is a view; the lines of its row `row` stand out. */
  function draw(shown, layer, head, row, names) {
    const rows = shown.rows.map((_, t) => meanOf(shown.weights(t), run.source.heads, layer, head));
    const tall = Math.max(shown.rows.length, shown.columns.length);
    const lines = rows.flatMap((weights, t) => weights.map((weight, s) => [weight, t, s])).filter(([weight]) => weight >= LEAST);
    const line = ([weight, t, s]) => make("svg:path", {
      class: t === row ? "lvm-now" : "", d: `M0 ${s + 0.5}C40 ${s + 0.5} 60 ${t + 0.5} 100 ${t + 0.5}`,
      "stroke-width": 1 + 3 * weight, "stroke-opacity": t === row ? weight : weight * 0.4, "vector-effect": "non-scaling-stroke",
    });
    lines.sort((a, b) => (a[1] === row) - (b[1] === row));
    const focused = [...place.querySelectorAll("button")].indexOf(document.activeElement);
    const keys = make("div", { class: "lvm-ends" }, shown.columns.map((token, s) => make("span", { class: "lvm-end", style: `--w: ${rows[row]?.[s] ?? 0}` }, token)));
    const queries = make("div", { class: "lvm-ends" }, shown.rows.map((token, t) => make("button", { type: "button", class: "lvm-end", "aria-pressed": String(t === row), onclick: () => pick(t) }, token)));
    place.replaceChildren(make("p", { class: "lvm-name" }, names[0]), make("p", { class: "lvm-name lvm-right" }, names[1]), keys,
      make("svg:svg", { viewBox: `0 0 100 ${tall}`, preserveAspectRatio: "none", "aria-hidden": "true", style: `height: calc(${tall} * var(--tall))` }, lines.map(line)), queries);
    queries.children[focused]?.focus({ preventScroll: true });
  }
  return { place, draw };
}
