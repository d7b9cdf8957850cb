// All that the translator's own page adds: the picture of the model, the place of it that is open, the tour, and the link.

import { linked, numberOf, part, placeOf, write } from "./asked.js";
import { follow } from "./follow.js";
import { scrolling } from "./motion.js";
import { opened } from "./opened.js";
import { picture } from "./picture.js";
import { tour } from "./tour.js";

const STARTS = { kind: "cross", layer: 2, head: 3, row: 2 };
const FIRST_TOKEN = 2;
const SIDES = { encoder: "Encoder: reads", decoder: "Decoder: writes" };

/** `text` is the two sentences as tokens, `ask` asks the worker. */
export function machine(root, run, { player, input, how, text, ask }) {
  const state = { ...STARTS };
  let [at, touring, quiet, bringing] = [-1, null, true, false];

  /** Load the model, and stay at the step that is shown. */
  async function compute() {
    const step = at;
    await input.again(run.text);
    player.goTo(step);
  }
  const open = (changes) => {
    const other = "kind" in changes;
    Object.assign(state, changes);
    redraw();
    const title = inside.tools;
    if (other && title.getBoundingClientRect().bottom > innerHeight - 120) title.scrollIntoView({ block: "center", behavior: scrolling() });
  };
  const inside = opened(run, state, { open, goTo: player.goTo, compute });
  const trail = follow(run, {
    parts: PARTS.translator, titles: SIDES, layers: LAYERS.translator, size: SIZES.translator, ask, compute,
    tokens: (side) => (side === "encoder" ? run.source.tokens : run.steps.map(({ fed }) => fed)),
    asks: (side, token) => ({ ids: run.source.ids, written: run.steps.map(({ id }) => id), side, at: token }),
    states: (side, token) => (side === "encoder" ? run.source.states.map((layer) => layer[token]) : run.steps[token]?.states),
    chosen: () => {
      overview.draw(at, false);
      tell();
    },
    step: (by) => (run.steps[at + by] ? (player.goTo(at + by), true) : false),
  });
  const pick = (side, token) => {
    if (side === "decoder") player.goTo(token);
    trail.begin(side, token);
    const { top, bottom } = trail.place.getBoundingClientRect();
    if (top > innerHeight - 160 || bottom < 160) trail.place.scrollIntoView({ block: "start", behavior: scrolling() });
  };
  const overview = picture(run, state, open, { pick, followed: trail.followed });
  const guide = tour(root, run, state, { bring, changed: (step) => { touring = step; tell(); } });

  const field = make("input", { class: "lvm-link", readonly: "", "aria-label": "Link to what is shown" });
  field.hidden = true;
  const copy = make("button", { type: "button", onclick: async () => {
    tell();
    field.value = location.href;
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = location.protocol === "file:" ? "Link copied, for this computer" : "Link copied";
    } catch {
      copy.textContent = "Copy this link:";
      field.hidden = false;
      field.select();
    }
  } }, "Copy link");
  inside.tools.append(copy, field);

  const number = (place) => (place === null ? "mean" : place + 1);
  /** What is shown stands in the address. */
  function tell() {
    if (quiet) return;
    const { temperature, beams, alpha } = how.values();
    write({
      text: run.text, show: state.kind, layer: number(state.layer), head: number(state.head), token: at + 1, row: state.kind === "encoder" ? state.row + 1 : null,
      tour: touring === null ? null : touring + 1, temperature: temperature || null, beams: beams > 1 ? beams : null, alpha: beams > 1 ? alpha : null,
    });
    copy.textContent = "Copy link";
    field.hidden = true;
  }

  function redraw(playing = false) {
    overview.draw(at, playing);
    inside.draw(at);
    trail.draw(at, playing);
    if (!playing && run.done) tell();
  }

  /** Show what a step of the tour is about; false if its sentence could not be translated. */
  async function bring(text, step, place, walk = null) {
    if (run.text !== text || (walk && run.stored) || run.tree || !run.done || how.values().temperature) {
      how.greedy();
      bringing = true;
      await input.again(text);
      bringing = false;
    }
    if (run.text !== text) return false;
    Object.assign(state, place);
    inside.forget();
    if (walk) trail.bring(walk);
    player.goTo(step);
    return walk ? trail.stations() : true;
  }

  return {
    place: make("section", { class: "lvm-all", "aria-label": "The whole model" }, guide.place, overview.place, text.rows, trail.place, inside.place),
    pick, compute,
    draw(step, playing) {
      at = step;
      redraw(playing);
    },
    /** Another sentence was read: the tour ends. */
    read() {
      quiet = false;
      if (!bringing && guide.active()) guide.end();
    },
    begin,
  };

  /** Show the stored translation, or what a link asks for. */
  async function begin({ text, show: kind, token, tour: step }) {
    if (part === "opened") Object.assign(state, { kind, layer: placeOf("layer", run.source.layers.length), head: placeOf("head", run.source.heads) });
    if (numberOf("row") > 0) state.row = numberOf("row") - 1;
    player.goTo(FIRST_TOKEN);
    if (text && (text !== run.text || numberOf("beams") || numberOf("temperature"))) await input.again(text);
    if (numberOf("tour") > 0) await guide.go(Number(step) - 1);
    else if (numberOf("token") !== null) player.goTo(Number(token) - 1);
    if (linked && !guide.active()) overview.place.scrollIntoView({ block: "center", behavior: "instant" });
    quiet = false;
  }
}
