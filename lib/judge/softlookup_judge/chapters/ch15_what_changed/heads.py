"""Tasks on attention: a latent cache, sinks, norms on queries and keys, and an indexer that chooses."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import LARGE, graded
from softlookup_judge.chapters.draws import LARGE_TOLERANCE, Rng, far_below, hidden_far_above, normal, seeing_mask
from softlookup_judge.chapters.oracles import torch


def _latent_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, t: int, s: int, h: int, p: int, r: int, mask: np.ndarray, scale: float = 1.0) -> Case:
        large: dict[str, Any] = {"part": "extreme", "tolerance": LARGE_TOLERANCE} if scale > 10 else {}
        return Case(
            label,
            (
                normal(rng, n, t, h, scale=scale),
                normal(rng, n, t, p, scale=scale),
                normal(rng, s, r),
                normal(rng, s, p),
                normal(rng, n, r, h),
                normal(rng, n, r, h),
                mask,
            ),
            **large,
        )

    def below() -> Case:
        """Some query sees only scores far below 0: what is hidden has to be farther down."""
        while True:
            drawn_case = case("scores in the hundreds", 2, 3, 5, 4, 3, 4, seeing_mask(rng, 3, 5), 150.0)
            q, q_position, latent, k_position, w_k, _, mask = drawn_case.args
            scores = (q @ w_k.swapaxes(1, 2) @ latent.T + q_position @ k_position.T) / np.sqrt(7)
            if np.where(mask, scores, -np.inf).max(-1).min() < -120 and not mask.all():
                return drawn_case

    return [
        case("two heads, T = 3, S = 5, a mask", 2, 3, 5, 4, 2, 6, seeing_mask(rng, 3, 5)),
        case("three heads, T = S = 4, a causal mask", 3, 4, 4, 3, 5, 2, np.tril(np.ones((4, 4), dtype=bool))),
        case("one query, everything visible", 2, 1, 7, 2, 3, 5, np.ones((1, 7), dtype=bool)),
        case("one head, large scores", 1, 2, 6, 4, 4, 3, seeing_mask(rng, 2, 6), 6.0),
        below(),
    ]


@graded("15.absorb", _latent_cases, parts={"core": 0.8, "extreme": 0.2}, cuts=False)
def _latent(q: Any, q_position: Any, latent: Any, k_position: Any, w_k: Any, w_v: Any, mask: Any) -> Any:
    """With keys and values made for every head, by torch's own attention."""
    n = len(q)
    keys = torch.cat((latent @ w_k, k_position.expand(n, -1, -1)), dim=-1)
    queries = torch.cat((q, q_position), dim=-1)
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, latent @ w_v, attn_mask=mask)


def _sink_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, n: int, t: int, s: int, h: int, hide: bool = False, lift: float = 0.0, part: str = "core"
    ) -> Case:
        scores = normal(rng, n, t, s) + np.float32(lift)
        sink = (normal(rng, n) + np.float32(lift)).astype("float32")
        if hide:
            scores = np.where(seeing_mask(rng, t, s), scores, -np.inf).astype("float32")
        return Case(label, (scores, normal(rng, n, s, h), sink), part=part, tolerance=LARGE_TOLERANCE if lift else None)

    def moved(label: str, scores: Any, sink: float) -> Case:
        base = case(label, 2, 3, 4, 2, part="extreme")
        args = (base.args[0] + np.float32(scores), base.args[1], base.args[2] + np.float32(sink))
        return Case(label, args, part="extreme", tolerance=LARGE_TOLERANCE)

    hidden = case("a query that sees nothing", 2, 3, 4, 3, hide=True, part="extreme")
    hidden.args[0][:, 1] = -np.inf
    return [
        case("two heads, T = 3, S = 5", 2, 3, 5, 4),
        case("three heads, T = S = 4, masked", 3, 4, 4, 2, hide=True),
        case("one query", 2, 1, 6, 3),
        hidden,
        case("scores about 2,000", 2, 3, 4, 2, lift=2000.0, part="extreme"),
        moved("scores about 2,000, sinks about 0", 2000.0, 0.0),
        moved("sinks about 2,000, scores about 0", 0.0, 2000.0),
        moved("scores about -2,000, sinks about 0", -2000.0, 0.0),
        moved("one query's scores far above another's", np.array([[0.0], [900.0], [-900.0]], dtype="float32"), 0.0),
    ]


@graded("15.sinks", _sink_cases, parts={"core": 0.7, "extreme": 0.3}, cuts=False)
def _sinks(scores: Any, values: Any, sink: Any) -> Any:
    """By logarithms of sums."""
    total = torch.logaddexp(scores.logsumexp(dim=-1), sink[:, None])
    weights = (scores - total[..., None]).exp()
    return torch.einsum("nts,nsh->nth", weights, values), (sink[:, None] - total).exp()


def _norm_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, t: int, h: int, eps: float, scale: float = 1.0) -> Case:
        angles = np.arange(t)[:, None] * 10.0 ** (-2 * np.arange(h // 2) / h)[None]
        gains = (rng.uniform(0.4, 2.0, h).astype("float32") for _ in range(2))
        turns = (np.cos(angles).astype("float32"), np.sin(angles).astype("float32"))
        return Case(
            label, (normal(rng, n, t, h, scale=scale), normal(rng, n, t, h, scale=2 * scale), *gains, *turns, eps)
        )

    return [
        case("two heads, T = 5, H = 4", 2, 5, 4, 1e-6),
        case("three heads, T = 3, H = 6", 3, 3, 6, 1e-6),
        case("T = H = N = 4, a large eps", 4, 4, 4, 0.5),
        case("small queries and keys", 2, 4, 8, 1e-2, 0.05),
        case("one head, one token", 1, 1, 4, 1e-6),
    ]


@graded("15.qk-norm", _norm_cases, cuts=False)
def _normed(q: Any, k: Any, q_gain: Any, k_gain: Any, cos: Any, sin: Any, eps: float) -> Any:
    """Pairs as complex numbers; torch's own norm."""

    def turned(x: Any, gain: Any) -> Any:
        x = torch.nn.functional.rms_norm(x, (x.shape[-1],), gain, eps)
        half = x.shape[-1] // 2
        return torch.complex(x[..., :half], x[..., half:]) * torch.complex(cos, sin)

    return torch.einsum("nth,nsh->nts", turned(q, q_gain), turned(k, k_gain).conj()).real * q.shape[-1] ** -0.5


def _index_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, s: int, n: int, h: int, top: int, causal: bool, signs: Any = (-1, 1, 1)) -> Case:
        offset = s - t

        def best(sums: np.ndarray) -> list[set[int]]:
            return [set(np.argsort(-row)[:top].tolist()) for row in np.where(mask, sums, -np.inf)]

        while True:
            mask = np.tril(np.ones((t, s), dtype=bool), offset) if causal else seeing_mask(rng, t, s)
            index_q, index_k = normal(rng, t, n, 3), normal(rng, s, 3)
            w = (rng.uniform(0.2, 1.5, (t, n)) * rng.choice(signs, (t, n))).astype("float32")
            dots = np.einsum("tnp,sp->tns", index_q, index_k)
            sums = (w[:, :, None] * np.maximum(dots, 0)).sum(1)
            cut = [np.sort(row[visible])[::-1] for row, visible in zip(sums, mask, strict=True)]
            clear = all(len(row) <= top or row[top - 1] - row[top] > 5e-3 for row in cut)
            others: tuple[Any, ...] = (
                np.maximum(dots, 0).sum(1),
                (w[:, :, None] * np.maximum(dots, 0)).max(1),
                (w[:, :, None] * dots).sum(1),
                (np.exp(w)[:, :, None] * np.maximum(dots, 0)).sum(1),
                (np.abs(w)[:, :, None] * np.maximum(dots, 0)).sum(1),
                np.maximum(w[:, :, None] * dots, 0).sum(1),
            )
            if signs == (-1,):  # hidden keys at -1 would be chosen before these
                clear = clear and any(top <= len(row) < s and row[top - 1] < -1.2 for row in cut)
                others = ()
            if clear and (top >= s or all(best(wrong_sums) != best(sums) for wrong_sums in others)):
                break
        parts = (index_q, index_k, w, normal(rng, t, h), normal(rng, s, h), normal(rng, s, h + 1), mask, top)
        return Case(label, parts)

    low = case("scores far below zero, and far above it where the last query does not choose", 3, 6, 2, 4, 2, True)
    index_q, index_k, w = low.args[:3]
    sums = w[-1] @ np.maximum(index_q[-1] @ index_k.T, 0)
    q, k = far_below(*low.args[3:5])
    k = hidden_far_above(k, sums < np.sort(sums)[-2])
    low = replace(low, args=(*low.args[:3], q, k, *low.args[5:]), **LARGE)
    return [
        case("T = 4, S = 9, three of them, causal", 4, 9, 3, 4, 3, True),
        case("T = S = 6, two of them, causal: few are visible at first", 6, 6, 2, 3, 2, True),
        case("T = 2, S = 8, a mask", 2, 8, 4, 2, 3, False),
        case("more places than keys", 4, 4, 2, 5, 7, True),
        case("one query", 1, 7, 3, 4, 3, True),
        case("every weight is negative", 3, 7, 3, 2, 2, True, (-1,)),
        low,
    ]


@graded("15.indexer", _index_cases, parts={"core": 0.9, "large": 0.1}, cuts=False)
def _indexed(index_q: Any, index_k: Any, w: Any, q: Any, k: Any, v: Any, mask: Any, top: int) -> Any:
    """Query by query, by sorting; torch's own attention."""
    chosen = torch.zeros_like(mask)
    for t in range(len(mask)):
        dots = [[max(0.0, float(query @ key)) for query in index_q[t]] for key in index_k]
        sums = [sum(a * b for a, b in zip(w[t].tolist(), row, strict=True)) for row in dots]
        visible = [s for s in range(len(sums)) if mask[t, s]]
        chosen[t, sorted(visible, key=sums.__getitem__)[-top:]] = True
    return chosen, torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=chosen)
