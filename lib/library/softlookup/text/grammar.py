"""A small English-French grammar: endless sentence pairs whose every word knows its translation.

It has what makes French more than English in other words: gender and number that everything agrees with,
adjectives on either side of the noun, elision, contraction, object pronouns before the verb, and negation in two
parts. Each English sentence has one right translation, so a model can be asked for exactly that.
"""

import random
from typing import NamedTuple

from softlookup.text.chance import choose_clause
from softlookup.text.phrases import Clause
from softlookup.text.words import join_words, split_words

MAX_WORDS = 14
"""The longest sentence of either side, its full stop counted."""


class Pair(NamedTuple):
    """A sentence, its translation, and which word became which.

    Attributes:
        english: The sentence.
        french: Its translation.
        alignment: (place in english_words, place in french_words), sorted; every word of both sides is in it.
    """

    english: str
    french: str
    alignment: tuple[tuple[int, int], ...]


def english_words(sentence: str) -> list[str]:
    """Cut an English sentence into the words that an alignment counts; the full stop is one."""
    return split_words(sentence)


def french_words(sentence: str) -> list[str]:
    """Cut a French sentence into the words that an alignment counts; "l'" is one by itself, and so is the full stop."""
    return split_words(sentence)


def sample(n: int, seed: int, *, unique: bool = False) -> list[Pair]:
    """Draw sentence pairs.

    The same seed gives the same pairs; with ``unique`` no sentence comes twice. ValueError if n is below 0, or if so
    many different sentences cannot be found.
    """
    if n < 0:
        raise ValueError(f"cannot draw {n} sentences; wanted 0 or more")
    rng = random.Random(seed)
    pairs: list[Pair] = []
    sentences: set[str] = set()
    repeats = 0
    while len(pairs) < n:
        pair = say(choose_clause(rng))
        if max(len(english_words(pair.english)), len(french_words(pair.french))) > MAX_WORDS:
            continue
        if unique and pair.english in sentences:
            repeats += 1
            if repeats > 20 * n:
                raise ValueError(f"found only {len(pairs)} different sentences in {repeats + len(pairs)}; wanted {n}")
            continue
        sentences.add(pair.english)
        pairs.append(pair)
    return pairs


def split(seed: int, n_train: int, n_test: int) -> tuple[list[Pair], list[Pair]]:
    """Draw pairs to learn from, and others to be judged by.

    The same seed gives the same pairs; no sentence comes twice, in one list or in both. ValueError as in ``sample``.
    """
    if min(n_train, n_test) < 0:
        raise ValueError(f"n_train and n_test must be 0 or more; got {n_train} and {n_test}")
    pairs = sample(n_train + n_test, seed, unique=True)
    return pairs[:n_train], pairs[n_train:]


def say(clause: Clause) -> Pair:
    """Write a clause as a pair of sentences, with its alignment."""
    english, french = clause.say()
    links = sorted((source, target) for target, word in enumerate(french) for source in word.links)
    return Pair(join_words(english), join_words([word.form for word in french]), tuple(links))
