// Both matrices of a feed-forward network, cut between two ranks. Python has run all four choices; here they are shown.

const TPC_WAYS = ["columns", "rows"];
const TPC_NAMES = { x: ["X"], in: ["W", make("sub", {}, "in")], z: ["Z"], h: ["H"], out: ["W", make("sub", {}, "out")], y: ["Y"] };
const TPC_WHY = {
  columns: { // the first matrix is cut so; the second so
    rows: "Each rank has its columns of Z complete, and these are all that its rows of the second matrix meet.",
    columns: "Each rank has its columns of Z complete, but a column of the second matrix meets all of H.",
  },
  rows: {
    rows: "Each rank then needs only its own columns of H.",
    columns: "A column of the second matrix then meets all of H.",
  },
};

function render({ model, el }) {
  const id = nextId("tpc");
  const runs = model.get("runs");
  const whole_ = model.get("matrices");
  const least = runs.reduce((a, b) => (b.between.bytes + b.after.bytes < a.between.bytes + a.after.bytes ? b : a));
  let ways = ["columns", "rows"];

  const chooser = (which, title) => make("div", { class: "tpc-ways", role: "radiogroup", "aria-label": `Cut the ${title} matrix into` },
    make("span", {}, `${title} matrix, `, name(which ? "out" : "in"), ":"),
    TPC_WAYS.map((way) => {
      const input = make("input", { id: `${id}-${which ? "out" : "in"}-${way}`, type: "radio", name: `${id}-${which ? "out" : "in"}`, value: way, onchange: () => { ways = ways.with(which, way); draw(); } });
      input.checked = way === ways[which];
      return make("label", { for: input.id }, input, ` ${way}`);
    }));
  const name = (key) => TPC_NAMES[key].map((part) => (typeof part === "string" ? part : part.cloneNode(true)));
  const board = make("div", { class: "tpc-board" });
  const words = make("p", { class: "slf-words tpc-words", "aria-live": "polite", "aria-atomic": "true" });

  /** A matrix of which a rank has some columns or rows, or all; `offset` is where these begin, and null stands for all of it. */
  function matrix(key, rank, part, [rows, columns], way, look, says) {
    const [top, left] = [way === "rows" ? (rank * rows) / 2 : 0, way === "columns" ? (rank * columns) / 2 : 0];
    const line = (r) => make("tr", {}, Array.from({ length: columns }, (_, c) => {
      const entry = part[r - top]?.[c - left];
      return make("td", entry === undefined ? { class: "tpc-away" } : { class: `tpc-${look}`, "data-of": key, "data-rank": rank, "data-row": r, "data-column": c, "data-value": entry }, entry === undefined ? "" : minus(entry));
    }));
    return make("div", { class: "tpc-box" }, strong(name(key)), make("span", { class: "tpc-says" }, says),
      make("table", { class: "slf-table tpc-matrix", "aria-label": `${key === "in" ? "first matrix" : key === "out" ? "second matrix" : capitalised(key)} on rank ${rank}: ${says}` },
        make("tbody", {}, Array.from({ length: rows }, (_, r) => line(r)))));
  }

  const of = (way, n, rank) => `${way} ${rank ? `${n / 2 + 1}–${n}` : `1–${n / 2}`}`.replace(/(column|row)s (\d)–\2$/, "$1 $2");
  const sliced = (rows, way, rank) => (way === "rows" ? rows.slice((rank * rows.length) / 2, ((rank + 1) * rows.length) / 2)
    : rows.map((row) => row.slice((rank * row.length) / 2, ((rank + 1) * row.length) / 2)));

  function sends({ collective, bytes }, key, where) {
    return make("p", { class: `tpc-sends${bytes ? "" : " tpc-nothing"}`, "data-where": where, "data-bytes": bytes },
      bytes ? [strong(`${capitalised(collective)} of `, name(key)), `: each rank sends ${bytes} bytes`] : strong("Nothing is sent"));
  }

  function draw() {
    const [first, second] = ways;
    const run = runs.find(({ cuts }) => cuts[0] === first && cuts[1] === second);
    const [tokens, width, hidden] = [whole_.x.length, whole_.in.length, whole_.out.length];
    const isSum = { first: first === "rows", second: second === "rows" };
    const upper = [0, 1].map((rank) => make("div", { class: "tpc-line" },
      matrix("x", rank, first === "rows" ? sliced(whole_.x, "columns", rank) : whole_.x, [tokens, width], first === "rows" ? "columns" : "all", "activation", first === "rows" ? of("columns", width, rank) : "all"),
      matrix("in", rank, sliced(whole_.in, first, rank), [width, hidden], first, "weight", of(first, first === "rows" ? width : hidden, rank)),
      matrix("z", rank, run.z[rank], [tokens, hidden], isSum.first ? "all" : "columns", isSum.first ? "term" : "complete", isSum.first ? "a term of the sum" : `${of("columns", hidden, rank)}, complete`)));
    const lower = [0, 1].map((rank) => make("div", { class: "tpc-line" },
      matrix("h", rank, run.h[rank], [tokens, hidden], isSum.second ? "columns" : "all", "complete", isSum.second ? of("columns", hidden, rank) : "all"),
      matrix("out", rank, sliced(whole_.out, second, rank), [hidden, width], second, "weight", of(second, second === "rows" ? hidden : width, rank)),
      matrix("y", rank, run.y[rank], [tokens, width], isSum.second ? "all" : "columns", isSum.second ? "term" : "complete", isSum.second ? "a term of the sum" : `${of("columns", width, rank)}, complete`)));
    const step = (...text) => make("p", { class: "tpc-step" }, text.flat());
    board.replaceChildren(
      ...[0, 1].map((rank) => make("strong", { class: "tpc-rank" }, `rank ${rank}`)),
      step("Z = X ", name("in")), ...upper, sends(run.between, "z", "between"),
      step("H = ReLU(Z), then Y = H ", name("out")), ...lower, sends(run.after, "y", "after"));
    const terms = run.z.map((product) => product[0][0]);
    const [a, b] = terms.map(minus);
    const [total, fewest] = [run, least].map(({ between, after }) => between.bytes + after.bytes);
    words.replaceChildren(strong(`${capitalised(first)}, then ${second}: each rank sends ${total} bytes`), run === least ? ", the fewest of the four choices. " : `; ${least.cuts.join(", then ")} needs ${fewest}. `,
      isSum.first ? `A product is one term of a sum, and the ReLU needs the sum: ReLU(${a}) + ReLU(${b}) is ${terms.reduce((sum, term) => sum + Math.max(term, 0), 0)}, and ReLU(${a} + ${terms[1] < 0 ? `(${b})` : b}) is ${Math.max(terms[0] + terms[1], 0)}. ` : "",
      `${TPC_WHY[first][second]} ${isSum.second ? "At the end the terms of Y are added up" : "At the end each rank gets the other columns of Y"}. `,
      `Both ranks then have the rows ${run.output.map((row) => `(${row.map(minus).join(", ")})`).join(" and ")}.`);
    Object.assign(root.dataset, { first, second, total });
  }

  const root = make("div", { class: "slf tpc", role: "group", "aria-label": "A feed-forward network on two ranks" },
    make("div", { class: "slf-bar" }, chooser(0, "first"), chooser(1, "second")), board, words);
  el.replaceChildren(root);
  draw();
}

export default { render };
