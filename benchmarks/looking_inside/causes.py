"""Activation patching: which head carries the gender of a noun into French, and where SmolLM2 keeps a country."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from benchmarks.looking_inside.reading import CAPITAL, smollm2
from benchmarks.looking_inside.results import (
    AddedDirection,
    CapitalPatching,
    CountryHead,
    GenderPatching,
    LikelyTokens,
    Matrix,
)
from benchmarks.looking_inside.sizes import InsideSizes
from softlookup.looking_inside import activation_patching, silence
from softlookup.model.parts.trace import Patch, Trace
from softlookup.model.published.translator import Translator, load_translator

PAIRS = (
    ("The girl is small.", "The boy is small.", (), "▁La", "▁Le"),
    ("A woman is happy.", "A man is happy.", (), "▁Une", "▁Un"),
    ("The woman is happy.", "The man is happy.", ("▁L'", "en", "fant", "▁est", "▁heure"), "use", "ux"),
    ("The girl is happy.", "The boy is happy.", ("▁L'", "en", "fant", "▁est", "▁heure"), "use", "ux"),
)
"""Clean source, corrupted source, what the decoder is given, and the next token for each.

In the first two the next token is an article; in the others an adjective's ending, after a noun of either gender.
"""

STEERED = (
    ("People in Italy speak", " Italy", " Italian", " French"),
    ("The people of Italy speak", " Italy", " Italian", " French"),
    ("The language of Italy is", " Italy", " Italian", " French"),
    ("The capital of Germany is", " Germany", " Berlin", " Paris"),
    ("The capital of Spain is", " Spain", " Madrid", " Paris"),
)
"""Texts in which a country's vector is changed, the country, and what follows it and France."""

LAYERS_PASSED = 10
"""After how many layers it is changed."""


@cache
def _translator() -> Translator:
    return load_translator()


def gender(plan: InsideSizes) -> list[GenderPatching]:
    """Patch every head of the translator with its output for the other gender.

    For each pair of sources, the logit differences, and the recovered share for each layer and head of cross-attention,
    of the decoder's self-attention and of the encoder's; for the two cross-attention heads with the largest shares
    together; and for the encoder's states by layer and position.
    """
    return [_gender_of(*pair) for pair in PAIRS[: plan.pairs]]


@torch.no_grad()
def _gender_of(clean: str, corrupted: str, prefix: tuple[str, ...], word: str, other: str) -> GenderPatching:
    translator = _translator()
    config, vocabulary = translator.model.config, translator.tokenizer.vocabulary
    sources = {text: torch.tensor([translator.tokenizer.encode(text, end=True)]) for text in (clean, corrupted)}
    prefix_ids = torch.tensor([[config.start_id, *(vocabulary.id(token) for token in prefix)]])
    token, against = vocabulary.id(word), vocabulary.id(other)

    def run_with(keyword: str) -> Callable[[str, Trace], Tensor]:
        def run(text: str, trace: Trace) -> Tensor:
            logits_V = translator.model(sources[text], prefix_ids, **{keyword: trace})[0, -1]
            return logits_V[token] - logits_V[against]

        return run

    decoder, encoder = run_with("trace"), run_with("encoder_trace")
    n_heads = config.n_heads

    def by_head(run: Callable[[str, Trace], Tensor], place: str, n_layers: int) -> Matrix:
        where = [(place, layer, head) for layer in range(n_layers) for head in range(n_heads)]
        return _rounded(activation_patching(run, clean, corrupted, where).reshape(n_layers, n_heads))

    deep, high = len(translator.model.encoder.layers), len(translator.model.decoder.layers)
    cross = by_head(decoder, "cross_heads", high)
    shares = {("cross_heads", layer, head): share for layer, row in enumerate(cross) for head, share in enumerate(row)}
    two = sorted(shares, key=lambda where: -shares[where])[:2]
    both = activation_patching(decoder, clean, corrupted, [list(two)])
    positions = range(sources[clean].shape[1])
    states = activation_patching(
        encoder, clean, corrupted, [("state", layer) for layer in range(deep + 1)], positions=positions
    )
    return GenderPatching(
        clean=clean,
        corrupted=corrupted,
        given=prefix,
        difference_of=(word, other),
        clean_difference=round(float(decoder(clean, Trace())), 3),
        corrupted_difference=round(float(decoder(corrupted, Trace())), 3),
        cross_heads=cross,
        decoder_heads=by_head(decoder, "heads", high),
        encoder_heads=by_head(encoder, "heads", deep),
        strongest=[(layer, head) for _, layer, head in two],
        strongest_together=round(both.item(), 4),
        encoder_states=_rounded(states),
        source_tokens=[vocabulary.token(i) for i in sources[clean][0].tolist()],
    )


def capital(plan: InsideSizes) -> CapitalPatching:
    """Patch SmolLM2's residual stream, place by place, where two prompts name different countries.

    The logit differences, and the recovered share for each layer's state at each position, for what attention and the
    feed-forward network add at the last position, and for each head.
    """
    chat = smollm2()
    clean, word, corrupted, other = CAPITAL
    ids = {text: torch.tensor([chat.encode(text)]) for text in (clean, corrupted)}
    token, against = chat.encode(word)[0], chat.encode(other)[0]

    def run(text: str, trace: Trace) -> Tensor:
        logits_V = chat.model(ids[text], trace=trace)[0, -1]
        return logits_V[token] - logits_V[against]

    config = chat.model.config
    layers, heads, positions = range(config.n_layers), range(config.n_heads), range(ids[clean].shape[1])
    states = activation_patching(
        run, clean, corrupted, [("state", layer) for layer in range(config.n_layers + 1)], positions=positions
    )
    one_head = activation_patching(run, clean, corrupted, [("heads", i, j) for i in layers for j in heads])
    with torch.no_grad():
        differences = [round(float(run(text, Trace())), 3) for text in (clean, corrupted)]
    return CapitalPatching(
        clean=clean,
        corrupted=corrupted,
        difference_of=(word, other),
        clean_difference=differences[0],
        corrupted_difference=differences[1],
        tokens=[chat.decode([i]) for i in ids[clean][0].tolist()],
        states=_rounded(states),
        heads=_rounded(one_head.reshape(config.n_layers, config.n_heads)),
    )


@torch.no_grad()
def country_head(plan: InsideSizes) -> CountryHead:
    """Look at the head that carries a country to SmolLM2's last word: what it attends to, and what it causes.

    The weights of all heads from the last word to the country and to the first word; by how much the preference for the
    capital falls without each head; the likeliest tokens as it is, without the head, and with what the head gives in
    the other text; and what the difference of the two countries' vectors does in further texts, beside random
    directions of the same length.
    """
    chat = smollm2()
    clean, word, corrupted, other = CAPITAL
    config, ids = chat.model.config, {text: torch.tensor([chat.encode(text)]) for text in (clean, corrupted)}
    token, against = chat.encode(word)[0], chat.encode(other)[0]
    place = ids[clean][0].tolist().index(chat.encode(" France")[0])
    traces = {text: Trace() for text in ids}

    def gap(logits_V: Tensor) -> float:
        return float(logits_V[token] - logits_V[against])

    wholes = {text: gap(chat.model(ids[text], trace=trace)[0, -1]) for text, trace in traces.items()}
    fall = [
        [
            wholes[clean] - gap(chat.model(ids[clean], trace=Trace(silence([(layer, head)])))[0, -1])
            for head in range(config.n_heads)
        ]
        for layer in range(config.n_layers)
    ]
    layer, head = divmod(int(torch.tensor(fall).argmax()), config.n_heads)
    weights_LNS = torch.stack([weights_BNTS[0, :, -1] for weights_BNTS in traces[clean].weights])

    def passed(text: str, done: str, patches: dict[tuple[str, int], Patch] | None = None) -> LikelyTokens:
        logits_V = chat.model(ids[text], trace=Trace(patches or {}))[0, -1]
        shares, likeliest = logits_V.softmax(dim=-1).topk(5)
        return LikelyTokens(
            text,
            done,
            [chat.decode([i]) for i in likeliest.tolist()],
            [round(share, 4) for share in shares.tolist()],
            round(gap(logits_V), 3),
        )

    def with_the_head_of(text: str) -> dict[tuple[str, int], Patch]:
        def patch(z_BNTH: Tensor) -> Tensor:
            z_BNTH = z_BNTH.clone()
            z_BNTH[:, head] = traces[text].heads[layer][:, head]
            return z_BNTH

        return {("heads", layer): patch}

    passes = [
        passed(clean, "as it is"),
        passed(clean, "the head silenced", silence([(layer, head)])),
        passed(clean, "the head's output from the other text", with_the_head_of(corrupted)),
        passed(corrupted, "as it is"),
        passed(corrupted, "the head's output from the other text", with_the_head_of(clean)),
    ]
    direction_D = (traces[clean].states[LAYERS_PASSED] - traces[corrupted].states[LAYERS_PASSED])[0, place]
    return CountryHead(
        layer=layer,
        head=head,
        on_country=_rounded(weights_LNS[:, :, place]),
        on_first=_rounded(weights_LNS[:, :, 0]),
        fall_when_silenced=[[round(value, 3) for value in row] for row in fall],
        passes=passes,
        layers_passed=LAYERS_PASSED,
        directions=[_added(*steered, direction_D, plan.draws) for steered in STEERED],
    )


def _added(text: str, country: str, word: str, french: str, direction_D: Tensor, draws: int) -> AddedDirection:
    chat = smollm2()
    row = chat.encode(text)
    position = row.index(chat.encode(country)[0])
    generator = torch.Generator().manual_seed(0)

    def shares(addend_D: Tensor) -> Tensor:
        def patch(x_BTD: Tensor) -> Tensor:
            x_BTD = x_BTD.clone()
            x_BTD[:, position] += addend_D
            return x_BTD

        trace = Trace({("state", LAYERS_PASSED): patch})
        return chat.model(torch.tensor([row]), trace=trace)[0, -1].softmax(dim=-1)

    first, second = chat.encode(word)[0], chat.encode(french)[0]

    def of_both(addend_D: Tensor) -> tuple[float, float]:
        shares_V = shares(addend_D)
        return round(float(shares_V[first]), 4), round(float(shares_V[second]), 4)

    drawn = []
    for _ in range(draws):
        random_D = torch.randn(direction_D.shape, generator=generator)
        drawn.append(of_both(random_D * direction_D.norm() / random_D.norm()))
    whole, added = of_both(torch.zeros_like(direction_D)), of_both(direction_D)
    return AddedDirection(text, (word, french), whole, added, drawn)


def _rounded(x: Tensor) -> Matrix:
    return [[round(value, 4) for value in row] for row in x.tolist()]
