"""Lecture 004, what layers are made of, and eight tokens in training beside three written one by one."""

import numpy as np
import torch

from softlookup import model, reference
from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.item import Found, audited

WORDS = ("I", "love", "deep", "learning", "and", "AI", "research", "!")
EMBEDDINGS = np.array(
    [
        [0.2, 0.5, -0.1, 0.3],
        [0.8, -0.2, 0.4, 0.1],
        [-0.3, 0.6, 0.2, 0.5],
        [0.4, 0.1, -0.5, 0.7],
        [0.1, -0.4, 0.3, -0.2],
        [0.9, 0.3, -0.1, 0.6],
        [-0.2, 0.7, 0.4, -0.3],
        [0.5, -0.1, 0.6, 0.2],
    ]
)
STATES = np.array(
    [
        [0.25, 0.48, -0.12, 0.35],
        [0.52, 0.15, 0.18, 0.28],
        [0.18, 0.42, 0.08, 0.45],
        [0.38, 0.22, -0.15, 0.58],
        [0.22, -0.08, 0.25, 0.12],
        [0.68, 0.28, 0.05, 0.52],
        [0.15, 0.55, 0.32, -0.08],
        [0.42, 0.18, 0.48, 0.25],
    ]
)
WRITTEN = {2: [0.52, 0.15, 0.18, 0.28], 3: [0.18, 0.42, 0.08, 0.45], 4: [0.38, 0.22, -0.15, 0.58]}
"""The last state of each step of writing, by the number of tokens that are read for it."""

SEEDS = range(5)


def layer_of(seed: int, *, causal: bool = True, rows: np.ndarray = EMBEDDINGS) -> np.ndarray:
    """One layer with weights drawn at random: attention and the sum with what came in."""
    width = rows.shape[1]
    w_q, w_k, w_v = np.random.default_rng(seed).normal(size=(3, width, width))
    mask = reference.causal_mask(len(rows)) if causal else None
    return rows + reference.one_head(rows, w_q, w_k, w_v, mask)


@audited(
    "E078",
    lecture="004",
    slide="The feed-forward network, and the width of the model",
    section="07_encoder#encoder-feed-forward",
    states="Width 512; the feed-forward network as two products with a ReLU between, its hidden width four times as "
    "large, 2048; each position by itself.",
    verdict="correct",
    tell="Here the token stands on the left of its matrices, and the shapes fit: the formula is the paper's.",
    source=("vaswani2017",),
)
def feed_forward() -> Found:
    rng = np.random.default_rng(0)
    x, w_1, w_2 = rng.normal(size=(5, 4)), rng.normal(size=(4, 16)), rng.normal(size=(16, 4))
    b_1, b_2 = rng.normal(size=16), rng.normal(size=4)
    stated = np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2
    alone = np.vstack([reference.feed_forward(row[None, :], w_1, w_2, b_1, b_2) for row in x])
    base = model.Config(100)
    return claim(
        np.allclose(stated, alone) and (base.d_model, base.d_hidden) == (512, 2048) and 4 * 512 == base.d_hidden,
        f"4 times {base.d_model} is {4 * base.d_model}. Tokens one by one come out as tokens together, apart by "
        f"at most {np.abs(stated - alone).max():.0e}.",
    )


@audited(
    "E079",
    lecture="004",
    slide="The decoder's layer beside the encoder's",
    section="08_decoder_and_masks#decoder-layer",
    states="A decoder's layer has three sublayers, an encoder's two.",
    verdict="correct",
    tell="The decoder has the encoder to look at, and that is the third.",
    source=("vaswani2017",),
)
def sublayers() -> Found:
    sizes = model.Config(100, d_model=4, n_heads=2, n_layers=1, d_hidden=16)
    counts = [
        sum(isinstance(part, model.Residual) for part in model.Layer(sizes, cross=cross).modules())
        for cross in (True, False)
    ]
    return claim(
        counts == [3, 2], f"The library's layers, counted: {counts[0]} in the decoder, {counts[1]} in the encoder."
    )


@audited(
    "E080",
    lecture="004",
    slide="Layer normalization: along which axis",
    section="07_encoder#encoder-norm",
    states="LayerNorm takes its mean and spread along the features.",
    verdict="correct",
    tell="So it needs no other token and no other sentence, and works for a batch of one.",
    source=("ba2016",),
)
def norm_axis() -> Found:
    ones, zeros = np.ones(4), np.zeros(4)
    whole = reference.layer_norm(EMBEDDINGS, ones, zeros)
    alone = np.vstack([reference.layer_norm(row[None, :], ones, zeros) for row in EMBEDDINGS])
    along, across = np.abs(whole.mean(axis=1)).max(), np.abs(whole.mean(axis=0)).max()
    return claim(
        np.allclose(whole, alone) and bool(along < 1e-9),
        f"Each token's numbers have mean 0 afterwards (at most {along:.0e} away); each feature's over all tokens do "
        f"not (up to {across:.2f} away).",
    )


@audited(
    "E081",
    lecture="004",
    slide="Training in parallel: eight tokens, eight states",
    section="09_training#training-forcing",
    states="One pass with a causal mask takes eight embeddings to eight states, and state t looks at tokens 1 to t.",
    verdict="correct",
    kind="draw",
    tell="The numbers have no weights beside them, so nobody can check those; who depends on whom can be checked with "
    "any weights. (No positions are added.)",
)
def one_pass() -> Found:
    good = 0
    for seed in SEEDS:
        before = layer_of(seed)
        for place in range(len(WORDS)):
            other = EMBEDDINGS.copy()
            other[place] += 1
            moved = ~np.isclose(layer_of(seed, rows=other), before).all(axis=1)
            good += bool((moved == (np.arange(len(WORDS)) >= place)).all()) and before.shape == STATES.shape
    total = len(SEEDS) * len(WORDS)
    return claim(
        good == total,
        f"{len(SEEDS)} layers with random weights, each of {len(WORDS)} tokens changed in turn: in {good} of {total} "
        "cases exactly the states at that place and behind it change.",
    )


@audited(
    "E082",
    lecture="004",
    slide="Training beside writing: the same states",
    section="10_inference#inference-prefix",
    states="States two, three and four are the same in writing, with less text, as in training, with all of it.",
    verdict="correct",
    tell="That is what a causal mask promises: what stands later makes no difference to a state. It is a test that "
    "each decoder has to pass.",
)
def same_states() -> Found:
    printed = all((STATES[length - 1] == last).all() for length, last in WRITTEN.items())
    gaps = {
        causal: max(
            np.abs(layer_of(seed, causal=causal)[n - 1] - layer_of(seed, causal=causal, rows=EMBEDDINGS[:n])[-1]).max()
            for seed in SEEDS
            for n in WRITTEN
        )
        for causal in (True, False)
    }
    return claim(
        printed and bool(gaps[True] < 1e-12),
        f"All {len(WRITTEN)} printed rows are the same. In {len(SEEDS)} random layers too, up to {gaps[True]:.0e}; "
        f"without a mask they would differ by up to {gaps[False]:.2f}.",
    )


@audited(
    "E083",
    lecture="004",
    slide="Training beside writing: how many passes",
    section="10_inference#inference-growing",
    states="Three new tokens take three passes, over two, three and four tokens.",
    verdict="correct",
    tell="Each new token makes the next text one longer, and the last one written is never read. With a cache the "
    "beginning need not be read again, which the example leaves out.",
)
def passes() -> Found:
    text, wanted, read = list(WORDS[:2]), 3, []
    for _ in range(wanted):
        read.append(len(text))
        text.append(WORDS[len(text)])
    cached = [read[0], *np.diff(read)]
    return claim(
        len(read) == len(WRITTEN) and read == list(WRITTEN),
        f"{len(read)} passes read {' + '.join(map(str, read))} = {sum(read)} tokens; with a cache "
        f"{' + '.join(map(str, cached))} = {sum(cached)}.",
    )


@audited(
    "E084",
    lecture="004",
    slide="Training beside writing: all to all, one to one",
    section="10_inference#inference-training",
    states="Training takes all tokens to all, writing takes one token to one.",
    verdict="misleading",
    tell="The example on the next slide reads two, three and four tokens for one new one. Writing takes all that "
    "stands there to one token.",
    cause="One token in, one out is what a pass computes where a cache keeps the others; it still looks at them all.",
)
def one_to_one() -> Found:
    torch.manual_seed(0)
    whole = model.DecoderLM(model.Config(100, d_model=4, n_heads=2, n_layers=1, d_hidden=16)).eval()
    ids = torch.arange(4, 4 + max(WRITTEN))[None, :]
    with torch.no_grad():
        text, last = whole(ids)[0, -1], whole(ids[:, -1:])[0, -1]
        first, state = whole.step(ids[:, :-1])
        cached, _ = whole.step(ids[:, -1:], state)
    apart, kept = float((text - last).abs().max()), float((text - cached[0]).abs().max())
    return claim(
        bool(torch.allclose(text, last)) and set(WRITTEN) == {1},
        f"The slides' own steps read {', '.join(map(str, WRITTEN))} tokens. In a random model the last token alone "
        f"gives logits that are off by up to {apart:.2f}; with the cache of the others, by {kept:.0e}.",
    )
