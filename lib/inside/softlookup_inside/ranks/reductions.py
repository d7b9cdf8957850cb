"""How numbers of several ranks become one: torch.distributed's ReduceOp."""

from enum import Enum, EnumMeta
from typing import Any, NoReturn

import numpy as np

from softlookup_inside.ranks.recording import RankError


class _Reductions(EnumMeta):
    """Says of what torch.distributed has besides that it is not here."""

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"dist.ReduceOp has {', '.join(cls.__members__)} here, and no {name}")


class ReduceOp(Enum, metaclass=_Reductions):
    """What ``op=`` may be."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"

    @property
    def combine(self) -> np.ufunc:
        """Makes one array of two."""
        return {"product": np.multiply, "min": np.minimum, "max": np.maximum}.get(self.value, np.add)

    def end(self, array: np.ndarray, world: int) -> None:
        """Make the result, in place, of what all ranks' arrays were combined to."""
        if self is ReduceOp.AVG:
            np.divide(array, world, out=array)


def reduction(name: str, op: Any, array: np.ndarray) -> ReduceOp:
    """The reduction that ``op=`` of a collective names; RankError if there is none such, or not of such numbers."""
    members = ReduceOp.__members__
    chosen = members.get(getattr(op, "name", ""))
    if chosen is None:
        raise RankError(f"{name} needs op=dist.ReduceOp.{', '.join(members)}, got {op!r}")
    if chosen is ReduceOp.AVG and array.dtype.kind != "f":
        raise RankError(f"{name} with ReduceOp.AVG needs floats, got {array.dtype}: take SUM, and divide")
    return chosen
