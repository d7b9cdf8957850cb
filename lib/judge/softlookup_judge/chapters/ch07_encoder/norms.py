"""Tasks about norms: LayerNorm, RMSNorm, and back through LayerNorm by hand."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, far_from_zero, normal
from softlookup_judge.chapters.forbidden import AUTOGRAD, dotted
from softlookup_judge.chapters.oracles import torch

NORMS = (
    *dotted("torch.nn.functional", "layer_norm rms_norm group_norm batch_norm instance_norm normalize"),
    *dotted("torch.nn", "LayerNorm RMSNorm GroupNorm"),
    *dotted("torch", "layer_norm native_layer_norm rms_norm"),
    *dotted("softlookup", "model reference"),
)
"""What must not be called where a norm is to be written."""

PARTS = {"core": 0.8, "gradient": 0.1, "dtype": 0.1}


def normed(rng: Rng, *shape: int, dtype: str = "float32", scale: float = 1.0, mean: float = 0.0) -> Any:
    """Draw tokens of a given spread and mean."""
    return normal(rng, *shape, dtype=dtype, scale=scale) + np.dtype(dtype).type(mean)


def _gain_shift(rng: Rng, d: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    return normal(rng, d, dtype=dtype) + np.dtype(dtype).type(1.5), normal(rng, d, dtype=dtype)


def _layer_cases(rng: Rng) -> list[Case]:
    def args(*shape: int, eps: float = 1e-5, **facts: Any) -> tuple[Any, ...]:
        x = normed(rng, *shape, **facts)
        return (x, *_gain_shift(rng, shape[-1], x.dtype.name), eps)

    double = args(2, 3, 5, dtype="float64", mean=2.0, eps=0.1)
    return [
        Case("B = 2, T = 3, D = 5", args(2, 3, 5, mean=1.0)),
        Case("B = T = D = 3", args(3, 3, 3)),
        Case("one sequence without a batch axis, T = 4, D = 6", args(4, 6, mean=-1.0)),
        Case("four axes, D = 4", args(2, 3, 5, 4)),
        Case("one token alone, D = 7", args(7)),
        Case("tokens of tiny variance", args(2, 4, 5, scale=2e-3)),
        Case("tokens of large mean", (far_from_zero(rng, 2, 3, 4), *_gain_shift(rng, 4), 1e-5)),
        Case("eps = 0.5", args(2, 3, 6, eps=0.5)),
        Case("tokens of D equal numbers", (np.full((2, 3, 4), 1.5, dtype="float32"), *_gain_shift(rng, 4), 1e-5)),
        Case("float64", double, **DTYPE),
        Case("float32", args(2, 4, 3), **DTYPE),
        Case("gradients of x, gain and shift", double, **backward(doubles(rng, 2, 3, 5), 0, 1, 2)),
    ]


@graded("07.layer-norm", _layer_cases, parts=PARTS, forbids=NORMS)
def _layer_norm(x: Any, gain: Any, shift: Any, eps: float) -> Any:
    return torch.nn.functional.layer_norm(x, gain.shape, gain, shift, eps)


def _rms_cases(rng: Rng, base: float, wording: str) -> list[Case]:
    def args(*shape: int, eps: float = 1e-6, **facts: Any) -> tuple[Any, ...]:
        x = normed(rng, *shape, **facts)
        return (x, normal(rng, shape[-1], dtype=x.dtype.name) + x.dtype.type(1.5), eps)

    double = args(2, 3, 5, dtype="float64", mean=2.0, eps=0.1)
    return [
        Case("B = 2, T = 3, D = 5", args(2, 3, 5, mean=1.0)),
        Case("B = T = D = 3", args(3, 3, 3)),
        Case("one sequence without a batch axis, T = 4, D = 6", args(4, 6, mean=-1.0)),
        Case("one token alone, D = 7", args(7)),
        Case("tokens of tiny numbers", args(2, 4, 5, scale=5e-4)),
        Case("eps = 0.5", args(2, 3, 6, eps=0.5)),
        Case("a token of zeros", (np.zeros((2, 3, 4), dtype="float32"), normal(rng, 4), 1e-6)),
        Case("float64", double, **DTYPE),
        Case("float32", args(2, 4, 3), **DTYPE),
        Case("gradients of x and gain", double, **backward(doubles(rng, 2, 3, 5), 0, 1)),
    ]


@graded(
    "07.rms-norm",
    _rms_cases,
    parts=PARTS,
    forbids=NORMS,
    variants=(
        {"base": 0.0, "wording": "what each of the D numbers is multiplied by, as in Llama"},
        {"base": 1.0, "wording": "what is added to 1 to give the factor of each of the D numbers, as in Gemma"},
    ),
)
def _rms_norm(x: Any, gain: Any, eps: float, base: float, wording: str) -> Any:
    return torch.nn.functional.rms_norm(x, gain.shape, gain + base, eps)


def _backward_cases(rng: Rng) -> list[Case]:
    def args(t: int, d: int, eps: float = 1e-5, scale: float = 1.0, dtype: str = "float32") -> tuple[Any, ...]:
        x = normed(rng, t, d, scale=scale, mean=0.7, dtype=dtype)
        return normal(rng, t, d, dtype=dtype), x, normal(rng, d, dtype=dtype) + x.dtype.type(1.5), eps

    return [
        Case("T = 3, D = 5", args(3, 5)),
        Case("T = D = 4", args(4, 4)),
        Case("one token, D = 6", args(1, 6)),
        Case("eps = 0.5", args(4, 3, eps=0.5)),
        Case("tokens of large mean", (normal(rng, 3, 4), far_from_zero(rng, 3, 4), normal(rng, 4), 1e-5)),
        Case("tokens of small variance, float64", args(2, 5, eps=1e-3, scale=0.02, dtype="float64")),
    ]


@graded(
    "07.layer-norm-backward",
    _backward_cases,
    forbids=(*AUTOGRAD, *(name for name in NORMS if not name.startswith("softlookup"))),
)
def _layer_norm_backward(g: Any, x: Any, gain: Any, eps: float) -> tuple[Any, ...]:
    """By autograd, through torch's own function."""
    with torch.enable_grad():
        leaves = [tensor.detach().clone().requires_grad_(True) for tensor in (x, gain, torch.zeros_like(gain))]
        y = torch.nn.functional.layer_norm(leaves[0], gain.shape, leaves[1], leaves[2], eps)
        return tuple(torch.autograd.grad(y, leaves, g.detach()))
