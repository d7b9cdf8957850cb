"""The task that counts the products of a layer as it is today."""

from softlookup.checks.counting.page import PAGE, plain, product_flops
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
            "keys-made-anew",
            (PROJECTIONS, "projections = 2 * d_model * (n_tokens * 2 * wide + context * 2 * narrow)"),
            says="Keys and values are made for the whole context: those of earlier tokens are kept, and only the T new "
            "tokens pass through the projections.",
        ),
        known(
            "new-alone",
            ("pairs = n_tokens * context", "pairs = n_tokens**2"),
            says="Only pairs among the new tokens are counted, masked or not: each of them looks at all S tokens.",
        ),
        known(
            "new-twice",
            ("pairs = n_tokens * context", "pairs = n_tokens * (context + n_tokens)"),
            says="The new tokens are added to the context: they are among its S tokens, the last T of them.",
        ),
        known(
            "one-head",
            (ATTENTION, "attention = 4 * pairs * head_width"),
            says="Scores and mixing are counted for one head: there are N of them.",
        ),
        known(
            "scores-of-model-width",
            (ATTENTION, "attention = 4 * pairs * d_model"),
            says="Scores and mixing are counted with D: they work in heads, N * H wide all in all, and that need not "
            "be D.",
        ),
        known(
            "heads-fill-model",
            ("wide, narrow = n_heads * head_width", "wide, narrow = d_model"),
            says="The query heads are taken to be D wide together: they are N * H, and that need not be D.",
        ),
        known(
            "gate-always",
            (HIDDEN, "3"),
            says="A gate is counted where gated is False: then the network has two matrices.",
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
            "half-the-square",
            (SKIPPED, "pairs = n_tokens * (context - n_tokens) + n_tokens**2 // 2"),
            says="Half of the new tokens' square is counted: with the diagonal it is T * (T + 1) / 2, a little more.",
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
