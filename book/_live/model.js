// The translator's forward pass: softlookup.model.Transformer with the parts that it ships with (layer norm before each
// sublayer, ReLU, sinusoidal positions, one table for both languages and the logits). It keeps what a reader may look at.

import { add, attend, layerNorm, product, rowsOf, stacked } from "./numbers.js";

export class Transformer {
  constructor(config, tensors) {
    this.config = config;
    this.tensors = tensors;
    this.layers = Array.from({ length: config.n_layers }, (_, i) => i);
  }

  /** x through one of the matrices; rows are as many as x has. */
  #times(x, name, bias = null) {
    const matrix = this.tensors.get(name);
    return product(x, x.length / matrix.ins, matrix, bias && this.tensors.get(bias));
  }

  #norm(x, name) {
    const [gain, shift] = ["gain", "shift"].map((one) => this.tensors.get(`${name}.${one}`));
    return layerNorm(x, x.length / gain.length, gain, shift, this.config.norm_eps);
  }

  #feedForward(x, layer) {
    const normed = this.#norm(x, `${layer}.feed_forward_residual.norm`);
    const hidden = this.#times(normed, `${layer}.feed_forward.w_1`, `${layer}.feed_forward.b_1`);
    return add(x, this.#times(hidden.map((one) => Math.max(0, one)), `${layer}.feed_forward.w_2`, `${layer}.feed_forward.b_2`));
  }

  /** A token's row of the table, scaled, and its position's sinusoids: sine and cosine in turn. */
  #embed(token, place) {
    const { data, scales, ins } = this.tensors.get("embedder.tokens.table");
    return Float32Array.from({ length: ins }, (_, i) => {
      const angle = place / 10000 ** ((i - (i % 2)) / ins);
      return data[token * ins + i] * scales[token] * Math.sqrt(ins) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    });
  }

  /**
   * The encoder. Of each layer it keeps queries, keys and weights; for the decoder, the keys and values of its output.
   * Without positions every token stands at position 0.
   */
  encode(ids, positions = true) {
    const { d_model: width, n_heads: heads } = this.config;
    let x = stacked(ids.map((token, place) => this.#embed(token, positions ? place : 0)));
    const layers = this.layers.map((i) => {
      const layer = `encoder.layers.${i}`;
      const normed = this.#norm(x, `${layer}.attention_residual.norm`);
      const [q, k, v] = ["q", "k", "v"].map((one) => rowsOf(this.#times(normed, `${layer}.attention.w_${one}`), width));
      const seen = q.map((query) => attend(query, k, v, heads));
      x = add(x, this.#times(stacked(seen.map(({ z }) => z)), `${layer}.attention.w_o`));
      x = this.#feedForward(x, layer);
      return { q, k, weights: seen.map(({ weights }) => weights) };
    });
    const memory = this.#norm(x, "encoder.norm");
    const cross = this.layers.map((i) => {
      const [k, v] = ["k", "v"].map((one) => rowsOf(this.#times(memory, `decoder.layers.${i}.cross_attention.w_${one}`), width));
      return { k, v };
    });
    return { layers, cross };
  }

  /**
   * One step of the decoder for several texts at once. Each is the node of the token before (null at the beginning) and the
   * newest token. A node keeps the keys and values of its own token and finds earlier ones through its parents: this is
   * the KV cache, and texts that begin alike share it.
   */
  step(source, texts) {
    const heads = this.config.n_heads;
    const nodes = texts.map(({ parent, token }) => {
      const path = parent ? [...parent.path] : [];
      const node = { token, parent, path, layers: [], states: [] };
      path.push(node);
      return node;
    });
    let x = stacked(nodes.map(({ token, path }) => this.#embed(token, path.length - 1)));
    for (const i of this.layers) {
      const layer = `decoder.layers.${i}`;
      const look = (kind, residual, keysOf) => {
        const normed = this.#norm(x, `${layer}.${residual}.norm`);
        const project = (one) => rowsOf(this.#times(normed, `${layer}.${kind}.w_${one}`), this.config.d_model);
        const q = project("q");
        const pairs = keysOf(project);
        const seen = q.map((query, n) => attend(query, pairs[n].k, pairs[n].v, heads));
        x = add(x, this.#times(stacked(seen.map(({ z }) => z)), `${layer}.${kind}.w_o`));
        return seen.map(({ weights }, n) => ({ q: q[n], weights }));
      };
      const self = look("attention", "attention_residual", (project) => {
        const [k, v] = [project("k"), project("v")];
        nodes.forEach((node, n) => { node.layers[i] = { k: k[n], v: v[n] }; });
        return nodes.map(({ path }) => ({ k: path.map((one) => one.layers[i].k), v: path.map((one) => one.layers[i].v) }));
      });
      const cross = look("cross_attention", "cross_residual", () => nodes.map(() => source.cross[i]));
      nodes.forEach((node, n) => Object.assign(node.layers[i], { self: self[n], cross: cross[n] }));
      x = this.#feedForward(x, layer);
      rowsOf(x, this.config.d_model).forEach((row, n) => nodes[n].states.push(row));
    }
    this.logits(x).forEach((row, n) => { nodes[n].logits = row; });
    return nodes;
  }

  /** Logits of the decoder's states, a row each. Those of an earlier layer's states are the logit lens. */
  logits(states) {
    const table = "embedder.tokens.table";
    return rowsOf(this.#times(this.#norm(states, "decoder.norm"), table), this.tensors.get(table).outs);
  }
}
