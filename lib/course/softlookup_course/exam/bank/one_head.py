"""Questions on chapter 4: one head of self-attention."""

import numpy as np

from softlookup.reference.attention import softmax
from softlookup.reference.backward import softmax_backward
from softlookup_course.exam.notes import logs, tex
from softlookup_course.exam.question import Chapter, Drawn, different, known, mistake, pick, posed

ask = Chapter(4)


@ask("scores", "matrix", points=3, minutes=5)
def scores(rng: np.random.Generator) -> Drawn:
    q, k = rng.integers(-2, 4, size=(2, 4)), rng.integers(-2, 4, size=(2, 4))
    raw = (q @ k.T).astype(float)
    return posed(
        f"A head of width $H = 4$ has the queries $$Q = {tex(q)}$$ and the keys $$K = {tex(k)}.$$ Give the matrix of "
        "scaled scores, before the softmax.",
        raw / 2,
        f"$$QK^\\top / \\sqrt{{4}} = {tex(raw)} / 2 = {tex(raw / 2)}$$ Row: query; column: key.",
        ((2, "queries times keys, each row against each row"), (1, "divided by the root of the width, 2")),
        {"q": q, "k": k},
        known("04.scale", "no-sqrt", raw),
        known("04.scale", "divided-by-width", raw / 4),
        known("04.scale", "sqrt-of-tokens", raw / 2**0.5),
        known("04.scores", "swapped", raw.T / 2),
    )


@ask("weights", "matrix", points=4, minutes=6)
def weights(rng: np.random.Generator) -> Drawn:
    powers = different(rng, [1, 2, 3, 4, 5, 6], 4)
    hidden = int(rng.integers(4))
    values = rng.integers(0, 9, size=(4, 2))
    row = np.log(powers)
    row_weights = softmax(np.where(np.arange(4) == hidden, -np.inf, row))
    late = softmax(row) * (np.arange(4) != hidden)
    ordinal = ("first", "second", "third", "fourth")[hidden]
    return posed(
        f"One query has the scaled scores ${logs(powers)}$ with four keys, and a mask hides the {ordinal} key. The "
        f"values are $${tex(values)}$$ Give the row of weights and the output.",
        (row_weights, row_weights @ values),
        f"The hidden score becomes $-\\infty$ before the softmax: weights ${tex(row_weights)}$, output "
        f"${tex(row_weights @ values)}$.",
        ((1, "weight 0 for the hidden key"), (1, "the others divided by their own sum"), (2, "the mixture")),
        {"powers": powers, "hidden": hidden, "values": values},
        known("04.weights", "mask-ignored", (softmax(row), softmax(row) @ values)),
        known("04.weights", "mask-after-softmax", (late, late @ values)),
        known(
            "04.weights",
            "masked-to-zero",
            (softmax(np.where(late == 0, 0.0, row)), softmax(np.where(late == 0, 0.0, row)) @ values),
        ),
    )


@ask("backward", "matrix", points=4, minutes=6)
def backward(rng: np.random.Generator) -> Drawn:
    proportions = np.array(pick(rng, (2, 1, 1), (1, 2, 1), (1, 1, 2), (4, 2, 2), (5, 2, 1), (1, 4, 3))).astype(float)
    row = proportions / proportions.sum()
    came = rng.integers(-3, 6, size=3)
    inner = float(row @ came)
    answer = softmax_backward(row[None], came[None])[0]
    return posed(
        f"A row of attention weights is $a = {tex(row)}$, and the gradient of the loss with respect to it is "
        f"$\\mathrm{{d}}a = {tex(came)}$. Give the gradient with respect to the row's scores.",
        answer,
        rf"$a \odot (\mathrm{{d}}a - a \cdot \mathrm{{d}}a)$ with $a \cdot \mathrm{{d}}a = {tex(inner)}$: "
        f"${tex(answer)}$. It sums to 0.",
        ((1, "the inner product"), (1, "taken from each"), (1, "times the weights"), (1, "the numbers")),
        {"row": row, "came": came},
        known("04.softmax-backward", "no-inner", row * came),
        known("04.softmax-backward", "diagonal-only", row * (1 - row) * came),
        known("04.softmax-backward", "plain-sum", row * (came - came.sum())),
    )


@ask("memory", "number", points=3, minutes=4)
def memory(rng: np.random.Generator) -> Drawn:
    batch, tokens, size = pick(rng, 4, 8, 16), pick(rng, 512, 1024, 2048), pick(rng, 2, 4)
    mib = batch * tokens**2 * size / 2**20
    dtype = "float32" if size == 4 else "bfloat16"
    factor = pick(rng, 3, 5)
    return posed(
        f"One head reads a batch of $B = {batch}$ sequences of $T = {tokens}$ tokens. (a) How many MiB "
        f"($2^{{20}}$ bytes) do its scores take in {dtype}? (b) All sequences become {factor} times as long: by which "
        "factor do the scores grow, and (c) by which do the queries?",
        (mib, factor**2, factor),
        f"(a) $B T^2$ numbers of {size} bytes: ${tex(mib)}$ MiB. (b) ${factor**2}$, the square. (c) ${factor}$.",
        ((1, "(a)"), (1, "(b)"), (1, "(c)")),
        {"batch": batch, "tokens": tokens, "size": size, "factor": factor},
        known("04.cost", "elements-for-bytes", (mib / size, factor**2, factor)),
        known("04.cost", "batch-forgotten", (mib / batch, factor**2, factor)),
        known("04.cost", "one-axis", (mib / tokens, factor, factor)),
    )


@ask("why-root", "explanation", points=4, minutes=6)
def why_root(rng: np.random.Generator) -> Drawn:
    width = pick(rng, 16, 64, 100, 256)
    root = int(width**0.5)
    return posed(
        f"Queries and keys of a new head of width $H = {width}$ have independent entries of mean 0 and variance 1. "
        "How large is the variance of a score, and its standard deviation? By what are scores divided, and what "
        "would happen to the weights if they were divided (a) by nothing, (b) by $H$?",
        None,
        f"A score is a sum of {width} independent terms of variance 1: variance {width}, standard deviation {root}. "
        f"Divided by $\\sqrt{{H}} = {root}$ they spread by 1. (a) With nothing, they spread by {root}: the "
        "wider the head, the more rows of the softmax saturate, with nearly all weight on one key. (b) Divided by "
        f"$H$ they spread by $1/{root}$: the weights are nearly equal.",
        ((1, "variance and standard deviation"), (1, "the root"), (1, "(a) saturated rows"), (1, "(b) near equal")),
        {"H": width},
        mistake(None, "Says that every gradient vanishes without the root: many rows saturate, others do not."),
        known("04.scale", "sqrt-of-tokens"),
    )


ask.false(
    "columns-sum",
    "In the weights of a head, each column sums to 1.",
    "Each row does: a query shares out its attention. A column sums to how much its key is looked at "
    "by all, anything from 0 to $T$.",
)
ask.true(
    "large-equal-scores",
    "Four scores are all 1000. Their weights are one quarter each.",
    "Only differences of scores matter, and these are 0. (Code that does not subtract the largest score "
    "gives NaN: a fault of the code.)",
)
ask.false(
    "zero-afterwards",
    "Setting forbidden weights to 0 after the softmax gives the same output as hiding their scores before.",
    "The forbidden keys have taken their share of the sum already: the row sums to less than 1, and the "
    "output still depends on their scores.",
)
