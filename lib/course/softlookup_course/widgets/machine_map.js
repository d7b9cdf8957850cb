// The machine on one page. Python sends every number; this file draws the map and says what a part does to one token.

const ENCODER_WEIGHTS = "self-attention";
const DECODER_WEIGHTS = ["masked-attention", "cross-attention"];
const NORMS = ["attention-norm", "feed-forward-norm", "encoder-norm", "masked-norm", "cross-norm", "decoder-feed-forward-norm", "decoder-norm", "final-norm"];

const quoted = (word) => `“${word}”`;

/** Keep a number between the first and the last place of a list. */
const within = (place, list) => Math.max(0, Math.min(list.length - 1, place));

/** What a part makes of the chosen token: its shapes, a sentence, and rows of [name, number, share of a bar]. */
function tell(part, run, sizes, { layer, word, step }) {
  const { D, N, H, F, V, L } = sizes.letters;
  const S = run.source.length;
  const T = step + 1; // as many words are there when the next one is looked for
  const read = run.source[word];
  const wrote = run.target[step];
  const numbers = (name, row) => run.vectors[name][row].map(show);
  const vectorRows = (name, row) => numbers(name, row).map((text, i) => [`number ${i + 1}`, text, null]);
  const bars = (names, shares) => names.map((name, i) => [name, show(shares[i]), shares[i]]);
  const most = (names, shares) => names[shares.indexOf(Math.max(...shares))];
  const attended = (table, row, names, who) => {
    const shares = table[layer][row].slice(0, names.length);
    const best = most(names, shares);
    return {
      said: `In layer ${layer + 1}, ${quoted(who)} attends most to ${quoted(best)}: ${show(Math.max(...shares))} of its attention weight (mean of ${N} heads).`,
      rows: bars(names, shares),
    };
  };
  const size = (table, row) => {
    const [before, after] = [table[layer][row], table[layer + 1][row]];
    return {
      said: `The vector of ${quoted(part.side === "encoder" ? read : wrote)} enters layer ${layer + 1} with length ${show(before)} and leaves it with ${show(after)}.`,
      rows: table.map((lengths, i) => [i === 0 ? "before layer 1" : `after layer ${i}`, show(lengths[row]), lengths[row] / Math.max(...table.map((one) => one[row]))]),
    };
  };
  const hidden = (table, row, who) => {
    const active = table[layer][row];
    const found = active === 0 ? `none of the ${whole(F)} hidden units is above zero for ${quoted(who)}.`
      : `${whole(active)} of the ${whole(F)} hidden units ${active === 1 ? "is" : "are"} above zero for ${quoted(who)}; the others are set to zero.`;
    return {
      said: `In layer ${layer + 1}, ${found}`,
      rows: table.map((counts, i) => [`layer ${i + 1}`, `${whole(counts[row])} of ${whole(F)}`, counts[row] / F]),
    };
  };
  const normed = (table, row, who) => {
    const [before, after] = table[part.block ? layer : 0].map((lengths) => lengths[row]);
    const most = Math.max(before, after);
    return {
      said: `${part.block ? `In layer ${layer + 1}` : "After the last layer"}, the norm changes the length of the vector of ${quoted(who)} from ${show(before)} to ${show(after)}.`,
      rows: [["before the norm", show(before), before / most], ["after the norm", show(after), after / most]],
    };
  };
  const attention = (long, wide) => `Queries, keys and values: ${N} heads of width ${H}. Weights (N, ${long}, ${wide}) = (${N}, ${long === "T" ? T : S}, ${wide === "T" ? T : S}) in each of ${L} layers.`;
  if (NORMS.includes(part.slug)) {
    const reads = part.side === "encoder";
    return { shape: reads ? `(S, D) = (${S}, ${D}).` : `(T, D) = (${T}, ${D}).`,
      ...normed(run.norms[part.slug], reads ? word : step, reads ? read : wrote) };
  }
  switch (part.slug) {
    case "source":
      return { shape: `(S) = (${S}) whole numbers, each from 0 to ${whole(V - 1)}.`,
        said: `${quoted(read)} has the id ${whole(run.source_ids[word])} in the vocabulary.`,
        rows: run.source.map((name, i) => [name, whole(run.source_ids[i]), null]) };
    case "embedding":
      return { shape: `Table (V, D) = (${whole(V)}, ${D}); the result is (S, D) = (${S}, ${D}).`,
        said: `${quoted(read)} is now a vector of ${D} numbers; these are the first of them.`, rows: vectorRows("embedding", word) };
    case "positions":
      return { shape: `(S, D) = (${S}, ${D}), as before.`,
        said: `These are the same numbers of ${quoted(read)}, with the pattern of position ${word + 1} added.`, rows: vectorRows("positions", word) };
    case ENCODER_WEIGHTS:
      return { shape: attention("S", "S"), ...attended(run.weights[part.slug], word, run.source, read) };
    case "feed-forward":
      return { shape: `(S, D) to (S, F) = (${S}, ${F}), and back to (${S}, ${D}).`, ...hidden(run.active[part.slug], word, read) };
    case "residual":
      return { shape: `(S, D) = (${S}, ${D}) in every layer: all layers add to the same vectors.`, ...size(run.lengths[part.slug], word) };
    case "memory":
      return { shape: `(S, D) = (${S}, ${D}).`,
        said: `These are the first of the ${D} numbers of ${quoted(read)} at the end of the encoder.`, rows: vectorRows("memory", word) };
    case "target":
      return { shape: `(T) = (${T}) whole numbers.`,
        said: step === 0 ? "Nothing is written yet: there is only the start token." : `Written so far: ${run.target.slice(1, T).join(" ")}.`,
        rows: run.target.slice(0, T).map((name, i) => [name, whole(run.target_ids[i]), null]) };
    case "target-embedding":
      return { shape: `(T, D) = (${T}, ${D}).`,
        said: `These are the first of the ${D} numbers of ${quoted(wrote)}, with the pattern of its position added.`, rows: vectorRows("target-embedding", step) };
    case DECODER_WEIGHTS[0]:
      return { shape: attention("T", "T"), ...attended(run.weights[part.slug], step, run.target.slice(0, T), wrote) };
    case DECODER_WEIGHTS[1]:
      return { shape: attention("T", "S"), ...attended(run.weights[part.slug], step, run.source, wrote) };
    case "decoder-feed-forward":
      return { shape: `(T, D) to (T, F) = (${T}, ${F}), and back to (${T}, ${D}).`, ...hidden(run.active[part.slug], step, wrote) };
    case "decoder-residual":
      return { shape: `(T, D) = (${T}, ${D}) in every layer.`, ...size(run.lengths[part.slug], step) };
    case "scores":
      return { shape: `(V) = (${whole(V)}) logits from the last vector; the matrix is the embedding table (tied weights).`,
        said: `After ${quoted(wrote)}, the highest logit, ${show(run.logits[step][0])}, is that of ${quoted(run.best[step][0])}.`,
        rows: run.best[step].map((name, i) => [name, show(run.logits[step][i]), null]) };
    case "distribution":
      return { shape: `(V) = (${whole(V)}) probabilities that sum to 1; the five largest are shown.`,
        said: `After ${quoted(wrote)}, ${quoted(run.best[step][0])} gets the probability ${show(run.probabilities[step][0])}, the highest, and is written.`,
        rows: bars(run.best[step], run.probabilities[step]) };
    default:
      throw new Error(`the map has no words for the part ${part.slug}`);
  }
}

/**
 * The map: boxes from the bottom to the top, one pile for each side that `titles` names, with the lines between them.
 * `choose(place)` hears which part was pressed; `mark(place)` frames it; `wire()` draws the lines where the map stands now.
 */
function mapOf(parts, layers, titles, choose, label) {
  const buttons = parts.map((one, i) => make("button", {
    type: "button", class: `slm-part${NORMS.includes(one.slug) ? " slm-norm" : ""}`, "data-slug": one.slug, tabindex: -1, onclick: () => choose(i),
  }, one.name));
  const side = (name, title) => {
    const mine = parts.map((one, i) => [one, buttons[i]]).filter(([one]) => one.side === name);
    const before = mine.filter(([one], i) => !one.block && !mine.slice(0, i).some(([earlier]) => earlier.block));
    const block = mine.filter(([one]) => one.block);
    const after = mine.filter(([, button]) => !before.concat(block).some(([, other]) => other === button));
    const pile = (list) => list.map(([, button]) => button);
    const frame = make("div", { class: "slm-block" }, make("span", { class: "slm-times" }, `× ${layers} layers`), pile(block));
    return make("div", { class: `slm-side slm-${name}` }, make("p", { class: "slm-title" }, title), pile(before), frame, pile(after));
  };
  const wires = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  wires.setAttribute("aria-hidden", "true");
  wires.classList.add("slm-wires");
  const map = make("div", { class: "slm-map", role: "group", "aria-label": label }, Object.entries(titles).map(([one, title]) => side(one, title)), wires);

  /** Draw the lines, upwards: the residual stream, a branch through norm and sublayer for each sum, and the bridge. */
  function wire() {
    const box = map.getBoundingClientRect();
    if (box.width === 0) return;
    const at = (slug) => {
      const one = buttons[parts.findIndex((other) => other.slug === slug)].getBoundingClientRect();
      return { left: one.left - box.left, right: one.right - box.left, top: one.top - box.top, bottom: one.bottom - box.top };
    };
    const across = (one) => (one.left + one.right) / 2;
    const level = (one) => (one.top + one.bottom) / 2;
    const paths = [];
    for (const name of Object.keys(titles)) {
      const mine = parts.filter((one) => one.side === name);
      const places = mine.map((one) => at(one.slug));
      const first = mine.findIndex((one) => one.block); // the lowest norm
      const sum = mine.findIndex((one) => one.block && one.slug.endsWith("residual"));
      const left = name === "encoder";
      // The stream runs beside the sublayers, on the outer side of each stack.
      const x = left ? (places[sum].left + places[first].left) / 2 : (places[sum].right + places[first].right) / 2;
      const toBox = left ? 1 : -1;
      places.slice(1).forEach((to, i) => {
        if (i + 1 < first || i >= sum) paths.push([`M${across(to)} ${places[i].top} V${to.bottom}`, name]);
      });
      paths.push([`M${x} ${places[first - 1].top} V${places[sum].bottom}`, "stream"]);
      for (let i = first; i < sum; i += 2) {
        const [norm, sublayer, above] = places.slice(i, i + 3);
        const edge = left ? norm.left : norm.right;
        const plus = (sublayer.top + above.bottom) / 2;
        paths.push([`M${x} ${level(norm)} H${edge - 6 * toBox}`, name]);
        paths.push([`M${edge - 7 * toBox} ${level(norm) - 4} L${edge - toBox} ${level(norm)} L${edge - 7 * toBox} ${level(norm) + 4} Z`, `${name} slm-wire-head`]);
        paths.push([`M${across(norm)} ${norm.top} V${sublayer.bottom}`, name]);
        paths.push([`M${across(sublayer)} ${sublayer.top} V${plus} H${x}`, name]);
        paths.push([`M${x - 7} ${plus} a7 7 0 1 0 14 0 a7 7 0 1 0 -14 0 Z`, "sum"]);
        paths.push([`M${x - 4} ${plus} h8 M${x} ${plus - 4} v8`, "plus"]);
      }
    }
    if (parts.some((one) => one.slug === "memory")) {
      const [memory, cross] = [at("memory"), at("cross-attention")];
      const [y0, y1] = [level(memory), level(cross)];
      const x = (memory.right + cross.left) / 2;
      paths.push([`M${memory.right} ${y0} H${x} V${y1} H${cross.left - 7}`, "bridge"]);
      paths.push([`M${cross.left - 8} ${y1 - 5} L${cross.left - 1} ${y1} L${cross.left - 8} ${y1 + 5} Z`, "tip"]);
    }
    wires.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    wires.replaceChildren(...paths.map(([d, kind]) => {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("d", d);
      line.setAttribute("class", `slm-wire slm-wire-${kind}`);
      return line;
    }));
  }

  function mark(place) {
    buttons.forEach((button, i) => {
      button.tabIndex = i === place ? 0 : -1;
      if (i === place) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
  }
  return { map, buttons, wire, mark };
}

function render({ model, el }) {
  const id = nextId("slm");
  const parts = model.get("parts");
  const sizes = model.get("sizes");
  const run = () => model.get("runs")[model.get("chosen")];
  const set = (changes) => {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  const part = () => parts[model.get("place")];
  const reads = () => part().side === "encoder";
  const words = () => (reads() ? run().source : run().target.slice(0, -1)); // nothing is looked for after the end

  const chooser = make("select", { id: `${id}-sentence`, onchange: () => set({ chosen: chooser.selectedIndex, word: 1, step: 0 }) },
    model.get("runs").map((one) => make("option", {}, one.sentence)));
  const result = make("span", { class: "slm-result" });
  const top = make("div", { class: "slm-bar" }, make("label", { for: chooser.id }, "Sentence ", chooser), result);

  const { map, buttons, wire, mark } = mapOf(parts, sizes.letters.L, { encoder: "Encoder: reads", decoder: "Decoder: writes" }, (place) => set({ place }),
    "Parts of the machine, drawn from the bottom to the top. Left and right arrow keys follow the path, up and down change the word.");

  const name = make("p", { class: "slm-name" });
  const does = make("p", { class: "slm-does" });
  const said = make("p", { class: "slm-said" });
  const shape = make("p", { class: "slm-shape" });
  const live = make("div", { class: "slm-live", "aria-live": "polite", "aria-atomic": "true" }, name, does, said, shape);
  const rows = make("ul", { class: "slm-rows" });
  const where = make("p", { class: "slm-where" });
  const layers = make("span", { class: "slm-layers", role: "group", "aria-label": "Layer" },
    Array.from({ length: sizes.letters.L }, (_, i) => make("button", { type: "button", "aria-label": `Layer ${i + 1}`, onclick: () => set({ layer: i }) }, String(i + 1))));
  layers.prepend(make("span", { "aria-hidden": "true" }, "Layer"));
  const wordLabel = make("span", { class: "slm-word", id: `${id}-word` });
  const move = (by) => (reads() ? set({ word: within(model.get("word") + by, words()) }) : set({ step: within(model.get("step") + by, words()) }));
  const earlier = make("button", { type: "button", "aria-label": "previous word", onclick: () => move(-1) }, "‹");
  const later = make("button", { type: "button", "aria-label": "next word", onclick: () => move(1) }, "›");
  const tools = make("div", { class: "slm-tools" }, make("span", { class: "slm-words" }, earlier, wordLabel, later), layers);
  const inputs = ["place", "word", "step"].map((trait) => unseen(`${id}-${trait}`, (value) => set({ [trait]: within(Number(value) || 0, trait === "place" ? parts : { length: Infinity }) })));
  const back = make("button", { type: "button", class: "slm-back", onclick: () => follow(-1) }, "← Back");
  const next = make("button", { type: "button", class: "slm-next", onclick: () => follow(1) }, "Next →");
  const panel = make("div", { class: "slm-panel" }, tools, live, rows, where, make("div", { class: "slm-foot" }, back, next, inputs));

  /** Go along the path; past its end the word is written and the decoder begins with one more. */
  function follow(by) {
    const to = model.get("place") + by;
    if (to < parts.length) return set({ place: Math.max(0, to) });
    const ended = model.get("step") >= words().length - 1;
    return set(ended ? { place: 0, step: 0 } : { place: parts.findIndex((one) => one.slug === "target"), step: model.get("step") + 1 });
  }

  /** Arrows work wherever the focus is in the figure, but for the list of sentences, which has arrows of its own. */
  function press(event) {
    if (event.target === chooser) return;
    const actions = {
      ArrowRight: () => follow(1), ArrowLeft: () => follow(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
      Home: () => set({ place: 0 }), End: () => set({ place: parts.length - 1 }),
    };
    if (!(event.key in actions) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
    if (map.contains(event.target)) buttons[model.get("place")].focus();
  }

  function draw() {
    const now = part();
    const place = model.get("place");
    chooser.selectedIndex = model.get("chosen");
    result.textContent = `becomes: ${run().translation}`;
    const chosen = { layer: model.get("layer"), word: within(model.get("word"), run().source), step: within(model.get("step"), run().target.slice(0, -1)) };
    [place, chosen.word, chosen.step].forEach((value, i) => { inputs[i].value = value; });
    mark(place);
    const told = tell(now, run(), sizes, chosen);
    const parameters = sizes.parameters[now.slug];
    name.textContent = `${place + 1} of ${parts.length}: ${now.name} (${now.side})`;
    does.textContent = now.does;
    said.textContent = told.said;
    shape.textContent = told.shape + (parameters ? ` ${whole(parameters)} parameters.` : "");
    rows.replaceChildren(...told.rows.map(([label, text, share]) => {
      const bar = share === null ? [] : [make("span", { class: "slm-track", "aria-hidden": "true" }, make("span", { class: "slm-fill", style: `width:${(100 * share).toFixed(1)}%` }))];
      return make("li", { "data-share": share }, make("span", { class: "slm-label" }, label), bar, make("span", { class: "slm-number" }, text));
    }));
    rows.setAttribute("aria-label", `Numbers: ${now.name}`);
    rows.classList.toggle("slm-plain", told.rows.every(([, , share]) => share === null));
    const topic = `Chapter ${now.chapter}, ${now.topic}`;
    where.replaceChildren(now.link ? make("a", { href: now.link }, `Read: ${topic}`) : `${topic}.`);
    wordLabel.textContent = reads() ? `Word ${quoted(run().source[chosen.word])}` : `After ${quoted(run().target[chosen.step])}`;
    const at = reads() ? chosen.word : chosen.step;
    earlier.disabled = at === 0;
    later.disabled = at === words().length - 1;
    layers.classList.toggle("slm-hidden", !now.block);
    [...layers.querySelectorAll("button")].forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen.layer)));
    back.disabled = place === 0;
    const last = place === parts.length - 1;
    next.textContent = !last ? "Next →" : chosen.step === words().length - 1 ? "↺ From the start" : `Write ${quoted(run().target[chosen.step + 1])}, go on →`;
    panel.className = `slm-panel slm-${now.side}`;
    wire();
  }

  const root = make("div", { class: "slf slm", role: "group", "aria-label": "Map of the machine", onkeydown: press }, top, make("div", { class: "slm-body" }, map, panel));
  el.replaceChildren(root);
  draw();
  const resized = new ResizeObserver(wire);
  resized.observe(map);
  const watched = "change:chosen change:place change:layer change:word change:step change:runs".split(" ");
  for (const change of watched) model.on(change, draw);
  return () => {
    resized.disconnect();
    watched.forEach((change) => model.off(change, draw));
  };
}

export default { render };
export { mapOf };
