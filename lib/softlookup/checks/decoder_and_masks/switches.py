"""Decoder parts in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype. What happens inside the weights is ``one_head.pipeline``'s.
"""

from collections.abc import Mapping

import numpy as np

from softlookup.checks.decoder_and_masks.page import Flags
from softlookup.checks.encoder import switches as parts
from softlookup.checks.many_heads import switches as heads
from softlookup.checks.one_head import pipeline

Array = np.ndarray
Weights = Mapping[str, Array]

NONE: Flags = frozenset()


def masked_softmax(flags: Flags, s: Array, mask: Array) -> Array:
    """Weights from scores and a mask."""
    if "scores-multiplied" in flags:
        flags, s = flags | {"mask-after-softmax"}, s * mask
    if "zero-times-infinity" in flags:
        seen = ~mask if "mask-inverted" in flags else mask
        return np.where(seen | ("nan-rows" in flags), np.nan, np.zeros_like(s))
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
    if "first-two-exchanged" in flags:
        w_q, w_k = w_k, w_q
    if "last-two-exchanged" in flags:
        w_k, w_v = w_v, w_k
    q, k = heads.split(flags, q_from @ w_q, n_heads), heads.split(flags, k_from @ w_k, n_heads)
    v = heads.split(flags, v_from @ (w_k if "values-from-keys" in flags else w_v), n_heads)
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
    y = heads.blend(flags - {"interleaved"}, pipeline.mix(flags & {"weights-transposed"}, a, v), w_o)
    return x + y if "residual-inside" in flags else y


def normed(x: Array, norm: Weights) -> Array:
    """Each token's vector, normalised with a norm's own gain and shift."""
    return parts.layer_norm(NONE, x, norm["weight"], norm["bias"], parts.EPS)


def feed_forward(x: Array, w: Weights) -> Array:
    """Two products with a ReLU between them; matrices stand as nn.Linear has them."""
    return parts.feed_forward(NONE, x, w["0.weight"].T, w["0.bias"], w["2.weight"].T, w["2.bias"])


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
        return normed(x + inside(x), norm)
    given = normed(x, norm)
    if "part-missing" in flags:
        return x
    if "no-residual" in flags:
        return inside(given)
    return (given if "residual-from-normed" in flags else x) + inside(given if "norm-missing" not in flags else x)


def decoder_layer(
    flags: Flags, w: Weights, x: Array, memory: Array, n_heads: int, mask: Array, memory_mask: Array
) -> Array:
    """Three sublayers: look back, look across, think."""
    norms = [within(w, f"norm_{i}") for i in (1, 2, 3)]
    if "one-norm-for-all" in flags:
        norms = [norms[0]] * 3
    if "norms-exchanged" in flags:
        norms = [norms[0], norms[2], norms[1]]
    own, cross = within(w, "attention"), within(w, "cross")
    if "weights-shared" in flags:
        cross = own
    mask_own = None if "future-seen" in flags else mask
    mask_cross = memory_mask
    if "target-mask-in-cross" in flags:
        mask_cross = mask
    if "masks-exchanged" in flags:
        mask_own, mask_cross = memory_mask, mask
    if "mask-inverted" in flags and mask_own is not None:
        mask_own = ~mask_own
    if "memory-mask-inverted" in flags:
        mask_cross = ~mask_cross
    if "no-memory-mask" in flags:
        mask_cross = None  # type: ignore[assignment]

    def look_back(y: Array) -> Array:
        return attention_of(NONE, own, y, x if "keys-not-normed" in flags else y, n_heads, mask_own)

    def look_across(y: Array) -> Array:
        seen = y if "cross-looks-at-itself" in flags else memory
        if "memory-normed" in flags:
            seen = normed(seen, norms[1])
        return attention_of(NONE, cross, y, seen, n_heads, mask_cross)

    def think(y: Array) -> Array:
        return feed_forward(y, within(w, "feed_forward"))

    steps = [("back", norms[0], look_back), ("across", norms[1], look_across), ("think", norms[2], think)]
    if "cross-first" in flags:
        steps = [steps[1], steps[0], steps[2]]
    if "think-before-cross" in flags:
        steps = [step for step in steps if step[0] != "across"] + [step for step in steps if step[0] == "across"]
    for name, norm, step in steps:
        # A mistake may be made in one part alone: "no-residual-across".
        own_flags = flags | {flag.removesuffix(f"-{name}") for flag in flags if flag.endswith(f"-{name}")}
        x = sublayer(own_flags | ({"part-missing"} if f"no-{name}" in flags else NONE), x, norm, step)
    return x


def encoder_layer(flags: Flags, w: Weights, x: Array, n_heads: int, mask: Array | None) -> Array:
    """Two sublayers: look around, think."""
    x = sublayer(
        flags, x, within(w, "norm_1"), lambda y: attention_of(NONE, within(w, "attention"), y, y, n_heads, mask)
    )
    return sublayer(flags, x, within(w, "norm_2"), lambda y: feed_forward(y, within(w, "feed_forward")))
