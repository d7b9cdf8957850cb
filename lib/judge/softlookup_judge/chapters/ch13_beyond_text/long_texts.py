"""Tasks on attention for long texts: linear attention, and the same one in tiles."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, qkv
from softlookup_judge.chapters.forbidden import ATTENTIONS, SOFTMAXES
from softlookup_judge.chapters.oracles import torch


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
        Case("gradients of q, k and v", double, **backward(doubles(rng, 2, 3, 2), 0, 1, 2)),
    ]


def _positive(x: Any) -> Any:
    """As in equation 7 of the paper, by cases."""
    return torch.where(x > 0, x + 1, torch.exp(torch.clamp(x, max=0)))


@graded("13.linear", _linear_cases, parts={"core": 0.8, "gradient": 0.2}, forbids=ATTENTIONS)
def _linear(q: Any, k: Any, v: Any) -> Any:
    """The slow way, with all weights written out."""
    a = (_positive(q)[..., :, None, :] * _positive(k)[..., None, :, :]).sum(-1)
    return (a / a.sum(-1, keepdim=True)) @ v


def _step_cases(rng: Rng) -> list[Case]:
    def state(*lead: int, h: int, hv: int) -> tuple[np.ndarray, np.ndarray]:
        # float64 here too: what stands below the line may come near 0.
        return doubles(rng, *lead, h, hv), 1 + rng.random((*lead, h))

    def ask(*lead: int, h: int, hv: int, empty: bool = False) -> tuple[np.ndarray, ...]:
        sums = state(*lead, h=h, hv=hv)
        if empty:
            sums = np.zeros_like(sums[0]), np.zeros_like(sums[1])
        return *sums, *(doubles(rng, *lead, width) for width in (h, h, hv))

    return [
        Case("B = 2, N = 3, H = 4, H' = 2", ask(2, 3, h=4, hv=2)),
        Case("one head, H = 2, H' = 5", ask(3, h=2, hv=5)),
        Case("everything 3", ask(3, 3, h=3, hv=3)),
        Case("no axes in front, H = H' = 4", ask(h=4, hv=4)),
        Case("the first position: nothing is known yet", ask(2, 2, h=3, hv=4, empty=True)),
    ]


@graded("13.step", _step_cases, forbids=ATTENTIONS)
def _step(key_values: Any, keys: Any, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
    """Sums cell by cell; the division last."""
    g = _positive(k)
    key_values = key_values + torch.einsum("...h,...v->...hv", g, v)
    keys = torch.add(keys, g)
    f = _positive(q)
    return torch.einsum("...h,...hv->...v", f, key_values) / (f * keys).sum(-1, keepdim=True), key_values, keys


def _part(
    rng: Rng, lead: tuple[int, ...], s: int, hv: int, shift: float = 0.0, blind: bool = False
) -> list[np.ndarray]:
    """Some scores and values, and the three numbers that are kept of them."""
    scores = 2 * rng.standard_normal((*lead, s)) + shift
    if blind:
        scores[..., 0, :] = -np.inf
    values = rng.standard_normal((s, hv))
    top = scores.max(-1)
    raised = np.exp(scores - np.where(np.isinf(top), 0, top)[..., None])
    return [array.astype("float32") for array in (top, raised.sum(-1), raised @ values)]


def _merge_cases(rng: Rng) -> list[Case]:
    def both(
        lead: tuple[int, ...], s: int, other: int, hv: int, shift: float = 0.0, all_of_it: float = 0.0
    ) -> tuple[Any, ...]:
        return *_part(rng, lead, s, hv, all_of_it), *_part(rng, lead, other, hv, shift + all_of_it)

    neither = _part(rng, (3,), 4, 2, blind=True)
    again = _part(rng, (3,), 2, 2, blind=True)
    return [
        Case("B = 2, T = 3, tiles of 4 and 5 keys, H' = 2", both((2, 3), 4, 5, 2)),
        Case("the second tile has the larger scores", both((3,), 5, 2, 4, 3.0)),
        Case("the first one has", both((4,), 3, 6, 3, -3.0)),
        Case("T = H' = 3", both((3,), 3, 3, 3)),
        Case("all scores far below 0", both((2, 3), 4, 3, 2, 1.0, -15.0)),
        Case("scores in the thousands", both((2, 2), 3, 4, 3, 2000.0), part="large", tolerance=1e-4),
        Case("scores thousands below 0", both((3,), 4, 5, 2, 1.0, -3000.0), part="large", tolerance=1e-4),
        Case(
            "a query that saw nothing in the first tile",
            (*_part(rng, (3,), 4, 2, blind=True), *_part(rng, (3,), 3, 2)),
            part="blind",
        ),
        Case(
            "a query that saw nothing in the second tile",
            (*_part(rng, (3,), 3, 2), *_part(rng, (3,), 4, 2, blind=True)),
            part="blind",
        ),
        Case("and nothing in either of them", (*neither, *again), part="blind", exact_zeros=True),
    ]


@graded("13.merge", _merge_cases, parts={"core": 0.65, "large": 0.15, "blind": 0.2}, forbids=SOFTMAXES)
def _merge(m_a: Any, l_a: Any, z_a: Any, m_b: Any, l_b: Any, z_b: Any) -> tuple[Any, Any, Any]:
    """Query by query, with plain numbers."""
    import math

    m, total, z = torch.empty_like(m_a), torch.empty_like(l_a), torch.empty_like(z_a)
    for index in np.ndindex(*m_a.shape):
        top = max(m_a[index].item(), m_b[index].item())
        shrink = [
            0.0 if largest == -math.inf else math.exp(largest - top)
            for largest in (m_a[index].item(), m_b[index].item())
        ]
        m[index] = top
        total[index] = l_a[index] * shrink[0] + l_b[index] * shrink[1]
        z[index] = z_a[index] * shrink[0] + z_b[index] * shrink[1]
    return m, total, z
