"""The lecture slides, recomputed: every audited statement, what is true, and how one could have noticed."""

from softlookup_course.slide_audit.compare import table
from softlookup_course.slide_audit.item import KINDS, LECTURES, VERDICTS, Found, Item
from softlookup_course.slide_audit.rows import read

MODULES = (
    *("first_head", "identity_head", "uniform_head", "slides_of_heads", "slides_of_layers", "slides_of_positions"),
    *("walk_004", "walk_decoder_004", "stacks_004", "masks_004", "training_004", "uses_004"),
    *("applications_003", "counting_001", "intensity_001", "lookup_001", "lookup_003", "positions_001"),
)
"""Where the items stand: tables and functions in ``NAME.py``, words and steps in ``NAME.toml``."""


def items() -> tuple[Item, ...]:
    """All items, by their ids; a ValueError if two have one id, or a row makes no item."""
    by_id: dict[str, Item] = {}
    for item in (entry for name in MODULES for entry in read(name)):
        if item.id in by_id:
            raise ValueError(f"two items are called {item.id}")
        by_id[item.id] = item
    return tuple(by_id[key] for key in sorted(by_id))


__all__ = ["KINDS", "LECTURES", "VERDICTS", "Found", "Item", "items", "read", "table"]
