// Attention maps: menus for which attention, which layer and which head, and the map.

import { asked } from "./asked.js";
import { grid } from "./grid.js";

/** `kinds` says what there is to show, by name: see views.js. `first` says what is shown at first: {show, layer, head}; `compute()` loads the model where only weights are known. */
export function maps(run, id, kinds, first = asked, { compute, size } = {}) {
  const choice = (name, words, options, value) => {
    const select = make("select", { id: `${id}-${name}`, onchange: () => draw(last) }, options.map(([each, text]) => make("option", { value: each }, text)));
    if (options.some(([each]) => String(each) === value)) select.value = value;
    return { select, place: make("div", { class: "lvm-control" }, make("label", { for: select.id }, words), select) };
  };
  const numbers = (count) => [["mean", "mean of all"], ...Array.from({ length: count }, (_, i) => [i + 1, i + 1])];
  const kind = choice("kind", "attention", Object.entries(kinds).map(([value, { name }]) => [value, name]), first.show);
  kind.place.hidden = kind.select.length === 1;
  const controls = make("div", { class: "lvm-controls", role: "group", "aria-label": "Which attention map" }, kind.place);
  const about = make("p", { class: "lvm-about" });
  let [layer, head, last] = [null, null, -1];
  /** Show another layer and head: a cell of their mean was asked. */
  const { board, why, ...map } = grid(run, { compute, size, choose: (l, n) => {
    layer.select.value = l + 1;
    head.select.value = n + 1;
    draw(last);
  } });
  const place = make("section", { class: "lvm-part", "aria-label": "Attention" }, make("p", { class: "lvm-head" }, strong("Attention weights")), controls, about, board, why);

  const number = ({ select }) => (select.value === "mean" ? null : Number(select.value) - 1);

  function draw(at) {
    last = at;
    if (layer === null) {
      const { source } = run;
      layer = choice("layer", "layer", numbers(source.layers.length), first.layer);
      head = choice("head", "head", numbers(source.heads), first.head);
      controls.append(layer.place, head.place);
    }
    const shown = kinds[kind.select.value].view(run, at);
    about.textContent = shown.rows.length ? kinds[kind.select.value].about : "Nothing has been written yet.";
    map.draw(shown, kind.select.value, number(layer), number(head));
  }

  /** The layer and the head that are shown, as the menus have them. */
  const chosen = () => ({ layer: layer.select.value, head: head.select.value });
  return { place, draw, chosen };
}
