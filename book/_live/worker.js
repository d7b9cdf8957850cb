// Runs the translator in a worker; see serving.js. In: {translate: {text, how}}. Out: {read}, {grew} for each step of a
// beam search, then {wrote} for each token of the translation. Or in: {score: {text, target}}; the result is a row for each label.
// Or {trail: {ids, written, side, at}}: what a token computes on its way; or {row: {tensor, row}}: a row of a matrix.

import { beamSearch, generate, largest, pathTo, probabilities } from "./decoding.js";
import { Transformer } from "./model.js";
import { logSoftmax, stacked } from "./numbers.js";
import { candidatesOf, serve } from "./serving.js";
import { Tokenizer } from "./tokens.js";
import { rowOf, translatorTrail } from "./trail.js";

const SHOWN = 8; // candidates of a step

let model, tokenizer;

/** A step for the page: the token that was read and the one that was chosen, the likeliest candidates, and all that led to them. */
function record(node, token, { temperature = 0, lens = false }) {
  const p = probabilities(node.logits, 1);
  const drawn = temperature ? probabilities(node.logits, temperature) : null;
  const candidates = candidatesOf(largest(p, SHOWN), token, tokenizer.names, p, drawn);
  return { fed: tokenizer.names[node.token], id: token, token: tokenizer.names[token], candidates, logits: node.logits, layers: node.layers, states: node.states, lens: lens && lensOf(node) };
}

/** The likeliest token of the residual stream after each layer: softlookup.looking_inside.logit_lens. */
const lensOf = ({ states }) => model.logits(stacked(states.slice(1))).map((logits) => {
  const p = probabilities(logits, 1);
  const [id] = largest(p, 1);
  return { token: tokenizer.names[id], p: p[id] };
});

/** What a step of the beam search kept, for the page. */
const named = (kept) => kept.map(({ token, parent, total, ended, score }) => ({ token, parent, total, ended, score, name: tokenizer.names[token] }));

/** The ids of a sentence that the model can take. */
function read(text, language) {
  const ids = tokenizer.encode(text);
  const most = model.config.max_length;
  if (ids.length === 1) throw new Error(`There is no word in the box. Type ${language === "English" ? "an" : "a"} ${language} sentence, then press the button.`);
  if (ids.length > most) throw new Error(`The ${language} sentence has ${ids.length} tokens, and the model takes ${most}. Shorten it.`);
  return ids;
}

function translate({ text, how }, say) {
  const ids = read(text, "English");
  const most = model.config.max_length;
  const source = model.encode(ids, how.positions);
  const limit = Math.min(most - 1, 2 * ids.length + 10);
  say({ read: { ids, unknown: tokenizer.unknown(text), splintered: tokenizer.splintered(text), tokens: ids.map((id) => tokenizer.names[id]), layers: source.layers, states: source.states, cross: source.cross.map(({ k }) => k), heads: model.config.n_heads } });
  if (how.beams > 1) {
    const { steps, best } = beamSearch(model, source, { limit, ...how }, (kept) => say({ grew: named(kept) }));
    const path = pathTo(steps, best);
    path.forEach(({ before, token }) => say({ wrote: record(before, token, { ...how, temperature: 0 }) }));
    return { text: tokenizer.decode(path.map(({ token }) => token)), best };
  }
  const written = [];
  generate(model, source, { limit, temperature: how.temperature, uniform: how.uniforms && (() => how.uniforms[written.length]) }, (node, token) => {
    written.push(token);
    say({ wrote: record(node, token, how) });
  });
  return { text: tokenizer.decode(written), best: null };
}

/** How probable the model finds each token of a translation, given those before it. */
function score({ text, target }) {
  const source = model.encode(read(text, "English"));
  const labels = read(target, "French");
  let [parent, token] = [null, model.config.start_id];
  return labels.map((label) => {
    [parent] = model.step(source, [{ parent, token }]);
    token = label;
    const logs = logSoftmax(parent.logits);
    const [best] = largest(logs, 1);
    return { label: tokenizer.names[label], p: Math.exp(logs[label]), loss: -logs[label], likeliest: tokenizer.names[best], highest: Math.exp(logs[best]) };
  });
}

serve((header, tensors) => {
  model = new Transformer(header.config, tensors);
  tokenizer = new Tokenizer(header);
}, (request, say) => {
  if (request.score) return score(request.score);
  if (request.trail) return { ...translatorTrail(model, tokenizer.names, request.trail), ...model.config };
  if (request.row) return rowOf(model, request.row);
  return translate(request.translate, say);
});
