"""What is said of parts of a check, and which edits are asked about first."""

from collections.abc import Collection

from softlookup.checking.inside.case import CORE

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
    """Whether only one of two verdicts can be defended: a case on one thing holds others, so a part more is too near.

    A case on queries that may attend to nothing has a mask; rows that it leaves open are those of any other mask.
    """
    blind = PARTS["blind"]
    return first != second and _without(first, blind) != _without(second, blind)


def _without(text: str, part: str) -> frozenset[str]:
    """The parts that a verdict names, without one of them where it names masks, too."""
    parts = frozenset(text.removesuffix(".").rpartition(": ")[2].split(", "))
    return parts - {part} if PARTS["mask"] in parts else parts
