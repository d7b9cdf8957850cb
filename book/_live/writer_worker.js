// Runs the language model in a worker. In: {write: {text, how}}, and {stop: true} while it writes. Out: {read}, then
// {wrote} for each token; see serving.js.

import { cut, largest, pick, probabilities } from "./decoding.js";
import { LanguageModel } from "./language_model.js";
import { marked, textOf } from "./lines.js";
import { candidatesOf, serve } from "./serving.js";
import { Tokenizer } from "./tokens.js";

const SHOWN = 12; // candidates of a step

let model, tokenizer;
let running = 0; // the run that may go on: a stop, or another run, makes it another

/** Lets a waiting message in. */
const pause = () => new Promise((done) => { setTimeout(done, 0); });

/** A step for the page: the token that was read and the one that was chosen, the candidates, and all that led to them. */
function record(fed, token, { logits, layers }, drawn) {
  const p = probabilities(logits, 1);
  const kept = [...drawn.keys()].filter((id) => drawn[id] > 0);
  return {
    fed: tokenizer.names[fed], id: token, token: tokenizer.names[token], logits, layers,
    candidates: candidatesOf(largest(p, SHOWN), token, tokenizer.names, p, drawn),
    kept: { count: kept.length, of: p.length, mass: kept.reduce((sum, id) => sum + p[id], 0) },
  };
}

async function write({ text, how }, say) {
  const ids = tokenizer.encode(marked(text), false);
  const most = model.config.max_length;
  if (!ids.length) throw new Error("There is no word in the box. Type the beginning of a text, then press Write on.");
  if (ids.length > most) throw new Error(`The text has ${ids.length} tokens, and the model takes ${most}. Shorten it.`);
  running += 1;
  const mine = running;
  const cache = model.start();
  let found = model.step(ids, cache);
  say({ read: { ids, tokens: ids.map((id) => tokenizer.names[id]), layers: found.layers, heads: model.config.n_heads } });
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

serve((header, tensors) => {
  model = new LanguageModel(header.config, tensors);
  tokenizer = new Tokenizer(header);
}, (request, say) => {
  if (!request.stop) return write(request.write, say);
  running += 1;
  return true;
});
