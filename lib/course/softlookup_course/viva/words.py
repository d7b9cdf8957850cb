"""What is said of parts of a check, and which edits are asked about first."""

from collections.abc import Collection

from softlookup_inside.asking.case import CORE

LIKED = frozenset(("filled", "keepdim", "line", "slice", "inverted"))
"""Kinds of edits that are drawn first: whoever follows the code sees what they do, and nobody else."""

PARTS = {
    "mask": "masks",
    "blind": "queries that may attend to nothing",
    "large": "very large or small numbers",
    "gradient": "gradients",
    "dtype": "dtypes",
    "axes": "axes in another order",
    "offset": "more keys than queries",
    "zero": "temperatures at or near 0",
    "ties": "equal numbers at the edge",
    "sure": "a token that alone holds more than p",
    "exact": "tokens that hold exactly p",
    "edges": "numbers on a bound",
    "groups": "query heads that share keys",
    "boundary": "numbers on a bound",
    "whole": "whole numbers",
}
"""What the cases of each part of a check are about."""


def verdict_words(wrong: Collection[str]) -> str:
    """What a check comes to, as an option: which parts of its cases are wrong; empty where a part has no words."""
    if not wrong:
        return "All cases are right."
    if CORE in wrong:
        return "Ordinary inputs already come out wrong."
    if not all(part in PARTS for part in wrong):
        return ""
    names = [PARTS[part] for part in sorted(wrong, key=list(PARTS).index)]
    return f"Ordinary inputs are right. Wrong are the cases on: {', '.join(names)}."


def told_apart(first: str, second: str) -> bool:
    """Whether only one of two verdicts can be defended.

    Where both name masks they are too near: a case on gradients, dtypes or queries that may attend to nothing may have
    a mask, too, and nobody knows whether it has.
    """
    return first != second and not all(PARTS["mask"] in _parts(text) for text in (first, second))


def _parts(text: str) -> list[str]:
    """The parts that a verdict names."""
    return text.removesuffix(".").rpartition(": ")[2].split(", ")
