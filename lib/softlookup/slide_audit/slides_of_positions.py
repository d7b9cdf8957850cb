"""Lecture 004, slides of positions: what attention sees of order, and sinusoids by hand."""

from collections.abc import Callable

import numpy as np
import torch

from softlookup import model, reference
from softlookup.slide_audit.compare import cited, claim, table
from softlookup.slide_audit.item import Found, audited
from softlookup.slide_audit.walk_004 import PLACES

X = np.array(
    [
        [0.5, -0.3, 0.8, -0.2],
        [-0.1, 0.7, 0.2, 0.4],
        [0.9, -0.5, -0.3, 0.6],
        [0.3, 0.4, -0.7, 0.1],
        [-0.6, 0.2, 0.5, -0.4],
        [0.7, -0.8, 0.1, 0.3],
        [-0.2, 0.6, -0.4, 0.8],
        [0.4, -0.1, 0.9, -0.5],
    ]
)
PE = np.array(
    [
        [0.00, 1.00, 0.00, 1.00],
        [0.84, 0.54, 0.01, 1.00],
        [0.91, -0.42, 0.02, 1.00],
        [0.14, -0.99, 0.03, 1.00],
        [-0.76, -0.66, 0.04, 1.00],
        [-0.96, 0.28, 0.05, 1.00],
        [-0.28, 0.96, 0.06, 1.00],
        [0.66, 0.75, 0.07, 0.99],
    ]
)
PE_AGAIN = PLACES  # the walk-through prints the table once more
SUM = np.array(
    [
        [0.50, 0.70, 0.80, 0.80],
        [0.74, 1.24, 0.21, 1.40],
        [1.81, -0.92, -0.28, 1.60],
        [0.44, -0.59, -0.67, 1.10],
        [-1.36, -0.46, 0.54, 0.60],
        [-0.26, -0.52, 0.15, 1.30],
        [-0.48, 1.56, -0.34, 1.80],
        [1.06, 0.65, 0.97, 0.49],
    ]
)
TRUE_PE = reference.sinusoidal(8, 4)


def random_head(seed: int, width: int = 4) -> Callable[..., np.ndarray]:
    """One head with random matrices, as a function of the tokens and perhaps a mask."""
    w_q, w_k, w_v = np.random.default_rng(seed).normal(size=(3, width, width))
    return lambda x, mask=None: reference.one_head(x, w_q, w_k, w_v, mask)


@audited(
    "E046",
    lecture="004",
    slide="Why positions: what attention does with order",
    section="06_positions#positions-order",
    states="Attention is said to be invariant when tokens change places.",
    verdict="wrong",
    kind="draw",
    tell="Invariant means that nothing changes, but the output has a row for each token, and rows that belong to "
    "tokens move with them. That is called equivariant.",
    cause="Two words for two things: a mean over all tokens is invariant, attention is equivariant.",
)
def invariant() -> Found:
    alike, still, mean, masked = [], [], [], []
    for seed in range(10):
        rng, head = np.random.default_rng(100 + seed), random_head(seed)
        x, order = rng.normal(size=(6, 4)), rng.permutation(6)
        before, after, causal = head(x), head(x[order]), reference.causal_mask(6)
        alike.append(np.abs(after - before[order]).max())
        still.append(np.abs(after - before).max())
        mean.append(np.abs(after.mean(axis=0) - before.mean(axis=0)).max())
        masked.append(np.abs(head(x[order], causal) - head(x, causal)[order]).max())
    assert max(alike) < 1e-10 and max(mean) < 1e-10 and min(masked) > 1e-3
    return claim(
        max(still) < 1e-10,
        f"Ten heads, ten orders: the outputs move with their tokens, to within {max(alike):.0e}, and differ from the "
        f"old ones by at least {min(still):.1f} if rows are compared where they stand. Only their mean stays, to "
        f"within {max(mean):.0e}. Under a causal mask not even moving along holds: the gap is at least "
        f"{min(masked):.1f}.",
    )


@audited(
    "E047",
    lecture="004",
    slide="Why positions: cat and mouse",
    section="06_positions#positions-order",
    states="Without positions, cat ate mouse equals mouse ate cat.",
    verdict="misleading",
    tell="Ask what is equal. Each word's own output is, and so is the pile of all outputs; the two sequences are not.",
    cause="What holds word by word was written as if it held for the sentence.",
)
def cat_and_mouse() -> Found:
    x = np.random.default_rng(0).normal(size=(3, 4))
    head = random_head(0)
    one, other = head(x), head(x[::-1])
    return claim(
        bool(np.allclose(one, other)),
        f"The output for cat is the same in both, to within {np.abs(one[0] - other[2]).max():.0e}, and so are the "
        f"other two. As sequences, row beside row, they differ by up to {np.abs(one - other).max():.1f}.",
    )


@audited(
    "E048",
    lecture="004",
    slide="Why positions: the solution",
    section="06_positions#positions-compare",
    states="There is one way in for positions: a sum with the embeddings, ahead of all layers.",
    verdict="misleading",
    tell="The next slide has a column of relative positions, which are added to no embedding.",
    cause="The paper's way was taken for the only one.",
    source=("su2024", "press2022", "raffel2020"),
)
def must_be_added() -> Found:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 6, 4))
    order = np.array([2, 5, 0, 1, 3, 4])

    def turned(some: np.ndarray) -> np.ndarray:
        w = reference.attention_weights(reference.rotary(q[some]), reference.rotary(k[some]))
        return np.asarray(w @ v[some])

    def sloped(some: np.ndarray) -> np.ndarray:
        return np.asarray(reference.softmax(q[some] @ k[some].T / 2 + reference.alibi_bias(8, 6, 6)[0]) @ v[some])

    gaps = {
        name: np.abs(way(order) - way(np.arange(6))[order]).max()
        for name, way in (("rotary", turned), ("ALiBi", sloped))
    }
    return claim(
        max(gaps.values()) < 1e-10,
        f"Nothing added to the tokens, and order tells all the same: in another order, outputs change by up to "
        f"{gaps['rotary']:.1f} where queries and keys are turned, and {gaps['ALiBi']:.1f} where distances are taken "
        "from the scores. Both act inside attention, in every layer.",
    )


@audited(
    "E049",
    lecture="004",
    slide="Sinusoids: the formula",
    section="06_positions#positions-sinusoids",
    states="Even columns are sines, odd ones cosines, of the position over 10000 to the power 2i over the width; sine "
    "and cosine of a pair share their angle.",
    verdict="correct",
    tell="A pair must lie on the unit circle: the squares of its two numbers sum to 1, which only one shared angle can "
    "do. It is the formula of the paper, section 3.5.",
    source=("vaswani2017",),
)
def formula() -> Found:
    d, length = 6, 50
    by_hand = np.empty((length, d))
    for pos in range(length):
        for i in range(d // 2):
            by_hand[pos, 2 * i] = np.sin(pos / 10000 ** (2 * i / d))
            by_hand[pos, 2 * i + 1] = np.cos(pos / 10000 ** (2 * i / d))
    gap = np.abs(by_hand - reference.sinusoidal(length, d)).max()
    circle = np.abs(by_hand[:, 0::2] ** 2 + by_hand[:, 1::2] ** 2 - 1).max()
    return claim(
        bool(gap < 1e-12 and circle < 1e-12),
        f"Written out number by number it agrees with the library to within {gap:.0e}, and every pair is on the circle "
        f"to within {circle:.0e}.",
    )


@audited(
    "E050",
    lecture="004",
    slide="Sinusoids: any length",
    section="06_positions#positions-beyond",
    states="Sinusoids can be relied on at lengths that never occurred in training, however long.",
    verdict="misleading",
    kind="cited",
    tell="Defined is not the same as learned: the formula has a row for every position, and the model has never met "
    "the later ones.",
    cause="A hope of the paper, written as a fact.",
    source=("press2022", "vaswani2017"),
)
def any_length() -> Found:
    return cited(
        "The paper says only that sinusoids may allow a model to go on to longer sequences. Press, Smith and Lewis "
        "trained such models and made the texts longer: they get worse soon after the trained length."
    )


@audited(
    "E051",
    lecture="004",
    slide="Learned positions",
    section="06_positions#positions-learned",
    states="Learned rows, one for each position up to a largest one, are better for tasks of a fixed length.",
    verdict="misleading",
    kind="cited",
    tell="Better than what, and by how much? A slide that compares should have a number.",
    source=("vaswani2017", "devlin2019"),
)
def learned_rows() -> Found:
    return cited(
        "That the table has a row for each position is right. The paper compared, all else equal (table 3, rows base "
        "and E): a perplexity of 4.92 with both, and 25.8 BLEU with sinusoids against 25.7 with learned rows, which is "
        "nearly the same."
    )


@audited(
    "E052",
    lecture="004",
    slide="Relative positions",
    section="06_positions#positions-relative",
    states="T5 and Transformer-XL encode the distance between two positions, the one less the other.",
    verdict="correct",
    tell="Move both tokens by the same number of places: a distance does not notice. (Papers differ in which of the "
    "two is taken from the other.)",
    source=("raffel2020", "dai2019"),
)
def distances() -> Found:
    biases = {}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        q = torch.randn(1, 2, 1, 4, dtype=torch.float64).expand(1, 2, 7, 4)  # the same query everywhere
        for name, part in (("T5", model.T5Bias(2)), ("Transformer-XL", model.TransformerXLBias(2, 4, 8))):
            for parameter in part.parameters():
                parameter.normal_()
            biases[name] = part.double()(q, q).numpy()[0]
    moved = {name: np.abs(bias[:, 1:, 1:] - bias[:, :-1, :-1]).max() for name, bias in biases.items()}
    spread = min(np.ptp(bias[:, 3], axis=-1).min() for bias in biases.values())
    return claim(
        max(moved.values()) < 1e-10 < spread,
        f"For equal queries and keys, what is added to a score changes by {max(moved.values()):.0e} at most when both "
        f"places move on by one, and by {spread:.1f} or more over the distances of one row.",
    )


@audited(
    "E053",
    lecture="004",
    slide="Sinusoids by hand: the table",
    section="06_positions#positions-sinusoids",
    states="Sines and cosines of eight positions, for a width of four.",
    verdict="rounding",
    tell="The table stands on two slides, and they differ in a cell. And the cosine of a small angle "
    "falls short of 1 by half its square: with 0.07, too little to show in two places.",
    cause="The cosine in the last row was cut off where it should be rounded; the other cell is a slip of one digit.",
)
def first_table() -> Found:
    cut = np.trunc(TRUE_PE * 100) / 100
    off = ~np.isclose(PE, TRUE_PE.round(2))
    return table(
        PE,
        TRUE_PE,
        more=f"{(off & np.isclose(PE, cut)).sum()} of them is the true number cut off. The last column has fallen to "
        f"{TRUE_PE[6, 3]:.4f} and {TRUE_PE[7, 3]:.4f} in the last two rows.",
    )


@audited(
    "E054",
    lecture="004",
    slide="Sinusoids by hand: the table again",
    section="06_positions#positions-sinusoids",
    states="The same table for eight other tokens.",
    verdict="rounding",
    tell="Both copies agree here, so comparing them does not help. The sine beside it does: where that is 0.07, the "
    "cosine is short of 1 by half its square, too little to show in two places.",
    cause="Cut off where it should be rounded, and copied.",
)
def second_table() -> Found:
    return table(PE_AGAIN, TRUE_PE, more=f"The cosine in the last row is {TRUE_PE[7, 3]:.4f}.")


@audited(
    "E055",
    lecture="004",
    slide="Sinusoids by hand: two copies",
    section="06_positions#positions-sinusoids",
    states="The cosine of 4 is −0.66 on one slide and −0.65 on another.",
    verdict="inconsistent",
    tell="Lay the two tables over each other. It needs no cosine to see that one of them is wrong.",
    cause="The second copy was put right, or the first one mistyped.",
)
def two_copies() -> Found:
    differ = np.argwhere(PE != PE_AGAIN)
    place, column = differ[0]
    return claim(
        not len(differ),
        f"The copies differ in {len(differ)} cell, position {place}, column {column}. The cosine of 4 is "
        f"{np.cos(4):.4f}".replace("-", "−")
        + ", so the second one is right.",
    )


@audited(
    "E056",
    lecture="004",
    slide="Sinusoids by hand: added to the tokens",
    section="06_positions#positions-adding",
    states="The tokens plus the table of positions.",
    verdict="rounding",
    tell="Take the tokens away again: what is left must be the table, and is, with its two odd cells. So the sum has "
    "no slip of its own.",
    cause="The two cells of the table, handed on.",
)
def added() -> Found:
    own = int((np.abs(SUM - (X + PE)) > 1e-9).sum())
    return table(SUM, X + TRUE_PE, more=f"From the slide's own table {SUM.size - own} of {SUM.size} sums follow.")


@audited(
    "E057",
    lecture="004",
    slide="Sinusoids by hand: fast and slow columns",
    section="06_positions#positions-hands",
    states="Columns 0 and 1 have a high frequency, columns 2 and 3 a low one.",
    verdict="correct",
    tell="Read down the table: the first two columns change sign, the last two hardly move.",
)
def fast_and_slow() -> Found:
    speeds = reference.angles(np.array([1]), 4)[0]
    turns = 2 * np.pi / speeds
    return claim(
        bool(speeds[0] > 10 * speeds[1]),
        f"A whole turn takes {turns[0]:.2f} positions in the first pair and {turns[1]:.1f} in the second. Over the "
        f"eight positions the last column moves by {np.ptp(TRUE_PE[:, 3]):.4f}, which two digits hide.",
    )


@audited(
    "E058",
    lecture="004",
    slide="Sinusoids: unique, and good for distances",
    section="06_positions#positions-shift",
    states="Each position has a pattern of its own, from which a model can learn distances.",
    verdict="correct",
    tell="A clock with hands of several speeds shows no time twice for very long, and to go on by some "
    "hours turns each hand by an angle that does not depend on when one starts.",
    source=("vaswani2017",),
)
def unique() -> Found:
    apart = np.linalg.norm(TRUE_PE[:, None] - TRUE_PE[None], axis=-1)[~np.eye(8, dtype=bool)].min()
    rows = reference.sinusoidal(500, 64)
    dots = rows @ rows.T
    uneven = max(np.ptp(np.diagonal(dots, k)) for k in range(1, 400))
    return claim(
        bool(apart > 0.02 and uneven < 1e-9),
        f"The nearest two of the slide's eight rows are {apart:.2f} apart. Among 500 rows of width 64, the product of "
        f"two rows at one distance is the same everywhere, to within {uneven:.0e}.",
    )


@audited(
    "E059",
    lecture="004",
    slide="Sinusoids: how large they are",
    section="06_positions#positions-adding",
    states="The numbers of the positions are of a size with those of the embeddings.",
    verdict="correct",
    tell="Each pair lies on the unit circle, so a row's length is the root of half the width, whatever the position. "
    "The slide's own embeddings are about as long. (The paper multiplies embeddings by the root of the width first.)",
    source=("vaswani2017",),
)
def comparable() -> Found:
    places, words = np.linalg.norm(TRUE_PE, axis=1), np.linalg.norm(X, axis=1)
    return claim(
        bool(np.allclose(places, np.sqrt(2)) and words.min() > places.max() / 2 and words.max() < places.min() * 2),
        f"Rows of positions have the length {places.min():.2f} to {places.max():.2f}, the slide's embeddings "
        f"{words.min():.2f} to {words.max():.2f}.",
    )
