// A guided tour through the translator. Each step sets what a reader could set: the sentence, the French token and the
// open place. Its sentences take their words and numbers from the run that is shown.

import { meanOf } from "./words.js";
import { TRANSLATOR } from "./views.js";

const HOLDERS = ".lvm-trail-rows, .lvm-pair, .lvm-place, .lvm-next"; // before these the tour's words stand
const DOG = "A brown dog carries a yellow ball out of the water.";
const POOL = "Two men are playing pool in a bar.";
const OTHER_POOL = "A boy jumps into a pool.";
const name = (token) => strong(token.replace("▁", ""));

/** Of the open place: the name of a row, the column that it attends to most, and that weight. */
function top(run, { kind, layer, head }, row) {
  const { rows, columns, weights } = TRANSLATOR[kind].view(run, run.steps.length - 1);
  const all = meanOf(weights(row), run.source.heads, layer, head);
  const most = all.indexOf(Math.max(...all));
  return { row: rows[row], column: columns[most], weight: all[most], most };
}
const attends = (run, state, row) => {
  const { row: from, column, weight } = top(run, state, row);
  return [name(from), " attends most to ", name(column), ` (${show(weight)})`];
};
/** What the decoder attends to as it writes a token. */
const writes = (run, state, at) => {
  const { row, column, weight } = top(run, state, at);
  return ["Writing ", name(row), ", this head attends most to ", name(column), ` (${show(weight)})`];
};

const length = ({ values }) => Math.sqrt(values.reduce((sum, one) => sum + one ** 2, 0));
const row = (name) => `.lvm-trail-row[data-station="${name}"]`;
const fires = ({ values }) => values.filter((one) => one > 0).length;

/**
 * `at`: the French token; `place`: kind, layer, head, and the encoder's row; `walk`: the part, token and layer that are followed;
 * `look`: what is framed. `say` is given the run, the place, what leaves the tour, and the stations of the token that is followed.
 */
export const TOUR = [
  { text: DOG, at: 0, place: ["cross", 3, 4], look: ".lvm-english", say: (run) => [`The sentence enters as ${run.source.tokens.length} tokens, and each becomes a vector. The line that leaves them is the encoder’s residual stream: each layer adds to it.`] },
  {
    text: DOG, at: 0, place: ["encoder", 1, 4, 4], walk: { slug: "positions", token: 2, layer: 0 }, look: row("embedder"),
    say: (run, state, leave, of) => [name(run.source.tokens[2]), ` selects a row of the embedding table, ${of.get("embedding").values.length} numbers. The pattern of its position is added, and this sum begins the stream.`],
  },
  {
    text: DOG, at: 0, place: ["encoder", 1, 4, 4], walk: { slug: "self-attention", token: 4, layer: 0 }, look: row("encoder.layers.0.attention.q"),
    say: (run) => ["From the normalised vector of ", name(run.source.tokens[4]), ", three matrices compute a query, a key and a value. Four heads divide each among them, at the thin lines."],
  },
  {
    text: DOG, at: 0, place: ["encoder", 2, 1, 3], look: ".lvm-thumb[aria-pressed=true]",
    say: (run, state) => {
      const before = run.source.tokens.filter((_, t) => t && top(run, state, t).most === t - 1).length;
      return ["This head looks one word back: ", ...attends(run, state, 3), `. ${before} of ${run.source.tokens.length - 1} tokens attend most to the token before them.`];
    },
  },
  { text: DOG, at: 0, place: ["encoder", 1, 4, 4], look: ".lvm-threads", say: (run, state) => ["Here an article finds its noun: ", ...attends(run, state, 4), ", over the adjective between them. Likewise, ", ...attends(run, state, 9), "."] },
  {
    text: DOG, at: 0, place: ["encoder", 1, 4, 4], walk: { slug: "self-attention", token: 4, layer: 0 }, look: row("encoder.layers.0.attention.mixed"),
    say: (run, state, leave, of) => ["By these weights each head mixes the tokens’ values. A matrix makes of it what attention adds to the stream: a vector of length ",
      `${show(length(of.get("encoder.layers.0.attention.out")))}, to one of length ${show(length(of.get("embedder")))}.`],
  },
  {
    text: DOG, at: 0, place: ["encoder", 1, 4, 4], walk: { slug: "feed-forward", token: 4, layer: 0 }, look: row("encoder.layers.0.feed_forward.hidden"),
    say: (run, state, leave, of) => [`The feed-forward network works on each token alone. For ${run.source.tokens[4].replace("▁", "")}, ${fires(of.get("encoder.layers.0.feed_forward.hidden"))} of ${whole(of.get("encoder.layers.0.feed_forward.hidden").values.length)} hidden units fire, and what they write is added, too.`],
  },
  {
    text: DOG, at: 0, place: ["encoder", 1, 4, 4], walk: { slug: "memory", token: 4, layer: 4 }, look: ".lvm-up",
    say: (run, state, leave, of) => [`Layer by layer the sum grows: its length is ${show(length(of.get("embedder")))} at first and ${show(length(of.get("encoder.layers.4.feed_forward_residual")))} after the last layer. The colours on the line show it.`],
  },
  { text: DOG, at: 1, place: ["cross", 3, 4], look: ".lvm-memory", say: (run, state) => ["The encoder’s output goes to the cross-attention of every decoder layer. ", ...writes(run, state, 1), "."] },
  { text: DOG, at: 2, place: ["cross", 3, 4], look: ".lvm-threads", say: (run, state) => ["French puts this adjective behind its noun, so the lines cross. ", ...writes(run, state, 2), "."] },
  { text: DOG, at: 4, place: ["cross", 3, 2], look: ".lvm-threads", say: (run, state) => ["A French article depends on the gender of a noun that is not written yet. ", ...writes(run, state, 4), "."] },
  {
    text: DOG, at: 3, place: ["cross", 1, 1], look: ".lvm-threads",
    say: (run, state) => ["This head looks at what has just been translated: ", name(run.steps[3].fed), " was written last. ", ...writes(run, state, 3), "."],
  },
  { text: DOG, at: 5, place: ["self", 1, 2], look: ".lvm-threads", say: (run, state) => ["Some heads rest on a token that carries no word, an attention sink: ", ...attends(run, state, 5), "."] },
  {
    text: DOG, at: 3, place: ["cross", 3, 4], look: ".lvm-down",
    say: ({ steps: { 3: { fed, lens, token } } }) => ["The decoder’s stream enters as ", name(fed), ". Read out after each layer, its likeliest token is ",
      ...lens.flatMap((each, l) => [l ? ", " : "", name(each.token), ` (${show(each.p)})`]), ": ", name(token), " is written."],
  },
  {
    text: DOG, at: 2, place: ["cross", 3, 4], look: ".lvm-candidates",
    say: ({ steps: { 2: { candidates: [best, second] } } }) => ["Softmax makes probabilities of the logits: ", name(best.token), ` (${show(best.p)}), then `, name(second.token), ` (${show(second.p)}). Move the temperature, top-k or top-p, and the bars change.`],
  },
  {
    text: POOL, at: 4, place: ["encoder", 3, 1, 4], look: ".lvm-out",
    say: (run, state, leaveFor) => [...attends(run, state, 4), ", and the decoder writes ", name(run.steps[4].token + run.steps[5].token), ", the game. Try the other pool: ",
      make("button", { type: "button", onclick: () => leaveFor(OTHER_POOL) }, OTHER_POOL)],
  },
];

/** `bring(text, token, place)` shows what a step is about, and promises whether it could; `changed` hears of the step, or null. */
export function tour(root, run, state, { bring, changed }) {
  const says = make("p", { class: "lvm-tour-says", "aria-live": "polite" });
  const count = make("span", { class: "lvm-number" });
  const button = (words, act) => make("button", { type: "button", onclick: act }, words);
  const [back, next, leave] = [button("◂ Back", () => go(at - 1)), button("Next ▸", () => go(at + 1)), button("Leave", () => leaveFor(before))];
  const start = button(`Take the tour: ${TOUR.length} steps`, () => go(0));
  const bar = make("div", { class: "lvm-bar" });
  const place = make("div", { class: "lvm-tour", role: "group", "aria-label": "Tour" }, says, bar);
  let at = null;
  let before = null; // the sentence that the reader had

  /** Frame a part of the figure, stand before what holds it, and bring both into sight. */
  function frame(css) {
    for (const each of root.querySelectorAll(".lvm-here")) each.classList.remove("lvm-here");
    const part = css && root.querySelector(css);
    place.classList.toggle("lvm-on", Boolean(part));
    const held = place.contains(document.activeElement) ? document.activeElement : null;
    (part ? part.closest(HOLDERS) : root.querySelector(".lvm-place"))?.before(place);
    held?.focus({ preventScroll: true });
    if (!part) return;
    part.classList.add("lvm-here");
    place.scrollIntoView({ block: "start", behavior: "instant" });
    part.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" });
  }

  /** Go to a step; before the first and behind the last nothing happens. */
  async function go(step) {
    if (!TOUR[step]) return;
    if (at === null) before = run.text;
    at = step;
    const { text, say, look, walk, place: [kind, layer, head, row = 0] } = TOUR[step];
    if (!bar.contains(next)) {
      bar.replaceChildren(back, next, leave, count);
      next.focus({ preventScroll: true });
    }
    count.textContent = `${step + 1} of ${TOUR.length}`;
    for (const [each, off] of [[back, step === 0], [next, step === TOUR.length - 1]]) each.setAttribute("aria-disabled", String(off));
    if (run.text !== text || (walk && run.stored)) says.textContent = run.stored ? `Loading the model (${SIZES.translator}, once) …` : "Translating the tour’s sentence …";
    const there = await bring(text, TOUR[step].at, { kind, layer: layer - 1, head: head - 1, row }, walk);
    if (at !== step) return;
    if (!there) {
      end();
      return;
    }
    says.replaceChildren(...say(run, state, leaveFor, there));
    frame(look);
    changed(step);
  }

  /** Another sentence takes the tour's place: the reader's, or the one that the last step offers. */
  async function leaveFor(text) {
    end();
    if (text && run.text !== text) await bring(text, 0, {});
  }

  function end() {
    at = null;
    frame(null);
    says.replaceChildren("Press a word to follow its vector, or a square, which is the attention map of one head.");
    bar.replaceChildren(start);
    changed(null);
  }

  end();
  return { place, go, end, active: () => at !== null };
}
