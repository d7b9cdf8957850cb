// Line ends as tokens: softlookup.text.lines.

export const LINE_END = "▁↵";

/** A text with its line ends as signs, which the tokenizer keeps. */
export const marked = (text) => text.replace(/\r?\n/g, " ↵ ");

/** Tokens as a text with line ends. */
export const textOf = (tokens) => tokens.join("").replaceAll("▁", " ").replace(/^ /, "").replace(/ ?↵ ?/g, "\n");
