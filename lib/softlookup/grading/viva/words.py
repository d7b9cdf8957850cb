"""What is said of edits, of parts of a check, and of kinds of questions."""

from collections.abc import Collection

from softlookup.checking.inside.case import CORE

RULES = {
    "argument": ("another argument is used", "what each argument holds, and which of them this line needs"),
    "axis": ("it runs along the other axis", "what one row and one column stand for, and along which of them it goes"),
    "another": ("another function is called", "what the function on this line does to the numbers that it gets"),
    "boundary": ("the bound itself changes sides", "whether the bound itself belongs to it, and why"),
    "either": ("both conditions become one of them, or one becomes both", "which of the conditions has to hold"),
    "elementwise": (
        "a matrix product becomes a product entry by entry",
        "the shapes on both sides, and what is summed over",
    ),
    "factor": ("a factor or divisor is gone", "what it is divided by or multiplied with, and what for"),
    "filled": ("masked scores become 0 in place of minus infinity", "that exp(0) is 1 and exp(-inf) is 0"),
    "inverted": ("a condition is turned round", "what True means there"),
    "keepdim": ("the summed axis is dropped", "the shapes, and how the smaller one is broadcast"),
    "line": ("the line is gone", "what this line is there for, and on which inputs it shows"),
    "multiplied": ("a division becomes a product", "what becomes larger or smaller by it"),
    "off-by-one": ("a count or a bound moves by one", "where it begins and ends"),
    "power": ("the exponent is gone", "what the power is there for"),
    "remainder": ("the quotient and the remainder change places", "what each of the two stands for"),
    "root": ("the square root is gone", "the spread of a dot product, and what the root does to it"),
    "sign": ("plus and minus change places", "which way the numbers move"),
    "skipped": ("a function is left out", "what the function does to the numbers that it gets"),
    "slice": ("another part is cut out", "which entries are taken, the first and the last of them"),
    "swapped": ("the operands change places", "the order of the operands, and their shapes"),
    "term": ("a summand is gone", "what it adds or takes away, and what for"),
    "transposed": ("the transposition is gone", "which axis stands where, and what is multiplied with what"),
    "turned": ("a comparison or a choice is turned round", "which entries fulfil the condition now"),
}
"""For each kind of edit what it does, and what a good explanation mentions."""

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
