// How the text is written: greedy, sampled at a temperature, or by beam search with a length penalty.

import { numberOf, part } from "./asked.js";

const WAYS = { greedy: "greedy", sampling: "sampling", beam: "beam search" };

/** A slider and its value as a text; `said` gives the text. */
export function slider(id, name, words, { least, most, step, value, said = (number) => number.toFixed(step < 1 ? 1 : 0) }) {
  const input = make("input", { type: "range", id: `${id}-${name}`, min: least, max: most, step, value });
  const shown = make("output", { for: input.id });
  const tell = () => {
    shown.textContent = said(Number(input.value));
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  input.addEventListener("input", tell);
  tell();
  return { input, place: make("div", { class: "lvm-control" }, make("label", { for: input.id }, words), input, shown) };
}

export function controls(id, changed) {
  const way = make("select", { id: `${id}-way` }, Object.entries(WAYS).map(([value, words]) => make("option", { value }, words)));
  // The browser keeps what the address asks for in range.
  const temperature = slider(id, "temperature", "temperature τ", { least: 0.1, most: 2, step: 0.1, value: numberOf("temperature") ?? 1 });
  const beams = slider(id, "beams", "beams", { least: 2, most: 8, step: 1, value: numberOf("beams") ?? 4 });
  const alpha = slider(id, "alpha", "length penalty α", { least: 0, most: 2, step: 0.1, value: numberOf("alpha") ?? 1 });
  const only = { sampling: [temperature], beam: [beams, alpha], greedy: [] };
  if (part === "tree" || numberOf("beams") > 1) way.value = "beam";
  else if (numberOf("temperature") > 0) way.value = "sampling";
  const bar = make("div", { class: "lvm-controls", role: "group", "aria-label": "Decoding" },
    make("div", { class: "lvm-control" }, make("label", { for: way.id }, "decoding"), way), [temperature, beams, alpha].map(({ place }) => place));
  function choose() {
    for (const one of [temperature, beams, alpha]) one.place.hidden = !only[way.value].includes(one);
  }
  bar.onchange = () => {
    choose();
    changed();
  };
  choose();
  const values = () => ({
    temperature: way.value === "sampling" ? Number(temperature.input.value) : 0,
    beams: way.value === "beam" ? Number(beams.input.value) : 1,
    alpha: Number(alpha.input.value),
  });
  function greedy() {
    way.value = "greedy";
    choose();
  }
  return { bar, values, greedy };
}
