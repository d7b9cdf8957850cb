"""Questions on chapter 1: why transformers."""

import numpy as np

from softlookup.reference.attention import softmax
from softlookup.reference.layer_graphs import attention_flops, convolution_graph, path_lengths, recurrent_flops
from softlookup_course.exam.notes import logs, tex
from softlookup_course.exam.question import Chapter, Drawn, different, known, mistake, pick, posed

ask = Chapter(1)


@ask("convolutions", "number", points=3, minutes=4)
def convolutions(rng: np.random.Generator) -> Drawn:
    n, width = int(rng.integers(7, 14)), pick(rng, 3, 5)
    layers = 1
    while path_lengths(convolution_graph(n, width, layers), n)[n - 1, 0] == 0:
        layers += 1
    reach = width // 2
    return posed(
        f"Convolutions of width {width} lie on top of each other: each output sees its own place in the layer below "
        f"and the {reach if reach > 1 else 'one'} nearest on either side. A sentence has {n} tokens. How many layers "
        "does it take until the last output depends on the first token? And how many layers of self-attention?",
        (layers, 1),
        f"Each layer reaches {reach} further, and ${n - 1}$ steps have to be made: "
        rf"$\lceil {n - 1} / {reach} \rceil = {layers}$ layers. Self-attention: one, since every pair is one step "
        "apart.",
        ((1, "the reach of one layer"), (1, "the number of layers, rounded up"), (1, "one layer of self-attention")),
        {"n": n, "width": width},
        mistake((-(-n // reach), 1), "Tokens are counted instead of the steps between the first and the last."),
        mistake((-(-(n - 1) // width), 1), "The whole width is taken for the reach, which goes to one side."),
    )


@ask("operations", "number", points=4, minutes=6)
def operations(rng: np.random.Generator) -> Drawn:
    width, n = pick(rng, 4, 8, 16), pick(rng, 10, 20, 50, 100)
    attention, lstm = attention_flops(n, width), recurrent_flops(n, width, gates=4)
    alone = attention_flops(n, width, projections=False)
    return posed(
        f"A layer reads $T = {n}$ tokens of width $D = {width}$. Count the operations of its matrix products (a "
        "multiply-add is two) (a) for self-attention with all four projections, (b) for an LSTM, whose four gates "
        "have two $D \\times D$ matrices each. (c) For which $T$ are both equal, at this $D$?",
        (attention, lstm, 2 * width),
        f"(a) $8TD^2 + 4T^2D = {tex(attention)}$. (b) $4 \\cdot 4TD^2 = {tex(lstm)}$. "
        f"(c) $8TD^2 + 4T^2D = 16TD^2$ gives $T = 2D = {2 * width}$.",
        ((1, "projections in (a)"), (1, "scores and mixing in (a)"), (1, "(b)"), (1, "(c), or from the own counts")),
        {"T": n, "D": width},
        known("01.operations", "one-for-two", (attention // 2, lstm // 2, 2 * width)),
        known("01.operations", "no-projections", (alone, lstm, 4 * width)),
        known("01.operations", "gates-forgotten"),
        known("01.operations", "orders-alone", (attention, lstm, width)),
    )


@ask("push", "matrix", points=3, minutes=5)
def push(rng: np.random.Generator) -> Drawn:
    powers, label = different(rng, [1, 2, 3, 4, 5], 3), int(rng.integers(3))
    p = softmax(np.log(powers))
    y = np.eye(3)[label]
    change = -(p - y)
    return posed(
        f"A vocabulary has three words. A model gives them the logits ${logs(powers)}$; the word that really came "
        f"next is the {('first', 'second', 'third')[label]}. Give the probabilities, and by how much each logit "
        r"changes in one step of gradient descent with rate $\eta = 1$ on the cross-entropy.",
        (p, change),
        rf"$p = {tex(p)}$, and the step is $-\eta (p - y) = {tex(change)}$: the label goes up, all others down, "
        "and the changes sum to 0.",
        ((1, "the probabilities"), (1, "the label's change"), (1, "the others' changes, with their sign")),
        {"powers": powers, "label": label},
        known("01.push-up", "pushed-down", (p, -change)),
        known("01.push-up", "others-left", (p, y * change)),
        known("01.push-up", "label-ignored", (p, -p)),
    )


@ask("pairs", "explanation", points=3, minutes=4)
def pairs(rng: np.random.Generator) -> Drawn:
    words = pick(rng, "a small boat leaves the harbour", "the old clock has stopped again", "we met her at the station")
    tokens = words.split()
    pair_texts = [f"*{' '.join(tokens[: i + 1])}* → *{tokens[i + 1]}*" for i in range(len(tokens) - 1)]
    return posed(
        f"A model learns to predict the next word from the text *{words}*. Write down all pairs of feature and label "
        "that this text gives. Nobody has labelled it: where do the labels come from?",
        None,
        "; ".join(pair_texts) + ". Each label is the word that stands next in the text itself.",
        (
            (1, f"{len(pair_texts)} pairs, one less than words"),
            (1, "labels shifted by one: no label stands in its own feature"),
            (1, "the text is its own label"),
        ),
        {"words": words},
        known("01.pairs", "not-shifted"),
        known("01.pairs", "one-token"),
        known("01.pairs", "last-pair-missing"),
    )


ask.false(
    "fewer-than-plain",
    "For short texts self-attention, projections counted, has fewer operations than a plain recurrent "
    "layer of the same width.",
    "The plain layer has $4TD^2$; attention has $8TD^2$ for its projections alone.",
)
ask.false(
    "far-gradient",
    "In one layer of self-attention without positions, the gradient of the last output with respect to a "
    "token is smaller, the farther away that token stands.",
    "Distance does not occur in the formula. Each token gets its share by its score, near or far.",
)
ask.true(
    "order-of-outputs",
    "In a layer of self-attention the last output can be computed before the first one.",
    "An output needs all tokens of the layer below, and no other output of its own layer.",
)
