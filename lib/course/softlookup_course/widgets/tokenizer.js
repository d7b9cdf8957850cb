// A tokenizer: Python learned the merges and the vocabularies, this file cuts what is typed by them.
//
// The cuts repeat softlookup.text to the letter (pieces.py, bpe.py, words.py, characters.py); a browser test compares them.

const CUTS = ["characters", "words", "byte pairs"];
const SPACE = "▁";

// Python's idea of white space and of a word's letters, which are not quite JavaScript's.
const GAP = "[\\t-\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const LETTER = "[\\p{L}\\p{N}_]";
const GAPS = new RegExp(`${GAP}+`, "gu");
const PIECE = new RegExp(`${SPACE}?${LETTER}+(?:['’](?=${LETTER}))?|${SPACE}?[^\\p{L}\\p{N}_${SPACE}]`, "gu");
const WORD = new RegExp(`${LETTER}+(?:['’](?=${LETTER}))?|(?!${LETTER}|${GAP}).`, "gsu");

/** One form for texts that look alike: one space between words, none at the ends, accents joined to letters. */
const normalise = (text) => text.replaceAll(SPACE, " ").replace(GAPS, " ").replace(/^ | $/g, "").normalize("NFC");
const splitPieces = (text) => (SPACE + normalise(text).replaceAll(" ", SPACE)).match(PIECE) ?? [];
const splitWords = (text) => text.normalize("NFC").match(WORD) ?? [];

/** Tables for quick answers about one body of texts. */
function index(learned) {
  const first = learned.specials.length + learned.alphabet.length;
  const ids = new Map([...learned.specials, ...learned.alphabet].map((token, id) => [token, id]));
  const ranks = new Map(learned.merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  learned.merges.forEach(([left, right], rank) => ids.set(left + right, first + rank));
  const places = (tokens) => (tokens === null ? null : new Map(tokens.map((token, id) => [token, id])));
  return { first, ids, ranks, unknown: 1, words: places(learned.words), characters: places(learned.characters) };
}

/** All cuts of one piece: its letters, then the piece after each merge; only the first nMerges merges are known. */
function steps(piece, table, nMerges) {
  let symbols = [...piece];
  const found = [{ symbols, rank: null }];
  for (;;) {
    let best = nMerges;
    for (let i = 0; i + 1 < symbols.length; i += 1) {
      best = Math.min(best, table.ranks.get(`${symbols[i]} ${symbols[i + 1]}`) ?? nMerges);
    }
    if (best === nMerges) return found;
    const joined = [];
    for (let i = 0; i < symbols.length; i += 1) {
      if (i + 1 < symbols.length && table.ranks.get(`${symbols[i]} ${symbols[i + 1]}`) === best) {
        joined.push(symbols[i] + symbols[i + 1]);
        i += 1;
      } else joined.push(symbols[i]);
    }
    symbols = joined;
    found.push({ symbols, rank: best });
  }
}

/** Cut a text: pieces with id, kind and what they came from. */
function cut(text, how, table, nMerges) {
  const listed = (token, map) => (map === null ? null : map.get(token) ?? table.unknown);
  if (how === "characters") return [...text].map((piece) => ({ piece, id: listed(piece, table.characters), whole: piece }));
  if (how === "words") return splitWords(text).map((piece) => ({ piece, id: listed(piece, table.words), whole: piece }));
  return splitPieces(text).flatMap((whole) => {
    const road = steps(whole, table, nMerges);
    return road.at(-1).symbols.map((piece) => ({ piece, id: table.ids.get(piece) ?? table.unknown, whole, road }));
  });
}

const count = (number, one) => `${number.toLocaleString("en-GB")} ${one}${number === 1 ? "" : "s"}`;
const visible = (piece) => piece.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
const quoted = (piece) => `“${visible(piece)}”`;
const sorts = { characters: "character", words: "word", "byte pairs": "byte-pair token" };

/** Say what one token is, and how it came to be. */
function explain(token, how, learned, table) {
  const number = token.id === null ? "There is no vocabulary of these here, so it has no id." : `Its id is ${token.id}.`;
  if (how !== "byte pairs") {
    if (token.id === table.unknown) return [`${quoted(token.piece)} is not in the vocabulary of ${how}, so it becomes <unk>, id 1. Which ${sorts[how]} it was is lost.`];
    return [`${quoted(token.piece)} is one ${sorts[how]}. ${number}`];
  }
  if (token.id === table.unknown) return [`${quoted(token.piece)} does not occur in the training texts, so no merge produces it: it becomes <unk>, id 1.`];
  const rank = token.id - table.first;
  if (rank < 0) return [`${quoted(token.piece)} is a single character of the alphabet. ${number}`, road(token)];
  const [left, right] = learned.merges[rank];
  const seen = learned.times === null ? "" : `; when it was learned, the two stood side by side ${count(learned.times[rank], "time")}`;
  return [`${quoted(token.piece)} was made by merge ${rank + 1}: ${quoted(left)} + ${quoted(right)}${seen}. ${number}`, road(token)];
}

/** The cuts of a piece, one after the other. */
const road = ({ road: all }) => all.map(({ symbols }) => symbols.join(" ")).join("  →  ");

function render({ model, el }) {
  const id = nextId("slt");
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const all = model.get("learned");
  const tables = all.map(index);
  const learned = () => all[model.get("chosen")];
  const table = () => tables[model.get("chosen")];
  const used = () => Math.min(model.get("n_merges"), learned().merges.length);

  const sample = make("select", { id: `${id}-sample`, onchange: () => { if (sample.selectedIndex > 0) set("text", model.get("samples")[sample.selectedIndex - 1]); } },
    make("option", {}, "your own text"),
    model.get("samples").map((text) => make("option", {}, text || "(nothing)")));
  const field = make("textarea", { id: `${id}-text`, rows: 2, maxlength: model.get("longest"), spellcheck: "false", autocomplete: "off", oninput: () => set("text", field.value) });
  const source = make("select", { id: `${id}-source`, onchange: () => {
    const share = used() / learned().merges.length;
    model.set("chosen", source.selectedIndex);
    set("n_merges", Math.round(share * learned().merges.length));
  } }, all.map((one) => make("option", {}, one.title)));
  const ways = CUTS.map((name, i) => make("label", { class: "slt-way" },
    make("input", { type: "radio", name: `${id}-cut`, value: i, onchange: () => set("cut", i) }), make("span", {}, name)));
  const slider = make("input", { type: "range", id: `${id}-merges`, min: 0, step: 1, oninput: () => set("n_merges", Number(slider.value)) });
  const last = make("p", { class: "slt-last" });
  const merges = make("div", { class: "slt-merges" }, make("label", { for: slider.id }, "merges used ", make("output", { for: slider.id })), slider, last);
  const shown = make("output", { class: "slt-count", "aria-live": "polite" });
  const tokens = make("ul", { class: "slt-tokens", "aria-label": "The tokens" });
  const told = make("div", { class: "slt-told", "aria-live": "polite", "aria-atomic": "true" });
  const about = make("p", { class: "slt-about" });

  const root = make("div", { class: "slf slt", role: "group", "aria-label": "A tokenizer: a text and its tokens" },
    make("div", { class: "slt-row" },
      make("label", { for: sample.id }, "text"), sample,
      make("label", { for: source.id }, "learned from"), source),
    make("label", { class: "slt-hidden", for: field.id }, "Text to be cut"), field,
    make("div", { class: "slt-ways", role: "radiogroup", "aria-label": "Cut by" }, make("span", { "aria-hidden": "true" }, "cut by"), ways),
    merges, shown, tokens, told, about);

  let now = []; // the tokens as they are shown
  let asked = -1; // which of them is explained

  function tell(place) {
    asked = place;
    [...tokens.children].forEach((li, i) => li.firstChild.setAttribute("aria-pressed", String(i === place)));
    if (place < 0) {
      told.replaceChildren(make("p", {}, now.length ? "Choose a token to see how it was made." : "There is no token in this text."));
      return;
    }
    const lines = explain(now[place], CUTS[model.get("cut")], learned(), table());
    told.replaceChildren(...lines.map((line, i) => make("p", { class: i ? "slt-road" : "slt-words" }, line)));
  }

  tokens.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) tell(Number(button.dataset.place));
  });
  tokens.addEventListener("keydown", (event) => {
    const from = Number(event.target.dataset?.place);
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: now.length - 1 }[event.key];
    if (to === undefined || Number.isNaN(from)) return;
    event.preventDefault();
    const next = tokens.children[Math.max(0, Math.min(now.length - 1, to))]?.firstChild;
    [...tokens.children].forEach((li) => { li.firstChild.tabIndex = li.firstChild === next ? 0 : -1; });
    next?.focus();
    if (next) tell(Number(next.dataset.place));
  });

  function draw() {
    const text = model.get("text").slice(0, model.get("longest"));
    const how = CUTS[model.get("cut")];
    const most = learned().merges.length;
    if (field.value !== text) field.value = text;
    sample.selectedIndex = 1 + model.get("samples").indexOf(text);
    source.selectedIndex = model.get("chosen");
    ways.forEach((label, i) => { label.firstChild.checked = i === model.get("cut"); });
    merges.hidden = how !== "byte pairs";
    slider.max = most;
    slider.value = used();
    slider.setAttribute("aria-valuetext", `${used()} of ${count(most, "merge")}`);
    merges.querySelector("output").textContent = `${used().toLocaleString("en-GB")} of ${most.toLocaleString("en-GB")}`;
    const rank = used() - 1;
    const pair = rank < 0 ? null : learned().merges[rank];
    last.textContent = pair === null ? "No merge is used: every token is a single character." : `The last merge used: ${quoted(pair[0])} + ${quoted(pair[1])} → ${quoted(pair.join(""))}${learned().times === null ? "" : `, seen ${count(learned().times[rank], "time")}`}.`;

    const before = now[asked]?.piece;
    now = cut(text, how, table(), used());
    const lost = now.filter((token) => token.id === table().unknown).length;
    const characters = [...text].length;
    shown.textContent = `${count(characters, "character")}, ${count(now.length, "token")}${lost ? `, ${lost} of them unknown` : ""}`;
    let hue = 0;
    let whole = null;
    tokens.replaceChildren(...now.map((token, place) => {
      if (token.road !== whole || token.road === undefined) hue = (hue + 1) % 3;
      whole = token.road;
      const button = make("button", { type: "button", class: `slt-token slt-hue-${hue}${token.id === table().unknown ? " slt-unknown" : ""}`, "data-place": place, "data-piece": token.piece, "data-id": token.id, tabindex: place === 0 ? 0 : -1, "aria-pressed": "false" },
        make("span", { class: "slt-piece" }, visible(token.piece)), make("span", { class: "slt-id" }, token.id === null ? "–" : String(token.id)));
      return make("li", {}, button);
    }));
    tell(now.findIndex((token) => token.piece === before));
    about.textContent = learned().about;
  }

  el.replaceChildren(root);
  draw();
  return follow(model, ["learned", "chosen", "cut", "text", "n_merges"], draw);
}

export default { render };
export { index, splitPieces, steps };
