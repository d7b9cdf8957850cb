"""The task of going back through LayerNorm by hand."""

from typing import Any

from softlookup.checks.draws import Rng, normal
from softlookup.checks.encoder.norms import EPS_OUTSIDE, NORMS, UNBIASED, normed
from softlookup.checks.encoder.page import PAGE
from softlookup.checks.known import AUTOGRAD, known
from softlookup.checks.task import Case, Task


def _backward_cases(rng: Rng) -> list[Case]:
    def args(t: int, d: int, eps: float = 1e-5, scale: float = 1.0, dtype: str = "float32") -> tuple[Any, ...]:
        x = normed(rng, t, d, scale=scale, mean=0.7, dtype=dtype)
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
ROOT = "root = torch.sqrt((x - mean).square().mean(dim=-1, keepdim=True) + eps)"
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
            "summed-mean",
            (BACK, BACK.replace("h.mean(", "h.sum(")),
            says="h is added up over the features: it is its mean that is taken away.",
        ),
        known(
            "means-over-tokens",
            (BACK, BACK.replace("dim=-1", "dim=0")),
            (SHARE, SHARE.replace("dim=-1", "dim=0")),
            says="The two means run down the tokens: each token's own features moved its mean and variance, axis -1.",
            number=41,
        ),
        known(
            "centred-for-normalised",
            (BACK, BACK.replace("y * share", "(x - mean) * (h * (x - mean)).mean(dim=-1, keepdim=True)")),
            says="The share of the variance is taken along x - mean: it is along y, the normalised numbers.",
        ),
        known("unbiased", (ROOT, "root = torch.sqrt(x.var(dim=-1, keepdim=True) + eps)"), says=UNBIASED, number=39),
        known("eps-outside", (ROOT, ROOT.replace(" + eps)", ") + eps")), says=EPS_OUTSIDE, number=40),
        known(
            "no-eps",
            (ROOT, ROOT.replace(" + eps", "")),
            says="eps is not used on the way back: the root is the same as on the way there.",
            number=40,
        ),
        known(
            "gain-against-x",
            (SUMS, SUMS.replace("g * y", "g * x")),
            says="The gain is multiplied by the normalised numbers, not by x: its gradient is the sum of g * y.",
        ),
        known(
            "gain-counted-twice",
            (SUMS, SUMS.replace("g * y", "h * y").replace("g.sum", "h.sum")),
            says="The gradients of gain and shift are made of g * gain: they meet g itself.",
        ),
        known(
            "gain-and-shift-exchanged",
            (SUMS, "return dx, g.sum(dim=0), (g * y).sum(dim=0)"),
            says="The gradients of gain and shift have changed places: x, gain, shift is the order.",
        ),
        known(
            "summed-over-features",
            (SUMS, SUMS.replace("dim=0", "dim=-1")),
            says="The gradients of gain and shift are added up over the features: it is the tokens that are added up.",
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
