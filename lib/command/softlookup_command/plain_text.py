"""Text that students wrote, made fit for pages and for an instructor's terminal."""

import re
import unicodedata

_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Signs that change the direction of writing; Hebrew and Arabic letters have theirs without them."""


def visible(text: str) -> str:
    r"""Text, or HTML made from it, in which signs that change the direction of writing can be seen, and change nothing.

    >>> visible("x = 1 \u202e# ten")
    'x = 1 ⟨U+202E⟩# ten'
    """
    return _DIRECTIONS.sub(lambda sign: f"⟨U+{ord(sign[0]):04X}⟩", text)


def plain(text: str, most: int = 400) -> str:
    """Text without control characters, cut to ``most``; signs for the direction of writing are shown as such.

    >>> plain("ada" + chr(27) + "[2J"), plain("a" * 9, most=3)
    ('ada�[2J', 'aaa…')
    """
    cut = text[:most] + "…" * (len(text) > most)
    return "".join(
        c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in visible(cut)
    )


def one_line(text: str, most: int = 200) -> str:
    """Text for the middle of a line, such as a student's id: line breaks and tabs are replaced too.

    >>> one_line("ada" + chr(10) + "graded 37 of 37")
    'ada�graded 37 of 37'
    """
    return re.sub(r"[\n\t\u2028\u2029]", "\N{REPLACEMENT CHARACTER}", plain(text, most))
