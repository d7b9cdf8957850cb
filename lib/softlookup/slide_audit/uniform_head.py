"""Lecture 004, five tokens from X to an output of 0.50 everywhere; and the shapes of one head."""

import numpy as np

import softlookup as sl
from softlookup.slide_audit import identity_head
from softlookup.slide_audit.compare import claim, table
from softlookup.slide_audit.identity_head import sums_to_one
from softlookup.slide_audit.item import Found, audited

X = np.array([[0.5, 0.8, 0.3], [0.2, 0.6, 0.9], [0.7, 0.4, 0.1], [0.3, 0.9, 0.5], [0.6, 0.2, 0.8]])
Q = np.array([[0.6, 0.4, 0.5], [0.3, 0.7, 0.2], [0.5, 0.3, 0.6], [0.4, 0.8, 0.3], [0.7, 0.2, 0.4]])
K = np.array([[0.4, 0.6, 0.3], [0.5, 0.4, 0.7], [0.3, 0.5, 0.4], [0.6, 0.3, 0.5], [0.2, 0.7, 0.6]])
V = np.array([[0.7, 0.3, 0.5], [0.4, 0.6, 0.2], [0.6, 0.4, 0.7], [0.5, 0.7, 0.3], [0.3, 0.5, 0.8]])

SCORES = np.array(
    [
        [0.67, 0.71, 0.58, 0.69, 0.64],
        [0.52, 0.49, 0.44, 0.51, 0.53],
        [0.61, 0.67, 0.54, 0.63, 0.56],
        [0.68, 0.73, 0.59, 0.69, 0.70],
        [0.50, 0.58, 0.48, 0.55, 0.48],
    ]
)
WEIGHTS = np.array(
    [
        [0.189, 0.204, 0.176, 0.201, 0.190],
        [0.203, 0.199, 0.192, 0.201, 0.205],
        [0.194, 0.205, 0.188, 0.199, 0.194],
        [0.197, 0.208, 0.185, 0.197, 0.203],
        [0.196, 0.208, 0.189, 0.201, 0.196],
    ]
)
OUTPUT = np.full((5, 3), 0.50)


def least_largest_error(x: np.ndarray, column: np.ndarray) -> float:
    """Say how far x @ w must miss a column somewhere, whatever w is.

    Any row of numbers that x turns to zero turns the column into a sum of errors alone; the tightest bound has one
    number fewer than the rows, since x has two rows more than columns.

    Args:
        x: Tokens, (T, D), of rank D and with T = D + 2.
        column: What should come out, T numbers.

    Returns:
        The least that the largest error can be.
    """
    nulls = np.linalg.svd(x.T)[2][x.shape[1] :]
    bounds = []
    for token in range(len(x)):
        blend = nulls[0] * nulls[1, token] - nulls[1] * nulls[0, token]
        bounds.append(abs(blend @ column) / np.abs(blend).sum())
    return float(max(bounds))


def turned_round(scores: np.ndarray, weights: np.ndarray) -> int:
    """Count pairs in the rows whose weights stand in the other order than their scores."""
    pairs = np.sign(scores[:, :, None] - scores[:, None, :]) * np.sign(weights[:, :, None] - weights[:, None, :])
    return int((pairs < 0).sum()) // 2


@audited(
    "E018",
    lecture="004",
    slide="Attention by hand: the sizes",
    section="04_one_head#one-head-scores",
    states="Five tokens of width 3, with queries and keys of width 3.",
    verdict="correct",
    tell="Rows are tokens, columns are numbers of a token: five by three for X, and one score for each pair of rows.",
)
def sizes() -> Found:
    q = k = v = sl.reference.project(identity_head.X, np.eye(3))
    scores, out = q @ k.T, sl.reference.scaled_dot_product_attention(q, k, v)
    return claim(
        identity_head.X.shape == (5, 3) and q.shape[1] == k.shape[1] == 3 and scores.shape == (5, 5),
        f"X has the shape {identity_head.X.shape}, the scores {scores.shape}, the output {out.shape}.",
    )


@audited(
    "E019",
    lecture="004",
    slide="One head: shapes of a batch",
    section="04_one_head#one-head-batch",
    states="From inputs of shape (batch, tokens, width): queries, keys and values as wide as a head, a square of "
    "scores for each sequence, and outputs as wide as a head.",
    verdict="correct",
    tell="Follow one letter. The width of the head is summed over in the scores and comes back with the values. (It "
    "holds for one head, with values as wide as keys.)",
)
def batch_shapes() -> Found:
    B, L, D, H = 2, 5, 7, 3  # all different, so that no two can be mistaken for each other
    rng = np.random.default_rng(0)
    x, (w_q, w_k, w_v) = rng.normal(size=(B, L, D)), rng.normal(size=(3, D, H))
    q, k, v = (sl.reference.project(x, w) for w in (w_q, w_k, w_v))
    a, z = sl.reference.attention_weights(q, k), sl.reference.scaled_dot_product_attention(q, k, v)
    return claim(
        q.shape == k.shape == v.shape == z.shape == (B, L, H) and a.shape == (B, L, L),
        f"With batch {B}, {L} tokens, width {D} and a head of {H}: queries {q.shape}, weights {a.shape}, "
        f"output {z.shape}.",
    )


@audited(
    "E020",
    lecture="004",
    slide="One head: what the square costs",
    section="04_one_head#one-head-cost",
    states="Scores grow with the square of the length: 25 for five tokens, a million for a thousand.",
    verdict="correct",
    tell="Every token meets every token. It is what a plain program stores, for each head and sequence; a kernel that "
    "forgets scores as soon as they are used need not keep them.",
    source=("dao2022",),
)
def square() -> Found:
    rng = np.random.default_rng(0)
    counts = {n: sl.reference.attention_weights(*rng.normal(size=(2, n, 3))).size for n in (5, 1000)}
    return claim(
        counts == {5: 25, 1000: 1_000_000},
        f"{counts[5]} scores for five tokens and {counts[1000]:,} for a thousand, the latter {2 * counts[1000]:,} "
        "bytes at two bytes each.",
    )


@audited(
    "E021",
    lecture="004",
    slide="Matrix operations: queries, keys and values",
    section="04_one_head_practice#one-head-slide-3",
    states="The printed queries, keys and values are the printed X times three matrices.",
    verdict="wrong",
    tell="Count: each column gives five equations for three unknowns, so five numbers that were written down freely "
    "hardly ever fit. The slide prints no matrices, which is what made one look.",
    cause="Q, K and V were probably made up, to have something to go on with.",
    audit="It says wrong too, and that they were made up without regard to X. The numbers show a little less: no "
    "matrices lead from the X that is printed. Were X rounded from numbers we do not see, this test could not tell.",
)
def projections() -> Found:
    errors = {
        name: [least_largest_error(X, column) for column in printed.T]
        for name, printed in zip("QKV", (Q, K, V), strict=True)
    }
    for name, printed in zip("QKV", (Q, K, V), strict=True):
        fitted = X @ np.linalg.lstsq(X, printed, rcond=None)[0]  # another way to choose w misses by no less
        assert (np.abs(fitted - printed).max(axis=0) >= np.array(errors[name]) - 1e-9).all()
    said = "; ".join(f"{name}: {', '.join(f'{one:.2f}' for one in row)}" for name, row in errors.items())
    return claim(
        all(one <= 0.05 for row in errors.values() for one in row),
        f"Whatever the matrices, some cell of each column is off by at least this much: {said}. Rounding to one place "
        f"allows {0.05:.2f}; each of the three tables has a column beyond it.",
    )


@audited(
    "E022",
    lecture="004",
    slide="Matrix operations: the scores",
    section="04_one_head_practice#one-head-slide-3",
    states="The table of the scores before the division, Q times the transpose of K.",
    verdict="wrong",
    tell="Add up the keys first, which is easy: every row of scores must sum to its query times that sum. Five short "
    "products in place of twenty-five, and no row passes.",
)
def scores() -> Found:
    must = Q @ K.sum(axis=0)
    others = {"K Q^T": K @ Q.T, "X X^T": X @ X.T, "Q X^T": Q @ X.T, "Q V^T": Q @ V.T}
    best = max(int((np.abs(other - SCORES) < 0.005).sum()) for other in others.values())
    assert (np.abs(SCORES.sum(axis=1) - must) > 0.025).all()
    return table(
        SCORES,
        Q @ K.T,
        more=f"The rows must sum to {', '.join(f'{one:.2f}' for one in must)}, and sum to "
        f"{', '.join(f'{one:.2f}' for one in SCORES.sum(axis=1))}. Other products ({', '.join(others)}) explain {best} "
        "cells at most.",
    )


@audited(
    "E023",
    lecture="004",
    slide="Matrix operations: scaled or not",
    section="04_one_head_practice#one-head-slide-3",
    states="A heading announces the scores divided by the root of 3; the table beneath it is called unscaled.",
    verdict="inconsistent",
    tell="Read the heading and the label together. Then one cell by hand decides: token 3 with its own key is 0.15 + "
    "0.15 + 0.24, as printed, and undivided.",
    cause="One step was left out: the division is written down, its table is not.",
)
def scaled_or_not() -> Found:
    raw = Q @ K.T
    to_raw, to_scaled = np.abs(SCORES - raw).mean(), np.abs(SCORES - raw / np.sqrt(3)).mean()
    into = [np.abs(WEIGHTS - sl.reference.softmax(one)).max() for one in (SCORES, SCORES / np.sqrt(3))]
    return claim(
        bool(to_scaled < to_raw),
        f"On average the table is {to_raw:.2f} from the plain products and {to_scaled:.2f} from the divided ones, so "
        f"the label is right and the heading is not. Nor do the weights say which went into the softmax: they are off "
        f"by up to {into[0]:.3f} from the one and {into[1]:.3f} from the other.",
    )


@audited(
    "E024",
    lecture="004",
    slide="Matrix operations: the weights",
    section="04_one_head_practice#one-head-slide-3",
    states="The table of the weights, softmax of the scaled scores.",
    verdict="wrong",
    tell="Softmax keeps the order of a row. In row 1 the first score is above the last one, and the first weight below "
    "the last; no temperature and no divisor can do that.",
)
def weights() -> Found:
    own = table(WEIGHTS, sl.reference.softmax(SCORES / np.sqrt(3)), places=3)
    assert own.off is not None
    assert SCORES[0, 0] > SCORES[0, 4] and WEIGHTS[0, 0] < WEIGHTS[0, 4]
    return table(
        WEIGHTS,
        sl.reference.attention_weights(Q, K),
        places=3,
        more=f"{own.off.sum()} do not follow from the printed scores either; pairs of weights in a row "
        f"that stand in the other order than their scores: {turned_round(SCORES, WEIGHTS)}.",
    )


@audited(
    "E025",
    lecture="004",
    slide="Matrix operations: the sums beside the rows",
    section="04_one_head_practice#one-head-slide-3",
    states="Beside each row of the weights: its sum is 1.",
    verdict="wrong",
    tell="Five weights that sum to 1 have the mean 0.2. In the first row two are a little above it, and three are "
    "further below.",
    cause="The remark was copied down the rows.",
)
def row_sums() -> Found:
    holds = sums_to_one(WEIGHTS)
    sums = ", ".join(f"{one:.3f}" for one in WEIGHTS.sum(axis=1))
    return claim(bool(holds.all()), f"The rows sum to {sums}; {holds.sum()} of {len(holds)} to 1.")


@audited(
    "E026",
    lecture="004",
    slide="Matrix operations: the output",
    section="04_one_head#one-head-uniform",
    states="Every number of the output is 0.50.",
    verdict="wrong",
    tell="Equal rows mean that the output does not depend on who asks. Rows of weights that differ, as the printed "
    "ones do, and values that differ cannot be expected to end like that.",
    cause="It is the mean of the values to the digit, which is what equal weights give.",
)
def output() -> Found:
    own = table(OUTPUT, WEIGHTS @ V)
    assert own.off is not None
    a = sl.reference.attention_weights(Q, K)
    mean = V.mean(axis=0)
    assert np.allclose(OUTPUT, mean)
    return table(
        OUTPUT,
        a @ V,
        more=f"{own.off.sum()} do not follow from the printed weights either. The columns of V have the means "
        f"{', '.join(f'{one:.2f}' for one in mean)}; the true weights lie between {a.min():.3f} and {a.max():.3f}, so "
        "the true output is close to them as well.",
    )


@audited(
    "E027",
    lecture="004",
    slide="Matrix operations: the shape of the output",
    section="04_one_head#one-head-mix",
    states="The output has the shape of the input.",
    verdict="misleading",
    tell="Change one size and look again: with a narrower head the output is narrower. It is the output matrix of the "
    "whole layer that brings the width back.",
    cause="The example has three numbers in a token and three in a head, so that two sizes look like one.",
)
def same_shape() -> Found:
    rng = np.random.default_rng(0)
    shapes = {H: sl.reference.one_head(X, *rng.normal(size=(3, 3, H))).shape for H in (3, 2, 1)}
    return claim(
        all(shape == X.shape for shape in shapes.values()),
        f"The input has the shape {X.shape}. Heads of width {', '.join(map(str, shapes))} give outputs of shape "
        f"{', '.join(map(str, shapes.values()))}.",
    )


@audited(
    "E028",
    lecture="004",
    slide="Matrix operations: the result",
    section="04_one_head#one-head-uniform",
    states="After this, every token's row knows about its context.",
    verdict="inconsistent",
    tell="Look up three lines: five equal rows. A row that says the same for every token cannot say anything of one.",
    cause="The sentence fits attention in general, and was not held against this example.",
)
def context_aware() -> Found:
    true = sl.reference.scaled_dot_product_attention(Q, K, V)
    printed, spread = np.ptp(OUTPUT, axis=0).max(), np.ptp(true, axis=0).max()
    return claim(
        bool(printed > 0),
        f"The printed rows differ by {printed:.2f}. The true ones differ by up to {spread:.3f}: a little context, so "
        "the sentence is nearly empty for this example even when the numbers are right.",
    )


@audited(
    "E029",
    lecture="004",
    slide="Matrix operations: the shapes, summed up",
    section="04_one_head#one-head-attention",
    states="Tokens, queries, keys, values and output are (5, 3), the scores (5, 5).",
    verdict="correct",
    tell="The inner sizes meet and vanish: (5, 3) times (3, 5), then (5, 5) times (5, 3).",
)
def shapes() -> Found:
    scores, out = Q @ K.T, sl.reference.scaled_dot_product_attention(Q, K, V)
    return claim(
        X.shape == Q.shape == K.shape == V.shape == out.shape == (5, 3) and scores.shape == (5, 5),
        f"X, Q, K and V have the shape {X.shape}, the scores {scores.shape}, the output {out.shape}.",
    )
