// A batch that grows. Any choice can be made, so the counting is done here; tests compare it with
// softlookup_course.widgets.batching_explorer.describe.

const HALF = 2;
/** Operations and bytes of a product (rows, inner) @ (inner, columns), each tensor moved once. */
const product = (rows, inner, columns) => ({
  flops: 2 * rows * inner * columns, bytes: HALF * (rows * inner + inner * columns + rows * columns) });
const summed = (steps) => ({
  flops: steps.reduce((sum, one) => sum + one.flops, 0), bytes: steps.reduce((sum, one) => sum + one.bytes, 0) });

function count(m, machine, stage, B, S) {
  const T = stage === "reading" ? S : 1;
  const [rows, wide, narrow] = [B * T, m.N * m.H, m.K * m.H];
  const dense = summed([product(rows, m.D, wide), product(rows, m.D, narrow), product(rows, m.D, narrow), product(rows, wide, m.D),
    ...Array.from({ length: m.matrices - 1 }, () => product(rows, m.D, m.F)), product(rows, m.F, m.D)]);
  const pairs = B * m.N * T * S;
  const attention = { flops: 4 * pairs * m.H, bytes: 2 * HALF * (B * m.N * T * m.H + B * m.K * S * m.H + pairs) };
  for (const part of [dense, attention]) {
    part.intensity = part.flops / part.bytes;
    part.rate = Math.min(machine.peak, machine.bandwidth * part.intensity);
  }
  const weight_bytes = HALF * m.product_weights; // of the table of embeddings a step reads a few rows
  const cache_bytes = 2 * B * S * m.L * narrow * HALF;
  const flops = rows * 2 * m.product_weights + m.L * attention.flops;
  const seconds = Math.max(flops / machine.peak, (weight_bytes + cache_bytes) / machine.bandwidth);
  return { ridge: machine.peak / machine.bandwidth, dense, attention, weight_bytes, cache_bytes, flops, seconds,
    tokens_per_s: rows / seconds, fits: HALF * m.parameters + cache_bytes <= machine.memory };
}

const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
/** Three digits and a prefix: "13.5 GB". */
function unit(number, name) {
  const [size, prefix] = PREFIXES.find(([one]) => number >= 0.9995 * one) ?? PREFIXES.at(-1);
  return `${three(number / size)} ${prefix}${name}`;
}

// The picture: a roof on logarithmic axes.
const BOX = { width: 440, height: 250, left: 66, right: 12, top: 14, bottom: 40 };
const SPAN = { x: [0.25, 8000], y: [1e11, 3e15] };
const along = (value, [low, high], from, to) => from + ((to - from) * Math.log(value / low)) / Math.log(high / low);
const px = (value) => along(Math.min(Math.max(value, SPAN.x[0]), SPAN.x[1]), SPAN.x, BOX.left, BOX.width - BOX.right);
const py = (value) => along(Math.min(Math.max(value, SPAN.y[0]), SPAN.y[1]), SPAN.y, BOX.height - BOX.bottom, BOX.top);

function render({ model, el }) {
  const id = nextId("bat");
  const [models, machines] = [model.get("models"), model.get("machines")];
  const [batches, lengths] = [model.get("batches"), model.get("lengths")];
  const chosen = { model: 0, machine: 0, stage: "writing", batch: 0, length: lengths.indexOf(1000) };

  const select = (name, label, options, set) => {
    const node = make("select", { id: `${id}-${name}`, "data-ask": name, onchange: () => { set(node); draw(); } },
      options.map(([value, title]) => make("option", { value }, title)));
    return make("label", { for: node.id }, `${label} `, node);
  };
  const slider = (name, label, values, start) => {
    const shown = make("output", { class: "bat-count", for: `${id}-${name}` });
    const node = make("input", { id: `${id}-${name}`, type: "range", min: 0, max: values.length - 1, step: 1, value: start,
      "data-ask": name, oninput: () => { chosen[name] = Number(node.value); draw(); } });
    const say = () => {
      shown.textContent = whole(values[chosen[name]]);
      node.setAttribute("aria-valuetext", shown.textContent);
    };
    return { node: make("label", { class: "bat-slider", for: node.id }, make("span", {}, label), node, shown), say };
  };
  const batchSlider = slider("batch", "batch B", batches, 0);
  const lengthSlider = slider("length", "tokens S", lengths, chosen.length);
  const controls = make("div", { class: "bat-bar" },
    select("model", "Model", models.map((one, i) => [i, one.name]), (node) => { chosen.model = Number(node.value); }),
    select("machine", "Machine", machines.map((one, i) => [i, one.name]), (node) => { chosen.machine = Number(node.value); }),
    select("stage", "Stage", [["writing", "decode: one token"], ["reading", "prefill: the prompt"]], (node) => { chosen.stage = node.value; }),
    batchSlider.node, lengthSlider.node);

  const picture = make("svg:svg", { class: "bat-picture", viewBox: `0 0 ${BOX.width} ${BOX.height}`, role: "img" });
  const words = make("p", { class: "slf-words bat-words", "aria-live": "polite", "aria-atomic": "true" });
  const cells = {};
  const table = make("table", { class: "slf-table bat-table" },
    make("thead", {}, make("tr", {}, make("td", {}, "one layer"), ["operations", "bytes", "FLOP/byte", "at most"].map((one) => make("th", { scope: "col" }, one)))),
    make("tbody", {}, [["dense", "dense"], ["attention", "scores, mixing"]].map(([part, title]) => make("tr", { class: `bat-${part}` },
      make("th", { scope: "row" }, title), ["flops", "bytes", "intensity", "rate"].map((key) => (cells[`${part}-${key}`] = make("td", { "data-cell": `${part}-${key}` })))))));
  const bar = make("div", { class: "bat-bytes", "aria-hidden": "true" }, make("span", { class: "bat-weights" }), make("span", { class: "bat-caches" }));
  const legend = make("p", { class: "bat-legend" });

  /** Where the points have been while the batch grew: drawn faint. */
  function sketch(m, machine, told) {
    const line = (points, cls) => make("svg:polyline", { class: cls, points: points.map(([x, y]) => `${px(x)},${py(y)}`).join(" ") });
    const text = (x, y, cls, said, anchor = "middle") => make("svg:text", { x, y, class: cls, "text-anchor": anchor }, said);
    const parts = [];
    for (const power of [0, 1, 2, 3]) parts.push(text(px(10 ** power), BOX.height - 22, "bat-tick", whole(10 ** power)));
    for (const [value, said] of [[1e12, "1 T"], [1e13, "10 T"], [1e14, "100 T"], [1e15, "1000 T"]]) {
      parts.push(make("svg:line", { class: "bat-grid", x1: BOX.left, x2: BOX.width - BOX.right, y1: py(value), y2: py(value) }));
      parts.push(text(BOX.left - 6, py(value) + 4, "bat-tick", said, "end"));
    }
    parts.push(text((BOX.left + BOX.width) / 2, BOX.height - 5, "bat-axis", "operations per byte"));
    parts.push(text(BOX.left - 6, BOX.top + 2, "bat-axis", "FLOP/s", "end"));
    parts.push(line([[SPAN.x[0], SPAN.x[0] * machine.bandwidth], [told.ridge, machine.peak], [SPAN.x[1], machine.peak]], "bat-roof"));
    parts.push(text(px(told.ridge), py(machine.peak) - 5, "bat-axis", `ridge ${three(told.ridge)}`));
    for (const part of ["attention", "dense"]) {
      const trail = batches.map((B) => count(m, machine, chosen.stage, B, lengths[chosen.length])[part]);
      for (const one of trail) parts.push(make("svg:circle", { class: `bat-trail bat-${part}`, cx: px(one.intensity), cy: py(one.rate), r: 3.5 }));
      const [x, y] = [px(told[part].intensity), py(told[part].rate)];
      parts.push(part === "dense" ? make("svg:circle", { class: "bat-point bat-dense", cx: x, cy: y, r: 7 })
        : make("svg:rect", { class: "bat-point bat-attention", x: x - 6, y: y - 6, width: 12, height: 12 }));
      const low = y > BOX.height - BOX.bottom - 24;
      const left = part === "dense" && told.dense.intensity < told.ridge / 4; // beside the roof, where attention's name is not
      parts.push(text(x + (left ? -11 : 11), y + (part === "dense" ? (left || low ? -8 : 16) : (low ? -22 : 30)), `bat-name bat-${part}`, part === "dense" ? "dense" : "attention",
        left || x > BOX.width - 90 ? "end" : "start"));
    }
    picture.replaceChildren(...parts);
  }

  function draw() {
    batchSlider.say();
    lengthSlider.say();
    const [m, machine] = [models[chosen.model], machines[chosen.machine]];
    const [B, S] = [batches[chosen.batch], lengths[chosen.length]];
    const told = count(m, machine, chosen.stage, B, S);
    for (const part of ["dense", "attention"]) {
      const written = { flops: unit(told[part].flops, "FLOP"), bytes: unit(told[part].bytes, "B"), intensity: three(told[part].intensity), rate: unit(told[part].rate, "FLOP/s") };
      for (const [key, said] of Object.entries(written)) {
        cells[`${part}-${key}`].textContent = said;
        cells[`${part}-${key}`].dataset.value = told[part][key];
      }
    }
    sketch(m, machine, told);
    const bound = (part) => (told[part].intensity < told.ridge ? "memory-bound" : "compute-bound");
    const said = `With ${whole(B)} ${B === 1 ? "sequence" : "sequences"}, the dense layers do ${three(told.dense.intensity)} operations per byte and are ${bound("dense")}; `
      + `scores and mixing do ${three(told.attention.intensity)} and are ${bound("attention")}.`;
    picture.setAttribute("aria-label", said);
    const share = told.cache_bytes / (told.weight_bytes + told.cache_bytes);
    const work = chosen.stage === "writing" ? "one token of each sequence" : "all prompts";
    words.replaceChildren(said, make("br"), strong(`The whole model takes at least ${unit(told.seconds, "s")} for ${work}: the throughput is at most ${whole(Math.round(told.tokens_per_s))} tokens per second.`),
      told.fits ? "" : " All this does not fit into the memory of the machine: choose a smaller batch or fewer tokens.");
    bar.children[0].style.flexGrow = 1 - share;
    bar.children[1].style.flexGrow = share;
    legend.textContent = `Bytes that must be moved: weights, ${unit(told.weight_bytes, "B")}, once for the whole batch; keys and values, ${unit(told.cache_bytes, "B")}, ${three(100 * share)} % of the total.`;
    for (const key of ["weight_bytes", "cache_bytes", "flops", "seconds", "tokens_per_s", "ridge", "fits"]) root.dataset[key.replaceAll("_", "")] = told[key];
  }

  const root = make("div", { class: "slf bat", role: "group", "aria-label": "Batch size in the roofline model" },
    controls, words, make("div", { class: "bat-board" }, picture, make("div", { class: "bat-side" }, table, bar, legend)));
  el.replaceChildren(root);
  draw();
}

export default { render };
