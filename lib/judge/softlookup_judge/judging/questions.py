"""What a check asks: the cases are drawn from a seed, and the oracle answers them."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from softlookup_inside.asking.case import CORE, SINGLE, Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.compare import is_right
from softlookup_judge.data.ranges import at_ends
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.oracle import expected_results, mistaken

HOME_SEED = 4
"""At home the inputs are the same every time, so that a picture can be compared with the one before."""


@dataclass(frozen=True)
class TaskQuestions:
    """What one check asks, with the right answers and what known mistakes give: drawn once, for a whole class."""

    cases: tuple[Case, ...]
    rights: tuple[Arrays, ...]
    mistake_results: MistakeResults = field(default_factory=MistakeResults)


def questions(variant: Variant, seed: int, *, shuffled: bool = False) -> TaskQuestions:
    """Draw the questions of one check and answer them; ``shuffled``: an answer must not count its calls."""
    cases = draw(variant, seed)
    if shuffled:
        order = generator(variant, seed, 1).permutation(len(cases))
        cases = [cases[i] for i in order]
    return TaskQuestions(tuple(cases), tuple(expected_results(variant, case) for case in cases))


@lru_cache(maxsize=32)
def questions_at_home(variant: Variant) -> TaskQuestions:
    """The questions that a check at home asks: drawn and answered at the first check of a task, or written down."""
    prepared = variant.task.prepared
    return prepared.questions[variant.number] if prepared is not None else questions(variant, HOME_SEED)


def draw(variant: Variant, seed: int) -> list[Case]:
    """The questions of one check: the same for the same variant and seed."""
    cases = cases_of(variant, generator(variant, seed))
    if not variant.task.cuts:
        return cases
    return [*cases, *(case for case in with_axes_of_one(cases) if _can_be_asked(variant, case))]


def cases_of(variant: Variant, rng: np.random.Generator) -> list[Case]:
    """The questions as the task writes them, under the variant's convention."""
    task, cases = variant.task, variant.task.cases(rng, **variant.constants)
    cases = [*cases, *at_ends(task.ranges, list(task.parameters), "large" in task.parts, cases)]
    return [_spread(variant, case) if case.grid and case.limits else case for case in converted(variant, cases)]


def converted(variant: Variant, cases: list[Case]) -> list[Case]:
    """Questions as the task writes them, under the variant's convention."""
    return cases if variant.convention is None else [variant.convention.convert_case(case) for case in cases]


def _spread(variant: Variant, case: Case) -> Case:
    """A question to a kernel with a limit for its busiest program: the published kernel's, and an eighth more."""
    counted = mistaken(variant, (), replace(case, limits=(None, None, None, 0)))
    if counted is None:  # as in a course's own task whose solution is not finished
        return case
    return replace(case, limits=(*(case.limits or ()), int(counted[-1][-1]) * 9 // 8))


def generator(variant: Variant, *seed: int) -> np.random.Generator:
    """What draws a variant's questions: another for each task, variant and seed."""
    first, *more_seeds = seed
    return np.random.default_rng([first, zlib.crc32(variant.task.id.encode()), variant.number, *more_seeds])


def with_axes_of_one(cases: Sequence[Case]) -> Iterator[Case]:
    """The first core question with one axis after another, known by its length, cut to length 1."""
    valued = (case for case in cases if case.part == CORE and not case.gradients and not case.sizes)
    base = next((case for case in valued if not any(isinstance(a, list | dict | tuple | str) for a in case.args)), None)
    if base is None or base.frame == "text":
        return
    arrays = [arg for arg in base.args if isinstance(arg, np.ndarray)]
    for length in sorted(
        {n for array in arrays for n in array.shape if n > 1} - {a for a in base.args if type(a) is int}
    ):
        args = tuple(
            arg[tuple(slice(1) if n == length else slice(n) for n in arg.shape)] if isinstance(arg, np.ndarray) else arg
            for arg in base.args
        )
        yield replace(base, label=f"the axis of length {length} cut to length 1", args=args, part=SINGLE)


def _can_be_asked(variant: Variant, case: Case) -> bool:
    """Whether a question made from another has a right answer: finite, and the published solution gives it, too."""
    try:
        expected = expected_results(variant, case)
    except Exception:  # the inputs do not fit together any more
        return False
    if not all(array.size and np.isfinite(array.astype(np.float64)).all() for array in expected):
        return False
    published = mistaken(variant, (), case)
    return published is not None and is_right(case, Answer(published), expected)
