"""Questions on chapter 17: looking inside."""

import numpy as np

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(17)

_SUMS = ((1, 7), (7, 1), (2, 14), (14, 2), (7, 17), (17, 7))
"""Vectors of two numbers whose root mean square is a whole number."""


@ask("attribute", "number", points=4, minutes=6)
def attribute(rng: np.random.Generator) -> Drawn:
    last = np.array(pick(rng, *_SUMS))
    embedding, head = rng.integers(-4, 6, 2), rng.integers(1, 7, 2)
    network, column = last - embedding - head, rng.integers(1, 5, 2)
    rms = float(np.sqrt((last**2).mean()))
    whole, part = float(column @ last), float(column @ head)
    return posed(
        f"The residual stream at the last position is the sum of the embedding ${tex(embedding)}$, what a head adds, "
        f"${tex(head)}$, and what a feed-forward network adds, ${tex(network)}$. An RMSNorm without gain and with "
        f"$\\varepsilon = 0$ follows. The output matrix has the column ${tex(column)}$ for a token. Give (a) the "
        "token's logit and (b) the direct contribution of the head to it.",
        (whole / rms, part / rms),
        f"The sum is ${tex(last)}$, its root mean square {rms:g}. (a) ${tex(whole)} / {rms:g} = {tex(whole / rms)}$. "
        f"(b) The divisor is held: ${tex(part)} / {rms:g} = {tex(part / rms)}$.",
        ((1, "the sum"), (1, "its root mean square"), (1, "(a)"), (1, "(b), with the divisor of the whole sum")),
        {"embedding": embedding, "head": head, "network": network, "column": column},
        known("17.attribute-heads", "divisor-left-out", (whole, part)),
        known("17.attribute-heads", "root-forgotten", (whole / rms**2, part / rms**2)),
        known("17.attribute-heads", "sum-of-squares", (whole / rms / 2**0.5, part / rms / 2**0.5)),
        known("17.attribute-heads", "each-part-normalised", (whole / rms, part / float(np.sqrt((head**2).mean())))),
    )


@ask("induction", "number", points=3, minutes=4)
def induction(rng: np.random.Generator) -> Drawn:
    rows = [rng.dirichlet(np.ones(n)) for n in (4, 5, 6)]
    weights = np.zeros((3, 6))
    for row, probabilities in zip(weights, rows, strict=True):
        row[: len(probabilities)] = np.round(20 * probabilities) / 20
        row[0] += 1 - row.sum()
    weights = weights.round(2)
    target_weights = [float(weights[i, i + 1]) for i in range(3)]
    score = sum(target_weights) / 3
    return posed(
        "A model reads the tokens $a\\,b\\,c\\,a\\,b\\,c$ under a causal mask. Here are the attention weights of one "
        f"head for the three queries of the second copy, a row for each: $${tex(weights)}$$ What is its induction "
        "score?",
        score,
        f"The query at position $t$, counted from 0, should attend to $t - 3 + 1$, the token after the earlier "
        f"occurrence: positions 1, 2 and 3. The mean of "
        f"{', '.join(f'{weight:g}' for weight in target_weights)} is ${tex(score)}$.",
        ((1, "the token AFTER the earlier occurrence"), (1, "the three weights"), (1, "their mean")),
        {"weights": weights},
        known("17.induction", "same-token", float(np.mean([weights[i, i] for i in range(3)]))),
        known("17.induction", "token-before", float(np.mean([weights[i, i + 2] for i in range(3)]))),
        known("17.induction", "largest", max(target_weights)),
        known("17.induction", "summed", sum(target_weights)),
        known("17.induction", "last-query-left-out", sum(target_weights[:2]) / 2),
    )


@ask("patched", "number", points=3, minutes=4)
def patched(rng: np.random.Generator) -> Drawn:
    fraction = float(pick(rng, 0.25, 0.5, 0.75, 0.8))
    corrupted, gap = -int(rng.integers(1, 5)), 4 * int(rng.integers(2, 5))
    clean, between = corrupted + gap, corrupted + fraction * gap
    lower = rng.integers(2, 9, 3)
    pairs = [(float(low + d), float(low)) for low, d in zip(lower, (clean, corrupted, between), strict=True)]
    logit_texts = [f"{a:g} and {b:g}" for a, b in pairs]
    return posed(
        f"Two tokens, *la* and *le*, have the logits {logit_texts[0]} in the clean run, {logit_texts[1]} in the "
        f"corrupted one, and {logit_texts[2]} in the corrupted run with one activation taken from the clean one. What "
        "share of the answer, measured as the difference of the two logits, does the patch bring back?",
        fraction,
        f"The differences are {clean:g}, {corrupted:g} and {between:g}. "
        f"$({between:g} - ({corrupted:g})) / ({clean:g} - ({corrupted:g})) = {tex(fraction)}$.",
        ((1, "the three differences"), (1, "above: patched minus corrupted"), (1, "below: clean minus corrupted")),
        {"clean": pairs[0], "corrupted": pairs[1], "patched": pairs[2]},
        known("17.patch", "share-of-the-clean-answer", (between - corrupted) / clean),
        known("17.patch", "corrupted-not-subtracted", between / gap),
        known("17.patch", "missing-share", 1 - fraction if fraction != 0.5 else None),
        known("17.patch", "not-divided", between - corrupted),
        mistake(between / clean, "the corrupted answer is subtracted neither above nor below"),
    )


@ask("selectivity", "number", points=3, minutes=3)
def selectivity(rng: np.random.Generator) -> Drawn:
    n = int(pick(rng, 200, 400, 500))
    correct, control = int(0.01 * n * rng.integers(80, 97)), int(0.01 * n * rng.integers(60, 79))
    value = (correct - control) / n
    return posed(
        f"A probe with two classes of equal size is tried on {n} held-out states and is right for {correct} of them. A "
        "second probe is trained on the same states with a random class for each word, and on the held-out ones it "
        f"gives {control} of these classes. What is the selectivity?",
        value,
        f"${correct} / {n} - {control} / {n} = {tex(value)}$. Half of the states are right by guessing, but what "
        "counts is how well a probe can learn words by heart.",
        ((1, "both accuracies"), (2, "their difference, not the distance from guessing")),
        {"n": n, "right": correct, "control": control},
        known("17.selectivity", "chance-subtracted", correct / n - 0.5),
        known("17.selectivity", "quotient", correct / control),
        known("17.selectivity", "exchanged", -value),
        mistake(correct / n, "this is the accuracy of the probe"),
    )


@ask("autoencoder", "number", points=4, minutes=5)
def autoencoder(rng: np.random.Generator) -> Drawn:
    length, below = 5 * int(rng.integers(1, 4)), int(rng.integers(1, 4))
    price = float(pick(rng, 0.1, 0.2, 0.4))
    off = rng.integers(1, 4, 2)
    state = np.array([3, 4]) * length // 5 + off
    error = float((off**2).sum())
    value = error + price * length
    return posed(
        f"A sparse autoencoder has two latents with the directions $(0.6,\\ 0.8)$ and $(0.8,\\ -0.6)$; both of its "
        f"decoder's and encoder's biases are 0, and its price is $\\lambda = {price:g}$. For the state ${tex(state)}$ "
        f"the latents are {length} and {-below} before the ReLU. What is the loss?",
        value,
        f"After the ReLU the latents are {length} and 0. The reconstruction is ${length} \\cdot (0.6,\\ 0.8) = "
        f"{tex(state - off)}$, the squared error ${tex(error)}$, the penalty ${price:g} \\cdot {length} = "
        f"{tex(price * length)}$, together ${tex(value)}$.",
        ((1, "the ReLU"), (1, "the reconstruction"), (1, "the squared error, added"), (1, "the penalty")),
        {"state": state, "length": length, "below": below, "price": price},
        known(
            "17.autoencoder",
            "no-relu",
            float(((state - length * np.array([0.6, 0.8]) + below * np.array([0.8, -0.6])) ** 2).sum())
            + price * (length - below),
        ),
        known("17.autoencoder", "mean-of-errors", error / 2 + price * length),
        known("17.autoencoder", "mean-of-latents", error + price * length / 2),
        known("17.autoencoder", "latents-counted", error + price),
        known("17.autoencoder", "penalty-forgotten", error),
        known("17.autoencoder", "error-rooted", error**0.5 + price * length),
    )


@ask("claim", "explanation", points=4, minutes=6)
def claim(rng: np.random.Generator) -> Drawn:
    return posed(
        "In a translator, one head of cross-attention attends from *amie* to *girl* with weight 0.9. Somebody "
        "concludes that this head makes the word feminine. Say why the weight does not show it, and describe an "
        "experiment that would, with what is changed, what is measured, and what it is compared with.",
        None,
        "The weight says from where the head reads, not what it writes or whether anything uses it; another head may "
        "carry the gender. Take two sentences that differ only in *girl* and *boy*, run the one with *boy*, and put "
        "what this head gives for *girl* in its place. Measure the difference of the logits of the feminine and the "
        "masculine form, as a share of the difference between the two runs. Compare with the other heads, each "
        "patched alone. Silencing it would show whether it is needed, against silencing other heads.",
        (
            (1, "a weight is no effect"),
            (1, "one activation is changed"),
            (1, "a difference of logits"),
            (1, "the other heads as a control"),
        ),
    )


ask.true(
    "lens-at-the-end",
    "After the last layer of a pre-norm model, the logit lens shows exactly what the model predicts.",
    "There it applies the last norm and the output matrix to the last state, which is what the model does.",
)
ask.false(
    "no-rise-no-use",
    "If the mean loss of a text stays the same when a head is silenced, none of the text's predictions has changed.",
    "Some may have become better and others worse by as much. A mean hides both.",
)
ask.true(
    "same-for-all",
    "A part that adds the same number to every logit changes no probability.",
    "The softmax divides by a sum in which every term has the same factor.",
)
ask.false(
    "perfect-probe",
    "If a linear probe is right on all states that it was trained on, its layer represents the label.",
    "With as many dimensions as states, a probe can fit any labels, random ones too. Held-out states and "
    "a control task tell the difference.",
)
