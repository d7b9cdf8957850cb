"""Tasks about norms: LayerNorm and RMSNorm."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, far_from_zero, normal
from softlookup_judge.data.published import described

NORMS = (
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.rms_norm",
    "torch.nn.functional.group_norm",
    "torch.nn.functional.batch_norm",
    "torch.nn.functional.instance_norm",
    "torch.nn.functional.normalize",
    "torch.nn.LayerNorm",
    "torch.nn.RMSNorm",
    "torch.nn.GroupNorm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "torch.rms_norm",
    "softlookup.model",
    "softlookup.reference",
)
"""What must not be called where a norm is to be written."""

PARTS = {"core": 0.8, "gradient": 0.1, "dtype": 0.1}


def normed(rng: Rng, *shape: int, dtype: str = "float32", scale: float = 1.0, mean: float = 0.0) -> Any:
    """Draw tokens of a given spread and mean."""
    return normal(rng, *shape, dtype=dtype, scale=scale) + np.dtype(dtype).type(mean)


def _gain_shift(rng: Rng, d: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    return normal(rng, d, dtype=dtype) + np.dtype(dtype).type(1.5), normal(rng, d, dtype=dtype)


def _layer_cases(rng: Rng) -> list[Case]:
    def args(*shape: int, eps: float = 1e-5, **kind: Any) -> tuple[Any, ...]:
        x = normed(rng, *shape, **kind)
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
        Case("float64", double, keeps_dtype=True, part="dtype"),
        Case("float32", args(2, 4, 3), keeps_dtype=True, part="dtype"),
        Case(
            "gradients of x, gain and shift",
            double,
            gradients=(0, 1, 2),
            upstream=normal(rng, 2, 3, 5, dtype="float64"),
            part="gradient",
        ),
    ]


def _layer_norm(x: Any, gain: Any, shift: Any, eps: float) -> Any:
    import torch

    return torch.nn.functional.layer_norm(x, gain.shape, gain, shift, eps)


LAYER_NORM = described("07.layer-norm", cases=_layer_cases, oracle=_layer_norm, parts=PARTS, forbids=NORMS)


def _rms_cases(rng: Rng, base: float, named: str) -> list[Case]:
    def args(*shape: int, eps: float = 1e-6, **kind: Any) -> tuple[Any, ...]:
        x = normed(rng, *shape, **kind)
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
        Case("float64", double, keeps_dtype=True, part="dtype"),
        Case("float32", args(2, 4, 3), keeps_dtype=True, part="dtype"),
        Case(
            "gradients of x and gain",
            double,
            gradients=(0, 1),
            upstream=normal(rng, 2, 3, 5, dtype="float64"),
            part="gradient",
        ),
    ]


def _rms_norm(x: Any, gain: Any, eps: float, base: float, named: str) -> Any:
    import torch

    return torch.nn.functional.rms_norm(x, gain.shape, gain + base, eps)


RMS_NORM = described(
    "07.rms-norm",
    cases=_rms_cases,
    oracle=_rms_norm,
    parts=PARTS,
    forbids=NORMS,
    variants=(
        {"base": 0.0, "named": "what each of the D numbers is multiplied by, as in Llama"},
        {"base": 1.0, "named": "what is added to 1 to give the factor of each of the D numbers, as in Gemma"},
    ),
)
