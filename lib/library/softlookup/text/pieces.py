"""From a text to the pieces in which byte pairs are looked for, and back without loss."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

from softlookup.text.tokenizer import refuse_one_string

SPACE = "▁"
"""The visible marker of a space, U+2581: it starts each piece that follows a space, or starts the text."""

# A run of letters and digits, with an apostrophe that has a letter after it ("▁l'" + "orange", "▁don'" + "t");
# or one other character. An apostrophe elsewhere is a quotation mark, and stands alone like all punctuation.
PIECE = rf"{SPACE}?\w+(?:['’](?=\w))?|{SPACE}?[^\w{SPACE}]"
_PIECE = re.compile(PIECE)


def normalise(text: str) -> str:
    """Write a text in the one form that comes back from its tokens.

    Accents are joined to their letters (Unicode's form NFC); each run of white space becomes one space; none
    is left at the ends. The marker U+2581 itself counts as a space.

    A text in that form already is unchanged.

    >>> normalise("  two   words ")
    'two words'
    """
    # Spaces first: NFC never makes one, so neither order of the two steps would be undone by the other.
    return unicodedata.normalize("NFC", " ".join(text.replace(SPACE, " ").split()))


def split_pieces(text: str) -> list[str]:
    """Cut a text into pieces across which no pair is ever merged.

    A space is put before the text, so that its first word looks like any other.

    The text is normalised first. Joined, with the marker read as a space, the words and single marks are " " +
    normalise(text).

    >>> split_pieces("She eats an orange.")
    ['▁She', '▁eats', '▁an', '▁orange', '.']
    >>> split_pieces("l'orange")
    ["▁l'", 'orange']
    """
    # An empty text leaves a marker with nothing after it, which is no piece.
    return _PIECE.findall(SPACE + normalise(text).replace(" ", SPACE))


def count_pieces(texts: Iterable[str]) -> Counter[str]:
    """Count how often each piece occurs, in the order in which they were met, so that learning looks at each only once.

    TypeError if texts is one string, ValueError if there is nothing in them.
    """
    refuse_one_string(texts)
    counts: Counter[str] = Counter()
    n_texts = 0
    for text in texts:
        counts.update(split_pieces(text))
        n_texts += 1
    if not counts:
        raise ValueError(f"the {n_texts} training texts hold nothing but white space; wanted words to learn from")
    return counts


@cache
def byte_characters() -> tuple[str, ...]:
    """Give each of the 256 bytes a character that can be printed, as GPT-2 does.

    Printable bytes stand for themselves; the others (the space among them) take the characters from U+0100 on.

    Source: Radford et al. 2019, section 2.2, and the code published with it.

    >>> byte_characters()[ord("a")], byte_characters()[ord(" ")]
    ('a', 'Ġ')
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    characters, moved = [], 0
    for byte in range(256):
        characters.append(chr(byte) if byte in printable else chr(256 + moved))
        moved += byte not in printable
    return tuple(characters)


def to_byte_characters(pretoken: str) -> str:
    """Write a piece as the characters of its UTF-8 bytes; the marker becomes the space's, "Ġ".

    >>> to_byte_characters("▁é")
    'ĠÃ©'
    """
    characters = byte_characters()
    return "".join(characters[byte] for byte in pretoken.replace(SPACE, " ").encode("utf-8"))


def from_byte_characters(text: str) -> str:
    """Read the text that characters of byte_characters() stand for.

    Bytes that are no UTF-8, as in a sequence cut short, become U+FFFD. ValueError if a character stands for no byte.
    """
    return character_bytes(text).decode("utf-8", errors="replace")


def character_bytes(text: str) -> bytes:
    """Give the bytes that characters of byte_characters() stand for; ValueError if one stands for none."""
    byte_of = _byte_of()
    unknown = next((character for character in text if character not in byte_of), None)
    if unknown is not None:
        raise ValueError(f"character {unknown!r} stands for no byte; wanted the 256 of byte_characters()")
    return bytes(byte_of[character] for character in text)


@cache
def _byte_of() -> dict[str, int]:
    return {character: byte for byte, character in enumerate(byte_characters())}
