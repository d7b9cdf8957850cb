"""Tasks on attention for long texts: another attention without the square, and the same one without holding it."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal, qkv
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


def _linear_cases(rng: Rng) -> list[Case]:
    def ask(lead: tuple[int, ...], t: int, s: int, h: int, hv: int) -> tuple[np.ndarray, ...]:
        # float64: with mistakes the sum of the weights may come near 0, and rounding would hide which mistake it is.
        return qkv(rng, lead, t, s, h, hv, "float64")

    double = ask((2,), 3, 4, 3, 2)
    return [
        Case("B = 2, N = 3, T = 4, S = 5, H = 3, H' = 2", ask((2, 3), 4, 5, 3, 2)),
        Case("more keys than queries, one head", ask((2, 1), 2, 7, 4, 3)),
        Case("everything 4", ask((4, 4), 4, 4, 4, 4)),
        Case("no batch, T = S = 3, H = H' = 5", ask((), 3, 3, 5, 5)),
        # Sums over the keys meet as many vectors of values as a key has numbers; weights would meet one for each query.
        Case("forty queries and keys, H = 3: products are counted", ask((), 40, 40, 3, 2), fed=(2, 3, 40)),
        Case("one key: its value", ask((2,), 3, 1, 4, 2)),
        Case(
            "gradients of q, k and v",
            double,
            gradients=(0, 1, 2),
            upstream=normal(rng, 2, 3, 2, dtype="float64"),
            part="gradient",
        ),
    ]


def _positive(x: Any) -> Any:
    """As in equation 7 of the paper, by cases."""
    import torch

    return torch.where(x > 0, x + 1, torch.exp(torch.clamp(x, max=0)))


def _linear(q: Any, k: Any, v: Any) -> Any:
    """The slow way, with all weights written out."""
    a = (_positive(q)[..., :, None, :] * _positive(k)[..., None, :, :]).sum(-1)
    return (a / a.sum(-1, keepdim=True)) @ v


LINEAR = described(
    "13.linear", cases=_linear_cases, oracle=_linear, parts={"core": 0.8, "gradient": 0.2}, forbids=ATTENTIONS
)


def _step_cases(rng: Rng) -> list[Case]:
    def state(*lead: int, h: int, hv: int) -> tuple[np.ndarray, np.ndarray]:
        # float64 here too: what stands below the line may come near 0.
        return normal(rng, *lead, h, hv, dtype="float64"), 1 + rng.random((*lead, h))

    def ask(*lead: int, h: int, hv: int, empty: bool = False) -> tuple[np.ndarray, ...]:
        sums = state(*lead, h=h, hv=hv)
        if empty:
            sums = np.zeros_like(sums[0]), np.zeros_like(sums[1])
        return *sums, *(normal(rng, *lead, width, dtype="float64") for width in (h, h, hv))

    return [
        Case("B = 2, N = 3, H = 4, H' = 2", ask(2, 3, h=4, hv=2)),
        Case("one head, H = 2, H' = 5", ask(3, h=2, hv=5)),
        Case("everything 3", ask(3, 3, h=3, hv=3)),
        Case("no axes in front, H = H' = 4", ask(h=4, hv=4)),
        Case("the first position: nothing is known yet", ask(2, 2, h=3, hv=4, empty=True)),
    ]


def _step(key_values: Any, keys: Any, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
    """Sums cell by cell; the division last."""
    import torch

    g = _positive(k)
    key_values = key_values + torch.einsum("...h,...v->...hv", g, v)
    keys = torch.add(keys, g)
    f = _positive(q)
    return torch.einsum("...h,...hv->...v", f, key_values) / (f * keys).sum(-1, keepdim=True), key_values, keys


STEP = described("13.step", cases=_step_cases, oracle=_step, forbids=ATTENTIONS)
