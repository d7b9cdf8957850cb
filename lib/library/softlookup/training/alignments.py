"""Does cross-attention find which word became which? Measured on sentences whose alignment is known.

Letters of its own: E words of the English sentence; F counts those of the French one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model.published.translator import Translator
from softlookup.text.grammar import Pair, english_words, french_words
from softlookup.text.pieces import SPACE


@dataclass(frozen=True)
class AlignmentHead:
    """Which of a decoder's looks at the source is read as an alignment.

    Attributes:
        layer: The decoder's layer, the first being 0.
        head: The head of it; None means the mean over its heads.
        when_read: Whether a word is given the look at the step that reads it, one step after the look that wrote it.
    """

    layer: int
    head: int | None
    when_read: bool

    def __str__(self) -> str:
        """Say it in words."""
        who = "mean of the heads" if self.head is None else f"head {self.head}"
        return f"layer {self.layer}, {who}, as the word is {'read' if self.when_read else 'written'}"


@dataclass(frozen=True)
class AlignmentScore:
    """How well one look finds the gold alignment.

    Attributes:
        found: The share of French words whose most looked-at English word is one of those that they translate.
        error_rate: 1 - 2 * hits / (links said + gold links): one link is said for each French word, so that words
            which translate several count against it even where all is found.
        n_words: How many French words were asked for.
        look: Which look it was.
    """

    found: float
    error_rate: float
    n_words: int
    look: AlignmentHead


def words_of_pieces(tokens: Sequence[str], words: Sequence[str]) -> list[int]:
    """Say to which word each piece belongs.

    ``tokens`` are a byte-pair tokenizer's cut, without start and end tokens, ``words`` the same sentence's words and
    marks. Gives the place of a word for each token. ValueError if they do not spell the same sentence, or a token holds
    letters of two words.

    >>> words_of_pieces(["▁l'", "or", "ange", "."], ["l'", "orange", "."])
    [0, 1, 1, 2]
    """
    positions, position, spelled = [], 0, ""
    for token in tokens:
        spelled += token.replace(SPACE, "")
        if position == len(words) or not words[position].startswith(spelled):
            raise ValueError(f"the pieces {' '.join(tokens)!r} are no cut of the words {' '.join(words)!r}")
        positions.append(position)
        if spelled == words[position]:
            position, spelled = position + 1, ""
    if position < len(words):
        raise ValueError(f"the pieces {' '.join(tokens)!r} are no cut of the words {' '.join(words)!r}")
    return positions


def word_weights(translator: Translator, pair: Pair, *, when_read: bool) -> Float[Tensor, "L N F E"]:
    """Turn cross-attention over pieces into attention over words, while a given translation is written.

    Weights of an English word's pieces are summed, those of a French word's pieces averaged. What falls on the end
    token is no word's.

    The translation of ``pair`` is forced on the model; ``when_read`` as in AlignmentHead: the decoder reads a word one
    step after it wrote it. Rows, from each French word (F) to each English word (E), sum to at most 1. ValueError if
    pieces and words do not fit together.
    """
    english, french = english_words(pair.english), french_words(pair.french)
    alignment = translator.alignment(pair.english, pair.french)
    of_source = torch.tensor(words_of_pieces(alignment.source_tokens[:-1], english))
    of_target = torch.tensor(words_of_pieces(alignment.tokens[:-1], french))
    # Row t of the weights is the look that wrote piece t; the step after it has piece t as its input.
    weights_LNTS = alignment.weights.cpu()
    rows_LNTS = weights_LNTS[:, :, 1:, :-1] if when_read else weights_LNTS[:, :, :-1, :-1]
    to_words_SE = torch.nn.functional.one_hot(of_source, len(english)).to(rows_LNTS)
    from_words_FT = torch.nn.functional.one_hot(of_target, len(french)).to(rows_LNTS).mT
    return from_words_FT / from_words_FT.sum(dim=1, keepdim=True) @ rows_LNTS @ to_words_SE


def alignment_scores(translator: Translator, pairs: Sequence[Pair]) -> list[AlignmentScore]:
    """Measure every look that a decoder has: each layer, each head and the mean of them, when written and when read.

    The best look comes first. ValueError if there are no pairs.
    """
    if not pairs:
        raise ValueError("there are no pairs to measure; wanted at least one")
    layers, heads = len(translator.model.decoder.layers), translator.model.config.n_heads
    hits: dict[AlignmentHead, int] = {}
    n_words = n_links = 0
    for pair in pairs:
        gold_EF = torch.zeros(len(english_words(pair.english)), len(french_words(pair.french)), dtype=torch.bool)
        for english, french in pair.alignment:
            gold_EF[english, french] = True
        n_words, n_links = n_words + int(gold_EF.any(dim=0).sum()), n_links + int(gold_EF.sum())
        for when_read in (False, True):
            weights_LNFE = word_weights(translator, pair, when_read=when_read)
            with_mean_LNFE = torch.cat([weights_LNFE, weights_LNFE.mean(dim=1, keepdim=True)], dim=1)
            said_LNF = with_mean_LNFE.argmax(dim=-1)
            right_LNF = gold_EF[said_LNF, torch.arange(gold_EF.shape[1])]
            for layer in range(layers):
                for head in range(heads + 1):
                    alignment_head = AlignmentHead(layer, head if head < heads else None, when_read)
                    hits[alignment_head] = hits.get(alignment_head, 0) + int(right_LNF[layer, head].sum())
    # One link is said for each word that has any, so that hits are counted among as many as there are words.
    scores = [AlignmentScore(h / n_words, 1 - 2 * h / (n_words + n_links), n_words, key) for key, h in hits.items()]
    return sorted(scores, key=lambda score: -score.found)


def score_of(translator: Translator, pairs: Sequence[Pair], alignment_head: AlignmentHead) -> AlignmentScore:
    """Measure one look, chosen on other sentences; ValueError if there are no pairs, or the model has no such look."""
    for score in alignment_scores(translator, pairs):
        if score.look == alignment_head:
            return score
    raise ValueError(f"the decoder has no {alignment_head}")


def exact_match(translator: Translator, pairs: Sequence[Pair], *, beams: int = 1, rows: int = 100) -> float:
    """Measure the share of sentences that come out word for word as they should, ``rows`` of them at once.

    ValueError if there are no pairs.
    """
    if not pairs:
        raise ValueError("there are no pairs to measure; wanted at least one")
    n_exact = 0
    for start in range(0, len(pairs), rows):
        part = pairs[start : start + rows]
        translations = translator.translate_all([pair.english for pair in part], beams=beams)
        n_exact += sum(translation.text == pair.french for translation, pair in zip(translations, part, strict=True))
    return n_exact / len(pairs)
