// The shapes of multi-head attention at any sizes. Sizes are free, so the counts are worked out here; tests compare them
// with softlookup_course.widgets.head_shapes.describe and with the layers of softlookup.model.

const LETTERS = {
  B: "sequences", T: "tokens", D: "model width", N: "query heads", K: "key-value heads", H: "head width",
};

// Every tensor, in the order of the layer: its axes, what it is, and the product that makes it (rows, inner, columns).
const PARTS = [
  { name: "x", axes: ["B", "T", "D"], stage: "project", colour: "ink", says: "the tokens, each a vector of D numbers" },
  { name: "w_q", axes: ["D", "NH"], stage: "project", colour: "query", learned: true, says: "one matrix for the queries of all heads: head i owns columns i·H up to, not including, (i+1)·H" },
  { name: "q", axes: ["B", "N", "T", "H"], stage: "project", colour: "query", from: "x · w_q", terms: ["B", "T", "D", "N", "H"], says: "the queries, split into heads" },
  { name: "w_k", axes: ["D", "KH"], stage: "project", colour: "key", learned: true, says: "one matrix for the keys of all key-value heads" },
  { name: "k", axes: ["B", "K", "S", "H"], stage: "project", colour: "key", from: "x · w_k", terms: ["B", "S", "D", "K", "H"], says: "the keys, split into heads; a cache keeps them" },
  { name: "w_v", axes: ["D", "KH"], stage: "project", colour: "value", learned: true, says: "one matrix for the values of all key-value heads" },
  { name: "v", axes: ["B", "K", "S", "H"], stage: "project", colour: "value", from: "x · w_v", terms: ["B", "S", "D", "K", "H"], says: "the values, split into heads; a cache keeps them" },
  { name: "a", axes: ["B", "N", "T", "S"], stage: "mix", colour: "mixed", from: "q · kᵀ", terms: ["B", "N", "T", "S", "H"], says: "the scores, then the weights: one T × S matrix for each head. Their number grows with N" },
  { name: "z", axes: ["B", "N", "T", "H"], stage: "mix", colour: "mixed", from: "a · v", terms: ["B", "N", "T", "S", "H"], says: "the output of each head, a weighted sum of values" },
  { name: "merged", axes: ["B", "T", "NH"], stage: "mix", colour: "mixed", says: "the heads side by side again; nothing is computed" },
  { name: "w_o", axes: ["NH", "D"], stage: "mix", colour: "ink", learned: true, says: "the output matrix: head i owns rows i·H up to, not including, (i+1)·H" },
  { name: "y", axes: ["B", "T", "D"], stage: "mix", colour: "ink", from: "merged · w_o", terms: ["B", "T", "N", "H", "D"], says: "the output: D numbers for each token, whatever the number of heads" },
];
const STAGES = { project: "Project the tokens, split into heads", mix: "Score, mix, merge, blend the heads" };
const UNITS = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "bytes"]];

const product = (numbers) => numbers.reduce((a, b) => a * b, 1);

/** Bytes as a reader would say them: three digits in the largest unit that leaves at least one. */
function bytes(count) {
  const [size, unit] = UNITS.find(([least]) => count >= least) ?? UNITS.at(-1);
  return `${Number((count / size).toPrecision(3))} ${unit}`;
}

const sizeOf = (axis, s) => ({ S: s.T, NH: s.N * s.H, KH: s.K * s.H })[axis] ?? s[axis];
const axisName = (axis) => ({ NH: "N·H", KH: "K·H" })[axis] ?? axis;
const shapeOf = (part, s) => part.axes.map((axis) => sizeOf(axis, s));

/** Every count of one setting; `describe` in head_shapes.py is the same in Python. */
function counts(s, size) {
  const parameters = Object.fromEntries(PARTS.filter((p) => p.learned).map((p) => [p.name, product(shapeOf(p, s))]));
  const flops = Object.fromEntries(PARTS.filter((p) => p.terms).map((p) => [p.name, 2 * product(p.terms.map((axis) => sizeOf(axis, s)))]));
  const sum = (record) => Object.values(record).reduce((a, b) => a + b, 0);
  return {
    parameters: { ...parameters, total: sum(parameters) },
    flops: { ...flops, projections: flops.q + flops.k + flops.v + flops.y, attention: flops.a + flops.z, total: sum(flops) },
    score_bytes: size * product([s.B, s.N, s.T, s.T]),
    cache_bytes: size * product([2, s.B, s.K, s.T, s.H]),
  };
}

const side = (count) => 8 + 5 * Math.log2(count); // a doubling is a step: sizes from 1 to 16,384 on one page

/** Draw a tensor: heads as sheets behind each other, a matrix of all heads as stripes. */
function block(part, s) {
  const shape = shapeOf(part, s);
  const [rows, columns] = shape.slice(-2);
  const [width, height] = [side(columns), side(rows)];
  const heads = part.axes[1] === "N" ? s.N : part.axes[1] === "K" ? s.K : 1;
  const sheets = Math.min(heads, 8);
  const step = sheets > 1 ? 5 : 0;
  const total = { width: width + step * (sheets - 1) + 2, height: height + step * (sheets - 1) + 2 };
  const svg = make("svg:svg", { viewBox: `0 0 ${total.width} ${total.height}`, width: total.width, height: total.height, "aria-hidden": "true" });
  const group = Math.max(1, s.N / s.K);
  for (let i = sheets - 1; i >= 0; i -= 1) {
    const shared = part.axes[1] === "N" && Math.floor(i / group) % 2 === 1;
    svg.append(make("svg:rect", { class: shared ? "hsh-sheet hsh-other" : "hsh-sheet", x: 1 + step * i, y: 1 + step * (sheets - 1 - i), width, height, rx: 1.5 }));
  }
  const stripes = (count, along) => {
    if (count < 2 || count > 40) return;
    for (let i = 1; i < count; i += 1) {
      const at = 1 + ((along === "x" ? width : height) * i) / count;
      svg.append(make("svg:line", along === "x" ? { x1: at, x2: at, y1: 1, y2: 1 + height } : { x1: 1, x2: 1 + width, y1: at, y2: at }));
    }
  };
  if (part.axes.at(-1) === "NH") stripes(s.N, "x");
  if (part.axes.at(-1) === "KH") stripes(s.K, "x");
  if (part.name === "w_o") stripes(s.N, "y");
  return svg;
}

const divisors = (n) => Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
const nearest = (wanted, allowed) => allowed.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best));

function render({ model, el }) {
  const id = nextId("hsh");
  const largest = model.get("largest");
  const presets = model.get("presets");
  const pick = ({ B, T, D, N, K, H }) => ({ B, T, D, N, K, H });
  let sizes = pick(presets[model.get("chosen")]);
  let locked = sizes.N * sizes.H === sizes.D;

  /** The values that a letter may take, given all the others. */
  function allowed(letter) {
    if (letter === "K") return divisors(sizes.N);
    const all = Array.from({ length: largest[letter] }, (_, i) => i + 1);
    if (!locked) return all;
    if (letter === "N") return divisors(sizes.D).filter((n) => n <= largest.N && sizes.D / n <= largest.H);
    if (letter === "D") return all.filter((d) => d % sizes.N === 0 && d / sizes.N <= largest.H);
    return all;
  }

  /** Why a letter cannot have this value, given all the others. */
  function refusal(letter, wanted) {
    if (!Number.isInteger(wanted)) return "sizes are whole numbers";
    if (letter === "K") return `K must divide N = ${sizes.N}`;
    if (wanted < 1 || wanted > largest[letter]) return `${letter} goes from 1 to ${whole(largest[letter])}`;
    if (letter === "N" && sizes.D % wanted) return `with N·H = D, N must divide D = ${whole(sizes.D)}`;
    if (letter === "D" && wanted % sizes.N) return `with N·H = D, D must be a multiple of N = ${sizes.N}`;
    return `with N·H = D, H would be wider than ${largest.H}`;
  }

  /** Change one size, and whatever has to follow it. */
  function change(letter, wanted) {
    const before = { sizes, counts: counts(sizes, model.get("bytes_per_number")) };
    if (!Number.isFinite(wanted)) return update("");
    const value = nearest(wanted, allowed(letter));
    const moved = value === wanted ? "" : `${letter} = ${whole(wanted)} is not possible here (${refusal(letter, wanted)}); the nearest is ${whole(value)}. `;
    sizes = { ...sizes, [letter]: value };
    if (letter === "N") sizes.K = before.sizes.K === before.sizes.N ? value : nearest(Math.min(before.sizes.K, value), divisors(value));
    if (locked && (letter === "N" || letter === "D")) sizes.H = sizes.D / sizes.N;
    update(moved + compared(before, letter));
  }

  /** Say what a change has done to the four counts. */
  function compared(before, letter) {
    const now = counts(sizes, model.get("bytes_per_number"));
    const pairs = [
      ["parameters", before.counts.parameters.total, now.parameters.total],
      ["operations", before.counts.flops.total, now.flops.total],
      ["scores", before.counts.score_bytes, now.score_bytes],
      ["cache", before.counts.cache_bytes, now.cache_bytes],
    ];
    const told = pairs.map(([what, a, b]) => `${what} ${a === b ? "unchanged" : `×${Number((b / a).toPrecision(3))}`}`);
    const others = Object.keys(LETTERS).filter((l) => l !== letter && before.sizes[l] !== sizes[l]);
    const followed = others.map((l) => `, ${l} from ${whole(before.sizes[l])} to ${whole(sizes[l])}`).join("");
    return `${letter} from ${whole(before.sizes[letter])} to ${whole(sizes[letter])}${followed}: ${told.join(", ")}.`;
  }

  /** One step up or down: the next smaller or larger size that is possible; by doubling where steps of 1 would be slow. */
  function step(letter, direction) {
    const now = sizes[letter];
    const list = allowed(letter);
    const wanted = letter === "B" || letter === "T" || letter === "H" || letter === "D"
      ? (direction > 0 ? (now < 8 ? now + 1 : now * 2) : (now <= 8 ? now - 1 : Math.floor(now / 2))) : null;
    if (wanted !== null) {
      const onward = direction > 0 ? list.find((n) => n >= wanted) : list.findLast((n) => n <= wanted);
      return change(letter, onward ?? list.at(direction > 0 ? -1 : 0));
    }
    const at = list.indexOf(now);
    const next = at < 0 ? nearest(now, list) : list[Math.max(0, Math.min(list.length - 1, at + direction))];
    return change(letter, next);
  }

  const own = make("option", {}, "your own sizes"); // shown where a size of the preset was changed
  const chooser = make("select", { id: `${id}-preset`, onchange: () => {
    if (chooser.selectedIndex >= presets.length) return undefined;
    if (chooser.selectedIndex === model.get("chosen")) return choose(); // back to where the changes began
    model.set("chosen", chooser.selectedIndex);
    return model.save_changes();
  } }, presets.map((one) => make("option", {}, one.title)), own);
  const unit = make("select", { id: `${id}-unit`, onchange: () => {
    model.set("bytes_per_number", Number(unit.value));
    model.save_changes();
  } }, [[4, "4 bytes (float32)"], [2, "2 bytes (half)"], [1, "1 byte"]].map(([value, text]) => make("option", { value }, text)));
  const lock = make("input", { type: "checkbox", id: `${id}-lock`, onchange: () => {
    locked = lock.checked;
    if (!locked) return update("N, D and H can now be chosen freely: N·H need not equal D.");
    const fitting = divisors(sizes.D).filter((n) => n <= largest.N && sizes.D / n <= largest.H);
    if (fitting.length === 0) {
      locked = false;
      return update(`None of the numbers of heads that this figure offers divides D = ${whole(sizes.D)}: change D first.`);
    }
    const before = { sizes, counts: counts(sizes, model.get("bytes_per_number")) };
    const n = nearest(sizes.N, fitting);
    sizes = { ...sizes, N: n, H: sizes.D / n, K: before.sizes.K === before.sizes.N ? n : nearest(Math.min(sizes.K, n), divisors(n)) };
    return update(`From now on N·H = D, so H follows from N and D. ${compared(before, "H")}`);
  } });

  const steppers = Object.fromEntries(Object.entries(LETTERS).map(([letter, words]) => {
    const input = make("input", { type: "number", id: `${id}-${letter}`, min: 1, max: largest[letter], step: 1, "data-letter": letter,
      onchange: () => change(letter, Number(input.value)) });
    const less = make("button", { type: "button", "aria-label": `${words}: fewer`, onclick: () => step(letter, -1) }, "−");
    const more = make("button", { type: "button", "aria-label": `${words}: more`, onclick: () => step(letter, 1) }, "+");
    const label = make("label", { for: input.id }, make("strong", {}, letter), ` ${words}`);
    const box = make("div", { class: "hsh-stepper" }, label, make("div", { class: "hsh-keys" }, less, input, more));
    return [letter, { box, input, less, more }];
  }));

  const flow = make("div", { class: "hsh-flow" });
  const cards = {};
  for (const [stage, title] of Object.entries(STAGES)) {
    const row = make("div", { class: "hsh-row", role: "group", "aria-label": title }, make("h4", { class: "hsh-stage" }, title));
    const shelf = make("div", { class: "hsh-shelf" });
    let pair = shelf;
    for (const part of PARTS.filter((one) => one.stage === stage)) {
      if (part.learned) shelf.append(pair = make("div", { class: "hsh-pair" })); // a matrix stays beside what it makes
      const card = make("button", { type: "button", class: `hsh-card hsh-${part.colour}${part.learned ? " hsh-learned" : ""}`, "data-part": part.name, onclick: () => tell(part) });
      cards[part.name] = card;
      pair.append(card);
    }
    row.append(shelf);
    flow.append(row);
  }

  const words = make("p", { class: "hsh-words", "aria-live": "polite", "aria-atomic": "true" });
  const totals = make("div", { class: "hsh-totals" });

  const cell = (name, value, text) => make("td", { "data-count": name, "data-value": value }, text);
  const line = (title, name, value, text) => make("tr", {}, make("th", { scope: "row" }, title), cell(name, value, text));
  const table = (caption, rows) => make("table", {}, make("caption", {}, caption), make("tbody", {}, rows));

  function tell(part) {
    const shape = shapeOf(part, sizes);
    const numbers = `${part.axes.map(axisName).join(" × ")} = ${shape.map(whole).join(" × ")}, ${whole(product(shape))} numbers`;
    const made = part.terms ? ` It is computed as ${part.from}, with 2 × ${part.terms.map((axis) => whole(sizeOf(axis, sizes))).join(" × ")} = ${whole(2 * product(part.terms.map((axis) => sizeOf(axis, sizes))))} operations.` : "";
    words.textContent = `${part.name}: ${part.says}. ${numbers}.${part.learned ? " Learned." : ""}${made}`;
    for (const [name, card] of Object.entries(cards)) card.setAttribute("aria-pressed", String(name === part.name));
  }

  function update(said) {
    const size = model.get("bytes_per_number");
    for (const [letter, { input, less, more }] of Object.entries(steppers)) {
      input.value = sizes[letter];
      const list = allowed(letter);
      less.disabled = sizes[letter] <= list[0];
      more.disabled = sizes[letter] >= list.at(-1);
      const follows = letter === "H" && locked;
      input.disabled = follows;
      if (follows) less.disabled = more.disabled = true;
    }
    const preset = presets[model.get("chosen")];
    own.hidden = own.disabled = Object.keys(sizes).every((letter) => sizes[letter] === preset[letter]);
    chooser.selectedIndex = own.hidden ? model.get("chosen") : presets.length;
    lock.checked = locked;
    unit.value = String(size);
    for (const part of PARTS) {
      const shape = shapeOf(part, sizes);
      cards[part.name].replaceChildren(
        make("span", { class: "hsh-block" }, block(part, sizes)),
        make("span", { class: "hsh-name" }, part.name),
        make("span", { class: "hsh-axes" }, `(${part.axes.map(axisName).join(", ")})`),
        make("span", { class: "hsh-shape", "data-shape": shape.join(",") }, shape.map(whole).join(" × ")));
      cards[part.name].setAttribute("aria-pressed", "false");
    }
    const c = counts(sizes, size);
    totals.replaceChildren(
      table("Parameters", [...["w_q", "w_k", "w_v", "w_o"].map((name) => line(name, `parameters.${name}`, c.parameters[name], whole(c.parameters[name]))),
        line("total", "parameters.total", c.parameters.total, whole(c.parameters.total))]),
      table("Operations", [
        line("projections", "flops.projections", c.flops.projections, whole(c.flops.projections)),
        line("scores, mixing", "flops.attention", c.flops.attention, whole(c.flops.attention)),
        line("total", "flops.total", c.flops.total, whole(c.flops.total))]),
      table("Memory", [line("scores", "score_bytes", c.score_bytes, bytes(c.score_bytes)), line("cache, one layer", "cache_bytes", c.cache_bytes, bytes(c.cache_bytes))]));
    words.textContent = said || "Change a size, or press a block to see what it is and how many operations it takes.";
  }

  function choose() {
    sizes = pick(presets[model.get("chosen")]);
    locked = sizes.N * sizes.H === sizes.D;
    update(`Sizes: ${presets[model.get("chosen")].title}. Change a size, or press a block to see what it is and how many operations it takes.`);
  }
  const rescale = () => update(`Each number now takes ${model.get("bytes_per_number")} ${model.get("bytes_per_number") === 1 ? "byte" : "bytes"}.`);

  const bar = make("div", { class: "hsh-bar" },
    make("label", { for: chooser.id }, "Begin with ", chooser),
    make("label", { for: lock.id }, lock, " keep N·H = D"),
    make("label", { for: unit.id }, "A number has ", unit));
  const root = make("div", { class: "slf hsh", role: "group", "aria-label": "The shapes of a multi-head attention layer" },
    bar, make("div", { class: "hsh-steppers" }, Object.values(steppers).map((one) => one.box)), words, flow, totals,
    make("p", { class: "hsh-note" }, "Sides are drawn on a logarithmic scale. Learned matrices have dashed borders. Heads are sheets, eight at most; query heads that share keys and values have the same tint. Operations are those of the matrix products."));
  el.replaceChildren(root);
  choose();
  const ends = [follow(model, ["chosen"], choose), follow(model, ["bytes_per_number"], rescale)];
  return () => ends.forEach((end) => end());
}

export default { render };
