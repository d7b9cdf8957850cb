"""One statement of a lecture slide, recomputed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

VERDICTS = {
    "correct": "right",
    "rounding": "rounded otherwise",
    "inconsistent": "the slide contradicts itself",
    "misleading": "misleading",
    "wrong": "wrong",
}
"""The verdicts, mildest first, as the page says them."""

KINDS = ("computed", "cited", "draw", "writing", "damage")
ABOUT_TEXT = ("writing", "damage")
"""Kinds of statements that say how a slide is written or was read, and nothing about its subject."""

LECTURES = ("000", "001", "002", "003", "004")


@dataclass(frozen=True)
class Found:
    """What recomputing came to: a sentence, whether the slide agrees (None: cannot be said), and both tables."""

    truth: str
    agrees: bool | None
    printed: np.ndarray | None = None
    true: np.ndarray | None = None
    off: np.ndarray | None = None
    largest: float = 0.0
    decimals: int = 2


@dataclass(frozen=True)
class Item:
    """One audited statement; ``rows.py`` says what its words mean, and ``recompute`` computes what is true."""

    id: str
    lecture: str
    slide: str
    section: str
    states: str
    verdict: str
    recompute: Callable[[], Found]
    kind: str = "computed"
    tell: str = ""
    cause: str = ""
    source: tuple[str, ...] = ()
    audit: str = ""

    @property
    def about_subject(self) -> bool:
        """Whether it is the subject that is judged: not how the slide is written, or was read."""
        return self.kind not in ABOUT_TEXT

    def __post_init__(self) -> None:
        """Refuse what no page could show, by a ValueError."""
        for value, allowed in ((self.verdict, tuple(VERDICTS)), (self.kind, KINDS), (self.lecture, LECTURES)):
            if value not in allowed:
                raise ValueError(f"{self.id}: {value!r} is none of {', '.join(allowed)}")
        if self.kind == "cited" and not self.source:
            raise ValueError(f"{self.id} rests on a publication and names none")
