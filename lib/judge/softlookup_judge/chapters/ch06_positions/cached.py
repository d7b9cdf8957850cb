"""The task of new tokens behind kept keys: where a cache's offset enters."""

from dataclasses import replace
from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch06_positions.circles import ROUNDED
from softlookup_judge.chapters.ch06_positions.rotations import rotary_oracle
from softlookup_judge.chapters.draws import Rng, far_below, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described

ROUNDED_FAR = 2e-2
"""Of an angle in float32, the last bit moves a score of ten thousand by half a hundredth."""


def _cached_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, t: int, s: int, h: int, hv: int, **how: Any) -> Case:
        q, k, v = (normal(rng, b, n, *shape) for shape in ((t, h), (s, h), (s, hv)))
        return Case(label, (q, k, v), tolerance=ROUNDED, **how)

    low = case("all scores far below zero", 2, 2, 3, 5, 4, 4)
    high = case("the later a key, the larger its scores", 2, 2, 3, 5, 4, 4, part="large")
    q, k, _ = high.args
    q[..., 2], k[..., 3, 2], k[..., 4, 2] = 8.0, 10240.0, 20480.0  # in the pair that hardly turns
    return [
        case("the whole sequence at once: T = S = 5", 2, 3, 5, 5, 4, 4),
        case("one new token behind seven kept ones", 2, 2, 1, 8, 6, 6),
        case("three new tokens behind four", 1, 2, 3, 7, 4, 4),
        case("values of another width", 2, 1, 2, 6, 4, 2),
        case("all sizes 4", 4, 4, 4, 4, 4, 4),
        replace(low, args=(*far_below(*low.args[:2]), low.args[2]), part="large", tolerance=ROUNDED_FAR),
        high,
    ]


def _cached(q: Any, k: Any, v: Any) -> Any:
    """Both turned as one whole sequence, whose last rows alone are kept."""
    import torch

    t, s = q.shape[2], k.shape[2]
    whole = torch.cat([k.new_zeros(*k.shape[:2], s - t, k.shape[-1]), q], dim=2)
    turned, keys = rotary_oracle(whole, 0), rotary_oracle(k, 0)
    fused = torch.nn.functional.scaled_dot_product_attention
    return fused(turned, keys, v, is_causal=True)[:, :, s - t :]


CACHED = described(
    "06.cached", cases=_cached_cases, oracle=_cached, parts={"core": 0.9, "large": 0.1}, forbids=ATTENTIONS
)
