// A model's tokenizer: the cuts of softlookup.text, in the figure of chapter 3's own code.

import { index, splitPieces, steps } from "../../lib/course/softlookup_course/widgets/tokenizer.js";

const SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"];
const [PAD, UNKNOWN, START, END] = SPECIALS.keys();
const SHOWN = ["(padding)", "(unknown)", "(start)", "(end)"]; // how a page names them

export class Tokenizer {
  constructor({ alphabet, merges }) {
    const learned = { specials: SPECIALS, alphabet: [...alphabet], merges, words: null, characters: null };
    this.table = index(learned);
    this.count = merges.length;
    this.names = [...SHOWN, ...[...this.table.ids.keys()].slice(SPECIALS.length)];
  }

  #cut(text) {
    return splitPieces(text).flatMap((piece) => steps(piece, this.table, this.count).at(-1).symbols);
  }

  /** What of a text has no token, each once. */
  unknown(text) {
    return [...new Set(this.#cut(text).filter((token) => !this.table.ids.has(token)).map((token) => token.replace("▁", "")))];
  }

  /** The words of a text that fall into three pieces or more of fewer than three letters each: hardly met in training. */
  splintered(text) {
    return splitPieces(text).filter((piece) => {
      const many = this.#cut(piece.replaceAll("▁", " ").trim()).length;
      return many > 2 && (piece.match(/\p{L}/gu) ?? []).length < 3 * many;
    }).map((piece) => piece.replaceAll("▁", ""));
  }

  /** The ids of a text, the end token last or not. */
  encode(text, end = true) {
    return [...this.#cut(text).map((token) => this.table.ids.get(token) ?? UNKNOWN), ...(end ? [END] : [])];
  }

  decode(ids) {
    const words = ids.filter((id) => id !== PAD && id !== START && id !== END).map((id) => this.names[id]);
    return words.join("").replaceAll("▁", " ").replace(/^ /, "");
  }
}
