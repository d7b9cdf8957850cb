// The likeliest tokens of a step, as bars that temperature, top-k and top-p bend at once: an outline is the model's
// probability, a filled bar what a token would be drawn with.

import { slider } from "./controls.js";
import { cut, probabilities } from "./decoding.js";

const ROUNDING = 1e-9; // a sum of probabilities misses 1 by less

const percent = (p) => (p === 0 ? "0 %" : p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`);
const off = (none, digits) => (number) => (number === none ? "off" : number.toFixed(digits));

/** Sliders of how a token is drawn, a number for each; `id` begins their ids. */
export function drawing(id, { temperature = 1, least = 0.1, topP = 1 } = {}) {
  const sliders = {
    temperature: slider(id, "temperature", "temperature τ", { least, most: 2, step: 0.1, value: temperature, said: (tau) => (tau ? tau.toFixed(1) : "0, greedy") }),
    topK: slider(id, "top-k", "top-k", { least: 0, most: 100, step: 1, value: 0, said: off(0, 0) }),
    topP: slider(id, "top-p", "top-p", { least: 0.05, most: 1, step: 0.05, value: topP, said: off(1, 2) }),
  };
  const value = (name) => Number(sliders[name].input.value);
  const values = () => ({ temperature: value("temperature"), topK: value("topK") || null, topP: value("topP") < 1 ? value("topP") : null });
  return { places: Object.values(sliders).map(({ place }) => place), sliders, values };
}

/**
 * `how` has the sliders of the form, {bar, values}; without it the bars have sliders of their own, whose temperature begins at
 * `start()`, and `compute()` loads the model where a step's logits are not known.
 */
export function candidates(run, { how = null, start = () => 1, compute = () => {} }) {
  const sliders = how ?? drawing(nextId("lvm"));
  const list = make("tbody", {});
  const head = make("tr", {});
  const table = make("table", { class: "slf-table lvm-candidates" }, make("caption", {}, "Candidates for this token"), make("thead", {}, head), list);
  const about = make("p", { class: "lvm-about", "aria-live": "polite" });
  const bar = how ? [] : [make("div", { class: "lvm-controls", role: "group", "aria-label": "How would a token be drawn?" }, sliders.places)];
  const place = make("section", { class: "lvm-part lvm-next", "aria-label": "Candidates" }, table, bar, about);
  let [last, source] = [-1, null];

  function draw(at) {
    last = at;
    const step = run.steps[at];
    place.hidden = !step;
    if (!step) return;
    if (!how && source !== run.source) {
      const { input } = sliders.sliders.temperature;
      [source, input.value] = [run.source, start()];
      input.dispatchEvent(new Event("input"));
    }
    const drawn = step.logits ? cut(step.logits, sliders.values()) : null; // what each token would be drawn with
    const changed = drawn && step.candidates.some(({ id, p }) => Math.abs(drawn[id] - p) > ROUNDING);
    head.replaceChildren(...["token", "probability", "", ...(changed ? ["drawn with"] : [])].map((name) => make(name ? "th" : "td", name ? { scope: "col" } : {}, name)));
    const ends = changed ? step.candidates.filter(({ id }) => drawn[id] > 0).at(-1)?.id : null;
    const row = ({ id, token, p, q }) => make("tr", { class: [id === step.id && "lvm-chosen", changed && q === 0 && "lvm-cut", changed && id === ends && "lvm-ends-here"].filter(Boolean).join(" ") },
      make("th", { scope: "row" }, token, id === step.id ? " ✓" : ""), make("td", { class: "lvm-number" }, percent(p)),
      make("td", { class: "lvm-track" }, make("div", { class: "lvm-was", style: `inline-size: ${100 * p}%` }), make("div", { class: "lvm-fill", style: `inline-size: ${100 * (changed ? q : p)}%` })),
      changed ? [make("td", { class: "lvm-number" }, q === 0 ? "cut" : percent(q))] : []);
    const rest = (all) => {
      const left = 1 - all.reduce((sum, one) => sum + one, 0);
      return left > ROUNDING ? left : 0;
    };
    const rows = step.candidates.map((one) => ({ ...one, q: drawn ? drawn[one.id] : one.p }));
    list.replaceChildren(...rows.map(row), row({ id: null, token: "all others", p: rest(rows.map(({ p }) => p)), q: rest(rows.map(({ q }) => q)) }));
    const { temperature, topK, topP } = sliders.values();
    const cuts = [temperature === 0 && "greedy", topK && `top-k ${topK}`, topP && `top-p ${topP.toFixed(2)}`].filter(Boolean).join(" and ");
    about.textContent = "";
    if (!drawn || !cuts) return;
    const p = probabilities(step.logits, 1);
    const kept = drawn.reduce((count, one) => count + (one > 0), 0);
    const mass = drawn.reduce((sum, one, id) => sum + (one > 0 ? p[id] : 0), 0);
    about.textContent = `${kept === 1 ? "1 token is" : `${whole(kept)} tokens are`} kept of ${whole(p.length)} (${cuts}), with ${percent(mass)} of the model’s probability.`;
  }

  (how?.bar ?? place).addEventListener("input", () => last >= 0 && draw(last));
  if (!how) place.addEventListener("change", () => run.stored && compute());
  return { place, draw };
}
