"""Questions on chapter 2: from a dictionary to a soft lookup."""

from math import log

import numpy as np

from softlookup.reference.lookup import cosine_similarity, lookup_weights
from softlookup_course.exam.notes import logs, tex
from softlookup_course.exam.question import Chapter, Drawn, different, known, pick, posed

ask = Chapter(2)


@ask("mix", "matrix", points=4, minutes=6)
def mix(rng: np.random.Generator) -> Drawn:
    powers = different(rng, [1, 2, 3, 4, 5], 3)
    values = rng.integers(-4, 9, size=(3, 2))
    weights = lookup_weights(np.log(powers))
    answer = weights @ values
    return posed(
        f"A query's dot products with three keys are ${logs(powers)}$. The values are ${tex(values[0])}$, "
        rf"${tex(values[1])}$ and ${tex(values[2])}$. Give the weights at temperature $\tau = 1$, and the answer of "
        "the soft lookup.",
        (weights, answer),
        f"The powers of $e$ are {', '.join(map(str, powers))}, their sum is {sum(powers)}: weights ${tex(weights)}$. "
        f"The answer is the mean of the values by these weights, ${tex(answer)}$.",
        ((1, "powers of e"), (1, "divided by their sum"), (2, "the mixture of whole values, or with the own weights")),
        {"powers": powers, "values": values},
        known("02.lookup", "hard-argmax", (np.eye(3)[int(np.argmax(powers))], values[int(np.argmax(powers))])),
        known("02.lookup", "plain-mean", (weights, values.mean(axis=0))),
        known("02.mix", "not-normalised", (weights, np.array(powers) @ values)),
    )


@ask("temperature", "matrix", points=3, minutes=4)
def temperature(rng: np.random.Generator) -> Drawn:
    roots = different(rng, [1, 2, 3], 3)
    powers = [root**2 for root in roots]
    tau = pick(rng, 0.5, 2.0)
    weights = lookup_weights(np.log(powers), tau)
    other = lookup_weights(np.log(powers), 1 / tau)
    plain = lookup_weights(np.log(powers))
    comparison = "half of it" if tau == 0.5 else "twice as high"
    changed = "squared" if tau == 0.5 else "replaced by its root"
    return posed(
        f"At temperature 1 a soft lookup has weights in the proportion ${' : '.join(map(str, powers))}$. "
        f"Which weights has it at a temperature that is {comparison}?",
        weights,
        rf"Scores are divided by $\tau$, so each power of $e$ is {changed}: "
        f"${' : '.join(tex(p ** (1 / tau)) for p in powers)}$, and after division by the sum ${tex(weights)}$.",
        ((2, rf"each power is {changed}"), (1, "weights that sum to 1")),
        {"powers": powers, "tau": tau},
        known("02.weights", "tau-multiplied", other),
        known("02.weights", "tau-ignored", plain),
    )


@ask("cosine", "number", points=3, minutes=4)
def cosine(rng: np.random.Generator) -> Drawn:
    sides = ((3, 4), (4, 3), (5, 12), (12, 5), (8, 15))
    q, a, b = (np.array(sides[i]) for i in different(rng, range(5), 3))
    scale = pick(rng, 2, 3)
    b = b * scale
    cosines = cosine_similarity(q[None], np.stack([a, b]))[0]
    dots = np.array([float(q @ a), float(q @ b)])
    return posed(
        f"A query is ${tex(q)}$, two keys are $k_1 = {tex(a)}$ and $k_2 = {tex(b)}$. Give both cosine similarities "
        "as fractions, and say which key is the best by the cosine, and which by the dot product.",
        (cosines, (1 + int(cosines.argmax()), 1 + int(dots.argmax()))),
        f"Lengths {tex(np.hypot(*q))}, {tex(np.hypot(*a))} and {tex(np.hypot(*b))}; dot products "
        f"{tex(dots[0])} and {tex(dots[1])}; cosines ${tex(cosines)}$. Best by the cosine: "
        f"$k_{1 + int(cosines.argmax())}$; by the dot product: $k_{1 + int(dots.argmax())}$.",
        ((1, "lengths"), (1, "both cosines"), (1, "both answers, or from the own numbers")),
        {"q": q, "a": a, "b": b},
        known("02.similarity", "dot-product", (dots, (1 + int(dots.argmax()), 1 + int(dots.argmax())))),
        known("02.similarity", "one-length-for-all"),
    )


@ask("lead", "number", points=4, minutes=6)
def lead(rng: np.random.Generator) -> Drawn:
    others, odds, tau = pick(rng, 5, 7, 10, 20), pick(rng, 2, 3, 4), pick(rng, 2, 3)
    answer = tau * log(odds * others)
    return posed(
        rf"A store has {others + 1} keys. All but one have the same score, and the temperature is $\tau = {tau}$. By "
        rf"how much must the one lead for it to get $\tfrac{{{odds}}}{{{odds + 1}}}$ of the weight? Leave the "
        "logarithm as it is.",
        answer,
        rf"Against each of {others} others its power of $e$ is $e^{{\Delta / {tau}}}$. "
        rf"$e^{{\Delta / {tau}}} / (e^{{\Delta / {tau}}} + {others}) = {odds}/{odds + 1}$ gives "
        rf"$e^{{\Delta / {tau}}} = {odds} \cdot {others}$ and $\Delta = {tau} \ln {odds * others}$ "
        rf"($\approx {answer:.3g}$).",
        ((2, "the equation for the weight"), (1, "solved for the power"), (1, "the logarithm, times the temperature")),
        {"others": others, "odds": odds, "tau": tau},
        known("02.lead", "counted-itself", tau * log(odds * (others + 1))),
        known("02.lead", "tau-ignored", log(odds * others)),
        known("02.lead", "others-forgotten", tau * log(odds)),
        known("02.lead", "divided-by-tau", log(odds * others) / tau),
    )


ask.false(
    "raise-all",
    "If 10 is added to all scores of a query, its weights become sharper.",
    "The factor $e^{10/\\tau}$ stands in every power and in their sum, and cancels: the weights stay.",
)
ask.true(
    "exchange-pairs",
    "If two keys are exchanged, and their two values with them, no answer changes.",
    "Two columns of weights change places, and two rows of values with them: the sum is the same.",
)
ask.false(
    "tie-goes-to-first",
    "Two keys tie for the best score. As the temperature goes to 0, the first of them gets all of the weight.",
    "The two have equal weights at every temperature, so each goes to one half. Only an argmax takes the first.",
)


@ask("fits", "explanation", points=3, minutes=4)
def fits(rng: np.random.Generator) -> Drawn:
    shop = pick(rng, "tools, and somebody asks for *milk*", "fruit, and somebody asks for *a hammer*")
    return posed(
        f"A soft lookup over a store of prices knows {shop}. What does it answer? Compare with a Python dictionary, "
        "and say whether the weights show that no key fitted.",
        None,
        "It answers with a mean of the prices, since weights sum to 1 whatever the scores are; the dictionary raises a "
        "`KeyError`, or returns a value for what is missing. The weights alone do not show it: adding the same number "
        "to all scores changes no weight, so bad scores and good ones can give the same row. Nearly equal weights are "
        "a hint, no proof.",
        ((1, "a mean of all values comes back"), (1, "a dictionary says that the key is missing"), (1, "not visible")),
        {"shop": shop},
    )
