"""The word tokenizer: the simplest cut there is, with everything rare unknown."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from softlookup.text.tokenizer import Tokenizer, refuse_one_string
from softlookup.text.vocabulary import Vocabulary
from softlookup_inside.untrusted_files import is_pair_list, is_text_list, naming, parse_json, read_bytes, shortened

# A run of letters and digits, with an apostrophe that has a letter after it; or one mark by itself.
_WORD = re.compile(r"\w+(?:['’](?=\w))?|[^\w\s]")
_NO_SPACE_BEFORE = frozenset(".,;:!?…)]}%")
_NO_SPACE_AFTER = frozenset("([{")
_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "tokens": (is_text_list, "a list of texts"),
    "names": (is_text_list, "a list of texts"),
    "merges": (is_pair_list, "a list of pairs of texts"),
    "specials": (
        lambda names: (
            isinstance(names, list)
            and len(names) == 4
            and is_text_list([*names[:1], *names[2:]])
            and isinstance(names[1], str | None)
        ),
        "four texts, of which the second may be null",
    ),
    "lower": (lambda flag: isinstance(flag, bool), "true or false"),
}
"""What may stand in a tokenizer's file under each name."""


def split_words(text: str) -> list[str]:
    """Cut a text into words and punctuation marks. An elided word is one by itself.

    Accents are joined to their letters first (NFC).

    >>> split_words("Elle mange l'orange.")
    ['Elle', 'mange', "l'", 'orange', '.']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text))


def join_words(words: Sequence[str]) -> str:
    """Write words as a sentence: a space between two, but none before a full stop or after an elided word.

    Where the text had its spaces elsewhere (around a quotation, a hyphen), that is lost.

    >>> join_words(["L'", "orange", "est", "verte", "."])
    "L'orange est verte."
    """
    text = ""
    for word in words:
        close = not text or text[-1] in _NO_SPACE_AFTER or word in _NO_SPACE_BEFORE
        elided = len(text) > 1 and text[-1] in "'’" and text[-2].isalnum()
        text += word if close or elided else " " + word
    return text


class WordTokenizer(Tokenizer):
    """Let each word be a token, and what was not in the training texts unknown.

    With ``lower``, everything is written small first.
    """

    def __init__(self, vocabulary: Vocabulary, *, lower: bool = False) -> None:
        super().__init__(vocabulary)
        self.lower = lower

    @classmethod
    def train(
        cls, texts: Iterable[str], *, max_size: int | None = None, min_count: int = 1, lower: bool = False
    ) -> "WordTokenizer":
        """Take the commonest words of the texts.

        ``max_size`` is V at most, the four special tokens counted, None no limit; ``min_count`` how often a word must
        occur. After the specials the words stand commonest first, in alphabetical order among equals. TypeError if
        texts is one string; ValueError if there are no words, min_count is below 1, or max_size leaves no place for a
        word.
        """
        if min_count < 1:
            raise ValueError(f"min_count must be at least 1; got {min_count}")
        if max_size is not None and max_size < 5:
            raise ValueError(f"max_size {max_size} leaves no place for a word beside the 4 special tokens")
        refuse_one_string(texts)
        counts = Counter(word for text in texts for word in split_words(text.lower() if lower else text))
        words = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
        if not words:
            raise ValueError(f"no word occurs {min_count} times in the training texts; {len(counts)} occur at all")
        return cls(Vocabulary.with_specials(words if max_size is None else words[: max_size - 4]), lower=lower)

    def tokens(self, text: str) -> list[str]:
        """Cut a text into words and marks; those that are unknown stand as they are in the text."""
        return split_words(text.lower() if self.lower else text)

    def join(self, tokens: Sequence[str]) -> str:
        """Write words as a sentence."""
        return join_words(tokens)

    def save(self, path: str | Path) -> None:
        """Write the words, in the order of their ids, into one JSON file."""
        write_json(path, "softlookup words", {"lower": self.lower, "tokens": self.vocabulary.tokens})

    @classmethod
    def load(cls, path: str | Path) -> "WordTokenizer":
        """Read what save wrote."""
        content = read_json(path, "softlookup words", "tokens", "lower")
        with naming(path):
            return cls(Vocabulary(content["tokens"]), lower=content["lower"])


def write_json(path: str | Path, file_type: str, content: dict[str, Any]) -> None:
    """Keep a tokenizer in a JSON file that says what it is."""
    text = json.dumps({"kind": file_type, "version": 1, **content}, ensure_ascii=False, indent=1)
    Path(path).write_bytes((text + "\n").encode("utf-8"))


def read_json(path: str | Path, file_type: str, *names: str) -> dict[str, Any]:
    """Read a file of write_json, and refuse another kind, or one without these names.

    FileNotFoundError; ValueError, which names the file, if it is no JSON, is of another kind, lacks something, or a
    value is not of its type.
    """
    data = read_bytes(path)
    try:
        content = parse_json(data, "it")
    except ValueError as error:
        raise ValueError(f"{path} is not a JSON file of kind {file_type!r}: {error}") from error
    if not isinstance(content, dict) or content.get("kind") != file_type or content.get("version") != 1:
        got = content.get("kind") if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{path} does not hold {file_type!r}, version 1; got {shortened(got)!r}")
    missing = [name for name in names if name not in content]
    if missing:
        raise ValueError(f"{path} holds {file_type!r} without {missing[0]!r}; wanted {', '.join(names)}")
    for name in names:
        is_sound, what = _TYPES[name]
        if not is_sound(content[name]):
            raise ValueError(f"{path} has {name} {shortened(content[name])}; wanted {what}")
    return content
