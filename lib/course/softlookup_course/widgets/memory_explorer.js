// What lies in memory. Any choice can be made, so the counting is done here; tests compare it with
// softlookup_course.widgets.memory_explorer.describe_writing and describe_learning.

const TWO = 2;
const NAMES = { weights: "weights", gradients: "gradients", master: "master copy", optimizer: "Adam's states", activations: "activations", logits: "logits", cache: "keys and values" };
const STATES = ["weights", "gradients", "master", "optimizer"]; // a page that was kept gives the keys of a record in any order
const RECIPE_TITLES = { master: "half precision, master copy", autocast: "float32 with autocast", float32: "float32", half: "bfloat16 throughout", sgd: "float32, no momentum" };
const GIB = 2 ** 30;

/** Bytes of every part while the model writes. */
function writing(m, B, S, size) {
  return { weights: m.parameters * size, cache: 2 * B * S * m.L * m.K * m.H * size };
}

/** Bytes of every part while it learns, all layers forward and none back. */
function learning(m, B, T, recipe, fused, recompute) {
  const tokens = B * T;
  const narrow = 4 * m.D + 2 * m.N * m.H + 2 * m.K * m.H; // inputs of both norms and what follows them; q and the mixture; k and v
  const layer = TWO * (tokens * (narrow + (m.gated ? 4 : 2) * m.F) + (fused ? 0 : B * m.N * T * T));
  const states = Object.fromEntries(STATES.filter((part) => part in recipe).map((part) => [part, recipe[part] * m.parameters]));
  return { ...states, activations: recompute ? m.L * tokens * m.D * TWO + layer : m.L * layer, logits: 8 * tokens * m.V };
}

const giga = (bytes) => (bytes >= 0.9995e9 ? `${Number((bytes / 1e9).toPrecision(3)).toLocaleString("en-GB")} GB` : `${Number((bytes / 1e6).toPrecision(3))} MB`);

function render({ model, el }) {
  const id = nextId("mem");
  const [models, machines, recipes, numbers] = ["models", "machines", "recipes", "numbers"].map((name) => model.get(name));
  const [batches, lengths] = [model.get("batches"), model.get("lengths")];
  const chosen = { model: 0, machine: 0, use: "writing", numbers: numbers[0][0], recipe: "master", fused: true, recompute: false,
    batch: 0, length: lengths.indexOf(4096) };

  const select = (name, label, options, set) => {
    const node = make("select", { id: `${id}-${name}`, "data-ask": name, onchange: () => { set(node.value); draw(); } },
      options.map(([value, title]) => make("option", { value }, title)));
    return make("label", { for: node.id }, `${label} `, node);
  };
  const tick = (name, label) => {
    const node = make("input", { id: `${id}-${name}`, type: "checkbox", "data-ask": name, onchange: () => { chosen[name] = node.checked; draw(); } });
    node.checked = chosen[name];
    return make("label", { for: node.id }, node, ` ${label}`);
  };
  const slider = (name, label, values) => {
    const shown = make("output", { class: "mem-count", for: `${id}-${name}` });
    const node = make("input", { id: `${id}-${name}`, type: "range", min: 0, max: values.length - 1, step: 1, value: chosen[name],
      "data-ask": name, oninput: () => { chosen[name] = Number(node.value); draw(); } });
    const say = () => {
      shown.textContent = whole(values[chosen[name]]);
      node.setAttribute("aria-valuetext", shown.textContent);
    };
    return { node: make("label", { class: "mem-slider", for: node.id }, make("span", {}, label), node, shown), say };
  };
  const [batchSlider, lengthSlider] = [slider("batch", "batch B", batches), slider("length", "tokens per sequence", lengths)];
  const forWriting = select("numbers", "Numbers", numbers.map(([one]) => [one, one]), (value) => { chosen.numbers = value; });
  const forLearning = [
    select("recipe", "Recipe", Object.keys(RECIPE_TITLES).filter((one) => one in recipes).map((one) => [one, RECIPE_TITLES[one]]), (value) => { chosen.recipe = value; }),
    tick("fused", "scores are not stored (fused attention)"), tick("recompute", "activations are recomputed")];
  const controls = make("div", { class: "mem-bar" },
    select("model", "Model", models.map((one, i) => [i, one.name]), (value) => { chosen.model = Number(value); }),
    select("machine", "Device", machines.map((one, i) => [i, `${one.name}, ${giga(one.memory)}`]), (value) => { chosen.machine = Number(value); }),
    select("use", "Use", [["writing", "inference"], ["learning", "training"]], (value) => { chosen.use = value; }),
    forWriting, ...forLearning, batchSlider.node, lengthSlider.node);

  const verdict = make("p", { class: "mem-verdict", "aria-live": "polite", "aria-atomic": "true" });
  const bar = make("div", { class: "mem-stack", "aria-hidden": "true" });
  const body = make("tbody", {});
  const table = make("table", { class: "slf-table mem-table" },
    make("thead", {}, make("tr", {}, ["part", "GB", "GiB", "share"].map((one) => make("th", { scope: "col" }, one)))), body);

  function draw() {
    batchSlider.say();
    lengthSlider.say();
    const [m, machine] = [models[chosen.model], machines[chosen.machine]];
    const [B, T] = [batches[chosen.batch], lengths[chosen.length]];
    const writes = chosen.use === "writing";
    forWriting.hidden = !writes;
    for (const one of forLearning) one.hidden = writes;
    const parts = writes ? writing(m, B, T, Object.fromEntries(numbers)[chosen.numbers]) : learning(m, B, T, recipes[chosen.recipe], chosen.fused, chosen.recompute);
    const all = Object.values(parts).reduce((sum, one) => sum + one, 0);
    const scale = Math.max(all, machine.memory);
    const row = (name, cls, bytes) => make("tr", { class: cls, "data-part": name, "data-bytes": bytes },
      make("th", { scope: "row" }, make("span", { class: `mem-key mem-${name}` }), NAMES[name] ?? name),
      make("td", {}, (bytes / 1e9).toFixed(2)), make("td", {}, (bytes / GIB).toFixed(2)), make("td", {}, `${Math.round((100 * bytes) / all)} %`));
    const shown = Object.entries(parts).filter(([, bytes]) => bytes);
    body.replaceChildren(...shown.map(([name, bytes]) => row(name, "", bytes)), row("all", "mem-all", all));
    bar.replaceChildren(...shown.map(([name, bytes]) => make("span", { class: `mem-part mem-${name}`, style: `width: ${(100 * bytes) / scale}%` })),
      make("span", { class: "mem-limit", style: `left: ${(100 * machine.memory) / scale}%` }));
    const fits = all <= machine.memory;
    let more = "";
    if (writes) {
      const most = Math.max(0, Math.floor((machine.memory - parts.weights) / (parts.cache / B)));
      root.dataset.most = most;
      more = most ? ` At most ${whole(most)} ${most === 1 ? "sequence" : "sequences"} of this length fit beside the weights.`
        : parts.weights > machine.memory ? " The weights alone do not fit." : " Not even one sequence of this length fits beside the weights.";
    } else {
      delete root.dataset.most;
      more = fits ? "" : ` At least ${Math.ceil(all / machine.memory)} such devices would be needed, even if everything could be split evenly between them.`;
    }
    if (m.positions && T > m.positions) more += ` The model has positions for ${whole(m.positions)} tokens only: this length is counted as if it had more.`;
    verdict.replaceChildren(strong(fits ? "It fits: " : "It does not fit: "), `${giga(all)} of ${giga(machine.memory)}.${more}`);
    verdict.classList.toggle("mem-too-much", !fits);
    Object.assign(root.dataset, { all, fits });
  }

  const root = make("div", { class: "slf mem", role: "group", "aria-label": "Does the model fit into the memory?" }, controls, verdict, bar, table);
  el.replaceChildren(root);
  draw();
}

export default { render };
