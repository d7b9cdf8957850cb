"""Questions on chapter 6: positions."""

import numpy as np

from softlookup.reference.positions import alibi_bias, alibi_slopes, angles
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(6)


@ask("angle", "number", points=3, minutes=4)
def angle(rng: np.random.Generator) -> Drawn:
    position, column = int(rng.integers(2, 40)), int(rng.integers(2, 8))
    pair_angles = angles(np.array([position]), 8)[0]
    answer = float(pair_angles[column // 2])
    function = "sine" if column % 2 == 0 else "cosine"
    return posed(
        f"A table of sinusoids has width $D = 8$, base 10000, sine and cosine in turn. (a) Of which angle is column "
        f"{column} at position {position} the sine or cosine, and which of both? Columns and positions count from 0. "
        "(b) What is the length of a row squared?",
        (answer, function, 4),
        f"(a) Column {column} belongs to pair $i = {column // 2}$: ${position} \\cdot 10000^{{-{2 * (column // 2)}/8}} "
        f"= {answer:g}$, its {function}. (b) Four pairs, each with $\\sin^2 + \\cos^2 = 1$: 4.",
        ((1, "the exponent by pairs"), (1, "angle, and sine or cosine"), (1, "(b)")),
        {"position": position, "column": column},
        known("06.angles", "exponent-halved", (position * 10000 ** (-(column // 2) / 8), function, 4)),
        known("06.angles", "pairs-from-one", (position * 10000 ** (-2 * (column // 2 + 1) / 8), function, 4)),
        known("06.angles", "starts-at-one", ((position + 1) * answer / position, function, 4)),
    )


@ask("alibi", "matrix", points=4, minutes=5)
def alibi(rng: np.random.Generator) -> Drawn:
    heads = pick(rng, 2, 4, 8)
    head, tokens = int(rng.integers(0, min(heads, 3))), 4
    slope = float(alibi_slopes(heads)[head])
    bias = alibi_bias(heads, tokens, tokens)[head]
    lower = np.where(np.isfinite(bias), bias, -np.inf)
    visible = np.tril(np.ones((tokens, tokens), dtype=bool))
    answer = np.where(visible, lower, 0.0)
    table = np.where(visible, lower, -np.inf)
    distance = np.subtract.outer(np.arange(tokens), np.arange(tokens))
    first = 2.0 ** (-8 * head / heads)
    return posed(
        f"A layer with {heads} heads uses ALiBi under a causal mask. Give the slope of head {head} (heads count from "
        f"0), and what is added to its scaled scores for {tokens} tokens: a row for each query; hidden places may stay "
        "empty.",
        (slope, answer),
        f"Slope $2^{{-8 \\cdot {head + 1}/{heads}}} = {tex(slope)}$, times the distance, taken away: $${tex(table)}$$",
        ((2, "the slope, heads counted from 1 in the exponent"), (1, "by distance"), (1, "with a minus")),
        {"heads": heads, "one": head, "tokens": tokens},
        known("06.alibi", "rewarded", (slope, np.where(visible, slope * distance, 0.0))),
        mistake((first, np.where(visible, -first * distance, 0.0)), "Heads are counted from 0 in the exponent."),
        known("06.alibi", "one-too-far", (slope, np.where(visible, -slope * (distance + 1), 0.0))),
    )


@ask("relative", "matrix", points=3, minutes=4)
def relative(rng: np.random.Generator) -> Drawn:
    tokens, clip = int(rng.integers(4, 6)), int(rng.integers(1, 3))
    steps = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
    answer = np.clip(steps, -clip, clip) + clip
    return posed(
        f"Shaw's relative positions keep a row for each distance $s - t$ from $-{clip}$ to ${clip}$ (key's place "
        f"minus query's place); what is farther is clipped, and the rows count from 0. Give for {tokens} tokens the "
        "table of row numbers, a row for each query. How many rows are learned?",
        (answer, 2 * clip + 1),
        f"$$\\operatorname{{clip}}(s - t, -{clip}, {clip}) + {clip} = {tex(answer)}$$ There are "
        f"$2 \\cdot {clip} + 1 = {2 * clip + 1}$ rows.",
        ((1, "clipped on both sides"), (1, "moved to begin at 0, sign as said"), (1, "number of rows")),
        {"tokens": tokens, "clip": clip},
        known("06.relative", "sign", (answer.T, 2 * clip + 1)),
        known("06.relative", "not-moved", (answer - clip, 2 * clip + 1)),
        known("06.relative", "absolute", (np.minimum(np.abs(steps), clip), clip + 1)),
    )


@ask("turn", "matrix", points=4, minutes=5)
def turn(rng: np.random.Generator) -> Drawn:
    q, k = rng.integers(-4, 6, size=2), rng.integers(-4, 6, size=2)
    at, back, moved = int(rng.integers(3, 8)), int(rng.integers(1, 4)), int(rng.integers(10, 50))
    quarter = np.array([[0, 1], [-1, 0]])  # row vectors: (a, b) -> (-b, a)
    turned_q = q @ np.linalg.matrix_power(quarter, at)
    turned_k = k @ np.linalg.matrix_power(quarter, at - back)
    score = int(turned_q @ turned_k)
    other = int((q @ np.linalg.matrix_power(quarter, -back % 4)) @ k)
    return posed(
        "A head has width 2, and its rotary positions turn by a quarter turn ($90°$, anticlockwise) for each place. "
        f"The query ${tex(q)}$ stands at place {at}, the key ${tex(k)}$ at place {at - back}. Give both turned vectors "
        f"and their dot product. What is the dot product if both words stand {moved} places later?",
        (turned_q, turned_k, score, score),
        f"The query turns {at} quarters, to ${tex(turned_q)}$, the key {at - back}, to ${tex(turned_k)}$; the product "
        f"is {score}. Later it is the same: it knows only the distance, {back}.",
        ((1, "the query"), (1, "the key"), (1, "their product"), (1, "the same later")),
        {"q": q, "k": k, "at": at, "back": back, "moved": moved},
        mistake((turned_q, turned_k, int(q @ k), int(q @ k)), "The product is taken of the vectors before the turn."),
        mistake((turned_q, turned_k, other, other), "The distance is turned the wrong way."),
    )


@ask("order", "explanation", points=4, minutes=5)
def order(rng: np.random.Generator) -> Drawn:
    first, second = pick(rng, ("the dog bites the man", "the man bites the dog"), ("it is late", "is it late"))
    return posed(
        f"A layer of self-attention has neither positions nor a mask. What do the outputs for *{first}* and *{second}* "
        "have to do with each other? What about the mean of all outputs? And does a causal mask change the answer?",
        None,
        "The same words stand in another order, so the same rows come out in the other order (equal words have equal "
        "rows): the layer is permutation equivariant. The mean over the rows is the same for both: invariant. With a "
        "causal mask each word sees only what stands before it, which differs: outputs differ, so a mask tells a "
        "little about order.",
        ((2, "the same rows, moved with their words"), (1, "the same mean"), (1, "a causal mask breaks it")),
        {"one": first},
        mistake(None, "Says invariant for the table of outputs: that holds for their mean."),
    )


ask.false(
    "rotary-both-late",
    "If rotary positions turn queries and keys by one place too many, all scores are wrong.",
    "Both turn by the same angle more, and the score knows only the difference.",
)
ask.true(
    "values-turned",
    "A rotary layer turns queries and keys, and leaves the values as they are.",
    "The place is to act on who attends to whom. Turned values would mix places into what is said.",
)
ask.false(
    "row-length",
    "Rows of sinusoids become longer with the position.",
    "Each pair adds $\\sin^2 + \\cos^2 = 1$ to the square: every row has length $\\sqrt{D/2}$.",
)
