"""Lecture 001, a layer's operations and what it moves: the table of shapes, and the question it ends with."""

from itertools import product
from math import isclose

import numpy as np

from softlookup.reference import merge_heads, multi_head_attention, project, softmax, split_heads
from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.intensity_001 import RIDGE
from softlookup.slide_audit.item import Found, audited

HALF = 2
"""Bytes of a number in half precision."""
B, S, N, D = 2, 5, 3, 4
"""Small sizes to try shapes on, in the lecture's letters."""
H = N * D
GRID = tuple(product((1, 8), (1, 50, 1000), (8, 32), (64, 128)))
"""Sizes b, s, n, d to count for; h is n times d."""


def example() -> tuple[np.ndarray, ...]:
    """X (b, s, h) and four matrices (h, h), drawn."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((B, S, H)), *(rng.standard_normal((H, H)) for _ in range(4))


def dense(rows: int, inner: int, columns: int) -> tuple[int, int]:
    """Operations and numbers moved of a product: a multiply-add is two, factors are read, the result is written."""
    return 2 * rows * inner * columns, rows * inner + inner * columns + rows * columns


def scores(b: int, s: int, n: int, d: int) -> tuple[int, int]:
    """The same for queries times keys, or for weights times values."""
    flops, moved = dense(s, d, s)
    return b * n * flops, b * n * moved


def hidden_layer(b: int, s: int, h: int, width: int = 4) -> tuple[int, int]:
    """The same for both products of the feed-forward network, each a kernel of its own."""
    up, down = dense(b * s, h, width * h), dense(b * s, width * h, h)
    return up[0] + down[0], up[1] + down[1]


@audited(
    "E151",
    lecture="001",
    slide="A layer counted: the letters",
    section="12_counting#counting-table",
    states="The hidden width h is the number of heads n times the width d of one.",
    verdict="correct",
    tell="Heads are slices that are laid side by side again.",
)
def letters() -> Found:
    x = example()[0]
    back = merge_heads(split_heads(x, N))
    return claim(
        np.array_equal(back, x) and 32 * 128 == 4096,
        f"A width of {x.shape[-1]} splits into {N} heads of {split_heads(x, N).shape[-1]}, and merges again without a "
        f"number lost. The h of the next slides, 4096, is {4096 // 128} heads of 128.",
    )


@audited(
    "E152",
    lecture="001",
    slide="A layer counted: the shapes",
    section="12_counting#counting-table",
    states="The shape of everything from X to Y, with heads split off and merged again.",
    verdict="correct",
    tell="Read it as a path: an axis of width h becomes n and d, changes places with s, and goes back the same way.",
)
def shapes() -> Found:
    x, *weights = example()
    b, s, n, d, h = B, S, N, D, H
    dagger = [project(x, w).reshape(b, s, n, d) for w in weights[:3]]
    q, k, v = (one.transpose(0, 2, 1, 3) for one in dagger)
    k_t = k.swapaxes(-1, -2)
    p = softmax(q @ k_t / np.sqrt(d))
    mixed = p @ v
    turned = mixed.transpose(0, 2, 1, 3)
    a = turned.reshape(b, s, h)
    y = project(a, weights[3])
    found = [one.shape for one in (x, dagger[0], q, k_t, p, mixed, turned, a, y)]
    slide = [(b, s, h), (b, s, n, d), (b, n, s, d), (b, n, d, s), (b, n, s, s), (b, n, s, d), (b, s, n, d)]
    slide += [(b, s, h)] * 2
    w_q, w_k, w_v, w_o = weights
    same = bool(np.allclose(y, multi_head_attention(x, w_q, w_k, w_v, w_o, n)))
    return claim(
        found == slide and same,
        f"Carried out with b = {b}, s = {s}, n = {n}, d = {d}: all {len(found)} shapes come out, and Y is what the "
        "reference computes.",
    )


@audited(
    "E153",
    lecture="001",
    slide="A layer counted: operations for Q, K, V",
    section="12_counting#counting-table",
    states="The row of all three projections has the order b s h^2 of operations.",
    verdict="inconsistent",
    tell="As an order of magnitude it is fine. But a few rows on the same column has a 16, so constants are meant to "
    "count, and this row has lost two: a multiply-add is two, and there are three products.",
)
def projections_flops() -> Found:
    b, s, h = 1, 1000, 4096
    true = 3 * dense(b * s, h, h)[0]
    network = hidden_layer(b, s, h)[0]
    lost, there = true / (b * s * h**2), network / (16 * b * s * h**2)
    return claim(
        isclose(lost, there),
        f"Exactly, it is {lost:.0f} b s h^2 for Q, K, V together, {lost / 3:.0f} for each. True over printed is "
        f"{lost:.0f} in this row and {there:.0f} in the feed-forward network's.",
    )


@audited(
    "E154",
    lecture="001",
    slide="A layer counted: I/O of a projection",
    section="12_counting#counting-product",
    states="A projection moves 2bsh + h^2.",
    verdict="correct",
    tell="One term for each thing moved: X is read, Y is written (both of size bsh), the matrix is read.",
)
def projection_moved() -> Found:
    fits = all(dense(b * s, n * d, n * d)[1] == 2 * b * s * n * d + (n * d) ** 2 for b, s, n, d in GRID)
    b, s, h = 1, 1000, 4096
    one = dense(b * s, h, h)[1]
    return claim(
        fits,
        f"Exact for one product, in numbers: {one:,} for s = {s} and h = {h}, which are {HALF * one:,} bytes in half "
        f"precision. Three separate products move {3 * one:,} numbers; one that makes Q, K, V together reads X once: "
        f"{3 * one - 2 * b * s * h:,}.",
    )


@audited(
    "E155",
    lecture="001",
    slide="A layer counted: FLOP per I/O of a projection",
    section="12_counting#counting-product",
    states="The ratio has the order 1 / (1/h + 1/(bs)).",
    verdict="correct",
    tell="Put in the ends: a single row gives about one, a batch without end a multiple of h. The smaller of h and bs "
    "decides, as in any product. (In the text, 1/bs has to be read as one over both.)",
)
def projection_ratio() -> Found:
    def both(rows: int, h: int) -> tuple[float, float]:
        flops, moved = dense(rows, h, h)
        return flops / (HALF * moved), 1 / (1 / h + 1 / rows)

    ratios = [true / printed for true, printed in (both(b * s, n * d) for b, s, n, d in GRID)]
    (short, short_printed), (long, long_printed) = both(50, 4096), both(1000, 4096)
    return claim(
        0.5 <= min(ratios) and max(ratios) <= 1,
        f"Right up to a factor between {min(ratios):.2f} and {max(ratios):.2f}: exact is 1 / (2/h + 1/(bs)) FLOP/byte "
        "in half precision, where the two operations of a multiply-add and the two bytes of a number cancel. With "
        f"h = 4096, 50 rows have {short:.1f} (printed form {short_printed:.1f}), 1000 rows {long:.1f} "
        f"({long_printed:.1f}).",
    )


@audited(
    "E156",
    lecture="001",
    slide="A layer counted: operations for the weights P",
    section="12_counting#counting-table",
    states="Scores and their softmax have the order b s^2 n d of operations.",
    verdict="correct",
    tell="Each of the s times s scores of a head is a sum of d products. The softmax has no d in it, so it is small.",
)
def weights_flops() -> Found:
    ratios = [(scores(b, s, n, d)[0] + 6 * b * n * s * s) / (b * s * s * n * d) for b, s, n, d in GRID]
    d = 128
    return claim(
        max(ratios) / min(ratios) < 1.1,
        f"Between {min(ratios):.2f} and {max(ratios):.2f} times that for all sizes tried: 2 for the product, and about "
        f"6/d for scaling and softmax, {100 * 6 / (2 * d):.1f} % of the product's at d = {d}.",
    )


@audited(
    "E157",
    lecture="001",
    slide="A layer counted: I/O of the weights P",
    section="12_counting#counting-table",
    states="Scores and their softmax move 2bsnd + b s^2 n.",
    verdict="misleading",
    tell="The softmax has to read what the product wrote and write it again, so one s^2 cannot be all. Count the "
    "arrows in and out of each step of the row.",
    cause="The product alone was counted, and the row is labelled with the softmax around it.",
)
def weights_moved() -> Found:
    def moved(b: int, s: int, n: int, d: int) -> tuple[int, int]:
        only = scores(b, s, n, d)[1]
        return only, only + 2 * b * n * s * s

    b, s, n, d = 1, 1000, 32, 128
    only, all_of_it = moved(b, s, n, d)
    flops = scores(b, s, n, d)[0]
    apart, whole = flops / (HALF * only), (flops + 6 * b * n * s * s) / (HALF * all_of_it)
    printed = [2 * b * s * n * d + b * s * s * n for b, s, n, d in GRID]
    alone = printed == [moved(*sizes)[0] for sizes in GRID]
    together = flops * 2 / (HALF * 4 * b * n * s * d)  # of Q, K, V and the result
    return claim(
        printed == [moved(*sizes)[1] for sizes in GRID],
        f"The printed sum is {'exactly ' if alone else 'not '}the product's. With the softmax, s = {s} and d = {d} "
        f"move {all_of_it / only:.2f} times as much, and the intensity is {whole:.1f} FLOP/byte and not "
        f"{apart:.1f}. A kernel that keeps the scores to itself has {together:.0f}.",
    )


@audited(
    "E158",
    lecture="001",
    slide="A layer counted: FLOP per I/O of the attention products",
    section="12_counting#counting-roofline",
    states="The ratio has the order 1 / (1/d + 1/s), whatever the batch.",
    verdict="correct",
    tell="Every head of every sentence has keys and values of its own, so b and n stand in front of everything.",
)
def attention_ratio() -> Found:
    def intensity(b: int, s: int, n: int, d: int) -> float:
        flops, moved = scores(b, s, n, d)
        return flops / (HALF * moved)

    ratios = [intensity(b, s, n, d) * (1 / d + 1 / s) for b, s, n, d in GRID]
    free = all(isclose(intensity(1, s, 1, d), intensity(b, s, n, d)) for b, s, n, d in GRID)
    most = intensity(1, 10**7, 1, 128)
    return claim(
        free and 0.5 <= min(ratios) and max(ratios) <= 1,
        f"Right up to a factor between {min(ratios):.2f} and {max(ratios):.2f}, and the same for every batch. However "
        f"long the text, half precision comes to {most:.0f} FLOP/byte at most with d = 128, below the A100's ridge of "
        f"{RIDGE:.0f}: these products wait for memory at every size.",
    )


@audited(
    "E159",
    lecture="001",
    slide="A layer counted: operations of the feed-forward network",
    section="12_counting#counting-table",
    states="The feed-forward network has the order 16 b s h^2 of operations, beside b s h^2 for a projection.",
    verdict="inconsistent",
    tell="Two products of h by 4h hold eight times the weights of one of h by h. A column that says sixteen times as "
    "much work has two ways of counting in it.",
    cause="Multiply-adds counted as two in this row and as one in the others.",
)
def network_flops() -> Found:
    b, s, h = 1, 1000, 4096
    one, network = dense(b * s, h, h)[0], hidden_layer(b, s, h)[0]
    printed_ratio, true_ratio = 16.0, network / one
    share, printed_share = network / (4 * one + network), 16 / (1 + 1 + 16)
    return claim(
        isclose(printed_ratio, true_ratio),
        f"The {network / (b * s * h**2):.0f} is exact with two operations for a multiply-add; then a projection has "
        f"{one / (b * s * h**2):.0f}, and the ratio is {true_ratio:.0f}. Added up as printed, the network makes "
        f"{100 * printed_share:.0f} % of the products with weights; it is {100 * share:.1f} %.",
    )


@audited(
    "E160",
    lecture="001",
    slide="A layer counted: I/O of the feed-forward network",
    section="12_counting#counting-table",
    states="The feed-forward network moves 2bsh + 8h^2.",
    verdict="misleading",
    tell="Two products with something between them: what the first writes, 4h wide, the second reads. The formula has "
    "nothing of that width.",
    cause="The hidden numbers in the middle were left out, as if one kernel kept them.",
)
def network_moved() -> Found:
    b, s, h = 1, 1000, 4096
    flops, moved = hidden_layer(b, s, h)
    printed = 2 * b * s * h + 8 * h * h
    between = moved - printed
    return claim(
        all(hidden_layer(b, s, n * d)[1] == 2 * b * s * n * d + 8 * (n * d) ** 2 for b, s, n, d in GRID),
        f"For s = {s} and h = {h} two products move {moved:,} numbers, not {printed:,}; what is missing is "
        f"{between / (b * s * h):.0f} bsh, written once and read once. The intensity is {flops / (HALF * moved):.0f} "
        f"FLOP/byte, not {flops / (HALF * printed):.0f}. A ReLU in a kernel of its own moves as much again.",
    )


@audited(
    "E161",
    lecture="001",
    slide="A layer counted: mixing the values",
    section="12_counting#counting-table",
    states="P times V has the order b s^2 n d of operations and moves 2bsnd + b s^2 n.",
    verdict="correct",
    tell="It is the scores' product turned round: s by s times s by d, where there it was s by d times d by s.",
)
def mixing() -> Found:
    found = [scores(b, s, n, d) for b, s, n, d in GRID]
    flops = {got[0] / (b * s * s * n * d) for got, (b, s, n, d) in zip(found, GRID, strict=True)}
    exact = all(got[1] == 2 * b * s * n * d + b * s * s * n for got, (b, s, n, d) in zip(found, GRID, strict=True))
    return claim(
        exact and len(flops) == 1, f"The I/O is exact, in numbers; the operations are {flops.pop():.0f} times that."
    )


@audited(
    "E162",
    lecture="001",
    slide="A layer counted: the output projection",
    section="12_counting#counting-table",
    states="A times W_O has the order b s h^2 of operations and moves 2bsh + h^2.",
    verdict="correct",
    tell="A product of the same shapes as one projection; it has to have the same row.",
)
def output_projection() -> Found:
    found = [(dense(b * s, n * d, n * d), b * s * n * d, n * d) for b, s, n, d in GRID]
    flops = {got[0] / (numbers * h) for got, numbers, h in found}
    return claim(
        len(flops) == 1 and all(got[1] == 2 * numbers + h * h for got, numbers, h in found),
        f"The I/O is exact, in numbers; the operations are {flops.pop():.0f} times that, the constant that E153 is "
        "about.",
    )


@audited(
    "E163",
    lecture="001",
    slide="A layer counted: reshapes and transposes",
    section="12_counting#counting-table",
    states="Rows that reshape or transpose have neither operations nor I/O.",
    verdict="correct",
    tell="Neither computes a number. They are another way of walking through the same memory, until somebody asks for "
    "a copy.",
)
def views() -> Found:
    x = example()[0]
    dagger = x.reshape(B, S, N, D)
    turned = dagger.transpose(0, 2, 1, 3)
    back = turned.transpose(0, 2, 1, 3)
    copied = np.ascontiguousarray(turned)
    merged = turned.reshape(B, S, H)
    return claim(
        all(np.shares_memory(x, one) for one in (dagger, turned, turned.swapaxes(-1, -2), back, back.reshape(B, S, H))),
        f"All are views of the same {x.size} numbers. Laying the transposed ones out afresh reads and writes "
        f"{x.size + copied.size}: a copy is {'made' if not np.shares_memory(x, merged) else 'avoided'} when axes are "
        "merged that do not lie side by side.",
    )


@audited(
    "E164",
    lecture="001",
    slide="A layer's performance: two lengths",
    section="12_counting#counting-roofline",
    states="A model of h = 4096 while it reads its prompt, once with s = 50 and once with s = 1000.",
    verdict="correct",
    tell="In half precision the intensity of a product with weights is nearly the number of rows, until that comes "
    "near h. So compare s with the ridge.",
)
def two_lengths() -> Found:
    flops_moved = {s: dense(s, 4096, 4096) for s in (1, 50, 1000)}
    found = {s: flops / (HALF * moved) for s, (flops, moved) in flops_moved.items()}
    return claim(
        found[50] < RIDGE < found[1000],
        f"The two lie on two sides of the A100's ridge of {RIDGE:.0f}: {found[50]:.1f} FLOP/byte wait for memory, "
        f"{found[1000]:.1f} for the units. Writing on, one token at a time, is a stage that the slide does not show: "
        f"{found[1]:.3f}.",
    )


def llama_2_7b() -> tuple[int, int, int]:
    """Llama 2 7B's numbers learned, those that stand in products, and layers times width."""
    width, hidden, vocabulary, layers = 4096, 11_008, 32_000, 32
    working = layers * (4 * width * width + 3 * width * hidden) + vocabulary * width
    return working + vocabulary * width + (2 * layers + 1) * width, working, layers * width


@audited(
    "E165",
    lecture="001",
    slide="After class: operations of a 7B model",
    section="12_counting#counting-homework",
    states="How many operations in total for a decoder of 7B: asked, and not answered.",
    verdict="misleading",
    tell="Ask 'for what' back: a token, a prompt, or training? After how many others? There is one answer to each.",
)
def homework() -> Found:
    learned, working, layers_width = llama_2_7b()
    token = {s: 2 * working + 4 * layers_width * s for s in (1, 1000, 4096)}
    prompt, training = 4096 * token[4096], 3 * token[4096] * 2e12
    answers = [*token.values(), prompt, training]
    return claim(
        bool(np.allclose(answers, answers[0])),
        f"Llama 2 7B has {learned:,} numbers, {working:,} of them in products. A token costs "
        + ", ".join(f"{one / 1e9:.2f} GFLOP as number {s}" for s, one in token.items())
        + f" of a text; a prompt of 4096, in full squares, {prompt / 1e12:.1f} TFLOP; training on 2 trillion tokens, "
        f"three times forward, {training:.2e} FLOP. Attention overtakes the weights at "
        f"{2 * working // (4 * layers_width) + 1:,} tokens only.",
    )
