// A published config, read. Lengths are free, so what depends on them is worked out here; tests compare it with
// softlookup_course.widgets.config_reader.describe.

const SCALES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const CLASSES = { "table of tokens": "table", "output matrix": "output", attention: "attention", "feed-forward": "feed", "experts not chosen": "rest", norms: "norms" };

/** A large number as a person reads it: 8.03 G. */
function readable(number, unit) {
  const [size, prefix] = SCALES.find(([least]) => number >= 0.9995 * least) ?? [1, ""];
  return `${Number((number / size).toPrecision(3)).toLocaleString("en-GB")} ${prefix}${unit}`;
}
/** A number of parameters in words. */
function inWords(number) {
  return number >= 0.9995e9 ? `${Number((number / 1e9).toPrecision(3))} billion` : `${Number((number / 1e6).toPrecision(3))} million`;
}

/** Every number that depends on the length. */
function count(record, length, each) {
  const held = record.windows.map((window) => (window ? Math.min(window, length) : length));
  const all = held.reduce((a, b) => a + b, 0);
  return {
    held, cache: each * record.numbers * all, plain: each * record.full * length * held.length,
    weights: 2 * record.products, mixing: 2 * record.mixed * all,
  };
}

function render({ model, el }) {
  const id = nextId("cfg");
  const [models, lengths, numbers] = ["models", "lengths", "numbers"].map((name) => model.get(name));
  const chosen = { model: model.get("first"), length: lengths.length - 3, each: numbers[0][0] };

  const select = (name, label, options, now, set) => {
    const node = make("select", { id: `${id}-${name}`, "data-ask": name, onchange: () => { set(node.value); draw(); } },
      options.map(([value, title]) => make("option", { value, ...(value === now ? { selected: "" } : {}) }, title)));
    return make("label", { for: node.id }, `${label} `, node);
  };
  const shown = make("output", { for: `${id}-length` });
  const slider = make("input", { id: `${id}-length`, type: "range", min: 0, max: lengths.length - 1, step: 1, value: chosen.length,
    "data-ask": "length", oninput: () => { chosen.length = Number(slider.value); draw(); } });
  const controls = make("div", { class: "cfg-bar" },
    select("model", "Model", Object.keys(models).sort((a, b) => models[a].active - models[b].active).map((name) => [name, name]), chosen.model, (value) => { chosen.model = value; }),
    make("label", { class: "cfg-slider", for: slider.id }, make("span", {}, "tokens of text"), slider, shown),
    select("each", "cache in", numbers, chosen.each, (value) => { chosen.each = Number(value); }));
  const words = make("p", { class: "cfg-words", "aria-live": "polite", "aria-atomic": "true" });
  const bar = make("div", { class: "cfg-stack", "aria-hidden": "true" });
  const legend = make("ul", { class: "cfg-legend" });
  const strip = make("div", { class: "cfg-layers", role: "img" });
  const stripWords = make("p", { class: "cfg-note" });
  const body = make("tbody", {});

  function layersOf(record, now, length) {
    const seen = record.windows.map((window) => (window && window < length ? "window" : "all"));
    strip.replaceChildren(...seen.map((kind, i) => make("span", {
      class: `cfg-layer cfg-${kind}${record.rotary[i] ? "" : " cfg-plain"}`, "data-held": now.held[i],
      style: `height: ${Math.max(8, Math.round((100 * now.held[i]) / length))}%`, title: `layer ${i + 1}: ${whole(now.held[i])} positions` })));
    const narrow = seen.filter((kind) => kind === "window").length;
    const unturned = record.rotary.filter((one) => !one).length;
    const what = [narrow ? `${narrow} of ${seen.length} layers hold a window of ${whole(record.windows.find((one) => one))} positions` : `all ${seen.length} layers hold all ${whole(length)} positions`,
      unturned ? `${unturned} have no rotary positions (striped)` : ""].filter(Boolean).join("; ");
    stripWords.textContent = `Layers, from the first to the last, and what each caches: ${what}.`;
    strip.setAttribute("aria-label", stripWords.textContent);
  }

  function draw() {
    const record = models[chosen.model];
    const length = lengths[chosen.length];
    const now = count(record, length, chosen.each);
    shown.textContent = whole(length);
    slider.setAttribute("aria-valuetext", shown.textContent);
    const parts = Object.entries(record.parts).filter(([, number]) => number);
    const total = parts.reduce((sum, [, number]) => sum + number, 0);
    const times = now.plain / now.cache;
    words.replaceChildren(strong(chosen.model), ` has ${inWords(total)} parameters`,
      record.active < total ? `, of which a token meets ${inWords(record.active)}. ` : ". ",
      `After ${whole(length)} tokens its cache takes `, strong(readable(now.cache, "B")),
      times > 1.005 ? `, ${times.toFixed(1)} times less than full heads without windows would take. ` : ". ",
      "The next token costs ", strong(readable(now.weights + now.mixing, "FLOP")), ".");
    bar.replaceChildren(...parts.map(([name, number]) => make("span", { class: `cfg-part cfg-is-${CLASSES[name]}`, style: `width: ${(100 * number) / total}%` })));
    legend.replaceChildren(...parts.map(([name, number]) => make("li", { "data-part": name, "data-count": number },
      make("span", { class: `cfg-key cfg-is-${CLASSES[name]}` }), `${name}: ${readable(number, "").trim()}`)));
    layersOf(record, now, length);
    const rows = [["operations with weights, for one token", readable(now.weights, "FLOP")], ["operations of scores and mixing", readable(now.mixing, "FLOP")],
      ["bytes of cache", readable(now.cache, "B")], ["the same with full heads and no windows", readable(now.plain, "B")]];
    body.replaceChildren(...rows.map(([name, text]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text))));
    Object.assign(root.dataset, { model: chosen.model, length, total, active: record.active, cache: now.cache, plain: now.plain, weights: now.weights, mixing: now.mixing });
  }

  const root = make("div", { class: "slf slf-buttons cfg", role: "group", "aria-label": "A config.json, read" },
    controls, words, bar, legend, strip, stripWords, make("table", { class: "slf-table cfg-table" }, body));
  el.replaceChildren(root);
  draw();
}

export default { render };
