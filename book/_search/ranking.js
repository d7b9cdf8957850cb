// Which sections answer a query, best first. Runs in a page and, for the tests, in node.
import MiniSearch from "minisearch";

import { distance, Names, tokens, words } from "./words.js";

/** Chapters before what repeats or applies them, and before what is written for others than learners. */
const KINDS = {
  chapter: 1,
  details: 0.75,
  guide: 0.55,
  slides: 0.5,
  glossary: 0.3,
  exercises: 0.3,
  reference: 0.25,
  instructors: 0.2,
};
/** By the level of the heading: the beginning of a page names all of its subjects, a subsection has one side of one. */
const LEVELS = [0, 0.75, 1, 0.85];
/** Sections that speak of everything in a chapter, and of nothing at length. */
const ROUND_UP = /^(questions with answers|summary|sources|all statements)$/i;
/** A section whose heading, or the part before its colon, says nothing else than the query. */
const WHOLE_TOPIC = 1.3;
/** A name of several words counts as one term; what its words add where they stand alone. */
const [NAME, LONG_NAME, WORD_OF_NAME] = [1.2, 1.6, 0.35];

export class Ranking {
  #known = new Map();
  #spelt = new Map();

  /** @param {object} record what book/_ext/search_index.py writes */
  constructor({ pages, sections, synonyms }) {
    this.pages = pages;
    this.sections = sections;
    this.names = new Names(synonyms);
    this.index = new MiniSearch({
      fields: ["title", "page", "text", "key"],
      tokenize: (text) => this.#terms(text),
      processTerm: (term) => term,
    });
  }

  /** Take in all sections, in portions, so that somebody who types meanwhile is not held up. */
  async filled() {
    const all = this.sections.map(([page, , level, title, text, key], id) => {
      return { id, title, text, key, page: level > 1 ? this.pages[page][1] : "" };
    });
    await this.index.addAllAsync(all, { chunkSize: 50 });
    return this;
  }

  /** Words of a text, and the signs of the names in it. */
  #terms(text) {
    const list = tokens(text).map(({ word, plain }) => {
      this.#spelt.set(word, plain);
      return word;
    });
    const all = [...list, ...this.names.in(list).map(([, , sign]) => sign)];
    new Set(all).forEach((one) => this.#known.set(one, (this.#known.get(one) ?? 0) + 1));
    return all;
  }

  /** The nearest word that the book has, or the word itself: if it has none, or the word may be unfinished. */
  #mended(word) {
    const all = [...this.#known.keys()].filter((one) => !one.startsWith("="));
    if (word.length < 4 || this.#knows(word) || all.some((one) => one.startsWith(word))) {
      return word;
    }
    const far = (one) => distance(word, one, word.length < 6 ? 1 : 2) + (one[0] === word[0] ? 0 : 0.5);
    const near = all.map((one) => [one, far(one)]).filter(([, steps]) => steps < Infinity);
    near.sort((a, b) => a[1] - b[1] || this.#known.get(b[0]) - this.#known.get(a[0]));
    return near[0]?.[0] ?? word;
  }

  /** What of a query no section has: each word as it was typed, with the nearest that the book has. */
  replaced(query) {
    return tokens(query)
      .map(({ word, plain }) => [plain, word, this.#mended(word)])
      .filter(([, word, nearest]) => nearest !== word)
      .map(([plain, , nearest]) => [plain, this.#spelt.get(nearest)]);
  }

  #rarity(term) {
    return Math.log(2 + this.sections.length / (1 + (this.#known.get(term) ?? 0)));
  }

  #knows(word) {
    return this.#known.has(word) || this.names.words.has(word);
  }

  /** What a query asks for: each term with its weight. */
  terms(query) {
    const list = words(query).map((word) => this.#mended(word));
    const weights = new Map(list.map((word) => [word, 1]));
    for (const [at, many, sign] of this.names.apart(list)) {
      list.slice(at, at + many).forEach((word) => weights.set(word, WORD_OF_NAME));
      weights.set(sign, many > 1 ? LONG_NAME : NAME);
    }
    return weights;
  }

  /** @returns {{section: number, score: number, terms: string[]}[]} best first */
  find(query) {
    const weights = this.terms(query);
    const asked = [...weights.keys()];
    const rare = new Map(asked.map((term) => [term, weights.get(term) * this.#rarity(term)]));
    const share = (terms) => terms.reduce((sum, term) => sum + rare.get(term), 0);
    const last = words(query).at(-1); // may be unfinished: results show while one types
    const found = this.index.search(query, {
      tokenize: () => asked,
      boost: { title: 5, key: 3, page: 0.8 },
      boostTerm: (term) => weights.get(term),
      prefix: (term) => term.length > 2 && !term.startsWith("=") && (term === last || !this.#knows(term)),
      weights: { prefix: 0.3 },
      boostDocument: (id) => this.#weight(this.sections[id]),
    });
    const topic = new Set(asked);
    return found
      .map(({ id, score, queryTerms, terms }) => {
        const covered = share(queryTerms) / share(asked);
        const whole = covered > 0.7 && this.#isWhole(this.sections[id][3], topic) ? WHOLE_TOPIC : 1;
        return { section: id, score: score * covered ** 1.5 * whole, terms };
      })
      .sort((a, b) => b.score - a.score);
  }

  #isWhole(title, topic) {
    const list = words(title.split(":")[0]);
    const named = new Set(this.names.in(list).flatMap(([at, many, sign]) => (topic.has(sign) ? list.slice(at, at + many) : [])));
    return list.length > 0 && list.every((word) => topic.has(word) || named.has(word));
  }

  #weight([page, , level, title]) {
    return KINDS[this.pages[page][2]] * (LEVELS[level] ?? LEVELS.at(-1)) * (ROUND_UP.test(title) ? 0.25 : 1);
  }
}
