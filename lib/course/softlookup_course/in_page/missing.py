"""What is not in a page, and what a page says of it."""

from importlib.abc import MetaPathFinder
from typing import Any

_THERE = (
    "softlookup_course.widgets",
    "softlookup_course.widgets.rank_recording",
    "softlookup_course.widgets.played_programs",
)
"""What is in the page of a package that is missing otherwise."""

_MISSING = {
    "torch": "torch is not in the page: write it with numpy. The notebook takes answers in torch.",
    "matplotlib": "Pictures need JupyterLab: matplotlib is not in the page.",
    "softlookup.tiles.on_triton": "Triton is not in the page: run this cell in the notebook.",
    "softlookup.ranks.on_torch": "Processes of torch are not in the page: run this cell in the notebook.",
    "softlookup_course.widgets": "Figures to operate need JupyterLab.",
    "softlookup.model": "The models need torch, which is not in the page.",
    "softlookup.training": "Training needs torch, which is not in the page.",
}


class NotHere(MetaPathFinder):
    """Says of what is not in the page what to do instead."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise for what the page does not have; find nothing."""
        for missing, message in _MISSING.items() if name not in _THERE else ():
            if name == missing or name.startswith(missing + "."):
                raise ImportError(message, name=name)


class Absent:
    """What stands for a name that could not be imported: whoever uses it is told the reason."""

    def __init__(self, reason: str) -> None:
        self.__dict__["_reason"] = reason

    def __getattr__(self, name: str) -> Any:
        raise ImportError(self._reason)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Say why it cannot be called."""
        raise ImportError(self._reason)
