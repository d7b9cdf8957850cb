"""Questions on chapter 12: counting a transformer."""

import numpy as np

from softlookup.roofline import Hardware, TransformerSizes, cache_bytes, causal_pairs, predicted_time_s, product_weights
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(12)


@ask("model", "number", points=4, minutes=6)
def model(rng: np.random.Generator) -> Drawn:
    width, layers, words = pick(rng, 100, 200, 500), pick(rng, 5, 10, 20), pick(rng, 1000, 5000, 10_000)
    sizes = TransformerSizes("a decoder", D=width, N=1, F=4 * width, V=words, L=layers)
    weights = product_weights(sizes)
    return posed(
        f"A decoder has {layers} layers, $D = N \\cdot H = {width}$, $F = 4D$ (two matrices, no biases) and a "
        f"vocabulary of ${tex(words)}$ with tied tables. Count (a) the weights that stand in a matrix product for "
        "every token, (b) the operations with them for one token forward, (c) for the training on one token. Scores "
        "and mixing are left out.",
        (weights, 2 * weights, 6 * weights),
        f"(a) $L \\cdot 12D^2 + VD = {tex(12 * layers * width**2)} + {tex(words * width)} = {tex(weights)}$: the table "
        f"counts once, for the logits; looking up is no product. (b) Two for each: ${tex(2 * weights)}$. (c) Six: "
        f"${tex(6 * weights)}$.",
        ((2, "(a), layers and logits"), (1, "(b), from the own (a)"), (1, "(c), from the own (a)")),
        {"D": width, "L": layers, "V": words},
        known("12.parameters", "logits-forgotten", tuple(n * (weights - words * width) for n in (1, 2, 6))),
        known("12.token", "one-operation", (weights, weights, 3 * weights)),
        known("12.token", "back-like-forward", (weights, 2 * weights, 4 * weights)),
    )


@ask("days", "number", points=4, minutes=5)
def days(rng: np.random.Generator) -> Drawn:
    billions, trillions = pick(rng, 1, 2, 4, 8), pick(rng, 0.1, 0.2, 0.5, 1.0)
    devices, peak, utilisation = pick(rng, 10, 20, 50, 100), pick(rng, 250, 500, 1000), pick(rng, 0.4, 0.5)
    flops = 6 * billions * 1e9 * trillions * 1e12
    rate = devices * peak * 1e12 * utilisation
    hours = flops / rate / 3600
    return posed(
        f"A model with {billions} billion weights is trained on {trillions:g} trillion ($10^{{12}}$) tokens, on "
        f"{devices} processors of {peak} TFLOP/s (dense), of which {100 * utilisation:g} % are reached. Give the "
        "operations, and the time in hours, to two digits. Scores and mixing are left out.",
        (flops, hours),
        f"$6 \\cdot {billions} \\cdot 10^9 \\cdot {trillions:g} \\cdot 10^{{12}} = {tex(flops)}$ operations at "
        f"${tex(rate)}$ a second: {float(f'{hours:.3g}'):,g} hours.",
        ((2, "six operations for each weight and token"), (1, "the rate, all processors and the share"), (1, "hours")),
        {"billions": billions, "trillions": trillions, "devices": devices, "peak": peak, "share": utilisation},
        known("12.days", "forward-alone", (flops / 3, hours / 3)),
        known("12.days", "one-device", (flops, hours * devices)),
        known("12.days", "peak-reached", (flops, hours * utilisation)),
    )


@ask("fits", "number", points=4, minutes=6)
def fits(rng: np.random.Generator) -> Drawn:
    memory, billions = pick(rng, (24, 7), (40, 13), (80, 13), (80, 30), (48, 7))
    layers, shared, head, tokens = pick(rng, 20, 40), pick(rng, 5, 10), pick(rng, 100, 125), pick(rng, 2000, 4000, 5000)
    heads = shared * pick(rng, 2, 4)
    sizes = TransformerSizes("a model", D=heads * head, N=heads, K=shared, H=head, F=1, V=1, L=layers)
    each = cache_bytes(sizes, 1, tokens)
    free_bytes = memory * 10**9 - 2 * billions * 10**9
    value = free_bytes // each
    per_head = cache_bytes(sizes.but(K=heads), 1, tokens)
    return posed(
        f"A processor has {memory} GB ($10^9$ bytes). A model of {billions} billion weights in half precision has "
        f"{layers} layers, {heads} query heads and {shared} key-value heads of width {head}. How many sequences of "
        f"{tokens} tokens fit beside the weights, if nothing else needs memory?",
        value,
        f"Weights: {2 * billions} GB; left: {memory - 2 * billions} GB. One sequence: $2 \\cdot {tokens} \\cdot "
        f"{layers} \\cdot {shared} \\cdot {head}$ numbers, ${tex(each / 1e6)}$ MB. So ${value}$, rounded down.",
        ((1, "weights in bytes"), (2, "bytes of one sequence"), (1, "the quotient, rounded down")),
        {"memory": memory, "billions": billions, "L": layers, "K": shared, "H": head, "S": tokens, "N": heads},
        known("12.cache", "query-heads", free_bytes // per_head),
        known("12.cache", "keys-alone", free_bytes // (each // 2)),
        known("12.cache", "weights-forgotten", memory * 10**9 // each),
        known("12.cache", "layers-forgotten", free_bytes * layers // each),
    )


@ask("step", "number", points=4, minutes=6)
def step(rng: np.random.Generator) -> Drawn:
    billions, giga, cache, batch = pick(rng, 5, 7, 10), pick(rng, 1000, 2000), pick(rng, 0.5, 1.0), pick(rng, 8, 16, 20)
    peak = 400
    machine = Hardware("a machine", {"bfloat16": peak * 1e12}, giga * 1e9, 80e9, "drawn for an exam")

    def seconds(n: int) -> float:
        moved = (2 * billions + cache * n) * 1e9
        return predicted_time_s(machine, 2 * billions * 1e9 * n, moved, "bfloat16")

    one_ms, batch_ms = seconds(1) * 1e3, seconds(batch) * 1e3
    rate = batch / seconds(batch)
    return posed(
        f"A model of {billions} billion weights in half precision, all of them in matrix products, writes on a machine "
        f"with {peak} TFLOP/s and {giga} GB/s. Each sequence has a cache of {cache:g} GB. Give the least time of a "
        f"step in milliseconds (a) for one sequence, (b) for {batch}, and (c) the tokens a second in (b).",
        (one_ms, batch_ms, rate),
        f"(a) {2 * billions} GB of weights and {cache:g} GB of cache: {one_ms:.4g} ms. (b) The weights once, {batch} "
        f"caches: {batch_ms:.4g} ms; the operations take only {2 * billions * 1e9 * batch / (peak * 1e12) * 1e3:.3g} "
        f"ms. (c) {rate:.4g}.",
        ((1, "(a)"), (1, "(b): weights once"), (1, "(b): a cache for each"), (1, "(c)")),
        {"billions": billions, "giga": giga, "cache": cache, "batch": batch},
        known("12.step", "weights-for-each", (one_ms, one_ms * batch, 1e3 / one_ms)),
        known("12.step", "one-cache", (one_ms, one_ms, batch / one_ms * 1e3)),
        known(
            "12.step",
            "cache-forgotten",
            tuple(2e3 * billions / giga for _ in range(2)) + (batch * giga / 2 / billions,),
        ),
    )


@ask("pairs", "number", points=3, minutes=4)
def pairs(rng: np.random.Generator) -> Drawn:
    tokens, past, wide = pick(rng, 8, 10, 20), pick(rng, 50, 90, 100), pick(rng, 64, 100, 128)
    full, causal = tokens**2, causal_pairs(tokens, tokens)
    behind = causal_pairs(tokens, past + tokens)
    value = tuple(4 * n * wide for n in (full, causal, behind))
    return posed(
        f"One layer with $N \\cdot H = {wide}$ reads {tokens} tokens. How many operations have scores and mixing "
        "together (a) in plain code, which computes the whole square, (b) in a kernel that skips what a causal mask "
        f"hides, (c) in that kernel, if {past} tokens stand in the cache before?",
        value,
        f"Each pair takes $2NH$ for its score and $2NH$ for its value. (a) {full} pairs: ${tex(value[0])}$. (b) "
        f"{tokens} · {tokens + 1} / 2 = {causal} pairs, the diagonal among them: ${tex(value[1])}$. (c) {past} · "
        f"{tokens} more: {behind} pairs, ${tex(value[2])}$.",
        ((1, "(a)"), (1, "(b), diagonal included"), (1, "(c)")),
        {"tokens": tokens, "kept": past, "wide": wide},
        known("12.layer", "one-operation", tuple(n // 2 for n in value)),
        known("12.layer", "diagonal-hidden", (value[0], 4 * (causal - tokens) * wide, 4 * (behind - tokens) * wide)),
        known("12.layer", "half-the-rectangle", (value[0], value[1], 2 * tokens * (past + tokens) * wide)),
    )


@ask("batching", "explanation", points=4, minutes=5)
def batching(rng: np.random.Generator) -> Drawn:
    few, many = pick(rng, (16, 32), (32, 64), (64, 128))
    return posed(
        f"A server writes for {few} people at once, then for {many}. With short texts, tokens a second nearly double; "
        "with long ones they hardly rise. Explain both, with the bytes that a step reads, and name one change to the "
        "model that helps with long texts.",
        None,
        "Each step reads all weights once, whoever is served, and the cache of each sequence. Short texts: the weights "
        "are nearly all bytes, shared by twice as many. Long texts: caches are nearly all bytes, and they double with "
        "the batch, so the time of a step doubles too; attention's intensity does not depend on the batch. Fewer "
        "key-value heads make the caches smaller (so does a window, or fewer bytes a number).",
        (
            (1, "weights are read once for the batch"),
            (1, "short texts: they are most of the bytes"),
            (1, "long texts: caches are, one for each"),
            (1, "a change that makes caches smaller"),
        ),
        {"one": few},
        known("12.decode", "keys-shared-by-all"),
        mistake(None, "Says that the peak is reached: attention is far from it."),
    )


ask.false(
    "precision-operations",
    "Going from float32 to bfloat16 halves the operations of a model.",
    "It halves bytes. Operations are the same; a machine may do them quicker.",
)
ask.true(
    "training-three",
    "Training on a token takes three times the operations of reading it, as far as weights go.",
    "Forward two for each weight; back two for the gradient of the input and two for that of the weight.",
)
ask.false(
    "double-prompt",
    "With a prompt twice as long, the products with the weights take four times the operations.",
    "Twice: each token passes the weights once. Only scores and mixing grow by the square.",
)
