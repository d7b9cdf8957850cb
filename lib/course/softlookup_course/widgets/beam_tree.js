// A beam search to follow. Every search was made in Python; here its steps are shown, and finished texts are ranked.

const LETTER = 6.6, INSIDE = 10, BETWEEN = 13, ROW = 30, LEFT = 36, TOP = 16;

const penaltyOf = (length, alpha) => ((5 + length) / 6) ** alpha;

/** Texts that have ended by a step, best score first. */
function ranked(steps, upto, alpha) {
  return steps.slice(0, upto).flatMap((step) => step.filter((one) => one.ended))
    .map((one) => ({ ...one, score: one.total / penaltyOf(one.ids.length, alpha) }))
    .sort((a, b) => b.score - a.score);
}

function render({ model, el }) {
  const id = nextId("bmt");
  const searches = model.get("searches");
  const names = model.get("names");
  const alphas = model.get("alphas");
  let search, step, alpha = alphas[alphas.length - 1];

  /** The step after which nothing open can win. */
  const last = () => search.stops[alphas.indexOf(alpha)];
  const name = (token) => names[token];
  const text = (ids) => ids.map(name).join(" ").trim();

  const widths = searches.map((one, i) => make("button", { type: "button", "data-beams": one.beams, onclick: () => {
    model.set("chosen", i);
    model.save_changes();
  } }, one.beams === 1 ? "1: greedy" : String(one.beams)));
  const back = make("button", { type: "button", onclick: () => { step -= 1; draw(); } }, "◂ back");
  const next = make("button", { type: "button", onclick: () => { step += 1; draw(); } }, "next step ▸");
  const end = make("button", { type: "button", onclick: () => { step = last(); draw(); } }, "to the end");
  const stepInput = unseen(`${id}-step`, (value) => { step = Number(value) || 1; load(); });
  const penalty = make("select", { id: `${id}-alpha`, onchange: () => { alpha = Number(penalty.value); load(); } },
    alphas.map((one) => make("option", { value: one, ...(one === alpha ? { selected: "" } : {}) }, String(one))));
  const words = make("p", { class: "bmt-words", "aria-live": "polite", "aria-atomic": "true" });
  const tree = make("div", { class: "bmt-tree", tabindex: 0, role: "group", "aria-label": "Tree of the hypotheses in the beam" });
  const candidates = make("tbody", {});
  const table = make("table", { class: "slf-table bmt-table" },
    make("caption", {}, "Continuations of this step, likeliest first"),
    make("thead", {}, make("tr", {}, ["text so far", "log p", "result"].map((head) => make("th", { scope: "col" }, head)))), candidates);
  const ends = make("ol", { class: "bmt-ends" });

  const how = (one) => (one.ended ? "ended" : one.kept ? "kept" : "dropped");

  const token = ({ ids }) => name(ids.at(-1));
  const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);

  /** Columns are steps, each as wide as its longest kept token; kept nodes stand by their rank, dropped ones below them. */
  function picture() {
    const shown = search.steps.slice(0, step);
    const all = search.steps.slice(0, last());
    const tall = Math.max(...all.map((one) => one.length));
    const letters = all.map((nodes) => Math.min(10, Math.max(2, ...nodes.filter((one) => one.kept || one.ended).map((one) => token(one).length))));
    const wide = letters.map((count) => INSIDE + LETTER * count);
    const lefts = wide.reduce((found, one) => [...found, found.at(-1) + one + BETWEEN], [LEFT]);
    const [width, height] = [lefts.at(-1), TOP + ROW * tall + 4];
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
    const at = (column, rank) => [lefts[column] + 3, TOP + ROW * rank];
    svg.append(make("svg:circle", { class: "bmt-root", cx: 16, cy: TOP, r: 5 }));
    shown.forEach((nodes, column) => {
      nodes.forEach((one, rank) => {
        const [x, y] = at(column, rank);
        const [px, py] = column ? [at(column - 1, one.parent)[0] + wide[column - 1] - 3, at(column - 1, one.parent)[1]] : [21, TOP];
        const last = column === step - 1;
        if (!one.kept && !last) return;
        svg.append(make("svg:path", { class: `bmt-edge bmt-${how(one)}`, d: `M${px} ${py}C${px + 10} ${py} ${x - 12} ${y} ${x - 3} ${y}` }));
        svg.append(make("svg:rect", { class: `bmt-box bmt-${how(one)}`, x: x - 3, y: y - 11, width: wide[column], height: 22, rx: 5 }));
        svg.append(make("svg:text", { class: `bmt-name bmt-${how(one)}`, x: x + 3, y: y + 4 }, cut(token(one), letters[column])));
      });
    });
    tree.replaceChildren(svg);
    tree.scrollLeft = Math.max(0, lefts[step] - tree.clientWidth);
  }

  /** Why the search stops although texts are open: the best that one could still reach is too little. */
  function cannotWin(open, best) {
    const reach = Math.max(...open.map((one) => one.total)) / penaltyOf(model.get("limit"), alpha);
    return `None can win any more: with ${model.get("limit")} tokens at no further loss, the likeliest would score ${show(reach)}, and the best that has ended has ${show(best.score)}. The search stops. `;
  }

  function draw() {
    const nodes = search.steps[step - 1];
    const open = nodes.filter((one) => one.kept && !one.ended);
    const parents = new Set(nodes.filter((one) => one.kept).map((one) => one.parent));
    const done = ranked(search.steps, step, alpha);
    candidates.replaceChildren(...nodes.map((one) => make("tr", { class: `bmt-is-${how(one)}`, "data-total": one.total, "data-how": how(one), "data-ids": one.ids.join(",") },
      make("th", { scope: "row" }, `${text(one.ids.slice(0, -1))} `, strong(name(one.ids[one.ids.length - 1]))),
      make("td", {}, show(one.total)), make("td", {}, how(one)))));
    ends.replaceChildren(...done.map((one) => make("li", { "data-score": one.score, "data-ids": one.ids.join(",") }, strong(show(one.score)), ` (log p ${show(one.total)}, ${one.ids.length} tokens) `, text(one.ids))));
    const heading = done.length ? `Texts that have ended, ordered by log p / ((5 + n)/6)^${alpha}:` : "No text has ended yet.";
    title.textContent = heading;
    back.disabled = step === 1;
    next.disabled = end.disabled = step === last();
    stepInput.value = step;
    widths.forEach((button, i) => button.setAttribute("aria-pressed", String(i === model.get("chosen"))));
    const before = step === 1 ? "the start" : `${parents.size} of the texts of the step before`;
    words.replaceChildren(`Step ${step} of ${last()}, beam width ${search.beams}. The texts that are kept continue ${before}. `,
      open.length ? `${open.length} ${open.length === 1 ? "text is" : "texts are"} open. ` : "No text is open any more. ",
      ...(step < last() ? [] : [...(open.length ? [cannotWin(open, done[0])] : []), "The best text is ", strong(text(done[0].ids)), "."]));
    Object.assign(root.dataset, { step, beams: search.beams, steps: last() });
    picture();
  }

  function load() {
    search = searches[model.get("chosen")];
    step = Math.max(1, Math.min(step ?? 1, last()));
    draw();
  }

  const title = make("p", { class: "bmt-heading" });
  const root = make("div", { class: "slf slf-buttons bmt", role: "group", "aria-label": "A beam search, step by step" },
    make("p", { class: "bmt-title" }, strong(model.get("title"))),
    make("div", { class: "bmt-bar", role: "group", "aria-label": "Width of the beam" }, "beam width ", widths),
    make("div", { class: "bmt-bar" }, back, next, end), words, tree, table,
    make("div", { class: "bmt-bar bmt-penalty" }, make("label", { for: penalty.id }, "length penalty α ", penalty)), title, ends, stepInput);
  el.replaceChildren(root);
  load();
  return follow(model, ["chosen"], load);
}

export default { render };
