"""The list of tokens: each token's number, and each number's token."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex


@dataclass(frozen=True)
class Specials:
    """The names of the tokens that stand for no text.

    Attributes:
        pad: Fills the short rows of a batch.
        unk: Stands for what is not in the vocabulary; None where there must be nothing unknown.
        start: Goes before a sequence.
        end: Goes after a sequence.
    """

    pad: str = "<pad>"
    unk: str | None = "<unk>"
    start: str = "<s>"
    end: str = "</s>"

    def names(self) -> tuple[str, ...]:
        """List those there are, in the order of their ids: pad, unk, start, end."""
        return tuple(name for name in (self.pad, self.unk, self.start, self.end) if name is not None)


class Vocabulary:
    """Translate tokens to ids and back. The id of a token is its place in the list.

    ``tokens`` are all tokens, specials among them. ValueError if one stands in the list twice, or a special token is
    missing.
    """

    def __init__(self, tokens: Sequence[str], specials: Specials | None = None) -> None:
        self.tokens = tuple(tokens)
        self.specials = Specials() if specials is None else specials
        self._id_of: dict[str, int] = {}
        for token_id, token in enumerate(self.tokens):
            if self._id_of.setdefault(token, token_id) != token_id:
                raise ValueError(
                    f"token {token!r} stands in the vocabulary twice: ids {self._id_of[token]} and {token_id}"
                )
        missing = [name for name in self.specials.names() if name not in self._id_of]
        if missing:
            raise ValueError(f"the vocabulary has no special token {missing[0]!r} among its {len(self)} tokens")

    @classmethod
    def with_specials(cls, tokens: Iterable[str], specials: Specials | None = None) -> "Vocabulary":
        """Put the special tokens first: pad 0, unk 1, start 2, end 3, then the others in their order.

        ValueError if a token stands in the list twice, or has a special token's name.

        >>> Vocabulary.with_specials(["sun", "moon"]).id("moon")
        5
        """
        specials = Specials() if specials is None else specials
        return cls([*specials.names(), *tokens], specials)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._id_of

    @property
    def pad_id(self) -> int:
        """The id that fills short rows."""
        return self._id_of[self.specials.pad]

    @property
    def unk_id(self) -> int:
        """The id of the unknown; KeyError if this vocabulary has no unknown token."""
        if self.specials.unk is None:
            raise KeyError("this vocabulary has no unknown token")
        return self._id_of[self.specials.unk]

    @property
    def start_id(self) -> int:
        """The id that goes before a sequence."""
        return self._id_of[self.specials.start]

    @property
    def end_id(self) -> int:
        """The id that goes after a sequence."""
        return self._id_of[self.specials.end]

    def id(self, token: str) -> int:
        """Look up the id of a token, or that of the unknown token; KeyError if there is neither."""
        token_id = self._id_of.get(token)
        if token_id is not None:
            return token_id
        if self.specials.unk is None:
            raise KeyError(f"token {token!r} is not among the {len(self)} tokens, and there is no unknown token")
        return self.unk_id

    def token(self, token_id: SupportsIndex) -> str:
        """Look up the token of an id.

        ValueError if it is not 0 <= number < V: negative ids do not count from the end. TypeError if it is not a whole
        number.
        """
        row = index(token_id)
        if not 0 <= row < len(self):
            raise ValueError(f"id {row} is out of range: the vocabulary has {len(self)} tokens, 0 to {len(self) - 1}")
        return self.tokens[row]
