"""Texts that a right answer opens: they travel mixed with what a right answer gives.

So nobody comes upon a solution by reading a page's files. It is not a secret: the expected results are in the page,
too, and a program can put both together, as it can answer from a table of them.
"""

import base64
import hashlib
from collections.abc import Sequence

import numpy as np

from softlookup_inside.asking.case import Arrays


def sealed(text: str, rights: Sequence[Arrays]) -> str:
    """A text mixed with the right answers to a task's questions in the page, in base64."""
    return base64.b64encode(_mixed(text.encode(), rights)).decode()


def opened(seal: str, rights: Sequence[Arrays]) -> str:
    """The text that ``sealed`` was given, by the same right answers."""
    return _mixed(base64.b64decode(seal), rights).decode()


def _mixed(data: bytes, rights: Sequence[Arrays]) -> bytes:
    key = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for expected in rights for array in expected))
    blocks = [hashlib.sha256(key.digest() + index.to_bytes(4)).digest() for index in range(1 + len(data) // 32)]
    return bytes(a ^ b for a, b in zip(data, b"".join(blocks), strict=False))
