"""Text that students wrote, made fit for an instructor's terminal."""

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
