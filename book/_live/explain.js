// How one attention weight was computed: query times key, divided by the root of the head's width, through the softmax.

const NUMBERS = 3; // products that are written out

/** Two decimals, or two digits that are not zero. */
const small = (number) => (number < 0.1 ? minus(number.toPrecision(2)) : show(number));

const table = (caption, head, rows) => make("table", { class: "slf-table lvm-numbers" }, make("caption", {}, caption),
  make("thead", {}, make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, rows));

/** The mean of all layers and heads is a weight of none of them: offer those that it is made of. */
function parts({ weights }, { row, column }, layer, head, heads, choose) {
  const all = weights(row);
  const layers = layer === null ? all.map((_, l) => l) : [layer];
  const asked = head === null ? Array.from({ length: heads }, (_, n) => n) : [head];
  const button = (l, n) => {
    const weight = all[l][n * (all[l].length / heads) + column];
    return make("td", {}, make("button", { type: "button", "aria-label": `layer ${l + 1}, head ${n + 1}: ${show(weight)}`, onclick: () => choose(l, n) }, show(weight)));
  };
  const rows = layers.map((l) => make("tr", {}, make("th", { scope: "row" }, String(l + 1)), asked.map((n) => button(l, n))));
  return [make("p", {}, "This weight is a mean. Choose one layer and head to see how its weight was computed:"),
    table("The weights in the mean", ["layer", ...asked.map((n) => `head ${n + 1}`)], rows)];
}

/** What stands below the map for the cell that was asked. */
export function explain(shown, asked, layer, head, heads, choose) {
  const { row, column } = asked;
  const names = make("p", { class: "lvm-head" }, "From ", strong(shown.rows[row]), " to ", strong(shown.columns[column]));
  if (layer === null || head === null) return [names, ...parts(shown, asked, layer, head, heads, choose)];
  const query = shown.query(layer, row);
  const keys = shown.keys(layer, row);
  const width = query.length / heads;
  // Where keys are narrower than queries, groups of query heads share one.
  const shared = Math.floor(head / (query.length / keys[0].length));
  const part = (vector, n) => Array.from(vector.subarray(n * width, (n + 1) * width));
  const q = part(query, head);
  const slice = (key) => part(key, shared);
  const products = keys.map((key) => slice(key).map((one, i) => one * q[i]));
  const scores = products.map((own) => own.reduce((sum, one) => sum + one, 0));
  const scaled = scores.map((one) => one / Math.sqrt(width));
  const largest = Math.max(...scaled);
  const powers = scaled.map((one) => Math.exp(one - largest));
  const total = powers.reduce((sum, one) => sum + one, 0);
  const k = slice(keys[column]);
  const signed = (number) => (number < 0 ? `(${show(number)})` : show(number));
  const begin = q.slice(0, NUMBERS).map((one, i) => `${signed(one)} × ${signed(k[i])}`).join(" + ");
  const steps = [
    ["query", `q = (${q.slice(0, NUMBERS).map(show).join(", ")}, …), ${width} numbers`],
    ["key", `k = (${k.slice(0, NUMBERS).map(show).join(", ")}, …), ${width} numbers`],
    ["score", `q · k = ${begin} + … = ${show(scores[column])}`],
    ["divided", `${show(scores[column])} / √${width} = ${show(scaled[column])}`],
    ["exponential", `exp(${show(scaled[column])} − ${signed(largest)}) = ${small(powers[column])}; ${show(largest)} is the largest scaled score of the row`],
    ["weight", `${small(powers[column])} / ${show(total)} = ${small(powers[column] / total)}; ${show(total)} is the sum of the row's exponentials`],
  ];
  const list = make("dl", { class: "lvm-steps", "data-weight": powers[column] / total, "data-score": scores[column] },
    steps.map(([name, words]) => make("div", {}, make("dt", {}, name), make("dd", {}, words))));
  const rowTable = table("The whole row", ["key", "q · k", `/ √${width}`, "exp", "weight"], keys.map((_, s) => make("tr", s === column ? { class: "lvm-chosen" } : {},
    make("th", { scope: "row" }, shown.columns[s]), [show(scores[s]), show(scaled[s]), small(powers[s]), small(powers[s] / total)].map((one) => make("td", {}, one)))));
  const numbers = table(`All ${width} products`, ["i", "q", "k", "q × k"], q.map((one, i) => make("tr", {},
    make("th", { scope: "row" }, String(i + 1)), [one, k[i], products[column][i]].map((each) => make("td", {}, show(each))))));
  const fold = (words, inside) => make("details", {}, make("summary", {}, words), make("div", { class: "lvm-scroll" }, inside));
  return [make("p", { class: "lvm-head" }, ...names.childNodes, `, layer ${layer + 1}, head ${head + 1}`), list,
    ...(query.length > keys[0].length ? [make("p", { class: "lvm-about" }, `Query head ${head + 1} shares key-value head ${shared + 1} with its group.`)] : []),
    fold("The whole row of scores and weights", rowTable), fold(`All ${width} products of the score`, numbers)];
}
