"""What an answer costs beyond what its question allows: bytes of a kernel, messages of a parallel program."""

from collections.abc import Sequence

import numpy as np

from softlookup_inside.asking.case import Case

_BUSIEST_PROGRAM = "busiest program moves {} bytes"
_COSTS_OF_KERNELS = (
    "kernel reads {} bytes from main memory",
    "kernel writes {} bytes to main memory",
    "kernel holds {} bytes on chip at a time",
    _BUSIEST_PROGRAM,
)
_COSTS_OF_RANKS = (
    "busiest link carries {} bytes",
    "ranks send {} messages",
    "longest chain of messages has {} steps",
    "busiest rank sends or receives {} bytes",
)

_NAMES_OF_KERNELS = ("bytes read", "bytes written", "bytes on chip", "bytes of the busiest program")
_NAMES_OF_RANKS = ("bytes on the busiest link", "messages", "steps", "bytes of the busiest rank")

WITHIN_LIMITS = np.zeros(len(_COSTS_OF_KERNELS), np.int64)
"""The last result of a kernel that stays within its limits: what it costs beyond each of them."""

RANKS_WITHIN_LIMITS = np.zeros(len(_COSTS_OF_RANKS), np.int64)
"""The same of a parallel program."""


def excess(case: Case, costs: Sequence[int]) -> np.ndarray:
    """By how much costs exceed a case's limits, in their order; costs after those are free."""
    limits = case.limits or ()
    limits += (None,) * (len(costs) - len(limits))
    over = [0 if limit is None else max(0, cost - limit) for cost, limit in zip(costs, limits, strict=True)]
    return np.array(over, np.int64)


def cost_names(case: Case) -> tuple[str, ...]:
    """What the entries of the last result count, those beyond a limit; empty where no costs are recorded."""
    if not case.is_recorded:
        return ()
    return _NAMES_OF_RANKS if case.world else _NAMES_OF_KERNELS


def excess_in_words(case: Case, over: np.ndarray) -> str:
    """What an answer with right values costs too much, in a sentence without its beginning and end."""
    for at, cost in enumerate(_COSTS_OF_RANKS if case.world else _COSTS_OF_KERNELS):
        if over[at]:
            limit = (case.limits or ())[at] or 0
            total = limit + int(over[at])
            ratio = total / max(1, limit)
            # A little too much is no "1.0 times".
            more = f"{ratio:.1f} times" if ratio >= 1.05 else f"{int(over[at]):,} more than"
            reason = ": the work is not spread over the programs of the grid" if cost == _BUSIEST_PROGRAM else ""
            return f"{cost.format(f'{total:,}')}, {more} the {limit:,} that are allowed{reason}"
    return ""
