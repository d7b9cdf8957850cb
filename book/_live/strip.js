// A vector as a strip of colours: blue above zero, orange below, darker where a number is larger.

const BEND = 0.7; // below 1: small numbers are seen, too
const WIDEST = 256; // a longer vector is drawn in rows below each other

/** How many rows a vector is drawn in: all are equally long. */
export function rowsOf(count) {
  let rows = Math.ceil(count / WIDEST);
  while (count % rows) rows += 1;
  return rows;
}

/**
 * A strip of `values`, `rows` below each other, as a button whose cell the mouse and the arrow keys choose. `asked(i)`
 * hears which number is pointed at, `pressed(i)` which is pressed; `nameOf(i)` says in words what it is.
 */
export function strip({ values, rows = 1, heads = 0, label, nameOf, asked = () => {}, pressed = null }) {
  const columns = values.length / rows;
  const canvas = make("canvas", { width: columns, height: rows, "aria-hidden": "true" });
  const marks = make("span", { class: "lvm-marks", "aria-hidden": "true" });
  const node = make(pressed ? "button" : "span", { class: heads > 1 ? "lvm-strip lvm-divided" : "lvm-strip", style: `--rows: ${rows}; --heads: ${heads}`, ...(pressed ? { type: "button" } : { role: "img" }), "aria-label": label }, canvas, marks);
  let at = 0;

  function draw() {
    const style = getComputedStyle(node);
    const [above, below] = ["--slf-query", "--slf-key"].map((name) => style.getPropertyValue(name).split(" ").map(Number));
    const most = Math.max(...values.map(Math.abs)) || 1;
    const pixels = new ImageData(columns, rows);
    values.forEach((value, i) => {
      pixels.data.set(value < 0 ? below : above, 4 * i);
      pixels.data[4 * i + 3] = 255 * (Math.abs(value) / most) ** BEND;
    });
    canvas.getContext("2d").putImageData(pixels, 0, 0);
  }

  /** Frame some numbers: ranges [from, to) within a row. */
  function mark(ranges) {
    marks.replaceChildren(...ranges.map(([from, to]) => {
      const [row, left] = [Math.floor(from / columns), from % columns];
      const all = to - from > columns; // more than a row: the whole strip
      return make("span", { style: all ? "left: 0; width: 100%; top: 0; height: 100%" : `left: ${(100 * left) / columns}%; width: ${(100 * (to - from)) / columns}%; top: ${(100 * row) / rows}%; height: ${100 / rows}%` });
    }));
  }

  function choose(i) {
    at = Math.max(0, Math.min(values.length - 1, i));
    node.setAttribute("aria-label", nameOf(at));
    asked(at);
  }
  const cellAt = ({ clientX, clientY }) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const [x, y] = [Math.floor(((clientX - left) / width) * columns), Math.floor(((clientY - top) / height) * rows)];
    return Math.max(0, Math.min(rows - 1, y)) * columns + Math.max(0, Math.min(columns - 1, x));
  };
  if (pressed) {
    node.addEventListener("pointermove", (event) => choose(cellAt(event)));
    node.addEventListener("focus", () => node.matches(":focus-visible") && choose(at));
    node.addEventListener("click", (event) => {
      if (event.detail) choose(cellAt(event)); // by Enter it is the cell that the keys have chosen
      pressed(at);
    });
    node.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
      if (!by || (rows === 1 && Math.abs(by) > 1)) return;
      event.preventDefault();
      event.stopPropagation();
      choose(at + by);
    });
  }
  return { node, draw, mark };
}

/** Vectors below each other, each with its name: what holds them, and what draws them once they stand in the page. */
export function strips(named, { heads = 0 } = {}) {
  const rows = named.map(([name, values]) => [name, strip({ values, rows: rowsOf(values.length), heads, label: name, nameOf: () => name })]);
  const place = make("div", { class: "lvm-trail-rows" }, rows.map(([name, { node }]) => make("div", { class: "lvm-trail-row" }, make("span", { class: "lvm-name" }, name), node)));
  return { place, draw: () => rows.forEach(([, one]) => one.draw()) };
}
