// What a number of a token's way was made from: which numbers of earlier stations, and the calculation written out.

import { explain } from "./explain.js";
import { silu } from "./numbers.js";
import { strips } from "./strip.js";

const TERMS = 5; // the largest products that are written out

const signed = (number) => (number < 0 ? `(${show(number)})` : show(number));
const list = (rows) => make("dl", { class: "lvm-steps" }, rows.map(([name, ...words]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...words))));
const table = (caption, head, rows) => make("table", { class: "slf-table lvm-numbers" }, make("caption", {}, caption),
  make("thead", {}, make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)))),
  make("tbody", {}, rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), cells.map((cell) => make("td", {}, show(cell)))))));

/** Stations by name. */
export const byName = (trail) => new Map(trail.stations.map((station) => [station.name, station]));

/** The head that a number of a query or of mixed values belongs to, counted from 0. */
export const headOf = (trail, i) => Math.floor(i / (trail.d_model / trail.n_heads));

/** Which numbers of earlier stations a number was made from: [station, from, to). */
export function madeFrom(trail, station, i) {
  const { kind, of } = station;
  if (kind === "sum" || kind === "gated") return of.map((name) => [name, i, i + 1]);
  if (kind === "turned") return [[of[0], i - (i % 2), i - (i % 2) + 2]];
  if (kind === "norm" || kind === "product") return [[of[0], 0, Infinity]];
  if (kind === "weights") {
    const [head, width] = [Math.floor(i / station.columns.length), trail.d_model / trail.n_heads];
    return [[of[0], head * width, (head + 1) * width]];
  }
  if (kind === "mixed") return [[of[0], headOf(trail, i) * station.columns.length, (headOf(trail, i) + 1) * station.columns.length]];
  return [];
}

/** The largest of some products, the sum of the others, a bias and their sum. */
function terms(x, row, bias, after) {
  const products = Float32Array.from(x, (one, i) => one * row[i]);
  const order = [...products.keys()].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  const others = order.slice(TERMS).reduce((sum, i) => sum + products[i], 0);
  const sum = products.reduce((all, one) => all + one, 0) + (bias ?? 0);
  const { place, draw } = strips([["vector", x], ["row of the matrix", row], ["products", products]]);
  const rows = table("The largest products", ["i", "vector", "matrix", "product"], order.slice(0, TERMS).map((i) => [String(i + 1), x[i], row[i], products[i]]));
  const lines = [["all others", `${products.length - TERMS} products, together ${show(others)}`], ...(bias === undefined ? [] : [["bias", show(bias)]]), ["sum", show(sum)], ...after(sum)];
  return { nodes: [place, rows, list(lines)], draw };
}

/**
 * How number `i` of a station was made: nodes, and what draws their strips. `ask` gives a row of the model: {tensor, row}.
 */
export async function made(trail, station, i, ask, choose) {
  const stations = byName(trail);
  const { kind, of, values } = station;
  const inputs = of.map((name) => stations.get(name));
  const value = values[i];
  const vector = (tensor) => ask({ tensor, at: i });
  const only = (rows) => ({ nodes: [list(rows)], draw() {} });
  switch (kind) {
    case "row":
      return only([["table", `row ${whole(station.id)} of the embedding table, number ${i + 1}`],
        ...(station.times === 1 ? [["number", show(value)]] : [["scaled", `${show(value / station.times)} × √${trail.d_model} = ${show(value)}`]])]);
    case "wave": {
      const name = i % 2 ? "cos" : "sin";
      return only([["position", `${station.position}, counted from 0`], ["angle", `${station.position} / 10,000^(${i - (i % 2)}/${trail.d_model}) = ${three(station.position / 10000 ** ((i - (i % 2)) / trail.d_model))}`], [name, show(value)]]);
    }
    case "sum":
      return only([[inputs[0].label, show(inputs[0].values[i])], [inputs[1].label, show(inputs[1].values[i])], ["sum", `${show(inputs[0].values[i])} + ${signed(inputs[1].values[i])} = ${show(value)}`]]);
    case "norm": {
      const x = inputs[0].values;
      const gain = await vector(`${station.tensor}.gain`);
      const root = trail.rms;
      const mean = root ? 0 : x.reduce((sum, one) => sum + one, 0) / x.length;
      const spread = Math.sqrt(x.reduce((sum, one) => sum + (one - mean) ** 2, 0) / x.length + trail.norm_eps);
      const scaled = (x[i] - mean) / spread;
      if (root) return only([["number", show(x[i])], ["root of the mean square", show(spread)], ["divided", `${show(x[i])} / ${show(spread)} = ${show(scaled)}`], ["gain", `${show(scaled)} × ${signed(gain)} = ${show(value)}`]]);
      const shift = await vector(`${station.tensor}.shift`);
      return only([["number", show(x[i])], ["mean", show(mean)], ["standard deviation", show(spread)], ["normalised", `(${show(x[i])} − ${signed(mean)}) / ${show(spread)} = ${show(scaled)}`],
        ["gain and shift", `${show(scaled)} × ${signed(gain)} + ${signed(shift)} = ${show(value)}`]]);
    }
    case "product": {
      const row = await ask({ tensor: station.matrix, row: i });
      const bias = station.bias && await vector(station.bias);
      return terms(inputs[0].values, row, bias, (sum) => (station.relu ? [["ReLU", sum > 0 ? `above zero: ${show(value)}` : "not above zero: 0"]] : []));
    }
    case "turned": {
      const width = trail.d_model / trail.n_heads;
      const pair = i - (i % 2);
      const angle = station.position / trail.rotary_base ** ((pair % width) / width);
      const [a, b] = [inputs[0].values[pair], inputs[0].values[pair + 1]];
      return only([["pair", `numbers ${pair + 1} and ${pair + 2}: (${show(a)}, ${show(b)})`], ["angle", `${station.position} / ${whole(trail.rotary_base)}^(${pair % width}/${width}) = ${three(angle)}`],
        ["rotated", i % 2 ? `${show(a)} × ${signed(Math.sin(angle))} + ${signed(b)} × ${signed(Math.cos(angle))} = ${show(value)}` : `${show(a)} × ${signed(Math.cos(angle))} − ${signed(b)} × ${signed(Math.sin(angle))} = ${show(value)}`]]);
    }
    case "gated": {
      const [gate, up] = inputs.map((one) => one.values[i]);
      return only([["gate", `SiLU(${show(gate)}) = ${show(silu(gate))}`], ["up", show(up)], ["product", `${show(silu(gate))} × ${signed(up)} = ${show(value)}`]]);
    }
    case "weights": {
      const columns = station.columns.length;
      const [head, column] = [Math.floor(i / columns), i % columns];
      const shown = { rows: [trail.token], columns: station.columns, weights: () => [values], query: () => inputs[0].values, keys: () => station.keys };
      return { nodes: explain(shown, { row: 0, column }, station.layer, head, trail.n_heads, choose), draw() {} };
    }
    case "mixed": {
      const columns = station.columns.length;
      const head = headOf(trail, i);
      const weights = inputs[0].values.subarray(head * columns, (head + 1) * columns);
      const width = trail.d_model / trail.n_heads;
      const at = Math.floor(head / (values.length / station.vectors[0].length)) * width + (i % width);
      const rows = station.columns.map((token, s) => [token, weights[s], station.vectors[s][at], weights[s] * station.vectors[s][at]]);
      const largest = rows.sort((a, b) => Math.abs(b[3]) - Math.abs(a[3])).slice(0, 2 * TERMS);
      const note = rows.length > largest.length ? [["all others", `${rows.length - largest.length} tokens, together ${show(value - largest.reduce((sum, one) => sum + one[3], 0))}`]] : [];
      return { nodes: [table(`Head ${head + 1}: a weighted mean of the tokens’ values`, ["token", "weight", "value", "product"], largest), list([...note, ["sum", show(value)]])], draw() {} };
    }
    default:
      throw new Error(`nothing is known about a station of the kind ${kind}`);
  }
}
