// What one token computes on its way through a model: stations in their order. Each says which part of the machine it
// belongs to (softlookup_course.widgets.machine_parts), what it was made from, and how: see made.js, which shows it.

/** Keeps one row of all that a model computes on the way. */
function listener(row, rows) {
  const kept = new Map();
  const keep = (name, x) => {
    const width = x.length / rows;
    kept.set(name, Array.isArray(x) ? x[row] : x.slice(row * width, (row + 1) * width));
    return x;
  };
  return [kept, keep];
}

/** Stations of a model, whose names are those that it tells a listener. */
class Stations {
  constructor(kept) {
    this.kept = kept;
    this.list = [];
  }

  /** Add a station, whose values the model told, or are given. */
  add(name, part, label, kind, of, more = {}) {
    this.list.push({ name, part, label, kind, of, layer: this.layer ?? null, values: this.kept.get(name), ...more });
    return name;
  }

  norm(name, part, x) {
    return this.add(name, part, "normalised", "norm", [x], { tensor: name });
  }

  product(name, part, label, x, matrix, more = {}) {
    return this.add(name, part, label, "product", [x], { matrix, ...more });
  }

  /**
   * Queries, keys and values of a token, its weights, and what they mix. `queries` has the queries of all tokens, `seen` the
   * tokens that this one may attend to: {names, k, v}. Keys and values are stations where they are of the same text (`own`).
   */
  attention(inside, part, normed, queries, seen, { heads, turned = false, own = true }) {
    const vector = (one, label, all) => {
      const rotates = turned && one !== "v";
      const name = this.product(`${inside}.${one}`, part, label, normed, `${inside}.w_${one}`, { heads: true, ...(rotates ? {} : { all }) });
      return rotates ? this.add(`${name}_turned`, part, `${label}, rotated`, "turned", [name], { heads: true, all, position: seen.names.length - 1 }) : name;
    };
    const q = vector("q", "query", queries);
    if (own) ["k", "v"].forEach((one) => vector(one, one === "k" ? "key" : "value", { names: seen.names, rows: seen[one] }));
    const weights = this.add(`${inside}.weights`, part, "weights", "weights", [q], { rows: heads, columns: seen.names, keys: seen.k });
    const mixed = this.add(`${inside}.mixed`, part, "mixed values", "mixed", [weights], { heads: true, columns: seen.names, vectors: seen.v });
    return this.product(`${inside}.out`, part, "output", mixed, `${inside}.w_o`);
  }

  sum(name, part, x, y) {
    return this.add(name, part, "sum", "sum", [x, y]);
  }
}

/** A token's row of the table, the pattern of its position, and their sum, which begins the residual stream. */
function entered(stations, part, sumPart, model, id, position) {
  const times = Math.sqrt(model.config.d_model);
  const row = rowOf(model, { tensor: "embedder.tokens.table", row: id }).map((one) => one * times);
  const whole = stations.kept.get("embedder");
  stations.add("embedding", part, "embedding", "row", [], { values: row, id, times });
  stations.add("position", sumPart, "position", "wave", [], { values: whole.map((one, i) => one - row[i]), position });
  return stations.sum("embedder", sumPart, "embedding", "position");
}

function feedForward(stations, layer, part, names) {
  const inside = `${layer}.feed_forward`;
  const normed = stations.norm(`${layer}.feed_forward_residual.norm`, `${part}-norm`, names.x);
  const hidden = stations.product(`${inside}.hidden`, part, "hidden units", normed, `${inside}.w_1`, { bias: `${inside}.b_1`, relu: true });
  const out = stations.product(`${inside}.out`, part, "output", hidden, `${inside}.w_2`, { bias: `${inside}.b_2` });
  return stations.sum(`${layer}.feed_forward_residual`, names.sum, names.x, out);
}

/** The way of the translator's token: of an English one in the encoder, or of a French one that the decoder reads. */
export function translatorTrail(model, names, { ids, written, side, at }) {
  const heads = model.config.n_heads;
  const reads = side === "encoder";
  const [kept, keep] = listener(reads ? at : 0, reads ? ids.length : 1);
  const source = model.encode(ids, true, reads ? keep : undefined);
  const words = ids.map((id) => names[id]);
  const stations = new Stations(kept);
  if (reads) {
    let x = entered(stations, "embedding", "positions", model, ids[at], at);
    for (const i of model.layers) {
      stations.layer = i;
      const layer = `encoder.layers.${i}`;
      const normed = stations.norm(`${layer}.attention_residual.norm`, "attention-norm", x);
      const out = stations.attention(`${layer}.attention`, "self-attention", normed, { names: words, rows: source.layers[i].q }, { names: words, ...source.layers[i] }, { heads });
      x = stations.sum(`${layer}.attention_residual`, "residual", x, out);
      x = feedForward(stations, layer, "feed-forward", { x, sum: "residual" });
    }
    stations.layer = null;
    stations.norm("encoder.norm", "encoder-norm", x);
    return { stations: stations.list, token: words[at] };
  }
  const fed = [model.config.start_id, ...written].slice(0, at + 1);
  let node = null;
  fed.forEach((token, t) => { [node] = model.step(source, [{ parent: node, token }], t === at ? keep : undefined); });
  const read = fed.map((id) => names[id]);
  let x = entered(stations, "target-embedding", "target-embedding", model, fed[at], at);
  for (const i of model.layers) {
    stations.layer = i;
    const layer = `decoder.layers.${i}`;
    const of = (one) => node.path.map((each) => each.layers[i][one]);
    const queries = (kind) => ({ names: read, rows: node.path.map((each) => each.layers[i][kind].q) });
    let normed = stations.norm(`${layer}.attention_residual.norm`, "masked-norm", x);
    let out = stations.attention(`${layer}.attention`, "masked-attention", normed, queries("self"), { names: read, k: of("k"), v: of("v") }, { heads });
    x = stations.sum(`${layer}.attention_residual`, "decoder-residual", x, out);
    normed = stations.norm(`${layer}.cross_residual.norm`, "cross-norm", x);
    out = stations.attention(`${layer}.cross_attention`, "cross-attention", normed, queries("cross"), { names: words, ...source.cross[i] }, { heads, own: false });
    x = stations.sum(`${layer}.cross_residual`, "decoder-residual", x, out);
    x = feedForward(stations, layer, "decoder-feed-forward", { x, sum: "decoder-residual" });
  }
  stations.layer = null;
  stations.norm("decoder.norm", "decoder-norm", x);
  return { stations: stations.list, token: read[at] };
}

/** The way of the last of the tokens that the language model has read. */
export function writerTrail(model, names, { ids }) {
  const [kept, keep] = listener(ids.length - 1, ids.length);
  const cache = model.start();
  const { layers: steps } = model.step(ids, cache, true, keep);
  const stations = new Stations(kept);
  const words = ids.map((id) => names[id]);
  let x = stations.add("embedder", "embedding", "embedding", "row", [], { id: ids.at(-1), times: 1 });
  cache.forEach((layer, i) => {
    stations.layer = i;
    const name = `decoder.layers.${i}`;
    const normed = stations.norm(`${name}.attention_residual.norm`, "attention-norm", x);
    const out = stations.attention(`${name}.attention`, "masked-attention", normed, { names: words, rows: steps[i].q }, { names: words, k: layer.k, v: layer.v }, { heads: model.config.n_heads, turned: true });
    x = stations.sum(`${name}.attention_residual`, "residual", x, out);
    const inside = `${name}.feed_forward`;
    const after = stations.norm(`${name}.feed_forward_residual.norm`, "feed-forward-norm", x);
    const gate = stations.product(`${inside}.gate`, "feed-forward", "gate", after, `${inside}.w_gate`);
    const up = stations.product(`${inside}.up`, "feed-forward", "up", after, `${inside}.w_1`);
    const hidden = stations.add(`${inside}.hidden`, "feed-forward", "hidden units", "gated", [gate, up]);
    const written = stations.product(`${inside}.out`, "feed-forward", "output", hidden, `${inside}.w_2`);
    x = stations.sum(`${name}.feed_forward_residual`, "residual", x, written);
  });
  stations.layer = null;
  stations.norm("decoder.norm", "final-norm", x);
  return { stations: stations.list, token: words.at(-1) };
}

/** A row of one of the model's matrices in full numbers, or a number of one of its vectors. */
export function rowOf(model, { tensor, row, at }) {
  if (at !== undefined) return model.tensors.get(tensor)[at];
  const { data, scales, ins } = model.tensors.get(tensor);
  return Float32Array.from({ length: ins }, (_, i) => data[row * ins + i] * scales[row]);
}
