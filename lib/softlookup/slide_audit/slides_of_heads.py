"""Lecture 004, slides around heads: recurrence beside attention, the formulas, many heads side by side."""

import numpy as np
import torch
from torch import nn

from softlookup import reference
from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.item import Found, audited

PAPER_WIDTH, PAPER_HEADS = 512, 8


def writing_graph(tokens: int) -> np.ndarray:
    """Draw how a text is written: each new token needs the output before it, and that needs all tokens so far."""
    needs = np.zeros((2 * tokens, 2 * tokens), dtype=bool)
    for t in range(tokens):
        token, out = 2 * t, 2 * t + 1
        needs[out, : token + 1 : 2] = True
        if t:
            needs[token, token - 1] = True
    return needs


@audited(
    "E030",
    lecture="004",
    slide="What the transformer brought",
    section="01_motivation#motivation-depth",
    states="Recurrence is gone altogether, and everything runs side by side.",
    verdict="misleading",
    tell="Ask when. While it is trained, all tokens are there and nothing waits. While it writes, the next token is "
    "not there yet; a later slide of the same deck calls that part sequential.",
    cause="What holds for training was said of everything.",
)
def no_recurrence() -> Found:
    n = 20
    reading = int(reference.finish_times(reference.attention_graph(n)).max())
    recurrent = int(reference.finish_times(reference.recurrent_graph(n)).max())
    writing = int(reference.finish_times(writing_graph(n))[1::2].max() + 1) // 2
    return claim(
        reading == writing == 1,
        f"To read {n} tokens a layer of attention needs {reading} step, a recurrent one {recurrent} in a row. To write "
        f"{n} tokens, attention too needs {writing} passes in a row.",
    )


@audited(
    "E031",
    lecture="004",
    slide="Attention in recurrent models beside self-attention: cost",
    section="01_motivation#motivation-operations",
    states="Attention in a recurrent model costs n per step, self-attention n squared in total.",
    verdict="misleading",
    tell="Units: one is a price per step, the other a price for all steps. Multiply the first by its number of steps, "
    "and both are squares.",
    cause="Two units in one row. The width of the vectors, which decides for usual lengths, is left out.",
)
def two_units() -> Found:
    n, width = 40, 8
    rng = np.random.default_rng(0)
    decoder, encoder = rng.normal(size=(2, n, width))
    step = reference.attention_weights(decoder[:1], encoder).size
    all_steps = sum(reference.attention_weights(row[None], encoder).size for row in decoder)
    own = reference.attention_weights(encoder, encoder).size
    flops = reference.attention_flops(PAPER_WIDTH, PAPER_WIDTH), reference.recurrent_flops(PAPER_WIDTH, PAPER_WIDTH)
    return claim(
        all_steps < own,
        f"For {n} tokens on both sides: {step} scores per step and {all_steps:,} in {n} steps; self-attention {own:,}. "
        f"Beside a recurrent layer the width counts too: at {PAPER_WIDTH} tokens of width {PAPER_WIDTH}, projections "
        f"included, self-attention has {flops[0] / flops[1]:.1f} times the operations of a plain recurrent layer. What "
        "it saves is waiting.",
    )


@audited(
    "E032",
    lecture="004",
    slide="Attention in recurrent models beside self-attention: reach",
    section="01_motivation#motivation-lookback",
    states="Attention in a recurrent model is limited to the current step.",
    verdict="misleading",
    tell="An earlier slide of the deck praises this very attention for direct connections to all positions. What is "
    "limited to a step is the one who asks, not what can be seen.",
    cause="One query for each step became one position for each step.",
)
def current_step() -> Found:
    rng = np.random.default_rng(0)
    encoder, state = rng.normal(size=(12, 4)), rng.normal(size=(1, 4))
    weights = reference.attention_weights(state, encoder)
    seen = int((weights > 0).sum())
    return claim(
        seen == 1,
        f"One step of the decoder gives a row of weights of shape {weights.shape}, and {seen} of {len(encoder)} source "
        "positions get a share.",
    )


@audited(
    "E033",
    lecture="004",
    slide="Query, key and value: three products",
    section="04_one_head#one-head-project",
    states="Queries, keys and values are x times W_Q, W_K and W_V.",
    verdict="correct",
    tell="Shapes: tokens by width, times width by head, is tokens by head. (The slide writes x and X for one thing; a "
    "row x of X obeys the same formula.)",
)
def three_products() -> Found:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(5, 7)), rng.normal(size=(7, 3))
    q = reference.project(x, w)
    with torch.no_grad():
        layer = nn.Linear(7, 3, bias=False, dtype=torch.float64)
        layer.weight.copy_(torch.from_numpy(w.T.copy()))
        gap = np.abs(layer(torch.from_numpy(x)).numpy() - q).max()
    one = np.abs(x[2] @ w - q[2]).max()
    return claim(
        bool(q.shape == (5, 3) and gap < 1e-12 and one < 1e-12),
        f"{x.shape} times {w.shape} is {q.shape}. torch's linear layer gives the same to within {gap:.0e}, and one row "
        f"alone to within {one:.0e}.",
    )


@audited(
    "E034",
    lecture="004",
    slide="Self-attention step by step: the formula",
    section="04_one_head#one-head-attention",
    states="Weights are the softmax of Q times K transposed, divided by the root of the keys' width.",
    verdict="correct",
    tell="It is equation 1 of the paper; and each row of a softmax sums to 1, as shares must.",
    source=("vaswani2017",),
)
def formula() -> Found:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 6, 4))
    raised = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    ours = raised / raised.sum(axis=1, keepdims=True) @ v
    in_torch = [torch.from_numpy(one) for one in (q, k, v)]
    theirs = nn.functional.scaled_dot_product_attention(in_torch[0], in_torch[1], in_torch[2]).numpy()
    gap = np.abs(ours - theirs).max()
    return claim(bool(gap < 1e-12), f"Written out with exp, it agrees with torch's own attention to within {gap:.0e}.")


@audited(
    "E035",
    lecture="004",
    slide="Many heads: the width of a head",
    section="05_many_heads#many-heads-concat",
    states="With eight heads, each is as wide as the model divided by eight: 64 of 512.",
    verdict="correct",
    tell="Laid side by side, eight heads must fill the width again.",
)
def head_width() -> Found:
    pieces = reference.split_heads(np.zeros((1, PAPER_WIDTH)), PAPER_HEADS)
    merged = reference.merge_heads(pieces)
    return claim(
        pieces.shape[-1] == 64 and 8 * 64 == merged.shape[-1] == PAPER_WIDTH,
        f"{PAPER_WIDTH} numbers cut for {PAPER_HEADS} heads leave {pieces.shape[-1]} each, and give {merged.shape[-1]} "
        "side by side.",
    )


@audited(
    "E036",
    lecture="004",
    slide="Many heads: parameters",
    section="05_many_heads#many-heads-cost",
    states="All heads together have about as many parameters as one large head.",
    verdict="correct",
    tell="Eight matrices an eighth as wide, side by side, are one matrix. So it is not even about as many, it is the "
    "same number, as long as the output matrix is counted on both sides or on neither.",
)
def parameters() -> Found:
    D, N = PAPER_WIDTH, PAPER_HEADS
    heads = sum(np.empty((D, D // N)).size for _ in range(3 * N))
    large = sum(np.empty((D, D)).size for _ in range(3))
    layers = [
        sum(p.numel() for p in nn.MultiheadAttention(D, n, bias=False, device="meta").parameters()) for n in (1, N)
    ]
    return claim(
        heads == large and layers[0] == layers[1],
        f"Queries, keys and values of {N} heads: {heads:,}; of one large head: {large:,}. With the output matrix "
        f"torch's layer has {layers[1]:,} and {layers[0]:,}.",
    )


@audited(
    "E037",
    lecture="004",
    slide="Many heads: the formula",
    section="05_many_heads#many-heads-concat",
    states="The heads' outputs are laid side by side and multiplied by W_O.",
    verdict="correct",
    tell="Shapes: eight times 64 is the number of rows that W_O needs. It is the formula of the paper, section 3.2.2.",
    source=("vaswani2017",),
)
def side_by_side() -> Found:
    rng = np.random.default_rng(0)
    D, N, H = 12, 3, 4
    x, (w_q, w_k, w_v, w_o) = rng.normal(size=(5, D)), rng.normal(size=(4, D, D)) / np.sqrt(D)
    cut = [slice(i * H, (i + 1) * H) for i in range(N)]
    heads = [reference.one_head(x, w_q[:, c], w_k[:, c], w_v[:, c]) for c in cut]
    by_hand = np.concatenate(heads, axis=-1) @ w_o
    layer = nn.MultiheadAttention(D, N, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([w_q.T, w_k.T, w_v.T])))
        layer.out_proj.weight.copy_(torch.from_numpy(w_o.T.copy()))
        tokens = torch.from_numpy(x)[None]
        theirs = layer(tokens, tokens, tokens, need_weights=False)[0][0].numpy()
    gap = np.abs(by_hand - theirs).max()
    return claim(
        bool(gap < 1e-12), f"Head by head, then side by side, it agrees with torch's layer to within {gap:.0e}."
    )
