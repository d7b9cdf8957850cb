// How the text is written: greedy, sampled at a temperature, or by beam search with a length penalty.

const WAYS = { greedy: "greedy", sampling: "sampling", beam: "beam search" };

export function controls(id, changed) {
  const way = make("select", { id: `${id}-way` }, Object.entries(WAYS).map(([value, words]) => make("option", { value }, words)));
  const slider = (name, words, least, most, step, value) => {
    const input = make("input", { type: "range", id: `${id}-${name}`, min: least, max: most, step, value });
    const shown = make("output", { for: input.id });
    const tell = () => { shown.textContent = Number(input.value).toFixed(step < 1 ? 1 : 0); };
    input.addEventListener("input", tell);
    tell();
    return { input, place: make("div", { class: "lvm-control" }, make("label", { for: input.id }, words), input, shown) };
  };
  const temperature = slider("temperature", "temperature τ", 0.1, 2, 0.1, 1);
  const beams = slider("beams", "beams", 2, 8, 1, 4);
  const alpha = slider("alpha", "length penalty α", 0, 2, 0.1, 1);
  const only = { sampling: [temperature], beam: [beams, alpha], greedy: [] };
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
  return { bar, values };
}
