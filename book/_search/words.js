// Words as the search compares them: one spelling, one form, and one name for what has several.

const STOP = new Set(
  "a about am an and any are as at be been between but by can change changes could did difference different do does doing \
explain for from get go had happen happens has have how i if in into is it its me mean means my need needed of on or our \
s should so some than that the their them then there these they this those to use used using versus vs was we were what \
when where which while who why will with work works would you your".split(/\s+/),
);

/** British and American spelling, singular and plural, and forms of a verb become one; what it leaves need be no word. */
export function stem(word) {
  if (word.length < 4 || /\d/.test(word)) {
    return word;
  }
  let w = word
    .replace(/ies$/, "y")
    .replace(/(ss|x|ch|sh)es$/, "$1")
    .replace(/([^siu])s$/, "$1")
    .replace(/is(e|ed|ing|er|ation)$/, "iz$1")
    .replace(/^(.{2,})our$/, "$1or");
  w = w
    .replace(/(?:at)?ion(?:al)?$/, (end) => (w.length - end.length > 3 ? "" : end))
    .replace(/(.{3,})(?:ing|ed)$/, "$1")
    .replace(/(.{4,})al$/, "$1")
    .replace(/(.{3,})(?:ic|ly|e)$/, "$1");
  return w.replace(/(..)([bdglmnprt])\2$/, "$1$2");
}

const TOKEN = /√|\p{L}_[\p{L}\p{N}]+|[\p{L}\p{M}\p{N}]+/gu;

/** The words of a text in order, as they stand and as they are compared: d_k is one word, and a root has its name. */
export function tokens(text) {
  return [...text.matchAll(TOKEN)]
    .map(({ 0: raw, index }) => {
      const plain = raw === "√" ? "sqrt" : raw.normalize("NFKD").toLowerCase().replace(/[\p{M}_]/gu, "");
      return { plain, from: index, to: index + raw.length };
    })
    .filter(({ plain }) => plain && !STOP.has(plain))
    .map(({ plain, from, to }) => ({ word: stem(plain), plain, from, to }));
}

/** The same without their places. */
export function words(text) {
  return tokens(text).map(({ word }) => word);
}

/** How many letters have to be changed, added, left out or exchanged with a neighbour; Infinity for more than `most`. */
export function distance(one, other, most) {
  if (Math.abs(one.length - other.length) > most) {
    return Infinity;
  }
  let [before, row] = [[], Array.from({ length: other.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        next[j] = Math.min(next[j], before[j - 2] + 1);
      }
    }
    [before, row] = [row, next];
  }
  return row.at(-1) <= most ? row.at(-1) : Infinity;
}

/** Finds names that are several words, or one of several names: gives what each begins with. */
export class Names {
  #first = new Map();
  words = new Set();

  /** @param {string[][]} groups names of one thing in each */
  constructor(groups) {
    groups.forEach((names, number) => {
      for (const name of names) {
        const parts = words(name);
        if (parts.length > 0) {
          parts.forEach((part) => this.words.add(part));
          const known = this.#first.get(parts[0]) ?? [];
          known.push([parts, `=${number}`]);
          this.#first.set(parts[0], known.sort((a, b) => b[0].length - a[0].length));
        }
      }
    });
  }

  /** All names in a list of words: [where, how many words, sign of the group], longer ones first at each place. */
  in(list) {
    return list.flatMap((word, at) =>
      (this.#first.get(word) ?? [])
        .filter(([parts]) => parts.every((part, i) => list[at + i] === part))
        .map(([parts, sign]) => [at, parts.length, sign]),
    );
  }

  /** Those that share no word, the longest first. */
  apart(list) {
    const taken = new Set();
    return this.in(list)
      .sort((a, b) => b[1] - a[1])
      .filter(([at, many]) => {
        const places = Array.from({ length: many }, (_, i) => at + i);
        const free = places.every((place) => !taken.has(place));
        places.forEach((place) => free && taken.add(place));
        return free;
      });
  }
}
