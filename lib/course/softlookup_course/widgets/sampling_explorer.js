// Temperature, top-k and top-p to move. Settings are free, so the numbers are worked out here; tests compare them with
// softlookup_course.widgets.sampling_explorer.describe.

const SHOWN = 10; // tokens with a bar of their own

/** Ids, likeliest first; of equal logits the lower id comes first. */
const inOrder = (logits) => logits.map((_, i) => i).sort((a, b) => logits[b] - logits[a] || a - b);

/** The probability of every token: temperature, then top-k, then top-p. */
function distribution(logits, order, tau, k, p) {
  const best = logits[order[0]];
  let kept = tau === 0 ? [order[0]] : k === null ? order : order.slice(0, k);
  const raised = new Float64Array(logits.length);
  const share = (ids) => {
    const total = ids.reduce((sum, i) => sum + Math.exp((logits[i] - best) / (tau || 1)), 0);
    raised.fill(0);
    for (const i of ids) raised[i] = Math.exp((logits[i] - best) / (tau || 1)) / total;
  };
  share(kept);
  if (p !== null && p < 1) {
    let before = 0;
    const inside = [];
    for (const i of kept) {
      if (inside.length && before >= p - 4 * Number.EPSILON) break; // six times 0.1 may add up to a little less than 0.6
      inside.push(i);
      before += raised[i];
    }
    kept = inside;
    share(kept);
  }
  return raised;
}

/** The token on whose stretch of the line u falls. */
function pick(probabilities, u) {
  const total = probabilities.reduce((a, b) => a + b, 0);
  let right = 0, last = 0;
  for (let i = 0; i < probabilities.length; i += 1) {
    if (!probabilities[i]) continue;
    right += probabilities[i];
    last = i;
    if (u * total < right) return i;
  }
  return last;
}

function render({ model, el }) {
  const id = nextId("smp");
  const tokens = model.get("tokens");
  const choices = model.get("choices");
  let place, order, plain;
  let drawn = {};

  const chooser = make("select", { id: `${id}-place`, onchange: () => {
    model.set("chosen", chooser.selectedIndex);
    model.save_changes();
  } }, choices.map((one) => make("option", {}, one.title)));
  const written = make("p", { class: "smp-written" });

  function slider(name, title, min, max, step, value, told) {
    const input = make("input", { id: `${id}-${name}`, type: "range", min, max, step, value, "data-slider": name, oninput: () => { if (name !== "u") drawn = {}; update(); } });
    const output = make("output", { for: input.id });
    return { input, get: () => Number(input.value), tell: () => {
      output.textContent = told(Number(input.value));
      input.setAttribute("aria-valuetext", told(Number(input.value)));
    }, box: make("label", { class: "smp-slider", for: input.id }, make("span", {}, `${title} `, output), input) };
  }
  const sliders = {
    tau: slider("tau", "temperature", 0, 3, 0.05, 1, (x) => (x ? x.toFixed(2) : "0: greedy")),
    k: slider("k", "top-k", 1, 51, 1, 51, (x) => (x > 50 ? "all" : String(x))),
    p: slider("p", "top-p", 0.05, 1, 0.01, 1, (x) => (x < 1 ? x.toFixed(2) : "1: all")),
    u: slider("u", "random number u", 0, 0.999, 0.001, 0.5, (x) => x.toFixed(3)),
  };
  const lucky = (times) => {
    for (let n = 0; n < times; n += 1) {
      sliders.u.input.value = Math.floor(Math.random() * 1000) / 1000;
      const token = pick(now(), sliders.u.get());
      drawn[token] = (drawn[token] ?? 0) + 1;
    }
    update();
  };
  const buttons = [1, 100].map((n) => make("button", { type: "button", onclick: () => lucky(n) }, n === 1 ? "draw one" : "draw 100"));
  const words = make("p", { class: "smp-words", "aria-live": "polite", "aria-atomic": "true" });
  const bars = make("tbody", {});
  const table = make("table", { class: "slf-table smp-table" },
    make("caption", {}, "The likeliest tokens: probabilities from the model, and those that are sampled from"),
    make("thead", {}, make("tr", {}, ["token", "model", "sampled from", "times drawn"].map((head) => make("th", { scope: "col" }, head)))), bars);

  const now = () => distribution(place.logits, order, sliders.tau.get(), sliders.k.get() > 50 ? null : sliders.k.get(), sliders.p.get() < 1 ? sliders.p.get() : null);
  const percent = (x) => (x >= 0.0005 || x === 0 ? x.toFixed(3) : "<0.001");

  function row(name, before, after, times, kept, chosen) {
    const cell = (kind, value) => make("td", { class: `smp-share smp-${kind}`, style: `--smp-share:${(100 * value).toFixed(2)}%` }, percent(value));
    return make("tr", { class: `${kept ? "" : "smp-out"}${chosen ? " smp-hit" : ""}`, "data-before": before, "data-after": after },
      make("th", { scope: "row" }, name), cell("given", before), cell("after", after), make("td", {}, times ? String(times) : ""));
  }

  function update() {
    for (const one of Object.values(sliders)) one.tell();
    const probabilities = now();
    const token = pick(probabilities, sliders.u.get());
    const top = order.slice(0, SHOWN);
    const rest = order.slice(SHOWN);
    const sum = (ids, of) => ids.reduce((total, i) => total + of[i], 0);
    const times = (ids) => ids.reduce((total, i) => total + (drawn[i] ?? 0), 0);
    const kept = probabilities.reduce((n, x) => n + (x > 0 ? 1 : 0), 0);
    bars.replaceChildren(
      ...top.map((i) => row(tokens[i], plain[i], probabilities[i], drawn[i], probabilities[i] > 0, i === token)),
      row(`${whole(rest.length)} others`, sum(rest, plain), sum(rest, probabilities), times(rest), sum(rest, probabilities) > 0, rest.includes(token)));
    const held = order.reduce((total, i) => total + (probabilities[i] > 0 ? plain[i] : 0), 0);
    words.replaceChildren(strong(`${whole(kept)} of ${whole(tokens.length)}`), ` tokens can be drawn; the model gave ${kept === 1 ? "it" : "them"} a probability of ${show(held)}${kept === 1 ? "" : " in all"}. With u = ${sliders.u.get().toFixed(3)} the next token is `, strong(tokens[token]), ".");
    Object.assign(root.dataset, { kept, drawn: token, name: tokens[token] });
    root.probabilities = Array.from(probabilities);
  }

  function load() {
    place = choices[model.get("chosen")];
    chooser.selectedIndex = model.get("chosen");
    order = inOrder(place.logits);
    plain = distribution(place.logits, order, 1, null, null);
    drawn = {};
    written.replaceChildren("Written so far: ", strong(place.written), " …");
    update();
  }

  const root = make("div", { class: "slf slf-buttons smp", role: "group", "aria-label": "Sampling the next token" },
    make("label", { for: chooser.id, class: "smp-chooser" }, "Position ", chooser), written,
    make("div", { class: "smp-sliders" }, Object.values(sliders).map((one) => one.box)),
    make("div", { class: "smp-buttons" }, buttons), words, table);
  el.replaceChildren(root);
  load();
  return follow(model, ["chosen"], load);
}

export default { render };
