"""A student whose answers come from the sandbox, as the judge sees one."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup_grader.judging.lent import owns, sound
from softlookup_grader.judging.rebuild import ReleasedCheck
from softlookup_grader.sandbox.lending import Own
from softlookup_grader.sandbox.session import Dead, OutOfTime, SubmissionSession
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_judge.data.protocols import Student
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.apart import DECOY, WorldsApart
from softlookup_judge.judging.calls import Call, differs

_OWN_S = 2.0  # how long a student's own function may take where it is compared with a lent one


@dataclass(frozen=True)
class Before:
    """An earlier task of the same submission."""

    check: ReleasedCheck  # its check, as the release holds it
    failed: bool  # whether it has not passed; it has failed as well if it was not reached
    answers: bool  # whether its function may be asked again; not where it was stopped, or ended its process


class Remote:
    """A student whose answers come from the sandbox, by the submission's process, which holds the answer to a task."""

    def __init__(
        self,
        session: SubmissionSession,
        check: ReleasedCheck,
        earlier: Callable[[], dict[str, Before]],
        seconds: float,
        known: Mapping[str, Variant],
    ) -> None:
        self._known = known
        self.session, self.check, self.left, self.left_for_own = session, check, seconds, seconds
        self._earlier = functools.cache(earlier)
        self._silent: set[str] = set()
        self._rounds: list[tuple[Case, list[Call]]] = []

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Answer each case in turn; where functions are lent, what is missing is a failure, and costs no points."""
        self._rounds = []
        for name in lent:
            self._owns(name)  # drawn at the first use: the judge's own work, before the student's clock runs
        # All at once, which saves waiting; where functions are lent, one by one: what may be asked of them depends.
        for some in [[case] for case in cases] if lent else [cases]:
            self._rounds.append((some[0], []))
            start_s = time.monotonic()
            try:
                answers = self.session.ask(
                    some, results, lent, self._sound, start_s + self.left, self._owns, self._note
                )
            except OutOfTime:
                if not lent:
                    raise
                answers = [Answer(failure=Failure("raised", "The time was over before it was asked this."))]
            finally:
                self.left -= _took(start_s, self.session)
            yield from answers

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer calls: those that have failed, or all of them."""
        earlier = self._earlier()
        return tuple(task_id for task_id, before in earlier.items() if sound_too or before.failed)

    def differed(self, at: int) -> bool:
        """Whether a lent function gave something else than the student's own, which cannot see the comparison."""
        case, calls = self._rounds[at]
        try:
            return any(self._gives_another(call, case) for call in calls)
        finally:
            self.session.check("", about(self.check))

    def _note(
        self,
        name: str,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        upstream: Sequence[np.ndarray] | None,
        result: Any,
    ) -> None:
        """Take note of a lent call."""
        variant = self._earlier()[name].check.variant
        self._rounds[-1][1].append(Call(variant, args, result, keywords, upstream[0] if upstream else None))

    def _sound(
        self, name: str, args: Sequence[Any], keywords: Mapping[str, Any], upstream: Sequence[np.ndarray] | None = None
    ) -> Any:
        return sound(self._variant(name), args, keywords, upstream)

    def _owns(self, name: str) -> Own:
        return owns(self._variant(name))

    def _variant(self, name: str) -> Variant:
        return self._known.get(name) or self._earlier()[name].check.variant

    def _gives_another(self, call: Call, case: Case) -> bool:
        """Whether the student's own function gives something else than the lent one; so does one that gives nothing."""
        task = call.variant.task
        earlier = self._earlier()[task.id]
        question = call.question(case.frame)
        remaining_s = min(_OWN_S, self.left_for_own)
        if not earlier.answers or task.id in self._silent or question is None or remaining_s <= 0:
            return True
        if not self.session.check("", about(earlier.check)).callable:
            return True
        start_s = time.monotonic()
        try:
            answer = self.session.ask([question[0]], len(task.returns), (), self._sound, start_s + remaining_s)[0]
        except OutOfTime:
            self._silent.add(task.id)
            return True
        finally:
            self.left_for_own -= _took(start_s, self.session)
        return differs(question[0], answer, question[1])


class RemoteApart:
    """A parallel program in the sandbox, which answers in new processes alone (see ``protocols.StudentApart``)."""

    def __init__(
        self, worlds: WorldsApart, anew: Callable[[], AbstractContextManager[SubmissionSession]], seconds: float
    ) -> None:
        self.worlds, self._anew = worlds, anew
        self.left, self.left_for_decoys = seconds, seconds / 2
        self._last: SubmissionSession | None = None
        self._contexts = ExitStack()

    def process(self, session: SubmissionSession) -> Student:
        """What answers in a process that holds the answer to the task."""
        return _InProcess(self, session)

    def answers_apart(self) -> list[Answer]:
        """The answers of ``worlds``."""
        return self.worlds.answers

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Answer questions that earn nothing, all in one more process; OutOfTime if that ends or takes too long."""
        try:
            if self._last is None:
                self._last = self._contexts.enter_context(self._anew())
            yield from self.process(self._last).answers(cases, results, lent)
        except Dead:
            raise OutOfTime from None

    def close(self) -> None:
        """End the process that answers such questions."""
        self._last = None
        self._contexts.close()

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """Nothing: what is lent is compared call by call, and a rank is run many times."""
        return ()

    def differed(self, at: int) -> bool:
        """Never: nothing is lent."""
        return False


class _InProcess:
    """What answers in one process of a parallel program; it takes the student's time."""

    def __init__(self, student: RemoteApart, session: SubmissionSession) -> None:
        self._student, self._session = student, session

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Answer questions, where decoys have a time of their own; OutOfTime if it takes too long."""
        student, start_s = self._student, time.monotonic()
        decoys = sum(case.part == DECOY for case in cases) / max(len(cases), 1)
        most = (student.left if decoys < 1 else 0.0) + (student.left_for_decoys if decoys else 0.0)
        try:
            yield from self._session.ask(cases, results, (), _none_lent, start_s + most)
        finally:
            took = _took(start_s, self._session)
            student.left -= took * (1 - decoys)
            student.left_for_decoys = max(0.0, student.left_for_decoys - took * decoys)

    lendable, differed = RemoteApart.lendable, RemoteApart.differed


def _none_lent(*_: Any) -> Any:
    raise AssertionError("nothing is lent to ranks")


def _took(start_s: float, session: SubmissionSession) -> float:
    """Seconds of a request: neither the judge's own work is the student's time, nor a wait for a processor."""
    return time.monotonic() - start_s - session.watch.waited


def about(check: ReleasedCheck) -> dict[str, Any]:
    """What the sandbox has to know of a task: names alone."""
    task = check.task
    before = {earlier.name: earlier.id for earlier in task.earlier}
    return {
        "expression": check.expression,
        "name": task.name,
        "forbids": list(task.barred),
        "stop": list(check.others),
        "earlier": before,
        "layers": {
            earlier.id: [earlier.layer.sizes, list(earlier.layer.parameters), earlier.layer.depth]
            for earlier in task.earlier
            if earlier.layer
        },
    }
