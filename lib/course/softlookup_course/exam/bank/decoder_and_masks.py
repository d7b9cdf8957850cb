"""Questions on chapter 8: the decoder and masks."""

import numpy as np

from softlookup.reference.attention import softmax
from softlookup.reference.masks import causal_mask, combine_masks, padding_mask
from softlookup_course.exam.notes import logs, tex
from softlookup_course.exam.question import Chapter, Drawn, different, known, mistake, pick, posed

ask = Chapter(8)


@ask("combine", "matrix", points=4, minutes=5)
def combine(rng: np.random.Generator) -> Drawn:
    tokens, pads = 5, int(rng.integers(1, 3))
    in_front = bool(rng.integers(2))
    words = rng.integers(3, 30, size=tokens)
    ids = (
        np.where(np.arange(tokens) < pads, 0, words)
        if in_front
        else np.where(np.arange(tokens) < tokens - pads, words, 0)
    )
    padding, causal = padding_mask(ids[None], 0), causal_mask(tokens)
    both = combine_masks(padding, causal)
    assert both is not None
    answer = both[0, 0].astype(int)
    either = (padding[0, 0] | causal).astype(int)
    blind = pads if in_front else 0
    return posed(
        f"A decoder-only model reads the ids ${tex(tuple(ids))}$; id 0 is padding. Give the mask of self-attention as "
        "a matrix of 1 (may attend) and 0, a row for each query. How many rows see nothing?",
        (answer, blind),
        f"A pair must be allowed by both, so AND: $${tex(answer)}$$ "
        + (f"{blind} rows see nothing; their outputs are left out." if blind else "No row is empty."),
        ((2, "the triangle with its diagonal"), (1, "hidden columns, not rows"), (1, "rows that see nothing")),
        {"ids": ids},
        known("08.combine", "or-of-keeps", (either, int((either.sum(axis=1) == 0).sum()))),
        known("08.combine", "on-queries", ((padding[0, 0].T & causal).astype(int), pads)),
        known("08.combine", "transposed", ((padding[0, 0] & causal.T).astype(int), blind)),
    )


@ask("cached", "matrix", points=3, minutes=4)
def cached(rng: np.random.Generator) -> Drawn:
    past, new = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    mask = causal_mask(new, keys=past + new, offset=past).astype(int)
    top = np.tril(np.ones((new, past + new), dtype=int))
    return posed(
        f"A decoder has a cache of {past} tokens and is given {new} new ones at once. Give the causal mask of the new "
        "queries (1: may attend), and the places by which rotary positions turn them. Places count from 0.",
        (mask, tuple(range(past, past + new))),
        f"The triangle hangs at the bottom right: $${tex(mask)}$$ Places ${tex(tuple(range(past, past + new)))}$: as "
        "many as stand before.",
        ((2, "the mask"), (1, "the places")),
        {"kept": past, "new": new},
        known("08.causal", "top-left", (top, tuple(range(past, past + new)))),
        known("06.cached", "queries-from-zero", (mask, tuple(range(new)))),
        known("08.causal", "diagonal-hidden"),
    )


@ask("softmax", "matrix", points=3, minutes=4)
def masked(rng: np.random.Generator) -> Drawn:
    first, second = different(rng, [1, 2, 3, 4, 6], 3), different(rng, [1, 2, 3, 5], 3)
    hidden = int(rng.integers(3))
    mask = np.array([np.arange(3) != hidden, [False] * 3])
    rows = np.log([first, second])
    answer = np.stack([softmax(np.where(mask[0], rows[0], -np.inf)), np.zeros(3)])
    after = np.stack([softmax(rows[0]) * mask[0], np.zeros(3)])
    return posed(
        f"Two rows of scaled scores are ${logs(first)}$ and ${logs(second)}$; the mask (1: may attend) is "
        f"$${tex(mask.astype(int))}$$ Give the weights as this course defines them.",
        answer,
        f"Hidden scores are $-\\infty$ before the softmax, and a row with nothing to see is zeros: $${tex(answer)}$$",
        ((2, "the first row, which sums to 1"), (1, "zeros in the second")),
        {"first": first, "second": second, "hidden": hidden},
        known("08.masked-softmax", "mask-after-softmax", after),
        known("08.masked-softmax", "uniform-where-blind", np.stack([answer[0], np.full(3, 1 / 3)])),
        known("08.masked-softmax", "nan-rows"),
    )


@ask("labels", "matrix", points=3, minutes=4)
def labels(rng: np.random.Generator) -> Drawn:
    words = [sorted(different(rng, range(4, 40), n), key=lambda _: rng.random()) for n in (int(rng.integers(2, 4)), 4)]
    longest = 5
    decoder_ids = np.array([([1, *row] + [0] * longest)[:longest] for row in words])
    label_ids = np.array([([*row, 2] + [0] * longest)[:longest] for row in words])
    id_rows = " and ".join(f"${tex(tuple(row))}$" for row in words)
    counted = sum(len(row) + 1 for row in words)
    return posed(
        f"Two target sentences have the ids {id_rows}. `<BOS>` is 1, `<EOS>` 2, `<PAD>` 0. Give the batch that the "
        "decoder is given and the batch of labels, and say how many places count in the loss.",
        (decoder_ids, label_ids, counted),
        f"$$\\text{{given}} = {tex(decoder_ids)}, \\qquad \\text{{labels}} = {tex(label_ids)}$$ {counted} places "
        "count: padding does not.",
        ((1, "given, with its start"), (1, "labels, with their end"), (1, "padding left out")),
        {"words": words},
        known("08.labels", "not-shifted", (decoder_ids, decoder_ids, counted)),
        known("08.labels", "exchanged", (label_ids, decoder_ids, counted)),
        mistake((decoder_ids, label_ids, 10), "Padding is counted."),
    )


@ask("cross", "shape", points=3, minutes=3)
def cross(rng: np.random.Generator) -> Drawn:
    batch, heads, target, source = pick(rng, 2, 3), pick(rng, 4, 8), *different(rng, range(5, 13), 2)
    return posed(
        f"In an encoder-decoder a batch of {batch} sentences has {source} source tokens and {target} target tokens; "
        f"the layer has {heads} heads. Give the shape of the weights in cross-attention and of the mask that hides the "
        "source's padding. Who gives queries, who gives keys and values, and is there a causal mask?",
        ((batch, heads, target, source), (batch, 1, 1, source)),
        f"Weights $(B, N, T, S) = ({batch}, {heads}, {target}, {source})$, mask $({batch}, 1, 1, {source})$. Queries "
        "from the decoder, keys and values from the encoder. No causal mask: the whole source is there from the "
        "beginning.",
        ((1, "the weights"), (1, "the mask, on the key axis"), (1, "who asks whom; no causal mask")),
        {"B": batch, "N": heads, "T": target, "S": source},
        mistake(((batch, heads, source, target), (batch, 1, 1, target)), "The source asks and the target answers."),
        known("08.cross-attention", "causal-too"),
    )


@ask("leak", "explanation", points=4, minutes=5)
def leak(rng: np.random.Generator) -> Drawn:
    loss = pick(rng, "0.02", "0.04", "0.05")
    return posed(
        f"After an hour of training, a decoder's validation loss is {loss} nats a token, far below anything published; "
        "what it writes by itself is rubbish. What has most likely happened? Describe a test that shows it with "
        "untrained weights, and say why changing only the last token is not enough.",
        None,
        "The future leaks: labels are visible in the input (no causal mask, or one in the wrong direction, or labels "
        "that are not shifted), "
        "so the model copies. In writing there is nothing to copy. Test: change one token, compare outputs: no output "
        "before it may move. Changing the last one shows only that nobody sees the *last*; each token has to be "
        "changed in turn. Labels that are not shifted do not show in this test: print a row of both.",
        ((1, "a leak"), (1, "why writing is bad"), (1, "the test"), (1, "every place in turn")),
        {"loss": loss},
        known("09.find-leak", "last-token-alone"),
        mistake(None, "Says overfitting: the validation loss is good, too."),
    )


ask.true(
    "hidden-or",
    "Two masks in which True means *hidden* are joined by OR.",
    "Hidden is what the one or the other hides. (May look: AND.)",
)
ask.false(
    "divide-logits",
    "Dividing all logits by 0.5 changes which word is the likeliest.",
    "A positive factor keeps the order. The probabilities change: the likeliest becomes likelier.",
)
ask.true(
    "two-layer-leak",
    "Two layers have causal masks, one of which lets each token look one place ahead as well. Then no "
    "output depends on anything later than the very next token.",
    "The one layer reaches one place ahead, the other none: together one. (With a look ahead in both it would be two.)",
)
