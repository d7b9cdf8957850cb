// A table of numbers as a slide prints it. Python has computed every cell; a press on one shows whether it is right.

function render({ model, el }) {
  const id = nextId("sdt");
  const [sources, printed, rows, computations] = ["sources", "printed", "rows", "computations"].map((name) => model.get(name));
  const [uses, spots, hint, reason] = ["uses", "spots", "hint", "reason"].map((name) => model.get(name));
  const [tall, across] = [printed[0].numbers.length, printed[0].numbers[0].length];
  let [pressed, isShown, asked] = [[], false, null];

  const fixed = (value, decimals) => minus((Math.abs(value) < 0.5 * 10 ** -decimals ? 0 : value).toFixed(decimals));
  /** One digit more than the slide has, so that a reader sees how the number rounds. */
  const finer = (value, decimals) => fixed(value, decimals + 1).replace(/0$/, "");
  const called = (title) => {
    const [base, below] = title.split("_");
    return below ? [base, make("sub", {}, below)] : [base];
  };
  // Cells are counted through all printed tables: one whole number stands for table, row and column.
  const at = (index) => [Math.floor(index / (tall * across)), Math.floor(index / across) % tall, index % across];
  const isOff = (index) => { const [t, r, c] = at(index); return printed[t].off[r][c]; };
  const isSpot = (index) => spots.some(([r, c]) => r === at(index)[1] && c === at(index)[2]);

  /** A table of what the slide computes from, or of what it prints; rows have names where they are those of the printed table. */
  function grid(kind, which, { title, numbers, decimals, isNamed }) {
    const head = make("tr", {}, isNamed ? make("td", {}) : [], numbers[0].map((_, c) => make("th", { scope: "col" }, c + 1)));
    const body = numbers.map((line, r) => make("tr", {}, isNamed ? make("th", { scope: "row" }, rows[r]) : [], line.map((value, c) => {
      if (kind === "source") return make("td", { class: "sdt-source", "data-of": `${which} ${r} ${c}` }, fixed(value, decimals));
      return make("td", { role: "gridcell", class: "sdt-cell", tabindex: r + c === 0 ? 0 : -1, "data-grid": `copy${which}`, "data-row": r, "data-column": c });
    })));
    const attributes = kind === "source" ? {} : { role: "grid", "aria-label": `${title}, as printed` };
    return make("table", { class: "slf-table sdt-table", ...attributes }, make("caption", {}, called(title), kind === "printed" && printed.length === 1 ? ", as printed" : ""), make("thead", {}, head), make("tbody", {}, body));
  }

  const board = make("div", { class: "sdt-board" }, sources.map((source, i) => grid("source", i, source)), printed.map((copy, i) => grid("printed", i, copy)));
  const cells = [...board.querySelectorAll(CELL)];
  const indexOf = (td) => cells.indexOf(td);
  const words = make("p", { class: "sdt-verdict" });
  const sum = make("p", { class: "sdt-sum" });
  const told = make("div", { class: "slf-words sdt-words", "aria-live": "polite", "aria-atomic": "true" }, words, sum);
  const counter = make("span", { class: "sdt-count" });
  const all = make("button", { type: "button", "data-all": 1, onclick: () => (isShown ? begin() : reveal()) }, "Show all wrong cells");
  const memory = unseen(`${id}-pressed`, (value) => {
    const list = value.split(".").filter((text) => /^\d+$/.test(text) && Number(text) < cells.length).map(Number);
    begin();
    list.forEach(press);
  });

  const counts = printed.map(({ off }) => off.flat().filter(Boolean).length);
  const summary = `Framed: all wrong cells, ${counts.join(" and ")} of ${tall * across}.`;

  function verdict() {
    if (asked === null) return [hint, " Press it."];
    const [t, r, c] = at(asked);
    const { title, numbers, decimals, true: right } = printed[t];
    const said = [strong(`${capitalised(rows[r])}, column ${c + 1}`), " of ", called(title), `: printed ${fixed(numbers[r][c], decimals)}, `];
    const others = printed.filter((_, i) => i !== t).map((other) => ` On ${other.title}: ${fixed(other.numbers[r][c], decimals)}.`);
    const apart = Number(Math.abs(numbers[r][c] - right[r][c]).toPrecision(2));
    if (isOff(asked)) said.push("and ", strong("wrong"), `, off by ${apart}.`, ...others);
    else said.push("and ", strong("right"), ": the computed number rounds to it.", ...others);
    if (isSpot(asked)) said.push(` ${reason} ${summary}`);
    else if (isOff(asked) && !isShown) said.push(" But this rule does not show it. Which cell does it catch?");
    return said.flat();
  }

  function draw() {
    cells.forEach((td, index) => {
      const [t, r, c] = at(index);
      const { numbers, decimals, true: right } = printed[t];
      const isKnown = isShown ? isOff(index) : pressed.includes(index);
      const isWrong = isKnown && isOff(index);
      const isRight = pressed.includes(index) && !isOff(index);
      td.dataset.value = numbers[r][c];
      td.dataset.state = isWrong ? "wrong" : isRight ? "right" : "";
      td.dataset.computed = isWrong ? right[r][c] : "";
      const shown = fixed(numbers[r][c], decimals);
      const aloud = isWrong ? " is wrong, computed: " : isRight ? " is right " : "";
      td.replaceChildren(make("span", {}, shown), make("span", { class: "sdt-aloud" }, aloud),
        make("span", { class: "sdt-below" }, isWrong ? finer(right[r][c], decimals) : isRight ? "✓" : ""));
      td.classList.toggle("sdt-asked", index === asked);
      td.classList.toggle("sdt-used", asked !== null && index !== asked && at(asked)[1] === r && at(asked)[2] === c);
    });
    for (const td of board.querySelectorAll(".sdt-source")) {
      const [which, ...place] = td.dataset.of.split(" ").map(Number);
      td.classList.toggle("sdt-used", asked !== null && uses.some(([table, line, by]) => table === which
        && place[line === "row" ? 0 : 1] === at(asked)[by === "row" ? 1 : 2]));
    }
    words.replaceChildren(...verdict());
    sum.textContent = asked === null ? "" : minus(computations[at(asked)[1]][at(asked)[2]]);
    counter.textContent = `Cells pressed: ${pressed.length}`;
    memory.value = pressed.join(".");
    all.setAttribute("aria-pressed", String(isShown));
  }

  function press(index) {
    asked = index;
    if (!isShown && !pressed.includes(index)) pressed.push(index);
    if (isSpot(index)) isShown = true;
    draw();
  }
  function reveal() {
    [isShown, asked] = [true, cells.findIndex((_, index) => isOff(index) && isSpot(index))];
    draw();
  }
  function begin() {
    [pressed, isShown, asked] = [[], false, null];
    draw();
  }

  answerCells(board, () => {}, ["focusin"]);
  board.addEventListener("click", ({ target }) => { const td = target.closest(CELL); if (td) press(indexOf(td)); });
  board.addEventListener("keydown", (event) => {
    const td = event.target.closest(CELL);
    if (!td || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    press(indexOf(td));
  });

  el.replaceChildren(make("div", { class: "slf slf-buttons sdt", role: "group", "aria-label": "A slide's table, to be checked" },
    board, told, make("div", { class: "slf-bar sdt-bar" }, all, counter, memory)));
  draw();
}

export default { render };
