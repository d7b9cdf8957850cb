// The tree of a beam search: columns are steps, and what is kept stands by its rank.

import { pathTo } from "./decoding.js";

const COLUMN = 96, ROW = 30, LEFT = 30, TOP = 16;

export function tree(run) {
  const picture = make("div", { class: "lvm-tree", tabindex: 0, role: "group", "aria-label": "The tree of the beam search" });
  const said = make("p", { class: "lvm-about" });
  const kept = make("ol", { class: "lvm-kept" });
  const ends = make("ol", { class: "lvm-kept" });
  const place = make("section", { class: "lvm-part", "aria-label": "Beam search" }, make("p", { class: "lvm-head" }, strong("The beam as a tree")), said, picture,
    make("div", { class: "lvm-columns" }, make("div", {}, make("p", { class: "lvm-name" }, "Kept at this step, by log-probability"), kept),
      make("div", {}, make("p", { class: "lvm-name" }, "Ended so far, by log-probability over length penalty"), ends)));

  /** A text, with dots between the tokens of one word. */
  const text = (step, at) => pathTo(run.tree, [step, at]).map(({ name }) => name).join("·").replaceAll("·▁", " ").replace("▁", "");

  function svg(upto) {
    const tall = Math.max(...run.tree.map((one) => one.length));
    const [width, height] = [LEFT + COLUMN * run.tree.length, TOP + ROW * tall];
    const drawn = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
    const best = new Set(pathTo(run.tree, run.best ?? [upto, 0]));
    drawn.append(make("svg:circle", { class: "lvm-root", cx: 12, cy: TOP, r: 5 }));
    run.tree.slice(0, upto + 1).forEach((nodes, s) => nodes.forEach((one, p) => {
      const [x, y] = [LEFT + COLUMN * s, TOP + ROW * p];
      const [px, py] = s ? [x - 14, TOP + ROW * one.parent] : [17, TOP];
      const kind = `${one.ended ? "lvm-ended" : ""} ${best.has(one) ? "lvm-best" : ""} ${s === upto ? "lvm-now" : ""}`;
      drawn.append(make("svg:path", { class: `lvm-edge ${kind}`, d: `M${px} ${py}C${px + 8} ${py} ${x - 8} ${y} ${x} ${y}` }),
        make("svg:rect", { class: `lvm-node ${kind}`, x, y: y - 11, width: COLUMN - 14, height: 22, rx: 5 }),
        make("svg:text", { class: "lvm-label", x: x + 6, y: y + 4 }, one.name.length > 10 ? `${one.name.slice(0, 9)}…` : one.name));
    }));
    return drawn;
  }

  function draw(at) {
    place.hidden = !run.tree?.length;
    const grows = run.best === null;
    if (place.hidden || (at < 0 && !grows)) return;
    // The best text may have ended before the search did: its last step shows the rest.
    const upto = grows || at === run.steps.length - 1 ? run.tree.length - 1 : at;
    said.textContent = `Step ${upto + 1}${grows ? "" : ` of ${run.tree.length}`}. The thick line leads to the ${grows ? "likeliest text so far" : "translation"}; a green frame marks a text that has ended.`;
    picture.replaceChildren(svg(upto));
    picture.scrollLeft = Math.max(0, LEFT + COLUMN * (upto + 1) - picture.clientWidth);
    kept.replaceChildren(...run.tree[upto].map((one, p) => make("li", {}, strong(show(one.total)), " ", text(upto, p), one.ended ? " (ended)" : "")));
    const done = run.tree.slice(0, upto + 1).flatMap((nodes, s) => nodes.map((one, p) => ({ ...one, at: [s, p] }))).filter(({ ended }) => ended);
    ends.replaceChildren(...done.sort((a, b) => b.score - a.score).map((one) => make("li", {}, strong(show(one.score)), ` (${show(one.total)}, ${one.at[0] + 1} tokens) `, text(...one.at))));
    if (!done.length) ends.replaceChildren(make("li", { class: "lvm-none" }, "No text has ended yet."));
  }
  return { place, draw };
}
