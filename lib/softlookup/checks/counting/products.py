"""Tasks that count single steps: one product, and the lecture's table of a layer."""

import numpy as np

from softlookup.checks.counting.page import PAGE, SAID, meta, plain, product_flops
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Mistake, Task


def shared(slug: str, *edits: tuple[str, str], says: str | None = None) -> Mistake:
    """A mistake with the words that this chapter's tasks share."""
    number, words = SAID[slug]
    return known(slug, *edits, says=says or words, number=number)


def _product_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 60)) for low in (3, 70, 150))
    return plain(
        "rows, d_in, d_out, bytes_per_number",
        (2, 3, 5, 4),
        (1, 4096, 4096, 2),
        (1000, 4096, 11008, 2),
        (7, 7, 7, 1),
        (*drawn, 4),
    )


def _product(rows: int, d_in: int, d_out: int, size: int) -> tuple[int, int, float]:
    moved = sum(meta(*shape, size=size).nbytes for shape in ((rows, d_in), (d_in, d_out), (rows, d_out)))
    flops = product_flops(((rows, d_in), (d_in, d_out)))
    return flops, moved, flops / moved


BYTES = "n_bytes = numbers * bytes_per_number"

PRODUCT = Task(
    id="12.product",
    name="product_cost",
    title="One product",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="counting-product",
    returns=("operations", "bytes", "intensity"),
    cases=_product_cases,
    oracle=_product,
    frame="plain",
    mistakes=(
        shared("one-operation", ("2 * rows", "rows")),
        shared("elements-for-bytes", (BYTES, "n_bytes = numbers")),
        known("bits", (BYTES, "n_bytes = 8 * numbers * bytes_per_number"), says="These are bits: bytes are asked for."),
        known(
            "per-number",
            ("flops / n_bytes", "flops / numbers"),
            says="The intensity is operations for each number: each of them takes several bytes, and it is bytes that "
            "memory moves.",
            number=80,
        ),
        known(
            "whole-number",
            ("flops / n_bytes", "flops // n_bytes"),
            says="The intensity is cut to a whole number (//): for few rows hardly anything is left of it.",
        ),
        known(
            "sums-less-one",
            ("2 * rows * d_in * d_out", "(2 * d_in - 1) * rows * d_out"),
            says="A sum of D products has D - 1 additions: true, and not what is counted. By convention each product "
            "is added to something, a multiply-add is two, and the sum costs 2 * D.",
            number=78,
        ),
        known(
            "input-unread",
            ("rows * d_in + d_in * d_out", "d_in * d_out"),
            says="The rows x are missing among what is moved: both factors are read.",
        ),
        known(
            "result-unwritten",
            (" + rows * d_out", ""),
            says="The result is missing among what is moved: it is written to memory.",
        ),
        known(
            "matrix-forgotten",
            (" + d_in * d_out", ""),
            says="The weight matrix is missing among what is moved: it is read too, and for few rows it is nearly all.",
        ),
        shared("intensity-inverted", ("flops / n_bytes", "n_bytes / flops")),
    ),
)


def _table_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 9)) for low in (2, 12, 3, 25))
    return plain(
        "B, T, N, H, bytes_per_number",
        (1, 50, 32, 128, 2),
        (3, 5, 2, 4, 4),
        (64, 1, 32, 128, 2),
        (2, 1000, 8, 64, 4),
        (*drawn, 2),
    )


def _table(b: int, t: int, n: int, h: int, size: int) -> np.ndarray:
    """From the shapes of products and tensors."""
    d = n * h
    f = 4 * d
    x, hidden, square = (b * t, d), (b * t, f), (b * n, t, t)
    heads = (b * n, t, h)
    turned = (b * n, h, t)

    def product(times: int, left: tuple[int, ...], right: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, int]:
        moved = sum(meta(*shape, size=size).nbytes for shape in (left, right, out))
        return times * product_flops((left, right)), times * moved

    scores = meta(*square, size=size)
    rows = [
        product(3, x, (d, d), x),
        product(1, heads, turned, square),
        (6 * scores.numel(), 2 * scores.nbytes),
        product(1, square, heads, heads),
        product(1, x, (d, d), x),
        product(1, x, (d, f), hidden),
        (meta(*hidden).numel(), 2 * meta(*hidden, size=size).nbytes),
        product(1, hidden, (f, d), x),
    ]
    return np.array([(flops, moved, flops / moved) for flops, moved in rows], dtype=np.float64)


QKV = "three = [3 * one for one in dense]"
RATIO = "flops / n_bytes]"
SCORES = "scores = batch * n_heads * n_tokens**2"

TABLE = Task(
    id="12.table",
    name="layer_table",
    title="The intensity of every step",
    points=4,
    minutes=15,
    difficulty=2,
    page=PAGE,
    anchor="counting-table",
    returns=("table",),
    cases=_table_cases,
    oracle=_table,
    frame="plain",
    mistakes=(
        shared(
            "one-operation",
            ("dense = 2 *", "dense ="),
            ("pairs = 2 *", "pairs ="),
            ("wide = 2 *", "wide ="),
        ),
        known(
            "qkv-once",
            (QKV, "three = dense"),
            says="Queries, keys and values are counted once: each is a product of its own, with a matrix of its own.",
            number=79,
        ),
        known(
            "qkv-fused",
            (QKV, "three = 3 * dense[0], 4 * x + 3 * square"),
            says="The tokens are read once for queries, keys and values together. A kernel that makes all three can do "
            "so; asked are three products that each read them.",
        ),
        known(
            "hidden-once",
            ("relu, wide]", "relu, (0, 0)]"),
            ("flops / n_bytes]", "flops / max(n_bytes, 1)]"),
            says="The feed-forward network is counted once: it is two products, up and down.",
            number=79,
        ),
        known(
            "hidden-narrow",
            ("hidden = 4 * x", "hidden = x"),
            ("4 * square", "square"),
            says="The hidden width is taken to be D: it is 4 times as wide, so there are four times as many hidden "
            "numbers, and four times as many weights in each of the two matrices.",
            number=79,
        ),
        shared("elements-for-bytes", ("n_bytes = numbers * bytes_per_number", "n_bytes = numbers")),
        known(
            "per-number",
            (RATIO, "flops / numbers]"),
            says="The intensity is operations for each number: each of them takes several bytes, and it is bytes that "
            "memory moves.",
            number=80,
        ),
        known(
            "batch-forgotten",
            ("tokens = batch * n_tokens", "tokens = n_tokens"),
            ("scores = batch * n_heads", "scores = n_heads"),
            says="One sequence is counted: B of them go through the layer.",
        ),
        known(
            "matrix-for-each",
            ("square = d_model**2", "square = batch * d_model**2"),
            says="The matrices are read once for each sequence: they are read once for the whole batch, and that is "
            "what batching gains.",
            number=84,
        ),
        known(
            "hidden-unmoved",
            ("x + 4 * square + hidden", "x + 4 * square"),
            says="The hidden numbers are missing in up and down, as in the lecture's table: up writes them, and down "
            "reads them again.",
        ),
        known(
            "scores-unwritten",
            ("2 * scores * head_width, 2 * x + scores", "2 * scores * head_width, 2 * x"),
            says="The square is missing in scores and mixing: the scores are written there, and the weights read.",
        ),
        known(
            "full-width",
            ("2 * scores * head_width", "2 * scores * d_model"),
            says="Each head's scores are sums over D products: a head is H wide, and D = N * H is all of them.",
        ),
        known(
            "relu-free",
            ("(hidden, 2 * hidden)", "(0, 2 * hidden)"),
            says="The ReLU has no operations here: one for each hidden number is asked for.",
        ),
        known(
            "relu-unwritten",
            ("(hidden, 2 * hidden)", "(hidden, hidden)"),
            says="The ReLU reads the hidden numbers and writes nothing, or the other way round: it does both.",
        ),
        known(
            "heads-share-scores",
            (SCORES, "scores = batch * n_tokens**2"),
            says="The scores of one head are counted: each of the N heads has a square of its own.",
        ),
        known(
            "causal-halved",
            ("2 * scores * head_width", "2 * (scores // 2) * head_width"),
            ("6 * scores", "6 * (scores // 2)"),
            says="The operations of the square are halved, as if a causal mask skipped pairs: here the full square is "
            "computed, as the conventions say.",
            number=82,
        ),
        known(
            "triangle",
            (SCORES, "scores = batch * n_heads * (n_tokens * (n_tokens + 1) // 2)"),
            says="Only the pairs that a causal mask allows are counted: here the full square is computed, as the "
            "conventions say.",
            number=82,
        ),
        known(
            "softmax-free",
            ("(6 * scores, 2 * scores)", "(6 * scores, 0)"),
            ("flops / n_bytes]", "flops / n_bytes if n_bytes else 0]"),
            says="The softmax moves nothing here. As a kernel of its own it reads every score and writes every weight.",
        ),
        known(
            "softmax-unwritten",
            ("(6 * scores, 2 * scores)", "(6 * scores, scores)"),
            says="The softmax reads the scores and writes nothing, or the other way round: it does both.",
        ),
        known(
            "scale-forgotten",
            ("6 * scores", "5 * scores"),
            says="Five operations are counted for each score: dividing by the root of H is the sixth.",
        ),
        shared("intensity-inverted", (RATIO, "n_bytes / flops]")),
    ),
)
