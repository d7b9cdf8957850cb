"""Parallel programs in grading: ranks are asked again in processes of their own, and beside each world a decoy is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup_inside.asking.case import CORE, Arrays, Case
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_judge.data.compare import identical, is_right
from softlookup_judge.data.protocols import Student
from softlookup_judge.judging.ranks import RanksAnswer, ask_ranks, rank_question

if TYPE_CHECKING:
    from softlookup.ranks.world import WorldOutcome

DECOY = "decoy"
"""The part of decoys, which earn nothing."""


@dataclass(frozen=True)
class _World:
    """What came of a world, and which of its ranks are asked by themselves; ``index`` is its question's."""

    index: int
    case: Case
    outcome: "WorldOutcome"
    ranks: Sequence[int]


class WorldsApart:
    """The questions to whole worlds of one task: a process is asked worlds, and then a new one what each rank does."""

    def __init__(self, questions: Sequence[tuple[Case, Arrays]], count: int) -> None:
        self.answers: list[Answer] = []
        self._questions, self._count = [*questions, questions[0]], count
        self._rng = np.random.default_rng()  # not the run's seed: that may be used again, and no decoy is foreseen
        self._worlds: list[_World] = []

    def ask_worlds(self, process: Student) -> None:
        """Ask whole worlds and decoys."""
        self.answers, self._worlds = [], []
        rng, last = self._rng, len(self._questions) - 1
        for index, (case, expected) in enumerate(self._questions):
            rank = int(rng.integers(max(case.world, 1)))
            decoy = decoy_of(case, rank, rng)
            # Which of the two is the decoy cannot be seen at the first of them. A program that hangs does so in a
            # question that counts, and the very last inputs are a decoy's.
            is_before = 0 < index < last and rng.random() < 0.5
            decoyed = self._ask_decoy(decoy, process) if is_before else None
            answered = ask_ranks(case, process, self._count)
            self.answers.append(answered.answer)
            failure = answered.answer.failure
            if failure is not None and failure.kind == "blank" and case.part == CORE:
                return
            if answered.outcome is None or case.world < 2 or not is_right(case, answered.answer, expected):
                continue
            self._worlds.append(_World(index, case, answered.outcome, range(case.world)))
            decoyed = decoyed if is_before else self._ask_decoy(decoy, process)
            if decoy is not None and decoyed is not None and decoyed.outcome is not None:
                self._worlds.append(_World(index, decoy, decoyed.outcome, (rank,)))
                self.answers[index] = _with_excess(answered.answer, decoyed.answer)

    @property
    def ranks(self) -> int:
        """How many ranks there are to ask by themselves."""
        return max((world.case.world for world in self._worlds), default=0)

    def has_rank(self, rank: int) -> bool:
        """Whether there is something to ask a rank by itself."""
        return bool(self._worlds_of(rank))

    def ask_rank(self, process: Student, rank: int) -> None:
        """Ask one rank once more, with all its messages, in a new process that was never asked about another rank."""
        worlds = self._worlds_of(rank)
        worlds = [worlds[i] for i in self._rng.permutation(len(worlds))]
        # Messages of worlds that may cost anything could hold what is asked in others: they come last. No message is
        # there before its world is asked.
        limited = [[world] for world in worlds if world.case.limits]
        for some in [*limited, [world for world in worlds if not world.case.limits]]:
            self._ask_some(some, process, rank)

    def _ask_some(self, worlds: Sequence[_World], process: Student, rank: int) -> None:
        cases = [rank_question(world.case, rank, world.outcome.inboxes[rank]) for world in worlds]
        answers = list(process.answers(cases, self._count)) if cases else []
        for world, answer in zip(worlds, answers, strict=True):
            if answer.arrays is None or not identical(answer.arrays, world.outcome.records[rank]):
                message = (
                    f"rank {rank} does something else with the same messages in a process of its own: "
                    "what it knows of other ranks has to come by messages, and it may send no array of np.empty "
                    "before it is filled"
                )
                printed = self.answers[world.index].printed
                self.answers[world.index] = Answer(None, Failure("not-deterministic", message), printed)

    def _worlds_of(self, rank: int) -> list[_World]:
        return [world for world in self._worlds if rank in world.ranks and self.answers[world.index].failure is None]

    def _ask_decoy(self, decoy: Case | None, process: Student) -> RanksAnswer | None:
        """What came of a decoy; None if there is none, or if the program cannot answer it, which costs nothing."""
        if decoy is None:
            return None
        try:
            return ask_ranks(decoy, process, self._count)
        except TimeoutError:
            return None


def _with_excess(answer: Answer, decoy: Answer) -> Answer:
    """An answer whose cost is that of its decoy where that is more: both have the same shapes, and the same limits."""
    if answer.arrays is None or decoy.arrays is None:
        return answer
    return replace(answer, arrays=(*answer.arrays[:-1], np.maximum(answer.arrays[-1], decoy.arrays[-1])))


def decoy_of(case: Case, rank: int, rng: np.random.Generator) -> Case | None:
    """A world in which one rank has the inputs of another world, and the others shuffled ones; None if none change."""
    args = tuple(
        [entry if at == rank else _changed(entry, rng) for at, entry in enumerate(arg)]
        if isinstance(arg, list)
        else arg
        for arg in case.args
    )
    before, after = ([array for arg in world for array in _arrays_in(arg)] for world in (case.args, args))
    if all(map(np.array_equal, before, after)):
        return None
    return replace(case, args=args, part=DECOY)


def _changed(value: Any, rng: np.random.Generator) -> Any:
    """The same numbers in another order; floats are scaled, too, since an order may be all the same."""
    if isinstance(value, list | tuple):
        return type(value)([_changed(item, rng) for item in value])
    if not isinstance(value, np.ndarray):
        return value
    shuffled = rng.permutation(value.ravel()).reshape(value.shape)
    return (shuffled * rng.uniform(0.5, 1)).astype(value.dtype) if value.dtype.kind == "f" else shuffled


def _arrays_in(value: Any) -> list[np.ndarray]:
    if isinstance(value, list | tuple):
        return [array for item in value for array in _arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []
