"""Questions on chapter 16: serving."""

import numpy as np

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(16)


def _given_out(wants: list[int], budget: int) -> list[int]:
    """What each gets of a budget, one after the other."""
    before = np.concatenate([[0], np.cumsum(wants)[:-1]])
    return [int(n) for n in np.clip(budget - before, 0, wants)]


@ask("latency", "number", points=3, minutes=4)
def latency(rng: np.random.Generator) -> Drawn:
    waits = rng.choice(np.arange(20, 90), size=6, replace=False)
    arrival, first = int(rng.integers(1, 9)) * 100, int(rng.integers(3, 9)) * 100
    times = arrival + first + np.concatenate([[0], np.cumsum(waits)])
    ranked = np.sort(waits)
    value = (first, int(ranked[2]), int(ranked[5]))
    interpolated = tuple(float(np.percentile(waits, p)) for p in (50, 95))
    return posed(
        f"A request arrives at {arrival} ms, and its tokens at {', '.join(map(str, times))} ms. Give (a) its time to "
        "first token, and by nearest rank (b) the 50th and (c) the 95th percentile of its times between tokens.",
        value,
        f"(a) {times[0]} - {arrival} = {first} ms. The six waits, sorted: {', '.join(map(str, ranked))} ms. (b) Place "
        f"$6 \\cdot 0.5 = 3$: {value[1]} ms. (c) Place $6 \\cdot 0.95 = 5.7$, rounded up to 6: {value[2]} ms.",
        ((1, "(a), counted from the arrival"), (1, "(b), one of the waits"), (1, "(c), rounded up")),
        {"arrival": arrival, "times": times},
        known("16.latencies", "interpolated", (first, *interpolated)),
        known("16.latencies", "first-wait-between", (first, int(ranked[3]), first)),
        known("16.latencies", "one-rank-too-high", (first, int(ranked[3]), int(ranked[5]))),
        known("16.latencies", "arrival-ignored", (int(times[0]), *value[1:])),
    )


@ask("admit", "number", points=4, minutes=6)
def admit(rng: np.random.Generator) -> Drawn:
    layers, kv_heads, width = pick(rng, 10, 20, 40), pick(rng, 2, 4, 8), pick(rng, 50, 100)
    heads, size = 4 * kv_heads, pick(rng, 10, 20)
    prompt, new = (int(n) for n in rng.integers(11, 40, 2) * 10 + rng.integers(1, 10, 2))
    token = 2 * layers * kv_heads * width * 2
    needed = -(-(prompt + new) // size)
    fits = int(rng.integers(8, 30))
    blocks = fits * needed + int(rng.integers(1, needed))
    free = blocks * size * token
    value = (blocks, fits)
    return posed(
        f"A model has {layers} layers, {heads} query heads and {kv_heads} key-value heads of width {width}, and its "
        f"cache holds numbers of 2 bytes. Beside weights and reserve, ${tex(free)}$ bytes are left, in blocks of "
        f"{size} tokens. (a) How many blocks are there? (b) How many requests are sure to fit, each with a prompt of "
        f"{prompt} tokens and at most {new} new ones?",
        value,
        f"(a) A token takes $2 \\cdot {layers} \\cdot {kv_heads} \\cdot {width} \\cdot 2 = {tex(token)}$ bytes, a "
        f"block ${tex(size * token)}$: ${tex(blocks)}$ blocks. (b) A request needs {prompt + new} / {size}, rounded "
        f"up: {needed} blocks; {blocks} / {needed}, rounded down, is {fits}.",
        ((1, "(a): key-value heads, keys and values"), (1, "(a)"), (1, "(b): rounded up"), (1, "(b): rounded down")),
        {
            "free": free,
            "layers": layers,
            "kv_heads": kv_heads,
            "width": width,
            "size": size,
            "prompt": prompt,
            "new": new,
        },
        known("16.admit", "query-heads", (blocks // 4, blocks // 4 // needed)),
        known("16.admit", "keys-alone", (2 * blocks, 2 * blocks // needed)),
        known("16.admit", "answers-forgotten", (blocks, blocks // -(-prompt // size))),
    )


@ask("schedule", "matrix", points=4, minutes=5)
def schedule(rng: np.random.Generator) -> Drawn:
    prefilling, first, second = (int(rng.integers(low, high)) for low, high in ((5, 30), (20, 60), (40, 90)))
    budget = 2 + prefilling + first + int(rng.integers(5, 30))
    wants = [1, 1, prefilling, first, second]
    answer = np.array(_given_out(wants, budget))
    late = _given_out([prefilling, first, second, 1, 1], budget)
    short = _given_out([1, 1, prefilling, min(first, second), max(first, second)], budget)
    return posed(
        f"A step of continuous batching may compute {budget} tokens. Two requests are decoding; of a third, "
        f"{prefilling} tokens of the prompt are not computed yet. Two more wait, with prompts of {first} and {second} "
        "tokens, and there are places enough. Decoding comes first, then prefill in chunks, in the order of arrival. "
        "How many tokens does each of the five compute, in this order?",
        answer,
        f"The decoding ones compute one token each, which leaves {budget - 2}. The running prefill takes {prefilling}, "
        f"the first waiting one {first}; for the last {int(answer[4])} of {second} are left: ${tex(answer)}$.",
        ((1, "one token for each that decodes"), (1, "the running prefill goes on"), (2, "the last chunk is cut")),
        {"budget": budget, "left": prefilling, "first": first, "second": second},
        known("16.schedule", "prefill-first", np.array([*late[3:], *late[:3]])),
        known("16.schedule", "budget-exceeded", np.array(wants)),
        known("16.schedule", "whole-prompts-alone", np.array([*answer[:4], 0])),
        known(
            "16.schedule",
            "shortest-first",
            np.array([*short[:3], *(short[3:] if first <= second else short[:2:-1])]) if first > second else None,
        ),
    )


@ask("draft", "number", points=4, minutes=5)
def draft(rng: np.random.Generator) -> Drawn:
    half, k = pick(rng, 0.5, 0.8, 0.6), int(pick(rng, 2, 3))
    cost = pick(rng, 0.1, 0.2, 0.25)
    tokens = float(sum(half**i for i in range(k + 1)))
    steps = k * cost + 1
    return posed(
        f"A drafted token is accepted with probability {half:g} if all before it were. A round drafts {k} tokens, each "
        f"of which takes {cost:g} of the time of a step of the large model, and checks them in one step. Give (a) the "
        "mean number of tokens that a round writes, (b) the round's time in steps, and (c) how many times as fast as "
        "the large model alone this is.",
        (tokens, steps, tokens / steps),
        f"(a) $1 + a + \\dots + a^{k} = {tex(tokens)}$, with the token that the large model gives in any case. (b) "
        f"${k} \\cdot {cost:g} + 1 = {tex(steps)}$. (c) ${tex(tokens / steps)}$.",
        ((2, "(a): powers, and one token more"), (1, "(b): draft and check"), (1, "(c): the quotient")),
        {"half": half, "k": k, "cost": cost},
        known("16.speedup", "bonus-forgotten", (tokens - 1, steps, (tokens - 1) / steps)),
        known("16.speedup", "each-by-itself", (1 + k * half, steps, (1 + k * half) / steps)),
        known("16.speedup", "draft-for-nothing", (tokens, 1.0, tokens)),
        known("16.speedup", "one-check-for-each", (tokens, k * cost + k, tokens / (k * cost + k))),
    )


@ask("money", "number", points=3, minutes=4)
def money(rng: np.random.Generator) -> Drawn:
    price, rate, utilisation = pick(rng, 1.8, 3.6, 7.2), pick(rng, 1000, 2000, 4000), pick(rng, 0.25, 0.4, 0.5)
    busy, value = price / 3600 / rate * 1e6, price / 3600 / (rate * utilisation) * 1e6
    return posed(
        f"A machine costs {price:g} euros an hour and writes {rate} tokens a second while it is busy, which it is "
        f"{100 * utilisation:g} % of the time. What does a million tokens cost in euros?",
        value,
        f"In an hour it writes $3600 \\cdot {rate} \\cdot {utilisation:g} = {tex(3600 * rate * utilisation)}$ tokens "
        f"for {price:g} euros; a million cost ${tex(value)}$.",
        ((1, "an hour has 3600 seconds"), (1, "divided by the utilisation"), (1, "the cost of a million")),
        {"price": price, "rate": rate, "share": utilisation},
        known("16.cost", "utilisation-forgotten", busy),
        known("16.cost", "utilisation-multiplied", busy * utilisation),
        known("16.cost", "minutes-for-seconds", 60 * value),
        mistake(value / 1000, "this is the cost of a thousand tokens"),
    )


@ask("masked", "number", points=3, minutes=4)
def masked(rng: np.random.Generator) -> Drawn:
    go, home, here = pick(rng, 0.6, 0.7, 0.8), pick(rng, 0.1, 0.2), pick(rng, 0.5, 0.9)
    fits = (go * home, (1 - go) * here)
    value = (fits[1] / sum(fits), 1 - go)
    return posed(
        f"A model writes two tokens. The first is `go` with probability {go:g}, otherwise `stay`. After `go` comes "
        f"`home` with probability {home:g}, after `stay` comes `here` with probability {here:g}. Of all texts, only "
        "`go home` and `stay here` fit a pattern. What is the probability of `stay here` (a) by the model, given that "
        "the text fits, and (b) if each token is drawn under the mask of the pattern?",
        value,
        f"(a) The texts that fit have the probabilities ${go:g} \\cdot {home:g} = {tex(fits[0])}$ and ${tex(1 - go)} "
        f"\\cdot {here:g} = {tex(fits[1])}$; the second, divided by their sum, is ${tex(value[0])}$. (b) Both "
        f"first tokens are allowed, and then a single one is: ${tex(value[1])}$.",
        (
            (1, "(a): the texts that fit"),
            (1, "(a): divided by their sum"),
            (1, "(b): what comes later has no part in it"),
        ),
        {"go": go, "home": home, "here": here},
        mistake((value[0], value[0]), "the mask is taken to leave the proportions of whole texts as they are"),
        mistake((fits[1], value[1]), "(a) is not divided by the probability that a text fits"),
        known("16.constrained-step", "mask-after-softmax", (value[0], fits[1])),
    )


@ask("overload", "explanation", points=4, minutes=5)
def overload(rng: np.random.Generator) -> Drawn:
    return posed(
        "While a server writes for twenty readers, a prompt of 50,000 tokens arrives. Without chunked prefill all of "
        "them see their text stand still. Say why, what chunked prefill changes for the readers and for the new "
        "request, and how the size of a chunk is chosen.",
        None,
        "A step ends when everything in it is computed, and the whole prompt would be one step of seconds, in which "
        "nobody gets a token. With chunks, each step computes one token for each reader and a part of the prompt, so "
        "the times between tokens stay below a limit. The new request's first token comes later, because its prefill "
        "is spread over many steps, each of which reads the weights again. The chunk is as large as the wanted time "
        "between tokens allows; smaller ones waste reading where a step is not limited by operations.",
        (
            (1, "one step holds the whole prefill"),
            (1, "time between tokens"),
            (1, "time to first token"),
            (1, "its size"),
        ),
    )


ask.true(
    "batch-for-ever",
    "If each sequence's cache takes longer to read than its token takes to compute, no batch is large "
    "enough for a decoding step to be limited by operations.",
    "Both times grow with the batch, and reading grows faster and begins above 0.",
)
ask.false(
    "mean-of-waits",
    "If the mean time between tokens is 30 milliseconds, half of the waits are at most 30 milliseconds.",
    "That is the median. A few long waits raise the mean, or many waits lie just above it and a few far below.",
)
ask.false(
    "block-anywhere",
    "Two prompts that agree in tokens 17 to 32 can share the block that holds these tokens, whatever stands before.",
    "Keys and values depend on all tokens before, so everything up to the block's end has to agree.",
)
ask.true(
    "every-draft-pays",
    "If every drafted token is accepted and drafting a token takes less time than a step of the large "
    "model, each token more in a draft makes a round faster for each token.",
    "$(k + 1) / (k c + 1)$ grows with $k$ if $c < 1$.",
)
