"""Lecture 004, five tokens whose queries, keys and values are the tokens themselves: scores, weights, outputs."""

import numpy as np
from numpy.typing import ArrayLike

import softlookup as sl
from softlookup.slide_audit.compare import claim, table
from softlookup.slide_audit.item import Found, audited

X = np.array([[1.0, 0.5, 0.2], [0.8, 1.2, 0.3], [0.6, 0.9, 1.1], [1.1, 0.4, 0.7], [0.9, 0.7, 0.8]])

SCORES = np.array(
    [
        [1.29, 1.46, 1.48, 1.35, 1.41],
        [1.46, 2.17, 1.89, 1.61, 1.69],
        [1.48, 1.89, 2.38, 1.69, 1.91],
        [1.35, 1.61, 1.69, 1.66, 1.63],
        [1.41, 1.69, 1.91, 1.63, 1.94],
    ]
)
SCALED = np.array(
    [
        [0.74, 0.84, 0.85, 0.78, 0.81],
        [0.84, 1.25, 1.09, 0.93, 0.98],
        [0.85, 1.09, 1.37, 0.98, 1.10],
        [0.78, 0.93, 0.98, 0.96, 0.94],
        [0.81, 0.98, 1.10, 0.94, 1.12],
    ]
)
WEIGHTS = np.array(
    [
        [0.182, 0.204, 0.207, 0.192, 0.198],
        [0.170, 0.279, 0.222, 0.173, 0.186],
        [0.162, 0.206, 0.272, 0.184, 0.208],
        [0.188, 0.213, 0.224, 0.219, 0.215],
        [0.178, 0.212, 0.239, 0.204, 0.244],
    ]
)
OUTPUT = np.array([[0.87, 0.74, 0.59], [0.83, 0.88, 0.58], [0.83, 0.78, 0.68], [0.88, 0.73, 0.63], [0.84, 0.78, 0.70]])


def true_weights() -> np.ndarray:
    """What the weights should be, all the way from X."""
    return sl.reference.attention_weights(X, X)


def common_divisor(raised: ArrayLike, printed: ArrayLike, places: int = 3) -> tuple[np.ndarray, float, float]:
    """Look for one divisor by which most of a row became what is printed.

    Args:
        raised: What is divided, such as exponentials of scores.
        printed: The quotients as they stand on the slide.
        places: Decimal places that the slide prints.

    Returns:
        Which cells one divisor explains, the most there are, and the least and the largest such divisor.
    """
    top, shown, half = np.asarray(raised, dtype=float), np.asarray(printed, dtype=float), 0.5 * 10.0**-places
    least, largest = top / (shown + half), top / (shown - half)
    fits = [(least <= start) & (start <= largest) for start in least]
    best = max(fits, key=lambda fit: int(fit.sum()))
    return best, float(least[best].max()), float(largest[best].min())


def sums_to_one(weights: np.ndarray) -> np.ndarray:
    """Say of each row whether rounding to three places can explain how far its sum is from 1."""
    return np.asarray(np.abs(weights.sum(axis=-1) - 1) <= weights.shape[-1] * 0.0005 + 1e-9)


@audited(
    "E005",
    lecture="004",
    slide="Attention by hand: identity matrices",
    section="04_one_head_practice#one-head-slide-2",
    states="With identity matrices for W_Q, W_K and W_V, the queries, keys and values are X itself.",
    verdict="correct",
    tell="Row i of the identity picks number i and nothing else. It follows that the scores are symmetric, which those "
    "of a trained head are not.",
)
def identity_matrices() -> Found:
    same = sl.reference.project(X, np.eye(3))
    scores = same @ same.T
    return claim(
        bool(np.array_equal(same, X)),
        f"X times the identity differs from X by {np.abs(same - X).max():.0f}, and the scores from their own mirror "
        f"image by {np.abs(scores - scores.T).max():.0f}.",
    )


@audited(
    "E006",
    lecture="004",
    slide="Attention by hand: the scores",
    section="04_one_head_practice#one-head-slide-2",
    states="The table of the scores, here X times its own transpose.",
    verdict="wrong",
    tell="Symmetry passes, since a slip was copied to both sides. The rank does not: vectors of three numbers give "
    "scores of rank three, so two of the five eigenvalues must vanish. They do not, so no typing error in X can be "
    "the reason. By hand: token 4 with itself is 1.21 + 0.16 + 0.49.",
    cause="Some cells have one wrong digit, the others are further off.",
)
def scores() -> Found:
    true = X @ X.T
    found = table(SCORES, true)
    eigen, bound = np.linalg.eigvalsh(SCORES), len(X) * 0.005
    off = np.argwhere(np.triu(~np.isclose(SCORES, true, atol=0.005)))
    digits = sum(
        sum(a != b for a, b in zip(f"{SCORES[i, j]:.2f}", f"{true[i, j]:.2f}", strict=True)) == 1 for i, j in off
    )
    assert not found.agrees
    return table(
        SCORES,
        true,
        more=f"The two smallest eigenvalues are {eigen[0]:.3f} and {eigen[1]:.3f}, where rounding could make "
        f"{bound:.3f} of nothing. Of the {len(off)} pairs that are off, {digits} have one wrong digit.",
    )


@audited(
    "E007",
    lecture="004",
    slide="Attention by hand: the divisor",
    section="04_one_head#one-head-scale",
    states="The root of 3, to three places.",
    verdict="correct",
    tell="Square it: a little less than 3.",
)
def divisor() -> Found:
    root = np.sqrt(3)
    return claim(
        bool(abs(root - 1.732) <= 0.0005), f"The root of 3 is {root:.6f}, and 1.732 squared is {1.732**2:.6f}."
    )


@audited(
    "E008",
    lecture="004",
    slide="Attention by hand: the scaled scores",
    section="04_one_head_practice#one-head-slide-2",
    states="The table of the scores divided by the root of 3.",
    verdict="wrong",
    tell="Divide one cell of the table before it: the division is right everywhere. So whatever is wrong here came "
    "from there, and looking for a slip in this step would be lost time.",
    cause="None of its own: the wrong scores, handed on.",
)
def scaled_scores() -> Found:
    own = table(SCALED, SCORES / np.sqrt(3))
    assert own.off is not None
    return table(
        SCALED,
        X @ X.T / np.sqrt(3),
        more=f"From the scores that the slide prints, {own.off.size - own.off.sum()} of {own.off.size} cells follow.",
    )


@audited(
    "E009",
    lecture="004",
    slide="Attention by hand: why scores are divided",
    section="04_one_head#one-head-verdict",
    states="Dividing by the root of the head's width keeps gradients from becoming too small.",
    verdict="correct",
    kind="draw",
    tell="Let the width grow. Scores that spread with its root push the softmax to an end, where its slope vanishes; "
    "divided scores keep one spread at every width. For the three numbers of this example it hardly matters.",
    audit="It says correct too, but measured the softmax alone. On the way to a query the gradient is divided as well, "
    "and on average it is larger without the divisor. What the divisor prevents is that many queries get next to "
    "nothing; read like that, the sentence holds.",
)
def small_gradients() -> Found:
    keys, draws, seeds = 8, 100, 3
    said, holds = [], True
    for width in (64, 512):
        least, mean = np.empty((2, seeds)), np.empty((2, seeds))
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            q, k = rng.normal(size=(draws, width, 1)), rng.normal(size=(draws, keys, width))
            scores = (k @ q)[..., 0]
            for way, by in enumerate((np.sqrt(width), 1.0)):
                a = sl.reference.softmax(scores / by)
                to_query = np.linalg.norm((a[:, :, None] * (np.eye(keys) - a[:, None, :])) @ k / by, axis=(1, 2))
                least[way, seed], mean[way, seed] = np.percentile(to_query, 10), to_query.mean()
        holds = holds and bool((least[0] > 10 * least[1]).all())
        low, high = least.mean(axis=1), mean.mean(axis=1)
        said.append(
            f"Width {width}: one query in ten has a gradient below {low[0]:.2f} with the divisor, and below "
            f"{low[1]:.1g} without; the mean over all queries is {high[0]:.2f} and {high[1]:.2f}."
        )
    return claim(holds, f"{' '.join(said)} Without the divisor a few queries get a great deal.")


@audited(
    "E010",
    lecture="004",
    slide="Attention by hand: softmax of the first row",
    section="04_one_head_practice#one-head-slide-2",
    states="The five weights of token 1.",
    verdict="wrong",
    tell="Add them up: they do not reach 1, and by more than rounding can do.",
    cause="Exponentials of the printed scores, divided by a sum that is too large.",
)
def first_row() -> Found:
    raised = np.exp(SCORES[0] / np.sqrt(3))
    cells, least, largest = common_divisor(raised, WEIGHTS[0])
    own = table(WEIGHTS[0], sl.reference.softmax(SCALED[0]), places=3)
    assert own.off is not None
    return table(
        WEIGHTS[0],
        true_weights()[0],
        places=3,
        more=f"From the slide's own scores {own.off.sum()} are off. {cells.sum()} of them are its exponentials divided "
        f"by something between {least:.2f} and {largest:.2f}; their sum is {raised.sum():.2f}.",
    )


@audited(
    "E011",
    lecture="004",
    slide="Attention by hand: the sum of the first row",
    section="04_one_head_practice#one-head-slide-2",
    states="The weights of token 1 sum to 1.",
    verdict="wrong",
    tell="Add five numbers that stand there. Each was rounded by half a thousandth at most.",
    cause="The sum is what softmax promises, and was not added up.",
)
def first_sum() -> Found:
    total = WEIGHTS[0].sum()
    return claim(
        bool(sums_to_one(WEIGHTS[:1]).all()),
        f"They sum to {total:.3f}. Rounding moves a sum of five by {5 * 0.0005:.4f} at most.",
    )


@audited(
    "E012",
    lecture="004",
    slide="Attention by hand: where token 1 looks",
    section="04_one_head_practice#one-head-slide-2",
    states="Of the five, token 1 looks hardest at token 3, and least at itself.",
    verdict="wrong",
    tell="Look at X before any product: token 1 is large where token 3 is small, and small where it is large. They "
    "are the pair that fits worst, not best.",
    cause="It follows from the wrong score of tokens 1 and 3: put the true one in the slide's first row, and token 3 "
    "is last there too.",
)
def looks_most() -> Found:
    row = true_weights()[0]
    order = np.argsort(-row) + 1
    mended = SCORES[0].copy()
    mended[2] = X[0] @ X[2]
    assert SCORES[0].argmax() == 2 and mended.argmin() == 2
    return claim(
        bool(order[0] == 3 and order[-1] == 1),
        f"Token 1 attends to tokens {', '.join(map(str, order))}, in this order: most to {order[0]} "
        f"({row.max():.3f}), least to {order[-1]} ({row.min():.3f}), to itself {row[0]:.3f}.",
    )


@audited(
    "E013",
    lecture="004",
    slide="Attention by hand: the weights",
    section="04_one_head_practice#one-head-slide-2",
    states="The table of all attention weights.",
    verdict="wrong",
    tell="Add up the rows. Then look at ratios: in a row, equal steps between scores must give equal factors between "
    "weights, and no divisor changes that. Where ratios are right and the sum is not, the divisor was wrong.",
    cause="Right exponentials, wrong divisors: the last row, but for its first cell, fits the sum of the row above it.",
)
def weights() -> Found:
    raised = np.exp(SCALED)
    sums = raised.sum(axis=1)
    own = table(WEIGHTS, sl.reference.softmax(SCALED), places=3)
    assert own.off is not None
    fits = [common_divisor(up, row) for up, row in zip(raised, WEIGHTS, strict=True)]
    counts = ", ".join(str(cells.sum()) for cells, _, _ in fits)
    cells, least, largest = fits[4]
    assert least <= sums[3] <= largest and not cells[0] and fits[2][0].all()
    return table(
        WEIGHTS,
        true_weights(),
        places=3,
        more=f"{own.off.sum()} do not follow from the slide's own scaled scores. Of the cells of the rows {counts} are "
        f"exponentials over one common divisor. That of row 5 lies between {least:.2f} and {largest:.2f}, where its "
        f"sum is {sums[4]:.2f} and that of row 4 is {sums[3]:.2f}.",
    )


@audited(
    "E014",
    lecture="004",
    slide="Attention by hand: the sums of the rows",
    section="04_one_head_practice#one-head-slide-2",
    states="The rows of the whole table of weights add up to 1, all of them.",
    verdict="wrong",
    tell="Five additions. Or compare rows 1 and 5: nearly every weight has grown, so both sums cannot be 1.",
    cause="As with the first row: the rule was stated, and not tried.",
)
def row_sums() -> Found:
    holds = sums_to_one(WEIGHTS)
    return claim(
        bool(holds.all()),
        f"The rows sum to {', '.join(f'{one:.3f}' for one in WEIGHTS.sum(axis=1))}; {holds.sum()} of them to 1.",
    )


@audited(
    "E015",
    lecture="004",
    slide="Attention by hand: the outputs",
    section="04_one_head_practice#one-head-slide-2",
    states="The table of the five outputs, the weights times V.",
    verdict="wrong",
    tell="Compare rows 1 and 5 of the printed weights: four of five have grown and one has hardly shrunk, and all "
    "values are positive. Then every number of the fifth output must be above that of the first, and one is below. "
    "(That each output lies among the values, as a weighted mean must, does not help: these do.)",
)
def outputs() -> Found:
    own = WEIGHTS @ X
    follows = table(OUTPUT, own)
    assert follows.off is not None and (own[4] > own[0]).all() and (OUTPUT[4] < OUTPUT[0]).any()
    return table(
        OUTPUT,
        true_weights() @ X,
        more=f"{follows.off.sum()} of {own.size} do not follow from the printed weights either.",
    )


@audited(
    "E016",
    lecture="004",
    slide="Attention by hand: the first output, written out",
    section="04_one_head_practice#one-head-slide-2",
    states="Five printed weights times five values add up to the first output.",
    verdict="wrong",
    tell="The weights are nearly equal, so each number must be near the mean of its column of V; the third is further "
    "from it than such weights allow.",
)
def first_output() -> Found:
    true = true_weights()[0] @ X
    return table(
        OUTPUT[0],
        WEIGHTS[0] @ X,
        more=f"That is the printed sum as it stands. From the true weights it would be "
        f"{', '.join(f'{one:.2f}' for one in true)}; the columns of V have the means "
        f"{', '.join(f'{one:.2f}' for one in X.mean(axis=0))}.",
    )


@audited(
    "E017",
    lecture="004",
    slide="From weights to outputs: two steps",
    section="04_one_head#one-head-mix",
    states="First the weights times V, and then a sum over that product.",
    verdict="misleading",
    tell="Count axes. The product has a row for each token, which is the shape of the output already; another sum "
    "takes one axis away.",
    cause="The first step means a weight times a value, pair by pair, and is written as the product of matrices, which "
    "has the sum in it.",
)
def two_steps() -> Found:
    a = true_weights()
    product = a @ X
    again = product.sum(axis=0)
    pairs = a[:, :, None] * X
    apart = np.abs(pairs.sum(axis=1) - product).max()
    return claim(
        again.shape == product.shape,
        f"The product has the shape {product.shape}, its sum over the rows {again.shape}. Taken pair by pair, of shape "
        f"{pairs.shape}, and summed over the keys, it is the product again, to within {apart:.0e}.",
    )
