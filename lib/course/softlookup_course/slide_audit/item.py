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
    """What recomputing one statement came to.

    Attributes:
        truth: A sentence or two, with computed numbers.
        agrees: Whether what is printed agrees with it; None where nothing can be computed.
        printed: The table as printed, if it is one.
        true: The table as it should be, of the same shape.
        off: Which cells of the printed table are off, of the same shape.
        largest: The largest difference, in units of the last printed place.
        places: Decimal places that are shown.
    """

    truth: str
    agrees: bool | None
    printed: np.ndarray | None = None
    true: np.ndarray | None = None
    off: np.ndarray | None = None
    largest: float = 0.0
    places: int = 2


@dataclass(frozen=True)
class Item:
    """One audited statement.

    Attributes:
        id: "E001".
        lecture: The first digits of the lecture's file.
        slide: Where on the slides it stands, in words.
        section: Page and label of the section that explains it, "04_one_head#one-head-project".
        states: What the slide states, in words of our own.
        verdict: One of VERDICTS.
        work: Computes what is true.
        kind: "computed"; "cited" where it rests on a publication; "draw" where the slide shows one random draw and a
            property is tested instead; "writing" where a word is misspelt or a title left over; "damage" where the
            text may have been damaged when it was extracted.
        tell: How one could have noticed without redoing the sum; for a right statement, a quick way to see it.
        cause: The mistake that probably made it, where one is found.
        source: Keys of the bibliography.
        audit: Where another audit of the slides says something else, what it says and why it does not hold.
    """

    id: str
    lecture: str
    slide: str
    section: str
    states: str
    verdict: str
    work: Callable[[], Found]
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
        """Refuse what no page could show.

        It is a ValueError if a verdict, kind or lecture is none, or a cited item has no source.
        """
        for value, allowed in ((self.verdict, tuple(VERDICTS)), (self.kind, KINDS), (self.lecture, LECTURES)):
            if value not in allowed:
                raise ValueError(f"{self.id}: {value!r} is none of {', '.join(allowed)}")
        if self.kind == "cited" and not self.source:
            raise ValueError(f"{self.id} rests on a publication and names none")
