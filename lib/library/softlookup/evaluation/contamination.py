"""Contamination: how much of a benchmark's problems stands in training documents, word for word."""

from collections.abc import Iterable, Sequence

import numpy as np

from softlookup.evaluation.checked import check_at_least


def word_ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    """List the n-grams of a text: runs of n words, in lower case, cut at whitespace.

    Args:
        text: Any text; punctuation stays with its word.
        n: Words of an n-gram, 1 or more.

    Returns:
        All n-grams in their order, with repeats; none where the text has fewer than n words.

    Raises:
        ValueError: If n is below 1.

    >>> word_ngrams("The cat sat.", 2)
    [('the', 'cat'), ('cat', 'sat.')]
    """
    check_at_least(n, "n", 1)
    words = text.lower().split()
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def ngram_overlap(problem: str, documents: Sequence[str], n: int = 13) -> float:
    """Say which fraction of a problem's n-grams occurs in training documents.

    Args:
        problem: The problem's text.
        documents: Training documents; an n-gram lies in one of them.
        n: Words of an n-gram.

    Returns:
        The fraction, from 0 to 1, repeats counted; 0 where the problem has fewer than n words.

    Raises:
        ValueError: If n is below 1, or the documents are one str.

    Source: Brown et al. 2020 (GPT-3), appendix C, where n is 8 to 13.

    >>> ngram_overlap("the cat sat down", ["A cat sat here."], n=2)
    0.3333333333333333
    """
    return float(ngram_overlaps([problem], documents, n)[0])


def ngram_overlaps(problems: Sequence[str], documents: Iterable[str], n: int = 13) -> np.ndarray:
    """Say so of many problems: the documents are read once, and only n-grams of the problems are remembered.

    Args:
        problems: The problems' texts.
        documents: Training documents, which may be more than fit into memory.
        n: Words of an n-gram.

    Returns:
        The fraction of each problem's n-grams that occurs in any document (P,).

    Raises:
        ValueError: If n is below 1, or problems or documents are one str.

    Source: Brown et al. 2020 (GPT-3), appendix C.
    """
    for name, texts in (("problems", problems), ("documents", documents)):
        if isinstance(texts, str):
            raise ValueError(f"{name} is one str of {len(texts)} letters; wanted is a list of str")
    of_problems = [word_ngrams(problem, n) for problem in problems]
    unseen = {gram for grams in of_problems for gram in grams}
    seen: set[tuple[str, ...]] = set()
    for document in documents:
        matches = unseen.intersection(word_ngrams(document, n))
        seen |= matches
        unseen -= matches
    return np.array([sum(gram in seen for gram in grams) / max(len(grams), 1) for grams in of_problems])
