"""Questions on chapter 10: inference."""

import numpy as np
import torch

from softlookup.model.decoding.beam import length_penalty_of
from softlookup.model.decoding.sampling import next_token_probabilities
from softlookup.model.decoding.sampling import pick as pick_token
from softlookup.roofline.memory import cache_bytes
from softlookup.roofline.sizes import TransformerSizes
from softlookup_course.exam.notes import logs, tex
from softlookup_course.exam.question import Chapter, Drawn, different, known, mistake, pick, posed

ask = Chapter(10)


def _shares(rng: np.random.Generator, parts: int, whole: int) -> np.ndarray:
    """Different whole numbers above 0 with a given sum, in random order."""
    while True:
        cuts = np.sort(rng.choice(np.arange(1, whole), size=parts - 1, replace=False))
        numbers = np.diff(np.concatenate([[0], cuts, [whole]]))
        if len(set(numbers.tolist())) == parts:
            return numbers[rng.permutation(parts)]


@ask("top-p", "matrix", points=4, minutes=5)
def top_p(rng: np.random.Generator) -> Drawn:
    twentieths = _shares(rng, 5, 20)
    order = np.argsort(-twentieths)
    mass = np.cumsum(twentieths[order])
    n_kept = int(rng.integers(2, 4))
    p = (int(mass[n_kept - 2]) + 1) / 20
    if mass[n_kept - 1] == mass[n_kept - 2] + 1:
        return top_p(rng)
    answer = next_token_probabilities(torch.tensor(np.log(twentieths / 20))[None], top_p=p)[0].numpy().round(12)

    def of(n: int) -> np.ndarray:
        chosen = np.isin(np.arange(5), order[:n])
        return np.where(chosen, twentieths, 0) / twentieths[chosen].sum()

    return posed(
        f"Five tokens have the probabilities ${tex(twentieths / 20)}$. Sampling uses top-p with $p = {tex(p)}$. Give "
        "the probabilities from which the token is drawn.",
        answer,
        f"From the likeliest on: {', '.join(tex(m / 20).join('$$') for m in mass[:n_kept])}. Token {n_kept} of these "
        f"crosses $p$ and is kept. Divided by what is kept: ${tex(answer)}$.",
        ((1, "in the order of their size"), (1, "the one that crosses is kept"), (2, "divided by the kept mass")),
        {"shares": twentieths, "p": p},
        known("10.top-p", "crossing-dropped", of(n_kept - 1)),
        known("10.top-p", "not-renormalised", np.where(answer > 0, twentieths / 20, 0)),
        known("10.top-p", "one-more", of(n_kept + 1)),
    )


@ask("draw", "number", points=2, minutes=3)
def draw(rng: np.random.Generator) -> Drawn:
    tenths = _shares(rng, 4, 10)
    u = int(rng.integers(5, 95)) / 100
    token = int(pick_token(torch.tensor(tenths / 10)[None], torch.tensor([u]))[0])
    if (np.cumsum(tenths) == round(u * 10, 6)).any() or token == int(np.argmax(tenths)):
        return draw(rng)
    turned = int(pick_token(torch.tensor(tenths / 10)[None], torch.tensor([1 - u]))[0])
    return posed(
        f"Four tokens, numbered from 0, have the probabilities ${', '.join(f'{s / 10:g}' for s in tenths)}$. The "
        f"number drawn between 0 and 1 is {u:g}. Which token is written? And which at temperature 0?",
        (token, int(np.argmax(tenths))),
        f"The sums are {', '.join(f'{s / 10:g}' for s in np.cumsum(tenths))}; {u:g} falls on the stretch of token "
        f"{token}. At temperature 0 the likeliest, token {int(np.argmax(tenths))}.",
        ((1, "sums from the left"), (1, "the likeliest at temperature 0")),
        {"shares": tenths, "u": u},
        known("10.draw", "always-likeliest", (int(np.argmax(tenths)), int(np.argmax(tenths)))),
        known("10.draw", "turned-round", (turned, int(np.argmax(tenths))) if turned != token else None),
    )


@ask("temperature", "number", points=3, minutes=3)
def temperature(rng: np.random.Generator) -> Drawn:
    power, tau = different(rng, [2, 3, 4, 5], 1)[0], pick(rng, 0.5, 2.0, 0.25)
    square = power**2
    logits = torch.tensor([[float(np.log(square)), 0.0]], dtype=torch.float64)
    p = next_token_probabilities(logits, temperature=tau)[0]
    odds = round(float(p[0] / p[1]), 6)
    return posed(
        f"Two tokens have the logits ${logs([square, 1])}$. How many times as likely as the second is the first (a) at "
        f"temperature 1, (b) at temperature {tau:g}? (c) Does the order of two tokens ever change with the "
        f"temperature?",
        (square, odds),
        f"The ratio is $e^{{(\\ln {square} - 0)/\\tau}} = {square}^{{1/\\tau}}$: (a) {square}, (b) "
        f"${tex(odds)}$. (c) No: dividing by a positive number keeps the order.",
        ((1, "(a)"), (1, "(b)"), (1, "(c)")),
        {"square": square, "tau": tau},
        known("10.temperature", "multiplied", (square, float(square) ** tau)),
        known("10.temperature", "divided-after", (square, square)),
    )


@ask("beam", "matrix", points=4, minutes=6)
def beam(rng: np.random.Generator) -> Drawn:
    totals = np.array(sorted((-int(rng.integers(1, 6)) for _ in range(2)), reverse=True))
    steps = -np.stack([np.array(different(rng, range(1, 9), 3)) for _ in range(2)])
    sums = totals[:, None] + steps
    flat = np.sort(sums.ravel())[::-1]
    if flat[0] == flat[1] or flat[1] == flat[2] or totals[0] == totals[1]:
        return beam(rng)

    def names(values: np.ndarray) -> tuple[str, ...]:
        best = np.argsort(-values.ravel())[:2]
        return tuple(f"{'XY'[i // 3]}{'abc'[i % 3]}" for i in best)

    each = tuple(f"{'XY'[i]}{'abc'[int(sums[i].argmax())]}" for i in range(2))
    forgotten = names(steps)
    best = names(sums)
    return posed(
        f"A beam of two holds the texts X, with log-probability ${totals[0]}$, and Y, with ${totals[1]}$. The next "
        f"tokens a, b, c have the log-probabilities $${tex(steps)}$$ (first row after X, second after Y). Which two "
        "texts are kept, best first, with which totals? From which rows do their caches come?",
        (best, (int(flat[0]), int(flat[1]))),
        f"All six continuations compete: $${tex(sums)}$$ Kept are **{best[0]}** ({flat[0]}) and **{best[1]}** "
        f"({flat[1]}); the caches are those of {best[0][0]} and {best[1][0]}.",
        ((2, "totals of all continuations"), (1, "the two best of all"), (1, "the caches' rows")),
        {"totals": totals, "steps": steps},
        known("10.beam-step", "history-forgotten", (forgotten, (int(flat[0]), int(flat[1])))),
        known("10.beam-step", "one-each", (each, tuple(int(sums[i].max()) for i in range(2)))),
        known("10.append", "not-reordered"),
    )


@ask("penalty", "number", points=3, minutes=4)
def penalty(rng: np.random.Generator) -> Drawn:
    short, long = different(rng, [1, 4, 7], 2)
    short, long = min(short, long), max(short, long)
    alpha = 1.0
    a, b = -int(rng.integers(3, 9)), -int(rng.integers(4, 13))
    scores = tuple(n / length_penalty_of(length, alpha) for n, length in ((a, short), (b, long)))
    if scores[0] == scores[1] or (a > b) == (scores[0] > scores[1]):
        return penalty(rng)
    better = "first" if scores[0] > scores[1] else "second"
    plain = (a / short, b / long)
    return posed(
        f"Two finished texts have log-probabilities ${a}$ and ${b}$, and {short} and {long} "
        f"token{'' if long == 1 else 's'}, "
        r"the end token counted. They are compared with the length penalty $((5 + n)/6)^\alpha$ for $\alpha = 1$. "
        r"Give both "
        "scores. Which text wins, and which would win without the penalty?",
        (*scores, better),
        f"Divisors ${tex((5 + short) / 6)}$ and ${tex((5 + long) / 6)}$: scores ${tex(scores[0])}$ and "
        f"${tex(scores[1])}$. The {better} wins; without the penalty the other, since every token costs something.",
        ((2, "both scores"), (1, "who wins, with and without")),
        {"short": short, "long": long, "a": a, "b": b},
        known("10.score", "plain-mean", (*plain, "first" if plain[0] > plain[1] else "second")),
        known("10.score", "end-not-counted"),
        mistake((float(a), float(b), "first" if a > b else "second"), "The penalty is forgotten."),
    )


@ask("cache", "number", points=4, minutes=5)
def cache(rng: np.random.Generator) -> Drawn:
    layers, shared, head = pick(rng, 8, 16, 32), pick(rng, 2, 4, 8), pick(rng, 64, 128)
    batch, tokens = pick(rng, 1, 2, 4), pick(rng, 1024, 2048, 4096)
    heads = shared * pick(rng, 2, 4)
    sizes = TransformerSizes("a model", D=heads * head, N=heads, K=shared, H=head, F=1, V=1, L=layers)
    mib = cache_bytes(sizes, batch, tokens) / 2**20
    prompt, written = pick(rng, 5, 8, 10), pick(rng, 4, 5, 6)
    without = sum(prompt + i for i in range(written))
    return posed(
        f"A decoder has {layers} layers, {heads} query heads and {shared} key-value heads of width {head}. (a) How "
        f"many MiB does its cache take in half precision for {batch} text{'s' if batch > 1 else ''} of {tokens} "
        f"tokens? (b) It reads a prompt of {prompt} tokens and writes {written}. How many tokens run through the model "
        "without a cache, and how many with one? The last token written is not fed in again.",
        (mib, without, prompt + written - 1),
        f"(a) $2LBKSH$ numbers of two bytes: ${tex(mib)}$ MiB. (b) Without: "
        f"{' + '.join(str(prompt + i) for i in range(written))} = {without}; with one: "
        f"{prompt} + {written - 1} = {prompt + written - 1}.",
        ((2, "(a): keys and values, all layers, key-value heads, two bytes"), (1, "without"), (1, "with")),
        {"L": layers, "N": heads, "K": shared, "H": head, "B": batch, "S": tokens}
        | {"prompt": prompt, "written": written},
        known("10.cache-bytes", "query-heads", (mib * heads / shared, without, prompt + written - 1)),
        known("10.cache-bytes", "one-layer", (mib / layers, without, prompt + written - 1)),
        known("10.cache-bytes", "keys-alone", (mib / 2, without, prompt + written - 1)),
        known("10.cost", "last-fed-too", (mib, without + prompt + written, prompt + written)),
    )


ask.true(
    "last-position",
    "To write the next token, the logits of the last position are enough.",
    "The last position has seen the whole text so far. The others answer questions whose answers are known.",
)
ask.false(
    "greedy-likeliest",
    "Taking the likeliest token at every step gives the likeliest text.",
    "A token that is a little less likely may be followed by much likelier ones. A beam keeps some of "
    "these open, without a guarantee either.",
)
ask.false(
    "top-k-top-p",
    "Top-p with $p = 0.9$ keeps the same number of tokens at every step.",
    "It keeps a mass: few tokens where the model is sure, many where it is not. Top-k keeps a number.",
)
