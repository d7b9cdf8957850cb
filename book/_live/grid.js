// An attention map as a table, whose cells say how they were computed.

import { explain } from "./explain.js";
import { meanOf } from "./words.js";

const weightOf = (weight) => show(weight).replace(/^0/, "");

/**
 * `choose(layer, head)` shows one of those that a mean is made of; `compute()` loads the model, of that size, where only weights are
 * known; `picked(row)` hears which row a reader asks about.
 */
export function grid(run, { choose, compute, size = SIZES.translator, picked = () => {} }) {
  const board = make("div", { class: "lvm-board", role: "group", "aria-label": "Attention map" });
  const why = make("div", { class: "lvm-why", "aria-live": "polite" });
  let [cell, origin, last] = [null, 0, null];

  function reasons({ shown, layer, head }) {
    if (!run.stored || layer === null || head === null) return explain(shown, cell, layer, head, run.source.heads, choose);
    const button = make("button", { type: "button", onclick: compute }, `Compute it (loads the model, ${size})`);
    return [make("p", { class: "lvm-head" }, "From ", strong(shown.rows[cell.row]), " to ", strong(shown.columns[cell.column]), ": ", button)];
  }

  function tell() {
    const { shown, kind } = last;
    const there = cell && cell.kind === kind && cell.row < shown.rows.length && cell.row >= shown.from && cell.column >= shown.from && cell.column < shown.columns.length;
    why.replaceChildren(...(there ? reasons(last) : [make("p", { class: "lvm-about" }, "Choose a cell to see how its weight was computed.")]));
    for (const td of board.querySelectorAll("td[data-grid]")) {
      td.classList.toggle("lvm-asked", Boolean(there) && Number(td.dataset.row) === cell.row - shown.from && Number(td.dataset.column) === cell.column - shown.from);
    }
  }

  /** `shown` is a view, see views.js; a layer or head that is null stands for the mean. */
  function draw(shown, kind, layer, head) {
    last = { shown, kind, layer, head };
    board.hidden = why.hidden = !shown.rows.length;
    const focused = document.activeElement.closest?.(".lvm-board") === board ? document.activeElement.dataset : null;
    const { from } = shown;
    origin = from;
    const columns = shown.columns.slice(from);
    const earlier = from > 0;
    const body = make("tbody", {}, shown.rows.slice(from).map((token, row) => {
      const all = meanOf(shown.weights(from + row), run.source.heads, layer, head);
      const weights = all.slice(from);
      const rest = all.slice(0, from).reduce((sum, one) => sum + one, 0);
      return make("tr", from + row === shown.current ? { class: "lvm-current" } : {}, make("th", { scope: "row" }, token), earlier ? make("td", { class: "lvm-earlier" }, weightOf(rest)) : [], columns.map((_, column) => {
        if (column >= weights.length) return make("td", { class: "lvm-masked" }, make("span", { class: "lvm-hidden" }, "masked"));
        const first = cell ? from + row === cell.row && from + column === cell.column : row === 0 && column === 0;
        return make("td", { "data-grid": kind, "data-row": row, "data-column": column, tabindex: first ? 0 : -1, style: `--w: ${weights[column]}` }, weightOf(weights[column]));
      }));
    }));
    if (body.rows.length && !body.querySelector("td[tabindex='0']")) body.querySelector("td[data-grid]").tabIndex = 0;
    board.replaceChildren(make("table", { class: "slf-table lvm-map" }, make("thead", {}, make("tr", {}, make("td", {}), [...(earlier ? ["earlier"] : []), ...columns].map((token) => make("th", { scope: "col" }, make("span", {}, token))))), body));
    if (focused) board.querySelector(`td[data-row='${focused.row}'][data-column='${focused.column}']`)?.focus({ preventScroll: true });
    tell();
  }

  answerCells(board, (td) => {
    cell = { kind: td.dataset.grid, row: origin + Number(td.dataset.row), column: origin + Number(td.dataset.column) };
    tell();
    picked(cell.row);
  }, ["focusin", "click"]);
  /** Nothing is asked about any more; the next drawing shows it. */
  const forget = () => { cell = null; };
  return { board, why, draw, forget };
}
