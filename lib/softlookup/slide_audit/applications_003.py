"""Lecture 003, its last part: cross-attention, the papers it shows, its summary, and a word on norms."""

import numpy as np

from softlookup.reference import scaled_dot_product_attention
from softlookup.slide_audit.compare import cited, claim
from softlookup.slide_audit.item import Found, audited


@audited(
    "E112",
    lecture="003",
    slide="Questions about pictures: cross-attention",
    section="13_beyond_text#beyond-text-cross",
    states="In cross-attention the three parts belong to different kinds of input.",
    verdict="misleading",
    tell="A weight pairs a key with its value, so both have to come from the same token. And a decoder that looks at "
    "the source of a translation does the same with text on both sides.",
)
def who_asks_whom() -> Found:
    rng = np.random.default_rng(0)
    words, picture, sound = (rng.standard_normal((length, 4)) for length in (3, 7, 5))
    french, english = words, rng.standard_normal((2, 4))  # a translator's two sides, both text
    two = [
        scaled_dot_product_attention(one, other, other).shape for one, other in ((words, picture), (french, english))
    ]
    try:
        scaled_dot_product_attention(words, picture, sound)
        three = True
    except (TypeError, ValueError):  # the first where types are checked, as in tests
        three = False
    return claim(
        three,
        f"{len(words)} words that look at {len(picture)} patches get {two[0][0]} answers; with keys from those patches "
        f"and values from {len(sound)} pieces of sound there is no pairing, and the reference refuses. Queries come "
        "from one side, keys and values together from the other, and both sides may be text.",
    )


@audited(
    "E113",
    lecture="003",
    slide="Classifying pictures by contrast: the source",
    section="13_beyond_text#beyond-text-contrastive",
    states="The paper on CLIP is dated ICML 2011.",
    verdict="wrong",
    kind="cited",
    source=("radford2021",),
    tell="Ten years too early: the paper needs transformers, which are from 2017.",
    cause="One digit.",
)
def clip() -> Found:
    return cited("Radford and others, at the International Conference on Machine Learning of 2021.")


@audited(
    "E114",
    lecture="003",
    slide="Show, Attend and Tell: the source",
    section="13_beyond_text#beyond-text-maps",
    states="The paper is dated CVPR 2016, twice.",
    verdict="wrong",
    kind="cited",
    source=("xu2015",),
    tell="Look a paper up where it was printed; a date that is copied from slide to slide is no second witness.",
)
def show_attend_tell() -> Found:
    return cited(
        "Xu and others, at the International Conference on Machine Learning of 2015 (volume 37 of its proceedings). "
        "Its model is a convolutional network with an LSTM that attends; it is older than the transformer."
    )


@audited(
    "E115",
    lecture="003",
    slide="DINO: the source",
    section="13_beyond_text#beyond-text-dino",
    states="DINO is by Caron and others, 2021.",
    verdict="correct",
    kind="cited",
    source=("caron2021",),
)
def dino() -> Found:
    return cited("Caron and others, at the International Conference on Computer Vision of 2021.")


@audited(
    "E116",
    lecture="003",
    slide="Summary: where transformers start",
    section="03_tokens_and_embeddings#tokens-gradient",
    states="What enters the first block is generic and fixed beforehand; each block improves on it.",
    verdict="misleading",
    source=("vaswani2017",),
    tell="The same deck's recap praises what good word embeddings can do, and no table written by hand could. Fixed "
    "are only sinusoids, where a model uses them; generic is right, in that a word has one row for all sentences.",
)
def start_of_the_stack() -> Found:
    from softlookup.model import SinusoidalPositions, TokenEmbedding

    table, waves = TokenEmbedding(10, 4), SinusoidalPositions(4)
    learned, fixed = (sum(p.numel() for p in one.parameters() if p.requires_grad) for one in (table, waves))
    return claim(
        learned == 0,
        f"A table of 10 tokens of width 4 learns {learned} numbers; the sinusoids learn {fixed}.",
    )


@audited(
    "E117",
    lecture="003",
    slide="Summary: what was new",
    section="01_motivation#motivation-lookback",
    states="Embeddings and attention are named as the chief things that transformers brought.",
    verdict="misleading",
    kind="cited",
    source=(
        "bengio2003",
        "mikolov2013",
        "bahdanau2015",
        "kaiser2016",
        "kalchbrenner2016",
        "gehring2017",
        "vaswani2017",
    ),
    tell="The paper's title says that attention is all one needs, not that it is new.",
)
def what_was_new() -> Found:
    return cited(
        "Learned embeddings of words are in Bengio and others (2003) and Mikolov and others (2013), attention is in "
        "Bahdanau and others (2014, printed 2015). Doing without recurrence was not new either: the Extended Neural "
        "GPU (2016), ByteNet (2016) and ConvS2S (2017) are built from convolutions. New in 2017 were a model built "
        "from attention alone, several heads side by side, and the division by the root of their width."
    )


@audited(
    "E166",
    lecture="003",
    slide="What training needs: a list",
    section="07_encoder#encoder-norm",
    states="One of the practical techniques is spelled 'Layer normlization'.",
    verdict="wrong",
    tell="Read lists aloud: the word has five syllables, and one has no vowel here.",
    cause="A letter lost.",
)
def layer_norm_spelled() -> Found:
    printed, right = "normlization", "normalization"
    lost = next(i for i, letter in enumerate(right) if printed[i : i + 1] != letter)
    return claim(printed == right, f"It should read '{right}': the '{right[lost]}' in place {lost + 1} is missing.")
