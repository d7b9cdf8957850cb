"""Lecture 004, slides around the layer: how heads are cut, what they cost, dropout, and where the norm stands."""

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from softlookup import model, reference
from softlookup.slide_audit.compare import cited, claim
from softlookup.slide_audit.item import Found, audited
from softlookup.slide_audit.slides_of_heads import PAPER_HEADS, PAPER_WIDTH

X = np.array(
    [
        [0.2, 0.5, 0.1, 0.8],
        [0.3, 0.7, 0.4, 0.2],
        [0.6, 0.1, 0.9, 0.5],
        [0.4, 0.8, 0.3, 0.7],
        [0.7, 0.2, 0.6, 0.4],
        [0.5, 0.6, 0.2, 0.9],
        [0.8, 0.3, 0.5, 0.1],
        [0.1, 0.9, 0.7, 0.6],
    ]
)
LISTED_QUERY_MATRIX = (4, 2)
USED_QUERY_MATRIX = (2, 2)


def moved_queries(split_first: bool, seed: int) -> np.ndarray:
    """Change one number of a token at a time, and see which heads' queries move.

    Args:
        split_first: Whether the input is cut between the two heads before it is projected, as on the slide.
        seed: Of the matrices.

    Returns:
        How far the queries of each head move, (2 heads, 4 numbers of a token).
    """
    rng = np.random.default_rng(seed)
    whole, small = rng.normal(size=(4, 4)), rng.normal(size=(2, 2, 2))

    def queries(x: np.ndarray) -> np.ndarray:
        if not split_first:
            return reference.split_heads(x @ whole, 2)
        return np.asarray(reference.split_heads(x, 2) @ small)

    moved = np.empty((2, 4))
    for number in range(4):
        changed = X.copy()
        changed[0, number] += 1
        moved[:, number] = np.abs(queries(changed) - queries(X)).max(axis=(1, 2))
    return moved


def counted(heads: int, width: int | None = None, tokens: int = 100) -> tuple[int, int]:
    """Count a layer of the paper's width: the operations of its products, its scores.

    Args:
        heads: N.
        width: H, of a head; None means that the heads share the model's width.
        tokens: T.
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        layer = model.MultiHeadAttention(PAPER_WIDTH, heads, head_width=width)
        with FlopCounterMode(display=False) as counter:
            _, weights = layer(torch.zeros(1, tokens, PAPER_WIDTH), return_weights=True)
    return counter.get_total_flops(), weights.numel()


@audited(
    "E038",
    lecture="004",
    slide="Many heads, an example: split, then project",
    section="05_many_heads#many-heads-project-then-split",
    states="The input is cut between the heads first, and each head projects its own two numbers.",
    verdict="wrong",
    tell="Change a number that a head should see, and look whether anything happens. Or count weights: with the input "
    "cut there are only half as many, with eight heads an eighth.",
    cause="Splitting and projecting changed places; in the paper's layer it is the product that is cut.",
    source=("vaswani2017",),
)
def split_first() -> Found:
    slide, paper = moved_queries(True, 0), moved_queries(False, 0)
    D, N = PAPER_WIDTH, PAPER_HEADS
    full, cut = 3 * 4 * 2 * 2, 3 * 2 * 2 * 2
    large, large_cut = 3 * N * D * (D // N), 3 * N * (D // N) ** 2
    return claim(
        bool((slide > 0).all()),
        f"Each head's queries answer to {(slide[0] > 0).sum()} of 4 numbers of a token; in the paper's layer to "
        f"{(paper[0] > 0).sum()}. Queries, keys and values have {cut} weights in place of {full}; at the paper's sizes "
        f"{large_cut:,} in place of {large:,}.",
    )


@audited(
    "E039",
    lecture="004",
    slide="Many heads, an example: two shapes of one matrix",
    section="05_many_heads#many-heads-project-then-split",
    states="A head's query matrix is listed as (4, 2), and used as (2, 2).",
    verdict="inconsistent",
    kind="draw",
    tell="Compare the list of matrices with the first product: one name, two shapes.",
    cause="The list is that of the paper's layer. Whoever cuts the input first needs the smaller matrices.",
)
def two_shapes() -> Found:
    pieces = reference.split_heads(X, 2)
    fits = pieces.shape[-1] == LISTED_QUERY_MATRIX[0]
    other = [(moved_queries(True, seed)[0, 2:].max(), moved_queries(False, seed)[0, 2:].min()) for seed in range(20)]
    assert max(one for one, _ in other) == 0 < min(two for _, two in other)
    return claim(
        LISTED_QUERY_MATRIX == USED_QUERY_MATRIX and fits,
        f"A token cut in two has {pieces.shape[-1]} numbers, and cannot be multiplied with the listed "
        f"{LISTED_QUERY_MATRIX}. It is more than writing: in {len(other)} draws of the matrices, changes of the last "
        f"two numbers never move the first head's queries if the input is cut, and always if the product is.",
    )


@audited(
    "E040",
    lecture="004",
    slide="Many heads, an example: the shapes",
    section="05_many_heads#many-heads-shapes",
    states="From scores of (8, 8) by way of outputs of (8, 2) and their concatenation to (8, 4); the divisor is the "
    "root of 2.",
    verdict="correct",
    tell="Inner sizes meet at every step, and the divisor is the root of the size that is summed over.",
)
def head_shapes() -> Found:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 8, 2))
    scores = q @ np.swapaxes(k, -1, -2)
    heads = reference.scaled_dot_product_attention(q, k, v)
    by_root = reference.softmax(scores / np.sqrt(2)) @ v
    side_by_side = reference.merge_heads(heads)
    out = side_by_side @ rng.normal(size=(4, 4))
    gap = np.abs(by_root - heads).max()
    return claim(
        scores.shape == (2, 8, 8)
        and heads.shape == (2, 8, 2)
        and side_by_side.shape == out.shape == (8, 4)
        and bool(gap < 1e-12),
        f"For both heads at once: scores {scores.shape}, outputs {heads.shape}, side by side {side_by_side.shape}, "
        f"after W_O {out.shape}. With the root of 2 it agrees with the library to within {gap:.0e}.",
    )


@audited(
    "E041",
    lecture="004",
    slide="Many heads, an example: what a head works on",
    section="05_many_heads#many-heads-project-then-split",
    states="What a head deals with are two numbers of a token, for itself alone.",
    verdict="misleading",
    tell="Two is the width of a query, not the number of inputs it is made from: a (4, 2) matrix has four rows.",
    cause="Right for the cut input of this slide. In the paper's layer each head makes two numbers from all four.",
)
def two_dimensions() -> Found:
    paper = moved_queries(False, 1)
    return claim(
        bool(((paper > 0).sum(axis=1) == 2).all()),
        f"A head's queries have {reference.split_heads(X, 2).shape[-1]} numbers each, and in the paper's layer they "
        f"answer to {(paper[0] > 0).sum()} of {paper.shape[1]} numbers of a token.",
    )


@audited(
    "E042",
    lecture="004",
    slide="Many heads: the trade-off",
    section="05_many_heads#many-heads-cost",
    states="A layer with more heads can do more, and has to be paid for in computation.",
    verdict="wrong",
    tell="Multiply: twice as many heads, each half as wide, is the same product. The deck itself sets the width of a "
    "head like that, and says that the parameters stay.",
    cause="What holds for heads that are added was said of heads that share one width.",
    source=("vaswani2017",),
    audit="It says wrong too, and adds that the deck contradicts itself there. It does not quite: its other slides "
    "speak of parameters, not of operations. And the sentence has a grain of truth in the scores, which do grow.",
)
def trade_off() -> Found:
    numbers = (1, 8, 16)
    shared = [counted(n) for n in numbers]
    flops, scores = (" and ".join(f"{number:,}" for number in column) for column in zip(*shared, strict=True))
    added = [counted(n, 64)[0] for n in (8, 16)]
    return claim(
        shared[-1][0] > shared[0][0],
        f"Where {' and '.join(map(str, numbers))} heads share the width, the products of a layer have {flops} "
        f"operations; the scores are {scores}. Heads of a fixed width are another matter: 16 in place of 8 cost "
        f"{added[1] / added[0]:.1f} times as much. Nor does more always help: the paper reports 24.9 BLEU with one "
        "head, 25.8 with 8 and with 16, and 25.4 with 32.",
    )


@audited(
    "E043",
    lecture="004",
    slide="Dropout, on two slides",
    section="05_many_heads#many-heads-dropout",
    states="Dropout stands on attention weights and the final output; on another slide, on attention weights and the "
    "outputs of the feed-forward network.",
    verdict="misleading",
    kind="cited",
    tell="Lay the two lists side by side: they differ, so at least one leaves something out.",
    cause="Each slide lists what its own picture shows.",
    source=("vaswani2017", "srivastava2014"),
)
def dropout() -> Found:
    return cited(
        "The paper, section 5.4, drops from the output of every sublayer, before it is added and normalised, and from "
        "the sums of embeddings and positions, a tenth each time in its base model. Attention weights are not among "
        "them; many programs drop there too, torch's layer for one."
    )


@audited(
    "E044",
    lecture="004",
    slide="Add and norm",
    section="07_encoder#encoder-orders",
    states="A layer norm follows each sublayer.",
    verdict="correct",
    tell="Look at what leaves the layer: where the norm comes last, each token's numbers have mean 0 and variance 1. "
    "It is the paper's order; many later models have the norm before the sublayer.",
    source=("vaswani2017", "xiong2020"),
)
def norm_after() -> Found:
    spread = {}
    for first in (False, True):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, norm_first=first)
            out = layer(3 * torch.randn(2, 5, 16)).detach()
        spread[first] = (out.var(dim=-1, unbiased=False) - 1).abs().max().item()
    return claim(
        spread[False] < 1e-3 < spread[True],
        f"torch's layer in its default order, which is the paper's, hands on tokens whose variance differs from 1 by "
        f"at most {spread[False]:.0e}; with the norm first, by up to {spread[True]:.1f}.",
    )


@audited(
    "E045",
    lecture="004",
    slide="Norm after, or norm first",
    section="07_encoder#encoder-orders",
    states="Where the norm stands affects how training goes.",
    verdict="correct",
    tell="Follow the sum from the last layer to the first: with the norm first, nothing stands on that road; with the "
    "norm after, a norm at every layer.",
    source=("xiong2020",),
)
def training_dynamics() -> Found:
    ratios = {pre: [_last_to_first(pre, seed) for seed in range(3)] for pre in (False, True)}
    post, pre = np.array(ratios[False]), np.array(ratios[True])
    return claim(
        bool(post.min() > pre.max()),
        f"Eight narrow layers before any training, three draws: the last layer's gradient is {post.min():.1f} to "
        f"{post.max():.1f} times the first one's with the norm after, and {pre.min():.1f} to {pre.max():.1f} times "
        "with the norm first. Gradients that are large near the output at the start are given as the reason why the "
        "former needs a warm-up.",
    )


def _last_to_first(pre_norm: bool, seed: int) -> float:
    """How large the gradient of the last layer's W1 is, beside the first layer's, before any training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = model.Config(
            vocab_size=20,
            d_model=32,
            n_heads=4,
            n_layers=8,
            d_hidden=64,
            pre_norm=pre_norm,
            dropout=0.0,
            tied=False,
        )
        lm = model.EncoderLM(config)
        ids, labels = torch.randint(4, 20, (2, 4, 8))
        nn.functional.cross_entropy(lm(ids).flatten(0, 1), labels.flatten()).backward()
        sizes = []
        for layer in lm.encoder.each():
            grad = layer.feed_forward.w_1.grad
            assert grad is not None
            sizes.append(grad.norm().item())
    return float(sizes[-1] / sizes[0])
