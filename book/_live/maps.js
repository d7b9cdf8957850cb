// Attention maps: which layer, which head, and a table whose cells say how they were computed.

import { explain } from "./explain.js";
import { meanOf } from "./words.js";

const KINDS = [["cross", "cross-attention"], ["encoder", "encoder self-attention"], ["self", "decoder self-attention"]];

/** What a kind of map shows: names of rows and columns, and queries, keys and weights by layer and row. */
function view(kind, run, at) {
  const { source } = run;
  const steps = run.steps.slice(0, at + 1);
  if (kind === "encoder") {
    return {
      rows: source.tokens, columns: source.tokens, current: null,
      weights: (t) => source.layers.map(({ weights }) => weights[t]),
      query: (layer, t) => source.layers[layer].q[t],
      keys: (layer) => source.layers[layer].k,
    };
  }
  const fed = steps.map((one) => one.fed);
  return {
    rows: kind === "cross" ? steps.map(({ token }) => token) : fed, columns: kind === "cross" ? source.tokens : fed, current: at,
    weights: (t) => steps[t].layers.map((layer) => layer[kind].weights),
    query: (layer, t) => steps[t].layers[layer][kind].q,
    keys: (layer, t) => (kind === "cross" ? source.cross[layer] : steps.slice(0, t + 1).map(({ layers }) => layers[layer].k)),
  };
}

const ROWS = {
  cross: "A row for each token that the decoder wrote, a column for each English token.",
  encoder: "A row for each English token that attends, a column for each token that it attends to.",
  self: "A row for each token that the decoder was given, a column for each token up to itself: later ones are masked.",
};

export function maps(run, id) {
  const wanted = new URLSearchParams(location.search);
  const choice = (name, words, options, first) => {
    const select = make("select", { id: `${id}-${name}`, onchange: () => draw(last) }, options.map(([value, text]) => make("option", { value }, text)));
    if (options.some(([value]) => String(value) === first)) select.value = first;
    return { select, place: make("div", { class: "lvm-control" }, make("label", { for: select.id }, words), select) };
  };
  const numbers = (count) => [["mean", "mean of all"], ...Array.from({ length: count }, (_, i) => [i + 1, i + 1])];
  const kind = choice("kind", "attention", KINDS, wanted.get("show"));
  const controls = make("div", { class: "lvm-controls", role: "group", "aria-label": "Which attention map" }, kind.place);
  const about = make("p", { class: "lvm-about" });
  const board = make("div", { class: "lvm-board", role: "group", "aria-label": "Attention map" });
  const why = make("div", { class: "lvm-why", "aria-live": "polite" });
  const place = make("section", { class: "lvm-part", "aria-label": "Attention" }, make("p", { class: "lvm-head" }, strong("Attention weights")), controls, about, board, why);
  let [layer, head, last, asked] = [null, null, -1, null];

  const number = (one) => (one === null || one.select.value === "mean" ? null : Number(one.select.value) - 1);

  /** Show another layer and head: a cell of their mean was asked. */
  function choose(l, n) {
    layer.select.value = l + 1;
    head.select.value = n + 1;
    draw(last);
  }

  function tell() {
    const shown = view(kind.select.value, run, last);
    const there = asked && asked.kind === kind.select.value && asked.row < shown.rows.length;
    why.replaceChildren(...(there ? explain(shown, asked, number(layer), number(head), run.source.heads, choose) : [make("p", { class: "lvm-about" }, "Choose a cell to see how its weight was computed.")]));
    for (const td of board.querySelectorAll("td[data-grid]")) {
      td.classList.toggle("lvm-asked", Boolean(there) && Number(td.dataset.row) === asked.row && Number(td.dataset.column) === asked.column);
    }
  }

  function draw(at) {
    last = at;
    if (layer === null) {
      const { source } = run;
      layer = choice("layer", "layer", numbers(source.layers.length), wanted.get("layer"));
      head = choice("head", "head", numbers(source.heads), wanted.get("head"));
      controls.append(layer.place, head.place);
    }
    const shown = view(kind.select.value, run, at);
    about.textContent = shown.rows.length ? ROWS[kind.select.value] : "Nothing has been written yet.";
    const focused = document.activeElement.closest?.(".lvm-board") === board ? document.activeElement.dataset : null;
    const body = make("tbody", {}, shown.rows.map((token, row) => {
      const weights = meanOf(shown.weights(row), run.source.heads, number(layer), number(head));
      return make("tr", row === shown.current ? { class: "lvm-current" } : {}, make("th", { scope: "row" }, token), shown.columns.map((_, column) => {
        if (column >= weights.length) return make("td", { class: "lvm-masked" }, make("span", { class: "lvm-hidden" }, "masked"));
        const first = asked ? row === asked.row && column === asked.column : row === 0 && column === 0;
        return make("td", { "data-grid": kind.select.value, "data-row": row, "data-column": column, tabindex: first ? 0 : -1, style: `--w: ${weights[column]}` },
          show(weights[column]).replace(/^0/, ""));
      }));
    }));
    if (body.rows.length && !body.querySelector("td[tabindex='0']")) body.querySelector("td[data-grid]").tabIndex = 0;
    board.replaceChildren(make("table", { class: "slf-table lvm-map" }, make("thead", {}, make("tr", {}, make("td", {}), shown.columns.map((token) => make("th", { scope: "col" }, make("span", {}, token))))), body));
    if (focused) board.querySelector(`td[data-row='${focused.row}'][data-column='${focused.column}']`)?.focus({ preventScroll: true });
    tell();
  }

  answerCells(board, (td) => {
    asked = { kind: td.dataset.grid, row: Number(td.dataset.row), column: Number(td.dataset.column) };
    tell();
  }, ["focusin", "click"]);
  return { place, draw };
}
