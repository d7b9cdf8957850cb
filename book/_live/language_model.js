// The writer's forward pass: softlookup.model.DecoderLM with the parts that it ships with (RMSNorm before each sublayer,
// rotary positions, SwiGLU, query heads that share keys and values, one table for input and logits).

import { add, attend, product, rmsNorm, rowsOf, silu, stacked } from "./numbers.js";

export class LanguageModel {
  constructor(config, tensors) {
    this.config = config;
    this.tensors = tensors;
  }

  #times(x, name) {
    const matrix = this.tensors.get(name);
    return product(x, x.length / matrix.ins, matrix);
  }

  #norm(x, name) {
    const gain = this.tensors.get(`${name}.gain`);
    return rmsNorm(x, x.length / gain.length, gain, this.config.norm_eps);
  }

  #feedForward(x, layer, keep) {
    const [inside, residual] = [`${layer}.feed_forward`, `${layer}.feed_forward_residual`];
    const normed = keep(`${residual}.norm`, this.#norm(x, `${residual}.norm`));
    const gate = keep(`${inside}.gate`, this.#times(normed, `${inside}.w_gate`));
    const up = keep(`${inside}.up`, this.#times(normed, `${inside}.w_1`));
    const hidden = keep(`${inside}.hidden`, up.map((one, n) => one * silu(gate[n])));
    return keep(residual, add(x, keep(`${inside}.out`, this.#times(hidden, `${inside}.w_2`))));
  }

  /** Rows of heads side by side; in each head, neighbours are a point that is turned by its pair's angle. */
  #turned(x, rowWidth, first) {
    const width = this.config.d_model / this.config.n_heads;
    return rowsOf(x, rowWidth).map((row, r) => {
      const y = new Float32Array(row.length);
      for (let i = 0; i < row.length; i += 2) {
        const angle = (first + r) / this.config.rotary_base ** ((i % width) / width);
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        y[i] = row[i] * cos - row[i + 1] * sin;
        y[i + 1] = row[i] * sin + row[i + 1] * cos;
      }
      return y;
    });
  }

  /**
   * An empty KV cache: for each layer the keys and values of the tokens so far. `silenced` are heads, a layer and a head
   * each, that give zeros while this cache is used.
   */
  start(silenced = []) {
    return Array.from({ length: this.config.n_layers }, (_, i) => ({ k: [], v: [], silenced: silenced.filter(([layer]) => layer === i).map(([, head]) => head) }));
  }

  /**
   * Takes the tokens that the cache has not seen, and adds their keys and values to it. Returns the logits of the next
   * token (after each of the new ones, if `all` are asked for), and of each layer what the new tokens computed: queries,
   * keys and attention weights, and of the residual stream the states before the first and after each, a row for each token. `keep` hears what is computed on the way: its name, and a row for each
   * of the new tokens.
   */
  step(ids, cache, all = false, keep = (name, rows) => rows) {
    const { d_model: width, n_heads: heads, n_kv_heads: shared } = this.config;
    const first = cache[0].k.length;
    const table = this.tensors.get("embedder.tokens.table");
    let x = keep("embedder", stacked(ids.map((id) => Float32Array.from({ length: width }, (_, i) => table.data[id * width + i] * table.scales[id]))));
    const states = [rowsOf(x, width)];
    const layers = cache.map((kept, i) => {
      const layer = `decoder.layers.${i}`;
      const [inside, residual] = [`${layer}.attention`, `${layer}.attention_residual`];
      const normed = keep(`${residual}.norm`, this.#norm(x, `${residual}.norm`));
      const narrow = (width / heads) * shared;
      const project = (one) => keep(`${inside}.${one}`, this.#times(normed, `${inside}.w_${one}`));
      const turned = (one, wide) => keep(`${inside}.${one}_turned`, this.#turned(project(one), wide, first));
      const [q, k] = [turned("q", width), turned("k", narrow)];
      kept.k.push(...k);
      kept.v.push(...rowsOf(project("v"), narrow));
      const seen = q.map((query, r) => attend(query, kept.k.slice(0, first + r + 1), kept.v, heads));
      for (const { z } of seen) for (const head of kept.silenced) z.fill(0, (head * width) / heads, ((head + 1) * width) / heads);
      const weights = keep(`${inside}.weights`, seen.map((one) => one.weights));
      const mixed = keep(`${inside}.mixed`, stacked(seen.map(({ z }) => z)));
      x = keep(residual, add(x, keep(`${inside}.out`, this.#times(mixed, `${inside}.w_o`))));
      x = this.#feedForward(x, layer, keep);
      states.push(rowsOf(x, width));
      return { q, k, weights };
    });
    const read = keep("decoder.norm", this.#norm(all ? x : x.subarray(x.length - width), "decoder.norm"));
    return { logits: this.#times(read, "embedder.tokens.table"), layers, states };
  }
}
