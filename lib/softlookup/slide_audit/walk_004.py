"""Lecture 004, a sentence of eight tokens and width four walks through an encoder."""

import re

import numpy as np
import torch

from softlookup import model, reference
from softlookup.slide_audit.compare import claim, table
from softlookup.slide_audit.item import Found, audited

SENTENCE = "I love deep learning very much!"
SOURCE = ("I", "love", "deep", "learning", "very", "much", "!", "<PAD>")
EMBEDDED = np.array(
    [
        [0.2, 0.5, -0.3, 0.8],
        [0.1, -0.4, 0.6, 0.3],
        [-0.5, 0.2, 0.4, -0.1],
        [0.3, 0.7, -0.2, 0.5],
        [0.4, -0.3, 0.1, 0.6],
        [-0.2, 0.5, 0.3, -0.4],
        [0.6, 0.1, -0.5, 0.2],
        [0.0, 0.0, 0.0, 0.0],
    ]
)
PLACES = np.array(
    [
        [0.00, 1.00, 0.00, 1.00],
        [0.84, 0.54, 0.01, 1.00],
        [0.91, -0.42, 0.02, 1.00],
        [0.14, -0.99, 0.03, 1.00],
        [-0.76, -0.65, 0.04, 1.00],
        [-0.96, 0.28, 0.05, 1.00],
        [-0.28, 0.96, 0.06, 1.00],
        [0.66, 0.75, 0.07, 0.99],
    ]
)
SUM = np.array(
    [
        [0.20, 1.50, -0.30, 1.80],
        [0.94, 0.14, 0.61, 1.30],
        [0.41, -0.22, 0.42, 0.90],
        [0.44, -0.29, -0.17, 1.50],
        [-0.36, -0.95, 0.14, 1.60],
        [-1.16, 0.78, 0.35, 0.60],
        [0.32, 1.06, -0.44, 1.20],
        [0.66, 0.75, 0.07, 0.99],
    ]
)
SCORES = np.array([[2.3, 0.8, 1.2, 1.5], [0.8, 2.1, 0.9, 1.3], [1.2, 0.9, 2.5, 1.1], [1.5, 1.3, 1.1, 2.2]])
WEIGHTS = np.array([[0.35, 0.08, 0.12, 0.15], [0.10, 0.31, 0.11, 0.16], [0.13, 0.09, 0.41, 0.12]])
WIDTH, HEADS, HIDDEN, LAYERS = 4, 2, 16, 6


def input_rows() -> np.ndarray:
    """What truly enters the encoder: the embeddings and the places, unrounded."""
    return EMBEDDED + reference.sinusoidal(len(SOURCE), WIDTH)


@audited(
    "E060",
    lecture="004",
    slide="An encoder-decoder by hand: the tokens",
    section="03_tokens_and_embeddings#tokens-pad",
    states="The English sentence is cut into eight tokens, the last of which fills up.",
    verdict="correct",
    tell="Words and punctuation marks are counted on the fingers, and one filler makes eight.",
)
def tokens() -> Found:
    cut = re.findall(r"\w+|[^\w\s]", SENTENCE)
    fill = len(SOURCE) - len(cut)
    same = [*cut, *["<PAD>"] * fill] == list(SOURCE)
    return claim(same, f"The sentence has {len(cut)} tokens; with {fill} that fills up they are {len(SOURCE)}.")


@audited(
    "E061",
    lecture="004",
    slide="An encoder-decoder by hand: embeddings and positions added",
    section="06_positions#positions-adding",
    states="The table of the sums of eight embeddings and their positions.",
    verdict="rounding",
    tell="The fourth column of the positions is a cosine that has hardly begun to fall: one step further down "
    "than its neighbours is a lot for a curve that is still flat.",
    cause="The sums are right for the table of positions as it is printed; one number of that table was cut off "
    "where it should have been rounded.",
)
def sums() -> Found:
    own = np.isclose(EMBEDDED + PLACES, SUM).sum()
    found = table(SUM, input_rows())
    assert found.off is not None
    (row, column), *_ = np.argwhere(found.off)
    more = f"In row {row}, column {column}, counted from 0, it should be {input_rows()[row, column]:.4f}."
    return table(SUM, input_rows(), more=f"{more} With the slide's own positions {own} of {SUM.size} sums are right.")


@audited(
    "E062",
    lecture="004",
    slide="An encoder-decoder by hand: what is added to the positions",
    section="03_tokens_and_embeddings#tokens-scale",
    states="What enters the encoder is the embeddings plus the positions, with nothing done to the embeddings first.",
    verdict="misleading",
    tell="The walk-through follows the paper's model in all else, and the paper multiplies the embeddings by the "
    "square root of their width first. Models with learned positions mostly leave that out.",
    source=("vaswani2017",),
)
def unscaled() -> Found:
    scaled = np.sqrt(WIDTH) * EMBEDDED + reference.sinusoidal(len(SOURCE), WIDTH)
    differ = ~np.isclose(scaled, input_rows())
    words = np.linalg.norm(EMBEDDED[:-1], axis=1)
    place = np.linalg.norm(reference.sinusoidal(1, WIDTH))
    return claim(
        not differ.any(),
        f"Multiplied by {np.sqrt(WIDTH):.0f} first, as in the paper, {differ.sum()} of {differ.size} sums are others. "
        f"The words' rows are {words.min():.2f} to {words.max():.2f} long, a place's {place:.2f}.",
    )


@audited(
    "E063",
    lecture="004",
    slide="An encoder-decoder by hand: the token that fills up",
    section="06_positions#positions-adding",
    states="The filler has the embedding zero, as if that took it out; no mask is applied in the encoder.",
    verdict="misleading",
    tell="Two tables on, the filler's row is not zero any more. And even a zero key has a score, zero, of which the "
    "exponential is one.",
)
def zero_padding() -> Found:
    x = input_rows()
    shares = reference.attention_weights(x, x)[:, -1]
    bare = reference.attention_weights(EMBEDDED, EMBEDDED)[:, -1]
    return claim(
        bool((shares == 0).all() or (bare == 0).all()),
        f"With its position the filler's row is {', '.join(f'{one:.2f}' for one in x[-1])}. If queries and keys "
        f"are the rows themselves, it gets {shares.min():.0%} to {shares.max():.0%} of each token's attention; "
        f"without positions, as a zero key, {bare.min():.0%} to {bare.max():.0%}. A mask gives it none.",
    )


@audited(
    "E064",
    lecture="004",
    slide="An encoder-decoder by hand: two heads, one table of scores",
    section="05_many_heads#many-heads-split",
    states="Two heads of width two; the scores are one table of eight by eight, from queries and keys of width four, "
    "divided by the root of the width of a head.",
    verdict="inconsistent",
    tell="Two heads have two tables of scores. And what stands under the root has to be the number of products that "
    "are summed, which is the last size of the queries' shape.",
    cause="Shapes of one head, and the divisor of two. (The output matrix after the heads is left out as well.)",
)
def two_heads() -> Found:
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 4000, len(SOURCE), WIDTH))
    printed = (len(SOURCE), len(SOURCE))
    q_head, k_head = (reference.split_heads(one[0], HEADS) for one in (q, k))
    scores = q_head @ k_head.swapaxes(-1, -2)
    head_width = WIDTH // HEADS
    spread = (q @ k.swapaxes(-1, -2) / np.sqrt(head_width)).std()
    return claim(
        scores.shape == printed and q.shape[-1] == head_width,
        f"{HEADS} heads make scores of the shape {scores.shape}, not {printed}. One table from queries of width "
        f"{q.shape[-1]} needs the root of {q.shape[-1]}: divided by that of {head_width}, scores of random rows "
        f"spread by {spread:.2f} instead of 1.",
    )


@audited(
    "E065",
    lecture="004",
    slide="An encoder-decoder by hand: the first scores and their softmax",
    section="04_one_head#one-head-weights",
    states="The first four columns of eight are shown: scores, and the weights that softmax makes of them.",
    verdict="inconsistent",
    tell="Two weights of a row have the ratio e to the difference of their scores, whatever the hidden columns are: "
    "so part of a row can be checked. The scores shown are symmetric too, which queries and keys from different "
    "matrices would not be.",
)
def truncated_softmax() -> Found:
    # Log of a share less its score is the same all along a row of a softmax.
    low = np.log(WEIGHTS - 0.005) - (SCORES[:3] + 0.05)
    high = np.log(WEIGHTS + 0.005) - (SCORES[:3] - 0.05)
    fits = low.max(axis=1) <= high.min(axis=1)
    ratio, wanted = WEIGHTS[1, 1] / WEIGHTS[1, 0], np.exp(SCORES[1, 1] - SCORES[1, 0])
    return claim(
        bool(fits.all()),
        f"Allowing for the rounding of both tables, {fits.sum()} of {len(fits)} rows can be a softmax of their scores. "
        f"In the second row the second weight is {ratio:.2f} times the first, and its score asks for {wanted:.2f}. "
        f"The block of scores is {'symmetric' if (SCORES == SCORES.T).all() else 'not symmetric'}.",
    )


@audited(
    "E066",
    lecture="004",
    slide="An encoder-decoder by hand: the feed-forward network's shapes",
    section="07_encoder#encoder-feed-forward",
    states="The matrices stand to the left of the token, and have the shapes four by sixteen and sixteen by four.",
    verdict="inconsistent",
    tell="Write the shapes below the formula: neighbouring sizes have to be equal, and here a sixteen meets a four. "
    "A later slide writes the token on the left, where these shapes fit.",
    cause="Two ways of writing, tokens as columns and tokens as rows, meet in one line.",
)
def feed_forward_shapes() -> Found:
    x, w_1, w_2 = np.ones(WIDTH), np.ones((WIDTH, HIDDEN)), np.ones((HIDDEN, WIDTH))
    try:
        left = (w_2 @ reference.relu(w_1 @ x)).shape == x.shape
    except ValueError:
        left = False
    right = (reference.relu(x @ w_1) @ w_2).shape == x.shape
    turned = (w_2.T @ reference.relu(w_1.T @ x)).shape == x.shape
    return claim(
        left,
        f"A matrix of the shape {w_1.shape} cannot be multiplied by a column of {WIDTH} numbers. With the token on the "
        f"left the shapes {'fit' if right else 'do not fit'}; with both shapes turned they "
        f"{'fit' if turned else 'do not fit'} as well.",
    )


@audited(
    "E067",
    lecture="004",
    slide="An encoder-decoder by hand: the hidden width",
    section="07_encoder#encoder-feed-forward",
    states="The feed-forward network widens tokens of width four to sixteen.",
    verdict="correct",
    tell="The paper's base model widens by the same factor.",
    source=("vaswani2017",),
)
def hidden_width() -> Found:
    base = model.Config(10_000)
    factor = base.d_hidden / base.d_model
    return claim(
        factor * WIDTH == HIDDEN,
        f"{factor:.0f} times {WIDTH} is {factor * WIDTH:.0f}, the paper's factor.",
    )


@audited(
    "E068",
    lecture="004",
    slide="An encoder-decoder by hand: add, then norm",
    section="07_encoder#encoder-orders",
    states="What attention found is added to what came in, and the sum is normed; the same again around the "
    "feed-forward network.",
    verdict="correct",
    tell="This is post-LN, the order of the paper: each sublayer ends with a norm, so each row that leaves has the "
    "mean zero.",
    source=("vaswani2017",),
)
def post_norm() -> Found:
    rng = np.random.default_rng(0)
    x, w, gain, zero = input_rows(), rng.normal(size=(WIDTH, WIDTH)), np.ones(WIDTH), np.zeros(WIDTH)
    stated = reference.layer_norm(x + x @ w, gain, zero)
    sublayer = model.Residual(model.Config(100, d_model=WIDTH, n_heads=HEADS, dropout=0.0)).double()
    with torch.no_grad():
        ours = sublayer(torch.from_numpy(x)[None, :], lambda rows: rows @ torch.from_numpy(w))[0].numpy()
    return claim(
        np.allclose(stated, ours) and np.allclose(stated.mean(axis=1), 0),
        f"Computed as stated, a sublayer gives what the library's default, the order of the paper, gives (apart by "
        f"{np.abs(stated - ours).max():.0e} at most), with rows of mean 0.",
    )


@audited(
    "E069",
    lecture="004",
    slide="An encoder-decoder by hand: the number of layers",
    section="07_encoder#encoder-stack",
    states="Six layers in the encoder, six in the decoder.",
    verdict="correct",
    tell="The paper's base model, and its big one, have the same numbers.",
    source=("vaswani2017",),
)
def six_layers() -> Found:
    whole = model.Transformer(model.Config(100, d_model=WIDTH, n_heads=HEADS, d_hidden=HIDDEN))
    counts = len(whole.encoder.layers), len(whole.decoder.layers)
    return claim(counts == (LAYERS, LAYERS), f"{counts[0]} layers in the encoder, {counts[1]} in the decoder.")
