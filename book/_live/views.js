// What the attention maps show, by kind: names of rows and columns, queries, keys and weights by layer and row. A view
// begins at the position `from`: the rows and columns before it are left out.

const shownEncoder = ({ source }) => ({
  rows: source.tokens, columns: source.tokens, current: null, from: 0,
  weights: (t) => source.layers.map(({ weights }) => weights[t]),
  query: (layer, t) => source.layers[layer].q[t],
  keys: (layer) => source.layers[layer].k,
});

/** The decoder's two kinds, by what a step keeps of each. A run that says so (`upto`) shows later steps, too. */
const shownDecoder = (kind) => ({ source, steps: all, upto }, at) => {
  const steps = all.slice(0, (upto ?? at) + 1);
  const fed = steps.map((one) => one.fed);
  return {
    rows: kind === "cross" ? steps.map(({ token }) => token) : fed, columns: kind === "cross" ? source.tokens : fed, current: at, from: 0,
    weights: (t) => steps[t].layers.map((layer) => layer[kind].weights),
    query: (layer, t) => steps[t].layers[layer][kind].q,
    keys: (layer, t) => (kind === "cross" ? source.cross[layer] : steps.slice(0, t + 1).map(({ layers }) => layers[layer].k)),
  };
};

export const TRANSLATOR = {
  cross: { name: "cross-attention", sides: ["English", "French"], about: "A row for each token that the decoder wrote, a column for each English token.", view: shownDecoder("cross") },
  encoder: { name: "encoder self-attention", sides: ["attended to", "attends"], about: "A row for each English token that attends, a column for each token that it attends to.", view: shownEncoder },
  self: { name: "decoder self-attention", sides: ["attended to", "attends"], about: "A row for each token that the decoder was given, a column for each token up to itself: later ones are masked.", view: shownDecoder("self") },
};

const WIDEST = 16; // positions of a map; a text is longer

/** The tokens that the writer has read before a step: the reader's own, then those that it wrote. */
export const readBefore = ({ source, steps }, at) => [...source.tokens, ...steps.slice(0, Math.max(0, at)).map(({ token }) => token)];

/** What the token at a position computed: with the prompt, or in a step of its own. */
function rowOf({ source, steps }, t) {
  const first = source.tokens.length;
  const part = t < first ? { layers: source.layers, row: t } : { layers: steps[t - first + 1].layers, row: 0 };
  return (layer, name) => part.layers[layer][name][part.row];
}

/** Attention of the token that was read last before a step, by layer. */
export const lastWeights = (run, at) => {
  const row = rowOf(run, run.source.tokens.length - 1 + Math.max(0, at));
  return run.source.layers.map((_, layer) => row(layer, "weights"));
};

function shownWriter(run, at) {
  const tokens = readBefore(run, at);
  return {
    rows: tokens, columns: tokens, current: tokens.length - 1, from: Math.max(0, tokens.length - WIDEST),
    weights: (t) => run.source.layers.map((_, layer) => rowOf(run, t)(layer, "weights")),
    query: (layer, t) => rowOf(run, t)(layer, "q"),
    keys: (layer, t) => tokens.slice(0, t + 1).map((_, s) => rowOf(run, s)(layer, "k")),
  };
}

export const WRITER = {
  self: {
    name: "self-attention", view: shownWriter,
    about: `A row for each of the last ${WIDEST} tokens that the model has read, a column for each token up to itself: later ones are masked. What earlier tokens get stands in the first column.`,
  },
};
