"""Decoder parts in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype. What happens inside the weights is ``one_head.pipeline``'s.
"""

from collections.abc import Mapping

import numpy as np

from softlookup.checks.decoder_and_masks.page import Flags
from softlookup.checks.many_heads import switches as heads
from softlookup.checks.one_head import pipeline

Array = np.ndarray
Weights = Mapping[str, Array]

NONE: Flags = frozenset()


def masked_softmax(flags: Flags, s: Array, mask: Array) -> Array:
    """Weights from scores and a mask."""
    if "scores-multiplied" in flags:
        flags, s = flags | {"mask-after-softmax"}, s * mask
    # Scores as queries that meet an identity for keys: what is left is the softmax with its mask.
    return pipeline.weights(flags | {"no-sqrt"}, s, np.eye(s.shape[-1], dtype=s.dtype), mask)


def cross_attention(
    flags: Flags,
    x: Array,
    memory: Array,
    w_q: Array,
    w_k: Array,
    w_v: Array,
    w_o: Array,
    n_heads: int,
    mask: Array | None = None,
) -> Array:
    """Queries from x, keys and values from memory."""
    exchanged, both = "sequences-exchanged" in flags, "keys-and-values-from-decoder" in flags
    q_from = memory if exchanged or "queries-from-encoder" in flags else x
    k_from = x if exchanged or both or "keys-from-decoder" in flags else memory
    v_from = x if exchanged or both or "values-from-decoder" in flags else memory
    q, k = heads.split(NONE, q_from @ w_q, n_heads), heads.split(NONE, k_from @ w_k, n_heads)
    v = heads.split(NONE, v_from @ (w_k if "values-from-keys" in flags else w_v), n_heads)
    if "causal-too" in flags:
        past = np.tri(q.shape[-2], k.shape[-2], dtype=bool)
        past = np.broadcast_to(past, (len(x), 1, *past.shape))
        if mask is None or "mask-ignored" in flags:
            mask, flags = past, flags - {"mask-ignored"}
        elif "mask-inverted" in flags:
            mask, flags = past & ~mask, flags - {"mask-inverted"}
        else:
            mask = past & mask
    a = pipeline.weights(flags, q, k, mask, x.shape[-1])
    z = heads.merge(NONE, a @ v)
    return z if "output-missing" in flags else z @ w_o


def layer_norm(flags: Flags, x: Array, gain: Array, bias: Array, eps: float = 1e-5) -> Array:
    """Normalise each token's vector."""
    centred = x - x.mean(axis=-1, keepdims=True, dtype=x.dtype)
    variance = (centred**2).mean(axis=-1, keepdims=True, dtype=x.dtype)
    return centred / np.sqrt(variance + x.dtype.type(eps)) * gain + bias


def feed_forward(x: Array, w: Weights) -> Array:
    """Two products with a ReLU between them."""
    return np.maximum(x @ w["0.weight"].T + w["0.bias"], 0) @ w["2.weight"].T + w["2.bias"]


def within(w: Weights, name: str) -> dict[str, Array]:
    """The weights of one part, without its name in front."""
    return {key[len(name) + 1 :]: value for key, value in w.items() if key.startswith(name + ".")}


def attention_of(flags: Flags, w: Weights, x: Array, memory: Array, n_heads: int, mask: Array | None) -> Array:
    """Attention with a part's own four matrices."""
    return cross_attention(flags, x, memory, w["w_q"], w["w_k"], w["w_v"], w["w_o"], n_heads, mask)


def sublayer(flags: Flags, x: Array, norm: Weights, inside: object) -> Array:
    """X plus what the part makes of the normed x; flags move the norm or drop the sum."""
    assert callable(inside)
    if "post-norm" in flags:
        return layer_norm(flags, x + inside(x), norm["weight"], norm["bias"])
    normed = layer_norm(flags, x, norm["weight"], norm["bias"])
    if "no-residual" in flags:
        return inside(normed)
    return (normed if "residual-from-normed" in flags else x) + inside(normed if "norm-missing" not in flags else x)


def decoder_layer(
    flags: Flags, w: Weights, x: Array, memory: Array, n_heads: int, mask: Array, memory_mask: Array
) -> Array:
    """Three sublayers: look back, look across, think."""
    norms = [within(w, f"norm_{i}") for i in (1, 2, 3)]
    if "one-norm-for-all" in flags:
        norms = [norms[0]] * 3
    own, cross = within(w, "attention"), within(w, "cross")
    if "weights-shared" in flags:
        cross = own
    mask_own = None if "future-seen" in flags else mask
    mask_cross = memory_mask
    if "target-mask-in-cross" in flags:
        mask_cross = mask
    if "no-memory-mask" in flags:
        mask_cross = None  # type: ignore[assignment]

    def look_back(y: Array) -> Array:
        return attention_of(NONE, own, y, y, n_heads, mask_own)

    def look_across(y: Array) -> Array:
        seen = y if "cross-looks-at-itself" in flags else memory
        return attention_of(NONE, cross, y, seen, n_heads, mask_cross)

    def think(y: Array) -> Array:
        return feed_forward(y, within(w, "feed_forward"))

    steps = [(norms[0], look_back), (norms[1], look_across), (norms[2], think)]
    if "cross-first" in flags:
        steps = [steps[1], steps[0], steps[2]]
    if "no-cross" in flags:
        steps = [step for step in steps if step[1] is not look_across]
    for norm, step in steps:
        x = sublayer(flags, x, norm, step)
    return x


def encoder_layer(flags: Flags, w: Weights, x: Array, n_heads: int, mask: Array | None) -> Array:
    """Two sublayers: look around, think."""
    x = sublayer(
        flags, x, within(w, "norm_1"), lambda y: attention_of(NONE, within(w, "attention"), y, y, n_heads, mask)
    )
    return sublayer(flags, x, within(w, "norm_2"), lambda y: feed_forward(y, within(w, "feed_forward")))


def sinusoidal(length: int, d_model: int) -> Array:
    """Position vectors, sine and cosine interleaved."""
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    table = np.zeros((length, d_model))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)[:, : d_model // 2]
    return table
