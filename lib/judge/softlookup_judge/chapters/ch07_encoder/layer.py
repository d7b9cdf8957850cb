"""The encoder layer, as a function of its weights: attention, feed-forward network, norms in either order, padding."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.ch07_encoder.residuals import WHOLE_LAYERS, hidden_weights, norm_weights
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def layer_args(
    rng: Rng, b: int, t: int, d: int, f: int, n: int, pre_norm: bool, dtype: str = "float32"
) -> tuple[Any, ...]:
    """Tokens, the weights of one layer, N and the order: what the task's function takes, but for the mask."""
    attention = normal(rng, 4, d, d, dtype=dtype, scale=1.4 * d**-0.5)
    weights = hidden_weights(rng, d, f, dtype)
    return (normal(rng, b, t, d, dtype=dtype), attention, *weights, norm_weights(rng, 4, d, dtype), n, pre_norm)


def real_tokens(rng: Rng, b: int, t: int) -> np.ndarray:
    """Rows that end in padding, of different lengths; the first token is always real, and some row is padded."""
    lengths = rng.integers(1, t + 1, size=b)
    lengths[0] = min(lengths[0], t - 1)
    if b > 1:
        lengths[1] = t if lengths[0] != t else 1
    return np.arange(t) < lengths[:, None]


LOUD_MASK = np.arange(5) < np.array([[1], [2], [5]])


def _layer_cases(rng: Rng) -> list[Case]:
    def args(b: int, t: int, d: int, f: int, n: int, pre: bool, **kind: Any) -> tuple[Any, ...]:
        return layer_args(rng, b, t, d, f, n, pre, **kind)

    scattered = draws.seeing_mask(rng, 2, 5)
    double = args(2, 3, 6, 7, 3, False, dtype="float64")
    double_pre = args(2, 3, 4, 5, 2, True, dtype="float64")
    # Real scores far below any finite number that might be put for -inf.
    loud = layer_args(rng, 3, 5, 6, 7, 2, False, dtype="float64")
    loud = (1000.0 * loud[0], *loud[1:])
    upstream = normal(rng, 2, 3, 6, dtype="float64")
    differentiated = (0, 1, 2, 3, 4, 5, 6)
    cases = [
        Case("post-LN, B = 2, T = 3, D = 6, F = 8, N = 2", args(2, 3, 6, 8, 2, False)),
        Case("pre-LN, B = 2, T = 3, D = 6, F = 8, N = 2", args(2, 3, 6, 8, 2, True)),
        Case("post-LN, small sizes: T = 8, D = 4, F = 16, N = 2", args(1, 8, 4, 16, 2, False)),
        Case("pre-LN, B = T = D = F = 4, N = 2", args(4, 4, 4, 4, 2, True)),
        Case("one token, three heads, pre-LN", args(2, 1, 6, 5, 3, True)),
        Case("padding, post-LN, B = 3, T = 5", (*args(3, 5, 6, 7, 2, False), real_tokens(rng, 3, 5)), part="mask"),
        Case("padding, pre-LN, B = T = N = 2", (*args(2, 2, 4, 7, 2, True), real_tokens(rng, 2, 2)), part="mask"),
        Case("padding, post-LN, B = T = 4", (*args(4, 4, 6, 5, 3, False), real_tokens(rng, 4, 4)), part="mask"),
        Case("padding here and there, pre-LN", (*args(2, 5, 6, 7, 2, True), scattered), part="mask"),
        Case("padding, large numbers", (*loud, LOUD_MASK.copy()), part="mask"),
        Case("float64", double, keeps_dtype=True, part="dtype"),
        Case("gradients, post-LN", double, gradients=differentiated, upstream=upstream, part="gradient"),
        Case(
            "gradients, pre-LN and padding",
            (*double_pre, real_tokens(rng, 2, 3)),
            gradients=differentiated,
            upstream=normal(rng, 2, 3, 4, dtype="float64"),
            part="gradient",
        ),
    ]
    # Rounding adds up on the way: in float32, right answers in another order need some room.
    return [replace(case, tolerance=3e-5) if case.dtype == np.float32 else case for case in cases]


def torch_layer(
    x: Any,
    attention: Any,
    w_1: Any,
    b_1: Any,
    w_2: Any,
    b_2: Any,
    norms: Any,
    n_heads: int,
    pre_norm: bool,
    mask: Any = None,
) -> Any:
    """Run torch's own nn.TransformerEncoderLayer with these weights; its padding mask says True where there is none."""
    import torch

    d, f = w_1.shape
    layer = torch.nn.TransformerEncoderLayer(
        d, n_heads, f, dropout=0.0, batch_first=True, norm_first=pre_norm, dtype=x.dtype
    )
    nothing = x.new_zeros(d)
    weights: dict[str, Any] = {
        "self_attn.in_proj_weight": torch.cat([w.mT for w in attention[:3]]),
        "self_attn.in_proj_bias": x.new_zeros(3 * d),
        "self_attn.out_proj.weight": attention[3].mT,
        "self_attn.out_proj.bias": nothing,
        "linear1.weight": w_1.mT,
        "linear1.bias": b_1,
        "linear2.weight": w_2.mT,
        "linear2.bias": b_2,
        "norm1.weight": norms[0],
        "norm1.bias": norms[1],
        "norm2.weight": norms[2],
        "norm2.bias": norms[3],
    }
    padding = None if mask is None else ~mask
    return torch.func.functional_call(layer, weights, (x,), {"src_key_padding_mask": padding})


ENCODER_LAYER = described(
    "07.encoder-layer",
    cases=_layer_cases,
    oracle=torch_layer,
    parts={"core": 0.5, "mask": 0.3, "gradient": 0.1, "dtype": 0.1},
    forbids=WHOLE_LAYERS,
)
