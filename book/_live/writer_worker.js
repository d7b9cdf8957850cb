// Runs the language model in a worker; see serving.js. In: {write: {text, how}}, and {stop: true} while it writes; out:
// {read}, then {wrote} for each token. In: {without: {text, silenced, tokens}}; or {each: {text}}, out: {head} for each.
// Or {trail: {ids}}: what the last of the tokens computes on its way; or {row: {tensor, row}}: a row of a matrix.

import { cut, largest, pick, probabilities } from "./decoding.js";
import { LanguageModel } from "./language_model.js";
import { marked, textOf } from "./lines.js";
import { logSoftmax, rowsOf } from "./numbers.js";
import { candidatesOf, serve } from "./serving.js";
import { Tokenizer } from "./tokens.js";
import { rowOf, writerTrail } from "./trail.js";

const SHOWN = 12; // candidates of a step

let model, tokenizer;
let running = 0; // the run that may go on: a stop, or another run, makes it another

/** Lets a waiting message in. */
const pause = () => new Promise((done) => { setTimeout(done, 0); });

/** A step for the page: the token that was read and the one that was chosen, the candidates, and all that led to them. */
function record(fed, token, { logits, layers, states }, drawn) {
  const p = probabilities(logits, 1);
  return {
    fed: tokenizer.names[fed], id: token, token: tokenizer.names[token], logits, layers, states,
    candidates: candidatesOf(largest(p, SHOWN), token, tokenizer.names, p, drawn),
  };
}

/** The tokens of a text that the model can take: between `least` and `most`. */
function read(text, least, most, short) {
  const ids = tokenizer.encode(marked(text), false);
  if (ids.length < least) throw new Error(short);
  if (ids.length > most) throw new Error(`The text has ${ids.length} tokens, and the model takes ${most}. Shorten it.`);
  return ids;
}

async function write({ text, how }, say) {
  const most = model.config.max_length;
  const ids = read(text, 1, most, "There is no word in the box. Type the beginning of a text, then press Write on.");
  running += 1;
  const mine = running;
  const cache = model.start();
  let found = model.step(ids, cache);
  say({ read: { ids, unknown: tokenizer.unknown(marked(text)), tokens: ids.map((id) => tokenizer.names[id]), layers: found.layers, states: found.states, heads: model.config.n_heads } });
  const limit = Math.min(how.tokens, most + 1 - ids.length); // the last token that is written is never read
  const written = [];
  while (written.length < limit && running === mine) {
    const drawn = cut(found.logits, how);
    const token = pick(drawn, how.uniforms[written.length]);
    say({ wrote: record(written.at(-1) ?? ids.at(-1), token, found, drawn) });
    written.push(token);
    if (written.length < limit) found = model.step([token], cache);
    await pause();
  }
  return { text: textOf([...ids, ...written].map((id) => tokenizer.names[id])), full: ids.length + written.length > most };
}

/** A text's tokens, their mean loss while some heads are silenced, the logits after the last, and the cache. */
function scored(text, silenced, room = 0) {
  const ids = read(text, 2, model.config.max_length - room, "The loss takes at least two tokens. Type more of a text.");
  const cache = model.start(silenced);
  const { logits } = model.step(ids, cache, true);
  const rows = rowsOf(logits, logits.length / ids.length);
  const loss = -ids.slice(1).reduce((sum, id, t) => sum + logSoftmax(rows[t])[id], 0) / (ids.length - 1);
  return { ids, loss, logits: rows.at(-1), cache };
}

/** A text's loss, the next token's probabilities and the likeliest tokens that follow, while some heads are silenced. */
function without({ text, silenced, tokens }) {
  const { ids, loss, logits, cache } = scored(text, silenced, tokens);
  const p = probabilities(logits, 1);
  let [next] = largest(p, 1);
  const written = [next];
  while (written.length < tokens) {
    [next] = largest(model.step([next], cache).logits, 1);
    written.push(next);
  }
  const prompt = textOf(ids.map((id) => tokenizer.names[id]));
  return { loss, p, names: tokenizer.names, prompt, text: textOf([...ids, ...written].map((id) => tokenizer.names[id])), layers: model.config.n_layers, heads: model.config.n_heads };
}

/** The loss of a text while each head alone is silenced. */
async function each({ text }, say) {
  running += 1;
  const mine = running;
  for (let layer = 0; layer < model.config.n_layers; layer += 1) {
    for (let head = 0; head < model.config.n_heads && running === mine; head += 1) {
      say({ head: { layer, head, loss: scored(text, [[layer, head]]).loss } });
      await pause();
    }
  }
  return running === mine;
}

serve((header, tensors) => {
  model = new LanguageModel(header.config, tensors);
  tokenizer = new Tokenizer(header);
}, (request, say) => {
  if (request.write) return write(request.write, say);
  if (request.without) return without(request.without);
  if (request.each) return each(request.each, say);
  if (request.trail) return { ...writerTrail(model, tokenizer.names, request.trail), ...model.config, rms: true };
  if (request.row) return rowOf(model, request.row);
  running += 1;
  return true;
});
