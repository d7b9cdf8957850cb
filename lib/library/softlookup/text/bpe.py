"""The byte-pair tokenizer: common words are one token, rare ones a few, and nothing has to be unknown."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.text.bpe_training import base_alphabet, merge_pair, train_steps
from softlookup.text.pieces import (
    SPACE,
    byte_characters,
    count_pieces,
    from_byte_characters,
    split_pieces,
    to_byte_characters,
)
from softlookup.text.tokenizer import Tokenizer
from softlookup.text.vocabulary import Vocabulary
from softlookup_inside.untrusted_files import decode_utf8, naming, parse_json, read_bytes, shortened

_KIND = "softlookup byte-pair merges"
_CACHE_SIZE = 200_000


def merge_passes(symbols: list[str], rank_of: Mapping[tuple[str, str], int]) -> Iterator[list[str]]:
    """Cut one piece by merges: join the pair that was learned first, wherever it stands, and again.

    ``symbols`` are the piece's characters, ``rank_of`` the place of each pair in the order in which the merges were
    learned. Gives the piece before the first merge, and after each.

    Source: Sennrich et al. 2016, algorithm 1.
    """
    never = len(rank_of)
    while True:
        yield symbols
        pair = min(pairwise(symbols), key=lambda pair: rank_of.get(pair, never), default=None)
        if pair is None or pair not in rank_of:
            return
        symbols = merge_pair(symbols, pair, pair[0] + pair[1])


class BytePairTokenizer(Tokenizer):
    """Cut words by merges that were learned.

    The ids are: pad 0, unknown 1, start 2, end 3, then the alphabet, then the token of each merge. A token
    that begins with the marker "▁" begins a word; at byte level "Ġ" is that marker. A space is put before
    the text, so that a word is cut alike at the start and within; `decode(encode(text))` is
    `normalise(text)` wherever every character is in the alphabet, and always at byte level.

    ``merges`` are in the order in which they were learned; at ``byte_level`` the alphabet is that of the 256 bytes.
    ValueError if a merge needs a token that there is not yet, or makes one that there is already, or an alphabet at
    byte level is another.

    Source: Sennrich et al. 2016 (merges); Radford et al. 2019 (bytes); Kudo & Richardson 2018 (the marker).
    """

    def __init__(self, alphabet: Sequence[str], merges: Sequence[tuple[str, str]], *, byte_level: bool = False) -> None:
        if byte_level and set(alphabet) != set(byte_characters()):
            raise ValueError(f"at byte level the alphabet is that of the 256 bytes; got {len(alphabet)} characters")
        known = set(alphabet)
        for rank, (first, second) in enumerate(merges):
            if first not in known or second not in known:
                missing = first if first not in known else second
                raise ValueError(
                    f"merge {rank}, {first!r} + {second!r}, needs {missing!r}, which no earlier merge makes"
                )
            known.add(first + second)
        super().__init__(Vocabulary.with_specials([*alphabet, *(first + second for first, second in merges)]))
        self.alphabet, self.merges, self.byte_level = tuple(alphabet), tuple(merges), byte_level
        self._rank_of = {pair: rank for rank, pair in enumerate(self.merges)}
        self._cache: dict[str, list[str]] = {}

    @classmethod
    def train(
        cls, texts: Iterable[str], *, vocab_size: int, min_count: int = 2, byte_level: bool = False
    ) -> "BytePairTokenizer":
        """Learn merges from texts, of pairs that occur at least ``min_count`` times.

        At vocab_size V it stops: four special tokens, the alphabet and one token for each merge; there are fewer if the
        texts give no more. TypeError if texts is one string; ValueError, with the sizes, if the texts are empty,
        min_count is below 1, or V is too small for the alphabet.
        """
        texts = texts if isinstance(texts, str) else list(texts)
        steps = train_steps(texts, vocab_size=vocab_size, min_count=min_count, byte_level=byte_level)
        return cls(
            base_alphabet(count_pieces(texts), byte_level=byte_level),
            [step.pair for step in steps],
            byte_level=byte_level,
        )

    def tokens(
        self, text: str, *, dropout: float = 0.0, rng: random.Random | np.random.Generator | None = None
    ) -> list[str]:
        """Cut a text into its pieces, and each piece by the merges.

        The text is normalised first. Each merge is passed over with probability ``dropout`` each time it could be made:
        at 0 the cut is always the same, at 1 only characters are left. A character that is not in the alphabet stands
        by itself. ValueError if dropout is not between 0 and 1, or is above 0 without an rng.

        Cost: without dropout each distinct piece is cut once and then remembered; with it, each time anew.

        Source: Provilkov et al. 2020, algorithm 1 (dropout).
        """
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout must be between 0 and 1; got {dropout}")
        if dropout == 0.0:
            return [token for pretoken in split_pieces(text) for token in self._cut(pretoken)]
        if rng is None:
            raise ValueError(f"dropout {dropout} needs an rng, so that its chance can be repeated; got None")
        return [token for pretoken in split_pieces(text) for token in self.cut_by_chance(pretoken, dropout, rng)]

    def encode(
        self,
        text: str,
        *,
        start: bool = False,
        end: bool = False,
        dropout: float = 0.0,
        rng: random.Random | np.random.Generator | None = None,
    ) -> list[int]:
        """Turn a text into ids.

        Each id is 0 <= id < V. ``start`` and ``end`` add these tokens; dropout, rng and errors are as in ``tokens``.
        """
        ids = [self.vocabulary.id(token) for token in self.tokens(text, dropout=dropout, rng=rng)]
        return self._with_ends(ids, start, end)

    def join(self, tokens: Sequence[str]) -> str:
        """Put tokens together; the space before the first word is taken off."""
        joined = "".join(tokens)
        return (from_byte_characters(joined) if self.byte_level else joined.replace(SPACE, " ")).removeprefix(" ")

    def steps(self, word: str) -> list[list[str]]:
        """Show how one word comes to its tokens: the characters first, then the word after each merge.

        The word, without spaces, is cut as within a text, and the last cut is the one that encode uses. ValueError if
        the text is not one piece but several, or none.

        >>> BytePairTokenizer("▁abn", [("a", "n"), ("an", "a")]).steps("banana")[1:]
        [['▁', 'b', 'an', 'an', 'a'], ['▁', 'b', 'an', 'ana']]
        """
        pretokens = split_pieces(word)
        if len(pretokens) != 1:
            raise ValueError(f"{word!r} is cut into the pieces {pretokens}; wanted one piece")
        return list(self._passes(pretokens[0]))

    def cut_by_chance(self, pretoken: str, dropout: float, rng: random.Random | np.random.Generator) -> list[str]:
        """Cut one piece while passing over merges by chance.

        Each time, each place where a merge could be made is passed over with the given probability, and the
        earliest learned of those that are left is made, at one place. When all are passed over, that is the end.

        The piece is one of split_pieces.

        Source: Provilkov et al. 2020, algorithm 1.
        """
        symbols = list(to_byte_characters(pretoken) if self.byte_level else pretoken)
        rank_of = self._rank_of
        while True:
            merges = [(rank_of[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in rank_of]
            # From the best on, until one is not passed over: the same chances as to ask for all of them first.
            for _, i in sorted(merges):
                if rng.random() >= dropout:
                    symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
                    break
            else:
                return symbols

    def save(self, path: str | Path) -> None:
        """Write the merges into one text file: a line of settings, then one pair to a line."""
        settings = {"kind": _KIND, "version": 1, "byte_level": self.byte_level, "alphabet": "".join(self.alphabet)}
        lines = [json.dumps(settings, ensure_ascii=False), *(f"{first} {second}" for first, second in self.merges)]
        Path(path).write_bytes(("\n".join(lines) + "\n").encode("utf-8"))

    @classmethod
    def load(cls, path: str | Path) -> "BytePairTokenizer":
        """Read what save wrote.

        FileNotFoundError; ValueError, which names the file, and the line if it is a merge, if the file holds something
        else.
        """
        data = read_bytes(path)
        try:
            header, *lines = decode_utf8(data, "it").removesuffix("\n").split("\n")
            settings = _settings(header)
        except ValueError as error:
            raise ValueError(f"{path} does not begin with the settings of {_KIND!r}: {error}") from error
        if settings.get("kind") != _KIND or settings.get("version") != 1:
            raise ValueError(f"{path} does not hold {_KIND!r}, version 1; got {shortened(header)!r}")
        merges = []
        for line_number, line in enumerate(lines, start=2):
            first, _, second = line.partition(" ")
            if not first or not second or " " in second:
                raise ValueError(
                    f"{path}, line {line_number}: wanted two tokens with one space between; got {shortened(line)!r}"
                )
            merges.append((first, second))
        with naming(path):
            return cls(settings["alphabet"], merges, byte_level=settings["byte_level"])

    def _cut(self, pretoken: str) -> list[str]:
        tokens = self._cache.get(pretoken)
        if tokens is None:
            *_, tokens = self._passes(pretoken)
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[pretoken] = tokens
        return tokens

    def _passes(self, pretoken: str) -> Iterator[list[str]]:
        return merge_passes(list(to_byte_characters(pretoken) if self.byte_level else pretoken), self._rank_of)


def _settings(header: str) -> dict[str, Any]:
    """Read the first line of a file of merges, and refuse one without an alphabet."""
    settings = parse_json(header.encode(), "it")
    if not isinstance(settings, dict):
        raise ValueError(f"it is {shortened(settings)}; wanted an object")
    for name, expected_type, what in (("alphabet", str, "a text"), ("byte_level", bool, "true or false")):
        if not isinstance(settings.get(name), expected_type):
            raise ValueError(f"{name!r} is {shortened(settings.get(name))}; wanted {what}")
    return settings
