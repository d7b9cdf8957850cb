// A beam search to follow. Every search was made in Python; here its steps are shown, and finished texts are ranked.

const COLUMN = 92, ROW = 30, LEFT = 44, TOP = 16;

/** Texts that have ended by a step, best score first. */
function ranked(steps, upto, alpha) {
  return steps.slice(0, upto).flatMap((step) => step.filter((one) => one.ended))
    .map((one) => ({ ...one, score: one.total / ((5 + one.ids.length) / 6) ** alpha }))
    .sort((a, b) => b.score - a.score);
}

function render({ model, el }) {
  const id = nextId("bmt");
  const searches = model.get("searches");
  const names = model.get("names");
  const alphas = model.get("alphas");
  let search, step, alpha = alphas[alphas.length - 1];

  const name = (token) => names[token];
  const text = (ids) => ids.map(name).join(" ").trim();

  const widths = searches.map((one, i) => make("button", { type: "button", "data-beams": one.beams, onclick: () => {
    model.set("chosen", i);
    model.save_changes();
  } }, one.beams === 1 ? "1: greedy" : String(one.beams)));
  const back = make("button", { type: "button", onclick: () => { step -= 1; draw(); } }, "◂ back");
  const next = make("button", { type: "button", onclick: () => { step += 1; draw(); } }, "next step ▸");
  const end = make("button", { type: "button", onclick: () => { step = search.steps.length; draw(); } }, "to the end");
  const penalty = make("select", { id: `${id}-alpha`, onchange: () => { alpha = Number(penalty.value); draw(); } },
    alphas.map((one) => make("option", { value: one, ...(one === alpha ? { selected: "" } : {}) }, String(one))));
  const words = make("p", { class: "bmt-words", "aria-live": "polite", "aria-atomic": "true" });
  const tree = make("div", { class: "bmt-tree", tabindex: 0, role: "group", "aria-label": "Tree of the hypotheses in the beam" });
  const candidates = make("tbody", {});
  const table = make("table", { class: "slf-table bmt-table" },
    make("caption", {}, "Continuations of this step, likeliest first"),
    make("thead", {}, make("tr", {}, ["text so far", "log p", "result"].map((head) => make("th", { scope: "col" }, head)))), candidates);
  const ends = make("ol", { class: "bmt-ends" });

  const how = (one) => (one.ended ? "ended" : one.kept ? "kept" : "dropped");

  /** Columns are steps; kept nodes stand by their rank, dropped ones below them. */
  function picture() {
    const shown = search.steps.slice(0, step);
    const tall = Math.max(...search.steps.map((one) => one.length));
    const [width, height] = [LEFT + COLUMN * search.steps.length + 10, TOP + ROW * tall + 4];
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
    const at = (column, rank) => [LEFT + COLUMN * column + 6, TOP + ROW * rank];
    svg.append(make("svg:circle", { class: "bmt-root", cx: 16, cy: TOP, r: 5 }));
    shown.forEach((nodes, column) => {
      nodes.forEach((one, rank) => {
        const [x, y] = at(column, rank);
        const [px, py] = column ? [at(column - 1, one.parent)[0] + COLUMN - 20, at(column - 1, one.parent)[1]] : [21, TOP];
        const last = column === step - 1;
        if (!one.kept && !last) return;
        svg.append(make("svg:path", { class: `bmt-edge bmt-${how(one)}`, d: `M${px} ${py}C${px + 10} ${py} ${x - 12} ${y} ${x - 3} ${y}` }));
        svg.append(make("svg:rect", { class: `bmt-box bmt-${how(one)}`, x: x - 3, y: y - 11, width: COLUMN - 17, height: 22, rx: 5 }));
        const token = name(one.ids[one.ids.length - 1]);
        svg.append(make("svg:text", { class: `bmt-name bmt-${how(one)}`, x: x + 3, y: y + 4 }, token.length > 10 ? `${token.slice(0, 9)}…` : token));
      });
    });
    tree.replaceChildren(svg);
    tree.scrollLeft = Math.max(0, COLUMN * step + LEFT + 20 - tree.clientWidth);
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
    next.disabled = end.disabled = step === search.steps.length;
    widths.forEach((button, i) => button.setAttribute("aria-pressed", String(i === model.get("chosen"))));
    const before = step === 1 ? "the start" : `${parents.size} of the texts of the step before`;
    words.replaceChildren(`Step ${step} of ${search.steps.length}, beam width ${search.beams}. The texts that are kept continue ${before}. `,
      open.length ? `${open.length} ${open.length === 1 ? "text is" : "texts are"} open. ` : "No text is open any more. ",
      ...(open.length || !done.length ? [] : ["The best text is ", strong(text(done[0].ids)), "."]));
    Object.assign(root.dataset, { step, beams: search.beams, steps: search.steps.length });
    picture();
  }

  function load() {
    search = searches[model.get("chosen")];
    step = Math.min(step ?? 1, search.steps.length);
    draw();
  }

  const title = make("p", { class: "bmt-heading" });
  const root = make("div", { class: "slf slf-buttons bmt", role: "group", "aria-label": "A beam search, step by step" },
    make("p", { class: "bmt-title" }, strong(model.get("title"))),
    make("div", { class: "bmt-bar", role: "group", "aria-label": "Width of the beam" }, "beam width ", widths),
    make("div", { class: "bmt-bar" }, back, next, end), words, tree, table,
    make("div", { class: "bmt-bar bmt-penalty" }, make("label", { for: penalty.id }, "length penalty α ", penalty)), title, ends);
  el.replaceChildren(root);
  load();
  return follow(model, ["chosen"], load);
}

export default { render };
