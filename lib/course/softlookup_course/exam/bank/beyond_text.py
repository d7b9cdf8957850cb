"""Questions on chapter 13: beyond text."""

import numpy as np

from softlookup.reference.attention import scaled_dot_product_attention, softmax
from softlookup_course.exam.notes import logs, tex
from softlookup_course.exam.question import Chapter, Drawn, different, known, mistake, pick, posed

ask = Chapter(13)


@ask("patches", "shape", points=4, minutes=5)
def patches(rng: np.random.Generator) -> Drawn:
    side, down, across = pick(rng, 8, 16), *different(rng, [2, 3, 4, 5, 6], 2)
    channels, width = pick(rng, 1, 3, 4), pick(rng, 100, 200)
    numbers = channels * side**2
    tokens = down * across
    value = ((tokens, numbers), numbers * width, tokens + 1, 16)
    return posed(
        f"A vision transformer cuts pictures of {down * side} × {across * side} pixels with {channels} "
        f"channel{'s' if channels > 1 else ''} into patches of {side} × {side} and projects each to width {width}. "
        "Give (a) the shape of the patches of one picture, (b) the parameters of the projection without a bias, (c) "
        "the length of the sequence with a class token, (d) the factor by which the scores between patches grow when "
        "the patches' side is halved.",
        value,
        f"(a) $({down} \\cdot {across},\\ {channels} \\cdot {side}^2) = {tex(value[0])}$. (b) ${tex(numbers)} \\cdot "
        f"{width} = {tex(value[1])}$. (c) {tokens + 1}. (d) Four times as many patches, sixteen times as many scores.",
        ((1, "(a), all channels in a row"), (1, "(b)"), (1, "(c)"), (1, "(d)")),
        {"down": down * side, "across": across * side, "side": side, "channels": channels, "width": width},
        mistake(((tokens, side**2), side**2 * width, tokens + 1, 16), "The channels are forgotten.")
        if channels > 1
        else mistake(None, "Takes pixels for tokens."),
        mistake(((tokens, numbers), numbers * width, tokens + 1, 4), "Patches are counted in (d), not pairs of them."),
    )


@ask("frames", "number", points=3, minutes=4)
def frames(rng: np.random.Generator) -> Drawn:
    hop, width, seconds = pick(rng, 100, 160, 200), pick(rng, 400, 500), pick(rng, 1, 2, 3)
    samples = 16_000 * seconds
    value = (samples - width) // hop + 1
    return posed(
        f"A sound of {seconds} second{'s' if seconds > 1 else ''} has 16,000 samples a second. Frames have {width} "
        f"samples; each begins {hop} samples after the one before, and what does not fill a frame is left out. How "
        "many frames are there, and how many samples do two neighbours share?",
        (value, width - hop),
        f"$\\lfloor ({tex(samples)} - {width}) / {hop} \\rfloor + 1 = {value}$; neighbours share {width - hop}.",
        ((1, "the quotient, rounded down"), (1, "the first frame too"), (1, "the overlap")),
        {"hop": hop, "width": width, "seconds": seconds},
        known("13.frames", "last-one-lost", (value - 1, width - hop)),
        known("13.frames", "no-overlap", (samples // width, 0)),
        mistake((samples // hop, width - hop), "The width of the last frame is forgotten."),
    )


@ask("merge", "matrix", points=4, minutes=6)
def merge(rng: np.random.Generator) -> Drawn:
    first, second = different(rng, [1, 2, 3, 4], 2), different(rng, [2, 4, 6, 8], 2)
    values = rng.integers(0, 10, size=4).astype(float)
    powers = np.array([*first, *second], dtype=float)
    top = (max(first), max(second))
    totals = tuple(float(np.sum(tile)) / most for tile, most in zip((first, second), top, strict=True))
    mixed = tuple(
        float(np.dot(tile, v)) / most
        for tile, v, most in zip((first, second), (values[:2], values[2:]), top, strict=True)
    )
    # One query of width 1, whose dot products with these keys are the scores.
    answer = float(
        scaled_dot_product_attention(np.ones((1, 1)), np.log(powers)[:, None], values[:, None])[0, 0].round(12)
    )
    larger = max(top)
    total = sum(n * most / larger for n, most in zip(totals, top, strict=True))
    return posed(
        f"A query goes through its keys in two tiles. After each tile apart, it knows: the largest score, "
        f"${logs([top[0]])[1:-1]}$ and ${logs([top[1]])[1:-1]}$; the sum of the powers of $e$ relative to it, "
        f"${tex(totals[0])}$ "
        f"and ${tex(totals[1])}$; the mixture of values with these powers, not yet divided, ${tex(mixed[0])}$ and "
        f"${tex(mixed[1])}$. Give the sum relative to the larger of both scores, and the output over all keys.",
        (total, answer),
        f"Both are brought down to $\\ln {larger}$: factors ${tex(top[0] / larger)}$ and ${tex(top[1] / larger)}$. Sum "
        f"${tex(total)}$, mixture ${tex(total * answer)}$, output ${tex(answer)}$.",
        ((1, "the larger score"), (1, "both factors, at most 1"), (1, "sum and mixture"), (1, "divided at the end")),
        {"top": top, "totals": totals, "mixed": mixed},
        known("13.merge", "not-brought-down", (sum(totals), sum(mixed) / sum(totals))),
        mistake(
            (total, float(np.mean([m / n for m, n in zip(mixed, totals, strict=True)]))),
            "Averages the outputs of tiles.",
        ),
    )


@ask("rollout", "matrix", points=4, minutes=6)
def rollout(rng: np.random.Generator) -> Drawn:
    quarters = rng.integers(0, 5, size=(2, 2)) / 4
    maps = np.stack([quarters, 1 - quarters], axis=-1)
    first, second = maps
    steps = 0.5 * maps + 0.5 * np.eye(2)
    answer = steps[1] @ steps[0]
    return posed(
        f"Two layers with one head each have the weights $$A_1 = {tex(first)}, \\qquad A_2 = {tex(second)},$$ the "
        "first layer being $A_1$. Give the rollout: where what stands at each place came from, half of it past the "
        "attention in each layer.",
        answer,
        f"Each step is half the weights and half the identity, and the later one stands on the left: $${tex(steps[1])} "
        f"{tex(steps[0])} = {tex(answer)}$$",
        ((2, "half the identity in each step"), (1, "a matrix product"), (1, "the first layer on the right")),
        {"maps": maps},
        known("13.rollout", "no-residual", second @ first),
        known("13.rollout", "layers-backwards", steps[0] @ steps[1]),
        known("13.rollout", "cell-by-cell", steps[1] * steps[0]),
    )


@ask("linear", "matrix", points=3, minutes=4)
def linear(rng: np.random.Generator) -> Drawn:
    q, keys, values = rng.integers(1, 5, size=2), rng.integers(1, 5, size=(3, 2)), rng.integers(0, 9, size=3)
    weights = keys @ q
    state, norm = keys.T @ values, keys.sum(axis=0)
    answer = float(q @ state / (q @ norm))
    return posed(
        f"Linear attention: the features of a query are $f(q) = {tex(q)}$, those of three keys $${tex(keys)}$$ and the "
        f"values are ${tex(values)}$. Give the two sums that are kept however many keys there are, and the output.",
        (state, norm, answer),
        f"$\\sum f(k_s) v_s = {tex(state)}$ and $\\sum f(k_s) = {tex(norm)}$. Output ${tex(float(q @ state))} / "
        f"{tex(float(q @ norm))} = {tex(answer)}$.",
        ((1, "both sums"), (1, "the query's product with both"), (1, "divided")),
        {"q": q, "keys": keys, "values": values},
        known("13.linear", "not-divided", (state, norm, float(q @ state))),
        known("13.linear", "divided-by-count", (state, norm, float(q @ state) / 3)),
        mistake((state, norm, float(softmax(weights) @ values)), "A softmax is taken of the products of features."),
    )


@ask("maps", "explanation", points=4, minutes=5)
def maps(rng: np.random.Generator) -> Drawn:
    patch = pick(rng, "a dog's ear", "the wheel of a car", "a sail")
    return posed(
        f"A vision transformer labels a picture rightly; the map of its last layer gives much weight to {patch}. "
        "Somebody concludes that the model decided because of it. Give three reasons why this does not follow, and an "
        "experiment that would tell more.",
        None,
        "(1) Weight says how much of a value is mixed in, and that value may be small. (2) In the last layer keys are "
        "states into which all patches have been mixed already. (3) Other heads and layers, and the residual, carry "
        "information too; other weights may give the same output. Experiment: hide that patch (and others of the same "
        "size), and see how the probability of the label changes.",
        ((3, "one for each reason, as above or as good"), (1, "an experiment that changes the input")),
        {"patch": patch},
        known("13.rollout", "last-layer-alone"),
    )


ask.false(
    "tiles-approximate",
    "Attention computed tile by tile is an approximation of softmax attention.",
    "It is the same function: sums and mixtures are brought down to one largest score. What it saves is "
    "the square in memory.",
)
ask.true(
    "shuffled-patches",
    "If the patches of all pictures are shuffled in the same way, a vision transformer with learned positions can "
    "be trained anew to the same quality.",
    "Every patch may attend to every other anyway, and the rows of positions are learned: they only get other places.",
)
ask.false(
    "zero-shot-none",
    "A zero-shot classifier offered *cat* and *dog* gives a picture of a car a probability near 0 for both.",
    "A softmax shares out the whole among what is offered: they sum to 1.",
)
