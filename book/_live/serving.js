// What both workers share. In: {begin: {header, text}} once, then requests; a number each.
// Out: {number, ...} as the work says, then {number, done} or {number, failed}.

import { unzipped } from "../_python/unzip.js";
import { unpack } from "./weights.js";

/** `begin(header, tensors)` makes the model; `answer(request, say)` gives the result, or a promise of it. */
export function serve(begin, answer) {
  onmessage = async ({ data: { number, begin: given, ...request } }) => {
    const say = (message) => postMessage({ number, ...message });
    try {
      if (given) begin(given.header, await unpack(given.header, given.text, unzipped));
      say({ done: given ? true : await answer(request, say) });
    } catch (error) {
      say({ failed: String(error.message || error) });
    }
  };
}

/** The likeliest tokens of a step and, behind them, the one that was chosen: the model's probability, and that of the draw. */
export function candidatesOf(ids, token, names, p, drawn) {
  const shown = ids.includes(token) ? ids : [...ids, token];
  return shown.map((id) => ({ id, token: names[id], p: p[id], drawn: drawn && drawn[id] }));
}
