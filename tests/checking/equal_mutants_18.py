"""Mutants of chapter 18 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum or a product does not depend on the order of its parts"

EQUAL: list[tuple[str, str, str]] = [
    ("18.add", "at = tl.arange(0, BLOCK) + tl.program_id(0) * BLOCK", COMMUTES),
    ("18.quantised", "total += tl.load(scales + group * n + cols, mask=cols < n, other=0.0) * part", COMMUTES),
]
