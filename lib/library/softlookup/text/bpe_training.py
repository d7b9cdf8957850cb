"""Learning byte-pair merges: count pairs, join the commonest, and again."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from softlookup.text.pieces import byte_characters, count_pieces, to_byte_characters
from softlookup.text.vocabulary import Specials

Symbol = TypeVar("Symbol", int, str)


class Merge(NamedTuple):
    """One step of learning.

    Attributes:
        pair: The two tokens that were joined.
        times: How often they stood side by side just before.
        token: The new token.
    """

    pair: tuple[str, str]
    times: int
    token: str


def merge_pair(symbols: Sequence[Symbol], pair: tuple[Symbol, Symbol], joined: Symbol) -> list[Symbol]:
    """Join a pair wherever it stands, from left to right.

    >>> merge_pair(["a", "a", "a", "b"], ("a", "a"), "aa")
    ['aa', 'a', 'b']
    """
    result, position = [], 0
    while position < len(symbols):
        if position + 1 < len(symbols) and (symbols[position], symbols[position + 1]) == pair:
            result.append(joined)
            position += 2
        else:
            result.append(symbols[position])
            position += 1
    return result


class PairCounts:
    """Keep the count of every pair of neighbours while pieces change, and find the commonest at once.

    Two things make this quick. Only the pieces that hold the joined pair are looked at again; and the heap
    is not tidied when counts fall: an entry that is out of date is put back with its new count when it comes up.

    ``words`` has each distinct piece as a list of ids, ``counts`` how often it occurs.
    """

    def __init__(self, words: list[list[int]], counts: list[int]) -> None:
        self.words, self.counts = words, counts
        self.count_of: defaultdict[tuple[int, int], int] = defaultdict(int)
        # A piece stays listed after its pair has gone: it is passed over when it is looked at.
        self.words_with: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for index, (pretoken, count) in enumerate(zip(words, counts, strict=True)):
            for pair in pairwise(pretoken):
                self.count_of[pair] += count
                self.words_with[pair].add(index)
        self._heap = [(-count, pair) for pair, count in self.count_of.items()]
        heapq.heapify(self._heap)

    def commonest(self) -> tuple[tuple[int, int], int] | None:
        """Take out the commonest pair, of equals that with the smallest ids, and its count; None if no pair is left."""
        while self._heap:
            negative_count, pair = heapq.heappop(self._heap)
            count = self.count_of[pair]
            if -negative_count == count and count > 0:
                return pair, count
            if count > 0:
                heapq.heappush(self._heap, (-count, pair))
        return None

    def join(self, pair: tuple[int, int], joined: int) -> None:
        """Join a pair of ids in all pieces to a new one, and bring the counts up to date."""
        born = set()
        for index in self.words_with.pop(pair):
            pretoken, count = self.words[index], self.counts[index]
            merged = merge_pair(pretoken, pair, joined)
            if len(merged) == len(pretoken):
                continue
            for old in pairwise(pretoken):
                self.count_of[old] -= count
            for new in pairwise(merged):
                self.count_of[new] += count
                if joined in new:
                    self.words_with[new].add(index)
                    born.add(new)
            self.words[index] = merged
        for new in born:
            heapq.heappush(self._heap, (-self.count_of[new], new))


def base_alphabet(pretokens: Iterable[str], *, byte_level: bool = False) -> list[str]:
    """List the characters that learning begins with, those of the pieces or of all bytes, by code point."""
    return sorted(byte_characters() if byte_level else {character for pretoken in pretokens for character in pretoken})


def train_steps(
    texts: Iterable[str], *, vocab_size: int, min_count: int = 2, byte_level: bool = False
) -> Iterator[Merge]:
    """Learn merges one by one, so that each can be shown.

    Ties go to the pair whose tokens are older (smaller ids), as in the `tokenizers` library; so the merges
    are the same as that library's.

    Each merge comes when it is asked for. At vocab_size V it stops: four special tokens, the alphabet and one token for
    each merge; there may be fewer. A pair must occur ``min_count`` times. TypeError if texts is one string; ValueError,
    with the sizes, if the texts are empty, min_count is below 1, or V is too small for the alphabet.

    Cost: 29,000 English and as many French captions, 8,000 tokens: about 2 s on one core.

    Source: Sennrich et al. 2016, algorithm 1.
    """
    if min_count < 1:
        raise ValueError(f"min_count must be at least 1; got {min_count}")
    piece_counts = count_pieces(texts)
    if byte_level:
        # Two pieces never share their bytes, so no two counts would have to be added.
        pretokens = [to_byte_characters(pretoken) for pretoken in piece_counts]
    else:
        pretokens = list(piece_counts)
    n_specials = len(Specials().names())
    alphabet = base_alphabet(pretokens, byte_level=byte_level)
    if vocab_size < n_specials + len(alphabet):
        raise ValueError(
            f"vocab_size {vocab_size} is too small: {n_specials} special tokens and an alphabet of {len(alphabet)} "
            f"need {n_specials + len(alphabet)}"
        )
    return _learn(pretokens, list(piece_counts.values()), alphabet, vocab_size - n_specials - len(alphabet), min_count)


def _learn(
    pretokens: list[str], counts: list[int], alphabet: list[str], n_merges: int, min_count: int
) -> Iterator[Merge]:
    # Ids here are places among alphabet and merges; the specials, which stand before them, change no order.
    tokens = list(alphabet)
    id_of = {token: token_id for token_id, token in enumerate(tokens)}
    pairs = PairCounts([[id_of[character] for character in pretoken] for pretoken in pretokens], counts)
    for _ in range(n_merges):
        commonest = pairs.commonest()
        if commonest is None or commonest[1] < min_count:
            return
        (first, second), count = commonest
        pairs.join((first, second), len(tokens))
        tokens.append(tokens[first] + tokens[second])
        yield Merge((tokens[first], tokens[second]), count, tokens[-1])
