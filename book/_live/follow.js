// One token on its way through the machine: the map of the parts, and beside it the vectors of the chosen layer as strips.
// Pointing at a number frames what it was made from; pressing it writes the calculation out.

import { mapOf } from "../../lib/course/softlookup_course/widgets/machine_map.js";
import { madeFrom, byName, headOf, made } from "./made.js";
import { rowsOf, strip, strips } from "./strip.js";
import { plain } from "./words.js";

/**
 * `parts` are those of the map and `titles` its sides. `tokens(side)` gives the tokens that can be followed there, `asks(side, token)`
 * what the worker is asked for, `states(side, token)` the vectors of the residual stream that are known without the model.
 * `compute()` loads the model; `chosen()` hears that a reader chose something; `step(by)` goes to another step, if there is
 * one. `read(step)` says which token was read last at a step of the decoder.
 */
export function follow(run, { parts, titles, layers, size, tokens, asks, states, ask, compute, chosen, step, read = (at) => at }) {
  const sides = Object.keys(titles);
  // A token of the decoder is the one that was read last, until a reader chooses another (position).
  const state = { side: sides[0], token: 1, position: null, part: 0, layer: 0, cell: null };
  let [current, trail, wanted, asking, rows, drawing] = [0, null, "", null, [], null];
  const first = (side) => parts.findIndex((one) => one.side === side);

  const { map, buttons, wire, mark } = mapOf(parts, layers, titles, (part) => set({ part }), "Parts of the machine, drawn from the bottom to the top");
  const title = make("p", { class: "lvm-head", "aria-live": "polite" });
  const about = make("p", { class: "lvm-does" });
  const button = (words, act) => make("button", { type: "button", onclick: act }, words);
  const levels = Array.from({ length: layers }, (_, i) => make("button", { type: "button", "aria-label": `Layer ${i + 1}`, onclick: () => set({ layer: i }) }, String(i + 1)));
  const [back, next] = [button("◂ part before", () => go(-1)), button("next part ▸", () => go(1))];
  const load = button("", async () => {
    await compute();
    draw(current);
  });
  const pointed = make("p", { class: "lvm-pointed" });
  const list = make("div", { class: "lvm-trail-rows" });
  const why = make("div", { class: "lvm-made", "aria-live": "polite" });
  const bar = make("div", { class: "lvm-bar" }, back, next, make("span", { class: "lvm-levels lvm-bar", role: "group", "aria-label": "Layer" }, make("span", { "aria-hidden": "true" }, "layer"), levels));
  const panel = make("div", { class: "lvm-panel" }, title, about, bar, list, pointed, load, why);
  const place = make("section", { class: "lvm-part lvm-follow slm", "aria-label": "Follow a token" }, make("div", { class: "slm-body" }, map, panel));

  const followed = (side) => (side === "encoder" ? state.token : state.position ?? read(current));
  const part = () => parts[state.part];

  function set(changes, tell = true) {
    Object.assign(state, changes, "cell" in changes ? {} : { cell: null });
    if ("part" in changes) state.side = part().side;
    if (state.side === "encoder") state.token = Math.min(state.token, tokens("encoder").length - 1);
    if (tell) chosen();
    draw(current);
  }

  /** Along the path: part by part, layer by layer, into the decoder, and then to the next token. */
  function go(by) {
    const all = parts.map((one, i) => [one, i]).filter(([one]) => one.side === state.side);
    const block = all.filter(([one]) => one.block);
    const path = all.flatMap(([one, i]) => {
      if (!one.block) return [[i, state.layer]];
      return i === block[0][1] ? levels.flatMap((_, layer) => block.map(([, each]) => [each, layer])) : [];
    });
    const at = path.findIndex(([i, layer]) => i === state.part && (!parts[i].block || layer === state.layer)) + by;
    if (path[at]) {
      const [to, layer] = path[at];
      const entering = parts[to].block ? layer : by > 0 && to < block[0][1] ? 0 : by < 0 && to > block[0][1] ? layers - 1 : state.layer;
      set({ part: to, layer: entering });
      return;
    }
    const other = sides[sides.indexOf(state.side) + by];
    if (other) set({ part: by > 0 ? first(other) : parts.findLastIndex((one) => one.side === other), layer: by > 0 ? 0 : layers - 1 });
    else if (by > 0 && step(1)) set({ part: first(state.side), layer: 0 });
  }

  /** The stations of the chosen layer; before the first those of the beginning, after the last that of the end. */
  function shown() {
    const { stations } = trail;
    const begin = stations.findIndex((one) => one.layer !== null);
    return stations.filter((one, i) => one.layer === state.layer || (one.layer === null && (i < begin ? state.layer === 0 : state.layer === layers - 1)));
  }

  /** What is known before the model is loaded: the residual stream before the first and after each layer. */
  const known = (vectors) => vectors.map((values, i) => ({ name: `state ${i}`, part: "residual", label: i ? `after layer ${i}` : "before layer 1", kind: "known", of: [], layer: i - 1, values }));

  const nameOf = (station, i) => {
    if (station.kind === "weights") {
      const columns = station.columns.length;
      return `${station.label}, head ${Math.floor(i / columns) + 1}, ${plain(station.columns[i % columns])}: ${show(station.values[i])}`;
    }
    const head = station.heads ? ` (head ${headOf(trail, i) + 1})` : "";
    return `${station.label}, number ${i + 1} of ${station.values.length}${head}: ${show(station.values[i])}`;
  };
  const HOW = {
    sum: "the sum of the two framed numbers", gated: "SiLU of one framed number times the other", turned: "the framed pair, rotated by the position’s angle",
    norm: "from the framed vector", product: "a row of a matrix times the framed vector", weights: "the softmax of the framed query times a key", mixed: "the framed weights times the tokens’ values",
    row: "from the embedding table", wave: "a sine or cosine of the position", known: "",
  };

  function frame(station, i) {
    const marks = trail ? madeFrom(trail, station, i) : [];
    for (const row of rows) {
      const ranges = marks.filter(([name]) => name === row.station.name).map(([, from, to]) => [from, Math.min(to, row.station.values.length)]);
      row.strip.mark(row.station === station ? [[i, i + 1]] : ranges);
      row.node.classList.toggle("lvm-source", ranges.length > 0);
    }
    pointed.textContent = `${nameOf(station, i)}${HOW[station.kind] ? ` = ${HOW[station.kind]}` : ""}.`;
  }

  function press(station, i) {
    set({ cell: [station.name, i], part: parts.findIndex((one) => one.slug === station.part && one.side === state.side) });
    why.scrollIntoView({ block: "nearest" });
  }

  /** How many heads a vector holds side by side. */
  const headsIn = ({ length }) => length / (trail.d_model / trail.n_heads);

  function fill(stations) {
    const focused = rows.findIndex(({ node }) => node.contains(document.activeElement));
    rows = stations.map((station) => {
      const [many, weights] = [station.values.length, station.kind === "weights"];
      const made = strip({
        values: station.values, rows: weights ? station.rows : rowsOf(many), heads: station.heads ? headsIn(station.values) : 0,
        label: `${station.label}: ${many} numbers`, nameOf: (i) => nameOf(station, i), asked: (i) => frame(station, i), pressed: trail ? (i) => press(station, i) : null,
      });
      const columns = weights ? [make("span", { class: "lvm-columns-of", "aria-hidden": "true" }, station.columns.map((token) => make("span", {}, plain(token))))] : [];
      const active = station.label === "hidden units" && station.values.every((one) => one >= 0) ? `${station.values.filter((one) => one > 0).length} fire` : "";
      const most = station.values.reduce((all, one) => Math.max(all, Math.abs(one)), 0);
      const node = make("div", { class: "lvm-trail-row", "data-station": station.name, "data-now": String(station.part === part().slug || !trail && station.layer === state.layer) },
        station.all ? make("button", { type: "button", class: "lvm-name lvm-all-tokens", "aria-label": `${station.label} of every token`, onclick: () => press(station, null) }, `${station.label} ▸`) : make("span", { class: "lvm-name" }, station.label), make("span", {}, columns, made.node), make("span", { class: "lvm-number", title: "largest, without its sign" }, active || three(most)));
      return { station, strip: made, node };
    });
    list.replaceChildren(...rows.map(({ node }) => node));
    rows.forEach(({ strip: one }) => one.draw());
    rows[focused]?.strip.node.focus({ preventScroll: true });
  }

  /** The same vector of every token: a matrix. */
  function matrix({ label, all: { names, rows: vectors }, layer }) {
    const lines = strips(vectors.map((values, t) => [plain(names[t]), values]), { heads: headsIn(vectors[0]) });
    why.replaceChildren(make("p", { class: "lvm-head" }, strong(`The matrix of every token’s ${label}, layer ${layer + 1}: ${vectors.length} × ${vectors[0].length}`)), lines.place);
    lines.draw();
  }

  async function calculate() {
    why.replaceChildren();
    if (!state.cell || !trail) return;
    const [name, i] = state.cell;
    const station = byName(trail).get(name);
    if (!station) return;
    if (i === null) {
      matrix(station);
      return;
    }
    const { nodes, draw: paint } = await made(trail, station, i, (row) => ask({ row }), () => {});
    if (state.cell?.[0] !== name || state.cell[1] !== i) return;
    why.replaceChildren(make("p", { class: "lvm-head" }, strong(`${nameOf(station, i)}`)), ...nodes);
    paint();
  }

  /** Show the way of the token at this step; while a text is being written, only what is known at once. */
  function draw(at, playing = false) {
    drawing = drawn(at, playing);
  }

  async function drawn(at, playing) {
    if (current !== Math.max(0, at)) state.position = null;
    current = Math.max(0, at);
    const side = state.side;
    const token = followed(side);
    const words = tokens(side);
    const name = plain(words[token] ?? "");
    mark(state.part);
    for (const [i, one] of levels.entries()) one.setAttribute("aria-pressed", String(i === state.layer));
    title.replaceChildren(strong(name), part().block ? `, layer ${state.layer + 1}: ` : ": ", part().name, sides.length > 1 ? ` (${side})` : "");
    about.replaceChildren(part().does, " ", part().link ? make("a", { href: part().link }, `Chapter ${part().chapter}`) : "");
    next.textContent = state.part === parts.length - 1 ? "next token ▸" : "next part ▸";
    wire();
    const key = JSON.stringify([run.text, run.stored, side, token, run.steps.length]);
    if (playing || run.stored || !run.done || !words[token]) {
      trail = null;
      wanted = "";
      load.hidden = !run.stored;
      load.textContent = `Show every vector of “${name}” (loads the model, ${size}, once)`;
      const vectors = states(side, token);
      if (vectors) fill(known(vectors));
      why.replaceChildren();
      return;
    }
    load.hidden = true;
    if (key !== wanted) [wanted, asking] = [key, ask({ trail: asks(side, token) })];
    const answer = await asking;
    if (wanted !== key) return;
    trail = answer;
    fill(shown());
    if (state.cell) {
      const row = rows.find(({ station }) => station.name === state.cell[0]);
      if (row && state.cell[1] !== null) frame(row.station, state.cell[1]);
    } else pointed.textContent = "Blue numbers are above zero, orange ones below; each strip’s largest number stands at its right. Point at a number, or press it; press a name with ▸ for all tokens.";
    await calculate();
  }

  map.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    go(by);
    buttons[state.part].focus();
  });
  new ResizeObserver(wire).observe(map);
  new MutationObserver(() => rows.forEach(({ strip: one }) => one.draw())).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  /** Another token is followed. */
  const begin = (side, token) => set({ side, ...(side === "encoder" ? { token } : { position: token }), part: state.side === side ? state.part : first(side) });
  /** Show a part by its name, for what else is set: {slug, token, layer}. */
  const bring = ({ slug, ...changes }) => set({ ...changes, part: parts.findIndex((one) => one.slug === slug), cell: null }, false);
  /** When all is drawn, the stations by name; null where they are not known. */
  async function stations() {
    await drawing;
    return trail && byName(trail);
  }
  return { place, draw, begin, bring, stations, followed };
}
