"""What all tokenizers share: text to ids, ids to text, and one file to keep them in."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import SupportsIndex

from softlookup.text.vocabulary import Vocabulary


class Tokenizer(ABC):
    """Cut text into tokens that have numbers.

    A kind of tokenizer says how it cuts (tokens), how it joins (join) and how it is kept (save, load); the way
    between tokens and ids is the same for all of them.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    @abstractmethod
    def tokens(self, text: str) -> list[str]:
        """Cut a text, without adding start and end.

        What the vocabulary lacks stands there as it is in the text, so that it can be seen what will be unknown.
        """

    @abstractmethod
    def join(self, tokens: Sequence[str]) -> str:
        """Put tokens together to a text: the way back from tokens, as far as there is one."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write all there is to know into one text file; what is there is overwritten."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Read what save wrote.

        FileNotFoundError; ValueError, which names the file, if it holds something else.
        """

    def encode(self, text: str, *, start: bool = False, end: bool = False) -> list[int]:
        """Turn a text into ids.

        Each id is 0 <= id < V; ``start`` and ``end`` add these tokens. KeyError if a token is unknown and the
        vocabulary has no unknown token.
        """
        return self._with_ends([self.vocabulary.id(token) for token in self.tokens(text)], start, end)

    def decode(self, ids: Iterable[SupportsIndex], *, skip_specials: bool = True) -> str:
        """Turn ids into a text.

        ``skip_specials`` leaves pad, start and end out; an unknown token always shows: a hole in the text is part of
        what there is to see. ValueError, with the id and V, if an id is out of range; TypeError if it is not a whole
        number.
        """
        names = self.vocabulary.specials
        left_out = {names.pad, names.start, names.end} if skip_specials else set()
        tokens = [self.vocabulary.token(token_id) for token_id in ids]
        return self.join([token for token in tokens if token not in left_out])

    def __len__(self) -> int:
        return len(self.vocabulary)

    @property
    def pad_id(self) -> int:
        """The id that fills the short rows of a batch."""
        return self.vocabulary.pad_id

    @property
    def unk_id(self) -> int:
        """The id of what is not in the vocabulary."""
        return self.vocabulary.unk_id

    @property
    def start_id(self) -> int:
        """The id that goes before a sequence."""
        return self.vocabulary.start_id

    @property
    def end_id(self) -> int:
        """The id that goes after a sequence."""
        return self.vocabulary.end_id

    def _with_ends(self, ids: list[int], start: bool, end: bool) -> list[int]:
        return [self.start_id] * start + ids + [self.end_id] * end


def refuse_one_string(texts: Iterable[str]) -> None:
    """Refuse a single text where several are wanted, with a TypeError: its letters would pass for texts."""
    if isinstance(texts, str):
        raise TypeError(f"texts is one string, {texts[:30]!r}; wanted several texts, for example a list of one")
