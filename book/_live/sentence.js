// A sentence and its translation in two rows of words, and lines from each French word to the English ones that one head attends to.

import { still } from "./motion.js";

const LEAST = 0.05; // weights below get no line: softlookup_course.figures.recorded has the same
const DROP_MS = 60;
const SLOWEST_MS = 380;
const FASTEST_MS = 140;
const WHOLE_MS = 3600; // of a translation as long as its source: what moves longer by itself would need a way to stop it
const GAP = { least: 40, most: 120 };
const LONGER = 1.2; // than the English the French is, about

/** Tokens as words: [{text, spaced, tokens: places}]. Signs stand alone; what follows a bare space belongs to it; the end is no word. */
export function wordsOf(tokens) {
  const words = [];
  tokens.forEach((token, place) => {
    if (token === "(end)") return;
    const text = token.replace("▁", "");
    const before = words.at(-1)?.text;
    const goesOn = before !== undefined && !token.startsWith("▁") && (before === "" || (/^[\p{L}\p{N}]/u.test(text) ? /[\p{L}\p{N}-]$/u.test(before) : text === "-"));
    if (goesOn) {
      words.at(-1).text += text;
      words.at(-1).tokens.push(place);
    } else words.push({ text, spaced: token.startsWith("▁") || token === "(unknown)", tokens: [place] });
  });
  return words;
}

/** The largest weight between the tokens of two words. */
const between = (rows, french, english) => Math.max(...french.tokens.flatMap((t) => english.tokens.map((s) => rows[t][s])));

/** `layer` and `head` are those whose weights come, from 1; `about` says what the lines are. */
export function sentence({ layer, head, about }) {
  let source = { tokens: [], words: [] };
  let target = { tokens: [], rows: [] }; // all that has come
  let written = 0; // tokens of it that stand there
  let isDone = false;
  let timer = null;
  let chosen = null; // [side, place] of the word whose lines are shown
  let pinned = false; // it stays while others are pointed at
  let isNamed = false; // somebody has pressed a word: now the part has its name
  let remark = "";
  const lines = new Map();

  const side = (lang, name) => make("div", { class: "fse-words", lang, role: "toolbar", "aria-label": name, onkeydown: step });
  const sides = [side("en", "English words"), side("fr", "French words")];
  const picture = make("svg:svg", { "aria-hidden": "true" });
  const board = make("div", {
    class: "fse-board", onpointerleave: () => point(null), onfocusout: ({ relatedTarget }) => !board.contains(relatedTarget) && point(null),
    onkeydown: ({ key }) => key === "Escape" && release(),
  }, picture, sides);
  const caption = make("p", { class: "fse-caption", "aria-live": "polite" });

  function step(event) {
    const buttons = [...event.currentTarget.children];
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
  }

  const button = (from, place) => make("button", {
    type: "button", tabindex: place ? -1 : 0,
    onpointerenter: ({ pointerType }) => pointerType === "mouse" && !timer && point([from, place]),
    onfocus: ({ target: one }) => {
      for (const other of sides[from].children) other.tabIndex = other === one ? 0 : -1;
      if (one.matches(":focus-visible")) point([from, place]);
    },
    onclick: () => press([from, place]),
  });

  function fill(from, words) {
    while (sides[from].children.length > words.length) sides[from].lastChild.remove();
    words.forEach(({ text, spaced }, place) => {
      const one = sides[from].children[place] ?? sides[from].appendChild(button(from, place));
      if (one.textContent !== text) one.textContent = text;
      one.classList.toggle("fse-near", !spaced);
    });
  }

  const french = () => wordsOf(target.tokens.slice(0, written));

  /** Names with their weights, largest first: "cat (0.99), chair (0.01)". */
  function listed(pairs) {
    const large = pairs.filter(([, w]) => w >= LEAST).sort(([, a], [, b]) => b - a).slice(0, 3);
    return large.flatMap(([name, w], n) => [n ? ", " : "", strong(name), ` (${show(w)})`]);
  }

  function told(words) {
    if (chosen === null) return [remark || `${about} Choose a word to see its lines alone.`];
    const [from, place] = chosen;
    const word = (from ? words : source.words)[place];
    const end = source.tokens.length - 1;
    const pairs = from ? [...source.words.map((one) => [one.text, between(target.rows, word, one)]), ["(end)", between(target.rows, word, { tokens: [end] })]]
      : words.map((one) => [one.text, between(target.rows, one, word)]);
    const most = listed(pairs);
    const first = !most.length ? ["This part attends to ", strong(word.text), ` nowhere with a weight of ${show(LEAST)} or more.`]
      : from ? ["While the translator wrote ", strong(word.text), ", this part attended to ", ...most, "."] : ["This part attended to ", strong(word.text), " while the translator wrote ", ...most, "."];
    const pieces = [word, ...(from ? source.words : words)].some(({ tokens }) => tokens.length > 1) ? " Of a word with several tokens, the largest weight counts." : "";
    const named = isNamed ? ` The part is head ${head} of layer ${layer} in the decoder, the half that writes; attention to the other sentence is called cross-attention.` : "";
    return [...first, named, pieces];
  }

  function say(words) {
    const text = make("p", {}, told(words));
    if (text.innerHTML !== caption.innerHTML) caption.replaceChildren(...text.childNodes);
  }

  function draw() {
    const words = french();
    fill(1, words);
    const last = sides[1].children.length - 1;
    const [from, place] = chosen ?? (timer && last >= 0 ? [1, last] : [null, null]);
    const drawn = new Set();
    words.forEach((word, f) => source.words.forEach((one, e) => {
      const weight = between(target.rows, word, one);
      if (weight < LEAST) return;
      const key = `${f} ${e}`;
      drawn.add(key);
      if (!lines.has(key)) lines.set(key, picture.appendChild(make("svg:path", { pathLength: 1 })));
      const path = lines.get(key);
      path.style.setProperty("--w", weight);
      path.classList.toggle("fse-front", from !== null && (from ? f : e) === place);
      path.classList.toggle("fse-back", from !== null && (from ? f : e) !== place);
    }));
    for (const [key, path] of lines) {
      if (drawn.has(key)) continue;
      path.remove();
      lines.delete(key);
    }
    sides.forEach((row, at) => [...row.children].forEach((one, i) => {
      const weight = from === null || at === from ? 0 : from ? between(target.rows, words[place], source.words[i]) : between(target.rows, words[i], source.words[place]);
      one.style.setProperty("--w", weight);
      one.classList.toggle("fse-now", at === from && i === place);
      one.setAttribute("aria-pressed", String(pinned && at === from && i === place));
    }));
    say(words);
    lay();
    board.dataset.playing = timer !== null || !isDone;
    board.dataset.written = words.length;
    board.dataset.chosen = chosen ?? "";
  }

  /** Where the rows and lines stand, at the width that there is. */
  function lay() {
    const [above, below] = sides;
    if (!above.children.length) return;
    const high = above.firstChild.getBoundingClientRect().height;
    const wide = [...above.children].reduce((sum, one) => sum + one.offsetWidth, 0);
    const room = parseFloat(getComputedStyle(board).minHeight) - above.getBoundingClientRect().height - high * Math.ceil((wide * LONGER) / above.offsetWidth);
    below.style.marginTop = `${Math.max(GAP.least, Math.min(GAP.most, room))}px`;
    for (const [key, path] of lines) {
      const [from, to] = key.split(" ").map((place, n) => sides[1 - n].children[place]);
      const [x, y] = [from.offsetLeft + from.offsetWidth / 2, from.offsetTop];
      const [u, v] = [to.offsetLeft + to.offsetWidth / 2, to.offsetTop + to.offsetHeight];
      const bend = (y - v) / 2;
      path.setAttribute("d", `M${x} ${y} C${x} ${y - bend} ${u} ${v + bend} ${u} ${v}`);
    }
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
  }

  /** What has come stands there at once, with all lines. */
  function finish() {
    stop();
    written = target.tokens.length;
    draw();
  }

  function write() {
    const pace = Math.max(FASTEST_MS, Math.min(SLOWEST_MS, WHOLE_MS / source.words.length));
    if (written === target.tokens.length && isDone) {
      finish();
      return;
    }
    written = Math.min(written + 1, target.tokens.length);
    timer = setTimeout(write, pace);
    draw();
  }

  /** The English words drop in. */
  function begin(tokens) {
    stop();
    [chosen, pinned, remark, written, isDone] = [null, false, "", 0, false];
    source = { tokens, words: wordsOf(tokens) };
    target = { tokens: [], rows: [] };
    const letters = source.words.reduce((sum, { text }) => sum + text.length + 1, 0);
    board.dataset.size = letters > 75 ? "long" : letters > 42 ? "middle" : "short";
    for (const row of sides) row.replaceChildren();
    fill(0, source.words);
    const pause = Math.min(DROP_MS, 900 / source.words.length);
    [...sides[0].children].forEach((one, n) => one.style.setProperty("--after", `${n * pause}ms`));
    if (!still.matches) timer = setTimeout(write, source.words.length * pause + 250);
    draw();
  }

  /** The model has read the sentence: these are its tokens. */
  function read(tokens, words) {
    source = { tokens, words: wordsOf(tokens) };
    remark = words;
    fill(0, source.words);
    draw();
  }

  /** The model has written a token, with its weights on the tokens that were read. */
  function wrote(token, row) {
    if (token === "(end)") return;
    target.tokens.push(token);
    target.rows.push(row);
  }

  function end() {
    isDone = true;
    if (still.matches || !timer) finish();
  }

  function point(place) {
    if (pinned) return;
    chosen = place;
    draw();
  }

  function press(place) {
    const same = pinned && String(chosen) === String(place);
    [chosen, pinned, isNamed] = same ? [null, false, isNamed] : [place, true, true];
    draw();
  }

  function release() {
    [chosen, pinned] = [null, false];
    draw();
  }

  addEventListener("beforeprint", () => {
    [chosen, pinned] = [null, false];
    finish();
  });
  new ResizeObserver(lay).observe(board);
  draw();
  return { board, caption, begin, read, wrote, end };
}
