"""Tasks on looking from one modality at another, and on what attention maps say in the end."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described
from softlookup_judge.data.words import rows_sum_to_one


def _look_args(
    rng: Rng, b: int, t: int, s: int, d: int, m: int, n: int, h: int, gate: float, dtype: str = "float32"
) -> tuple[Any, ...]:
    def weight(rows: int, columns: int) -> np.ndarray:
        return normal(rng, rows, columns, dtype=dtype, scale=rows**-0.5)

    return (
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, b, s, m, dtype=dtype),
        weight(d, n * h),
        weight(m, n * h),
        weight(m, n * h),
        weight(n * h, d),
        np.asarray(gate, dtype=dtype),
        n,
    )


def _look_cases(rng: Rng) -> list[Case]:
    return [
        Case("a text of 3 words, D = 4, and 5 patches of width 6", _look_args(rng, 2, 3, 5, 4, 6, 2, 3, 0.8)),
        Case("D = 6, patches of width 3, N = 3, H = 2", _look_args(rng, 2, 4, 7, 6, 3, 3, 2, -1.3)),
        Case("the same widths, T = S = 4, N = 2", _look_args(rng, 3, 4, 4, 6, 6, 2, 3, 0.6)),
        Case("B = T = S = N = H = 3, both widths 9", _look_args(rng, 3, 3, 3, 9, 9, 3, 3, 2.0)),
        Case("one text of one word, one patch", _look_args(rng, 1, 1, 1, 4, 3, 2, 2, 0.9)),
        Case("a gate of 0: the text as it was", _look_args(rng, 2, 3, 4, 4, 4, 2, 2, 0.0), part="gate"),
        Case("a large gate", _look_args(rng, 2, 3, 4, 5, 4, 1, 4, 6.0), part="gate"),
        Case(
            "gradients of text, picture, weights and gate",
            _look_args(rng, 2, 3, 4, 4, 5, 2, 3, 0.4, "float64"),
            gradients=(0, 1, 2, 3, 4, 5, 6),
            upstream=normal(rng, 2, 3, 4, dtype="float64"),
            part="gradient",
        ),
    ]


def _look(x: Any, picture: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, gate: Any, n_heads: int) -> Any:
    """Head by head with torch's own attention."""
    import torch

    h = w_q.shape[1] // n_heads
    y = torch.zeros_like(x)
    for i in range(n_heads):
        head_slice = slice(i * h, i * h + h)
        z = torch.nn.functional.scaled_dot_product_attention(
            x @ w_q[:, head_slice], picture @ w_k[:, head_slice], picture @ w_v[:, head_slice]
        )
        y = y + z @ w_o[head_slice]
    return torch.addcmul(x, torch.tanh(gate).expand_as(y), y)


LOOK = described(
    "13.look", cases=_look_cases, oracle=_look, parts={"core": 0.7, "gate": 0.15, "gradient": 0.15}, forbids=ATTENTIONS
)


def _maps(rng: Rng, layers: int, n: int, t: int, dtype: str = "float32") -> np.ndarray:
    scores = 1.5 * rng.standard_normal((layers, n, t, t))
    raised = np.exp(scores)
    return (raised / raised.sum(-1, keepdims=True)).astype(dtype)


def _rollout_cases(rng: Rng) -> list[Case]:
    return [
        Case("L = 3, N = 2, T = 5", (_maps(rng, 3, 2, 5),)),
        Case("L = 2, N = 4, T = 3", (_maps(rng, 2, 4, 3),)),
        Case("L = N = T = 4", (_maps(rng, 4, 4, 4),)),
        Case("one layer", (_maps(rng, 1, 3, 4),)),
        Case("one layer, one head, one token", (_maps(rng, 1, 1, 1),)),
        Case("one head, float64", (_maps(rng, 4, 1, 6, "float64"),)),
    ]


def _rollout(maps: Any) -> Any:
    """Token by token backwards: what stands at a place on top came from where."""
    import torch

    n = maps.shape[-1]
    rows = []
    for t in range(n):
        share = torch.zeros(n, dtype=maps.dtype)
        share[t] = 1.0
        for layer in reversed(range(len(maps))):
            looked = torch.einsum("t,nts->s", share, maps[layer]) / maps.shape[1]
            share = torch.lerp(share, looked, 0.5)
        rows.append(share)
    return torch.stack(rows)


ROLLOUT = described("13.rollout", cases=_rollout_cases, oracle=_rollout, properties=(rows_sum_to_one,), cuts=False)
