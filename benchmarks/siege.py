"""What the worst submission of each kind costs a class: ``softlookup bench siege``.

The hostile hand-ins are graded once, all of them, which shows the slowest of each kind. Each of these is then graded
among honest submissions, and the same honest submissions are graded without it. Code that attacks runs in the sandbox
alone.
"""

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from attacks import OF_CHAPTERS, HostileHandIn, hostile_by_kind
from attacks.writing import write_hand_in
from benchmarks.grading import honest
from benchmarks.harness import benchmark
from softlookup_grader.course.folder import Course, new_course
from softlookup_grader.data.records import GRADED, Report
from softlookup_grader.data.work import Limits
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_grader.workers.pool import processors

CLASS = 20
"""Submissions in a class."""

_LOOK_S = 0.05
_SEED = 1
_HONEST = "honest-"


@dataclass(frozen=True)
class _Batch:
    """A class that was graded: its report, how long that took, and by how much the machine's free memory fell."""

    report: Report
    seconds: float
    memory_mb: float


@dataclass(frozen=True)
class Besieged:
    """A class with the slowest submission of one kind in it.

    Attributes:
        kind: Of attack.
        submission: Its student.
        does: What it tries.
        own_s: Seconds of the submission itself.
        costs_s: By how many seconds the class takes longer.
        costs_mb: How much more memory it takes, in megabytes.
        neighbours_lose: Points that honest submissions have less.
        all_graded: Whether each of them has its grade.
    """

    kind: str
    submission: str
    does: str
    own_s: float
    costs_s: float
    costs_mb: float
    neighbours_lose: float
    all_graded: bool


@benchmark("siege")
def bench_siege(
    sources: Mapping[str, NotebookNode],
    config: Path,
    *,
    workers: int | None = None,
    quick: bool = False,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Measure what hostile submissions cost a class.

    ``sources`` are assignment names and their notebooks with solutions; 04_one_head is attacked, or the first one, and
    beside it those whose chapters have attacks of their own. ``config`` is the nbgrader_config.py of the courses. None
    takes as many ``workers`` as processors. ``quick`` is two attacks of each kind and a class of four, to see that it
    runs. ``say`` is handed a line about each batch.

    ``ratio`` is (seconds that the worst submission costs / the seconds that limits allow); ``kinds`` has the slowest
    submission of each kind, as a ``Besieged``.
    """
    name = "04_one_head" if "04_one_head" in sources else min(sources)
    attacked = {name: None, **{other: kinds for other, kinds in OF_CHAPTERS.items() if other in sources}}
    size = 4 if quick else CLASS
    kinds: list[Besieged] = []
    tried = 0
    calm: dict[str, _Batch] = {}
    with tempfile.TemporaryDirectory(prefix="softlookup-siege-") as folder:
        for name, only in attacked.items():
            bench = _Siege(Path(folder, name), name, sources[name], config, workers, only)
            slowest, count = bench.slowest(2 if quick else None)
            say(f"{name}: {count} hostile submissions graded")
            tried += count
            texts = honest(sources[name], bench.release)[:size]
            calm[name] = bench.graded(texts, None)
            for kind, (hand_in, own_s) in slowest.items():
                batch = bench.graded(texts, hand_in)
                kinds.append(_besieged(kind, hand_in, own_s, calm[name], batch, len(texts)))
                say(
                    f"{kind}: {hand_in.student} costs {kinds[-1].costs_s:.1f} s, neighbours lose "
                    f"{kinds[-1].neighbours_lose:g} points"
                )
    worst, limits = max(kinds, key=lambda row: row.costs_s), Limits()
    return {
        "ratio": worst.costs_s / limits.once_s,
        "ratio_of": f"seconds that the worst submission costs a class of {size} / {limits.once_s:g} s, its limit",
        "worst": worst.submission,
        "worst_s": worst.costs_s,
        "limit_s": limits.once_s,
        "limit_graded_again_s": limits.worst_s,
        "neighbours_lose": sum(row.neighbours_lose for row in kinds),
        "every_batch_ended": all(row.all_graded for row in kinds),
        "tried": tried,
        "class": size,
        "workers": workers or processors(),
        "calm_s": {name: batch.seconds for name, batch in calm.items()},
        "calm_mb": {name: batch.memory_mb for name, batch in calm.items()},
        "memory_limit_mb": limits.memory_mb,
        "kinds": kinds,
    }


class _Siege:
    """The assignment that is attacked, and the courses in which that happens."""

    def __init__(
        self,
        folder: Path,
        name: str,
        source: NotebookNode,
        config: Path,
        workers: int | None,
        kinds: Sequence[str] | None,
    ) -> None:
        self._folder, self._name, self._source, self._config = folder, name, source, config
        self._workers, self._kinds = workers, kinds
        course = self._course("release")
        self.release = nbformat.read(course.notebook("release", ".", name), as_version=4)

    def slowest(self, most: int | None) -> tuple[dict[str, tuple[HostileHandIn, float]], int]:
        """Grade the hostile hand-ins, at most so many of each kind.

        For each kind the hand-in that took longest and its seconds, and how many hand-ins there were.
        """
        course, kinds = self._course("hostile"), dict[str, str]()
        for kind, hand_in in self._hostile():
            if not hand_in.archive and (most is None or list(kinds.values()).count(kind) < most):
                write_hand_in(hand_in, course.folder("submitted", hand_in.student, self._name))
                kinds[hand_in.student] = kind
        took = {record.student: record.seconds for record in self._grade(course).records}
        tried, kinds = len(kinds), {student: kind for student, kind in kinds.items() if student in took}
        worst = {kind: max((s for s in kinds if kinds[s] == kind), key=lambda s: took[s]) for kind in kinds.values()}
        slowest = {
            kind: (hand_in, took[hand_in.student])
            for kind, hand_in in self._hostile()
            if worst.get(kind) == hand_in.student
        }
        shutil.rmtree(course.root)
        return slowest, tried

    def graded(self, texts: Sequence[str], hostile: HostileHandIn | None) -> _Batch:
        """Grade an honest class in a course of its own, with one hostile submission in the middle, or none."""
        course = self._course("class")
        for number, text in enumerate(texts):
            path = course.notebook("submitted", f"{_HONEST}{number:02}", self._name)
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
        if hostile is not None:
            write_hand_in(hostile, course.folder("submitted", f"{_HONEST}{len(texts) // 2:02}-not", self._name))
        begun = time.perf_counter()
        with _memory() as most_mb:
            report = self._grade(course)
        batch = _Batch(report, time.perf_counter() - begun, most_mb[0])
        shutil.rmtree(course.root)
        return batch

    def _course(self, name: str) -> Course:
        course = new_course(self._folder / name, self._config)
        course.release({self._name: self._source})
        return course

    def _hostile(self) -> Iterator[tuple[str, HostileHandIn]]:
        return hostile_by_kind(self._source, self.release, self._name, kinds=self._kinds)

    def _grade(self, course: Course) -> Report:
        order = GradeRequest(self._name, seed=_SEED, workers=self._workers, feedback=False)
        return grade_assignment(course, order)


def _besieged(
    kind: str, hand_in: HostileHandIn, own_s: float, calm: _Batch, batch: _Batch, honest_ones: int
) -> Besieged:
    """What a class with one hostile submission in it costs more than without."""
    more_s, more_mb = max(0.0, batch.seconds - calm.seconds), max(0.0, batch.memory_mb - calm.memory_mb)
    lost, ended = _lost(calm.report, batch.report), _all_graded(batch.report, honest_ones)
    return Besieged(kind, hand_in.student, hand_in.does, own_s, more_s, more_mb, lost, ended)


@contextlib.contextmanager
def _memory() -> Iterator[list[float]]:
    """Look at the machine's free memory meanwhile; gives the most by which it fell, in megabytes."""
    before, over, most_mb = _free_mb(), threading.Event(), [0.0]

    def look() -> None:
        while not over.wait(_LOOK_S):
            most_mb[0] = max(most_mb[0], before - _free_mb())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most_mb
    finally:
        over.set()
        watcher.join()


def _free_mb() -> float:
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) / 1024


def _lost(calm: Report, under_siege: Report) -> float:
    """The points that honest submissions have less than without the hostile one among them."""
    now = {record.student: record.score for record in under_siege.records}
    return sum(max(0.0, record.score - now.get(record.student, 0.0)) for record in calm.records)


def _all_graded(report: Report, honest_ones: int) -> bool:
    graded = [record for record in report.records if record.status == GRADED and not record.student.endswith("-not")]
    return len(graded) == honest_ones
