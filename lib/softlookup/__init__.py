"""Soft Lookup: transformers as a course, and the library behind its book and its notebooks.

Nothing heavy is loaded until it is asked for: ``import softlookup`` brings in neither torch nor matplotlib,
so that a command's help or a notebook's first cell appears at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from softlookup.checking import check, hint
    from softlookup.checking.inside.numpy_answers import in_numpy

_SUBMODULES = (
    *("checking", "figures", "model", "notation", "ranks", "reference", "roofline", "text", "tiles", "training"),
    *("evaluation", "post_training", "widgets"),
)

__all__ = ["__version__", "check", "hint", "in_numpy", *_SUBMODULES]


def __getattr__(name: str) -> Any:
    """Load a submodule, ``check``, ``hint`` or ``in_numpy``, at its first use.

    AttributeError if the package has no such name.
    """
    if name == "__version__":
        return _version()
    if name in ("check", "hint"):
        return getattr(import_module("softlookup.checking"), name)
    if name == "in_numpy":
        return import_module("softlookup.checking.inside.numpy_answers").in_numpy
    if name in _SUBMODULES:
        return import_module(f"softlookup.{name}")
    raise AttributeError(f"module 'softlookup' has no attribute {name!r}; it has {', '.join(__all__)}")


def _version() -> str:
    """The version that the package's metadata state, looked up once; "0" where it is not installed, as in a page."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("softlookup")
    except PackageNotFoundError:
        installed = "0"
    globals()["__version__"] = installed
    return installed


def __dir__() -> list[str]:
    """List the public names, those not loaded yet included."""
    return sorted(__all__)
