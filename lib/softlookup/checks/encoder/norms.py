"""Tasks about norms: LayerNorm, RMSNorm, and LayerNorm backwards."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.encoder import switches
from softlookup.checks.encoder.page import PAGE
from softlookup.checks.known import AUTOGRAD, dtype_lost, gradient_cut, known
from softlookup.checks.task import Case, Task

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

UNBIASED = "The variance is divided by D - 1: torch's `var` does so unless told `correction=0`. LayerNorm divides by D."
EPS_OUTSIDE = "eps is added to the root: it belongs inside it, sqrt(variance + eps)."
OVER_TOKENS = "The numbers are measured down the tokens (axis -2): each token is normalised by itself, along axis -1."
OVER_BATCH = "The numbers are measured along the first axis: each token is normalised by itself, along the last, -1."
OVER_BOTH = (
    "One mean and variance are taken for all tokens of a sequence together: each token has its own, along axis -1."
)
FIXED_AXIS = "The axis is 1 whatever comes in: with other axes in front, the features' axis is -1."
PARTS = {"core": 0.8, "gradient": 0.1, "dtype": 0.1}


def _normed(rng: Rng, *shape: int, dtype: str = "float32", scale: float = 1.0, mean: float = 0.0) -> Any:
    return normal(rng, *shape, dtype=dtype, scale=scale) + np.dtype(dtype).type(mean)


def _gain_shift(rng: Rng, d: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    return normal(rng, d, dtype=dtype) + np.dtype(dtype).type(1.5), normal(rng, d, dtype=dtype)


def _layer_cases(rng: Rng) -> list[Case]:
    def args(*shape: int, eps: float = 1e-5, **kind: Any) -> tuple[Any, ...]:
        x = _normed(rng, *shape, **kind)
        return (x, *_gain_shift(rng, shape[-1], x.dtype.name), eps)

    double = args(2, 3, 5, dtype="float64", mean=2.0, eps=0.1)
    return [
        Case("B = 2, T = 3, D = 5", args(2, 3, 5, mean=1.0)),
        Case("B = T = D = 3", args(3, 3, 3)),
        Case("one sequence without a batch axis, T = 4, D = 6", args(4, 6, mean=-1.0)),
        Case("four axes, D = 4", args(2, 3, 5, 4)),
        Case("one token alone, D = 7", args(7)),
        Case("tokens of tiny variance", args(2, 4, 5, scale=2e-3)),
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


MEAN = "mean = x.mean(dim=-1, keepdim=True)"
VARIANCE = "variance = centred.square().mean(dim=-1, keepdim=True)"
ROOT = "y = centred / torch.sqrt(variance + eps)"
SCALED = "return y * gain + shift"


def _along(axis: str) -> tuple[tuple[str, str], ...]:
    return ((MEAN, MEAN.replace("-1", axis)), (VARIANCE, VARIANCE.replace("-1", axis)))


LAYER_NORM = Task(
    id="07.layer-norm",
    name="layer_norm",
    title="Layer normalisation",
    points=4,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="encoder-norm",
    returns=("y",),
    cases=_layer_cases,
    oracle=_layer_norm,
    mistaken=switches.layer_norm,
    parts=PARTS,
    forbids=NORMS,
    mistakes=(
        known("unbiased", (VARIANCE, "variance = x.var(dim=-1, keepdim=True)"), says=UNBIASED, number=39),
        known("eps-outside", (ROOT, "y = centred / (torch.sqrt(variance) + eps)"), says=EPS_OUTSIDE, number=40),
        known(
            "eps-as-floor",
            (ROOT, "y = centred / torch.sqrt(variance.clamp(min=eps))"),
            says="eps is taken as the least variance: it is added to every variance.",
            number=40,
        ),
        known(
            "no-eps",
            (ROOT, "y = centred / torch.sqrt(variance)"),
            says="eps is not used: without it a token of D equal numbers gives 0/0.",
            number=40,
        ),
        known("over-tokens", *_along("-2"), says=OVER_TOKENS, number=41),
        known("over-batch", *_along("0"), says=OVER_BATCH, number=41),
        known("over-tokens-and-features", *_along("(-2, -1)"), says=OVER_BOTH, number=41),
        known("fixed-axis", *_along("1"), says=FIXED_AXIS, number=41),
        known(
            "gain-dropped",
            (SCALED, "return y + shift"),
            says="The gain is not used: at first it is all ones, and nobody notices; a trained one is not.",
            number=42,
        ),
        known(
            "shift-dropped",
            (SCALED, "return y * gain"),
            says="The shift is not added: at first it is all zeros, and nobody notices; a trained one is not.",
            number=42,
        ),
        known(
            "shift-before-gain",
            (SCALED, "return (y + shift) * gain"),
            says="The shift is multiplied by the gain: first the gain, then the shift.",
        ),
        known(
            "no-root",
            (ROOT, "y = centred / (variance + eps)"),
            says="This divides by the variance: divide by its square root.",
        ),
        known(
            "mean-kept",
            (ROOT, ROOT.replace("centred", "x")),
            says="The mean is not taken away above the line: x - mean is what is divided.",
        ),
        known(
            "not-centred-variance",
            (VARIANCE, "variance = x.square().mean(dim=-1, keepdim=True)"),
            says="This is the mean of the squares, as in RMSNorm: the variance is that of the distances from the mean.",
        ),
        gradient_cut((SCALED, "return (y * gain + shift).detach()")),
        dtype_lost((SCALED, "return (y * gain + shift).double()")),
    ),
)


def _rms_cases(rng: Rng, base: float, named: str) -> list[Case]:
    def args(*shape: int, eps: float = 1e-6, **kind: Any) -> tuple[Any, ...]:
        x = _normed(rng, *shape, **kind)
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


def _rms_mistaken(
    flags: switches.Flags, x: np.ndarray, gain: np.ndarray, eps: float, base: float, named: str
) -> np.ndarray:
    return switches.rms_norm(flags, x, gain, eps, base)


SQUARES = "mean_square = x.square().mean(dim=-1, keepdim=True)"
DIVIDED = "return x / torch.sqrt(mean_square + eps) * (base + gain)"

RMS_NORM = Task(
    id="07.rms-norm",
    name="rms_norm",
    title="RMSNorm",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="encoder-rms-norm",
    returns=("y",),
    cases=_rms_cases,
    oracle=_rms_norm,
    mistaken=_rms_mistaken,
    parts=PARTS,
    forbids=NORMS,
    variants=(
        {"base": 0.0, "named": "what each of the D numbers is multiplied by, as in Llama"},
        {"base": 1.0, "named": "what is added to 1 to give the factor of each of the D numbers, as in Gemma"},
    ),
    mistakes=(
        known(
            "centred",
            (SQUARES, "x = x - x.mean(dim=-1, keepdim=True)\n    " + SQUARES),
            says="The mean is taken away: RMSNorm leaves it where it is.",
        ),
        known(
            "spread",
            (SQUARES, "mean_square = x.var(dim=-1, correction=0, keepdim=True)"),
            says="This divides by the standard deviation: RMSNorm takes the mean of the squares themselves.",
        ),
        known(
            "sum-of-squares",
            (SQUARES, "mean_square = x.square().sum(dim=-1, keepdim=True)"),
            says="The squares are added up: it is their mean, so that the result has a length near sqrt(D), not 1.",
        ),
        known(
            "eps-outside",
            (
                DIVIDED,
                DIVIDED.replace("(mean_square + eps)", "(mean_square + 0)").replace(
                    "torch.sqrt(mean_square + 0)", "(torch.sqrt(mean_square) + eps)"
                ),
            ),
            says=EPS_OUTSIDE,
            number=40,
        ),
        known(
            "no-eps",
            (DIVIDED, DIVIDED.replace(" + eps", "")),
            says="eps is not used: without it a token of zeros gives 0/0.",
            number=40,
        ),
        known(
            "no-root",
            (DIVIDED, DIVIDED.replace("torch.sqrt", "")),
            says="This divides by the mean square: divide by its square root.",
        ),
        known("over-tokens", (SQUARES, SQUARES.replace("-1", "-2")), says=OVER_TOKENS, number=41),
        known("over-batch", (SQUARES, SQUARES.replace("-1", "0")), says=OVER_BATCH, number=41),
        known("fixed-axis", (SQUARES, SQUARES.replace("-1", "1")), says=FIXED_AXIS, number=41),
        known(
            "gain-dropped",
            (DIVIDED, DIVIDED.replace(" * (base + gain)", "")),
            says="The gain is not used: at first it changes nothing, and nobody notices; a trained one does.",
            number=42,
        ),
        gradient_cut((DIVIDED, DIVIDED.replace("return ", "return (") + ").detach()")),
        dtype_lost((DIVIDED, DIVIDED.replace("return ", "return (") + ").double()")),
    ),
)


def _backward_cases(rng: Rng) -> list[Case]:
    def args(t: int, d: int, eps: float = 1e-5, scale: float = 1.0, dtype: str = "float32") -> tuple[Any, ...]:
        x = _normed(rng, t, d, scale=scale, mean=0.7, dtype=dtype)
        return normal(rng, t, d, dtype=dtype), x, normal(rng, d, dtype=dtype) + x.dtype.type(1.5), eps

    return [
        Case("T = 3, D = 5", args(3, 5)),
        Case("T = D = 4", args(4, 4)),
        Case("one token, D = 6", args(1, 6)),
        Case("eps = 0.5", args(4, 3, eps=0.5)),
        Case("tokens of small variance, float64", args(2, 5, eps=1e-3, scale=0.02, dtype="float64")),
    ]


def _layer_norm_backward(g: Any, x: Any, gain: Any, eps: float) -> tuple[Any, ...]:
    """By autograd, through torch's own function."""
    import torch

    with torch.enable_grad():
        given = [one.detach().clone().requires_grad_(True) for one in (x, gain, torch.zeros_like(gain))]
        y = torch.nn.functional.layer_norm(given[0], gain.shape, given[1], given[2], eps)
        return tuple(torch.autograd.grad(y, given, g.detach()))


SHARE = "share = (h * y).mean(dim=-1, keepdim=True)"
BACK = "dx = (h - h.mean(dim=-1, keepdim=True) - y * share) / root"
SUMS = "return dx, (g * y).sum(dim=0), g.sum(dim=0)"
GAINED = "h = g * gain"

LAYER_NORM_BACKWARD = Task(
    id="07.layer-norm-backward",
    name="layer_norm_backward",
    title="Layer normalisation, backwards",
    points=4,
    minutes=15,
    difficulty=3,
    page=PAGE,
    anchor="encoder-norm-backward",
    returns=("dx", "dgain", "dshift"),
    cases=_backward_cases,
    oracle=_layer_norm_backward,
    mistaken=switches.layer_norm_backward,
    forbids=(*AUTOGRAD, *(name for name in NORMS if not name.startswith("softlookup"))),
    mistakes=(
        known(
            "mean-constant",
            (BACK, "dx = (h - y * share) / root"),
            says="The mean is treated as a constant: each number moves it, so the mean of the gradient is taken away.",
        ),
        known(
            "variance-constant",
            (BACK, "dx = (h - h.mean(dim=-1, keepdim=True)) / root"),
            says="The variance is treated as a constant: each number moves it too, which takes away y * mean(h * y).",
        ),
        known(
            "gain-forgotten",
            (GAINED, "h = g"),
            says="The gradient does not pass through the gain on its way to x: begin with g * gain.",
            number=42,
        ),
        known(
            "gain-last",
            (BACK, "dx = gain * (g - g.mean(dim=-1, keepdim=True) - y * (g * y).mean(dim=-1, keepdim=True)) / root"),
            says="The gain is multiplied in at the end: it comes first on the way back, inside both means.",
        ),
        known("not-divided", (BACK, BACK.replace(" / root", "")), says="The division by the root is missing."),
        known(
            "summed-share",
            (SHARE, SHARE.replace("mean", "sum")),
            says="h * y is added up over the features: it is its mean that counts.",
        ),
        known(
            "share-without-y",
            (BACK, BACK.replace("y * share", "share")),
            says="The share of the variance is taken from all numbers alike: each moves the variance by its own y.",
        ),
        known(
            "gain-against-x",
            (SUMS, SUMS.replace("g * y", "g * x")),
            says="The gain is multiplied by the normalised numbers, not by x: its gradient is the sum of g * y.",
        ),
        known(
            "per-token",
            (SUMS, "return dx, g * y, g"),
            says="The gradients of gain and shift still have a row for each token: all tokens share them, so add up.",
        ),
        known(
            "tokens-averaged",
            (SUMS, SUMS.replace("sum", "mean")),
            says="The tokens' shares in the gradients of gain and shift are averaged: they are added up.",
        ),
    ),
)
