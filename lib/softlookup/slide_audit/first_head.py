"""Lecture 004, five tokens of width three by hand: queries, keys, values, and what was made of them."""

import numpy as np
from numpy.typing import ArrayLike

import softlookup as sl
from softlookup.slide_audit.compare import claim, table
from softlookup.slide_audit.item import Found, audited

X = np.array([[1.0, 0.5, 0.2], [0.3, 1.2, 0.8], [0.7, 0.4, 1.1], [1.5, 0.9, 0.3], [0.6, 1.3, 0.7]])
W_Q = np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, 0.5, 1.0]])
W_K = np.array([[0.8, 0.2, 0.3], [0.3, 0.9, 0.1], [0.2, 0.1, 0.8]])
W_V = np.array([[1.0, 0.3, 0.2], [0.2, 1.0, 0.4], [0.1, 0.3, 1.0]])

QUERIES = [[1.10, 0.60, 0.70], [1.14, 0.95, 0.95], [1.25, 0.90, 1.45], [1.95, 0.90, 1.05], [1.31, 1.30, 1.00]]


@audited(
    "E001",
    lecture="004",
    slide="Queries, keys and values by hand: the queries",
    section="04_one_head#one-head-project",
    states="The table of the queries, X times W_Q.",
    verdict="wrong",
    tell="The third column of W_Q adds half of the first number of a token to its third, and that column is right "
    "everywhere: check one column that is easy before trusting the rest. The second column is the second number and "
    "half of the third, so token 2 has 1.2 + 0.4, which cannot be below 1.2.",
    cause="Some cells are what W_Q transposed gives, others lack the term with the third number.",
)
def queries() -> Found:
    turned = np.asarray(QUERIES) == (X @ W_Q.T).round(2)
    found = table(QUERIES, X @ W_Q)
    assert found.off is not None
    return table(QUERIES, X @ W_Q, more=f"{(turned & found.off).sum()} of them are what W_Q transposed gives.")


KEYS = [[1.01, 0.47, 0.46], [0.64, 1.29, 0.26], [0.98, 0.63, 1.09], [1.53, 1.14, 0.69], [1.01, 1.29, 0.74]]
VALUES = [[1.12, 0.56, 0.54], [0.62, 1.41, 1.12], [0.89, 0.74, 1.40], [1.71, 1.02, 0.90], [0.89, 1.49, 1.22]]


def lost_products(printed: ArrayLike, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Say which printed cells are what comes out when one of the products of a cell's sum is forgotten.

    Args:
        printed: Numbers as they stand on the slide, to two places.
        x: The tokens, (T, D).
        w: The matrix, (D, H).

    Returns:
        True where the cell is off by a product that is not zero, of shape (T, D, H): which cell, which product.
    """
    shown = np.asarray(printed, dtype=float)
    products = x[:, :, None] * w
    short = (x @ w)[:, None, :] - products
    return (np.abs(short - shown[:, None, :]) < 0.005 * (1 + 1e-6)) & (products > 0.005)


@audited(
    "E002",
    lecture="004",
    slide="Queries, keys and values by hand: the keys",
    section="04_one_head_practice#one-head-slide-1",
    states="The table of the keys, X times W_K.",
    verdict="wrong",
    tell="All numbers of X and W_K are positive, so a key's third number cannot be smaller than the last product of "
    "its sum alone: for token 2 that is 0.8 times 0.8, already more than the cell shows.",
    cause="In the third column the product with the second number of the token was forgotten.",
)
def keys() -> Found:
    lost = lost_products(KEYS, X, W_K)
    column = lost[:, 1, 2].sum()
    return table(
        KEYS,
        X @ W_K,
        more=f"{column} of the {len(X)} cells of the third column are what is left without the product of 0.1 and the "
        f"token's second number; {lost.any(axis=1).sum()} of all cells lack just one product.",
    )


@audited(
    "E003",
    lecture="004",
    slide="Queries, keys and values by hand: the values",
    section="04_one_head_practice#one-head-slide-1",
    states="The table of the values, X times W_V.",
    verdict="wrong",
    tell="Add up the five tokens first and multiply once: the columns of V must have those sums. The first column "
    "passes but for a few hundredths, the other two fall far short, and with positive numbers short means forgotten.",
    cause="Products that were left out, mostly in the second column.",
)
def values() -> Found:
    true = X @ W_V
    short = true.sum(axis=0) - np.asarray(VALUES).sum(axis=0)
    lost = lost_products(VALUES, X, W_V)
    return table(
        VALUES,
        true,
        more=f"The columns add up to too little by {short[0]:.2f}, {short[1]:.2f} and {short[2]:.2f}. "
        f"{lost.any(axis=1).sum()} cells are what is left without just one product, "
        f"{lost[:, 0, 1].sum()} of them without that of 0.3 and the token's first number.",
    )


@audited(
    "E004",
    lecture="004",
    slide="Queries, keys and values by hand: what they are for",
    section="04_one_head_practice#one-head-slide-1",
    states="The three printed tables go into attention, and decide there who attends to whom.",
    verdict="wrong",
    tell="Nothing downstream can mend a wrong table: once a single cell of Q, K or V is known to be off, every later "
    "number is in doubt. (And queries and keys alone decide which token attends to which; values are what is fetched.)",
    cause="The slips of the three tables, handed on.",
)
def handed_on() -> Found:
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    weights, shown = (
        sl.reference.attention_weights(q, k),
        sl.reference.attention_weights(np.array(QUERIES), np.array(KEYS)),
    )
    output, from_slide = weights @ v, shown @ np.array(VALUES)
    apart, gap = np.abs(weights - shown).max(), np.abs(output - from_slide).max()
    same = (weights.argmax(axis=1) == shown.argmax(axis=1)).sum()
    return claim(
        bool(apart < 0.01 and gap < 0.01),
        f"With the printed tables weights are off by up to {apart:.3f} and outputs by up to {gap:.2f}. What each "
        f"token looks at most survives for {same} of {len(X)} tokens all the same.",
    )
