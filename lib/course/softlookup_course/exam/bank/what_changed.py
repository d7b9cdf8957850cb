"""Questions on chapter 15: what changed since the lectures."""

from collections.abc import Callable
from itertools import combinations

import numpy as np

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, pick, posed

ask = Chapter(15)


@ask("route", "matrix", points=4, minutes=5)
def route(rng: np.random.Generator) -> Drawn:
    gates = rng.choice(np.arange(2, 19), size=4, replace=False)
    bias = rng.choice(np.arange(-8, 9), size=4, replace=False)
    factor = pick(rng, 2, 3)
    sums = gates + bias
    chosen = np.isin(np.arange(4), np.argsort(-sums)[:2])
    plain = np.isin(np.arange(4), np.argsort(-gates)[:2])
    if len(set(sums.tolist())) < 4 or (chosen == plain).all():
        return route(rng)
    answer = factor * np.where(chosen, gates, 0) / gates[chosen].sum()
    return posed(
        f"A router gives four experts the gates ${tex(gates / 20)}$. The balancing bias is ${tex(bias / 20)}$, two "
        f"experts are chosen, and the weights are multiplied by {factor}. Give the weights of the four experts.",
        answer,
        f"Gates plus bias are ${tex(sums / 20)}$, which chooses experts "
        f"{' and '.join(str(i) for i in np.flatnonzero(chosen))} (counted from 0). Their gates without the bias, "
        f"divided by their sum and times {factor}: ${tex(answer)}$.",
        ((1, "chosen by gate plus bias"), (2, "weights from the gates alone"), (1, "divided by the sum, times factor")),
        {"gates": gates, "bias": bias, "factor": factor},
        known("15.route", "bias-unused", factor * np.where(plain, gates, 0) / gates[plain].sum()),
        known("15.route", "divided-by-all", factor * np.where(chosen, gates, 0) / gates.sum()),
        known("15.route", "not-renormalised", factor * np.where(chosen, gates, 0) / 20),
    )


@ask("accept", "matrix", points=4, minutes=6)
def accept(rng: np.random.Generator) -> Drawn:
    p, q = (np.diff(np.concatenate([[0], np.sort(rng.choice(np.arange(1, 10), 2, False)), [10]])) for _ in range(2))
    surplus = np.maximum(p - q, 0)
    if (surplus > 0).sum() < 2 or (p == q).any():
        return accept(rng)
    residual = surplus / surplus.sum()
    acceptance = np.minimum(p, q).sum() / 10
    return posed(
        f"Over three tokens, a large model has the probabilities ${tex(p / 10)}$ and its draft model ${tex(q / 10)}$. "
        "(a) With which probability is a drafted token kept? (b) From which distribution is a token drawn if it is "
        "not?",
        (acceptance, residual),
        "(a) Token $x$ is drafted with $q_x$ and kept with $\\min(1, p_x / q_x)$; together $\\sum \\min(p, q) = "
        f"{tex(acceptance)}$. (b) $\\max(p - q, 0) = {tex(surplus / 10)}$, divided by its sum: ${tex(residual)}$.",
        ((2, "(a): the sum of the smaller ones"), (2, "(b): what p has more, divided by its sum")),
        {"p": p, "q": q},
        known("15.accept", "drawn-from-p", (acceptance, p / 10)),
        known("15.accept", "residual-not-divided", (acceptance, surplus / 10)),
    )


@ask("windows", "number", points=4, minutes=5)
def windows(rng: np.random.Generator) -> Drawn:
    every, groups = int(pick(rng, 3, 4, 6)), int(pick(rng, 4, 5, 8))
    window, length = 2 ** int(rng.integers(8, 11)), 2 ** int(rng.integers(13, 16))
    layers = every * groups
    positions = groups * length + (layers - groups) * window
    whole = layers * length
    return posed(
        f"A model has {layers} layers. One of them in {every} attends to everything, the others to a window of "
        f"{window} positions. (a) How many positions do all layers together hold in their caches after {length} "
        "tokens? (b) How many would they hold without windows?",
        (positions, whole),
        f"(a) {groups} layers hold {length} positions and {layers - groups} hold {window}: ${tex(positions)}$. "
        f"(b) ${tex(whole)}$.",
        ((2, "(a): layers of both kinds"), (1, "(a): the window counts once the text is longer"), (1, "(b)")),
        {"layers": layers, "every": every, "window": window, "length": length},
        known("15.layers", "inverted", (groups * window + (layers - groups) * length, whole)),
        known("15.layers", "all-windowed", (layers * window, whole)),
    )


@ask("block", "matrix", points=4, minutes=5)
def block(rng: np.random.Generator) -> Drawn:
    weights = rng.choice([-1, 1], size=4) * rng.choice(np.arange(1, 32), size=4, replace=False)
    largest = int(np.abs(weights).max())
    power = int(np.log2(largest)) - 2
    scaled = weights / 2**power

    def read_back(x: np.ndarray, limit: float, rounded: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        x = x.clip(-limit, limit)
        step = np.select([np.abs(x) < 2, np.abs(x) < 4], [0.5, 1.0], 2.0)
        return rounded(x / step) * step

    answer = 2**power * read_back(scaled, 6, np.round)
    cut = 2**power * read_back(scaled, 6, np.trunc)
    above = 2**power * read_back(scaled, 8, np.round)
    halves = 2 ** (power + 1) * read_back(scaled / 2, 6, np.round)
    steps = np.select([np.abs(scaled) < 2, np.abs(scaled) < 4], [0.5, 1.0], 2.0)
    is_tie = np.abs(scaled / steps) % 1 == 0.5
    alike = [(a == b).all() for a, b in combinations((answer, cut, above, halves), 2)]
    if largest < 8 or is_tie.any() or any(alike):
        return block(rng)
    return posed(
        f"The weights ${tex(weights)}$ form a block of a format with four bits. They share one scale, "
        "$2^{\\lfloor \\log_2 m \\rfloor - 2}$ with $m$ the largest absolute value, and each is stored as the nearest "
        "of $0, 0.5, 1, 1.5, 2, 3, 4, 6$ scales, with its sign. Which numbers can be read back?",
        answer,
        f"The largest absolute value is {largest}, so the scale is ${2**power}$. In scales the weights are "
        f"${tex(scaled)}$, and the nearest codes give ${tex(answer)}$.",
        ((1, "the scale"), (1, "divided by it"), (1, "nearest codes, and 6 for what is above"), (1, "scaled back")),
        {"weights": weights},
        known("15.block-scales", "cut-off", cut),
        known("15.block-scales", "not-clipped", above),
        known("15.block-scales", "scale-too-large", halves),
    )


@ask("latent", "explanation", points=4, minutes=5)
def latent(rng: np.random.Generator) -> Drawn:
    return posed(
        "Multi-head latent attention caches one vector for each token and never computes the keys of its heads. How is "
        "that possible, and why is a second, short key cached beside it?",
        None,
        "The score is $q\\,(c\\,U)^\\top = (q\\,U^\\top)\\,c^\\top$: the matrix that would make keys from the latent "
        "moves to the query's side, once for each step. A rotation by the position would stand between the two and "
        "depend on both tokens, so it cannot be moved; therefore each token has one rotated key, shared by all heads.",
        ((2, "the products are grouped otherwise"), (1, "a rotation stands in between"), (1, "one key for all heads")),
    )


ask.false(
    "bad-draft",
    "A poor draft model makes the text of speculative decoding poorer.",
    "Tokens that are not kept are drawn from what the large model has more, so the distribution is the "
    "large model's. A poor draft costs time alone.",
)
ask.true(
    "sink-takes",
    "With a learned sink, a head's weights on the keys may add up to less than 1.",
    "The sink takes part in the softmax and has no value.",
)
ask.true(
    "delta-replaces",
    "If a key of length 1 is written again with strength 1, the delta rule keeps the new value and forgets "
    "the old one.",
    "It writes the difference between the new value and what the key finds. Linear attention would give "
    "the sum of both.",
)
