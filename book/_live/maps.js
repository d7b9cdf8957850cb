// Attention maps: which layer, which head, and a table whose cells say how they were computed.

import { asked } from "./asked.js";
import { explain } from "./explain.js";
import { meanOf } from "./words.js";

const weightOf = (weight) => show(weight).replace(/^0/, "");

/** `kinds` says what there is to show, by name: see views.js. `wanted` says what is shown first: {show, layer, head}. */
export function maps(run, id, kinds, wanted = asked) {
  const choice = (name, words, options, first) => {
    const select = make("select", { id: `${id}-${name}`, onchange: () => draw(last) }, options.map(([value, text]) => make("option", { value }, text)));
    if (options.some(([value]) => String(value) === first)) select.value = first;
    return { select, place: make("div", { class: "lvm-control" }, make("label", { for: select.id }, words), select) };
  };
  const numbers = (count) => [["mean", "mean of all"], ...Array.from({ length: count }, (_, i) => [i + 1, i + 1])];
  const kind = choice("kind", "attention", Object.entries(kinds).map(([value, { name }]) => [value, name]), wanted.show);
  kind.place.hidden = kind.select.length === 1;
  const view = (at) => kinds[kind.select.value].view(run, at);
  const controls = make("div", { class: "lvm-controls", role: "group", "aria-label": "Which attention map" }, kind.place);
  const about = make("p", { class: "lvm-about" });
  const board = make("div", { class: "lvm-board", role: "group", "aria-label": "Attention map" });
  const why = make("div", { class: "lvm-why", "aria-live": "polite" });
  const place = make("section", { class: "lvm-part", "aria-label": "Attention" }, make("p", { class: "lvm-head" }, strong("Attention weights")), controls, about, board, why);
  let [layer, head, last, cell, origin] = [null, null, -1, null, 0];

  const number = (one) => (one === null || one.select.value === "mean" ? null : Number(one.select.value) - 1);

  /** Show another layer and head: a cell of their mean was asked. */
  function choose(l, n) {
    layer.select.value = l + 1;
    head.select.value = n + 1;
    draw(last);
  }

  function tell() {
    const shown = view(last);
    const there = cell && cell.kind === kind.select.value && cell.row < shown.rows.length && cell.row >= shown.from && cell.column >= shown.from;
    why.replaceChildren(...(there ? explain(shown, cell, number(layer), number(head), run.source.heads, choose) : [make("p", { class: "lvm-about" }, "Choose a cell to see how its weight was computed.")]));
    for (const td of board.querySelectorAll("td[data-grid]")) {
      td.classList.toggle("lvm-asked", Boolean(there) && Number(td.dataset.row) === cell.row - shown.from && Number(td.dataset.column) === cell.column - shown.from);
    }
  }

  function draw(at) {
    last = at;
    if (layer === null) {
      const { source } = run;
      layer = choice("layer", "layer", numbers(source.layers.length), wanted.layer);
      head = choice("head", "head", numbers(source.heads), wanted.head);
      controls.append(layer.place, head.place);
    }
    const shown = view(at);
    about.textContent = shown.rows.length ? kinds[kind.select.value].about : "Nothing has been written yet.";
    board.hidden = why.hidden = !shown.rows.length;
    const focused = document.activeElement.closest?.(".lvm-board") === board ? document.activeElement.dataset : null;
    const { from } = shown;
    origin = from;
    const columns = shown.columns.slice(from);
    const earlier = from > 0;
    const body = make("tbody", {}, shown.rows.slice(from).map((token, row) => {
      const all = meanOf(shown.weights(from + row), run.source.heads, number(layer), number(head));
      const weights = all.slice(from);
      const rest = all.slice(0, from).reduce((sum, one) => sum + one, 0);
      return make("tr", from + row === shown.current ? { class: "lvm-current" } : {}, make("th", { scope: "row" }, token), earlier ? make("td", { class: "lvm-earlier" }, weightOf(rest)) : [], columns.map((_, column) => {
        if (column >= weights.length) return make("td", { class: "lvm-masked" }, make("span", { class: "lvm-hidden" }, "masked"));
        const first = cell ? from + row === cell.row && from + column === cell.column : row === 0 && column === 0;
        return make("td", { "data-grid": kind.select.value, "data-row": row, "data-column": column, tabindex: first ? 0 : -1, style: `--w: ${weights[column]}` }, weightOf(weights[column]));
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
  }, ["focusin", "click"]);
  /** The layer and the head that are shown, as the menus have them. */
  const chosen = () => ({ layer: layer.select.value, head: head.select.value });
  return { place, draw, chosen };
}
