// A reader's own parallel program, played by the figure of its chapter. It is run for that when the fold opens.

import { chapter, make } from "./answers.js";
import { ask } from "./engine.js";

// What a figure's script asks of its surroundings: nothing changes the state but the figure.
const model = (state) => ({ get: (name) => state[name], set() {}, on() {}, off() {}, save_changes() {}, send() {} });

let style = null; // one for all figures of the page

async function figure({ _esm: script, _css: css, ...state }) {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  try {
    const { default: widget } = await import(address);
    if (!style) document.head.append((style = make("style", css)));
    const el = make("div", "", { className: "widget-area" });
    widget.render({ model: model(state), el });
    return el;
  } finally {
    URL.revokeObjectURL(address);
  }
}

// The fold below a verdict on a parallel program; `request` is what the check was asked.
export function play(id, request) {
  const fold = make("details", "", { className: "slp-hint slp-play" });
  const place = make("div");
  fold.append(make("summary", "See its messages"), place);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || place.hasChildNodes()) return;
    place.append(make("p", "Running your ranks …"));
    try {
      const { says, state } = await ask({ ...request, do: "play" }, chapter(id));
      place.replaceChildren(make("p", says), ...(state ? [await figure(state)] : []));
    } catch (error) {
      place.replaceChildren(make("p", error.message));
    }
  });
  return fold;
}
