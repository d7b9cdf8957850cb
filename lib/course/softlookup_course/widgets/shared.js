// What the interactive figures share. `InteractiveFigure` puts this file before each figure's own script, so these names are known there.

/** Make an element: attributes by name, children as text or nodes; a name with "svg:" before it is drawn. */
function make(name, attributes = {}, ...children) {
  const drawn = name.startsWith("svg:");
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat());
  return node;
}
const strong = (...children) => make("strong", {}, ...children);

const minus = (number) => String(number).replace("-", "−");
/** Two decimals, a true minus, and no minus before zero. */
const show = (number) => minus((Math.abs(number) < 0.005 ? 0 : number).toFixed(2));
const whole = (number) => number.toLocaleString("en-GB");
/** Three digits, with commas at thousands. */
const three = (number) => Number(number.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });

/** Three digits in the largest unit of which there is one, or nearly. */
function inUnit(value, units) {
  const [size, name] = units.find(([limit]) => value >= 0.9995 * limit) ?? units.at(-1);
  return `${three(value / size)} ${name}`;
}
const inBytes = (bytes) => inUnit(bytes, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, bytes === 1 ? "byte" : "bytes"]]);
const capitalised = (text) => text[0].toUpperCase() + text.slice(1);

/** A slider, what shows its value, and the label around both. What is played has no output, which would be read out at each step. */
function slider(id, letters, title, set, isPlayed = false) {
  const value = isPlayed ? make("span", { class: `slf-value ${letters}-value` }) : make("output", { class: `slf-value ${letters}-value`, for: id });
  const input = make("input", { type: "range", id, min: 0, step: 1, oninput: () => set(Number(input.value)) });
  return [input, value, make("label", { class: `slf-slider ${letters}-slider`, for: id }, make("span", {}, title), input, value)];
}

/** What plays the steps of a figure: its button, and what starts and pauses; a sentence is read out while nothing plays. */
function player(letters, { root, sentence = null, wait, waitsFirst = false, isAtEnd, rewind, goOn }) {
  let timer = 0;
  const play = make("button", { type: "button", class: `slf-play ${letters}-play`, onclick: () => (timer ? pause() : start()) }, "Play");
  function start() {
    if (isAtEnd()) rewind();
    const ms = wait();
    const next = () => {
      if (!root().isConnected) return;
      goOn(ms);
      if (isAtEnd()) pause();
      else timer = setTimeout(next, ms);
    };
    sentence?.setAttribute("aria-live", "off");
    root().dataset.playing = "true";
    play.textContent = "Pause";
    timer = setTimeout(next, waitsFirst ? ms : 0);
  }
  function pause() {
    clearTimeout(timer);
    timer = 0;
    if (!("playing" in root().dataset)) return;
    delete root().dataset.playing;
    play.textContent = "Play";
    sentence?.setAttribute("aria-live", "polite");
    sentence?.replaceChildren(...sentence.childNodes); // now it is read
  }
  return { play, start, pause };
}

/** Draw a picture as wide as it stands, so that letters keep their size on a phone; returns what ends that. */
function keepWide(picture, least, setWidth) {
  let wide = 0;
  const watcher = new ResizeObserver(([{ contentRect }]) => {
    const next = Math.max(least, Math.round(contentRect.width));
    if (next === wide) return;
    wide = next;
    setWidth(wide);
  });
  watcher.observe(picture);
  return () => watcher.disconnect();
}

/** What no control shows, such as a step: a hidden input, so that a link to the figure has it too (widgets.js of the book). */
const unseen = (id, set) => make("input", { type: "hidden", id, onchange: ({ target }) => set(target.value) });

/** An id of its own for each figure of a page. The page counts: each figure brings this file anew. */
const nextId = (name) => `${name}-${(globalThis.softlookupFigures = (globalThis.softlookupFigures ?? 0) + 1)}`;

/** Call `draw` whenever one of these traits changes; returns what ends that. */
function follow(model, traits, draw) {
  const watched = traits.map((trait) => `change:${trait}`);
  for (const change of watched) model.on(change, draw);
  return () => watched.forEach((change) => model.off(change, draw));
}

// Grids whose cells answer: each td carries data-grid, data-row and data-column.
const CELL = "td[data-grid]";
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Call `explain(td)` for the cell that is pointed at, tapped, or reached with Tab and the arrow keys. */
function answerCells(board, explain, kinds = ["pointerover", "focusin", "click"]) {
  const ask = (event) => {
    const asked = event.target.closest?.(CELL);
    if (!asked) return;
    if (event.type === "focusin") {
      for (const other of asked.closest("tbody").querySelectorAll("td[tabindex='0']")) other.tabIndex = -1;
      asked.tabIndex = 0;
    }
    explain(asked);
  };
  for (const kind of kinds) board.addEventListener(kind, ask);
  board.addEventListener("keydown", (event) => {
    const asked = event.target.closest(CELL);
    if (!asked || !(event.key in STEPS || event.key === "Home" || event.key === "End")) return;
    const rows = [...asked.closest("tbody").rows].map((row) => [...row.querySelectorAll(CELL)]);
    let [r, c] = [Number(asked.dataset.row), Number(asked.dataset.column)];
    if (event.key === "Home") c = 0;
    else if (event.key === "End") c = rows[r].length - 1;
    else [r, c] = [r + STEPS[event.key][0], c + STEPS[event.key][1]];
    event.preventDefault();
    rows[r]?.[c]?.focus();
  });
}

/** Mark the cells of an answer: [grid, row, column] each, where null stands for all; and the cell that was asked. */
function markCells(board, marks, asked, prefix) {
  for (const td of board.querySelectorAll(CELL)) {
    const used = marks.some(([grid, r, c]) => grid === td.dataset.grid
      && (r === null || r === Number(td.dataset.row)) && (c === null || c === Number(td.dataset.column)));
    td.classList.toggle(`${prefix}-marked`, used);
    td.classList.toggle(`${prefix}-asked`, td === asked);
  }
}

