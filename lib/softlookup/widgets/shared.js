// What the interactive figures share. `InteractiveFigure` puts this file before each figure's own script, so these names are known there.

/** Make an element: attributes by name, children as text or nodes; a name with "svg:" before it is drawn. */
function make(name, attributes = {}, ...children) {
  const drawn = name.startsWith("svg:");
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat());
  return node;
}
const strong = (...children) => make("strong", {}, ...children);

const minus = (number) => String(number).replace("-", "−");
/** Two decimals, a true minus, and no minus before zero. */
const show = (number) => minus((Math.abs(number) < 0.005 ? 0 : number).toFixed(2));
const whole = (number) => number.toLocaleString("en-GB");
/** Three digits, with commas at thousands. */
const three = (number) => Number(number.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });

/** What no control shows, such as a step: a hidden input, so that a link to the figure has it too (widgets.js of the book). */
const unseen = (id, set) => make("input", { type: "hidden", id, onchange: ({ target }) => set(target.value) });

let figures = 0;
/** An id of its own for each figure of a page. */
const nextId = (name) => `${name}-${(figures += 1)}`;

/** Call `draw` whenever one of these traits changes; returns what ends that. */
function follow(model, traits, draw) {
  const watched = traits.map((trait) => `change:${trait}`);
  for (const change of watched) model.on(change, draw);
  return () => watched.forEach((change) => model.off(change, draw));
}

// Grids whose cells answer: each td carries data-grid, data-row and data-column.
const CELL = "td[data-grid]";
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Call `explain(td)` for the cell that is pointed at, tapped, or reached with Tab and the arrow keys. */
function answerCells(board, explain, kinds = ["pointerover", "focusin", "click"]) {
  const ask = (event) => {
    const asked = event.target.closest?.(CELL);
    if (!asked) return;
    if (event.type === "focusin") {
      for (const other of asked.closest("tbody").querySelectorAll("td[tabindex='0']")) other.tabIndex = -1;
      asked.tabIndex = 0;
    }
    explain(asked);
  };
  for (const kind of kinds) board.addEventListener(kind, ask);
  board.addEventListener("keydown", (event) => {
    const asked = event.target.closest(CELL);
    if (!asked || !(event.key in STEPS || event.key === "Home" || event.key === "End")) return;
    const rows = [...asked.closest("tbody").rows].map((row) => [...row.querySelectorAll(CELL)]);
    let [r, c] = [Number(asked.dataset.row), Number(asked.dataset.column)];
    if (event.key === "Home") c = 0;
    else if (event.key === "End") c = rows[r].length - 1;
    else [r, c] = [r + STEPS[event.key][0], c + STEPS[event.key][1]];
    event.preventDefault();
    rows[r]?.[c]?.focus();
  });
}

/** Mark the cells of an answer: [grid, row, column] each, where null stands for all; and the cell that was asked. */
function markCells(board, marks, asked, prefix) {
  for (const td of board.querySelectorAll(CELL)) {
    const used = marks.some(([grid, r, c]) => grid === td.dataset.grid
      && (r === null || r === Number(td.dataset.row)) && (c === null || c === Number(td.dataset.column)));
    td.classList.toggle(`${prefix}-marked`, used);
    td.classList.toggle(`${prefix}-asked`, td === asked);
  }
}

