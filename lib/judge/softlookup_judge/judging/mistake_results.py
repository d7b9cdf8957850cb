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
    """What pairs of mistakes give, written down as numbers (see ``prints``).

    Attributes:
        named: The pairs.
        numbers: A row for each, with a number for each case that asks for values; NaN where it raises an exception.
        columns: Which column a case (``id``) has.
        places: Where each mistake changes the published solution (see ``published.edited_places``).
    """

    named: Sequence[Sequence[str]]
    numbers: np.ndarray
    columns: Mapping[int, int]
    places: Mapping[str, Sequence[Sequence[int]]]


class MistakeResults:
    """What known mistakes give, and what other variants want: computed once for a whole class.

    A task may have a hundred pairs of mistakes, and in some tasks each takes a tenth of a second.

    Args:
        mistakes: What is known already, by the mistakes' slugs and the number (``id``) of the case.
        variants: Likewise what other variants want, by their number.
        computes: Whether what is not known is computed; else such mistakes give nothing.
        pairs: Where nothing is computed, what pairs of mistakes give.

    Attributes:
        further: Further questions with their right answers, once they were drawn (see ``further``).
        changed: Questions with one argument changed, once they were made: its name, the question, the changed one.
    """

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

    def by(self, variant: Variant, slugs: tuple[str, ...], case: Case) -> Arrays | None:
        """What code with these mistakes gives, None where it raises an exception."""
        key = slugs, id(case)
        if key not in self.mistakes and self.computes:
            self.mistakes[key] = mistaken(variant, slugs, case)
        return self.mistakes.get(key)

    def of_variant(self, variant: Variant, other: Variant, case: Case) -> Arrays | None:
        """What the right answer to another variant gives, None where it raises an exception."""
        key = other.number, id(case)
        if key not in self.variants and self.computes:
            self.variants[key] = of_other_variant(variant, other, case)
        return self.variants.get(key)

    def touch(self, variant: Variant, first: str, second: str) -> bool:
        """Whether two known mistakes change the same place: what is said of one is untrue beside the other."""
        written = {} if self.pairs is None else self.pairs.places
        places: list[Sequence[Sequence[int]]] = [
            edited_places(variant.task, slug) if self.computes else written.get(slug, ()) for slug in (first, second)
        ]
        # What is put in between has no length: it touches what it stands beside.
        return any(
            min(end, other_end) - max(begin, other) >= (begin < end and other < other_end)
            for begin, end in places[0]
            for other, other_end in places[1]
        )
