// The shapes of a matrix product. Python sends every number; this file cuts out what is shown and spells out one cell's sum.

const factor = (number) => (number < 0 ? `(${minus(number)})` : String(number));
const by = ([rows, columns]) => `${rows} × ${columns}`;
const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;


function render({ model, el }) {
  const id = nextId("spr");
  const most = model.get("most");
  const shape = (which) => model.get(`shape_${which}`);
  const isTurned = (which) => model.get("turned").includes(which);
  const cell = (which, r, c) => (isTurned(which) ? model.get(which)[c][r] : model.get(which)[r][c]);
  const fits = () => shape("a")[1] === shape("b")[0];
  const product = (r, c) => model.get("products")[model.get("turned")][shape("a")[1] - 1][r][c];
  const name = (which) => (which === "c" ? "A B" : which.toUpperCase() + (isTurned(which) ? "ᵀ" : ""));

  /** What can be turned so that the shapes fit. */
  function remedies() {
    const [[rows, columns], [below, across]] = [shape("a"), shape("b")];
    return [rows === below && "transposing A", columns === across && "transposing B", rows === across && "transposing both"].filter(Boolean);
  }

  /** The words for the shapes as they are. */
  function verdict() {
    const [a, b] = [shape("a"), shape("b")];
    const given = `${name("a")} is ${by(a)}, ${name("b")} is ${by(b)}. `;
    if (fits()) {
      return [given, strong("They fit."), ` The inner sizes are both ${a[1]} and disappear; the outer sizes remain, so the product is ${by([a[0], b[1]])}.`];
    }
    const help = remedies();
    const hint = help.length ? ` But they would fit after ${help.join(", or after ")}.` : " Transposing does not help here.";
    return [given, strong("They do not fit."), ` A row of ${name("a")} has ${count(a[1], "number")}, but a column of ${name("b")} has ${b[0]}: some numbers have no partner.`, hint];
  }

  /** How a cell came about: words, the sum, and what went into it or comes of it. */
  function told(which, r, c) {
    const [a, b] = [name("a"), name("b")];
    if (which === "c") {
      const terms = shape("a")[1] > 0 && Array.from({ length: shape("a")[1] }, (_, k) => `${factor(cell("a", r, k))}×${factor(cell("b", k, c))}`);
      return {
        words: [strong(`Row ${r + 1}, column ${c + 1}`), ` of the product: the dot product of row ${r + 1} of ${a} and column ${c + 1} of ${b}.`],
        sum: `${terms.join(" + ")} = ${minus(product(r, c))}`,
        marks: [["a", r, null], ["b", null, c], ["c", r, c]],
      };
    }
    const other = which === "a" ? b : a;
    const partner = which === "a" ? c : r;
    const size = which === "a" ? shape("b")[0] : shape("a")[1];
    const line = which === "a" ? "row" : "column";
    const place = [strong(`${name(which)}, row ${r + 1}, column ${c + 1}`), `: ${minus(cell(which, r, c))}. `];
    const marks = [[which, r, c]];
    if (partner >= size) return { words: [...place, `It has no partner: ${other} has no ${which === "a" ? "row" : "column"} ${partner + 1}.`], sum: "", marks };
    marks.push(which === "a" ? ["b", c, null] : ["a", null, r]);
    const meets = which === "a" ? `It is multiplied with every number in row ${c + 1} of ${b}` : `It is multiplied with every number in column ${r + 1} of ${a}`;
    if (!fits()) return { words: [...place, `${meets}.`], sum: "", marks };
    marks.push(which === "a" ? ["c", r, null] : ["c", null, c]);
    return { words: [...place, `${meets}, so it affects ${line} ${(which === "a" ? r : c) + 1} of the product and nothing else.`], sum: "", marks };
  }

  function slider(which, axis) {
    const words = make("span");
    const input = make("input", { type: "range", min: 1, max: most, step: 1, id: `${id}-${which}${axis}`, "data-of": `${which}${axis}` });
    const shown = make("output", { for: input.id });
    input.addEventListener("input", () => {
      const sizes = [...shape(which)];
      sizes[axis] = Number(input.value);
      model.set(`shape_${which}`, sizes);
      model.save_changes();
    });
    return { input, shown, which, axis, words, label: make("label", { for: input.id }, words, input, shown) };
  }
  const sliders = [slider("a", 0), slider("a", 1), slider("b", 0), slider("b", 1)];

  function turn(which) {
    const now = model.get("turned");
    model.set("turned", ["a", "b"].filter((one) => now.includes(one) !== (one === which)).join(""));
    model.set(`shape_${which}`, [...shape(which)].reverse());
    model.save_changes();
  }
  const turns = ["a", "b"].map((which) => make("button", { type: "button", class: "spr-turn", "data-of": which, "aria-pressed": "false", onclick: () => turn(which) }, `Transpose ${which.toUpperCase()}`));
  const group = (which, i) => make("fieldset", { class: `spr-of spr-${which}` }, make("legend", {}, which.toUpperCase()), sliders[2 * i].label, sliders[2 * i + 1].label, turns[i]);

  function drawGrid(which) {
    const [rows, columns] = which === "c" ? [shape("a")[0], shape("b")[1]] : shape(which);
    const partners = which === "a" ? shape("b")[0] : shape("a")[1];
    const box = (r, c) => {
      const value = which === "c" ? product(r, c) : cell(which, r, c);
      const td = make("td", { role: "gridcell", tabindex: -1, "data-grid": which, "data-row": r, "data-column": c, "data-value": value }, minus(value));
      if (which !== "c" && (which === "a" ? c : r) >= partners) td.classList.add("spr-alone");
      return td;
    };
    const body = Array.from({ length: rows }, (_, r) => make("tr", {}, Array.from({ length: columns }, (_, c) => box(r, c))));
    const label = `${name(which)}, ${count(rows, "row")} and ${count(columns, "column")}`;
    const caption = make("caption", {}, strong(name(which)), make("span", { class: "spr-shape" }, ` ${by([rows, columns])}`));
    return make("div", { class: `spr-grid spr-${which}` }, make("table", { role: "grid", "aria-label": label }, caption, make("tbody", {}, body)));
  }

  const places = { a: make("div", { class: "spr-left" }), b: make("div", { class: "spr-above" }), c: make("div", { class: "spr-corner" }) };
  const board = make("div", { class: "spr-board" }, make("div", { class: "spr-sign", "aria-hidden": "true" }), places.b, places.a, places.c);
  const words = make("p", { class: "spr-words" });
  const numbers = make("p", { class: "spr-sum" });
  const explanation = make("div", { class: "spr-explain", "aria-live": "polite", "aria-atomic": "true" }, words, numbers);

  function draw() {
    for (const { input, shown, which, axis, words } of sliders) {
      const size = shape(which)[axis];
      if (Number(input.value) !== size) input.value = size;
      shown.textContent = size;
      words.textContent = `${axis === 0 ? "rows" : "columns"} of ${name(which)}`; // the sizes are those of what is shown
    }
    turns.forEach((button) => button.setAttribute("aria-pressed", String(isTurned(button.dataset.of))));
    places.b.replaceChildren(drawGrid("b"));
    places.a.replaceChildren(drawGrid("a"));
    places.c.replaceChildren(fits() ? drawGrid("c") : make("p", { class: "spr-none" }, "no product"));
    for (const body of board.querySelectorAll("tbody")) body.querySelector("td").tabIndex = 0;
    root.classList.toggle("spr-misfit", !fits());
    words.replaceChildren(...verdict());
    numbers.textContent = "";
  }

  function explain(asked) {
    const { grid } = asked.dataset;
    const how = told(grid, Number(asked.dataset.row), Number(asked.dataset.column));
    words.replaceChildren(...how.words);
    numbers.textContent = how.sum;
    markCells(board, how.marks, asked, "spr");
  }
  answerCells(board, explain);

  const root = make("div", { class: "slf spr", role: "group", "aria-label": "Shapes of a matrix product" },
    make("div", { class: "spr-bar" }, group("a", 0), group("b", 1)), board, explanation);
  el.replaceChildren(root);
  draw();
  // A turn changes two things; both are set before either is told of, so that no half-turned figure is drawn.
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => { waiting = false; draw(); });
  };
  return follow(model, ["shape_a", "shape_b", "turned"], later);
}

export default { render };
