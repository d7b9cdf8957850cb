"""The task of going back through LayerNorm by hand."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch07_encoder.norms import NORMS, normed
from softlookup_judge.chapters.draws import Rng, far_from_zero, normal
from softlookup_judge.chapters.forbidden import AUTOGRAD
from softlookup_judge.data.published import described


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


def _layer_norm_backward(g: Any, x: Any, gain: Any, eps: float) -> tuple[Any, ...]:
    """By autograd, through torch's own function."""
    import torch

    with torch.enable_grad():
        leaves = [tensor.detach().clone().requires_grad_(True) for tensor in (x, gain, torch.zeros_like(gain))]
        y = torch.nn.functional.layer_norm(leaves[0], gain.shape, leaves[1], leaves[2], eps)
        return tuple(torch.autograd.grad(y, leaves, g.detach()))


LAYER_NORM_BACKWARD = described(
    "07.layer-norm-backward",
    cases=_backward_cases,
    oracle=_layer_norm_backward,
    forbids=(*AUTOGRAD, *(name for name in NORMS if not name.startswith("softlookup"))),
)
