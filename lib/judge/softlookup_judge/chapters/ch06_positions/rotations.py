"""Tasks of rotary positions: a turn, all pairs of a head, the other pairing, and new tokens behind cached keys."""

from dataclasses import replace
from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded
from softlookup_judge.chapters.ch06_positions.circles import ROOT, ROUNDED
from softlookup_judge.chapters.draws import Rng, doubles, far_below, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.chapters.oracles import torch
from softlookup_judge.data.published import described


def _turn_cases(rng: Rng) -> list[Case]:
    def case(label: str, *shape: int, angle: float, **how: Any) -> Case:
        x = normal(rng, *shape, 2, dtype=how.pop("dtype", "float32"))
        return Case(label, (x, angle), **how)

    return [
        case("five points, 0.5 radians", 5, angle=0.5),
        case("two points, -2 radians", 2, angle=-2.0),
        case("one point, 7 radians", angle=7.0),
        case("axes in front, 1 radian", 2, 3, 4, angle=1.0),
        case("no turn at all", 3, angle=0.0),
        case("float64", 4, angle=2.5, dtype="float64", **DTYPE, tolerance=ROOT),
        case("float32", 4, angle=2.5, **DTYPE),
    ]


@graded("06.turn", _turn_cases, parts={"core": 0.8, "dtype": 0.2})
def _turn(x: Any, angle: float) -> Any:
    """A product of complex numbers."""
    hand = torch.polar(torch.tensor(1.0, dtype=x.dtype), torch.tensor(angle, dtype=x.dtype))
    return torch.view_as_real(torch.view_as_complex(x.contiguous()) * hand)


def _rotary_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, t: int, h: int, start: int, **how: Any) -> Case:
        x = normal(rng, b, n, t, h, dtype=how.pop("dtype", "float32"))
        return Case(label, (x, start), tolerance=ROUNDED, **how)

    return [
        case("B = 2, N = 3, T = 5, H = 4, from 0 on", 2, 3, 5, 4, 0),
        case("B = N = T = H = 4, from 0 on", 4, 4, 4, 4, 0),
        case("B = 1, N = 2, T = 3, H = 8, from 6 on", 1, 2, 3, 8, 6),
        case("one new query at position 11, H = 6", 2, 2, 1, 6, 11),
        case("the 2 x 2 case: H = 2", 1, 2, 4, 2, 1),
        case("far down a text: H = 8, from 300 on", 1, 1, 2, 8, 300),
        case("float64", 2, 3, 5, 4, 2, dtype="float64", **DTYPE),
        case("float32", 2, 3, 5, 4, 2, **DTYPE),
        case("float32, from a million on", 1, 2, 3, 8, 1_000_000, **DTYPE),
        case("gradient of the tokens", 2, 3, 5, 4, 2, dtype="float64", **backward(doubles(rng, 2, 3, 5, 4), 0)),
    ]


def rotary_oracle(x: Any, start: int) -> Any:
    """Pairs as complex numbers, times numbers of length 1."""
    width = x.shape[-1]
    where = torch.arange(start, start + x.shape[-2], dtype=torch.float64)
    speeds = torch.logspace(0, -4 + 8 / width, width // 2, dtype=torch.float64)
    turns = torch.outer(where, speeds)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(turns), turns)).flatten(-2)


ROTARY = described(
    "06.rotary",
    _rotary_cases,
    rotary_oracle,
    parts={"core": 0.7, "dtype": 0.15, "gradient": 0.15},
    forbids=("softlookup.model", "softlookup.reference"),
)


def _convert_cases(rng: Rng) -> list[Case]:
    def case(d: int, n: int, h: int) -> Case:
        return Case(f"D = {d}, N = {n}, H = {h}", (normal(rng, d, n * h), n))

    return [case(5, 2, 6), case(12, 2, 6), case(3, 1, 8), case(4, 3, 10), case(16, 2, 8)]


@graded("06.convert", _convert_cases)
def _convert(w: Any, n_heads: int) -> Any:
    """Head by head: all first numbers of pairs, then all second ones."""
    heads = w.chunk(n_heads, dim=1)
    return torch.cat([part for head in heads for part in (head[:, 0::2], head[:, 1::2])], dim=1)


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


@graded("06.cached", _cached_cases, parts={"core": 0.9, "large": 0.1}, forbids=ATTENTIONS)
def _cached(q: Any, k: Any, v: Any) -> Any:
    """Both turned as one whole sequence, whose last rows alone are kept."""
    t, s = q.shape[2], k.shape[2]
    whole = torch.cat([k.new_zeros(*k.shape[:2], s - t, k.shape[-1]), q], dim=2)
    turned, keys = rotary_oracle(whole, 0), rotary_oracle(k, 0)
    fused = torch.nn.functional.scaled_dot_product_attention
    return fused(turned, keys, v, is_causal=True)[:, :, s - t :]
