// The place of the model that is open: its words as lines, its map with numbers, and how a weight came about.

import { grid } from "./grid.js";
import { threads } from "./threads.js";
import { TRANSLATOR } from "./views.js";

const large = (words) => words[0].toUpperCase() + words.slice(1);

/** "Encoder self-attention, layer 2, head 1" or what the mean is of. */
export function nameOf({ kind, layer, head }) {
  const part = layer === null ? "mean of all layers" : `layer ${layer + 1}`;
  return `${large(TRANSLATOR[kind].name)}, ${part}, ${head === null ? "mean of all heads" : `head ${head + 1}`}`;
}

/** `state` says what is open: {kind, layer, head, row}; `open(changes)` opens another place, `goTo(step)` chooses a French token. */
export function opened(run, state, { open, goTo, compute }) {
  const title = make("p", { class: "lvm-head lvm-title" });
  const about = make("p", { class: "lvm-about" });
  let last = -1;
  /** A word was pressed: in the decoder's maps it is a step, in the encoder's a row. */
  const pick = (row) => (state.kind === "encoder" ? open({ row }) : goTo(row));
  const lines = threads(run, pick);
  const map = grid(run, {
    choose: (layer, head) => open({ layer, head }), compute,
    picked: (row) => { lines.draw(...drawn(row)); },
  });
  const tools = make("div", { class: "lvm-bar lvm-tools" }, title);
  const place = make("section", { class: "lvm-part lvm-opened", "aria-label": "Attention" }, tools, about,
    make("div", { class: "lvm-pair" }, lines.place, make("div", { class: "lvm-table" }, map.board)), map.why);

  const view = () => TRANSLATOR[state.kind].view(run, last);
  const drawn = (row) => [view(), state.layer, state.head, row, TRANSLATOR[state.kind].sides];

  function draw(at) {
    last = at;
    const shown = view();
    title.replaceChildren(strong(nameOf(state)));
    about.textContent = shown.rows.length ? TRANSLATOR[state.kind].about : "Nothing has been written yet.";
    lines.place.hidden = !shown.rows.length;
    lines.draw(...drawn(shown.current ?? Math.min(state.row, shown.rows.length - 1)));
    map.draw(shown, state.kind, state.layer, state.head);
  }
  return { place, draw, tools, forget: map.forget };
}
