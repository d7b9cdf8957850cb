"""Tasks of the heads at work: attention with a mask, dropout, shared key-value heads, and the layer as a class."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.cases import DTYPE, LARGE, backward, graded
from softlookup_judge.chapters.ch04_one_head.whole import no_nan_sent_back
from softlookup_judge.chapters.ch05_many_heads.arranging import AXES
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.chapters.oracles import attended, from_heads, projected, torch
from softlookup_judge.data.published import described


def _qkv(rng: Rng, b: int, n: int, t: int, s: int, h: int, hv: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    return draws.qkv(rng, (b, n), t, s, h, hv, dtype)


def _heads_cases(rng: Rng) -> list[Case]:
    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    double = _qkv(rng, 2, 3, 4, 5, 6, 2, "float64")
    upstream = doubles(rng, 2, 3, 4, 2)
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
        Case("scores in the thousands", large, **LARGE),
        Case("scores in the thousands, the largest ones masked", (*large, hidden), **LARGE),
        Case("float64 inputs", double, **DTYPE),
        Case("float32 inputs and a mask", (*_qkv(rng, 2, 3, 4, 5, 6, 2), mask(4, 5)), **DTYPE),
        Case("gradients of q, k and v", double, **backward(upstream, 0, 1, 2)),
        Case("gradients where queries see nothing", (*double, scattered), **backward(upstream, 0, 1, 2)),
        Case(
            "gradients with scores in the thousands, the largest ones masked",
            (*(a.astype("float64") for a in large), hidden),
            tolerance=1e-6,
            **backward(doubles(rng, 1, 2, 5, 3), 0, 1, 2),
        ),
    ]


def heads_oracle(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """Torch's own attention, with one mask for all sequences or one for each."""
    return attended(q, k, v, mask if mask is None or mask.ndim == 2 else mask[:, None])


HEADS = described(
    "05.heads",
    _heads_cases,
    heads_oracle,
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


@graded("05.grouped", _grouped_cases, parts=AXES)
def _grouped(k: Any, n_heads: int) -> Any:
    owner = torch.arange(n_heads) * k.shape[-3] // n_heads
    return k.index_select(-3, owner)


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


@graded(
    "05.dropout",
    _dropout_cases,
    parts={CORE: 0.7, "axes": 0.2, "boundary": 0.1},
    forbids=("torch.nn.functional.dropout", "torch.nn.Dropout", "torch.dropout"),
)
def _dropout(a: Any, v: Any, u: Any, p: float, training: bool) -> Any:
    if not training:
        return torch.einsum("...ts,...sh->...th", a, v)
    factor = torch.where(u < p, 0.0, 1.0 / (1.0 - p))
    return torch.einsum("...ts,...ts,...sh->...th", factor, a, v)


WEIGHTS = ("w_q", "w_k", "w_v", "w_o")


def _layer_args(rng: Rng, b: int, t: int, d: int, n: int, k: int, h: int, dtype: str = "float32") -> tuple[Any, ...]:
    """D, N, K, H; the four weights; tokens. The weights are drawn so that no number grows on its way."""
    shapes = ((d, n * h), (d, k * h), (d, k * h), (n * h, d))
    weights = tuple(normal(rng, *shape, dtype=dtype, scale=shape[0] ** -0.5) for shape in shapes)
    return (d, n, k, h, *weights, normal(rng, b, t, d, dtype=dtype))


def _layer_cases(rng: Rng) -> list[Case]:
    def case(label: str, args: tuple[Any, ...], mask: np.ndarray | None = None, **more: Any) -> Case:
        with_mask = args if mask is None else (*args, mask)
        return Case(label, with_mask, sizes=4, parameters=WEIGHTS, **more)

    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    double = _layer_args(rng, 2, 3, 5, 4, 2, 3, "float64")
    upstream = doubles(rng, 2, 3, 5)
    scattered = mask(2, 3, 3)
    scattered[0, 1] = scattered[1, 2] = False
    return [
        case("B = 2, T = 3, D = 5, N = 4, K = 2, H = 3", _layer_args(rng, 2, 3, 5, 4, 2, 3)),
        case("small sizes: T = 8, D = 4, N = K = 2, H = 2", _layer_args(rng, 1, 8, 4, 2, 2, 2)),
        case("N·H is not D: T = 2, D = 4, N = K = 5, H = 3", _layer_args(rng, 1, 2, 4, 5, 5, 3)),
        case("B = T = N = K = H = 3, D = 9", _layer_args(rng, 3, 3, 9, 3, 3, 3)),
        case("D = N*H = 12, N = 6, K = 3, H = 2", _layer_args(rng, 2, 4, 12, 6, 3, 2)),
        case("multi-query: N = 3, K = 1, H = 2", _layer_args(rng, 1, 5, 6, 3, 1, 2)),
        case("one head", _layer_args(rng, 2, 3, 4, 1, 1, 3)),
        case("one token", _layer_args(rng, 2, 1, 4, 2, 2, 3)),
        case("one mask (T, T) for all", _layer_args(rng, 2, 4, 5, 3, 3, 2), mask(4, 4), part="mask"),
        case("a mask for each sequence, B = N = 2", _layer_args(rng, 2, 4, 5, 2, 2, 3), mask(2, 4, 4), part="mask"),
        case(
            "a mask for each sequence, B = 2, N = 4, K = 2",
            _layer_args(rng, 2, 3, 5, 4, 2, 3),
            mask(2, 3, 3),
            part="mask",
        ),
        case("a mask for each sequence, T = N = 4", _layer_args(rng, 2, 4, 5, 4, 2, 3), mask(2, 4, 4), part="mask"),
        case("padding: a mask (B, 1, T)", _layer_args(rng, 3, 4, 5, 2, 1, 3), mask(3, 1, 4), part="mask"),
        case(
            "a token that may attend to nothing",
            _layer_args(rng, 2, 5, 4, 2, 2, 3),
            draws.blind_mask(rng, 5, 5),
            part="blind",
        ),
        case("tokens here and there that see nothing", _layer_args(rng, 2, 3, 5, 4, 2, 3), scattered, part="blind"),
        case("float64 weights and tokens", double, **DTYPE),
        case("float32 and a mask", _layer_args(rng, 2, 4, 5, 3, 3, 2), mask(4, 4), **DTYPE),
        case("gradients of the weights and the tokens", double, **backward(upstream, 4, 5, 6, 7, 8)),
        case("gradients where tokens see nothing", double, scattered, **backward(upstream, 4, 5, 6, 7, 8)),
    ]


@graded(
    "05.multi-head",
    _layer_cases,
    called_with=("x", "mask"),
    parts={"core": 0.5, "mask": 0.2, "blind": 0.1, "gradient": 0.1, "dtype": 0.1},
    forbids=ATTENTIONS,
)
def _layer(
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    w_q: Any,
    w_k: Any,
    w_v: Any,
    w_o: Any,
    x: Any,
    mask: Any = None,
) -> Any:
    """All heads at once, each key-value head repeated for its group."""
    k, v = (projected(x, w, n_kv_heads).repeat_interleave(n_heads // n_kv_heads, dim=1) for w in (w_k, w_v))
    return from_heads(heads_oracle(projected(x, w_q, n_heads), k, v, mask), w_o)
