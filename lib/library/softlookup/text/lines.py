"""Line ends for a tokenizer that reads all white space as one space: a visible sign stands for each."""

import re

LINE_END = "↵"
"""The sign of a line end, U+21B5. No piece reaches across it, so it is a token of its own."""

_SIGN = re.compile(rf" ?{LINE_END} ?")


def mark_lines(text: str) -> str:
    r"""Write each line end as a sign between spaces: the text in one line.

    >>> mark_lines("To be,\nor not")
    'To be, ↵ or not'
    """
    return text.replace("\n", f" {LINE_END} ")


def restore_lines(text: str) -> str:
    r"""Write each sign of mark_lines as a line end again, without spaces at the ends of lines.

    >>> restore_lines("To be, ↵ or not")
    'To be,\nor not'
    """
    return _SIGN.sub("\n", text)
