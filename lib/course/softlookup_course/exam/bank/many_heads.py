"""Questions on chapter 5: many heads."""

import numpy as np

from softlookup.reference.heads import split_heads
from softlookup.roofline.memory import cache_bytes
from softlookup.roofline.sizes import TransformerSizes, parameters
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(5)


def _sizes(width: int, heads: int, head: int, shared: int) -> TransformerSizes:
    return TransformerSizes("a layer", D=width, N=heads, H=head, K=shared, F=1, V=1, L=1)


@ask("shapes", "shape", points=4, minutes=5)
def shapes(rng: np.random.Generator) -> Drawn:
    width, heads, head = pick(rng, 96, 160, 384), pick(rng, 4, 6, 8), pick(rng, 16, 32, 64)
    batch, tokens = pick(rng, 2, 3, 5), pick(rng, 7, 9, 10)

    def table(queries: tuple[int, int], per_head: int, together: int) -> tuple[tuple[int, ...], ...]:
        split, weights = (batch, heads, tokens, per_head), (batch, heads, tokens, tokens)
        return queries, split, weights, (batch, tokens, together), (together, width)

    value = table((width, heads * head), head, heads * head)
    wide = table((width, width), width // heads, width)
    names = ("$W_Q$ of all heads", "queries after the split", "the weights", "the heads side by side", "$W_O$")
    rows = "; ".join(f"{name} ${tex(shape)}$" for name, shape in zip(names, value, strict=True))
    return posed(
        f"A layer of self-attention has $D = {width}$, $N = {heads}$ heads of width $H = {head}$, and reads "
        f"$B = {batch}$ sequences of $T = {tokens}$ tokens. Give the shapes of: {'; '.join(names)}.",
        value,
        rows + ".",
        ((1, "$W_Q$"), (1, "queries and weights, with the axis of heads"), (1, "side by side"), (1, "$W_O$")),
        {"B": batch, "T": tokens, "D": width, "N": heads, "H": head},
        known("05.shapes", "width-from-model", wide),
        known("05.shapes", "averaged"),
    )


@ask("split", "matrix", points=3, minutes=4)
def split(rng: np.random.Generator) -> Drawn:
    tokens, heads, head = int(rng.integers(2, 4)), 2, pick(rng, 2, 3)
    x = rng.integers(0, 10, size=(tokens, heads * head))
    n = int(rng.integers(heads))
    answer = split_heads(x, heads)[n]
    return posed(
        f"The projected queries of {tokens} tokens are $${tex(x)}$$ and the layer has $N = {heads}$ heads. Give the "
        f"queries of head {n} (heads count from 0), and the shape of all queries after the split, without a batch.",
        (answer, (heads, tokens, head)),
        f"Head {n} owns columns {n * head} to {n * head + head - 1} of every token: $${tex(answer)}$$ All: "
        f"$(N, T, H) = ({heads}, {tokens}, {head})$.",
        ((2, "columns of every token, not rows"), (1, "the shape, heads in front")),
        {"x": x, "heads": heads, "one": n},
        known("05.split", "reshape-alone", (x.reshape(heads, tokens, head)[n], (heads, tokens, head))),
        known("05.split", "interleaved", (x[:, n::heads], (heads, tokens, head))),
    )


@ask("parameters", "number", points=4, minutes=5)
def count(rng: np.random.Generator) -> Drawn:
    width, heads, head = pick(rng, 64, 100, 128, 200), pick(rng, 4, 8), pick(rng, 10, 20)
    shared = pick(rng, 1, 2)
    many = parameters(_sizes(width, heads, head, heads))["attention"]
    few = parameters(_sizes(width, heads, head, shared))["attention"]
    return posed(
        f"An attention layer has $D = {width}$, $N = {heads}$ heads of width $H = {head}$, and no biases. How many "
        f"parameters has it (a) with keys and values for each head, (b) with $K = {shared}$ key-value "
        f"head{'s' if shared > 1 else ''}?",
        (many, few),
        f"(a) Four matrices of $D \\cdot NH = {tex(width * heads * head)}$: ${tex(many)}$. (b) $W_Q$ and $W_O$ stay, "
        f"$W_K$ and $W_V$ have $D \\cdot KH = {tex(width * shared * head)}$: ${tex(few)}$.",
        ((2, "(a), all four matrices"), (2, "(b), only keys and values shrink")),
        {"D": width, "N": heads, "H": head, "K": shared},
        known("05.parameters", "output-forgotten", (many * 3 // 4, few - width * heads * head)),
        known("05.parameters", "four-squares", (4 * width**2, 4 * width**2 * shared // heads)),
        mistake((many, many * shared // heads), "Everything is made smaller in (b), queries and output too."),
    )


@ask("cache", "number", points=3, minutes=4)
def cache(rng: np.random.Generator) -> Drawn:
    heads, shared = pick(rng, (8, 2), (12, 4), (16, 4), (32, 8))
    head, tokens = pick(rng, 64, 128), pick(rng, 1000, 2000, 5000)
    sizes = _sizes(heads * head, heads, head, shared)
    megabytes = cache_bytes(sizes, 1, tokens) / 1e6
    group = heads // shared
    asks = int(rng.integers(group, heads))
    return posed(
        f"$N = {heads}$ query heads of width {head} share $K = {shared}$ key-value heads. (a) How many MB ($10^6$ "
        f"bytes) does one layer's cache take in half precision for {tex(tokens).replace('{,}', ',')} tokens? (b) Which "
        f"key-value head does query head {asks} read? Both count from 0.",
        (megabytes, asks // group),
        f"(a) $2 \\cdot T K H$ numbers of two bytes: ${tex(megabytes)}$ MB. (b) Groups of {group} neighbours share: "
        f"$\\lfloor {asks} / {group} \\rfloor = {asks // group}$.",
        ((2, "(a): keys and values, key-value heads, bytes"), (1, "(b)")),
        {"N": heads, "K": shared, "H": head, "T": tokens, "asks": asks},
        known("05.cache", "query-heads", (megabytes * group, asks // group)),
        known("05.cache", "keys-alone", (megabytes / 2, asks // group)),
        known("05.cache", "elements-for-bytes", (megabytes / 2, asks // group)),
        known("05.grouped", "tiled", (megabytes, asks % shared)),
    )


@ask("reshape", "explanation", points=4, minutes=5)
def reshape(rng: np.random.Generator) -> Drawn:
    batch, tokens = pick(rng, 2, 4), pick(rng, 5, 6, 7)
    return posed(
        f"Somebody splits heads with `x.view(B, N, T, H)`, with $B = {batch}$, $T = {tokens}$ and $N = 4$. What comes "
        "out, why is there no error, and which single test finds it? For which sizes is it right by chance?",
        None,
        "The right shape with wrong numbers: the same memory is cut anew, so head 0 holds the first tokens of a "
        "sequence instead of the first columns of every token. The number of entries fits, so nothing complains. "
        "Test: change one token; the heads' rows of all other tokens must stay, and here they do not (or compare with "
        "`view(B, T, N, H).transpose(1, 2)`). It is right where $T = 1$ or $N = 1$.",
        (
            (1, "right shape, wrong numbers"),
            (1, "the count of entries fits"),
            (1, "a test that can fail"),
            (1, "sizes"),
        ),
        {"B": batch, "T": tokens},
        known("05.split", "reshape-alone"),
        mistake(None, "A test that looks at shapes alone: it passes."),
    )


ask.false(
    "double-heads",
    "With $N \\cdot H$ fixed, twice as many heads need twice as many operations in the matrix products.",
    "Twice as many dot products, each half as long: as many as before. What doubles is the memory of the weights.",
)
ask.true(
    "sum-over-heads",
    "The output of a multi-head layer is a sum of one term for each head.",
    "The heads lie side by side, so $W_O$ can be cut into rows for each: $Y = \\sum_i Z^{i} W_O^{i}$.",
)
ask.false(
    "slice-input",
    "Giving head $i$ the $i$-th slice of each token is the same as projecting the whole token and splitting "
    "afterwards.",
    "Then each head reads $D/N$ numbers of a token alone. Projecting first lets it read all $D$.",
)
