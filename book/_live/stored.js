// What the pages of the models show before a model is loaded: scripts/pack_live.py wrote it. Weights stand in hundredths, a
// character each; numbers of a vector in 45ths of the largest.

const FIRST = 35; // the character of 0
const LEVELS = 45;

/** Reads weights in their order: for each layer, rows of all heads side by side; a row `t` has `columnsOf(t)` columns. */
function reader({ weights, layers, heads }) {
  let place = 0;
  return (count, columnsOf) => Array.from({ length: layers }, () => {
    const made = Array.from({ length: count }, (_, t) => new Float32Array(heads * columnsOf(t)));
    for (let n = 0; n < heads; n += 1) {
      for (let t = 0; t < count; t += 1) {
        for (let s = 0; s < columnsOf(t); s += 1, place += 1) made[t][n * columnsOf(t) + s] = (weights.charCodeAt(place) - FIRST) / 100;
      }
    }
    return made;
  });
}

/** Of each token its vectors in the residual stream, before the first layer and after each. */
function streams({ states: { largest, text }, layers }) {
  const width = text.length / largest.length;
  const vectors = largest.map((most, n) => Float32Array.from({ length: width }, (_, i) => ((text.charCodeAt(n * width + i) - FIRST - LEVELS) / LEVELS) * most));
  return Array.from({ length: largest.length / (layers + 1) }, (_, t) => vectors.slice(t * (layers + 1), (t + 1) * (layers + 1)));
}

const pairs = (list) => list.map(([token, p]) => ({ token, p }));
/** Candidates of a step, with ids that say which was chosen. */
const known = (list, token) => pairs(list).map((each, i) => ({ ...each, id: each.token === token ? 0 : i + 1, drawn: null }));

/** The translation, as the worker's messages make one, without queries and keys; null where none is stored. */
export function stored() {
  const record = globalThis.softlookupFirst;
  if (!record) return null;
  const { text, tokens, heads, layers, steps } = record;
  const [rows, states] = [reader(record), streams(record)];
  const encoder = rows(tokens.length, () => tokens.length);
  const self = rows(steps.length, (t) => t + 1);
  const cross = rows(steps.length, () => tokens.length);
  return {
    text, stored: true, tree: null, best: null, done: true,
    source: { tokens, heads, unknown: [], splintered: [], layers: encoder.map((layer) => ({ weights: layer })), states: Array.from({ length: layers + 1 }, (_, l) => tokens.map((_, t) => states[t][l])) },
    steps: steps.map(({ fed, token, candidates, lens }, t) => ({
      fed, token, id: 0, lens: pairs(lens), states: states[tokens.length + t], candidates: known(candidates, token),
      layers: encoder.map((_, l) => ({ self: { weights: self[l][t] }, cross: { weights: cross[l][t] } })),
    })),
  };
}

/** The language model's text, in the same way. */
export function storedText() {
  const record = globalThis.softlookupText;
  const { text, tokens, heads, layers, steps } = record;
  const [weights, states] = [reader(record)(tokens.length + steps.length - 1, (t) => t + 1), streams(record)];
  const own = (list, from, to) => list.map((layer) => ({ weights: layer.slice(from, to) }));
  const stream = (from, to) => Array.from({ length: layers + 1 }, (_, l) => states.slice(from, to).map((each) => each[l]));
  const count = tokens.length;
  return {
    text, stored: true, done: true,
    source: { tokens, heads, unknown: [], layers: own(weights, 0, count), states: stream(0, count) },
    // The first step computed nothing of its own: its token came from the last of the prompt.
    steps: steps.map(({ fed, token, candidates }, t) => ({
      fed, token, id: 0, candidates: known(candidates, token), layers: own(weights, count + t - 1, count + t), states: stream(count + t - 1, count + t),
    })),
  };
}
