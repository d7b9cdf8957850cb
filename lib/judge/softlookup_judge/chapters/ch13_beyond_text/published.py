"""The task on other people's weights: a part of a published layer, computed from the tensors of its file."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch

KINDS = ("none", "tanh")
"""For each variant: torch's name of the GELU. The other one is a known mistake."""
NAMED = (
    "`gelu`, the exact one, $x\\,\\Phi(x)$",
    "`gelu_new`, the approximation with tanh, $\\frac{x}{2}(1 + \\tanh(\\sqrt{2/\\pi}(x + 0.044715 x^3)))$",
)
EPS = 1e-12


def _args(rng: Rng, b: int, t: int, d: int, hidden: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    return (
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, hidden, d, dtype=dtype, scale=1.5 * d**-0.5),
        normal(rng, hidden, dtype=dtype, scale=0.5),
        normal(rng, d, hidden, dtype=dtype, scale=hidden**-0.5),
        normal(rng, d, dtype=dtype, scale=0.5),
        (1 + normal(rng, d, scale=0.3)).astype(dtype),
        normal(rng, d, dtype=dtype, scale=0.5),
    )


def _cases(rng: Rng, approximate: str, wording: str) -> list[Case]:
    tiny = list(_args(rng, 2, 3, 4, 5, "float64"))
    tiny[0] = tiny[0] * 1e-4
    for position in (3, 4):
        tiny[position] = tiny[position] * 1e-4
    return [
        Case("B = 2, T = 3, D = 4, F = 7", _args(rng, 2, 3, 4, 7)),
        Case("D = 6, F = 3", _args(rng, 1, 4, 6, 3)),
        Case("D = F = 5: matrices that are squares", _args(rng, 2, 3, 5, 5)),
        Case("vectors of tiny spread", tuple(tiny), part="norm"),
        Case(
            "gradients of x and both matrices",
            _args(rng, 2, 3, 4, 6, "float64"),
            **backward(doubles(rng, 2, 3, 4), 0, 1, 3),
        ),
    ]


@graded(
    "13.published",
    _cases,
    parts={"core": 0.65, "norm": 0.15, "gradient": 0.2},
    variants=tuple(
        {"approximate": approximate, "wording": wording} for approximate, wording in zip(KINDS, NAMED, strict=True)
    ),
    forbids=("softlookup.model", "softlookup.reference", "transformers"),
)
def _oracle(
    x: Any, w_in: Any, b_in: Any, w_out: Any, b_out: Any, gain: Any, bias: Any, approximate: str, wording: str
) -> Any:
    """With torch's own modules, into which the file's tensors are put as they are."""
    from torch import nn

    hidden, d = w_in.shape
    layers = nn.Sequential(nn.Linear(d, hidden), nn.GELU(approximate), nn.Linear(hidden, d)).to(x.dtype)
    state = {"0.weight": w_in, "0.bias": b_in, "2.weight": w_out, "2.bias": b_out}
    norm = nn.LayerNorm(d, eps=EPS, dtype=x.dtype)
    y = x + torch.func.functional_call(layers, state, (x,))
    return torch.func.functional_call(norm, {"weight": gain, "bias": bias}, (y,))
