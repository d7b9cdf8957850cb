// Runs the translator in a worker. In: {translate: {text, how}}. Out: {read}, then {wrote} for each token; see serving.js.

import { beamSearch, generate, largest, pathTo, probabilities } from "./decoding.js";
import { Transformer } from "./model.js";
import { candidatesOf, serve } from "./serving.js";
import { Tokenizer } from "./tokens.js";

const SHOWN = 8; // candidates of a step

let model, tokenizer;

/** A step for the page: the token that was read and the one that was chosen, the likeliest candidates, and all that led to them. */
function record(node, token, temperature = 0) {
  const p = probabilities(node.logits, 1);
  const drawn = temperature ? probabilities(node.logits, temperature) : null;
  const candidates = candidatesOf(largest(p, SHOWN), token, tokenizer.names, p, drawn);
  return { fed: tokenizer.names[node.token], id: token, token: tokenizer.names[token], candidates, logits: node.logits, layers: node.layers };
}

function translate({ text, how }, say) {
  const ids = tokenizer.encode(text);
  const most = model.config.max_length;
  if (ids.length === 1) throw new Error("There is no word in the box. Type an English sentence, then press Translate.");
  if (ids.length > most) throw new Error(`The sentence has ${ids.length} tokens, and the model takes ${most}. Shorten it.`);
  const source = model.encode(ids);
  const limit = Math.min(most - 1, 2 * ids.length + 10);
  say({ read: { ids, tokens: ids.map((id) => tokenizer.names[id]), layers: source.layers, cross: source.cross.map(({ k }) => k), heads: model.config.n_heads } });
  if (how.beams > 1) {
    const { steps, best } = beamSearch(model, source, { limit, ...how });
    const path = pathTo(steps, best);
    const tree = steps.map((kept) => kept.map(({ before, ...one }) => ({ ...one, name: tokenizer.names[one.token], after: before.token })));
    path.forEach(({ before, token }) => say({ wrote: record(before, token) }));
    return { text: tokenizer.decode(path.map(({ token }) => token)), tree, best };
  }
  const written = [];
  generate(model, source, { limit, temperature: how.temperature, uniform: how.uniforms && (() => how.uniforms[written.length]) }, (node, token) => {
    written.push(token);
    say({ wrote: record(node, token, how.temperature) });
  });
  return { text: tokenizer.decode(written), tree: null };
}

serve((header, tensors) => {
  model = new Transformer(header.config, tensors);
  tokenizer = new Tokenizer(header);
}, (request, say) => translate(request.translate, say));
