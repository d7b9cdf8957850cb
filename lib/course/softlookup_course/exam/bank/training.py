"""Questions on chapter 9: training."""

from math import log

import numpy as np
import torch

from softlookup.model.whole.objectives import cross_entropy, label_smoothing, perplexity
from softlookup.model.whole.schedules import noam
from softlookup.roofline.memory import RECIPES, state_bytes
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(9)


@ask("perplexity", "number", points=4, minutes=5)
def loss(rng: np.random.Generator) -> Drawn:
    powers = rng.integers(1, 6, size=4)
    if powers.sum() % 4 or len(set(powers)) < 2:
        return loss(rng)
    pads, padded = 2, int(rng.integers(5, 8))
    # Four tokens, of which the right one has probability 2^-power, and padding whose "right" one has 2^-padded.
    p = torch.tensor([2.0 ** -float(n) for n in (*powers, *[padded] * pads)], dtype=torch.float64)
    logits = torch.log(torch.stack([1 - p, p], dim=-1))[None]
    labels = torch.tensor([[1] * 4 + [0] * pads])
    nats = float(cross_entropy(logits, labels, pad_id=0))
    bits = nats / log(2)
    wrong = (powers.sum() + padded * pads) / 6
    probabilities = ", ".join(f"\\tfrac{{1}}{{{2**n}}}" for n in powers)
    return posed(
        f"A batch holds four words and {pads} places of padding. The model gave the right words the probabilities "
        f"${probabilities}$, and `<pad>` at its places $\\tfrac{{1}}{{{2**padded}}}$. Give the mean loss as a multiple "
        "of $\\ln 2$, and the perplexity.",
        (bits, perplexity(nats)),
        f"Padding does not count: $({' + '.join(map(str, powers))}) / 4 = {tex(bits)}$, so the loss is "
        f"${tex(bits)} \\ln 2$, and the perplexity $2^{{{tex(bits)}}} = {tex(perplexity(nats))}$.",
        ((2, "the mean surprise of the four words"), (1, "without padding"), (1, "perplexity")),
        {"powers": powers, "padded": padded},
        known("09.cross-entropy", "padding-counted", (wrong, 2.0**wrong)),
        known("09.cross-entropy", "padding-in-the-count", (powers.sum() / 6, 2.0 ** (powers.sum() / 6))),
        mistake((bits, float(np.mean(2.0**powers))), "The mean of perplexities is taken for that of the mean loss."),
    )


@ask("warm-up", "number", points=3, minutes=4)
def warmup(rng: np.random.Generator) -> Drawn:
    warm, early, late = pick(rng, 1000, 2000, 4000, 8000), pick(rng, 4, 5, 10), pick(rng, 2, 3, 4, 5)
    peak = noam(warm, 512, warmup=warm)
    value = (noam(warm // early, 512, warmup=warm) / peak, noam(warm * late**2, 512, warmup=warm) / peak)
    return posed(
        f"A model is trained with the learning rate of the Transformer paper and a warm-up of {warm} steps. Which "
        f"share of its highest value has the rate at step {warm // early}, and which at step {warm * late**2}?",
        value,
        f"It rises in a line: ${tex(value[0])}$. Behind step {warm} it falls with the root of the step: "
        f"$\\sqrt{{{warm}/{warm * late**2}}} = {tex(value[1])}$.",
        ((1, "a line up to the warm-up"), (1, "the root behind it"), (1, "both numbers")),
        {"warm": warm, "early": warm // early, "late": warm * late**2},
        known("09.warmup", "never-falls", (value[0], float(late**2))),
        known("09.warmup", "never-rises", (early**0.5, value[1])),
        mistake((value[0], 1 / late**2), "The rate falls with the step itself, not with its root."),
    )


@ask("clip", "matrix", points=3, minutes=4)
def clip(rng: np.random.Generator) -> Drawn:
    a, b, norm = pick(rng, (3, 4, 5), (6, 8, 10), (5, 12, 13), (8, 6, 10), (9, 12, 15))
    bound = pick(rng, 1, 2)
    first, second = pick(rng, (a, 0), (0, a), (-a, 0)), pick(rng, (0, b), (b, 0), (0, -b))
    value = (bound / norm, np.array(first) * bound / norm, np.array(second) * bound / norm)
    each = (np.array(first) * bound / a, np.array(second) * bound / b)
    return posed(
        f"A model has two parameters with gradients ${tex(first)}$ and ${tex(second)}$. Gradients are clipped by their "
        f"common norm at {bound}. Give the factor and both clipped gradients.",
        value,
        f"The common norm is $\\sqrt{{{a}^2 + {b}^2}} = {norm}$, the factor ${tex(bound / norm)}$: ${tex(value[1])}$ "
        f"and ${tex(value[2])}$. The direction stays.",
        ((2, "one norm of everything"), (1, "both multiplied by the same factor")),
        {"one": first, "other": second, "bound": bound},
        known("09.clip", "norms-added", (bound / (a + b), *(np.array(g) * bound / (a + b) for g in (first, second)))),
        known("09.clip", "each-alone", (bound / norm, *each)),
    )


@ask("smoothing", "matrix", points=3, minutes=4)
def smoothing(rng: np.random.Generator) -> Drawn:
    words, eps = pick(rng, 4, 5, 8), pick(rng, 0.1, 0.2, 0.4)
    label = int(rng.integers(words))
    target = label_smoothing(torch.tensor([[label]]), words, eps)[0, 0].double().numpy().round(6)
    others = np.where(np.arange(words) == label, 1 - eps, eps / (words - 1))
    return posed(
        f"A vocabulary has {words} words, the right one is number {label} (from 0), and labels are smoothed by "
        f"$\\varepsilon = {eps}$, shared out over all words as in this course. Give the distribution that is asked "
        f"for. Can the loss reach 0?",
        target,
        f"$\\varepsilon / V = {tex(eps / words)}$ for every word, and $1 - \\varepsilon$ more for the right one: "
        f"${tex(target)}$. No: the best that can be done is this distribution itself, and its entropy is above 0.",
        ((1, "a share for every word"), (1, "the right word keeps the rest and its share"), (1, "the floor")),
        {"V": words, "eps": eps, "label": label},
        known("09.smoothed-loss", "others-alone", others),
        known("09.smoothed-loss", "not-smoothed", np.eye(words)[label]),
    )


@ask("bytes", "number", points=3, minutes=4)
def memory(rng: np.random.Generator) -> Drawn:
    billions = pick(rng, 2, 3, 5, 7, 13)
    first, second = pick(rng, ("master", "half"), ("autocast", "half"), ("master", "sgd"), ("float32", "half"))
    gigabytes = tuple(sum(state_bytes(billions * 10**9, recipe).values()) / 1e9 for recipe in (first, second))
    weights = tuple(float(billions * RECIPES[recipe].weights) for recipe in (first, second))
    recipe_text = " (b) ".join(RECIPES[recipe].says for recipe in (first, second))
    return posed(
        f"A model has {billions} billion parameters. How many GB ($10^9$ bytes) do weights, gradients and the "
        f"optimizer's states take with the recipe (a) {recipe_text}? Activations, and copies that live only during a "
        "pass, are left out.",
        gigabytes,
        "For each parameter "
        + " and ".join(
            f"({letter}) {sum(state_bytes(1, recipe).values())} bytes "
            f"({' + '.join(str(n) for n in state_bytes(1, recipe).values() if n)})"
            for letter, recipe in zip("ab", (first, second), strict=True)
        )
        + f": ${tex(gigabytes[0])}$ and ${tex(gigabytes[1])}$ GB.",
        ((2, "all that is kept, in bytes for each parameter"), (1, "both numbers")),
        {"billions": billions, "recipes": (first, second)},
        mistake(weights, "The weights alone are counted."),
        known("09.bytes", "one-moment"),
        known("09.bytes", "autocast-halves"),
    )


@ask("adam", "matrix", points=3, minutes=4)
def adam(rng: np.random.Generator) -> Drawn:
    gradient = np.array([int(n) for n in rng.choice([-40, -5, -2, 3, 10, 500], size=3, replace=False)])
    rate = pick(rng, 0.01, 0.001, 0.1)
    weight = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=rate, eps=0.0)
    weight.grad = torch.tensor(gradient, dtype=torch.float64)
    optimizer.step()
    change = weight.detach().numpy().round(12)
    return posed(
        "Adam ($\\beta_1 = 0.9$, $\\beta_2 = 0.999$, bias correction, $\\varepsilon$ left out) begins with the "
        f"gradient ${tex(gradient)}$ and the rate {rate}. Which are the changes of the weights in the first step? What "
        "would they be without the correction?",
        change,
        "Corrected, $\\hat m = g$ and $\\hat v = g^2$: each weight moves by the rate against the sign of its gradient, "
        f"${tex(change)}$, however large it is. Without it, $0.1 g / \\sqrt{{0.001 g^2}}$: about 3.16 times as much.",
        ((2, "the rate, with the signs"), (1, "too large without the correction")),
        {"gradient": gradient, "rate": rate},
        known("09.adam", "not-corrected", -rate * np.sign(gradient) * 0.1 / 0.001**0.5),
        known("09.adam", "uphill", -change),
        mistake(-rate * gradient, "This is a step of plain descent."),
    )


ask.true(
    "first-loss",
    "A new model with 1,000 equally likely words has a loss of about 6.9 nats a token.",
    "It knows nothing: $\\ln 1000 \\approx 6.9$.",
)
ask.false(
    "mean-of-means",
    "Two batches with different numbers of tokens: the mean of their two mean losses is the mean loss of all tokens.",
    "The smaller batch's tokens would count more. Sums are added and divided by all tokens.",
)
ask.true(
    "smoothed-floor",
    "With label smoothing a perfect model has a training loss above 0.",
    "The least possible loss is the entropy of the smoothed distribution.",
)
