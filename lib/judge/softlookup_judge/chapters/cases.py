"""Tasks, cases and variants, as the modules of several chapters write them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import LARGE_TOLERANCE
from softlookup_judge.data.notebook import Description, described

DTYPE: dict[str, Any] = {"part": "dtype", "keeps_dtype": True}
"""Facts of a case that asks whether the dtype of the inputs is kept."""

LARGE: dict[str, Any] = {"part": "large", "tolerance": LARGE_TOLERANCE}
"""Facts of a case with scores in the thousands."""


OfOracle = Callable[[Callable[..., Any]], Description]
"""What makes a task's description of its oracle."""


def graded(task_id: str, cases: Callable[..., Any], **attributes: Any) -> OfOracle:
    """Describe a task by decorating its oracle; arguments are as for ``described``."""
    return lambda oracle: described(task_id, cases, oracle, **attributes)


def backward(upstream: np.ndarray, *positions: int) -> dict[str, Any]:
    """Facts of a case that asks for the gradients of the arguments at these positions."""
    return {"part": "gradient", "gradients": positions, "upstream": upstream}


def sized(names: str, *sizes: tuple[Any, ...], tolerance: float | None = None) -> list[Case]:
    """One case of plain numbers for each tuple of sizes, labelled by them."""
    return [Case(f"({names}) = {args}", args, tolerance=tolerance) for args in sizes]


def variants_by(**constants: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Variants from the values of each constant, that of the published variant first."""
    return tuple(dict(zip(constants, values, strict=True)) for values in zip(*constants.values(), strict=True))
