// One model whose parts can be changed. Lengths are free, so what depends on them is worked out here; tests compare it with
// softlookup_course.widgets.cost_switches.describe.

/** Every number of one choice at one length. */
function price(record, fixed, pressed, length) {
  let positions = 0;
  for (let layer = 1; layer <= fixed.layers; layer += 1) {
    positions += pressed.has("windows") && layer % fixed.every ? Math.min(fixed.window, length) : length;
  }
  return {
    stored: 2 * record.total, cache: (pressed.has("bits") ? fixed.bits : 16) * record.numbers * positions / 8,
    met: 2 * record.met, weights: 2 * record.met, mixing: 2 * record.mixed * positions,
  };
}

function render({ model, el }) {
  const id = nextId("csw");
  const [name, card, records, changes, lengths, fixed, most, costs] =
    ["name", "card", "records", "changes", "lengths", "fixed", "most", "costs"].map((trait) => model.get(trait));
  const scale = { ...most, bytes: most.memory }; // one scale for both rows of bytes
  const pressed = new Set();
  const other = { heads: "latent", latent: "heads" };
  const giga = (number) => (number < 9.95e9 ? (number / 1e9).toFixed(1) : whole(Math.round(number / 1e9)));
  const ms = (seconds) => `${Number((1e3 * seconds).toPrecision(2))} ms`;
  const priceOf = (set, length) =>
    price(records[["heads", "latent", "experts"].filter((change) => set.has(change)).join("+")], fixed, set, length);

  const buttons = changes.map(([change, words]) => make("button", { type: "button", "data-change": change, onclick: () => {
    if (!pressed.delete(change)) pressed.add(change).delete(other[change]);
    draw();
  } }, words));
  const reset = make("button", { type: "button", class: "csw-reset", "data-change": "", onclick: () => { pressed.clear(); draw(); } }, "as published");
  const shown = make("output", { for: `${id}-length` });
  const slider = make("input", { id: `${id}-length`, type: "range", min: 0, max: lengths.length - 1, step: 1, value: lengths.length - 1, "data-ask": "length", oninput: () => draw() });
  const words = make("p", { class: "slf-words csw-words", "aria-live": "polite", "aria-atomic": "true" });
  const rows = [["memory", "memory"], ["bytes", "bytes for a token"], ["flops", "operations for a token"]].filter(([key]) => costs.includes(key)).map(([key, title]) => {
    const said = make("span", { class: "csw-said" });
    const [first, second] = ["weights", "text"].map((kind) => make("span", { class: `csw-part csw-${kind}` }));
    const before = make("span", { class: "csw-before" });
    const lane = make("div", { class: "csw-lane" }, first, second, before);
    if (key === "memory") lane.append(make("span", { class: "csw-room", style: `left: ${(100 * card.memory) / scale.memory}%` }));
    return { key, said, first, second, before, node: make("div", { class: "csw-row", "aria-hidden": "true" }, make("div", { class: "csw-title" }, make("span", {}, title), said), lane) };
  });
  const key = make("p", { class: "csw-key", "aria-hidden": "true" },
    [["weights", "weights"], ["text", costs.includes("flops") ? "the text: cache, or scores and mixing" : "the text: its cache"], ["before", "as published"], ["room", `an ${card.name}'s ${giga(card.memory)} GB`]]
      .map(([kind, title]) => make("span", {}, make("span", { class: `csw-mark csw-${kind}` }), title)));

  function draw() {
    const length = lengths[slider.value];
    const [now, before] = [priceOf(pressed, length), priceOf(new Set(), length)];
    for (const button of buttons) button.setAttribute("aria-pressed", String(pressed.has(button.dataset.change)));
    reset.setAttribute("aria-pressed", String(!pressed.size));
    shown.textContent = whole(length);
    slider.setAttribute("aria-valuetext", shown.textContent);
    const sums = (one) => ({ memory: [one.stored, one.cache], bytes: [one.met, one.cache], flops: [one.weights, one.mixing] });
    const [parts, old] = [sums(now), sums(before)];
    const total = (pair) => pair[0] + pair[1];
    const [fetched, counted] = [total(parts.bytes) / card.bandwidth, total(parts.flops) / card.peak];
    const labels = { memory: `${giga(total(parts.memory))} GB`, bytes: `${giga(total(parts.bytes))} GB, ${ms(fetched)}`, flops: `${giga(total(parts.flops))} GFLOP, ${ms(counted)}` };
    for (const row of rows) {
      row.said.textContent = labels[row.key];
      row.first.style.width = `${(100 * parts[row.key][0]) / scale[row.key]}%`;
      row.second.style.width = `${(100 * parts[row.key][1]) / scale[row.key]}%`;
      row.before.style.left = `${(100 * total(old[row.key])) / scale[row.key]}%`;
    }
    const fits = total(parts.memory) <= card.memory;
    const what = changes.filter(([change]) => pressed.has(change)).map(([, title]) => title);
    const told = what.length ? [name, ...what].join(" + ") : `${name} as published`;
    words.replaceChildren(strong(told), `: with the cache of ${whole(length)} tokens it takes ${labels.memory} and `, strong(fits ? "fits" : "does not fit"), ` on the card. `,
      ...(costs.includes("bytes") ? [`The next token fetches ${giga(total(parts.bytes))} GB and takes ${giga(total(parts.flops))} GFLOP, so it needs `, strong(`at least ${ms(Math.max(fetched, counted))}`), fetched > counted ? ", the time of the bytes." : ", the time of the operations."] : [`The cache alone takes ${giga(parts.memory[1])} GB.`]));
    Object.assign(root.dataset, { changes: [...pressed].join(), length, fits, ...now });
  }

  const root = make("div", { class: "slf slf-buttons csw", role: "group", "aria-label": `${name}, its parts changed` },
    make("div", { class: "csw-bar", role: "group", "aria-label": "What is changed" }, reset, buttons),
    make("label", { class: "csw-slider", for: slider.id }, make("span", {}, "tokens of text"), slider, shown),
    words, rows.map((row) => row.node), key);
  el.replaceChildren(root);
  draw();
}

export default { render };
