"""Numbers, shapes and names as they stand in a sentence, and what must hold of attention weights."""

import numpy as np

from softlookup.checking.compare import Difference
from softlookup.checking.inside.case import Case


def number(value: float) -> str:
    """A number with six significant digits, as short as it goes."""
    value = float(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return f"{value:.6g}"


def shape(array: np.ndarray) -> str:
    """A shape in words: "(2, 3)", or "a single number"."""
    return "a single number" if array.ndim == 0 else str(tuple(int(n) for n in array.shape))


_PREPOSITIONS = {"by", "for", "from", "in", "of", "to", "with", "without"}


def named(result: str) -> str:
    """The name of a result as it stands in a sentence: as code where it begins with a preposition, as "with zeros"."""
    return f"`{result}`" if result.split()[0] in _PREPOSITIONS else result


def which(difference: Difference, names: tuple[str, ...]) -> str:
    """Which result a difference is in, empty where the task has one only."""
    return f" of {named(names[difference.result])}" if len(names) > 1 and difference.result < len(names) else ""


def rows_sum_to_one(case: Case, arrays: tuple[np.ndarray, ...]) -> str | None:
    """A property of attention weights: each row sums to 1, or to 0 where the query sees nothing."""
    weights = arrays[0]
    if weights.ndim == 0 or not np.isfinite(weights.astype(np.float64)).all():
        return None
    with np.errstate(all="ignore"):
        sums = weights.astype(np.float64).sum(axis=-1)
    bad = (np.abs(sums - 1) > 1e-3) & (np.abs(sums) > 1e-3)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    row = f"Row {list(index)}" if index else "The row"
    return f"{row} of your weights sums to {number(sums[index])}; a row of weights sums to 1."


def masked_cells_are_zero(case: Case, arrays: tuple[np.ndarray, ...]) -> str | None:
    """A property of masked weights: 0 where the mask, the last argument if there is one, says False."""
    mask = case.args[-1]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        return None
    try:
        seen = np.broadcast_to(mask, arrays[0].shape)
    except ValueError:
        return None
    bad = ~seen & (arrays[0] != 0)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"Cell {list(index)} is masked and has the weight {number(arrays[0][index])}: it must be 0."
