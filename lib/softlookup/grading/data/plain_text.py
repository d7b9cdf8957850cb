"""Text that students wrote, made fit for an instructor's terminal."""

import re
import unicodedata


def plain(text: str, most: int = 400) -> str:
    """Text without control characters and reversed writing, cut to a length.

    Args:
        text: What somebody else wrote.
        most: Characters that are kept.

    >>> plain("ada" + chr(27) + "[2J"), plain("a" * 9, most=3)
    ('ada�[2J', 'aaa…')
    """
    cut = text[:most] + "…" * (len(text) > most)
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in cut)


def one_line(text: str, most: int = 200) -> str:
    """Text for the middle of a line, such as a student's id: line breaks and tabs are replaced too.

    Args:
        text: What somebody else wrote.
        most: Characters that are kept.

    >>> one_line("ada" + chr(10) + "graded 37 of 37")
    'ada�graded 37 of 37'
    """
    return re.sub(r"[\n\t\u2028\u2029]", "\N{REPLACEMENT CHARACTER}", plain(text, most))
