"""Tasks of residual connections, sublayers and feed-forward networks."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded, variants_by
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.chapters.oracles import torch

LAYERS = ("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerEncoder", "torch.nn.Transformer")
"""What must not be called where a sublayer is to be written."""

WHOLE_LAYERS = (*LAYERS, *ATTENTIONS)
"""What must not be called where a layer is to be written."""


def _residual_cases(rng: Rng) -> list[Case]:
    def args(n_layers: int, *shape: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
        d = shape[-1]
        return normal(rng, *shape, dtype=dtype), normal(rng, n_layers, d, d, dtype=dtype, scale=d**-0.5)

    double = args(3, 2, 3, 4, dtype="float64")
    return [
        Case("three layers, B = 2, T = 3, D = 5", args(3, 2, 3, 5)),
        Case("L = T = D = 4", args(4, 4, 4)),
        Case("two layers, T = 5, D = 3", args(2, 5, 3)),
        Case("one layer", args(1, 2, 3, 4)),
        Case("gradients of tokens and weights", double, **backward(doubles(rng, 2, 3, 4), 0, 1)),
    ]


@graded("07.residual", _residual_cases, parts={"core": 0.8, "gradient": 0.2})
def _residual(x: Any, w: Any) -> Any:
    """The sum of the start and of what every layer adds, kept apart until the end."""
    added = [x]
    for w_l in w.unbind(0):
        state = torch.stack(added).sum(dim=0)
        added.append(torch.nn.functional.linear(state, w_l.mT).clamp(min=0))
    return torch.stack(added).sum(dim=0)


def hidden_weights(rng: Rng, d: int, f: int, dtype: str = "float32", spread: float = 0.5) -> tuple[np.ndarray, ...]:
    """The weights of a feed-forward network: w_1 (D, F), b_1 (F), w_2 (F, D), b_2 (D)."""
    return (
        normal(rng, d, f, dtype=dtype, scale=d**-0.5),
        normal(rng, f, dtype=dtype, scale=spread),
        normal(rng, f, d, dtype=dtype, scale=f**-0.5),
        normal(rng, d, dtype=dtype, scale=spread),
    )


def norm_weights(rng: Rng, n: int, d: int, dtype: str = "float32") -> np.ndarray:
    """Gains near 1.3 and shifts, one row after the other."""
    rows = normal(rng, n, d, dtype=dtype, scale=0.5)
    rows[::2] += rows.dtype.type(1.3)
    return rows


def _sublayer_cases(rng: Rng, norm_first: bool, asked: str) -> list[Case]:
    def args(*shape: int, f: int, dtype: str = "float32", scale: float = 1.0) -> tuple[np.ndarray, ...]:
        d = shape[-1]
        gain, shift = norm_weights(rng, 2, d, dtype)
        return normal(rng, *shape, dtype=dtype, scale=scale), *hidden_weights(rng, d, f, dtype), gain, shift

    double = args(2, 3, 5, f=7, dtype="float64")
    return [
        Case("B = 2, T = 3, D = 5, F = 11", args(2, 3, 5, f=11)),
        Case("B = T = D = F = 4", args(4, 4, 4, f=4)),
        Case("small sizes: T = 8, D = 4, F = 16", args(8, 4, f=16)),
        Case("tokens of small numbers", args(3, 5, f=6, scale=3e-3)),
        Case("float64", double, **DTYPE),
        Case("gradients of tokens, weights, gain and shift", double, **backward(doubles(rng, 2, 3, 5), 0, 1, 3, 5, 6)),
    ]


@graded(
    "07.sublayer",
    _sublayer_cases,
    parts={"core": 0.8, "gradient": 0.1, "dtype": 0.1},
    forbids=LAYERS,
    variants=(
        {"norm_first": False, "asked": "**norm after the sum** (post-LN)"},
        {"norm_first": True, "asked": "**norm before the sublayer** (pre-LN)"},
    ),
)
def _sublayer(
    x: Any, w_1: Any, b_1: Any, w_2: Any, b_2: Any, gain: Any, shift: Any, norm_first: bool, asked: str
) -> Any:
    inside = torch.nn.functional.layer_norm(x, gain.shape, gain, shift) if norm_first else x
    y = torch.nn.functional.linear(torch.nn.functional.linear(inside, w_1.mT, b_1).relu(), w_2.mT, b_2).add(x)
    return y if norm_first else torch.nn.functional.layer_norm(y, gain.shape, gain, shift)


PARTS = {"core": 0.8, "gradient": 0.1, "dtype": 0.1}


def _cases(rng: Rng) -> list[Case]:
    double = (doubles(rng, 2, 3, 4), *hidden_weights(rng, 4, 7, "float64", 1.0))
    return [
        Case("B = 2, T = 3, D = 4, F = 16", (normal(rng, 2, 3, 4), *hidden_weights(rng, 4, 16, spread=1.0))),
        Case("T = D = F = 4", (normal(rng, 4, 4), *hidden_weights(rng, 4, 4, spread=1.0))),
        Case("small sizes: T = 8, D = 4, F = 16", (normal(rng, 8, 4), *hidden_weights(rng, 4, 16, spread=1.0))),
        Case("B = 3, T = D = 5, F = 7", (normal(rng, 3, 5, 5), *hidden_weights(rng, 5, 7, spread=1.0))),
        Case("one token", (normal(rng, 1, 6), *hidden_weights(rng, 6, 5, spread=1.0))),
        Case(
            "large numbers", (normal(rng, 2, 3, 4, scale=50.0), *hidden_weights(rng, 4, 9, spread=1.0)), tolerance=1e-4
        ),
        Case("float64", double, **DTYPE),
        Case("float32", (normal(rng, 2, 4, 3), *hidden_weights(rng, 3, 6, spread=1.0)), **DTYPE),
        Case("gradients of tokens and weights", double, **backward(doubles(rng, 2, 3, 4), 0, 1, 2, 3, 4)),
    ]


@graded("07.feed-forward", _cases, parts=PARTS)
def _feed_forward(x: Any, w_1: Any, b_1: Any, w_2: Any, b_2: Any) -> Any:
    return torch.nn.functional.linear(torch.nn.functional.relu(torch.nn.functional.linear(x, w_1.mT, b_1)), w_2.mT, b_2)


def _gelu_cases(rng: Rng) -> list[Case]:
    edges = np.array([-40.0, -6.0, -3.0, -1.0, -1e-3, 0.0, 1e-3, 0.5, 1.0, 2.0, 3.0, 6.0, 40.0])
    return [
        Case("from -40 to 40, float64", (edges,)),
        Case("two sequences, float64", (doubles(rng, 2, 3, 5, scale=1.5),)),
        Case("float32", (normal(rng, 4, 6, scale=1.5),), tolerance=2e-5),
        Case("a single number, without axes", (np.array(-0.7),)),
    ]


@graded(
    "07.gelu",
    _gelu_cases,
    forbids=("torch.nn.functional.gelu", "torch.nn.GELU", "softlookup.model", "softlookup.reference"),
)
def _gelu(x: Any) -> tuple[Any, Any]:
    return torch.nn.functional.gelu(x), torch.nn.functional.gelu(x, approximate="tanh")


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
        Case("float64", double, **DTYPE),
        Case("float32", _swiglu_args(rng, 2, 4, 3, f=8), **DTYPE),
        Case("gradients of tokens and weights", double, **backward(doubles(rng, 2, 3, 4), 0, 1, 2, 3)),
    ]


@graded(
    "07.swiglu",
    _swiglu_cases,
    parts=PARTS,
    forbids=("softlookup.model", "softlookup.reference"),
    variants=variants_by(beta=(1.0, 2.0, 0.5, 1.5, 0.75, 3.0, 0.25, 1.25, 4.0)),
)
def _swiglu(x: Any, w_gate: Any, w_1: Any, w_2: Any, beta: float) -> Any:
    """Token by feature sums, and Swish by torch's own SiLU: silu(beta z) / beta."""
    gate = torch.nn.functional.silu(beta * torch.einsum("...d,df->...f", x, w_gate)) / beta
    return torch.einsum("...f,...f,fd->...d", gate, torch.einsum("...d,df->...f", x, w_1), w_2)
