// Three computations on square matrices. Any side can be chosen, so operations, bytes and times are counted here; tests compare
// them with softlookup_course.widgets.work_and_bytes.describe.

const FLOAT = 4;
const COMPUTATIONS = [
  ["matrix + matrix", (n) => ({ flops: n ** 2, bytes: FLOAT * 3 * n ** 2 })],
  ["matrix × vector", (n) => ({ flops: 2 * n ** 2, bytes: FLOAT * (n ** 2 + 2 * n) })],
  ["matrix × matrix", (n) => ({ flops: 2 * n ** 3, bytes: FLOAT * 3 * n ** 2 })],
];
const LANES = ["moving", "computing"];

/** Three digits and a prefix: "50.3 MB". */
function amount(number, unit) {
  const [size, prefix] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([limit]) => number >= 0.9995 * limit) ?? [1, ""];
  return `${three(number / size)} ${prefix}${unit}`;
}
function time(seconds) {
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]].find(([limit]) => seconds >= 0.9995 * limit) ?? [1e-9, "ns"];
  return `${three(seconds / size)} ${unit}`;
}

function render({ model, el }) {
  const id = nextId("wab");
  const sides = model.get("sides");
  let side = sides[0];
  const faster = { computing: 1, moving: 1 };

  const shown = make("output", { class: "wab-value", for: `${id}-side` });
  const slider = make("input", { type: "range", id: `${id}-side`, min: 0, max: sides.length - 1, step: 1, value: 0, oninput: () => {
    side = sides[Number(slider.value)];
    draw();
  } });
  const doubles = [["computing", "twice the peak"], ["moving", "twice the bandwidth"]].map(([lane, title]) =>
    make("button", { type: "button", "data-double": lane, onclick: () => {
      faster[lane] = 3 - faster[lane];
      draw();
    } }, title));

  const rows = COMPUTATIONS.map(([name, count]) => {
    const counts = make("span", { class: "wab-counts" });
    const lanes = LANES.map((lane) => {
      const bar = make("span", { class: `wab-bar wab-${lane}` });
      const took = make("span", { class: "wab-time" });
      return { lane, bar, took, node: make("div", { class: "wab-lane" }, make("span", {}, lane), make("span", { class: "wab-track", "aria-hidden": "true" }, bar), took) };
    });
    return { name, count, counts, lanes, node: make("div", { class: "wab-row", "data-name": name }, make("p", {}, strong(name), counts), lanes.map((one) => one.node)) };
  });
  const words = make("p", { class: "slf-words wab-words", "aria-live": "polite", "aria-atomic": "true" });

  function draw() {
    shown.textContent = whole(side);
    slider.setAttribute("aria-valuetext", shown.textContent);
    for (const button of doubles) button.setAttribute("aria-pressed", String(faster[button.dataset.double] === 2));
    const waits = { moving: [], computing: [] };
    const shares = [];
    for (const { name, count, counts, lanes, node } of rows) {
      const { flops, bytes } = count(side);
      const printed = { computing: flops / model.get("peak"), moving: bytes / model.get("bandwidth") };
      const seconds = { computing: printed.computing / faster.computing, moving: printed.moving / faster.moving };
      const least = Math.max(...Object.values(seconds));
      const all = Math.max(...Object.values(printed)); // as wide as a lane, so that a faster machine shortens the bars
      counts.textContent = `${amount(flops, "FLOP")} with ${amount(bytes, "B")}: ${three(flops / bytes)} FLOP/B`;
      for (const { lane, bar, took } of lanes) {
        bar.style.width = `${(100 * seconds[lane]) / all}%`;
        took.textContent = time(seconds[lane]);
        took.classList.toggle("wab-longer", seconds[lane] === least);
      }
      waits[seconds.computing > seconds.moving ? "computing" : "moving"].push(name);
      shares.push(Math.round((100 * least) / all));
      Object.assign(node.dataset, { flops, bytes, ...seconds, least });
    }
    const list = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]);
    const parts = [["moving", "memory"], ["computing", "the arithmetic units"]].filter(([lane]) => waits[lane].length)
      .map(([lane, what]) => `${list(waits[lane])} ${waits[lane].length > 1 ? "wait" : "waits"} for ${what}`);
    const doubled = faster.computing + faster.moving > 2;
    words.replaceChildren(strong(`With sides of ${whole(side)}`), `, ${parts.join("; ")}.`,
      doubled ? ` On the faster machine the three take ${shares[0]} %, ${shares[1]} % and ${shares[2]} % of their time.` : "");
  }

  el.replaceChildren(make("div", { class: "slf slf-buttons wab", role: "group", "aria-label": "Work and bytes of three computations" },
    make("div", { class: "wab-bar-of-choices" }, make("label", { class: "wab-slider", for: slider.id }, make("span", {}, "side of the matrices"), slider, shown), doubles),
    words, rows.map((row) => row.node),
    make("p", { class: "wab-about" }, `${model.get("machine")}, float32. Each full lane is the least time on the machine as its data sheet has it.`)));
  draw();
}

export default { render };
