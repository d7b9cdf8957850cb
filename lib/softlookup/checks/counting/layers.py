"""Tasks that count the products of a layer, and of an encoder-decoder."""

from typing import Any

import numpy as np

from softlookup.checks.counting.page import PAGE, Flags, plain, product_flops
from softlookup.checks.counting.products import shared
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task

Shapes = tuple[int, ...]


def _layer_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(3, 9))
    return plain(
        "T, S, D, N, K, H, F, gated, causal",
        (3, 3, 4, 2, 2, 2, 16, False, False),
        (1, 1000, 4096, 32, 32, 128, 11008, True, False),
        (1, 1000, 4096, 32, 8, 128, 14336, True, True),
        (5, 9, 10, 6, 2, 7, 30, True, True),
        (8, 8, 12, 4, 4, 3, 48, False, True),
        (5, 9, 10, 6, 3, 7, 31, True, False),
        (t, t + int(rng.integers(1, 20)), int(rng.integers(10, 40)), 6, 3, 11, 50, False, True),
    )


def _layer(t: int, s: int, d: int, n: int, k: int, h: int, f: int, gated: bool, causal: bool) -> int:
    """The products of shapes; under a causal mask one query after the other, with the keys that it may see."""
    into = [((t, d), (d, width)) for width in (n * h, k * h, k * h)]
    pairs: list[tuple[Shapes, Shapes]] = [*into, ((t, n * h), (n * h, d))]
    for seen, queries in [(s - t + i + 1, 1) for i in range(t)] if causal else [(s, t)]:
        maps = (n, queries, seen)
        pairs += [((n, queries, h), (n, h, seen)), (maps, (n, seen, h))]
    pairs += [((t, d), (d, f))] * (2 if gated else 1) + [((t, f), (f, d))]
    return product_flops(*pairs)


def _layer_mistaken(
    flags: Flags, t: int, s: int, d: int, n: int, k: int, h: int, f: int, gated: bool, causal: bool
) -> np.ndarray:
    ops = 1 if "one-operation" in flags else 2
    wide, narrow = n * h, (n if "own-keys" in flags else k) * h
    columns = 2 * wide + (0 if "qkv-once" in flags else 2 * narrow)
    if "output-forgotten" in flags:
        columns -= wide
    matrices = 1 if "hidden-once" in flags else 3 if gated and "gate-forgotten" not in flags else 2
    masked = causal and "causal-ignored" not in flags or "causal-always" in flags
    seen = s if "context-through" in flags else t
    pairs = t * s
    if masked:
        pairs -= t * (t - 1) // 2
        if "diagonal-hidden" in flags:
            pairs -= t
        if "half-the-rectangle" in flags:
            pairs = t * s // 2
        if "cache-forgotten" in flags:
            pairs = t * (t + 1) // 2
    attention = 2 * ops * pairs * ((k * h) if "grouped-scores" in flags else wide)
    if "mixing-forgotten" in flags:
        attention //= 2
    total = ops * seen * d * columns + attention + ops * t * d * f * matrices
    if masked and "everything-halved" in flags:
        total = (ops * seen * d * columns + 2 * ops * t * s * wide + ops * t * d * f * matrices) // 2
    return np.array(total)


PROJECTIONS = "projections = 2 * n_tokens * d_model * (2 * wide + 2 * narrow)"
SKIPPED = "pairs -= n_tokens * (n_tokens - 1) // 2"
ATTENTION = "attention = 4 * pairs * wide"
HIDDEN = "(3 if gated else 2)"
RETURN = "return projections + attention + hidden"

LAYER = Task(
    id="12.layer",
    name="layer_flops",
    title="The products of a layer",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="counting-layer",
    returns=("operations",),
    cases=_layer_cases,
    oracle=_layer,
    mistaken=_layer_mistaken,
    frame="plain",
    mistakes=(
        shared(
            "one-operation",
            ("projections = 2 *", "projections ="),
            ("hidden = 2 *", "hidden ="),
            ("attention = 4 *", "attention = 2 *"),
        ),
        known(
            "qkv-once",
            ("(2 * wide + 2 * narrow)", "2 * wide"),
            says="Queries, keys and values are counted once: keys and values are products of their own.",
            number=79,
        ),
        known(
            "output-forgotten",
            ("(2 * wide + 2 * narrow)", "(wide + 2 * narrow)"),
            says="The product with the output matrix is missing.",
            number=23,
        ),
        known(
            "hidden-once",
            (HIDDEN, "1"),
            says="The feed-forward network is counted once: there are two products with D*F weights, three if gated.",
            number=79,
        ),
        known(
            "gate-forgotten",
            (HIDDEN, "2"),
            says="The gate's product is missing: a gated network has three matrices.",
        ),
        shared("own-keys", ("n_kv_heads * head_width", "n_heads * head_width")),
        known(
            "grouped-scores",
            (ATTENTION, "attention = 4 * pairs * narrow"),
            says="Scores and mixing are counted for K heads: every query head has scores of its own, whoever shares "
            "its keys.",
        ),
        known(
            "mixing-forgotten",
            (ATTENTION, "attention = 2 * pairs * wide"),
            says="One of two products with the pairs is missing: scores and mixing cost 2*H for each pair and head.",
        ),
        known(
            "context-through",
            (PROJECTIONS, PROJECTIONS.replace("n_tokens", "context")),
            says="Keys and values of the whole context, and queries too, are made anew: those of earlier tokens are "
            "kept, and only the T new tokens pass through the projections.",
        ),
        known(
            "causal-ignored",
            ("if causal:", "if False:"),
            says="The causal mask has no effect: where causal is True, hidden pairs are not computed.",
            number=82,
        ),
        known(
            "causal-always",
            ("if causal:", "if True:"),
            says="Hidden pairs are always left out: where causal is False, the full T * S are computed.",
            number=82,
        ),
        known(
            "diagonal-hidden",
            (SKIPPED, "pairs -= n_tokens * (n_tokens + 1) // 2"),
            says="The diagonal is left out: each token may look at itself, too.",
            number=82,
        ),
        known(
            "half-the-rectangle",
            (SKIPPED, "pairs //= 2"),
            says="Half of all T * S pairs are counted. The mask hides a triangle of T * (T - 1) / 2 pairs: less than "
            "half even of a square, and none of what is kept from before.",
            number=82,
        ),
        known(
            "cache-forgotten",
            (SKIPPED, "pairs = n_tokens * (n_tokens + 1) // 2"),
            says="Only pairs among the new tokens are counted: each of them looks at all that was kept before, too.",
            number=82,
        ),
        known(
            "everything-halved",
            (SKIPPED, "pass"),
            (RETURN, "return (projections + attention + hidden) // (2 if causal else 1)"),
            says="The mask halves everything: it acts on pairs of tokens, so on scores and mixing and nothing else.",
            number=82,
        ),
    ),
)


def _pair_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 8)) for low in (2, 11, 21, 31, 41, 2, 61))
    return plain(
        "B, S, T, D, F, L, V",
        (1, 9, 7, 512, 2048, 6, 37000),
        (3, 5, 4, 6, 10, 2, 11),
        (2, 8, 8, 12, 48, 1, 30),
        (1, 1, 3, 4, 5, 3, 6),
        drawn,
    )


def _pair(b: int, s: int, t: int, d: int, f: int, n_layers: int, v: int) -> tuple[int, int]:
    """The products of shapes, one sequence after the other; heads do not change these counts."""

    def looking(asking: int, seen: int) -> list[tuple[Shapes, Shapes]]:
        into = [((asking, d), (d, d)), ((seen, d), (d, d)), ((seen, d), (d, d))]
        return [*into, ((asking, d), (d, seen)), ((asking, seen), (seen, d)), ((asking, d), (d, d))]

    def thinking(rows: int) -> list[tuple[Shapes, Shapes]]:
        return [((rows, d), (d, f)), ((rows, f), (f, d))]

    encoder = product_flops(*looking(s, s), *thinking(s))
    decoder = product_flops(*looking(t, t), *looking(t, s), *thinking(t))
    return b * n_layers * encoder, b * (n_layers * decoder + product_flops(((t, d), (d, v))))


def _pair_mistaken(flags: Flags, b: int, s: int, t: int, d: int, f: int, n_layers: int, v: int) -> tuple[Any, ...]:
    half = 2 if "one-operation" in flags else 1
    square, own = d * d, 4 if "qkv-once" in flags else 8
    ffn = (2 if "hidden-once" in flags else 4) * d * f
    encoder = s * (own * square + ffn) + 4 * s * s * d
    decoder = t * (own * square + ffn) + 4 * t * t * d
    across = 4 * t * square + 4 * s * square + 4 * t * s * d
    if "cross-square-of-target" in flags:
        across += 4 * t * t * d - 4 * t * s * d
    if "memory-from-target" in flags:
        across += 4 * t * square - 4 * s * square
    if "cross-forgotten" in flags:
        across = 0
    logits = 0 if "logits-forgotten" in flags else 2 * t * d * v
    if "last-logits" in flags and logits:
        logits = 2 * d * v
    if "logits-in-each-layer" in flags:
        logits *= n_layers
    batch = 1 if "batch-forgotten" in flags else b
    pair = batch * n_layers * encoder // half, batch * (n_layers * (decoder + across) + logits) // half
    if "pair-swapped" in flags:
        pair = pair[::-1]
    return np.array(pair[0]), np.array(pair[1])


CROSS = "cross = 4 * target * square + 4 * source * square + 4 * target * source * d_model"
SUM = "(n_layers * (decoder + cross) + logits)"
ENCODER = "batch * n_layers * encoder"

ENCODER_DECODER = Task(
    id="12.encoder-decoder",
    name="translator_flops",
    title="An encoder-decoder",
    points=3,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="counting-encoder-decoder",
    returns=("encoder", "decoder"),
    cases=_pair_cases,
    oracle=_pair,
    mistaken=_pair_mistaken,
    frame="plain",
    mistakes=(
        shared(
            "one-operation",
            (f"return {ENCODER}, batch * {SUM}", f"return {ENCODER} // 2, batch * {SUM} // 2"),
        ),
        known(
            "qkv-once",
            ("(8 * square", "(4 * square"),
            says="Queries, keys and values of self-attention are counted once: with the output there are four products "
            "with D*D weights, 8*D*D operations for each token.",
            number=79,
        ),
        known(
            "hidden-once",
            ("+ 4 * hidden)", "+ 2 * hidden)"),
            says="The feed-forward network is counted once: it is two products, up and down.",
            number=79,
        ),
        known("cross-forgotten", ("(decoder + cross)", "decoder"), says="Cross-attention is missing in the decoder."),
        known(
            "memory-from-target",
            ("4 * source * square", "4 * target * square"),
            says="Keys and values of cross-attention are counted for the target's tokens: they are made from the "
            "encoder's output, S tokens.",
        ),
        known(
            "cross-square-of-target",
            ("4 * target * source * d_model", "4 * target * target * d_model"),
            says="The pairs of cross-attention are counted as T * T: each of T tokens looks at S of the source.",
        ),
        known("logits-forgotten", (" + logits)", ")"), says="The logits are missing: D*V weights at each position."),
        known(
            "last-logits",
            ("2 * target * d_model * vocab_size", "2 * d_model * vocab_size"),
            says="Logits are made for one position alone: they are asked for at every position of the target.",
        ),
        known(
            "logits-in-each-layer",
            (SUM, "n_layers * (decoder + cross + logits)"),
            says="The logits are counted in every layer: they are made once, behind the last one.",
        ),
        known(
            "batch-forgotten",
            (f"{ENCODER}, batch * {SUM}", f"n_layers * encoder, {SUM}"),
            says="The batch is missing: every sentence pair costs as much.",
        ),
        known(
            "pair-swapped",
            (f"{ENCODER}, batch * {SUM}", f"batch * {SUM}, {ENCODER}"),
            says="The two numbers have changed places: the encoder comes first.",
        ),
    ),
)
