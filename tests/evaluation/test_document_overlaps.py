"""Overlap with training documents against a search for strings of whole words."""

import numpy as np
import pytest

from softlookup.evaluation import ngram_overlap, ngram_overlaps, word_ngrams


def by_search(problem, documents, n):
    words = problem.lower().split()
    texts = [" " + " ".join(document.lower().split()) + " " for document in documents]
    hits = [any(f" {' '.join(words[i : i + n])} " in text for text in texts) for i in range(max(len(words) - n + 1, 0))]
    return np.mean(hits) if hits else 0.0


def test_overlaps_are_those_of_a_search():
    rng = np.random.default_rng(0)
    pool = "the cat sat on a mat and ran".split()

    def text(words):
        return " ".join(pool[i] for i in rng.integers(len(pool), size=words))

    problems, documents = [text(words) for words in (12, 5, 1, 20)], [text(words) for words in (30, 3, 45)]
    for n in (1, 2, 3, 4):
        expected = [by_search(problem, documents, n) for problem in problems]
        assert ngram_overlaps(problems, documents, n) == pytest.approx(expected)
        assert ngram_overlaps(problems, iter(documents), n) == pytest.approx(expected)
        assert [ngram_overlap(problem, documents, n) for problem in problems] == pytest.approx(expected)


def test_ngrams_keep_repeats_and_stay_in_their_document():
    assert word_ngrams("No no\tNO", 2) == [("no", "no"), ("no", "no")]
    assert word_ngrams("two words", 3) == [] == word_ngrams("", 1)
    assert ngram_overlap("a b c", ["x a", "b c"], 2) == 0.5
    assert ngram_overlap("art is", ["smart is"], 2) == 0.0
    assert ngram_overlap("no no no way", ["oh no no"], 2) == pytest.approx(2 / 3)


def test_texts_that_are_no_list_are_refused():
    with pytest.raises(ValueError, match="n is 0; wanted is a whole number, 1 or more"):
        word_ngrams("a b", 0)
    with pytest.raises(ValueError, match="documents is one str of 6 letters; wanted is a list of str"):
        ngram_overlap("a b", "a b c ", 2)
    with pytest.raises(ValueError, match="problems is one str"):
        ngram_overlaps("a b", ["a b"], 2)
