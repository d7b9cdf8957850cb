// A cache that grows step by step. Sizes are free, so the numbers are worked out here; tests compare them with
// softlookup_course.widgets.cache_growth.describe.

const UNITS = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];

/** Bytes as a person reads them. */
function readable(bytes) {
  const [name, size] = UNITS.find(([, unit]) => bytes >= unit) ?? ["bytes", 1];
  return size === 1 ? `${whole(bytes)} bytes` : `${(bytes / size).toFixed(2)} ${name}`;
}

/** Every number of one pass. */
function count(total, prompt, step, cached, layers, heads, width, each) {
  const lengths = Array.from({ length: step }, (_, i) => prompt + i);
  const fed = lengths.map((n, i) => (!cached ? n : i ? 1 : prompt));
  const scores = lengths.map((n, i) => (n * (n + 1) - (n - fed[i]) * (n - fed[i] + 1)) / 2);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const kept = cached ? lengths[step - 1] : 0;
  return {
    length: lengths[step - 1], through: fed[step - 1], through_total: sum(fed), kept,
    bytes: 2 * layers * heads * kept * width * each, scores: scores[step - 1], scores_total: sum(scores),
  };
}

function render({ model, el }) {
  const id = nextId("kvc");
  const tokens = model.get("tokens");
  const prompt = model.get("prompt");
  const options = model.get("options");
  const last = tokens.length - prompt;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let [step, cached] = [1, true];

  function select(name, title, values, chosen) {
    const box = make("select", { id: `${id}-${name}`, "data-size": name, onchange: () => { pause(); draw(); } },
      values.map(([value, told]) => make("option", { value, ...(value === chosen ? { selected: "" } : {}) }, String(told))));
    return { get: () => Number(box.value), box: make("label", { for: box.id }, `${title} `, box) };
  }
  const plain = (list) => list.map((n) => [n, n]);
  const sizes = {
    layers: select("layers", "layers L", plain(options.layers), 4),
    heads: select("heads", `key-value heads K (N = ${options.heads})`, plain(options.kv_heads), 8),
    width: select("width", "head width H", plain(options.widths), 64),
    each: select("each", "numbers", options.bytes.map(([each, name]) => [each, `${name}, ${each} bytes`]), 2),
  };
  const mode = [[true, "with a KV cache"], [false, "without a cache"]].map(([value, title]) =>
    make("button", { type: "button", "data-cached": value, onclick: () => { pause(); cached = value; draw(); } }, title));
  const back = make("button", { type: "button", onclick: () => { pause(); step -= 1; draw(); } }, "◂ back");
  const next = make("button", { type: "button", onclick: () => { pause(); step += 1; draw(); } }, "next pass ▸");
  const stepInput = unseen(`${id}-step`, (value) => { pause(); step = Math.max(1, Math.min(last, Number(value) || 1)); draw(); });
  const words = make("p", { class: "kvc-words", "aria-live": "polite", "aria-atomic": "true" });
  const { play, pause } = player("kvc", {
    root: () => root,
    sentence: words,
    wait: () => (still.matches ? 1200 : 800),
    waitsFirst: true,
    isAtEnd: () => step >= last,
    rewind: () => { step = 1; draw(); },
    goOn: () => { step += 1; draw(); },
  });
  const board = make("div", { class: "kvc-board", tabindex: 0, role: "group", "aria-label": "Tokens, and what is cached of them" });
  const numbers = make("tbody", {});

  function column(place, now) {
    const there = place < now.length;
    const fresh = there && place >= now.length - now.through;
    const kept = there && cached;
    const what = place === now.length ? "written" : !there ? "later" : fresh ? "in" : "kept";
    const cell = (kind) => make("div", { class: `kvc-cell kvc-${kind}${kept ? " kvc-there" : ""}${fresh && kept ? " kvc-fresh" : ""}` }, kept ? (kind === "key" ? "k" : "v") : "");
    return make("div", { class: `kvc-column kvc-is-${what}`, "data-what": what },
      make("div", { class: "kvc-token" }, make("span", {}, place <= now.length ? tokens[place] : "·")),
      make("div", { class: "kvc-what" }, { written: "new", later: "", in: "in", kept: cached ? "cached" : "" }[what]),
      cell("key"), cell("value"), make("div", { class: "kvc-place" }, String(place)));
  }

  function draw() {
    const now = count(tokens.length, prompt, step, cached, sizes.layers.get(), sizes.heads.get(), sizes.width.get(), sizes.each.get());
    board.replaceChildren(...tokens.map((_, place) => column(place, now)));
    board.scrollLeft = Math.max(0, (board.scrollWidth / tokens.length) * (now.length + 1.5) - board.clientWidth);
    back.disabled = step === 1;
    next.disabled = step === last;
    stepInput.value = step;
    for (const button of mode) button.setAttribute("aria-pressed", String(button.dataset.cached === String(cached)));
    const inNow = now.through === 1 ? "One token goes" : `${now.through} tokens go`;
    const phase = step === 1 ? "This is the prefill: the prompt is read. " : "";
    const kept = cached ? ` The cache holds the keys and values of ${now.kept} ${now.kept === 1 ? "token" : "tokens"} in ${sizes.layers.get() === 1 ? "one layer" : `each of ${sizes.layers.get()} layers`}: ${readable(now.bytes)}.` : " Nothing is cached.";
    words.replaceChildren(`Pass ${step} of ${last}. ${phase}${inNow} through the model, and `, strong(tokens[now.length]), ` is written.${kept}`);
    const rows = [["tokens through the model", now.through, now.through_total], ["scores of one head", now.scores, now.scores_total]];
    numbers.replaceChildren(...rows.map(([name, one, all]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, whole(one)), make("td", {}, whole(all)))));
    Object.assign(root.dataset, { step, ...now });
  }

  const root = make("div", { class: "slf slf-buttons kvc", role: "group", "aria-label": "KV cache, step by step" },
    make("div", { class: "kvc-bar", role: "group", "aria-label": "With or without a cache" }, mode),
    make("div", { class: "kvc-sizes" }, Object.values(sizes).map((one) => one.box)),
    make("div", { class: "kvc-bar" }, back, next, play, stepInput), words, board,
    make("table", { class: "slf-table kvc-table" },
      make("thead", {}, make("tr", {}, make("td", {}), make("th", { scope: "col" }, "this pass"), make("th", { scope: "col" }, "so far"))), numbers));
  el.replaceChildren(root);
  draw();
  return () => pause();
}

export default { render };
