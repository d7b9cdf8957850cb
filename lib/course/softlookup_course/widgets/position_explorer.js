// Two positions to move: rows of sinusoids as hands of clocks, or a query and a key that are turned. Positions are free,
// so the numbers are worked out here; tests compare them with softlookup_course.widgets.position_explorer.

const BASE = 10000;
const CLOCKS = 8; // more hands would be too small to see; the others are in the row below
const range = (n) => Array.from({ length: n }, (_, i) => i);
const dotOf = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const speedsOf = (width, base) => range(width / 2).map((i) => base ** ((-2 * i) / width));
const rowOf = (position, width) => speedsOf(width, BASE).flatMap((w) => [Math.sin(position * w), Math.cos(position * w)]);

/** Turn neighbours of a vector, like `reference.rotary`. */
function turnedBy(vector, position, base) {
  return speedsOf(vector.length, base).flatMap((w, i) => {
    const [a, b, c, s] = [vector[2 * i], vector[2 * i + 1], Math.cos(position * w), Math.sin(position * w)];
    return [a * c - b * s, a * s + b * c];
  });
}

/** The product of a row with one so many places away. */
const likeness = (distance, width) => speedsOf(width, BASE).reduce((sum, w) => sum + Math.cos(distance * w), 0);

/** A plane with arrows from its middle: [x, y, class, dashed] each, y upwards. */
function plane(size, reach, arrows) {
  const svg = make("svg:svg", { viewBox: `${-size / 2} ${-size / 2} ${size} ${size}`, width: size, height: size, "aria-hidden": "true" });
  const scale = (size / 2 - 5) / reach;
  svg.append(make("svg:circle", { class: "pse-rim", r: size / 2 - 4 }), make("svg:line", { class: "pse-axis", x1: -size / 2 + 4, x2: size / 2 - 4 }), make("svg:line", { class: "pse-axis", y1: -size / 2 + 4, y2: size / 2 - 4 }));
  for (const [x, y, kind, faded] of arrows) {
    const [tx, ty] = [x * scale, -y * scale];
    const shade = faded ? " pse-faded" : "";
    svg.append(make("svg:line", { class: `pse-hand pse-${kind}${shade}`, x2: tx, y2: ty }));
    // The first is round, the second square: colour is not all that tells them apart.
    svg.append(kind === "query"
      ? make("svg:circle", { class: `pse-tip pse-${kind}${shade}`, cx: tx, cy: ty, r: 3.6 })
      : make("svg:rect", { class: `pse-tip pse-${kind}${shade}`, x: tx - 3.2, y: ty - 3.2, width: 6.4, height: 6.4 }));
  }
  return svg;
}

/** A curve over whole numbers, with a point on it. */
function curve(points, at, label) {
  const [width, height, left, bottom] = [460, 170, 38, 30];
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.min(0, ...ys), Math.max(...ys) || 1];
  const px = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - 12);
  const py = (y) => 10 + ((y1 - y) / (y1 - y0 || 1)) * (height - bottom - 18);
  const svg = make("svg:svg", { class: "pse-curve", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  svg.append(make("svg:line", { class: "pse-axis", x1: left, x2: width - 12, y1: py(0), y2: py(0) }));
  svg.append(make("svg:path", { class: "pse-line", d: points.map(([x, y], i) => `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("") }));
  const here = points.find(([x]) => x === at);
  svg.append(make("svg:line", { class: "pse-drop", x1: px(at), x2: px(at), y1: py(0), y2: py(here[1]) }));
  svg.append(make("svg:circle", { class: "pse-point", cx: px(at), cy: py(here[1]), r: 5.5 }));
  const text = (x, y, words, anchor = "middle") => make("svg:text", { x, y, "text-anchor": anchor }, words);
  for (const x of x0 < 0 ? [x0, 0, x1] : [0, Math.round(x1 / 2), x1]) svg.append(text(px(x), height - 16, minus(x)));
  svg.append(text(left - 6, py(y1) + 5, show(y1), "end"), text(left - 6, py(0) + 5, "0", "end"));
  svg.append(text((left + width) / 2, height - 2, label));
  return svg;
}

function render({ model, el }) {
  const id = nextId("pse");
  const farthest = model.get("farthest");
  let [one, other, width, rotary] = [model.get("one"), model.get("other"), model.get("width"), false];

  const words = make("p", { class: "pse-words", "aria-live": "polite", "aria-atomic": "true" });
  const stage = make("div", { class: "pse-stage" });
  const clamp = (p) => Math.max(0, Math.min(farthest, p));

  function slider(name, kind, change) {
    const input = make("input", { id: `${id}-${kind}`, type: "range", min: 0, max: farthest, step: 1, "data-slider": kind, oninput: () => change(Number(input.value)) });
    const value = make("output", { for: input.id });
    const title = make("span", {});
    return { input, value, title, box: make("label", { class: `pse-slider pse-${kind}`, for: input.id }, make("span", { class: "pse-title" }, make("span", { class: "pse-mark", "aria-hidden": "true" }), title, " ", value), input) };
  }
  const sliders = {
    one: slider("one", "query", (p) => { one = p; update(); }),
    other: slider("other", "key", (p) => { other = p; update(); }),
  };
  function both(step) {
    if (clamp(one + step) !== one + step || clamp(other + step) !== other + step) return tell(`Both cannot move by ${minus(step)}: positions go from 0 to ${farthest}. `);
    [one, other] = [one + step, other + step];
    return update(`Both moved by ${minus(step)}: neither the distance nor the ${rotary ? "score" : "dot product"} changes. `);
  }
  const modes = ["sinusoids", "rotary"].map((name) => {
    const input = make("input", { id: `${id}-${name}`, type: "radio", name: `${id}-mode`, value: name, onchange: () => { rotary = name === "rotary"; update(); } });
    return make("label", { for: input.id }, input, ` ${name}`);
  });
  const chooser = make("select", { id: `${id}-width`, onchange: () => { width = Number(chooser.value); update(); } }, model.get("widths").map((w) => make("option", { value: w }, String(w))));
  const widthLabel = make("label", { for: chooser.id }, "width D ", chooser);
  const moves = [-10, -1, 1, 10].map((step) => make("button", { type: "button", "data-step": step, "aria-label": `move both by ${minus(step)}`, onclick: () => both(step) }, step > 0 ? `+${step}` : minus(step)));

  const number = (name, value, text = show(value)) => make("td", { "data-number": name, "data-value": value }, text);
  const table = (caption, head, rows) => make("table", {}, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, head.map((h) => (h ? make("th", { scope: "col" }, h) : make("td", {}))))), make("tbody", {}, rows));

  /** A row of numbers as coloured cells: blue above zero, brown below, paler where nearer to it. */
  function strip(kind, row) {
    const cells = row.map((x, c) => make("span", { class: `pse-cell ${x < 0 ? "pse-below" : "pse-above"}`, style: `--pse-full:${Math.round(100 * Math.abs(x))}%`, title: `column ${c}: ${show(x)}` }));
    return make("div", { class: "pse-strip" }, make("span", { class: `pse-mark pse-${kind}`, "aria-hidden": "true" }), make("div", { class: "pse-cells", "data-row": row.join(",") }, cells));
  }

  function drawSinusoids() {
    const rows = [rowOf(one, width), rowOf(other, width)];
    const shown = Math.min(width / 2, CLOCKS);
    const clocks = range(shown).map((n) => (shown === 1 ? 0 : Math.round((n * (width / 2 - 1)) / (shown - 1))));
    const speeds = speedsOf(width, BASE);
    const faces = clocks.map((i) => {
      const turn = (2 * Math.PI) / speeds[i];
      return make("div", { class: "pse-clock" },
        plane(76, 1, [[rows[1][2 * i + 1], rows[1][2 * i], "key"], [rows[0][2 * i + 1], rows[0][2 * i], "query"]]),
        make("div", { class: "pse-under" }, `pair ${i}`, make("br"), `period ${turn < 100 ? turn.toFixed(1) : whole(Math.round(turn))}`));
    });
    const product = dotOf(...rows);
    const points = range(farthest + 1).map((d) => [d, likeness(d, width)]);
    stage.replaceChildren(
      make("div", { class: "pse-clocks" }, faces),
      make("div", { class: "pse-strips" }, strip("query", rows[0]), strip("key", rows[1])),
      make("div", { class: "pse-below-all" }, curve(points, Math.abs(one - other), "distance between the two positions"),
        table("The two rows", ["", "value"], [
          make("tr", {}, make("th", { scope: "row" }, "distance"), number("distance", Math.abs(one - other), String(Math.abs(one - other)))),
          make("tr", {}, make("th", { scope: "row" }, "length of each row"), number("length", Math.hypot(...rows[0]))),
          make("tr", {}, make("th", { scope: "row" }, "product"), number("dot", product))])));
    return `Positions ${one} and ${other}, ${Math.abs(one - other)} apart: the dot product of their rows is ${show(product)}; the largest possible is ${show(width / 2)}.`;
  }

  function drawRotary() {
    const [query, key, base] = [model.get("query"), model.get("key"), model.get("base")];
    const [q, k] = [turnedBy(query, one, base), turnedBy(key, other, base)];
    const speeds = speedsOf(query.length, base);
    const pairs = range(query.length / 2);
    const reach = Math.max(...pairs.flatMap((i) => [query, key].map((v) => Math.hypot(v[2 * i], v[2 * i + 1]))));
    const faces = pairs.map((i) => make("div", { class: "pse-clock pse-wide" },
      plane(170, reach, [[key[2 * i], key[2 * i + 1], "key", true], [query[2 * i], query[2 * i + 1], "query", true], [k[2 * i], k[2 * i + 1], "key"], [q[2 * i], q[2 * i + 1], "query"]]),
      make("div", { class: "pse-under" }, `pair ${i}: ${speeds[i].toFixed(2)} radians per position`)));
    const score = dotOf(q, k);
    const points = range(2 * farthest + 1).map((n) => {
      const d = n - farthest;
      return [d, dotOf(turnedBy(query, d, base), key)];
    });
    stage.replaceChildren(
      make("div", { class: "pse-clocks pse-planes" }, faces),
      make("div", { class: "pse-below-all" }, curve(points, one - other, "position of the query minus position of the key"),
        table("After the rotation", ["", "pair 0", "pair 1"], [
          make("tr", {}, make("th", { scope: "row" }, "query"), pairs.map((i) => make("td", {}, `${show(q[2 * i])}, ${show(q[2 * i + 1])}`))),
          make("tr", {}, make("th", { scope: "row" }, "key"), pairs.map((i) => make("td", {}, `${show(k[2 * i])}, ${show(k[2 * i + 1])}`))),
          make("tr", {}, make("th", { scope: "row" }, "product"), pairs.map((i) => number(`part${i}`, q[2 * i] * k[2 * i] + q[2 * i + 1] * k[2 * i + 1]))),
          make("tr", {}, make("th", { scope: "row" }, "score"), make("td", { colspan: 2, "data-number": "score", "data-value": score }, show(score)))])));
    stage.dataset.turned = [...q, ...k].join(",");
    const apart = one - other;
    const where = apart === 0 ? "at the same position as the key" : apart > 0 ? `${apart} ${apart === 1 ? "position" : "positions"} after the key at ${other}` : `${-apart} ${apart === -1 ? "position" : "positions"} before the key at ${other}`;
    return `The query at ${one} is ${where}, and the score is ${show(score)}.`;
  }

  const tell = (before) => { words.textContent = before + words.textContent.replace(/^Both .*?\. /, ""); };

  function update(before = "") {
    for (const [name, p] of [["one", one], ["other", other]]) {
      sliders[name].input.value = p;
      sliders[name].value.textContent = String(p);
    }
    sliders.one.title.textContent = rotary ? "query at" : "position";
    sliders.other.title.textContent = rotary ? "key at" : "position";
    for (const label of modes) label.firstChild.checked = (label.firstChild.value === "rotary") === rotary;
    chooser.value = String(width);
    widthLabel.hidden = rotary;
    note.textContent = rotary ? notes.rotary : notes.sinusoids;
    words.textContent = before + (rotary ? drawRotary() : drawSinusoids());
  }

  const notes = {
    sinusoids: "Each clock is a pair of columns: sine upwards, cosine to the right. Its period is the number of positions in a full turn. The strips are the whole rows, one cell for each number: the stronger the colour, the farther from 0.",
    rotary: `Faint arrows show query and key before the rotation. The base is ${model.get("base")} instead of 10,000, so that the slower of the two pairs turns visibly. The rotation never changes a length.`,
  };
  const note = make("p", { class: "pse-note" });
  const root = make("div", { class: "slf pse", role: "group", "aria-label": "Two positions to move" },
    make("div", { class: "pse-bar" }, make("div", { class: "pse-modes", role: "radiogroup", "aria-label": "kind of positions" }, modes), widthLabel),
    make("div", { class: "pse-sliders" }, sliders.one.box, sliders.other.box, make("div", { class: "pse-moves", role: "group", "aria-label": "move both" }, make("span", {}, "both"), moves)),
    words, stage, note);
  el.replaceChildren(root);
  update();
  return follow(model, ["one", "other", "width"], () => {
    [one, other, width] = [clamp(model.get("one")), clamp(model.get("other")), model.get("width")];
    update();
  });
}

export default { render };
