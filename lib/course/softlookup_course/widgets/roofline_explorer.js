// A layer's operations under a machine's roof. Sizes can be chosen freely, so operations and bytes are counted here;
// tests compare them with softlookup_course.widgets.roofline_explorer.describe.

const RFL = { wide: 440, high: 330, left: 98, right: 12, top: 14, bottom: 44 };
const X_SPAN = [0.05, 20000];
const powers = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => 2 ** (first + i));
const CHOICES = {
  B: { title: "sequences B", values: powers(0, 10) },
  S: { title: "tokens S", values: powers(4, 15) },
  N: { title: "heads N", values: powers(0, 7) },
  H: { title: "head width H", values: powers(4, 8) },
};
const PARTS = { attention: "attention", "feed-forward": "feed-forward", norm: "norms and sums", residual: "norms and sums" };

/** 1234567 as "1.23 M": three digits and a prefix. */
function short(number) {
  const steps = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const [size, prefix] = steps.find(([limit]) => number >= 0.9995 * limit) ?? [1, ""];
  return `${Number((number / size).toPrecision(3))} ${prefix}`;
}
function time(seconds) {
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]].find(([limit]) => seconds >= 0.9995 * limit) ?? [1e-9, "ns"];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}
/** A rate in TFLOP/s from one of them on, also beyond a thousand, so that it reads as data sheets print it. */
function speed(rate) {
  return rate >= 0.9995e15 ? `${Number((rate / 1e12).toPrecision(3))} TFLOP/s` : `${short(rate)}FLOP/s`;
}
const plainly = (number) => (number < 10 ? Number(number.toPrecision(2)) : Math.round(number)).toLocaleString("en-GB");

/** A layer's operations in order: products and elementwise work, each with the tensors that it reads and writes. */
function layerOf({ B, S, N, H }, decode, width, works) {
  const [D, T] = [N * H, decode ? 1 : S];
  const [F, pairs] = [4 * D, B * N * T * S];
  const size = (tensors) => tensors.reduce((sum, [, shape]) => sum + shape.reduce((a, b) => a * b, 1), 0);
  const one = (name, part, flops, reads, writes) => ({ name, part, flops, reads, writes, bytes: width * size([...reads, ...writes]) });
  const dense = (name, part, from, to, of = "x") => one(name, part, 2 * B * T * from * to,
    [[of, [B, T, from]], [`w ${name}`, [from, to]]], [[name, [B, T, to]]]);
  const each = (name, part, kind, wide, more = []) => one(name, part, works[kind] * B * T * wide, [["x", [B, T, wide]], ...more], [[name, [B, T, wide]]]);
  const norm = (name) => each(name, "norm", "layer", D, [["gain", [D]], ["shift", [D]]]);
  const sum = (name) => each(name, "residual", "add", D, [["sublayer", [B, T, D]]]);
  const [q, k, v] = [["q", [B, N, T, H]], ["k", [B, N, S, H]], ["v", [B, N, S, H]]];
  const [scores, weights] = [["scores", [B, N, T, S]], ["weights", [B, N, T, S]]];
  return [
    norm("norm 1"), dense("q", "attention", D, D), dense("k", "attention", D, D), dense("v", "attention", D, D),
    one("scores", "attention", 2 * pairs * H, [q, k], [scores]),
    one("softmax", "attention", works.softmax * pairs, [scores], [weights]),
    one("mix", "attention", 2 * pairs * H, [weights, v], [["mixed", [B, N, T, H]]]),
    dense("output", "attention", D, D, "mixed"), sum("add 1"),
    norm("norm 2"), dense("up", "feed-forward", D, F), each("relu", "feed-forward", "relu", F), dense("down", "feed-forward", F, D, "hidden"), sum("add 2"),
  ];
}

function render({ model, el }) {
  const id = nextId("rfl");
  const [machines, widths, works] = [model.get("machines"), model.get("number_bytes"), model.get("works")];
  const sizes = { ...model.get("sizes") };
  let [machine, dtype, phase, chosen] = [machines[0], model.get("dtype"), "prefill", null];
  let [steps, groups] = [[], []];

  const hardware = make("select", { id: `${id}-machine`, onchange: () => {
    machine = machines[hardware.selectedIndex];
    kinds();
    draw();
  } }, machines.map((one) => make("option", {}, one.name)));
  const kind = make("select", { id: `${id}-kind`, onchange: () => {
    dtype = kind.value;
    draw();
  } });
  function kinds() {
    if (!(dtype in machine.peaks)) dtype = machine.kinds[0];
    kind.replaceChildren(...machine.kinds.map((name) => make("option", { value: name }, name)));
    kind.value = dtype;
  }
  const phases = ["prefill", "decode"].map((name) => make("button", { type: "button", "data-phase": name, onclick: () => {
    phase = name;
    draw();
  } }, name));

  const sliders = Object.entries(CHOICES).map(([letter, { title, values }]) => {
    const shown = make("output", { class: "rfl-value", for: `${id}-${letter}` }, whole(sizes[letter]));
    const slider = make("input", { type: "range", id: `${id}-${letter}`, "data-letter": letter, min: 0, max: values.length - 1, step: 1,
      value: values.indexOf(sizes[letter]), "aria-valuetext": String(sizes[letter]), oninput: () => {
        sizes[letter] = values[Number(slider.value)];
        shown.textContent = whole(sizes[letter]);
        slider.setAttribute("aria-valuetext", String(sizes[letter]));
        draw();
      } });
    return make("label", { class: "rfl-slider", for: slider.id }, make("span", {}, title), slider, shown);
  });

  const words = make("p", { class: "slf-words rfl-words", "aria-live": "polite", "aria-atomic": "true" });
  const total = make("p", { class: "rfl-total" });
  const plot = make("svg:svg", { class: "rfl-plot", viewBox: `0 0 ${RFL.wide} ${RFL.high}`, role: "group", "aria-label": "Operations in the roofline diagram" });
  const rows = make("tbody");
  const table = make("table", { class: "slf-table rfl-table" }, make("caption", {}, "Operations of a layer"), make("thead", {}, make("tr", {},
    ["operation", "FLOP", "bytes", "FLOP/B", "least time"].map((one) => make("th", { scope: "col" }, one)))), rows);

  const ridge = () => machine.peaks[dtype] / machine.bandwidth;
  const rate = (at) => Math.min(machine.peaks[dtype], machine.bandwidth * at);

  function count() {
    steps = layerOf(sizes, phase === "decode", widths[dtype], works).map((one) => {
      const intensity = one.flops / one.bytes;
      const edge = ridge();
      const bound = Math.abs(intensity - edge) <= 1e-9 * edge ? "both" : intensity < edge ? "memory" : "compute";
      return { ...one, intensity, bound, rate: rate(intensity), seconds: Math.max(one.flops / machine.peaks[dtype], one.bytes / machine.bandwidth) };
    });
  }

  function choose(name) {
    chosen = name;
    show_chosen();
  }

  /** Points lie on each other: pressing again gives the next one that lies there. */
  function press(name) {
    const here = groups.find((names) => names.includes(name));
    choose(here.includes(chosen) ? here[(here.indexOf(chosen) + 1) % here.length] : name);
  }

  function show_chosen() {
    if (!chosen) {
      words.replaceChildren("Each point is one operation of the layer. Press one to see its operations, its bytes and its limit.");
      return;
    }
    const one = steps.find((step) => step.name === chosen);
    const here = groups.find((names) => names.includes(chosen));
    const tensors = (list) => list.map(([name, shape]) => `${name} (${shape.join(", ")})`).join(", ");
    const held = { memory: "Memory-bound: the compute units wait for bytes.", compute: "Compute-bound: bytes wait for the compute units.", both: "Exactly at the ridge point." };
    words.replaceChildren(strong(one.name), `: ${short(one.flops)}FLOP, ${short(one.bytes)}B, so ${plainly(one.intensity)} FLOP/B. It reads ${tensors(one.reads)}, and writes ${tensors(one.writes)}. `,
      strong(held[one.bound]), ` The rate is at most ${speed(one.rate)}, and the time at least ${time(one.seconds)}.`,
      here.length > 1 ? ` (${here.length} operations lie at this point: press again for the next.)` : "");
    for (const node of plot.querySelectorAll(".rfl-point")) {
      node.classList.toggle("rfl-chosen", node.dataset.name === chosen);
      if (node.dataset.name === chosen) plot.append(node); // drawn last, so that it lies on top
    }
    for (const row of rows.rows) {
      row.classList.toggle("rfl-chosen", row.dataset.name === chosen);
      row.querySelector("button").setAttribute("aria-pressed", String(row.dataset.name === chosen));
    }
  }

  function draw() {
    count();
    for (const button of phases) button.setAttribute("aria-pressed", String(button.dataset.phase === phase));
    const [peak, edge] = [machine.peaks[dtype], ridge()];
    const y_span = [Math.min(machine.bandwidth * X_SPAN[0], peak / 100), peak * 4]; // at least two powers of ten
    const place = (value, [low, high], from, to) => from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
    const x = (at) => place(Math.min(Math.max(at, X_SPAN[0]), X_SPAN[1]), X_SPAN, RFL.left, RFL.wide - RFL.right);
    const y = (at) => place(Math.max(at, y_span[0]), y_span, RFL.high - RFL.bottom, RFL.top);
    const text = (at, to, content, more = {}) => make("svg:text", { x: at, y: to, ...more }, content);
    const tens = ([low, high]) => Array.from({ length: Math.floor(Math.log10(high)) - Math.ceil(Math.log10(low)) + 1 }, (_, i) => 10 ** (Math.ceil(Math.log10(low)) + i));
    const bottom = RFL.high - RFL.bottom;
    const nodes = [];
    for (const at of tens(X_SPAN)) nodes.push(make("svg:path", { class: "rfl-grid", d: `M${x(at)} ${RFL.top}V${bottom}` }), text(x(at), bottom + 15, whole(at), { "text-anchor": "middle" }));
    for (const at of tens(y_span)) nodes.push(make("svg:path", { class: "rfl-grid", d: `M${RFL.left} ${y(at)}H${RFL.wide - RFL.right}` }), text(RFL.left - 5, y(at) + 4, speed(at), { "text-anchor": "end" }));
    nodes.push(text((RFL.left + RFL.wide) / 2, RFL.high - 8, "arithmetic intensity (FLOP/B)", { "text-anchor": "middle", class: "rfl-axis" }),
      text(10, (RFL.top + bottom) / 2, "attainable rate", { "text-anchor": "middle", class: "rfl-axis", transform: `rotate(-90 10 ${(RFL.top + bottom) / 2})` }),
      make("svg:path", { class: "rfl-ridge", d: `M${x(edge)} ${y(peak)}V${bottom}` }),
      make("svg:path", { class: "rfl-roof", d: `M${x(X_SPAN[0])} ${y(rate(X_SPAN[0]))}L${x(edge)} ${y(peak)}H${x(X_SPAN[1])}` }),
      text(x(edge) + 4, bottom - 5, `ridge ${plainly(edge)}`, { class: "rfl-axis" }));
    const taken = [];
    for (const one of [...steps].sort((a, b) => a.intensity - b.intensity)) {
      const [px, py] = [x(one.intensity), y(one.rate)];
      const near = taken.find((label) => Math.hypot(label.px - px, label.py - py) < 11);
      if (near) near.names.push(one.name);
      else taken.push({ px, py, names: [one.name] });
      const point = make("svg:circle", { class: `rfl-point rfl-${one.part}`, cx: px, cy: py, r: 5.5, "data-name": one.name, onclick: () => press(one.name) });
      point.append(make("svg:title", {}, one.name));
      nodes.push(point);
    }
    // Names stand beside the slope to the right of their point, on the flat part above it; none on another.
    const boxes = [];
    for (const label of taken) {
      const names = label.names.length > 3 ? `${label.names.slice(0, 2).join(", ")} + ${label.names.length - 2}` : label.names.join(", ");
      const half = names.length * 3.1;
      const sloped = label.px < x(edge) - 1;
      const at = Math.min(Math.max(sloped ? label.px + 8 + half : label.px, RFL.left + half), RFL.wide - RFL.right - half);
      let to = label.py + (sloped ? 10 : -11);
      const meets = (box) => Math.abs(box.at - at) < box.half + half + 4 && Math.abs(box.to - to) < 12;
      while (boxes.some(meets)) to += sloped ? 4 : -4;
      boxes.push({ at, half, to });
      nodes.push(text(at, to, names, { "text-anchor": "middle", class: "rfl-name" }));
    }
    groups = taken.map((label) => label.names);
    plot.replaceChildren(...nodes);
    rows.replaceChildren(...steps.map((one) => make("tr", { "data-name": one.name, "data-flops": one.flops, "data-bytes": one.bytes, "data-seconds": one.seconds, "data-bound": one.bound },
      make("th", { scope: "row" }, make("button", { type: "button", "aria-pressed": "false", onclick: () => choose(one.name) }, one.name)),
      make("td", {}, short(one.flops)), make("td", {}, short(one.bytes)), make("td", {}, plainly(one.intensity)), make("td", {}, time(one.seconds)))));
    const all = steps.reduce((sum, one) => sum + one.seconds, 0);
    const waiting = steps.filter((one) => one.bound === "memory").reduce((sum, one) => sum + one.seconds, 0);
    const tokens = phase === "decode" ? sizes.B : sizes.B * sizes.S;
    total.replaceChildren(strong("The layer"), ` takes at least ${time(all)}, or ${time(all / tokens)} per token, and is memory-bound for ${Math.round((100 * waiting) / all)} % of that time. The model width is D = N H = ${whole(sizes.N * sizes.H)}, the hidden width 4 D.`);
    total.dataset.seconds = all;
    show_chosen();
  }

  const legend = make("p", { class: "rfl-legend" }, [...new Set(Object.values(PARTS))].map((title) =>
    make("span", {}, make("span", { class: `rfl-key rfl-${Object.keys(PARTS).find((part) => PARTS[part] === title)}`, "aria-hidden": "true" }), title)));
  el.replaceChildren(make("div", { class: "slf slf-buttons rfl", role: "group", "aria-label": "Roofline model of a layer" },
    make("div", { class: "rfl-bar" }, make("label", { for: hardware.id }, "Machine ", hardware), make("label", { for: kind.id }, "Numbers ", kind),
      make("div", { class: "rfl-phases", role: "group", "aria-label": "Phase" }, phases)),
    make("div", { class: "rfl-sliders" }, sliders), words, plot, legend, total,
    make("details", {}, make("summary", {}, "All operations as a table"), make("div", { class: "rfl-scroll", tabindex: 0, role: "group", "aria-label": "Table of operations" }, table))));
  kinds();
  draw();
}

export default { render };
