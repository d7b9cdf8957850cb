"""Questions on chapter 20: after pre-training."""

from fractions import Fraction
from math import comb, isqrt, sqrt

import numpy as np

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, mistake, pick, posed

ask = Chapter(20)


@ask("adapter", "number", points=3, minutes=3)
def adapter(rng: np.random.Generator) -> Drawn:
    rows, columns, rank = pick(rng, 256, 512, 768), pick(rng, 1024, 1280, 2048), pick(rng, 4, 8, 16)
    trained, merged = rank * (rows + columns), rows * columns
    return posed(
        f"A matrix has {rows} rows and {columns} columns. LoRA of rank {rank} trains an update of it. (a) How many "
        "parameters are trained? (b) The update is then added to the matrix. How many numbers are stored now?",
        (trained, merged),
        f"(a) $B$ has ${rows} \\cdot {rank}$ numbers and $A$ has ${rank} \\cdot {columns}$: {trained} together. "
        f"(b) $BA$ has the matrix's own shape, so that ${rows} \\cdot {columns} = {tex(merged)}$ numbers stay.",
        ((2, "(a), both factors"), (1, "(b), no more than before")),
        {"rows": rows, "columns": columns, "rank": rank},
        mistake((trained, merged + trained), "the factors are counted again after they were merged"),
        mistake((rank * rows, merged), "one factor alone"),
        mistake((rank * rows * columns, merged), "the sizes are multiplied, where those of two factors are added"),
    )


@ask("pass-at-k", "number", points=3, minutes=4)
def pass_at_k(rng: np.random.Generator) -> Drawn:
    samples = int(rng.integers(5, 8))
    correct, k = int(rng.integers(2, samples - 2)), int(rng.integers(2, 4))
    wrong, subsets = comb(samples - correct, k), comb(samples, k)
    return posed(
        f"A model has written {samples} answers to a task, and {correct} of them pass its check. What is the unbiased "
        f"estimate of pass@{k}?",
        1 - Fraction(wrong, subsets),
        f"Of the {subsets} subsets of {k} answers, {wrong} have no right answer: "
        f"$1 - {wrong} / {subsets} = {tex(1 - Fraction(wrong, subsets))}$.",
        ((1, "all subsets"), (1, "subsets without a right answer"), (1, "the result")),
        {"samples": samples, "correct": correct, "k": k},
        mistake(1 - (1 - Fraction(correct, samples)) ** k, "drawn with replacement: this estimate is biased downwards"),
        mistake(Fraction(correct, samples), "the fraction of right answers, which is pass@1"),
        mistake(Fraction(wrong, subsets), "the probability that no answer is right"),
        mistake(Fraction(comb(correct, k), subsets), "the probability that all answers are right"),
    )


@ask("advantages", "number", points=3, minutes=4)
def advantages(rng: np.random.Generator) -> Drawn:
    size, correct = pick(rng, (5, 1), (5, 4), (8, 4), (10, 1), (10, 9), (17, 1), (17, 16))
    mean = Fraction(correct, size)
    spread = Fraction(isqrt(correct * (size - correct)), size)  # these groups have rational ones
    value = ((1 - mean) / spread, -mean / spread)
    sample = sqrt(correct * (size - correct) / size / (size - 1))
    return posed(
        f"GRPO samples a group of {size} answers to a prompt. The right answers, {correct} in number, get the "
        "reward 1, the others 0. The standard deviation divides by the size of the group. Which advantage does "
        "(a) a right, (b) a wrong answer get?",
        value,
        f"The mean is ${tex(mean)}$ and the standard deviation ${tex(spread)}$. "
        f"(a) ${tex(value[0])}$. (b) ${tex(value[1])}$.",
        ((1, "the mean is subtracted"), (1, "the standard deviation"), (1, "both results")),
        {"group": size, "correct": correct},
        mistake((1 - mean, -mean), "the standard deviation does not divide"),
        mistake((1 / spread, 0), "the mean is not subtracted"),
        mistake((float(1 - mean) / sample, -float(mean) / sample), "the standard deviation divides by G − 1"),
        mistake((1 / mean, -1 / (1 - mean)), "divided by the variance"),
    )


@ask("margin", "number", points=3, minutes=4)
def margin(rng: np.random.Generator) -> Drawn:
    chosen, rejected, chosen_reference, rejected_reference = (-int(x) for x in rng.integers(4, 20, size=4))
    tenths = pick(rng, 1, 2, 5)
    beta = Fraction(tenths, 10)
    moved = (chosen - chosen_reference) - (rejected - rejected_reference)
    return posed(
        f"The model gives the preferred answer of a pair the log-probability ${chosen}$ and the other ${rejected}$. "
        f"The reference model gives them ${chosen_reference}$ and ${rejected_reference}$. With $\\beta = 0.{tenths}$: "
        "of which number does the loss of DPO take the logarithm of the sigmoid?",
        beta * moved,
        f"$0.{tenths} \\cdot (({chosen} - ({chosen_reference})) - ({rejected} - ({rejected_reference}))) = "
        f"{tex(beta * moved)}$.",
        ((1, "both answers against the reference"), (1, "preferred minus other"), (1, "times beta")),
        {
            "chosen": chosen,
            "rejected": rejected,
            "chosen_reference": chosen_reference,
            "rejected_reference": rejected_reference,
            "beta": float(beta),
        },
        mistake(beta * (chosen - rejected), "the reference model is missing"),
        mistake(-beta * moved, "the answers are exchanged"),
        mistake(moved, "beta is missing"),
        mistake(beta * (chosen - chosen_reference), "the preferred answer alone"),
    )


ask.false(
    "masked-no-gradient",
    "A loss mask leaves out the tokens of the question. So the loss has no gradient with respect to the "
    "embeddings of these tokens.",
    "The mask removes their predictions from the loss. The tokens of the answer attend to them, and the "
    "gradient flows back along attention.",
)
ask.false(
    "kl-symmetric",
    "KL(p, q) and KL(q, p) of two distributions are always equal.",
    "The mean of the logarithm of p / q is taken over draws from the first distribution, and the two "
    "differ where other outcomes are common.",
)
ask.true(
    "kl-of-a-draw",
    "For a token that is drawn from p, log p − log q can be negative, although KL(p, q) never is.",
    "The divergence is the mean over draws from p. Wherever q gives a token more than p, the logarithm is negative.",
)
ask.false(
    "no-run-not-seen",
    "If a test question shares no run of 13 words with the training texts, the training texts do not "
    "contain the question.",
    "A copy with a word changed here and there, or a translation, shares no such run, and gives the answer away.",
)
ask.true(
    "overlap-no-difference",
    "Two models answer the same questions. If the 95 % intervals of their accuracies overlap, their "
    "difference may still be beyond chance.",
    "Both find the same questions hard. The differences on each question vary less than the two "
    "accuracies, and their interval may exclude 0.",
)
