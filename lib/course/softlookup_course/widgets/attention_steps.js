// One head of attention in four steps. Python sends every number; this file lays them out and spells out one cell's sum.

const STAGES = [
  { name: "Score", from: ["q", "k"], to: "scores", does: "Each score is the dot product of a query and a key: multiply entry by entry, and add up. R = Q Kᵀ." },
  { name: "Scale", from: ["scores"], to: "scaled", does: "Divide every score by the square root of the head width: U = R / √H." },
  { name: "Softmax", from: ["scaled"], to: "weights", does: "Softmax turns each row into attention weights: none is negative, and they sum to 1. A = softmax(U)." },
  { name: "Mix", from: ["weights", "v"], to: "output", does: "Each output is the weighted sum of the values: Z = A V." },
];

// What each matrix is called, the letters of its axes, and what its rows and columns stand for.
const GRIDS = {
  q: { letter: "Q", words: "queries", axes: "T × H", columns: "entries", colour: "query" },
  k: { letter: "K", words: "keys", axes: "S × H", columns: "entries", colour: "key" },
  v: { letter: "V", words: "values", axes: "S × H", columns: "entries", colour: "value" },
  scores: { letter: "R", words: "scores", axes: "T × S", columns: "tokens", colour: "query" },
  scaled: { letter: "U", words: "scaled scores", axes: "T × S", columns: "tokens", colour: "query" },
  weights: { letter: "A", words: "weights", axes: "T × S", columns: "tokens", colour: "mixed" },
  output: { letter: "Z", words: "outputs", axes: "T × H", columns: "entries", colour: "mixed" },
};
const LONGEST_SUM = 8; // terms written out before the middle is left out

const inSum = (number) => (number < 0 && show(number) !== "0.00" ? `(${show(number)})` : show(number));

/** A letter with a small index, as in the text: q with 2 beneath. */
const indexed = (letter, ...places) => [make("var", {}, letter), make("sub", {}, places.map((p) => p + 1).join(","))];

/** Write a sum of terms, leaving out the middle of a long one. */
function sum(terms) {
  const kept = terms.length > LONGEST_SUM ? [...terms.slice(0, LONGEST_SUM - 2), "…", terms.at(-1)] : terms;
  return kept.join(" + ");
}

const mayLook = (example, row, column) => example.mask === null || example.mask[row][column];

/** How each kind of cell came about: words, the sum in numbers, and the cells that went into it. */
const EXPLAIN = {
  q: (e, r, c) => origin(e, "q", r, c, "the query (what the token looks for)"),
  k: (e, r, c) => origin(e, "k", r, c, "the key (what the token can be found by)"),
  v: (e, r, c) => origin(e, "v", r, c, "the value (what the token passes on)"),

  scores: (e, r, c) => ({
    words: [strong(indexed("r", r, c), " = ", indexed("q", r), " · ", indexed("k", c)), `: how well the query of “${e.tokens[r]}” fits the key of “${e.tokens[c]}”.`],
    sum: `${sum(e.q[r].map((x, h) => `${inSum(x)}×${inSum(e.k[c][h])}`))} = ${show(e.scores[r][c])}`,
    marks: [["q", r, null], ["k", c, null], ["scores", r, c]],
  }),

  scaled: (e, r, c) => {
    const sum = `${show(e.scores[r][c])} / √${e.q[r].length} = ${show(e.scores[r][c])} / ${show(e.root)} = ${show(e.scaled[r][c])}`;
    const marks = [["scores", r, c], ["scaled", r, c]];
    if (mayLook(e, r, c)) return { words: [strong(indexed("u", r, c)), `, the scaled score of the query of “${e.tokens[r]}” with the key of “${e.tokens[c]}”.`], sum, marks };
    const words = [strong("Masked"), `: “${e.tokens[r]}” may not attend to “${e.tokens[c]}”, so the score becomes −∞ and the weight 0.`];
    return { words, sum: `${sum}, replaced by −∞`, marks };
  },

  weights: (e, r, c) => {
    const marks = [["scaled", r, null], ["weights", r, c]];
    if (!mayLook(e, r, c)) {
      const reason = e.sums[r] === 0 ? "this row is fully masked: its token may attend to none, so all its weights are 0." : "exp(−∞) is 0, so a masked token gets no weight.";
      return { words: [strong("No weight"), `: ${reason}`], sum: `weight = ${show(e.weights[r][c])}`, marks };
    }
    const power = (s) => (e.shift[r] === 0 ? `exp(${show(s)})` : `exp(${show(s)} − ${inSum(e.shift[r])})`);
    const seen = e.scaled[r].filter((_, s) => mayLook(e, r, s));
    const parts = e.exps[r].filter((_, s) => mayLook(e, r, s)).map(show);
    return {
      words: [strong(indexed("a", r, c)), `: the weight that “${e.tokens[r]}” gives to “${e.tokens[c]}”: its exp, divided by the sum over the ${seen.length === 1 ? "one token" : `${seen.length} tokens`} that it may attend to.`],
      sum: `${power(e.scaled[r][c])} = ${show(e.exps[r][c])};  ${show(e.exps[r][c])} / (${sum(parts)}) = ${show(e.exps[r][c])} / ${show(e.sums[r])} = ${show(e.weights[r][c])}`,
      marks,
    };
  },

  output: (e, r, c) => ({
    words: [strong(indexed("z", r), `, entry ${c + 1}`), `: entry ${c + 1} of every value, multiplied by the weight that “${e.tokens[r]}” gives it, and added up.`],
    sum: `${sum(e.weights[r].map((a, s) => `${show(a)}×${inSum(e.v[s][c])}`))} = ${show(e.output[r][c])}`,
    marks: [["weights", r, null], ["v", null, c], ["output", r, c]],
  }),
};

/** Say where a query, key or value comes from: given as it stands, X itself, or X times a matrix. */
function origin(e, grid, row, column, meaning) {
  const number = show(e[grid][row][column]);
  const name = strong(indexed(grid, row), `, entry ${column + 1}`);
  const marks = [[grid, row, column]];
  const words = [name, `: one number of ${meaning} of “${e.tokens[row]}”.`];
  const w = e.w[grid];
  if (w === null) return { words, sum: `The ${GRIDS[grid].words} of this example are given: ${number}`, marks };
  const matrix = [make("var", {}, "W"), make("sub", {}, grid.toUpperCase())];
  if (w === "identity") {
    words.push(" ", matrix, ` is the identity, so ${GRIDS[grid].letter} = X: this is the number of the token itself.`);
    return { words, sum: `x of “${e.tokens[row]}”, entry ${column + 1} = ${number}`, marks };
  }
  words.push(" ", indexed("x", row), ` · column ${column + 1} of `, matrix, ":");
  return { words, sum: `${sum(e.x[row].map((x, d) => `${inSum(x)}×${inSum(w[d][column])}`))} = ${number}`, marks };
}

/** Tint a cell: a weight by its share of 1, scores and outputs from the smallest to the largest of their matrix. */
function tint(example, grid, row, column) {
  const value = example[grid][row][column];
  if (grid === "weights") return value;
  if (grid === "q" || grid === "k" || grid === "v") return 0;
  const all = example[grid].flat();
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return high > low ? (value - low) / (high - low) : 0;
}

function drawGrid(example, grid, sizes) {
  const { letter, words, axes, columns, colour } = GRIDS[grid];
  const numbers = example[grid];
  const heads = columns === "tokens" ? example.tokens : numbers[0].map((_, place) => String(place + 1));
  const masked = (r, c) => (grid === "scaled" || grid === "weights") && !mayLook(example, r, c);
  const cell = (number, r, c) => {
    const td = make("td", { role: "gridcell", tabindex: -1, "data-grid": grid, "data-row": r, "data-column": c, "data-value": number });
    td.style.setProperty("--slw-tint", tint(example, grid, r, c).toFixed(3));
    td.textContent = grid === "scaled" && masked(r, c) ? "−∞" : show(number);
    if (masked(r, c)) td.classList.add("slw-masked");
    return td;
  };
  const shape = make("span", { class: "slw-shape" }, ` ${axes} = ${numbers.length} × ${numbers[0].length}`);
  const caption = make("caption", {}, strong(letter), ` ${words}`, sizes ? shape : "");
  const header = make("tr", {}, make("td", { class: "slw-corner" }), heads.map((name) => make("th", { scope: "col" }, name)));
  const rows = numbers.map((line, r) =>
    make("tr", {}, make("th", { scope: "row" }, example.tokens[r]), line.map((number, c) => cell(number, r, c))));
  const label = `${letter}, ${words}, ${numbers.length} rows and ${numbers[0].length} columns`;
  const table = make("table", { role: "grid", "aria-label": label }, caption, make("thead", {}, header), make("tbody", {}, rows));
  return make("div", { class: `slw-grid slw-${colour}` }, table);
}

/** Move the focus from cell to cell with the arrow keys, Home and End; each grid keeps one cell in the Tab order. */
function render({ model, el }) {
  const id = nextId("slw");
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const example = () => model.get("examples")[model.get("chosen")];

  const chooser = make("select", { id: `${id}-example`, onchange: () => set("chosen", chooser.selectedIndex) },
    model.get("examples").map((e) => make("option", {}, e.title)));
  const shapes = make("input", { type: "checkbox", id: `${id}-shapes`, onchange: () => set("show_shapes", shapes.checked) });
  const tabs = STAGES.map((stage, i) => make("button",
    { type: "button", role: "tab", id: `${id}-tab-${i}`, "aria-controls": `${id}-panel`, onclick: () => set("stage", i) },
    make("span", { class: "slw-number", "aria-hidden": "true" }, String(i + 1)), stage.name));
  const tablist = make("div", { role: "tablist", "aria-label": "The four steps", class: "slw-tabs" }, tabs);
  const does = make("p", { class: "slw-does" });
  const grids = make("div", { class: "slw-grids" });
  const panel = make("div", { role: "tabpanel", id: `${id}-panel`, class: "slw-panel" }, does, grids);
  const words = make("p", { class: "slw-words" });
  const numbers = make("p", { class: "slw-sum" });
  const explanation = make("div", { class: "slw-explain", "aria-live": "polite", "aria-atomic": "true" }, words, numbers);
  const next = make("button", { type: "button", class: "slw-next", onclick: () => set("stage", (model.get("stage") + 1) % STAGES.length) });
  const foot = make("div", { class: "slw-foot" }, make("span", {}, "Numbers are shown with two decimals, and computed in full precision."), next);

  tablist.addEventListener("keydown", (event) => {
    const last = STAGES.length - 1;
    const now = model.get("stage");
    const to = { ArrowRight: Math.min(now + 1, last), ArrowLeft: Math.max(now - 1, 0), Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set("stage", to);
    tabs[to].focus();
  });

  function explain(cell) {
    const { grid } = cell.dataset;
    const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.column)];
    const told = EXPLAIN[grid](example(), row, column);
    root.classList.add("slw-told");
    words.replaceChildren(...told.words.flat(2));
    numbers.textContent = told.sum;
    markCells(grids, told.marks, cell, "slw");
  }
  answerCells(grids, explain);

  function draw() {
    const now = model.get("stage");
    const stage = STAGES[now];
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === now));
      tab.tabIndex = i === now ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", tabs[now].id);
    chooser.selectedIndex = model.get("chosen");
    shapes.checked = model.get("show_shapes");
    does.textContent = stage.does;
    const before = stage.from.map((grid) => drawGrid(example(), grid, shapes.checked));
    const after = drawGrid(example(), stage.to, shapes.checked);
    const sign = make("span", { class: "slw-sign", "aria-hidden": "true" }, "→");
    grids.replaceChildren(...before, make("div", { class: "slw-to" }, sign, after));
    for (const grid of grids.querySelectorAll("tbody")) grid.querySelector("td").tabIndex = 0;
    next.textContent = now + 1 < STAGES.length ? `Next: ${STAGES[now + 1].name.toLowerCase()} →` : "↺ From the start";
    root.classList.remove("slw-told");
    words.replaceChildren("Point at a cell, tap it, or go to it with the Tab and arrow keys, to see how its number is computed.");
    numbers.textContent = "";
  }

  const bar = make("div", { class: "slw-bar" },
    make("label", { for: chooser.id }, "Example ", chooser), make("label", { for: shapes.id }, shapes, " Show shapes"));
  const root = make("div", { class: "slf slw", role: "group", "aria-label": "One head of attention, step by step" },
    bar, tablist, panel, explanation, foot);
  el.replaceChildren(root);
  draw();
  return follow(model, ["chosen", "stage", "show_shapes", "examples"], draw);
}

export default { render };
