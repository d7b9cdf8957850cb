"""Questions on chapter 7: the encoder."""

import numpy as np

from softlookup.reference.feedforward import feed_forward
from softlookup.reference.norms import layer_norm, rms_norm
from softlookup.roofline.sizes import TransformerSizes, parameters
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(7)


@ask("layer-norm", "matrix", points=4, minutes=5)
def norm(rng: np.random.Generator) -> Drawn:
    away = np.array(pick(rng, (-1, -1, -1, -1, 4), (1, 1, 1, 1, -4), (-2, -2, -2, -2, 8)))
    away = away[rng.permutation(5)]
    x = away + int(rng.integers(2, 9))
    gain, shift = rng.integers(1, 5, size=5), rng.integers(-3, 4, size=5)
    deviation = float(np.sqrt((away**2).mean()))
    answer = layer_norm(x, gain, shift, eps=0.0)
    unbiased = away / np.sqrt((away**2).sum() / 4) * gain + shift
    return posed(
        f"A token is ${tex(x)}$. Apply LayerNorm with gain ${tex(gain)}$ and shift ${tex(shift)}$; leave "
        "$\\varepsilon$ out.",
        answer,
        f"Mean ${tex(x.mean())}$, biased variance ${tex(deviation**2)}$, so ${tex(away / deviation)}$, and with gain "
        f"and shift ${tex(answer)}$.",
        ((1, "mean"), (1, "biased variance"), (1, "divided by its root"), (1, "gain, then shift")),
        {"x": x, "gain": gain, "shift": shift},
        known("07.layer-norm", "unbiased", unbiased),
        known("07.layer-norm", "no-root", away / deviation**2 * gain + shift),
        known("07.layer-norm", "shift-before-gain", (away / deviation + shift) * gain),
    )


@ask("rms-norm", "matrix", points=3, minutes=4)
def rms(rng: np.random.Generator) -> Drawn:
    sizes = np.array(pick(rng, (1, 5, 5, 7), (2, 4, 4, 8), (1, 1, 7, 7), (3, 3, 3, 9)))[rng.permutation(4)]
    x = sizes * rng.choice([-1, 1], size=4) * pick(rng, 1, 2)
    root = float(np.sqrt((x**2).mean()))
    answer = rms_norm(x, np.ones(4), eps=0.0)
    return posed(
        f"A token is ${tex(x)}$. Apply RMSNorm with gain 1; leave $\\varepsilon$ out. Multiply the token by 10: what "
        "changes in the result?",
        answer,
        f"The mean square is ${tex(root**2)}$, its root ${tex(root)}$: ${tex(answer)}$. Nothing changes: the root is "
        "ten times as large as well.",
        ((1, "root of the mean square"), (1, "no mean taken away"), (1, "nothing changes")),
        {"x": x},
        known("07.rms-norm", "centred", layer_norm(x, np.ones(4), eps=0.0)),
        known("07.rms-norm", "sum-of-squares", x / np.sqrt((x**2).sum())),
        known("07.rms-norm", "no-root", x / root**2),
    )


@ask("network", "matrix", points=3, minutes=5)
def network(rng: np.random.Generator) -> Drawn:
    x = rng.integers(-3, 4, size=(1, 2))
    w_1, w_2 = rng.integers(-2, 3, size=(2, 4)), rng.integers(-2, 3, size=(4, 2))
    hidden = x @ w_1
    out = feed_forward(x, w_1, w_2)
    if not ((hidden < 0).any() and (hidden > 0).any()):
        return network(rng)  # both sides of the bend are to be seen
    return posed(
        f"A token is $x = {tex(x[0])}$. A feed-forward network without biases has $$W_1 = {tex(w_1)}, \\qquad "
        f"W_2 = {tex(w_2)}$$ and a ReLU. Give $x + \\operatorname{{FFN}}(x)$.",
        (x + out)[0],
        f"$xW_1 = {tex(hidden[0])}$, after the ReLU ${tex(np.maximum(hidden, 0)[0])}$, times $W_2$ ${tex(out[0])}$, "
        f"and with the residual ${tex((x + out)[0])}$.",
        ((1, "the wide row"), (1, "the bend"), (1, "narrowed, and added to the token")),
        {"x": x, "w_1": w_1, "w_2": w_2},
        known("07.feed-forward", "no-bend", (x + hidden @ w_2)[0]),
        known("07.residual", "residual-missing", out[0]),
        known("07.feed-forward", "absolute", (x + np.abs(hidden) @ w_2)[0]),
    )


@ask("parameters", "number", points=4, minutes=5)
def count(rng: np.random.Generator) -> Drawn:
    width, layers = pick(rng, 30, 60, 120), pick(rng, 3, 5, 6)
    plain = TransformerSizes("plain", D=width, N=1, F=4 * width, V=1, L=layers)
    counts = parameters(plain)
    value = counts["attention"] + counts["feed-forward"]
    gated = 8 * width // 3
    check = parameters(plain.but(F=gated, gated=True))["feed-forward"]
    assert check == counts["feed-forward"]
    fraction = counts["feed-forward"] / value
    return posed(
        f"An encoder has {layers} layers, $D = {width}$, $N \\cdot H = D$ and $F = 4D$. Count its matrices alone, "
        "without biases, norms and embeddings: (a) all parameters, (b) the share of the feed-forward networks, (c) the "
        "$F$ of a SwiGLU network that has as many parameters as the plain one.",
        (value, fraction, gated),
        f"(a) Each layer $4D^2 + 2 \\cdot 4D^2 = 12D^2$: ${tex(value)}$. (b) ${tex(fraction)}$. (c) Three matrices "
        f"$3DF = 8D^2$: $F = \\tfrac{{8}}{{3}}D = {gated}$.",
        ((2, "(a)"), (1, "(b)"), (1, "(c)")),
        {"D": width, "L": layers},
        known("07.parameters", "one-layer", (value // layers, fraction, gated)),
        known("07.parameters", "hidden-counted-once", (8 * width**2 * layers, 0.5, gated)),
        mistake((value, fraction, 4 * width), "The gate's matrix is forgotten in (c)."),
    )


@ask("order", "explanation", points=3, minutes=4)
def order(rng: np.random.Generator) -> Drawn:
    code, name, why = pick(
        rng,
        (
            "x + f(norm(x))",
            "pre-LN",
            "the road from first to last layer is free; the stack needs one more norm at its end",
        ),
        (
            "norm(x + f(x))",
            "post-LN",
            "the paper's order: every sum goes through a norm, so the gradient meets one per sublayer",
        ),
        ("norm(x) + f(norm(x))", "neither", "the road begins behind the norm, so $x$ itself is lost in every layer"),
    )
    return posed(
        f"A sublayer is written as `{code}`. Is it pre-LN, post-LN or neither? What does that mean for the residual "
        "road through a deep stack, and does the stack need a norm at its end?",
        None,
        f"**{name}**: {why}.",
        ((1, "the name"), (1, "what it means for the road"), (1, "the norm at the end, or why it does not help")),
        {"code": code},
        known("07.sublayer", "residual-from-normed"),
        known("07.encoder", "last-norm-missing"),
    )


ask.true(
    "equal-token",
    "LayerNorm (gain 1, shift 0) makes zeros of a token whose numbers are all equal.",
    "All distances from the mean are 0, and $0 / \\sqrt{0 + \\varepsilon} = 0$.",
)
ask.false(
    "no-bend-one-matrix",
    "A feed-forward network without a bend can do more than a single $D \\times D$ matrix, if $F$ is large.",
    "$(xW_1)W_2 = x(W_1W_2)$, one matrix, however wide $F$ is.",
)
ask.false(
    "network-mixes",
    "In an encoder layer only the feed-forward network carries information from one token to another.",
    "It treats each token by itself. Only attention mixes tokens.",
)
