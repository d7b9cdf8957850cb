"""The default without data: how a translator is judged on the grammar; a short run translates new sentences."""

import json

import pytest
import torch
from tiny_translation import TINY

from softlookup.model.parts.config import Config
from softlookup.model.published.translator import Alignment, Translation, Translator, load_translator
from softlookup.model.whole.transformer import Transformer
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.grammar import Pair, english_words, french_words, sample
from softlookup.training.alignments import (
    AlignmentHead,
    alignment_scores,
    exact_match,
    score_of,
    word_weights,
    words_of_pieces,
)
from softlookup.training.grammar_run import grammar_recipe, grammar_splits, train_on_grammar
from softlookup.training.recipe import Recipe

# From pieces to words.


def test_pieces_find_their_words():
    assert words_of_pieces(["▁l'", "or", "ange", "▁verte", "."], ["l'", "orange", "verte", "."]) == [0, 1, 1, 2, 3]
    assert words_of_pieces(["▁", "A", "▁a"], ["A", "a"]) == [0, 0, 1]
    assert words_of_pieces([], []) == []


@pytest.mark.parametrize(
    "pieces, words",
    [(["▁a", "b"], ["a", "c"]), (["▁a"], ["a", "b"]), (["▁a", "▁b"], ["a"]), (["▁ab"], ["a", "b"]), (["▁a"], ["ab"])],
)
def test_pieces_of_another_sentence_are_refused(pieces, words):
    with pytest.raises(ValueError, match="are no cut of the words"):
        words_of_pieces(pieces, words)


@pytest.mark.parametrize("vocab_size", [100, 300, 1000])
def test_every_sentence_of_the_grammar_is_cut_within_its_words(vocab_size):
    pairs = sample(300, 3)
    tokenizer = BytePairTokenizer.train([text for p in pairs for text in (p.english, p.french)], vocab_size=vocab_size)
    for pair in pairs:
        for text, words in ((pair.english, english_words(pair.english)), (pair.french, french_words(pair.french))):
            pieces = tokenizer.tokens(text)
            places = words_of_pieces(pieces, words)
            for place, word in enumerate(words):
                word_pieces = (piece for piece, of in zip(pieces, places, strict=True) if of == place)
                assert "".join(word_pieces).replace("▁", "") == word


# Alignments, on a translator that looks where it is told to.


class ScriptedTranslator(Translator):
    """Looks where it is told to, and says what it is told to."""

    def __init__(self, weights=None, translations=None):
        tokenizer = BytePairTokenizer("▁abcdefgh.", [])
        super().__init__(Transformer(Config(len(tokenizer), d_model=4, n_heads=2, n_layers=2, d_hidden=4)), tokenizer)
        self.weights, self.translations = weights, translations

    def alignment(self, source, target=None):
        pieces = [tuple(self.tokenizer.tokens(text)) + ("</s>",) for text in (source, target)]
        return Alignment(pieces[0], pieces[1], self.weights)

    def translate_all(self, sentences, *, beams=4, length_penalty=0.6):
        return [Translation(self.translations[s], 0.0, 0.0, (), ()) for s in sentences]


def test_weights_of_pieces_are_summed_to_english_and_averaged_to_french_words():
    pair = Pair("ab c", "d ef", ((0, 1), (1, 0)))  # pieces: ▁ a b ▁ c </s>, ▁ d ▁ e f </s>
    weights = torch.rand(2, 2, 6, 6)
    translator = ScriptedTranslator(weights)
    got = word_weights(translator, pair, when_read=False)
    assert got.shape == (2, 2, 2, 2)
    for layer in range(2):
        for head in range(2):
            w = weights[layer, head]
            for french, rows in ((0, (0, 1)), (1, (2, 3, 4))):
                for english, columns in ((0, (0, 1, 2)), (1, (3, 4))):
                    expected = sum(sum(w[r, c] for c in columns) for r in rows) / len(rows)
                    torch.testing.assert_close(got[layer, head, french, english], expected)
    read = word_weights(translator, pair, when_read=True)
    later = word_weights(ScriptedTranslator(weights.roll(-1, dims=2)), pair, when_read=False)
    torch.testing.assert_close(read, later)


def test_scores_count_the_words_whose_look_is_a_gold_link():
    # Three French words; the third translates both English words.
    pair = Pair("a b", "c d e", ((0, 0), (0, 2), (1, 1), (1, 2)))
    weights = torch.zeros(2, 2, 7, 5)  # pieces: ▁ a ▁ b </s>, ▁ c ▁ d ▁ e </s>
    columns = {0: (0, 1), 1: (2, 3)}

    def look_at(layer, head, english_of_french, shift):
        for french, english in enumerate(english_of_french):
            for row in (2 * french, 2 * french + 1):
                weights[layer, head, row + shift, columns[english][0]] += 0.5
                weights[layer, head, row + shift, columns[english][1]] += 0.2

    look_at(0, 0, (0, 1, 1), 0)  # all right
    look_at(0, 1, (1, 0, 0), 0)  # the last alone
    look_at(1, 0, (0, 1, 0), 1)  # all right, once the word is read
    weights[:, :, :, 4] = 0.9  # the end token is no word, however much it is looked at
    scores = {score.look: score for score in alignment_scores(ScriptedTranslator(weights), [pair, pair])}
    assert len(scores) == 2 * 3 * 2
    best = scores[AlignmentHead(0, 0, False)]
    assert best.found == 1.0 and best.n_words == 6
    assert best.error_rate == pytest.approx(1 - 2 * 3 / (3 + 4))
    assert scores[AlignmentHead(0, 1, False)].found == pytest.approx(1 / 3)
    assert scores[AlignmentHead(0, 1, False)].error_rate == pytest.approx(1 - 2 * 1 / 7)
    assert scores[AlignmentHead(1, 0, True)].found == 1.0
    assert scores[AlignmentHead(1, 0, False)].found < 1.0
    ranked = [score.found for score in alignment_scores(ScriptedTranslator(weights), [pair])]
    assert ranked == sorted(ranked, reverse=True)
    assert score_of(ScriptedTranslator(weights), [pair, pair], best.look) == best
    with pytest.raises(ValueError, match="the decoder has no layer 5, head 0, as the word is written"):
        score_of(ScriptedTranslator(weights), [pair], AlignmentHead(5, 0, False))


def test_the_mean_of_the_heads_is_a_look_of_its_own():
    pair = Pair("a b", "c d", ((0, 0), (1, 1)))
    weights = torch.zeros(2, 2, 5, 5)
    weights[0, 0, 0:2, 0] = 0.6  # each head is sure of one word, and less sure of a wrong one
    weights[0, 0, 2:4, 0] = 0.2
    weights[0, 1, 0:2, 2] = 0.2
    weights[0, 1, 2:4, 2] = 0.6
    scores = {score.look: score.found for score in alignment_scores(ScriptedTranslator(weights), [pair])}
    assert (
        scores[AlignmentHead(0, None, False)] == 1.0
        and scores[AlignmentHead(0, 0, False)] == scores[AlignmentHead(0, 1, False)] == 0.5
    )
    assert str(AlignmentHead(0, None, False)) == "layer 0, mean of the heads, as the word is written"
    assert str(AlignmentHead(1, 3, True)) == "layer 1, head 3, as the word is read"


def test_exact_match_counts_whole_sentences():
    pairs = [Pair(letter, "d", ()) for letter in "abcef"]
    translator = ScriptedTranslator(translations={"a": "d", "b": "D", "c": "d.", "e": "d", "f": "d"})
    assert exact_match(translator, pairs, rows=2) == 3 / 5 == exact_match(translator, pairs)
    for measure in (exact_match, alignment_scores):
        with pytest.raises(ValueError, match="there are no pairs to measure"):
            measure(translator, [])


# The run.


def test_splits_share_no_sentence_and_keep_to_the_length():
    parts = grammar_splits(600, seed=4, n_validation=30, n_test=50, max_words=6)
    training, validation, test = parts
    assert len(validation) == 30 and len(test) == 50 and 100 < len(training) < 500
    english = [pair.english for part in parts for pair in part]
    assert len(set(english)) == len(english)
    lengths = [max(len(english_words(p.english)), len(french_words(p.french))) for part in parts for p in part]
    assert max(lengths) == 6
    assert parts == grammar_splits(600, seed=4, n_validation=30, n_test=50, max_words=6)
    whole = grammar_splits(600, seed=4, n_validation=30, n_test=50)
    assert sum(map(len, whole)) == 600
    with pytest.raises(ValueError, match=r"of 90 sentences have at most 6 words; 30 \+ 50 of them are set apart"):
        grammar_splits(90, n_validation=30, n_test=50, max_words=6)
    with pytest.raises(ValueError, match="n_validation is 0, n_test 5; wanted at least 1 of each"):
        grammar_splits(90, n_validation=0, n_test=5)


@pytest.mark.slow
def test_a_report_says_what_was_measured(tmp_path):
    notes = []
    report = train_on_grammar(tmp_path, TINY, n_pairs=80, n_validation=6, n_test=7, note=notes.append)
    assert (report.n_train, report.n_test) == (67, 7) and 0 <= report.exact_match <= 1 and report.seconds > 0
    translator = load_translator(tmp_path)
    _, validation, test = grammar_splits(80, n_validation=6, n_test=7)
    assert report.alignment.look == alignment_scores(translator, validation)[0].look, "chosen on other sentences"
    assert report.alignment == score_of(translator, test, report.alignment.look)
    assert report.exact_match == exact_match(translator, test)
    written = json.loads((tmp_path / "grammar.json").read_text())
    assert written["exact_match"] == report.exact_match and written["alignment"]["found"] == report.alignment.found
    assert "of 7 unseen sentences translated word for word" in str(report)
    assert f"of {report.alignment.n_words} French words" in str(report) and str(report.alignment.look) in str(report)


SHORT = Recipe(
    vocab_size=1000,
    d_model=96,
    n_heads=4,
    n_layers=1,
    d_hidden=128,
    max_length=40,
    dropout=0.0,
    segmentation_dropout=0.0,
    epsilon=0.05,
    tokens_per_batch=1000,
    peak=4e-3,
    warmup=20,
    decay_from=100,
    steps=240,
    average=0.95,
)


@pytest.mark.slow
def test_a_few_seconds_teach_short_sentences(tmp_path):
    report = train_on_grammar(tmp_path, SHORT, n_pairs=12_000, n_validation=60, n_test=150, max_words=6)
    assert report.exact_match >= 0.6, str(report)
    assert report.alignment.found >= 0.85, str(report)


@pytest.mark.slow
def test_under_two_minutes_teach_the_whole_grammar(tmp_path):
    report = train_on_grammar(tmp_path)
    assert report.exact_match >= 0.95, str(report)
    assert report.alignment.found >= 0.9, str(report)
    assert report.n_test == 500 and grammar_recipe().seed == 0
