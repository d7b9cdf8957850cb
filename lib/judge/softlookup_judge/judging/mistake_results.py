"""What known mistakes give in the questions of a task, computed once or read from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.data.compare import Arrays
from softlookup_judge.data.published import edited_places
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.oracle import mistaken, of_other_variant


@dataclass(frozen=True)
class Pairs:
    """What pairs of mistakes give: a row of numbers each (see ``prints``), a column for each case by ``id``."""

    mistake_names: Sequence[Sequence[str]]
    numbers: np.ndarray
    columns: Mapping[int, int]
    positions: Mapping[str, Sequence[Sequence[int]]]


class MistakeResults:
    """What known mistakes give, and what other variants want, by names and ``id`` of the case, for a whole class."""

    def __init__(
        self,
        mistakes: dict[tuple[tuple[str, ...], int], Arrays | None] | None = None,
        variants: dict[tuple[int, int], Arrays | None] | None = None,
        computes: bool = True,
        pairs: "Pairs | None" = None,
    ) -> None:
        self.mistakes, self.variants = mistakes or {}, variants or {}
        self.computes, self.pairs = computes, pairs
        self.further: list[tuple[Case, Arrays]] | None = None
        self.changed: list[tuple[str, Case, Case]] | None = None

    def by(self, variant: Variant, mistake_names: tuple[str, ...], case: Case) -> Arrays | None:
        """What code with these mistakes gives, None where it raises an exception."""
        key = mistake_names, id(case)
        if key not in self.mistakes and self.computes:
            self.mistakes[key] = mistaken(variant, mistake_names, case)
        return self.mistakes.get(key)

    def of_variant(self, variant: Variant, other: Variant, case: Case) -> Arrays | None:
        """What the right answer to another variant gives, None where it raises an exception."""
        key = other.number, id(case)
        if key not in self.variants and self.computes:
            self.variants[key] = of_other_variant(variant, other, case)
        return self.variants.get(key)

    def touch(self, variant: Variant, first: str, second: str) -> bool:
        """Whether two known mistakes change the same place: what is said of one is untrue beside the other."""
        written = {} if self.pairs is None else self.pairs.positions
        positions: list[Sequence[Sequence[int]]] = [
            edited_places(variant.task, name) if self.computes else written.get(name, ()) for name in (first, second)
        ]
        # What is put in between has no length: it touches what it stands beside.
        return any(
            min(end, other_end) - max(begin, other) >= (begin < end and other < other_end)
            for begin, end in positions[0]
            for other, other_end in positions[1]
        )
