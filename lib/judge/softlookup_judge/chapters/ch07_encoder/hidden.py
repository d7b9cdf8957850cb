"""Tasks of the feed-forward network: ReLU, GELU in its two forms, and the gated kind."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

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
        Case("small sizes: T = 8, D = 4, F = 16", (normal(rng, 8, 4), *_weights(rng, 4, 16))),
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


FEED_FORWARD = described("07.feed-forward", cases=_cases, oracle=_feed_forward, parts=PARTS)


def _gelu_cases(rng: Rng) -> list[Case]:
    edges = np.array([-40.0, -6.0, -3.0, -1.0, -1e-3, 0.0, 1e-3, 0.5, 1.0, 2.0, 3.0, 6.0, 40.0])
    return [
        Case("from -40 to 40, float64", (edges,)),
        Case("two sequences, float64", (normal(rng, 2, 3, 5, dtype="float64", scale=1.5),)),
        Case("float32", (normal(rng, 4, 6, scale=1.5),), tolerance=2e-5),
        Case("a single number, without axes", (np.array(-0.7),)),
    ]


def _gelu(x: Any) -> tuple[Any, Any]:
    import torch.nn.functional as F

    return F.gelu(x), F.gelu(x, approximate="tanh")


GELU = described(
    "07.gelu",
    cases=_gelu_cases,
    oracle=_gelu,
    forbids=("torch.nn.functional.gelu", "torch.nn.GELU", "softlookup.model", "softlookup.reference"),
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
        Case("large numbers, float64", (1000.0 * double[0], *double[1:]), tolerance=1e-7),
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


SWIGLU = described(
    "07.swiglu",
    cases=_swiglu_cases,
    oracle=_swiglu,
    parts=PARTS,
    forbids=("softlookup.model", "softlookup.reference"),
    variants=tuple({"beta": beta} for beta in (1.0, 2.0, 0.5, 1.5, 0.75, 3.0, 0.25, 1.25, 4.0)),
)
