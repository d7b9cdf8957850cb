"""The tokenizer of GPT-2 and its successors: any text in, byte by byte, and the same text back."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import SupportsIndex

from softlookup.text.bpe import merge_passes
from softlookup.text.pieces import byte_characters, from_byte_characters
from softlookup.text.tokenizer import Tokenizer
from softlookup.text.vocabulary import Specials, Vocabulary
from softlookup.text.words import read_json, write_json
from softlookup_inside.untrusted_files import naming

_KIND = "softlookup byte-level merges"
_CACHE_SIZE = 200_000

# Unicode's white space: what Python's \s takes besides (U+001C to U+001F) is none.
_WHITE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# A letter: of what Python calls a word, neither a digit nor the underscore. Other numbers are cut off before.
_LETTER = r"[^\W\d_]"
_NEITHER = rf"(?:(?!{_LETTER})[^{_WHITE}])"
_PIECE = re.compile(rf"'(?:[stmd]|re|ve|ll)| ?{_LETTER}+| ?{_NEITHER}+|[{_WHITE}]+(?![^{_WHITE}])|[{_WHITE}]+")


def split_words_and_digits(text: str) -> list[str]:
    """Cut a text into pieces across which no pair is ever merged, as SmolLM2 does.

    A digit, like any character that Unicode counts among the numbers, is a piece by itself. The rest is cut as by
    GPT-2: a space belongs to the word after it, of several spaces the last one does, and 's, 't, 're, 've, 'm, 'll and
    'd are pieces. What is a letter or a number is asked of Python's tables of Unicode (14.0 in Python 3.11).

    Nothing in the text is changed: joined, the pieces are the text.

    Source: Radford et al. 2019, and the code published with it; Allal et al. 2025 (the digits).

    >>> split_words_and_digits("It's  in 1984.")
    ['It', "'s", ' ', ' in', ' ', '1', '9', '8', '4', '.']
    """
    pretokens: list[str] = []
    for is_number, characters in groupby(text, lambda character: unicodedata.category(character)[0] == "N"):
        run = "".join(characters)
        pretokens += run if is_number else _PIECE.findall(run)
    return pretokens


class ByteLevelTokenizer(Tokenizer):
    """Cut a text into bytes, and join these by merges that were learned. Nothing is normalised, nothing is unknown.

    The space is a byte like any other, and mostly begins a token: "Ġ" in the vocabulary. There is no training here:
    merges come with published models, and so does the order of the ids.

    The vocabulary has, in the order of their ids, special tokens, single bytes, and what each merge makes; ``merges``
    are in the order in which they were learned. ``names``, every special token, are read as those tokens in a text,
    unless encode is told not to. ValueError if a special token, or one that a merge makes or needs, is not in the
    vocabulary, or a merge stands in the list twice.

    Source: Radford et al. 2019, section 2.2; Sennrich et al. 2016 (merges).
    """

    def __init__(self, vocabulary: Vocabulary, merges: Sequence[tuple[str, str]], names: Sequence[str]) -> None:
        super().__init__(vocabulary)
        required = [*names, *(token for first, second in merges for token in (first, second, first + second))]
        missing = next((token for token in required if token not in vocabulary), None)
        if missing is not None:
            raise ValueError(f"the vocabulary of {len(vocabulary)} tokens lacks {missing!r}, which its merges need")
        self.merges, self.names = tuple(merges), tuple(names)
        self._rank_of: dict[tuple[str, str], int] = {}
        for rank, pair in enumerate(self.merges):
            if self._rank_of.setdefault(pair, rank) != rank:
                raise ValueError(f"the merge {pair[0]!r} + {pair[1]!r} stands in the list twice")
        self._name = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)")
        self._cache: dict[str, list[str]] = {}

    def tokens(self, text: str, *, specials: bool = True) -> list[str]:
        """Cut a text.

        With ``specials`` the name of a special token is that token, otherwise text like any other. A byte that is not
        in the vocabulary is left out, as the published tokenizers do it: in SmolLM2's those of a few control characters
        and of code points that Unicode has not given out.
        """
        if not specials:
            return [token for pretoken in split_words_and_digits(text) for token in self._cut(pretoken)]
        tokens, begin = [], 0
        for match in self._name.finditer(text):
            tokens += [*self.tokens(text[begin : match.start()], specials=False), match[0]]
            begin = match.end()
        return tokens + self.tokens(text[begin:], specials=False)

    def encode(self, text: str, *, start: bool = False, end: bool = False, specials: bool = True) -> list[int]:
        """Turn a text into ids.

        Each id is 0 <= id < V. ``start`` and ``end`` add these tokens; with ``specials`` the name of a special token is
        that token, otherwise text like any other.
        """
        ids = [self.vocabulary.id(token) for token in self.tokens(text, specials=specials)]
        return self._with_ends(ids, start, end)

    def decode(self, ids: Iterable[SupportsIndex], *, skip_specials: bool = True) -> str:
        """Turn ids into a text.

        Bytes that are no UTF-8, as in a sequence cut short, become U+FFFD. ValueError, with the id and V, if an id is
        not 0 <= id < V; TypeError if it is not a whole number.
        """
        tokens = [self.vocabulary.token(token_id) for token_id in ids]
        return self.join([token for token in tokens if token not in self.names] if skip_specials else tokens)

    def join(self, tokens: Sequence[str]) -> str:
        """Put tokens together; special tokens are written by their names."""
        parts = groupby(tokens, lambda token: token in self.names)
        return "".join("".join(run) if is_special else from_byte_characters("".join(run)) for is_special, run in parts)

    def save(self, path: str | Path) -> None:
        """Write tokens and merges into one JSON file."""
        names = self.vocabulary.specials
        write_json(
            path,
            _KIND,
            {
                "tokens": self.vocabulary.tokens,
                "merges": self.merges,
                "names": self.names,
                "specials": [names.pad, names.unk, names.start, names.end],
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> "ByteLevelTokenizer":
        """Read what save wrote."""
        content = read_json(path, _KIND, "tokens", "merges", "names", "specials")
        with naming(path):
            vocabulary = Vocabulary(content["tokens"], Specials(*content["specials"]))
            return cls(vocabulary, [(first, second) for first, second in content["merges"]], content["names"])

    def _cut(self, pretoken: str) -> list[str]:
        tokens = self._cache.get(pretoken)
        if tokens is None:
            characters = byte_characters()
            symbols = [characters[byte] for byte in pretoken.encode("utf-8")]
            *_, tokens = merge_passes([symbol for symbol in symbols if symbol in self.vocabulary], self._rank_of)
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[pretoken] = tokens
        return tokens
