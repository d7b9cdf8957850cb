// The translation that the page shows before the model is loaded: scripts/pack_live.py wrote it. Weights stand in
// hundredths, a character each.

const FIRST = 35; // the character of 0

/** The stored run, as the worker's messages make one, without queries and keys; null where none is stored. */
export function stored() {
  const record = globalThis.softlookupFirst;
  if (!record) return null;
  const { text, tokens, heads, layers, steps, weights } = record;
  let place = 0;
  const rows = (count, columnsOf) => Array.from({ length: layers }, () => {
    const made = Array.from({ length: count }, (_, t) => new Float32Array(heads * columnsOf(t)));
    for (let n = 0; n < heads; n += 1) {
      for (let t = 0; t < count; t += 1) {
        for (let s = 0; s < columnsOf(t); s += 1, place += 1) made[t][n * columnsOf(t) + s] = (weights.charCodeAt(place) - FIRST) / 100;
      }
    }
    return made;
  });
  const encoder = rows(tokens.length, () => tokens.length);
  const self = rows(steps.length, (t) => t + 1);
  const cross = rows(steps.length, () => tokens.length);
  const pairs = (list) => list.map(([token, p]) => ({ token, p }));
  return {
    text, stored: true, tree: null, best: null, done: true,
    source: { tokens, heads, unknown: [], splintered: [], layers: encoder.map((layer) => ({ weights: layer })) },
    steps: steps.map(({ fed, token, candidates, lens }, t) => ({
      fed, token, id: 0, lens: pairs(lens),
      candidates: pairs(candidates).map((each, i) => ({ ...each, id: each.token === token ? 0 : i + 1, drawn: null })),
      layers: encoder.map((_, l) => ({ self: { weights: self[l][t] }, cross: { weights: cross[l][t] } })),
    })),
  };
}
