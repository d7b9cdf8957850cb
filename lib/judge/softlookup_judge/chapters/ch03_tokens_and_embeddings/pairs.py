"""Tasks on pairs of neighbours: count them, and join one of them."""

from collections import Counter
from itertools import pairwise

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

Pair = tuple[str, str]

Words = list[tuple[list[str], int]]
"""Words as symbols, each with how often it occurs."""


def drawn_words(rng: Rng, how_many: int, letters: str = "abcd", longest: int = 6) -> list[tuple[str, int]]:
    """Different words of a small alphabet, so that pairs come again, each with its count."""
    counts: dict[str, int] = {}
    while len(counts) < how_many:
        word = "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(2, longest + 1)))
        counts.setdefault(word, int(rng.integers(2, 9)))
    return list(counts.items())


def _counts_cases(rng: Rng) -> list[Case]:
    letters = [(list(word), times) for word, times in drawn_words(rng, 6)]
    return [
        Case("two words", ([(["a", "n", "n", "a"], 3), (["a", "n"], 2)],), frame="text"),
        Case("a symbol that stands three times in a row", ([(["a", "a", "a"], 4), (["b", "a"], 1)],), frame="text"),
        Case("symbols of several letters", ([(["an", "an", "as"], 2), (["as", "an", "a"], 5)],), frame="text"),
        Case("a pair and its mirror image", ([(["x", "y", "x"], 3), (["y", "x", "y", "x"], 1)],), frame="text"),
        Case("a word of one symbol", ([(["a"], 7), (["a", "b"], 2)],), frame="text"),
        Case("no words at all", ([],), frame="text"),
        Case("six drawn words", (letters,), frame="text"),
    ]


def _counts(words: Words) -> dict[Pair, int]:
    return dict(Counter(pair for symbols, times in words for pair in pairwise(symbols) for _ in range(times)))


PAIR_COUNTS = described("03.pair-counts", frame="text", cases=_counts_cases, oracle=_counts)


def _merge_cases(rng: Rng) -> list[Case]:
    row = ["abc"[i] for i in rng.integers(3, size=12)]
    pair = (row[3], row[4])

    def case(label: str, symbols: list[str], joined: Pair) -> Case:
        return Case(label, (symbols, joined), frame="text")

    return [
        case("a pair that stands there twice", list("banana"), ("a", "n")),
        case("a pair whose right half comes first in the alphabet", list("banana"), ("n", "a")),
        case("three of the same in a row", ["a", "a", "a", "b"], ("a", "a")),
        case("five of the same in a row", ["a"] * 5, ("a", "a")),
        case("symbols of several letters", ["ab", "c", "a", "bc", "ab", "c"], ("ab", "c")),
        case("the same letters in other symbols", ["a", "bc", "d"], ("ab", "c")),
        case("symbols that end or begin like the pair", ["ba", "n", "a", "na", "a", "n"], ("a", "n")),
        case("a pair that is not there", ["n", "a", "b"], ("a", "n")),
        case("a pair at the very end", ["c", "a", "b"], ("a", "b")),
        case("one symbol", ["a"], ("a", "a")),
        case("no symbol", [], ("a", "b")),
        case("twelve drawn symbols", row, pair),
    ]


def _merge(symbols: list[str], pair: Pair) -> list[str]:
    row: list[str] = []
    free = False  # whether the last symbol of the row may still become the left half of a pair
    for symbol in symbols:
        if free and (row[-1], symbol) == pair:
            row[-1] += symbol
            free = False
        else:
            row.append(symbol)
            free = True
    return row


MERGE = described("03.merge", frame="text", cases=_merge_cases, oracle=_merge)
