// Recorded passes of a model, each with one vector or head from another sentence. Python has packed what came of them.

const PTG_MODES = [["vector", "a whole vector"], ["head", "one head's output"]];

/** The packed arrays by name: each gives a number for its indices. */
async function unpacked(packed, arrays) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  const byName = {};
  let begin = 0;
  for (const { name, kind, shape, per } of arrays) {
    const [from, count] = [begin, shape.reduce((a, b) => a * b)];
    const isSigned = kind === "i2" && name !== "ranks";
    byName[name] = (...indices) => {
      const at = from + indices.reduce((sum, index, axis) => sum * shape[axis] + index, 0);
      const number = kind === "u1" ? data[at] : data[at] + 256 * data[at + count];
      return (isSigned && number > 32767 ? number - 65536 : number) / per;
    };
    begin += kind === "u1" ? count : 2 * count;
  }
  return byName;
}

function render({ model, el }) {
  const id = nextId("ptg");
  const [prompts, tokenRows, answers, vocabulary, arrays, first, claimed] =
    ["prompts", "token_rows", "answers", "vocabulary", "arrays", "first", "head"].map((name) => model.get(name));
  const [, , deep, length] = arrays.find(({ name }) => name === "shares").shape;
  const heads = arrays.find(({ name }) => name === "heads").shape[3];
  let [clean, corrupted] = first;
  let [mode, row, column, get] = ["vector", length - 2, 10, null];
  const seen = new Set();
  const token = (index) => vocabulary[index].trim() || (vocabulary[index] ? "␣" : "(special)");
  const quoted = (index) => `“${prompts[index]}”`;
  const key = (r, c) => [clean, corrupted, mode, r, c].join();
  const pairKey = () => [clean, corrupted, mode, "all"].join();
  const isSeen = (r, c) => seen.has(pairKey()) || seen.has(key(r, c));
  const begins = () => (mode === "vector" ? 0 : 1);
  const rows = () => (mode === "vector" ? length : heads);
  const share = (r, c) => (mode === "vector" ? get.shares(corrupted, clean, c, r) : get.heads(corrupted, clean, c - 1, r));
  const percent = (p) => (p < 0.01 ? "< 1 %" : `${Math.round(100 * p)} %`);

  const options = () => prompts.map((prompt, i) => make("option", { value: i }, prompt));
  const reads = make("select", { id: `${id}-reads`, onchange: () => choose({ corrupted: Number(reads.value) }) }, options());
  const from = make("select", { id: `${id}-from`, onchange: () => choose({ clean: Number(from.value) }) }, options());
  const modes = PTG_MODES.map(([name, title]) =>
    make("button", { type: "button", "data-mode": name, onclick: () => choose({ mode: name }) }, title));
  const all = make("button", { type: "button", class: "ptg-all", onclick: () => { seen.add(pairKey()); draw(); } }, "show all cells");
  const [layerInput, value, layerLabel] = slider(`${id}-layer`, "ptg", "layer", (c) => choose({ column: c }));
  const rowInput = unseen(`${id}-row`, (r) => choose({ row: Number(r) }));
  const table = make("table", { class: "slf-table ptg-grid" });
  const words = make("p", { class: "slf-words ptg-words", "aria-live": "polite", "aria-atomic": "true" }, "The recording is being unpacked.");
  const bars = make("div", { class: "ptg-passes" });
  const reading = make("p", { class: "ptg-reading" });

  /** The likeliest tokens of a pass, as pairs of token and probability. */
  function likeliest(b, a, c, r) {
    return [0, 1, 2].map((k) => [token(get.tokens(k, b, a, c, r)), get.chances(k, b, a, c, r)]);
  }
  const unpatched = (p) => likeliest(p, p, 0, 0);
  function patched() {
    if (mode === "vector") return likeliest(corrupted, clean, column, row);
    return [[token(get.head_tokens(corrupted, clean, column - 1, row)), get.head_chances(corrupted, clean, column - 1, row)]];
  }
  const difference = (p) => get.logits(p, clean) - get.logits(p, corrupted);

  function choose(next) {
    const before = [clean, corrupted];
    ({ clean, corrupted, mode, row, column } = { clean, corrupted, mode, row, column, ...next });
    // Two sentences are needed: whichever was not just chosen gives way.
    if (clean === corrupted) [clean, corrupted] = next.clean === undefined ? [before[1], corrupted] : [clean, before[0]];
    row = Math.min(Math.max(row, 0), rows() - 1);
    column = Math.min(Math.max(column, begins()), deep - 1);
    draw();
  }

  /** A cell's colour: blue for what comes back, orange for what moves away, none where nothing was seen. */
  const tint = (number, most = 1) => `--ptg-hue: var(--slf-${number < 0 ? "key" : "query"}); --ptg-ink: ${Math.min(1, Math.abs(number) / most).toFixed(2)}`;

  function cell(grid, r, c, number, style, name) {
    const isHere = c === column && (grid !== "patch" || r === row);
    return make("td", { "data-grid": grid, "data-row": r, "data-column": c, "data-value": number ?? "", style,
      class: [number === null ? "ptg-hidden" : "", isHere ? (grid === "patch" ? "ptg-here" : "ptg-same") : ""].join(" ").trim() || null,
      tabindex: isHere && grid === "patch" ? 0 : -1, "aria-label": name });
  }

  function draw() {
    if (!get) return;
    seen.add(key(row, column));
    const columns = Array.from({ length: deep - begins() }, (_, i) => i + begins());
    const names = mode === "vector"
      ? tokenRows[corrupted].map((piece, t) => (piece === tokenRows[clean][t] ? piece : `${piece} ← ${tokenRows[clean][t]}`))
      : Array.from({ length: heads }, (_, n) => `head ${n + 1}`);
    const line = (name, grid, r, each) => make("tr", {}, make("th", { scope: "row" }, name),
      columns.map((c) => each(grid, r, c)));
    const patchCell = (grid, r, c) => {
      const known = isSeen(r, c) ? share(r, c) : null;
      const where = mode === "vector" ? `${names[r]}, ${c} layers passed` : `head ${c}.${r + 1}`;
      return cell(grid, r, c, known, known === null ? null : tint(known), `${where}: ${known === null ? "not tried" : show(known)}`);
    };
    const lensCell = (grid, r, c) => {
      const rank = get.ranks(clean, c, r);
      return cell(grid, r, c, rank, `--ptg-hue: var(--slf-value); --ptg-ink: ${(1 - Math.log10(rank) / 4.7).toFixed(2)}`,
        `after ${c} layers, rank ${whole(rank)}`);
    };
    const added = (r, c) => (c === 0 ? (r ? 0 : get.embedding(clean, corrupted))
      : r ? get.direct(clean, corrupted, c - 1, heads)
        : Array.from({ length: heads }, (_, n) => get.direct(clean, corrupted, c - 1, n)).reduce((a, b) => a + b));
    const addedCell = (grid, r, c) => cell(grid, r, c, added(r, c), tint(added(r, c), 3), `layer ${c}: ${show(added(r, c))}`);
    const body = (title, lines) => make("tbody", {},
      make("tr", {}, make("th", { class: "ptg-title", colspan: columns.length + 1, scope: "rowgroup" }, title)), lines);
    const isFocused = document.activeElement?.matches?.("td") && table.contains(document.activeElement);
    const [answer, other] = [answers[clean], answers[corrupted]];
    table.replaceChildren(
      make("colgroup", {}, make("col", { class: "ptg-names" }), make("col", { span: columns.length })),
      body(mode === "vector" ? "Recovered share, by the vector patched: layers passed, to the right" : "Recovered share, by the head patched: its layer, to the right",
        names.map((name, r) => line(name, "patch", r, patchCell))),
      body(`Without a patch, ${quoted(clean)}: rank of ${answer} in the logit lens`,
        [0, 1].map((r) => line(tokenRows[clean][length - 2 + r], "lens", r, lensCell))),
      body(`What each layer adds directly to ${answer} minus ${other}`,
        ["heads", "feed-forward"].map((name, r) => line(name, "added", r, addedCell))));
    if (isFocused) table.querySelector(".ptg-here").focus();

    [reads.value, from.value, rowInput.value] = [corrupted, clean, row];
    modes.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.mode === mode)));
    Object.assign(layerInput, { min: begins(), max: deep - 1, value: column });
    layerLabel.firstChild.textContent = mode === "vector" ? "layers passed" : "layer";
    value.textContent = column;
    all.disabled = seen.has(pairKey());

    const back = share(row, column);
    const at = mode === "vector" ? `The vector of ${tokenRows[corrupted][row]}, after ${column} layer${column === 1 ? "" : "s"}` : `The output of head ${column}.${row + 1}`;
    const isSame = mode === "vector" && back === 0 && tokenRows[corrupted].slice(0, row + 1).join() === tokenRows[clean].slice(0, row + 1).join();
    const lead = difference(corrupted) + back * (difference(clean) - difference(corrupted));
    const [[best, chance]] = patched();
    const claim = get.heads(corrupted, clean, ...claimed);
    words.replaceChildren(strong(`${at}: ${show(back)} of the answer comes back. `),
      isSame ? "It is the same in both sentences, because they begin alike up to here and the model is causal."
        : `${lead > 0 ? answer : other} is now ahead of ${lead > 0 ? other : answer}, and ${best} is the most likely next token (${percent(chance)}).`,
      mode === "head" ? ` Head ${claimed[0] + 1}.${claimed[1] + 1}, the carrier of this page, brings ${show(claim)} back for this pair.` : "");
    const pass = (title, which, kind) => make("div", { class: `ptg-pass ptg-${kind}` }, make("p", {}, title),
      make("ul", {}, which.map(([name, p]) => make("li", {}, make("span", { class: "ptg-token" }, name),
        make("i", { class: "ptg-bar", style: `--w: ${p.toFixed(3)}` }), make("span", { class: "ptg-chance" }, percent(p))))));
    bars.replaceChildren(pass(`Corrupted: ${prompts[corrupted]}`, unpatched(corrupted), "before"), pass("Corrupted, with the patch", patched(), "after"),
      pass(`Clean: ${prompts[clean]}`, unpatched(clean), "clean"));
    const [there, last] = [0, 1].map((r) => `at ${tokenRows[clean][length - 2 + r]}, ${token(get.lens_tokens(clean, column, r))} `
      + `(${percent(get.lens_chances(clean, column, r))}; ${answer} has rank ${whole(get.ranks(clean, column, r))})`);
    const own = mode === "head" ? ` Head ${column}.${row + 1} adds ${show(get.direct(clean, corrupted, column - 1, row))} of it.` : "";
    reading.replaceChildren(`Without a patch, after ${column} layer${column === 1 ? "" : "s"} of ${quoted(clean)}, the lens says: ${there}; ${last}. `,
      column ? `Layer ${column} itself adds ${show(added(0, column))} by its heads and ${show(added(1, column))} by its feed-forward network to ${answer} minus ${other}.${own}`
        : `The embedding adds ${show(added(0, 0))} to ${answer} minus ${other}.`);
    Object.assign(root.dataset, { clean, corrupted, mode, row, column });
  }

  /** Choose the cell; outside the grid of patches only the layer moves. */
  const ask = (td) => {
    if (get) choose({ column: Number(td.dataset.column), ...(td.dataset.grid === "patch" ? { row: Number(td.dataset.row) } : {}) });
  };
  table.addEventListener("click", ({ target }) => {
    const td = target.closest(CELL);
    if (td) { ask(td); table.querySelector(".ptg-here").focus(); }
  });
  table.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    const td = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(CELL);
    if (td && table.contains(td) && !td.matches(".ptg-here")) ask(td);
  });
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || !event.target.matches(CELL)) return;
    event.preventDefault();
    choose({ row: row + step[0], column: column + step[1] });
  });

  const choice = (title, list) => make("label", { class: "slf-choice", for: list.id }, make("span", {}, title), list);
  const root = make("div", { class: "slf slf-buttons ptg", role: "group", "aria-label": "Activation patching in SmolLM2" },
    make("div", { class: "slf-bar" }, choice("The model reads", reads), choice("the patch is from", from)),
    make("div", { class: "slf-bar" }, make("div", { class: "ptg-modes", role: "group", "aria-label": "What is patched" }, modes), all, layerLabel), rowInput,
    make("div", { class: "ptg-scroll" }, table), words, bars, reading);
  el.replaceChildren(root);
  unpacked(model.get("packed"), arrays).then((found) => { get = found; draw(); },
    () => words.replaceChildren("This browser cannot unpack the recording; a newer one can."));
}

export default { render };
