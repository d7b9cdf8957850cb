// Writing: greedy, sampled, and by beam search, as softlookup.model.generate and beam_search do it.

import { logSoftmax } from "./numbers.js";

/** The softmax of logits over a temperature. */
export const probabilities = (logits, temperature) => logSoftmax(logits.map((one) => one / temperature)).map(Math.exp);

const argmax = (values) => values.reduce((best, one, i) => (one > values[best] ? i : best), 0);

/** The token on whose stretch of the line from 0 to 1 the number falls. */
export function pick(p, uniform) {
  let point = uniform * p.reduce((sum, one) => sum + one, 0);
  const found = p.findIndex((one) => (point -= one) < 0);
  return found < 0 ? p.findLastIndex((one) => one > 0) : found;
}

/** One token at a time; `wrote` is given each node and the token that was chosen after it. */
export function generate(model, source, { limit, temperature = 0, uniform = Math.random }, wrote) {
  const { start_id: start, end_id: end } = model.config;
  let [parent, token] = [null, start];
  for (let length = 1; length <= limit; length += 1) {
    [parent] = model.step(source, [{ parent, token }]);
    token = temperature === 0 ? argmax(parent.logits) : pick(probabilities(parent.logits, temperature), uniform());
    wrote(parent, token);
    if (token === end) return;
  }
}

/** The places of the largest numbers, largest first; of equal ones the first comes first. */
export function largest(values, count) {
  const found = [];
  values.forEach((one, i) => {
    if (one === -Infinity || (found.length === count && one <= values[found.at(-1)])) return;
    let place = found.length;
    while (place > 0 && one > values[found[place - 1]]) place -= 1;
    found.splice(place, 0, i);
    found.length = Math.min(found.length, count);
  });
  return found;
}

const ROUNDING = 4 * 2 ** -23; // a mass that misses top-p by less has reached it, as in the library

/** Probabilities of the next token after temperature, then top-k, then top-p; what is cut has none. Null cuts nothing. */
export function cut(logits, { temperature, topK, topP }) {
  const only = (p, ids) => {
    const sum = ids.reduce((all, id) => all + p[id], 0);
    const kept = new Float64Array(p.length);
    for (const id of ids) kept[id] = p[id] / sum;
    return kept;
  };
  const wanted = temperature === 0 ? 1 : topK;
  let p = probabilities(logits, temperature || 1);
  if (wanted !== null) p = only(p, largest(p, wanted));
  if (topP === null || topP >= 1) return p;
  const kept = [];
  let before = 0;
  for (const id of [...p.keys()].sort((a, b) => p[b] - p[a] || a - b)) {
    if (kept.length && before >= topP - ROUNDING) break;
    kept.push(id);
    before += p[id];
  }
  return only(p, kept);
}

export const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/**
 * Beam search; `grew` is given each step. Returns the steps, in each what was kept, likeliest first: {token, parent (its
 * place in the step before), total, ended, score, before (the node that it continues)}; and the best that has ended, as
 * [step, place]. Totals are rounded to float32 as the library's are.
 */
export function beamSearch(model, source, { limit, beams, alpha }, grew) {
  const { start_id: start, end_id: end } = model.config;
  const steps = [];
  let open = [{ place: 0, total: 0, parent: null, token: start }];
  let best = null;
  for (let length = 1; length <= limit; length += 1) {
    const nodes = model.step(source, open);
    const candidates = nodes.flatMap((node, n) => {
      const p = logSoftmax(node.logits);
      return largest(p, beams).map((token) => {
        const total = Math.fround(Math.fround(p[token]) + open[n].total);
        const ended = token === end || length === limit;
        return { token, parent: open[n].place, total, ended, score: ended ? total / penalty(length, alpha) : null, before: node };
      });
    });
    const kept = largest(candidates.map(({ total }) => total), beams).map((i) => candidates[i]);
    steps.push(kept);
    grew(kept);
    kept.forEach(({ ended, score }, place) => {
      if (ended && (best === null || score > best.score)) best = { score, at: [length - 1, place] };
    });
    const likeliest = kept.find(({ ended }) => !ended);
    // Totals only fall: no open text can reach more than this.
    if (!likeliest || (best !== null && likeliest.total / penalty(limit, alpha) <= best.score)) break;
    open = kept.flatMap((one, place) => (one.ended ? [] : [{ place, total: one.total, parent: one.before, token: one.token }]));
  }
  return { steps, best: best.at };
}

/** The kept ones that lead to one, the first step first. */
export function pathTo(steps, [step, place]) {
  const path = [];
  for (let s = step, at = place; s >= 0; s -= 1) {
    path.unshift(steps[s][at]);
    at = steps[s][at].parent;
  }
  return path;
}
