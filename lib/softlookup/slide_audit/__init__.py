"""The lecture slides, recomputed: every audited statement, what is true, and how one could have noticed."""

from importlib import import_module

from softlookup.slide_audit.compare import cited, claim, table
from softlookup.slide_audit.item import KINDS, LECTURES, VERDICTS, Found, Item, audited

MODULES = (
    "first_head",
    "identity_head",
    "uniform_head",
    "slides_of_heads",
    "slides_of_layers",
    "slides_of_positions",
    "walk_004",
    "walk_decoder_004",
    "stacks_004",
    "masks_004",
    "training_004",
    "uses_004",
    "applications_003",
    "counting_001",
    "intensity_001",
    "lookup_001",
    "lookup_003",
    "positions_001",
)
"""Where the items stand."""


def items() -> tuple[Item, ...]:
    """All items, by their ids.

    Raises:
        ValueError: If two items have one id.
    """
    found: dict[str, Item] = {}
    for name in MODULES:
        for one in vars(import_module(f"softlookup.slide_audit.{name}")).values():
            if isinstance(one, Item):
                if one.id in found:
                    raise ValueError(f"two items are called {one.id}")
                found[one.id] = one
    return tuple(found[key] for key in sorted(found))


__all__ = ["KINDS", "LECTURES", "VERDICTS", "Found", "Item", "audited", "cited", "claim", "items", "table"]
