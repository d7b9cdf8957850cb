"""Questions on chapter 19: many devices."""

import numpy as np

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, mistake, pick, posed

ask = Chapter(19)


@ask("ring", "number", points=3, minutes=4)
def ring(rng: np.random.Generator) -> Drawn:
    ranks, block = pick(rng, 4, 5, 8), int(rng.integers(2, 9))
    size = ranks * block
    sent, steps = 2 * (ranks - 1) * block, 2 * (ranks - 1)
    return posed(
        f"{ranks} ranks add up their arrays of {size} MB by an all-reduce on a ring. (a) How many MB does each rank "
        "send? (b) How many messages does it send, one after another?",
        (sent, steps),
        f"(a) In each of $2 \\cdot ({ranks} - 1)$ steps a rank sends a block of $"
        f"{size} / {ranks} = {block}$ MB: {sent} MB. (b) {steps}.",
        ((1, "(a), a block in each step"), (1, "(a), both rounds"), (1, "(b)")),
        {"ranks": ranks, "size": size},
        mistake((sent // 2, steps // 2), "one round: a reduce-scatter alone"),
        mistake(((ranks - 1) * size, ranks - 1), "the whole array to each of the others"),
        mistake((2 * ranks * block, 2 * ranks), "P steps a round instead of P − 1"),
    )


@ask("bubble", "number", points=3, minutes=4)
def bubble(rng: np.random.Generator) -> Drawn:
    stages, micro = int(rng.integers(3, 6)), int(rng.integers(6, 13))
    pass_ms = int(rng.integers(2, 6))
    time, idle = pass_ms * (micro + stages - 1), pass_ms * (stages - 1)
    return posed(
        f"A batch passes a pipeline of {stages} stages in {micro} micro-batches. The forward and the backward pass of "
        f"a micro-batch take a stage {pass_ms} ms together, and messages take no time. (a) How many ms does a step of "
        "GPipe or 1F1B take? (b) For how many of them is a stage idle?",
        (time, idle),
        f"(a) ${pass_ms} \\cdot ({micro} + {stages} - 1) = {tex(time)}$ ms. (b) A stage works for "
        f"${pass_ms} \\cdot {micro}$ ms of them, so that {idle} ms are left.",
        ((2, "(a), with the stages that have to be filled"), (1, "(b)")),
        {"stages": stages, "micro": micro, "piece": pass_ms},
        mistake((pass_ms * micro, 0), "the bubble is missing"),
        mistake((pass_ms * (micro + stages), pass_ms * stages), "one stage too many is waited for"),
        mistake((pass_ms * micro * stages, pass_ms * micro * (stages - 1)), "stages work one after another"),
    )


ask.false(
    "means-of-ranks",
    "Two ranks with unequal numbers of examples get the gradient of the whole batch by averaging their mean gradients.",
    "Each example of the smaller share would count more. Sums of gradients and numbers of examples are "
    "added up, and divided once.",
)
ask.true(
    "columns-first",
    "If the first matrix of a feed-forward network with ReLU is cut into columns and the second into rows, "
    "one sum over ranks at the end is enough.",
    "Each rank has whole hidden numbers, to which it can apply the ReLU, and one term of the final sum.",
)
ask.false(
    "bias-everywhere",
    "In a tensor parallel layer, every rank adds the bias of the second product before the all-reduce.",
    "The bias would count as many times as there are ranks. It is added once, after the sum.",
)
ask.true(
    "all-to-all-twice",
    "Two all-to-alls with equal parts, one after the other, give every rank back what it had.",
    "The first one exchanges rank and part, as a transposition does; the second exchanges them again.",
)
