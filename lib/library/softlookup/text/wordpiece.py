"""BERT's tokenizer: words in plain letters, cut into the longest pieces that the vocabulary holds."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from softlookup.text.tokenizer import Tokenizer
from softlookup.text.vocabulary import Specials, Vocabulary
from softlookup.text.words import join_words, read_json, write_json
from softlookup_inside.untrusted_files import decode_utf8, naming, parse_json, read_bytes, shortened

BERT_SPECIALS = Specials(pad="[PAD]", unk="[UNK]", start="[CLS]", end="[SEP]")
INSIDE = "##"
"""What a piece begins with if it does not begin a word."""

# The blocks whose characters are words by themselves. The gap before U+2B920 is in the `tokenizers` library too.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_LONGEST_WORD = 100
_KIND = "softlookup word pieces"


def plain_letters(text: str, *, lower: bool = True) -> str:
    """Write a text the way BERT reads it.

    What cannot be seen is dropped, white space becomes spaces, an ideograph gets a space on either side; with
    lower, accents are taken off and all letters are small.

    Source: Devlin et al. 2018, and the code published with it (BasicTokenizer).

    >>> plain_letters("Élan  vital")
    'elan  vital'
    """
    characters = []
    for character in text:
        category = unicodedata.category(character)
        if character.isspace() and (category != "Cc" or character in "\t\n\r"):
            characters.append(" ")
        elif category not in ("Cc", "Cf", "Co") and character != "\N{REPLACEMENT CHARACTER}":
            characters.append(f" {character} " if _is_ideograph(character) else character)
    text = "".join(characters)
    if not lower:
        return text
    text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    # Letter by letter: str.lower would write a Greek word's last sigma differently.
    return "".join(character.lower() for character in text)


def split_marks(text: str) -> list[str]:
    """Cut a text in plain letters at its spaces, and around each punctuation mark.

    >>> split_marks("it's $5")
    ['it', "'", 's', '$', '5']
    """
    return "".join(f" {character} " if _is_mark(character) else character for character in text).split()


class WordPieceTokenizer(Tokenizer):
    """Cut words from the left into the longest pieces that are in the vocabulary.

    A word of which some part is in no piece is unknown as a whole, and so is one of more than 100 characters.
    A special token's name within a text is text like any other. There is no training: vocabularies come
    with published models. decode cannot bring capitals, accents and spaces back.

    Pieces that do not begin a word start with "##"; with ``lower``, accents and capitals are taken away first.
    ValueError if the vocabulary has no unknown token.

    Source: Wu et al. 2016, section 4.1; Devlin et al. 2018.
    """

    def __init__(self, vocabulary: Vocabulary, *, lower: bool = True) -> None:
        if vocabulary.specials.unk is None:
            raise ValueError("word pieces need an unknown token; this vocabulary has none")
        super().__init__(vocabulary)
        self.lower = lower
        self._unknown = vocabulary.specials.unk

    def tokens(self, text: str) -> list[str]:
        """Cut a text into pieces; the unknown token stands where a word cannot be cut."""
        words = split_marks(plain_letters(text, lower=self.lower))
        return [token for word in words for token in self._cut(word)]

    def join(self, tokens: Sequence[str]) -> str:
        """Glue pieces to words, and write the words as a sentence."""
        words: list[str] = []
        for token in tokens:
            if token.startswith(INSIDE) and words:
                words[-1] += token.removeprefix(INSIDE)
            else:
                words.append(token)
        return join_words(words)

    def save(self, path: str | Path) -> None:
        """Write the pieces, in the order of their ids, into one JSON file."""
        write_json(path, _KIND, {"lower": self.lower, "tokens": self.vocabulary.tokens})

    @classmethod
    def load(cls, path: str | Path, *, lower: bool = True) -> "WordPieceTokenizer":
        """Read what save wrote, or a published model's vocab.txt or tokenizer.json.

        A name that ends in .txt is a list, one piece to a line, for which ``lower`` says whether accents and capitals
        are taken away first; the other kinds say it themselves. FileNotFoundError; ValueError, which names the file, if
        it holds something else, or asks for what this class does not do.
        """
        path = Path(path)
        if path.suffix == ".txt":
            text = decode_utf8(read_bytes(path), path)
            tokens = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
            with naming(path):
                return cls(Vocabulary(tokens, BERT_SPECIALS), lower=lower)
        published = _published(path)
        if published is None:
            content = read_json(path, _KIND, "tokens", "lower")
            with naming(path):
                return cls(Vocabulary(content["tokens"], BERT_SPECIALS), lower=content["lower"])
        with naming(path):
            return cls(_published_vocabulary(path, published["model"]), lower=_published_lower(path, published))

    def _cut(self, word: str) -> list[str]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        tokens, begin = [], 0
        while begin < len(word):
            prefix = INSIDE if begin else ""
            ends = range(len(word), begin, -1)
            end = next((end for end in ends if prefix + word[begin:end] in self.vocabulary), None)
            if end is None:
                return [self._unknown]
            tokens.append(prefix + word[begin:end])
            begin = end
        return tokens


def _published(path: Path) -> dict[str, Any] | None:
    """What a published tokenizer.json holds; None where the file is another one, or no JSON."""
    data = read_bytes(path)
    try:
        content = parse_json(data, path)
    except ValueError:
        return None
    return content if isinstance(content, dict) and isinstance(content.get("model"), dict) else None


def _published_vocabulary(path: Path, model: dict[str, Any]) -> Vocabulary:
    settings = model.get("type"), model.get("continuing_subword_prefix"), model.get("max_input_chars_per_word")
    if settings != ("WordPiece", INSIDE, _LONGEST_WORD):
        raise ValueError(
            f"{path} holds a model {shortened(settings, 200)}; wanted ('WordPiece', {INSIDE!r}, {_LONGEST_WORD})"
        )
    ids = model.get("vocab")
    if not isinstance(ids, dict) or not all(type(token_id) is int for token_id in ids.values()):
        raise ValueError(f"{path} has the vocab {shortened(ids)}; wanted an object with an id for each piece")
    if sorted(ids.values()) != list(range(len(ids))):
        raise ValueError(f"{path} has ids that are not 0 to {len(ids) - 1}, one for each of its pieces")
    return Vocabulary(sorted(ids, key=ids.__getitem__), BERT_SPECIALS)


def _published_lower(path: Path, content: dict[str, Any]) -> bool:
    normaliser = content.get("normalizer") or {}
    if not isinstance(normaliser, dict):
        raise ValueError(f"{path} has the normalizer {shortened(normaliser)}; wanted an object")
    lower = normaliser.get("lowercase")
    accents = normaliser.get("strip_accents")
    expected = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    differs = {name: normaliser.get(name) for name, value in expected.items() if normaliser.get(name) != value}
    if differs or not isinstance(lower, bool) or accents not in (None, lower):
        raise ValueError(
            f"{path} asks for the normaliser {shortened(normaliser, 200)}; wanted {expected}, accents off where "
            "letters small"
        )
    return lower


def _is_ideograph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)


def _is_mark(character: str) -> bool:
    # BERT counts every ASCII sign as a mark, those that Unicode calls symbols too.
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character).startswith("P")
