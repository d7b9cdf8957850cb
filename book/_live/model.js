// The translator's forward pass: softlookup.model.Transformer with the parts that it ships with (layer norm before each
// sublayer, ReLU, sinusoidal positions, one table for both languages and the logits). It keeps what a reader may look at.

import { add, attend, layerNorm, product, rowsOf, stacked } from "./numbers.js";

/** Who wants to know what is computed on the way hears its name and the rows: an array of rows, or all of them in one. */
const unheard = (name, rows) => rows;

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

  #feedForward(x, layer, keep) {
    const [inside, residual] = [`${layer}.feed_forward`, `${layer}.feed_forward_residual`];
    const normed = keep(`${residual}.norm`, this.#norm(x, `${residual}.norm`));
    const hidden = keep(`${inside}.hidden`, this.#times(normed, `${inside}.w_1`, `${inside}.b_1`).map((one) => Math.max(0, one)));
    return keep(residual, add(x, keep(`${inside}.out`, this.#times(hidden, `${inside}.w_2`, `${inside}.b_2`))));
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
   * The encoder. Of each layer it keeps queries, keys, values and weights, and of the residual stream the states before the
   * first and after each layer; for the decoder, the keys and values of its output. Without positions every token stands
   * at position 0.
   */
  encode(ids, positions = true, keep = unheard) {
    const { d_model: width, n_heads: heads } = this.config;
    let x = stacked(ids.map((token, place) => this.#embed(token, positions ? place : 0)));
    const states = [keep("embedder", x)];
    const layers = this.layers.map((i) => {
      const layer = `encoder.layers.${i}`;
      const [inside, residual] = [`${layer}.attention`, `${layer}.attention_residual`];
      const normed = keep(`${residual}.norm`, this.#norm(x, `${residual}.norm`));
      const [q, k, v] = ["q", "k", "v"].map((one) => rowsOf(keep(`${inside}.${one}`, this.#times(normed, `${inside}.w_${one}`)), width));
      const seen = q.map((query) => attend(query, k, v, heads));
      const weights = keep(`${inside}.weights`, seen.map((one) => one.weights));
      const mixed = keep(`${inside}.mixed`, stacked(seen.map(({ z }) => z)));
      x = keep(residual, add(x, keep(`${inside}.out`, this.#times(mixed, `${inside}.w_o`))));
      x = this.#feedForward(x, layer, keep);
      states.push(x);
      return { q, k, v, weights };
    });
    const memory = keep("encoder.norm", this.#norm(x, "encoder.norm"));
    const cross = this.layers.map((i) => {
      const [k, v] = ["k", "v"].map((one) => rowsOf(this.#times(memory, `decoder.layers.${i}.cross_attention.w_${one}`), width));
      return { k, v };
    });
    return { layers, cross, states: states.map((state) => rowsOf(state, width)) };
  }

  /**
   * One step of the decoder for several texts at once. Each is the node of the token before (null at the beginning) and the
   * newest token. A node keeps the keys and values of its own token and finds earlier ones through its parents: this is
   * the KV cache, and texts that begin alike share it.
   */
  step(source, texts, keep = unheard) {
    const heads = this.config.n_heads;
    const nodes = texts.map(({ parent, token }) => {
      const path = parent ? [...parent.path] : [];
      const node = { token, parent, path, layers: [], states: [] };
      path.push(node);
      return node;
    });
    let x = keep("embedder", stacked(nodes.map(({ token, path }) => this.#embed(token, path.length - 1))));
    rowsOf(x, this.config.d_model).forEach((row, n) => nodes[n].states.push(row));
    for (const i of this.layers) {
      const layer = `decoder.layers.${i}`;
      const look = (kind, residual, keysOf) => {
        const inside = `${layer}.${kind}`;
        const normed = keep(`${layer}.${residual}.norm`, this.#norm(x, `${layer}.${residual}.norm`));
        const project = (one) => rowsOf(keep(`${inside}.${one}`, this.#times(normed, `${inside}.w_${one}`)), this.config.d_model);
        const q = project("q");
        const pairs = keysOf(project);
        const seen = q.map((query, n) => attend(query, pairs[n].k, pairs[n].v, heads));
        keep(`${inside}.weights`, seen.map(({ weights }) => weights));
        const mixed = keep(`${inside}.mixed`, stacked(seen.map(({ z }) => z)));
        x = keep(`${layer}.${residual}`, add(x, keep(`${inside}.out`, this.#times(mixed, `${inside}.w_o`))));
        return seen.map(({ weights }, n) => ({ q: q[n], weights }));
      };
      const self = look("attention", "attention_residual", (project) => {
        const [k, v] = [project("k"), project("v")];
        nodes.forEach((node, n) => { node.layers[i] = { k: k[n], v: v[n] }; });
        return nodes.map(({ path }) => ({ k: path.map((one) => one.layers[i].k), v: path.map((one) => one.layers[i].v) }));
      });
      const cross = look("cross_attention", "cross_residual", () => nodes.map(() => source.cross[i]));
      nodes.forEach((node, n) => Object.assign(node.layers[i], { self: self[n], cross: cross[n] }));
      x = this.#feedForward(x, layer, keep);
      rowsOf(x, this.config.d_model).forEach((row, n) => nodes[n].states.push(row));
    }
    keep("decoder.norm", this.#norm(x, "decoder.norm"));
    this.logits(x).forEach((row, n) => { nodes[n].logits = row; });
    return nodes;
  }

  /** Logits of the decoder's states, a row each. Those of an earlier layer's states are the logit lens. */
  logits(states) {
    const table = "embedder.tokens.table";
    return rowsOf(this.#times(this.#norm(states, "decoder.norm"), table), this.tensors.get(table).outs);
  }
}
