"""Soft Lookup's library: transformers in numpy and in torch, and what reading, training and counting them needs.

Nothing heavy is loaded until it is asked for: ``import softlookup`` brings in neither torch nor numpy,
so that a command's help or a notebook's first cell appears at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from softlookup_inside.asking.numpy_answers import in_numpy
    from softlookup_judge import check, hint

_SUBMODULES = (
    *("model", "notation", "ranks", "reference", "roofline", "text", "tiles", "training"),
    *("evaluation", "post_training"),
)
_ELSEWHERE = {
    "check": "softlookup_judge",
    "hint": "softlookup_judge",
    "in_numpy": "softlookup_inside.asking.numpy_answers",
}
"""Names of other packages that are asked for here; the judge is installed with ``pip install softlookup-judge``."""

BESIDE_SUBMISSIONS = (
    *("__init__", "notation", "reference", "text", "describing", "model", "training", "roofline"),
    *("tiles", "ranks"),
)
"""What a submission may import of this package while it is graded: nothing that knows an answer."""

__all__ = ["__version__", "check", "hint", "in_numpy", *_SUBMODULES]


def __getattr__(name: str) -> Any:
    """Load a submodule, ``check``, ``hint`` or ``in_numpy``, at its first use.

    Args:
        name: The attribute that was asked for.

    Returns:
        The submodule of that name, the function, or the version.

    Raises:
        AttributeError: If the package has no such name.
        ModuleNotFoundError: If the judge is not installed.
    """
    if name == "__version__":
        return _version()
    if name in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[name]), name)
    if name in _SUBMODULES:
        return import_module(f"softlookup.{name}")
    raise AttributeError(f"module 'softlookup' has no attribute {name!r}; it has {', '.join(__all__)}")


def _version() -> str:
    """The version that the package's metadata state, looked up once."""
    from softlookup_inside.installed import version_of

    installed = globals()["__version__"] = version_of("softlookup")
    return installed


def __dir__() -> list[str]:
    """List the public names, those not loaded yet included."""
    return sorted(__all__)
