// A soft lookup in the plane. Python sends keys, values and queries; scores, weights and the answer follow the query,
// so they are computed here, in the same way as softlookup_course.widgets.lookup_plane.look_up.

const SIZE = 320; // of a plane, in its own units
const CELLS = 160; // of the coloured ground, along each side
const PULL = 0.5; // what an arrow key with Shift moves the query by; without, it is one grain

const short = (number) => String(Number(number.toFixed(2))).replace("-", "−");
const point = ([x, y]) => `(${show(x)}, ${show(y)})`;

/** Scores, weights and answer of one query. A temperature of 0 is the hard lookup: keys that tie share equally. */
export function lookUp(k, v, query, tau, cosine) {
  const length = (p) => Math.hypot(p[0], p[1]);
  const scores = k.map((key) => {
    const dot = query[0] * key[0] + query[1] * key[1];
    if (!cosine) return dot;
    const lengths = length(query) * length(key);
    return lengths === 0 ? 0 : Math.max(-1, Math.min(1, dot / lengths));
  });
  const best = Math.max(...scores);
  const raised = scores.map((score) => (tau === 0 ? Number(score === best) : Math.exp((score - best) / tau)));
  const total = raised.reduce((sum, one) => sum + one, 0);
  const weights = raised.map((one) => one / total);
  const answer = [0, 1].map((place) => weights.reduce((sum, weight, s) => sum + weight * v[s][place], 0));
  return { scores, weights, answer };
}

const set = (node, attributes) => Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));

/** A square plane from -reach to reach: its frame, its two axes, and what turns points into places and back. */
function plane(reach, axes, label) {
  const scale = SIZE / (2 * reach);
  const place = ([x, y]) => [SIZE / 2 + x * scale, SIZE / 2 - y * scale];
  const back = ([x, y]) => [(x - SIZE / 2) / scale, (SIZE / 2 - y) / scale];
  const [ox, oy] = place([0, 0]);
  const lines = make("svg:path", { class: "slp-axis", d: `M0 ${oy}H${SIZE}M${ox} 0V${SIZE}` });
  const names = axes.length === 0 ? [] : [
    make("svg:text", { class: "slp-axis-name", x: SIZE - 5, y: oy + 16, "text-anchor": "end" }, `${axes[0]} →`),
    make("svg:text", { class: "slp-axis-name", x: ox + 7, y: 15 }, `${axes[1]} ↑`),
  ];
  const svg = make("svg:svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": label }, lines, names);
  return { svg, place, back };
}

/** A word above its point, or below it in the lower half, where no ray from the origin runs through it. */
function word([x, y], text, kind) {
  const half = 4.2 * text.length;
  const middle = Math.max(half + 3, Math.min(SIZE - half - 3, x));
  return make("svg:text", { class: kind, x: middle, y: y + (y > SIZE / 2 ? 22 : -12), "text-anchor": "middle" }, text);
}

function render({ model, el }) {
  const id = nextId("slp");
  const store = model.get("store");
  const { k, v, taus, grain } = store;
  const [reach, valueReach] = store.reach;
  const change = (name, value) => { model.set(name, value); model.save_changes(); };
  const snap = (number) => Math.max(-reach, Math.min(reach, Number((Math.round(number / grain) * grain).toFixed(6))));
  const moveTo = (at) => change("query", at.map(snap));

  // What is asked: a few queries by name, and how to compare.
  const presets = store.queries.map(({ name, at }) =>
    make("button", { type: "button", class: "slp-preset", onclick: () => change("query", [...at]) }, name));
  const kinds = [["dot product", false], ["cosine", true]].map(([name, cosine]) => {
    const input = make("input", { type: "radio", name: `${id}-kind`, value: name.split(" ")[0], onchange: () => change("cosine", cosine) });
    return { input, cosine, label: make("label", {}, input, ` ${name}`) };
  });
  const bar = make("div", { class: "slp-bar" },
    make("div", { role: "group", "aria-label": "Queries", class: "slp-presets" }, make("span", {}, "Query"), presets),
    make("div", { role: "radiogroup", "aria-label": "Compare by", class: "slp-kinds" }, make("span", {}, "Compare by"), kinds.map((one) => one.label)));

  const queryInput = unseen(`${id}-query`, (value) => moveTo(value.split(" ").map((number) => Number(number) || 0)));

  // The plane of keys, with the query in it.
  const ground = make("canvas", { width: CELLS, height: CELLS, "aria-hidden": "true" });
  const asks = plane(reach, store.axes, `Keys and the query in a plane: ${store.axes[0]} to the right, ${store.axes[1]} upwards`);
  const origin = asks.place([0, 0]);
  const ray = make("svg:path", { class: "slp-ray" });
  const dot = make("svg:circle", { class: "slp-query", r: 10 });
  const handle = make("svg:g", {
    class: "slp-handle", tabindex: 0, role: "slider", "aria-label": "Query", "aria-roledescription": "point in a plane",
    "aria-valuemin": -reach, "aria-valuemax": reach,
  }, make("svg:circle", { class: "slp-grip", r: 24 }), make("svg:circle", { class: "slp-ring", r: 15 }), dot, make("svg:text", { class: "slp-q", dy: 4, "text-anchor": "middle" }, "q"));
  k.forEach((key, s) => {
    const [x, y] = asks.place(key);
    asks.svg.append(make("svg:g", { class: `slp-pair-${s + 1}` },
      make("svg:path", { class: "slp-key-ray", d: `M${origin[0]} ${origin[1]}L${x} ${y}` }),
      make("svg:rect", { class: "slp-mark", x: x - 5.5, y: y - 5.5, width: 11, height: 11, rx: 2 }), word([x, y], store.keys[s], "slp-name")));
  });
  asks.svg.append(ray, handle);

  // The plane of values, with the answer in it.
  const gives = plane(valueReach, [], "The values and the answer, in a second plane");
  const corners = v.map(gives.place);
  const lines = v.map((_, s) => make("svg:path", { class: `slp-share slp-pair-${s + 1}` }));
  const answer = make("svg:path", { class: "slp-answer", d: "M0-11L11 0L0 11L-11 0Z" });
  gives.svg.append(make("svg:polygon", { class: "slp-hull", points: corners.map((p) => p.join(" ")).join(",") }), ...lines,
    ...corners.map((at, s) => make("svg:g", { class: `slp-pair-${s + 1}` }, make("svg:circle", { class: "slp-mark", cx: at[0], cy: at[1], r: 6 }), word(at, store.values[s], "slp-name"))), answer);

  const figure = (title, ...parts) => make("div", { class: "slp-plane" }, make("p", { class: "slp-title" }, title), make("div", { class: "slp-frame" }, parts));
  const planes = make("div", { class: "slp-planes" }, figure("Keys, and the query q", ground, asks.svg), figure("Values, and the answer ◆", gives.svg));

  // One row for each pair: similarity, weight, and a bar.
  const rows = k.map((_, s) => {
    const score = make("td", { class: "slp-score" });
    const weight = make("td", { class: "slp-weight" });
    const fill = make("div", { class: "slp-fill" });
    const tr = make("tr", { class: `slp-pair-${s + 1}` },
      make("th", { scope: "row" }, make("span", { class: "slp-swatch", "aria-hidden": "true" }), `${store.keys[s]} : ${store.values[s]}`),
      score, weight, make("td", { class: "slp-bars", "aria-hidden": "true" }, make("div", { class: "slp-track" }, fill)));
    return { tr, score, weight, fill };
  });
  const kind = make("th", { scope: "col" });
  const table = make("table", { "aria-label": "Similarity and weight of each key" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "key : value"), kind, make("th", { scope: "col" }, "weight"), make("td", {}))),
    make("tbody", {}, rows.map((row) => row.tr)));

  // The temperature.
  const slider = make("input", { type: "range", id: `${id}-tau`, min: 0, max: taus.length - 1, step: 1, oninput: () => change("place", Number(slider.value)) });
  const told = make("output", { for: slider.id });
  const heat = make("div", { class: "slp-heat" },
    make("label", { for: slider.id }, "Temperature ", make("var", {}, "τ")), told, slider,
    make("span", { class: "slp-end" }, "0: hard"), make("span", { class: "slp-end slp-hot" }, "100: nearly the mean"));
  const words = make("p", { class: "slp-words", "aria-live": "polite", "aria-atomic": "true" });

  /** Colour the ground: at each place, the colours of the keys in the shares that a query there would give them. */
  function paint(tau, cosine) {
    const style = getComputedStyle(root);
    const colours = k.map((_, s) => style.getPropertyValue(`--slp-${s + 1}`).trim().split(/\s+/).map(Number));
    if (colours[0].length < 3) return false; // not on the page yet, so there are no colours
    const context = ground.getContext("2d");
    const image = context.createImageData(CELLS, CELLS);
    for (let row = 0; row < CELLS; row += 1) {
      for (let column = 0; column < CELLS; column += 1) {
        const at = asks.back([((column + 0.5) / CELLS) * SIZE, ((row + 0.5) / CELLS) * SIZE]);
        const { weights } = lookUp(k, v, at, tau, cosine);
        const start = 4 * (row * CELLS + column);
        for (let c = 0; c < 3; c += 1) image.data[start + c] = weights.reduce((sum, weight, s) => sum + weight * colours[s][c], 0);
        image.data[start + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
    return true;
  }

  /** Say what is shown, in words. */
  function tell(query, tau, { weights, answer: at }) {
    const preset = store.queries.find((one) => one.at.every((number, i) => number === query[i]));
    const order = weights.map((_, s) => s).sort((a, b) => weights[b] - weights[a]);
    const top = order.filter((s) => weights[s] === weights[order[0]]);
    const names = top.map((s) => store.keys[s]).join(" and ");
    const shares = order.map((s) => `${show(weights[s])} ${store.values[s]}`).join(" + ");
    const who = preset ? `${preset.name[0].toUpperCase()}${preset.name.slice(1)} at ${point(query)}` : `The query ${point(query)}`;
    const fits = top.length === weights.length ? "no key fits better than another" : tau === 0 ? `${names} ${top.length > 1 ? "tie and share the weight equally" : "takes all the weight"}` : `${names} ${top.length > 1 ? "fit" : "fits"} best`;
    return `${who}: ${fits}. Answer = ${shares} = ${point(at)}.`;
  }

  let painted = "";
  let waits = 100; // frames, until the figure stands on the page
  function draw() {
    const query = model.get("query");
    const cosine = model.get("cosine");
    const tau = taus[model.get("place")];
    const found = lookUp(k, v, query, tau, cosine);
    queryInput.value = query.join(" ");
    set(root, { "data-x": query[0], "data-y": query[1], "data-tau": tau });
    const at = asks.place(query);
    set(handle, { transform: `translate(${at[0]} ${at[1]})`, "aria-valuenow": query[0], "aria-valuetext": `${store.axes[0]} ${short(query[0])}, ${store.axes[1]} ${short(query[1])}` });
    set(ray, { d: `M${origin[0]} ${origin[1]}L${at[0]} ${at[1]}` });
    const to = gives.place(found.answer);
    set(answer, { transform: `translate(${to[0]} ${to[1]})`, "data-x": found.answer[0], "data-y": found.answer[1] });
    rows.forEach((row, s) => {
      set(row.tr, { "data-score": found.scores[s], "data-weight": found.weights[s] });
      row.score.textContent = show(found.scores[s]);
      row.weight.textContent = show(found.weights[s]);
      row.fill.style.width = `${100 * found.weights[s]}%`;
      set(lines[s], { d: `M${to[0]} ${to[1]}L${corners[s][0]} ${corners[s][1]}`, "stroke-width": 14 * found.weights[s] });
    });
    kind.textContent = cosine ? "cosine" : "dot product";
    kinds.forEach((one) => { one.input.checked = one.cosine === cosine; });
    presets.forEach((button, i) => button.setAttribute("aria-pressed", String(store.queries[i].at.every((number, j) => number === query[j]))));
    slider.value = model.get("place");
    slider.setAttribute("aria-valuetext", tau === 0 ? "0, the hard lookup" : String(tau));
    told.textContent = tau === 0 ? "→ 0" : `= ${tau}`;
    words.textContent = tell(query, tau, found);
    const look = `${tau} ${cosine} ${document.documentElement.dataset.theme} ${document.body.dataset.jpThemeLight}`;
    if (look === painted) return;
    painted = paint(tau, cosine) ? look : "";
    if (painted === "" && (waits -= 1) > 0) requestAnimationFrame(draw);
  }

  // By pointer: a press anywhere in the plane brings the query there, and it follows until it is let go.
  const under = (event) => {
    const box = asks.svg.getBoundingClientRect();
    return asks.back([((event.clientX - box.left) / box.width) * SIZE, ((event.clientY - box.top) / box.height) * SIZE]);
  };
  let held = null;
  let touched = false; // a click that follows a finger says so itself in some browsers only
  asks.svg.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (event.button !== 0) return;
    const onHandle = handle.contains(event.target);
    // A finger that begins beside the query may mean to scroll the page: it moves the query only by a tap.
    if (event.pointerType === "touch" && !onHandle) return;
    held = event.pointerId;
    asks.svg.setPointerCapture(held);
    if (!onHandle) moveTo(under(event));
    handle.focus({ preventScroll: true });
    event.preventDefault();
  });
  asks.svg.addEventListener("pointermove", (event) => { if (event.pointerId === held) moveTo(under(event)); });
  for (const end of ["pointerup", "pointercancel"]) asks.svg.addEventListener(end, () => { held = null; });
  asks.svg.addEventListener("click", (event) => { if (touched && !handle.contains(event.target)) moveTo(under(event)); });
  handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });

  // By keyboard: arrows, faster with Shift.
  handle.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === "Home") moveTo([0, 0]);
    else if (way) moveTo(model.get("query").map((number, i) => number + way[i] * (event.shiftKey ? PULL : grain)));
    else return;
    event.preventDefault();
  });

  const hint = make("p", { class: "slp-hint" }, "Drag q, or tap the plane. From the keyboard, the arrow keys move q, Shift makes the steps larger, and Home goes to the origin.");
  const root = make("div", { class: "slf slp", role: "group", "aria-label": "A soft lookup in the plane" }, bar, planes, hint, table, heat, words, queryInput);
  el.replaceChildren(root);
  draw();
  const end = follow(model, ["query", "place", "cosine"], draw);
  const themes = new MutationObserver(draw);
  themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  return () => { themes.disconnect(); end(); };
}

export default { render };
