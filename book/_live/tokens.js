// A model's tokenizer: the cuts of softlookup.text, in the figure of chapter 3's own code.

import { index, splitPieces, steps } from "../../lib/softlookup/widgets/tokenizer.js";

const SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"];
const [PAD, UNKNOWN, START, END] = SPECIALS.keys();

export class Tokenizer {
  constructor({ alphabet, merges }) {
    const learned = { specials: SPECIALS, alphabet: [...alphabet], merges, words: null, characters: null };
    this.table = index(learned);
    this.count = merges.length;
    this.names = [...this.table.ids.keys()];
  }

  /** The ids of a text, the end token last or not. */
  encode(text, end = true) {
    const tokens = splitPieces(text).flatMap((piece) => steps(piece, this.table, this.count).at(-1).symbols);
    return [...tokens.map((token) => this.table.ids.get(token) ?? UNKNOWN), ...(end ? [END] : [])];
  }

  decode(ids) {
    const words = ids.filter((id) => id !== PAD && id !== START && id !== END).map((id) => this.names[id]);
    return words.join("").replaceAll("▁", " ").replace(/^ /, "");
  }
}
