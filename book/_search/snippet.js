// Two lines of a section around what was asked for, with marks.
import { tokens } from "./words.js";

const LENGTH = 210;

/** Places in a text that a query's terms fit: [from, to, term], in order. */
export function hits(text, terms, names) {
  const list = tokens(text);
  const found = list.filter(({ word }) => terms.has(word)).map(({ word, from, to }) => [from, to, word]);
  for (const [at, many, sign] of names.in(list.map(({ word }) => word))) {
    if (terms.has(sign)) {
      found.push([list[at].from, list[at + many - 1].to, sign]);
    }
  }
  return found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
}

/** The part of a text that has most of the terms: its text, cut at words, and what is marked in it. */
export function snippet(text, terms, names) {
  const all = hits(text, terms, names);
  const value = (from) => new Set(all.filter(([at, to]) => at >= from && to <= from + LENGTH).map(([, , term]) => term)).size;
  const best = all.reduce((most, [from]) => (value(from) > value(most) ? from : most), all[0]?.[0] ?? 0);
  const sentence = text.lastIndexOf(". ", best) + 1;
  let from = best - sentence < LENGTH / 3 ? sentence : text.lastIndexOf(" ", Math.max(best - 30, 0));
  from = Math.max(from, 0);
  const end = from + LENGTH < text.length ? text.lastIndexOf(" ", from + LENGTH) : text.length;
  const cut = (at) => Math.min(Math.max(at, from), end) - from;
  return {
    text: text.slice(from, end),
    marks: all.filter(([at, to]) => at >= from && to <= end).map(([at, to]) => [cut(at), cut(to)]),
    begins: from === 0,
    ends: end === text.length,
  };
}
