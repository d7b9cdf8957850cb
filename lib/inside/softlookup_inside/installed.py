"""What of this project is installed: its packages' folders and versions. A page of the book has no use for it."""

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("softlookup", *(f"softlookup_{name}" for name in ("inside", "command", "judge", "grader", "course")))
"""This project's packages; a machine has some of them."""


def homes() -> dict[str, Path]:
    """The folders of the packages that are here, by name, found without importing them."""
    specs = ((name, find_spec(name)) for name in PACKAGES)
    return {name: Path(str(spec.origin)).parent for name, spec in specs if spec is not None}


def version_of(part: str) -> str:
    """The version of a part; "0" where it is not installed."""
    holder = holder_of(part)
    return distribution(holder).version if holder else "0"


def holder_of(part: str) -> str | None:
    """The distribution that a part came in: its own, or the one that holds all of them; None where neither is here."""
    for name in (part, "softlookup-all"):
        try:
            distribution(name)
        except PackageNotFoundError:
            continue
        return name
    return None
