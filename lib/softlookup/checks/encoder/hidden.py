"""Tasks of the feed-forward network: ReLU, GELU in its two forms, and the gated kind."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.encoder.page import PAGE
from softlookup.checks.known import dtype_lost, gradient_cut, known
from softlookup.checks.task import Case, Task

TRANSPOSED = (
    "The weights are used transposed: a token is a row, x @ w_1, and they have that shape already (torch's `F.linear` "
    "takes the transpose)."
)
PARTS = {"core": 0.8, "gradient": 0.1, "dtype": 0.1}


def _weights(rng: Rng, d: int, f: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    return (
        normal(rng, d, f, dtype=dtype, scale=d**-0.5),
        normal(rng, f, dtype=dtype),
        normal(rng, f, d, dtype=dtype, scale=f**-0.5),
        normal(rng, d, dtype=dtype),
    )


def _cases(rng: Rng) -> list[Case]:
    double = (normal(rng, 2, 3, 4, dtype="float64"), *_weights(rng, 4, 7, "float64"))
    return [
        Case("B = 2, T = 3, D = 4, F = 16", (normal(rng, 2, 3, 4), *_weights(rng, 4, 16))),
        Case("T = D = F = 4", (normal(rng, 4, 4), *_weights(rng, 4, 4))),
        Case("the slide's sizes: T = 8, D = 4, F = 16", (normal(rng, 8, 4), *_weights(rng, 4, 16))),
        Case("B = 3, T = D = 5, F = 7", (normal(rng, 3, 5, 5), *_weights(rng, 5, 7))),
        Case("one token", (normal(rng, 1, 6), *_weights(rng, 6, 5))),
        Case("large numbers", (normal(rng, 2, 3, 4, scale=50.0), *_weights(rng, 4, 9)), tolerance=1e-4),
        Case("float64", double, keeps_dtype=True, part="dtype"),
        Case("float32", (normal(rng, 2, 4, 3), *_weights(rng, 3, 6)), keeps_dtype=True, part="dtype"),
        Case(
            "gradients of tokens and weights",
            double,
            gradients=(0, 1, 2, 3, 4),
            upstream=normal(rng, 2, 3, 4, dtype="float64"),
            part="gradient",
        ),
    ]


def _feed_forward(x: Any, w_1: Any, b_1: Any, w_2: Any, b_2: Any) -> Any:
    import torch.nn.functional as F

    return F.linear(F.relu(F.linear(x, w_1.mT, b_1)), w_2.mT, b_2)


HIDDEN = "hidden = torch.relu(x @ w_1 + b_1)"
NARROWED = "return hidden @ w_2 + b_2"

FEED_FORWARD = Task(
    id="07.feed-forward",
    name="feed_forward",
    title="The feed-forward network",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="encoder-feed-forward",
    returns=("y",),
    cases=_cases,
    oracle=_feed_forward,
    parts=PARTS,
    mistakes=(
        known(
            "no-bend", (HIDDEN, "hidden = x @ w_1 + b_1"), says="ReLU is missing: two products alone are one product."
        ),
        known(
            "bend-at-the-end",
            (HIDDEN, "hidden = x @ w_1 + b_1"),
            (NARROWED, "return torch.relu(hidden @ w_2 + b_2)"),
            says="ReLU stands at the end: it comes between the two products, on the hidden numbers.",
        ),
        known(
            "relu-before",
            (HIDDEN, "hidden = torch.relu(x) @ w_1 + b_1"),
            says="ReLU is applied to the tokens: it comes between the two products, on the hidden numbers.",
        ),
        known(
            "absolute",
            (HIDDEN, "hidden = torch.abs(x @ w_1 + b_1)"),
            says="Negative hidden numbers change their sign: ReLU puts 0 for them.",
        ),
        known(
            "bias-after-bend",
            (HIDDEN, "hidden = torch.relu(x @ w_1) + b_1"),
            says="The first bias is added after ReLU: it decides where the bend is, so it comes before.",
        ),
        known(
            "first-bias-forgotten",
            (HIDDEN, "hidden = torch.relu(x @ w_1)"),
            says="The first bias, b_1, is not added.",
        ),
        known("second-bias-forgotten", (NARROWED, "return hidden @ w_2"), says="The second bias, b_2, is not added."),
        known(
            "positions-mixed",
            (HIDDEN, "hidden = torch.relu(w_1.mT @ x + b_1[:, None])"),
            (NARROWED, "return w_2.mT @ hidden + b_2[:, None]"),
            says="The weights stand on the left, so they mix the tokens, not the features: a token is a row, x @ w_1.",
            number=46,
        ),
        known(
            "weights-transposed",
            (HIDDEN, HIDDEN.replace("w_1", "w_1.mT")),
            (NARROWED, NARROWED.replace("w_2", "w_2.mT")),
            says=TRANSPOSED,
        ),
        known(
            "bent-twice",
            (NARROWED, "return torch.relu(hidden @ w_2 + b_2)"),
            says="ReLU is taken of the result as well: it stands between the two products, and nowhere else.",
        ),
        known(
            "gelu-for-relu",
            (HIDDEN, HIDDEN.replace("torch.relu", "nn.functional.gelu")),
            says="The hidden numbers are bent by GELU: ReLU is asked for here.",
        ),
        known(
            "residual-inside",
            (NARROWED, "return x + hidden @ w_2 + b_2"),
            says="The tokens are added to the result: the residual connection comes later, around the network.",
        ),
        known(
            "hidden-averaged",
            (HIDDEN, HIDDEN + "\n    hidden = hidden.mean(dim=-2, keepdim=True).expand_as(hidden)"),
            says="The hidden numbers are averaged over the tokens: no token may see another here.",
            number=46,
        ),
        gradient_cut((NARROWED, "return (hidden @ w_2 + b_2).detach()")),
        dtype_lost((NARROWED, "return (hidden @ w_2 + b_2).double()")),
    ),
)


def _gelu_cases(rng: Rng) -> list[Case]:
    edges = np.array([-40.0, -6.0, -3.0, -1.0, -1e-3, 0.0, 1e-3, 0.5, 1.0, 2.0, 3.0, 6.0, 40.0])
    return [
        Case("from -40 to 40, float64", (edges,)),
        Case("two sequences, float64", (normal(rng, 2, 3, 5, dtype="float64", scale=1.5),)),
        Case("float32", (normal(rng, 4, 6, scale=1.5),), tolerance=2e-5),
    ]


def _gelu(x: Any) -> tuple[Any, Any]:
    import torch.nn.functional as F

    return F.gelu(x), F.gelu(x, approximate="tanh")


EXACT = "exact = x * (1 + torch.erf(x / math.sqrt(2))) / 2"
INNER = "inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)"
TANH = "by_tanh = x * (1 + torch.tanh(inner)) / 2"
BOTH = "return exact, by_tanh"

GELU = Task(
    id="07.gelu",
    name="gelu",
    title="GELU, twice",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="encoder-gelu",
    returns=("exact", "by tanh"),
    cases=_gelu_cases,
    oracle=_gelu,
    forbids=("torch.nn.functional.gelu", "torch.nn.GELU", "softlookup.model", "softlookup.reference"),
    mistakes=(
        known(
            "forms-exchanged",
            (BOTH, "return by_tanh, exact"),
            says="The two forms have changed places: first the one by the error function, then the one by tanh.",
            number=85,
        ),
        known(
            "exact-twice",
            (BOTH, "return exact, exact"),
            says="The second one is the first again: write the form by tanh, as GPT-2 has it.",
            number=85,
        ),
        known(
            "tanh-twice",
            (BOTH, "return by_tanh, by_tanh"),
            says="The first one is the form by tanh: the exact one takes the error function, as BERT has it.",
            number=85,
        ),
        known(
            "no-root-of-two",
            (EXACT, EXACT.replace("x / math.sqrt(2)", "x")),
            says="x goes into erf as it is: the normal distribution's share below x is (1 + erf(x / sqrt(2))) / 2.",
        ),
        known(
            "pi-above",
            (INNER, INNER.replace("2 / math.pi", "2 * math.pi")),
            says="The factor of the tanh form is sqrt(2 / pi), about 0.8; this is sqrt(2 * pi).",
        ),
        known(
            "no-cube",
            (INNER, INNER.replace(" + 0.044715 * x**3", "")),
            says="The cube is missing in the tanh form: x + 0.044715 x³.",
        ),
        known(
            "squared",
            (INNER, INNER.replace("x**3", "x**2")),
            says="x is squared in the tanh form: it is x³.",
        ),
        known(
            "cube-outside",
            (INNER, "inner = math.sqrt(2 / math.pi) * x + 0.044715 * x**3"),
            says="The root stands before x alone: it multiplies the cube too, sqrt(2 / pi) (x + 0.044715 x³).",
        ),
        known(
            "no-root-of-two-over-pi",
            (INNER, INNER.replace("math.sqrt(2 / math.pi)", "2 / math.pi")),
            says="The factor of the tanh form is the root of 2 / pi, about 0.8; this is 2 / pi itself.",
        ),
        known(
            "by-sigmoid",
            (TANH, "by_tanh = x * torch.sigmoid(1.702 * x)"),
            says="The second one is a third form, x * sigmoid(1.702 x), which is coarser: write the one by tanh.",
            number=85,
        ),
        known(
            "cube-tenfold",
            (INNER, INNER.replace("0.044715", "0.44715")),
            says="The factor of the cube is 0.044715: this one is ten times that.",
        ),
        known(
            "share-alone",
            (EXACT, EXACT.replace("x * ", "")),
            (TANH, TANH.replace("x * ", "")),
            says="This is the share alone, between 0 and 1: x is multiplied by it.",
        ),
        known(
            "not-halved",
            (EXACT, EXACT.replace(" / 2", "")),
            (TANH, TANH.replace(" / 2", "")),
            says="1 + erf and 1 + tanh run from 0 to 2: halve them.",
        ),
        known(
            "exact-not-halved",
            (EXACT, EXACT.replace(" / 2", "")),
            says="1 + erf runs from 0 to 2: halve it.",
        ),
        known(
            "tanh-not-halved",
            (TANH, TANH.replace(" / 2", "")),
            says="1 + tanh runs from 0 to 2: halve it.",
        ),
    ),
)


def _swiglu_args(rng: Rng, *shape: int, f: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    d = shape[-1]
    return (
        normal(rng, *shape, dtype=dtype),
        normal(rng, d, f, dtype=dtype, scale=1.5 * d**-0.5),
        normal(rng, d, f, dtype=dtype, scale=d**-0.5),
        normal(rng, f, d, dtype=dtype, scale=f**-0.5),
    )


def _swiglu_cases(rng: Rng, beta: float) -> list[Case]:
    double = _swiglu_args(rng, 2, 3, 4, f=7, dtype="float64")
    return [
        Case("B = 2, T = 3, D = 4, F = 11", _swiglu_args(rng, 2, 3, 4, f=11)),
        Case("T = D = F = 4", _swiglu_args(rng, 4, 4, f=4)),
        Case("one token, D = 6, F = 5", _swiglu_args(rng, 1, 6, f=5)),
        Case("float64", double, keeps_dtype=True, part="dtype"),
        Case("float32", _swiglu_args(rng, 2, 4, 3, f=8), keeps_dtype=True, part="dtype"),
        Case(
            "gradients of tokens and weights",
            double,
            gradients=(0, 1, 2, 3),
            upstream=normal(rng, 2, 3, 4, dtype="float64"),
            part="gradient",
        ),
    ]


def _swiglu(x: Any, w_gate: Any, w_1: Any, w_2: Any, beta: float) -> Any:
    """Token by feature sums, and Swish by torch's own SiLU: silu(beta z) / beta."""
    import torch
    import torch.nn.functional as F

    gate = F.silu(beta * torch.einsum("...d,df->...f", x, w_gate)) / beta
    return torch.einsum("...f,...f,fd->...d", gate, torch.einsum("...d,df->...f", x, w_1), w_2)


GATE = "gate = z * torch.sigmoid(beta * z)"
GATED = "return (gate * (x @ w_1)) @ w_2"

SWIGLU = Task(
    id="07.swiglu",
    name="swiglu",
    title="A gated network: SwiGLU",
    points=2,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="encoder-swiglu",
    returns=("y",),
    cases=_swiglu_cases,
    oracle=_swiglu,
    parts=PARTS,
    forbids=("softlookup.model", "softlookup.reference"),
    variants=({"beta": 1.0}, {"beta": 2.0}, {"beta": 0.5}),
    mistakes=(
        known(
            "roles-of-matrices-exchanged",
            ("z = x @ w_gate", "z = x @ w_1"),
            (GATED, "return (gate * (x @ w_gate)) @ w_2"),
            says="w_gate and w_1 have changed places: Swish bends what w_gate gives.",
        ),
        known(
            "gate-matrix-twice",
            (GATED, "return (gate * z) @ w_2"),
            says="Gate and hidden numbers come from the same matrix: the hidden ones are x @ w_1.",
        ),
        known(
            "sigmoid-alone",
            (GATE, "gate = torch.sigmoid(beta * z)"),
            says="The gate is a plain sigmoid (that is the older GLU): Swish is z times it.",
        ),
        known(
            "relu-gate", (GATE, "gate = torch.relu(z)"), says="The gate is bent by ReLU: Swish is z * sigmoid(beta z)."
        ),
        known(
            "gelu-gate",
            (GATE, "gate = z * (1 + torch.erf(z / math.sqrt(2))) / 2"),
            says="The gate is bent by GELU: Swish is z * sigmoid(beta z).",
        ),
        known(
            "gate-not-bent",
            (GATE, "gate = z"),
            says="The gate is not bent: two products multiplied. Swish is z * sigmoid(beta z).",
        ),
        known(
            "weights-transposed",
            ("z = x @ w_gate", "z = x @ w_gate.mT"),
            (GATED, "return (gate * (x @ w_1.mT)) @ w_2.mT"),
            says=TRANSPOSED,
        ),
        known(
            "gate-added",
            (GATED, "return (gate + x @ w_1) @ w_2"),
            says="Gate and hidden numbers are added: they are multiplied, number by number.",
        ),
        known(
            "no-gate",
            ("z = x @ w_gate", "z = x @ w_1"),
            (GATED, "return gate @ w_2"),
            says="This is a plain network with Swish: the gate is missing.",
        ),
        known(
            "both-bent",
            (GATED, "hidden = x @ w_1\n    return (gate * hidden * torch.sigmoid(beta * hidden)) @ w_2"),
            says="Both factors are bent: the one of w_1 stays as it is.",
        ),
        known(
            "bent-product",
            (GATE, "z = z * (x @ w_1)\n    " + GATE),
            (GATED, "return gate @ w_2"),
            says="Swish is applied to the product: it bends the gate alone, before the two are multiplied.",
        ),
        gradient_cut((GATED, GATED.replace("return ", "return (") + ").detach()")),
        dtype_lost((GATED, GATED.replace("return ", "return (") + ").double()")),
    ),
)
