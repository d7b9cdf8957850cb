"""Tasks of the heads at work: attention of all heads with a mask, dropout on the weights, shared key-value heads."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.ch04_one_head.cases import no_nan_sent_back
from softlookup_judge.chapters.ch05_many_heads.arranging import AXES
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


def _qkv(rng: Rng, b: int, n: int, t: int, s: int, h: int, hv: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    return draws.qkv(rng, (b, n), t, s, h, hv, dtype)


def _heads_cases(rng: Rng) -> list[Case]:
    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    double = _qkv(rng, 2, 3, 4, 5, 6, 2, "float64")
    upstream = normal(rng, 2, 3, 4, 2, dtype="float64")
    scattered = mask(2, 4, 5)
    scattered[0, 1] = scattered[1, 3] = False
    q_big, k_big = zip(draws.large_logits(rng, 5, 4), draws.large_logits(rng, 5, 4), strict=True)
    large = np.stack(q_big)[None], np.stack(k_big)[None], normal(rng, 1, 2, 4, 3)
    # What two queries may see lies far below what they may not: for the first one near 0, for the last one near -10240,
    # which is also below any small number that one might fill in for -inf.
    large[0][..., -1, 0], large[1][..., 1, 0] = draws.FAR_BELOW, 0.0
    hidden = np.ones((5, 4), dtype=bool)
    hidden[0, [0, 2]], hidden[-1, [1, 3]] = False, False
    return [
        Case("B = 2, N = 3, T = 4, S = 5, H = 6, values of width 2", _qkv(rng, 2, 3, 4, 5, 6, 2)),
        Case("B = N = T = S = H = 3", _qkv(rng, 3, 3, 3, 3, 3, 3)),
        Case("one sequence, N = 4, T = S = 5, H = 2", _qkv(rng, 1, 4, 5, 5, 2, 3)),
        Case("one query", _qkv(rng, 2, 3, 1, 4, 5, 2)),
        Case("one mask (T, S) for all", (*_qkv(rng, 2, 3, 4, 5, 6, 2), mask(4, 5)), part="mask"),
        Case("a mask for each sequence (B, T, S)", (*_qkv(rng, 2, 3, 4, 5, 6, 2), mask(2, 4, 5)), part="mask"),
        Case("a mask for each sequence, B = N = 3", (*_qkv(rng, 3, 3, 4, 5, 2, 2), mask(3, 4, 5)), part="mask"),
        Case("a mask for each sequence, all sizes 3", (*_qkv(rng, 3, 3, 3, 3, 3, 3), mask(3, 3, 3)), part="mask"),
        Case("a mask for each sequence, T = S = 4", (*_qkv(rng, 2, 3, 4, 4, 5, 3), mask(2, 4, 4)), part="mask"),
        Case("padding: a mask (B, 1, S)", (*_qkv(rng, 2, 3, 4, 5, 6, 2), mask(2, 1, 5)), part="mask"),
        Case(
            "a query that may attend to nothing",
            (*_qkv(rng, 2, 3, 4, 5, 6, 2), draws.blind_mask(rng, 4, 5)),
            part="blind",
        ),
        Case("queries here and there that see nothing", (*_qkv(rng, 2, 3, 4, 5, 6, 2), scattered), part="blind"),
        Case("scores in the thousands", large, part="large", tolerance=draws.LARGE_TOLERANCE),
        Case(
            "scores in the thousands, the largest ones masked",
            (*large, hidden),
            part="large",
            tolerance=draws.LARGE_TOLERANCE,
        ),
        Case("float64 inputs", double, keeps_dtype=True, part="dtype"),
        Case("float32 inputs and a mask", (*_qkv(rng, 2, 3, 4, 5, 6, 2), mask(4, 5)), keeps_dtype=True, part="dtype"),
        Case("gradients of q, k and v", double, gradients=(0, 1, 2), upstream=upstream, part="gradient"),
        Case(
            "gradients where queries see nothing",
            (*double, scattered),
            gradients=(0, 1, 2),
            upstream=upstream,
            part="gradient",
        ),
        Case(
            "gradients with scores in the thousands, the largest ones masked",
            (*(a.astype("float64") for a in large), hidden),
            gradients=(0, 1, 2),
            upstream=normal(rng, 1, 2, 5, 3, dtype="float64"),
            part="gradient",
            tolerance=1e-6,
        ),
    ]


def heads_oracle(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """Torch's own attention, sequence by sequence and head by head; rows with nothing to see are zeros."""
    import torch

    fused = torch.nn.functional.scaled_dot_product_attention
    sequences = []
    for b in range(q.shape[0]):
        sequence_mask = None if mask is None else (mask[b] if mask.ndim == 3 else mask).expand(q.shape[2], k.shape[2])
        if sequence_mask is None:
            heads = [fused(*head) for head in zip(q[b], k[b], v[b], strict=True)]
        else:
            # torch's paths disagree on rows with nothing to see: let those see everything, then cut them off.
            seen = sequence_mask.any(dim=-1, keepdim=True)
            heads = [
                torch.where(seen, fused(*head, attn_mask=sequence_mask | ~seen), 0.0)
                for head in zip(q[b], k[b], v[b], strict=True)
            ]
        sequences.append(torch.stack(heads))
    return torch.stack(sequences)


HEADS = described(
    "05.heads",
    cases=_heads_cases,
    oracle=heads_oracle,
    parts={"core": 0.4, "mask": 0.25, "blind": 0.1, "large": 0.05, "gradient": 0.1, "dtype": 0.1},
    properties=(no_nan_sent_back,),
    forbids=ATTENTIONS,
)


def _grouped_cases(rng: Rng) -> list[Case]:
    return [
        Case("K = 2 shared by N = 6, two sequences", (normal(rng, 2, 2, 3, 4), 6)),
        Case("K = 3 shared by N = 6, no batch axis", (normal(rng, 3, 5, 2), 6), part="axes"),
        Case("S = K = 2 shared by N = 4, B = H = 2", (normal(rng, 2, 2, 2, 2), 4)),
        Case("multi-query: K = 1 shared by N = 4", (normal(rng, 2, 1, 3, 5), 4)),
        Case("K = N = 3: each its own", (normal(rng, 2, 3, 4, 2), 3)),
        Case("five axes, K = 2 shared by N = 4", (normal(rng, 2, 3, 2, 4, 2), 4), part="axes"),
        Case("K = 3 shared by N = 12", (normal(rng, 2, 3, 5, 2), 12)),
    ]


def _grouped(k: Any, n_heads: int) -> Any:
    import torch

    owner = torch.arange(n_heads) * k.shape[-3] // n_heads
    return k.index_select(-3, owner)


GROUPED = described("05.grouped", cases=_grouped_cases, oracle=_grouped, parts=AXES)


def _dropout_cases(rng: Rng) -> list[Case]:
    def case(label: str, lead: tuple[int, ...], t: int, s: int, p: float, training: bool, part: str = CORE) -> Case:
        e = np.exp(rng.standard_normal((*lead, t, s)))
        a = (e / e.sum(axis=-1, keepdims=True)).astype("float32")
        u = rng.random((*lead, t, s)).astype("float32")
        u[u == np.float32(p)] = 1.0
        if part == "boundary":  # p is exact in every dtype: a number that is p itself keeps its weight
            u[..., 0, 0] = p
        return Case(label, (a, normal(rng, *lead, s, 3), u, p, training), part=part)

    return [
        case("training, p = 0.5, T = S = H", (2,), 3, 3, 0.5, True),
        case("training, p = 0.1, a long row", (1,), 2, 40, 0.1, True),
        case("training, p = 0.75", (4,), 3, 6, 0.75, True),
        case("training, p = 0", (2,), 3, 4, 0.0, True),
        case("not training, p = 0.1", (2,), 3, 3, 0.1, False),
        case("training, p = 0.25, two sequences of N = 3 heads", (2, 3), 4, 5, 0.25, True, "axes"),
        case("not training, p = 0.5, two sequences of N = 3 heads", (2, 3), 4, 5, 0.5, False, "axes"),
        case("training, p = 0.4, no axis in front", (), 3, 8, 0.4, True, "axes"),
        case("training, p = 0.25, and some u are p itself", (3,), 4, 5, 0.25, True, "boundary"),
        case("training, p = 0.5, and some u are p itself", (2,), 3, 3, 0.5, True, "boundary"),
        case("training, p = 0, and some u are 0", (2,), 3, 4, 0.0, True, "boundary"),
    ]


def _dropout(a: Any, v: Any, u: Any, p: float, training: bool) -> Any:
    import torch

    if not training:
        return torch.einsum("...ts,...sh->...th", a, v)
    factor = torch.where(u < p, 0.0, 1.0 / (1.0 - p))
    return torch.einsum("...ts,...ts,...sh->...th", factor, a, v)


DROPOUT = described(
    "05.dropout",
    cases=_dropout_cases,
    oracle=_dropout,
    parts={CORE: 0.7, "axes": 0.2, "boundary": 0.1},
    forbids=("torch.nn.functional.dropout", "torch.nn.Dropout", "torch.dropout"),
)
