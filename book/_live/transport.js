// Back, play and step through the tokens that were written.

import { still } from "./motion.js";

const PACE_MS = 420;

/** `draw(at, playing)` shows the step at that place; -1 is before the first. */
export function transport(run, draw) {
  let at = -1;
  let timer = null;

  const button = (words, act) => make("button", { type: "button", onclick: act }, words);
  const back = button("◂ back", () => goTo(at - 1));
  const play = button("", () => (timer ? goTo(at) : start(at === run.steps.length - 1 ? -1 : at)));
  const next = button("step ▸", () => goTo(at + 1));
  const end = button("to the end", () => goTo(run.steps.length - 1));
  const bar = make("div", { class: "lvm-bar", role: "group", "aria-label": "Steps of the decoder" }, back, play, next, end);

  function show(place) {
    at = Math.max(-1, Math.min(place, run.steps.length - 1));
    const last = at === run.steps.length - 1;
    play.textContent = timer ? "❚❚ pause" : "▶ play";
    for (const [one, off] of [[back, at < 0], [next, last], [end, last]]) one.setAttribute("aria-disabled", String(off));
    bar.dataset.at = at;
    bar.dataset.playing = timer !== null;
    draw(at, timer !== null);
  }

  function pause() {
    clearInterval(timer);
    timer = null;
  }

  function goTo(place) {
    pause();
    show(place);
  }

  function start(from) {
    pause();
    timer = setInterval(tick, PACE_MS);
    show(from);
    tick();
  }

  function tick() {
    const last = at >= run.steps.length - 1;
    if (last && run.done) goTo(at);
    else if (!last) show(at + 1);
  }

  /** A new text begins: play it, or, where the reader wants no motion, show all there is. */
  const restart = () => (still.matches ? goTo(-1) : start(-1));
  /** There is more to show. */
  const more = () => {
    if (still.matches) goTo(run.steps.length - 1);
    else if (at < 0 && timer) tick();
  };
  return { bar, goTo, restart, more };
}
