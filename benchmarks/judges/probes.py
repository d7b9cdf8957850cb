"""On which kinds of inputs a wrong answer is wrong: by comparing it with the right one on random, unequal inputs.

A judge's task asks for some kinds of inputs and not for others. A wrong answer counts for a judge if it differs on at
least one kind that the judge's task asks for.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from benchmarks.judges.answers import made, right

Probe = tuple[Any, ...]
_NEG = float("-inf")


def _r(*shape: int) -> torch.Tensor:
    return torch.randn(*shape)


def _softmax() -> dict[str, list[Probe]]:
    return {
        "plain": [(_r(3, 5), -1), (3 * _r(2, 3, 7), -1)],
        "axis": [(_r(3, 5), 0), (_r(2, 3, 4), 1)],
        "large": [(torch.tensor([[1000.0, 1001.0, 1002.5], [-1000.0, -1001.0, -1002.0]]), -1)],
    }


def _attention() -> dict[str, list[Probe]]:
    same, unequal = (_r(2, 5, 8), _r(2, 5, 8), _r(2, 5, 8)), (_r(2, 3, 8), _r(2, 5, 8), _r(2, 5, 6))
    seen = torch.tensor([[1, 0, 0, 0, 0], [1, 1, 0, 1, 0], [0, 1, 1, 1, 0], [1, 1, 1, 1, 0], [1, 0, 1, 1, 1]]).bool()
    blind = seen.clone()
    blind[2] = False
    return {
        "plain": [same],
        "heads": [(_r(2, 4, 6, 16), _r(2, 4, 6, 16), _r(2, 4, 6, 16))],
        "unequal": [unequal],
        "mask": [(*same, seen)],
        "batch mask": [(*same, torch.stack([seen, seen.flip(1) | torch.eye(5).bool()]))],
        "blind": [(*same, blind)],
        "large": [(40 * same[0], 40 * same[1], same[2])],
    }


def _weights(d: int, n: int, kv: int, h: int) -> tuple[Any, ...]:
    return _r(d, n * h) / 2, _r(d, kv * h) / 2, _r(d, kv * h) / 2, _r(n * h, d) / 2


def _many(cross: bool, kv: int) -> dict[str, list[Probe]]:
    w, s = _weights(24, 4, kv, 6), 7 if cross else 5
    x = _r(2, 5, 24)
    m = _r(2, s, 24) if cross else x
    seen = torch.rand(5, s) > 0.4
    seen[:, 0] = True
    blind = seen.clone()
    blind[2] = False
    by_text = torch.stack([seen, seen.flip(0)])
    return {
        "plain": [(x, m, m, *w, 4, kv)],
        "separate": [(x, _r(2, 6, 24), _r(2, 6, 24), *w, 4, kv)],
        "wide": [(x, m, m, *_weights(24, 4, kv, 3), 4, kv)],
        "groups": [(x, m, m, *_weights(24, 6, 2, 3), 6, 2)],
        "mask": [(x, m, m, *w, 4, kv, seen)],
        "batch mask": [(x, m, m, *w, 4, kv, by_text)],
        "blind": [(x, m, m, *w, 4, kv, blind)],
    }


def _cached() -> dict[str, list[Probe]]:
    def ask(t: int, old: int, n: int, kv: int, h: int) -> Probe:
        return (_r(2, t, 16), *_weights(16, n, kv, h), n, kv, _r(2, kv, old, h), _r(2, kv, old, h))

    return {
        "prefill": [ask(5, 0, 4, 4, 4)],
        "one": [ask(1, 3, 4, 4, 4), ask(1, 5, 2, 2, 8)],
        "chunk": [ask(3, 4, 4, 4, 4)],
        "groups": [ask(1, 3, 6, 2, 3)],
    }


def _norm(shift: bool) -> dict[str, list[Probe]]:
    def ask(x: Any, trained: bool, eps: float) -> Probe:
        d = x.shape[-1]
        gain = _r(d) if trained else torch.ones(d)
        return (x, gain, _r(d) if trained else torch.zeros(d), eps) if shift else (x, gain, eps)

    usual = 1e-5 if shift else 1e-6
    small = torch.stack([1e-3 * _r(8), 5 * torch.ones(8) if shift else torch.zeros(8), _r(8)])
    return {
        "plain": [ask(1 + _r(2, 3, 8), False, usual)],
        "gain": [ask(1 + _r(4, 16), True, usual)],
        "small": [ask(small, True, usual)],
        "eps": [ask(_r(3, 8) / 2, True, 0.1)],
    }


def _rope() -> dict[str, list[Probe]]:
    return {
        "plain": [(_r(2, 6, 8), torch.arange(6)), (_r(1, 9, 16), torch.arange(9))],
        "heads": [(_r(2, 3, 5, 8), torch.arange(5))],
        "offset": [(_r(2, 6, 8), torch.arange(4, 10))],
    }


def _cosine() -> dict[str, list[Probe]]:
    def ask(steps: Any, warmup: int, total: int, bottom: float) -> list[Probe]:
        return [(step, warmup, total, 1.0, bottom) for step in steps]

    return {
        "rising": ask(range(8), 7, 21, 0.1),
        "falling": ask(range(7, 22), 7, 21, 0.0),
        "bottom": ask(range(7, 22), 7, 21, 0.1),
        "after": ask(range(22, 40), 7, 21, 0.1),
    }


def _probabilities(rows: int, n: int) -> torch.Tensor:
    return torch.softmax(2 * _r(rows, n), dim=-1)


def _adam() -> dict[str, list[Probe]]:
    state = [_r(4, 3), _r(4, 3), _r(4, 3), _r(4, 3) ** 2]
    rates = (0.1, 0.9, 0.99, 1e-8)
    return {
        "first": [(state[0], state[1], torch.zeros(4, 3), torch.zeros(4, 3), 1, *rates)],
        "later": [(*state, 5, *rates), (*state, 2, *rates)],
        "small": [(state[0], 1e-8 * state[1], 1e-8 * state[2], 1e-16 * state[3], 3, *rates)],
    }


def _clip() -> dict[str, list[Probe]]:
    several = [_r(3, 4), 2 * _r(5), _r(2)]
    return {
        "one": [([_r(10)], 0.5)],
        "several": [(several, 1.0)],
        "below": [([g / 100 for g in several], 1.0)],
        "norm": [(several, 1.0), ([g / 100 for g in several], 1.0)],
    }


_WORDS = [
    (("l", "o", "w"), 5),
    (("l", "o", "w", "e", "r"), 2),
    (("n", "e", "w", "n", "e", "w"), 3),
    (("aa", "aa", "aa", "b"), 4),
]


def _dropout() -> dict[str, list[Probe]]:
    return {
        "training": [(_r(4, 6), torch.rand(4, 6), 0.3, True), (_r(4, 6), torch.rand(4, 6), 0.5, True)],
        "evaluation": [(_r(4, 6), torch.rand(4, 6), 0.3, False)],
    }


PROBES: dict[str, Callable[[], dict[str, list[Probe]]]] = {
    "softmax": _softmax,
    "attention": _attention,
    "multi_head": lambda: _many(cross=False, kv=4),
    "grouped": lambda: _many(cross=False, kv=2),
    "cross_attention": lambda: _many(cross=True, kv=4),
    "cached_attention": _cached,
    "layer_norm": lambda: _norm(shift=True),
    "rms_norm": lambda: _norm(shift=False),
    "gelu": lambda: {"plain": [(torch.linspace(-6, 6, 49),)]},
    "swiglu": lambda: {"plain": [(_r(2, 3, 6), _r(6, 10), _r(6, 10), _r(10, 6))]},
    "rope": _rope,
    "sinusoids": lambda: {"plain": [(9, 8), (32, 64)], "odd": [(6, 7)]},
    "embedding": lambda: {
        "plain": [(torch.tensor([3, 1, 14, 3]), _r(20, 5)), (torch.tensor([[3, 1, 14], [9, 4, 0]]), _r(20, 5))]
    },
    "dropout": _dropout,
    "linear_attention": lambda: {"plain": [(_r(2, 5, 4), _r(2, 7, 4), _r(2, 7, 6))]},
    "patches": lambda: {"square": [(_r(2, 3, 8, 8), 4), (_r(1, 1, 6, 6), 2)], "rectangle": [(_r(2, 3, 4, 6), 2)]},
    "cross_entropy": lambda: {
        "plain": [(2 * _r(6, 9), torch.tensor([3, 0, 8, 2, 2, 5]))],
        "large": [(torch.tensor([[1000.0, 0, 0], [0, 990, 1000]]), torch.tensor([0, 1]))],
    },
    "adam": _adam,
    "cosine": _cosine,
    "clip": _clip,
    "contrastive": lambda: {
        "plain": [(_r(5, 8), _r(5, 8), torch.tensor(1.0))],
        "scale": [(_r(5, 8), _r(5, 8), torch.tensor(4.0))],
    },
    "accept": lambda: {
        "plain": [(_probabilities(4, 8), _probabilities(4, 8))],
        "zeros": [(torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.0, 0.4, 0.6]]))],
        "equal": [(torch.tensor([[0.2, 0.3, 0.5]]), torch.tensor([[0.2, 0.3, 0.5]]))],
    },
    "top_k": lambda: {
        "plain": [(_r(3, 9), 4), (2 * _r(2, 6), 2)],
        "all": [(_r(2, 6), 6)],
        "ties": [(torch.zeros(1, 5), 2)],
    },
    "top_p": lambda: {
        "plain": [(_probabilities(3, 9), 0.6), (_probabilities(2, 9), 0.9)],
        "sure": [(torch.tensor([[0.05, 0.9, 0.05]]), 0.5)],
        "all": [(_probabilities(2, 6), 1.0)],
    },
    "temperature": lambda: {
        "plain": [(_r(3, 6), 0.7), (_r(2, 6), 3.0), (_r(1, 6), 0.2)],
        "zero": [(_r(3, 6), 0)],
    },
    "beam_step": lambda: {
        "plain": [
            (-3 * torch.rand(3), torch.log_softmax(_r(3, 7), -1), 3),
            (-torch.rand(2), torch.log_softmax(_r(2, 5), -1), 4),
        ]
    },
    "count_pairs": lambda: {"plain": [(_WORDS[:3],)], "doubles": [(_WORDS,)]},
    "merge_pair": lambda: {
        "plain": [
            (list("newnewer"), ("n", "e")),
            (["x", "ne", "w", "ne", "w"], ("ne", "w")),
            (list("abab"), ("b", "a")),
            (list("ab"), ("c", "d")),
        ],
        "doubles": [(list("aaab"), ("a", "a")), (list("aaaaa"), ("a", "a"))],
    },
}
"""Function -> kind of input -> arguments, drawn anew at each call."""

_SEEN_OF: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("clip", "norm"): lambda out: out[1],
    **{("clip", kind): lambda out: out[0] for kind in ("one", "several", "below")},
}


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _like(got: Any, want: Any) -> bool:
    """Whether two results are the same within a tolerance that a peer's float32 tests would allow."""
    got_parts, expected_parts = list(_flat(got)), list(_flat(want))
    if len(got_parts) != len(expected_parts):
        return False
    for a, b in zip(got_parts, expected_parts, strict=True):
        if isinstance(b, float | torch.Tensor):
            a, b = torch.as_tensor(a), torch.as_tensor(b)
            if a.shape != b.shape or not torch.allclose(a.to(b.dtype), b, rtol=1e-3, atol=1e-4, equal_nan=True):
                return False
        elif a != b:
            return False
    return True


def _slopes(answer: Callable[..., Any], args: Probe) -> list[Any]:
    """The gradient of a weighted sum of an answer's results, for each of its float inputs."""
    inputs = [a.clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]
    outs = [o for o in _flat(answer(*inputs)) if isinstance(o, torch.Tensor) and o.is_floating_point()]
    total = sum((o * torch.linspace(1, 2, o.numel()).reshape(o.shape)).sum() for o in outs)
    leaves = [a for a in inputs if isinstance(a, torch.Tensor) and a.requires_grad]
    if not isinstance(total, torch.Tensor) or not total.requires_grad:
        return [None for _ in leaves]
    return [
        torch.zeros_like(a) if g is None else g
        for a, g in zip(leaves, torch.autograd.grad(total, leaves, allow_unused=True), strict=True)
    ]


def wrong_on(function: str, source: str, seed: int = 0) -> frozenset[str]:
    """Find the kinds of inputs on which an answer differs from the right one; "gradient" is one of them."""
    torch.manual_seed(seed)
    kinds = PROBES[function]()
    good, other = right(function), made(source)
    wrong_kinds = set()
    for kind, probes in kinds.items():
        pick = _SEEN_OF.get((function, kind), lambda out: out)
        for args in probes:
            try:
                same = _like(pick(other(*args)), pick(good(*args)))
            except Exception:
                same = False
            if not same:
                wrong_kinds.add(kind)
    first = next(iter(kinds.values()))[0]
    try:
        same = _like(_slopes(other, first), _slopes(good, first))
    except Exception:
        same = False
    return frozenset(wrong_kinds if same else wrong_kinds | {"gradient"})
