"""Parallel programs as answers: each rank is asked by itself, again and again until it has all its messages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup_inside.asking.calling import called, inputs_for
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_inside.ranks.names import MESSAGES
from softlookup_inside.ranks.packing import NAMES, Record
from softlookup_judge.data.limits import RANKS_WITHIN_LIMITS, excess
from softlookup_judge.data.protocols import Student

if TYPE_CHECKING:
    from softlookup.ranks.world import WorldOutcome


class _RankFailed(Exception):
    """A rank has no answer, because of a failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def rank_question(case: Case, rank: int, inbox: Record) -> Case:
    """The question to one rank, with the messages that it has received so far."""
    if wrong := [arg for arg in case.args if isinstance(arg, list) and len(arg) != case.world]:
        raise ValueError(f"the case {case.label!r} has {case.world} ranks, and a list of {len(wrong[0])} inputs")
    args = tuple(arg[rank] if isinstance(arg, list) else arg for arg in case.args)
    return replace(case, args=args, rank=rank, inbox=inbox, limits=None)


@dataclass(frozen=True)
class RanksAnswer:
    """What a student's ranks come to together, and what each did; no outcome where there are no results."""

    answer: Answer
    outcome: "WorldOutcome | None" = None


def ask_ranks(case: Case, student: Student, count: int) -> RanksAnswer:
    """What a student's ranks come to together, with ``count`` results each."""
    from softlookup.ranks.records import WorldError
    from softlookup.ranks.world import run

    printed: dict[int, str] = {}

    def ask(inboxes: Mapping[int, Record]) -> dict[int, Record]:
        cases = [rank_question(case, rank, inbox) for rank, inbox in inboxes.items()]
        answers = dict(zip(inboxes, student.answers(cases, count), strict=True))
        printed.update({rank: each.printed for rank, each in answers.items()})
        records: dict[int, Record] = {}
        for rank, each in answers.items():
            if each.failure is not None:
                raise _RankFailed(_of_rank(each.failure, rank))
            if each.arrays is None or len(each.arrays) != 2:
                raise WorldError("record", f"what rank {rank} gives is no record of a rank")
            records[rank] = each.arrays[0], each.arrays[1]
        return records

    try:
        outcome = run(ask, case.world)
        _check_offers(case, outcome)
        arrays = _arrays(case, outcome, count)
    except _RankFailed as failed:
        return RanksAnswer(Answer(None, failed.failure, _first(printed)))
    except WorldError as error:
        return RanksAnswer(Answer(None, Failure(error.kind, str(error)), _first(printed)))
    return RanksAnswer(Answer(arrays, None, _first(printed)), outcome)


def results(case: Case, function: Callable[..., Any], count: int) -> Arrays:
    """What a function of ours gives on all ranks and costs too much; WorldError if its messages do not meet."""
    from softlookup.ranks.world import run

    def ask(inboxes: Mapping[int, Record]) -> dict[int, Record]:
        questions = {rank: rank_question(case, rank, inbox) for rank, inbox in inboxes.items()}
        return {rank: called(function, each, inputs_for(each), count) for rank, each in questions.items()}

    return _arrays(case, run(ask, case.world), count)


def on_all_ranks(*per_rank: Sequence[np.ndarray]) -> Arrays:
    """The right results of a program, rank by rank, and no cost beyond its limits."""
    return (*(array for of_rank in zip(*per_rank, strict=True) for array in of_rank), RANKS_WITHIN_LIMITS)


def _check_offers(case: Case, outcome: "WorldOutcome") -> None:
    """Refuse messages of a kind that is not offered, where no collective sends them."""
    from softlookup.ranks.records import WorldError

    if set(case.offers) <= set(MESSAGES):
        for rank, (rows, _) in enumerate(outcome.records):
            names = {NAMES[name_index] for name_index in rows[:, 0]}
            if others := sorted(names & set(MESSAGES) - set(case.offers)):
                raise WorldError("record", f"rank {rank} calls {', '.join(others)}, which `dist` does not offer here")


def _arrays(case: Case, outcome: "WorldOutcome", count: int) -> Arrays:
    from softlookup.ranks.records import WorldError

    for rank, arrays in enumerate(outcome.results):
        if len(arrays) != count:
            raise WorldError("record", f"what rank {rank} gives is no record of a rank")
    traffic = outcome.traffic
    costs = (traffic.busiest_link_bytes, len(traffic.messages), traffic.steps, traffic.busiest_rank_bytes)
    return (*(array for arrays in outcome.results for array in arrays), excess(case, costs))


def _of_rank(failure: Failure, rank: int) -> Failure:
    if failure.kind in ("blank", "shortcut"):  # a shortcut's message is a name
        return failure
    return replace(failure, where=f"rank {rank}, {failure.where}" if failure.where else f"rank {rank}")


def _first(printed: Mapping[int, str]) -> str:
    """What the first rank printed that printed anything."""
    return next((text for _, text in sorted(printed.items()) if text), "")
