"""The character tokenizer: a small vocabulary, long sequences, and spaces that count like letters."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from softlookup.text.tokenizer import Tokenizer, refuse_one_string
from softlookup.text.vocabulary import Vocabulary
from softlookup.text.words import read_json, write_json
from softlookup_inside.untrusted_files import naming


class CharacterTokenizer(Tokenizer):
    """Let each character be a token. Nothing is changed: what is decoded is what was encoded."""

    @classmethod
    def train(cls, texts: Iterable[str]) -> "CharacterTokenizer":
        """Take all characters of the texts.

        After the specials they stand in the order of their code points. TypeError if texts is one string, ValueError if
        there are no characters.
        """
        refuse_one_string(texts)
        characters = sorted({character for text in texts for character in text})
        if not characters:
            raise ValueError("the training texts are empty; wanted characters to learn")
        return cls(Vocabulary.with_specials(characters))

    def tokens(self, text: str) -> list[str]:
        """Cut a text into its characters, as code points."""
        return list(text)

    def join(self, tokens: Sequence[str]) -> str:
        """Put characters together."""
        return "".join(tokens)

    def save(self, path: str | Path) -> None:
        """Write the characters, in the order of their ids, into one JSON file."""
        write_json(path, "softlookup characters", {"tokens": self.vocabulary.tokens})

    @classmethod
    def load(cls, path: str | Path) -> "CharacterTokenizer":
        """Read what save wrote."""
        content = read_json(path, "softlookup characters", "tokens")
        with naming(path):
            return cls(Vocabulary(content["tokens"]))
