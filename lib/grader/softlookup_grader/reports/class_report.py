"""The class at a glance: who handed in, how the points spread, which tasks and mistakes cost the most, who is alike."""

import contextlib
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from softlookup_grader.course.arrived import Arrivals, arrivals
from softlookup_grader.course.collected import summary
from softlookup_grader.course.deadlines import deadlines, more_time
from softlookup_grader.course.folder import Course
from softlookup_grader.course.grade_sheet import SheetRow, read_sheet
from softlookup_grader.course.hand_ins import HandIns
from softlookup_grader.course.inbox import notebooks_in, read_submission
from softlookup_grader.course.notebooks import BadNotebook, read_notebook, task_id
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED, MISSING, REFUSED, HandMark, Record, Report, TaskMark, task_names
from softlookup_grader.data.work import cell_key
from softlookup_grader.judging.rebuild import rebuild
from softlookup_grader.judging.stock import as_handed_in
from softlookup_grader.reports.help_asked import helped
from softlookup_grader.reports.known_answers import KnownAnswers, answer_texts, known_answers
from softlookup_grader.reports.side_by_side import Likeness
from softlookup_grader.reports.similarity import HINT, Cells, SimilarPair, Tokens, alike, cells_of, given_by
from softlookup_judge.checking.catalogue import Catalogue, UnknownTask, catalogue_of

BARS = 10
Kind = TypeVar("Kind")
PAIRS = 20  # so many pairs are shown; the JSON file holds all


@dataclass(frozen=True)
class MistakeCost:
    """What one known mistake cost the class."""

    task: str
    name: str  # the mistake's name
    students: int  # how many made it
    points: float  # what they lost in that task, in all; two mistakes named together share it
    says: str  # the sentence for the student


@dataclass(frozen=True)
class TaskLine:
    """How the class did in one task."""

    task: str
    max: float
    pass_rate: float  # share of the graded submissions that are right
    mean: float  # points on average
    lost: float  # points lost in all
    blank: int  # how many did not fill it in
    mistakes: tuple[MistakeCost, ...] = ()  # the known mistakes met in it, the most frequent first


@dataclass(frozen=True)
class LateOne:
    """A graded hand-in that came after its end, more time counted."""

    seconds: float  # by how much
    penalty: float  # what it cost, in points


@dataclass(frozen=True)
class ClassReport:
    """One assignment of a class."""

    assignment: str
    max: float  # points there are
    graded: tuple[str, ...]  # ids of the graded
    refused: dict[str, str]  # ids of those whose notebook could not be graded, and why
    missing: tuple[str, ...]  # ids of those in the class who have handed in nothing
    scores: tuple[float, ...]  # points of the graded, late penalties off, in rising order
    late: int  # how many of them have a late penalty
    tasks: tuple[TaskLine, ...]  # one for each task, in the order of the notebook
    waiting: tuple[str, ...]  # ids of those whose written answers a person still has to read
    # how much help the notebooks say was asked for: by student, by task, the number of steps
    helped: dict[str, dict[str, int]] = field(default_factory=dict)
    pairs: tuple[SimilarPair, ...] = field(default=())  # submissions that are alike
    # submissions whose answers are published, shown as help, or were handed in earlier
    known: tuple[KnownAnswers, ...] = ()
    side_by_side: tuple[Likeness, ...] = ()
    # those of them who came late, or have a late penalty, by id
    late_ones: dict[str, LateOne] = field(default_factory=dict)
    # those of them of whom no time is known, where it is known of others and there is a due date
    untimed: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()  # those for whom one notebook counts; the first handed it in
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what is to be said of groups, by id
    collected: tuple[str, ...] = ()  # what collecting came to, a few lines; empty where nothing was collected
    more_time: tuple[str, ...] = ()  # who has more time, and why, a line each: for the instructor alone

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """Lower quartile, median and upper quartile; None if nobody is graded."""
        if not self.scores:
            return None
        if len(self.scores) == 1:
            return (self.scores[0],) * 3
        low, middle, high = statistics.quantiles(self.scores, n=4, method="inclusive")
        return low, middle, high

    @property
    def costliest(self) -> TaskLine | None:
        """The task that cost the most points in all."""
        return max(self.tasks, key=lambda task: task.lost, default=None)

    @property
    def mistakes(self) -> list[MistakeCost]:
        """The known mistakes of all tasks, those that cost the most points first."""
        met = [mistake for task in self.tasks for mistake in task.mistakes]
        return sorted(met, key=lambda mistake: (-mistake.points, mistake.task, mistake.name))

    def histogram(self) -> list[tuple[float, float, int]]:
        """How many have from so many to so many points; the upper end belongs to the next one, but for the last."""
        width = self.max / BARS or 1.0
        counts = Counter(min(BARS - 1, max(0, int(score / width + 1e-9))) for score in self.scores)
        return [(n * width, (n + 1) * width, counts[n]) for n in range(BARS)]

    def as_json(self) -> dict[str, Any]:
        """The report for a JSON file."""
        return {
            "assignment": self.assignment,
            "max": self.max,
            "graded": len(self.graded),
            "refused": dict(self.refused),
            "missing": list(self.missing),
            "waiting": list(self.waiting),
            "late": self.late,
            "late_students": {student: vars(late) for student, late in self.late_ones.items()},
            "no_time": list(self.untimed),
            "groups": [list(group) for group in self.groups],
            "group_remarks": {student: list(sentences) for student, sentences in self.remarks.items()},
            "collected": list(self.collected),
            "more_time": list(self.more_time),
            "quartiles": self.quartiles,
            "mean": statistics.fmean(self.scores) if self.scores else None,
            "histogram": [list(bar) for bar in self.histogram()],
            "tasks": {
                task.task: {
                    "max": task.max,
                    "right": task.pass_rate,
                    "mean": task.mean,
                    "lost": task.lost,
                    "blank": task.blank,
                    "mistakes": {
                        mistake.name: {"students": mistake.students, "points": mistake.points, "says": mistake.says}
                        for mistake in task.mistakes
                    },
                }
                for task in self.tasks
            },
            "help": {student: dict(sorted(steps.items())) for student, steps in sorted(self.helped.items())},
            "alike": {
                "hint": HINT,
                "pairs": [pair.as_json() for pair in self.pairs],
                "known": [finding.as_json() for finding in self.known],
            },
        }


def read_report(path: Path) -> Report:
    """Read the report that grading wrote; CourseError if it is not there or not one."""
    try:
        message = json.loads(path.read_text(encoding="utf-8"))
        return Report(
            message["assignment"], message["seed"], tuple(_record(*item) for item in message["submissions"].items())
        )
    except FileNotFoundError:
        raise CourseError(f"there is no {path}: 'softlookup grade {path.stem}' writes it") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CourseError(f"{path} is not a grade report: 'softlookup grade {path.stem}' writes a new one") from None


def _record(student: str, message: dict[str, Any]) -> Record:
    tasks = {name: TaskMark(**{**m, "diagnosis": tuple(m["diagnosis"])}) for name, m in message["tasks"].items()}
    by_hand = {name: HandMark(**m) for name, m in message.get("by_hand", {}).items()}
    return Record(
        *(student, message["status"], message["score"], message["max"], tasks, by_hand),
        reason=message.get("reason", ""),
        remarks=tuple(message.get("remarks", ())),
        penalty=message.get("late_penalty", 0.0),
        group=tuple(message.get("group", ())),
    )


def class_report(course: Course, assignment: str, earlier: Iterable[Path] = ()) -> ClassReport:
    """Put together what is known of an assignment: points from the gradebook, verdicts from the grade report."""
    report = read_report(course.root / "reports" / f"{assignment}.json")
    grade_rows = read_sheet(course, assignment, report)
    lines = {line.student: line for line in grade_rows if line.status == GRADED}
    records = [row for row in report.records if row.status == GRADED]
    states = {line.student: line.status for line in grade_rows} | {r.student: r.status for r in report.records}
    refused = {row.student: row.reason for row in report.records if row.status == REFUSED}
    hand_ins = HandIns(course, assignment)
    # A group's notebook is compared once, as that of the one who handed it in.
    compared = [student for student in sorted(lines) if not hand_ins.given_by(student)]
    handed = _handed_in(course, assignment, compared)
    pairs = [pair for pair in alike(handed.tokens) if not hand_ins.sharing.together(pair.first, pair.second)]
    dates = deadlines(course, assignment)
    late = {
        student: LateOne(dates.late.get(student, 0.0), line.penalty)
        for student, line in sorted(lines.items())
        if dates.late.get(student) or line.penalty > 0
    }
    untimed = tuple(student for student in sorted(lines) if hand_ins.came(student)[0] is None)
    catalogue = catalogue_of(course.root)
    known = known_answers(handed.tokens, handed.released, catalogue, earlier)
    return ClassReport(
        assignment=assignment,
        max=grade_rows[0].max if grade_rows else max((row.max for row in records), default=0.0),
        graded=tuple(sorted(lines)),
        refused=dict(sorted(refused.items())),
        missing=tuple(sorted(student for student, state in states.items() if state == MISSING)),
        scores=tuple(sorted(line.score for line in lines.values())),
        late=sum(line.penalty > 0 for line in lines.values()),
        tasks=tuple(_task_line(name, records, lines, catalogue) for name in task_names(records)),
        waiting=tuple(sorted(line.student for line in lines.values() if line.waiting)),
        helped=helped(course, assignment, sorted(lines)),
        pairs=tuple(pairs),
        known=tuple(known),
        side_by_side=tuple(_side_by_side(pairs[:PAIRS], known, handed.texts)),
        late_ones=late,
        untimed=untimed if dates.due is not None and len(untimed) < len(lines) else (),
        groups=hand_ins.sharing.groups,
        remarks=dict(hand_ins.sharing.remarks),
        collected=collected_lines(course, assignment),
        more_time=tuple(more_time(dates)),
    )


def collected_lines(course: Course, assignment: str) -> tuple[str, ...]:
    """What collecting came to: the counts, and what is nobody's; none where nothing was collected."""
    if arrivals(course, assignment) == Arrivals():
        return ()
    standing = summary(course, assignment)
    lines = tuple(standing.lines())
    return lines[0], *lines[len(lines) - len(standing.strangers) :]


@dataclass(frozen=True)
class _HandedIn:
    """What students wrote themselves: texts by student and cell's key, tokens likewise, and the release's tokens."""

    released: dict[str, Tokens]
    tokens: dict[str, Cells]
    texts: dict[str, dict[str, str]]


def _handed_in(course: Course, assignment: str, students: Sequence[str]) -> _HandedIn:
    """Read these students' submitted notebooks; files that are no notebooks are left out."""
    put_together = as_handed_in if course.layout(assignment).stock else rebuild
    releases = {path.stem: read_notebook(path) for path in course.notebooks("release", ".", assignment)}
    released = {name: given_by(release) for name, release in releases.items()}

    def by_key(name: str, cells: Mapping[str, Kind]) -> dict[str, Kind]:
        return {cell_key(name, cell, len(releases)): about for cell, about in cells.items()}

    handed_in = _HandedIn({}, {}, {})
    for name, cells in released.items():
        handed_in.released.update(by_key(name, cells))
    for student in students:
        content = read_submission(course, assignment, student).content
        if content is not None:
            tokens, texts = dict[str, Tokens](), dict[str, str]()
            with contextlib.suppress(BadNotebook):
                for name, raw in notebooks_in(course, assignment, content).items():
                    rebuilt = put_together(releases[name], raw, f"{name}.ipynb").notebook
                    tokens |= by_key(name, cells_of(rebuilt, released[name]))
                    texts |= by_key(name, answer_texts(rebuilt))
                handed_in.tokens[student], handed_in.texts[student] = tokens, texts
    return handed_in


def _side_by_side(
    pairs: Sequence[SimilarPair], known: Sequence[KnownAnswers], texts: dict[str, dict[str, str]]
) -> Iterator[Likeness]:
    """The texts of what is alike."""
    for pair in pairs:
        both, first_texts, second_texts = (pair.first, pair.second), texts[pair.first], texts[pair.second]
        yield Likeness(both, both, tuple((task_id(cell), first_texts[cell], second_texts[cell]) for cell in pair.cells))
    for finding in known:
        answers = zip(finding.cells, finding.known_texts, strict=True)
        triples = tuple((task_id(cell), texts[finding.student][cell], other) for cell, other in answers)
        yield Likeness((finding.student,), (finding.student, finding.source), triples)


def _task_line(name: str, records: Sequence[Record], lines: dict[str, SheetRow], catalogue: Catalogue) -> TaskLine:
    marks = [(row.student, row.tasks[name]) for row in records if name in row.tasks]
    points = {student: _points(lines.get(student), name, mark) for student, mark in marks}
    students: Counter[str] = Counter()
    cost: dict[str, float] = defaultdict(float)
    for student, mark in marks:
        for mistake_name in mark.diagnosis:
            students[mistake_name] += 1
            cost[mistake_name] += (mark.max - points[student]) / len(mark.diagnosis)
    met = [
        MistakeCost(
            name, mistake_name, students[mistake_name], cost[mistake_name], _says(name, mistake_name, catalogue)
        )
        for mistake_name in students
    ]
    return TaskLine(
        task=name,
        max=marks[0][1].max,
        pass_rate=sum(mark.verdict == "pass" for _, mark in marks) / len(marks),
        mean=statistics.fmean(points.values()),
        lost=sum(mark.max - points[student] for student, mark in marks),
        blank=sum(mark.verdict == "blank" for _, mark in marks),
        mistakes=tuple(sorted(met, key=lambda mistake: (-mistake.students, -mistake.points, mistake.name))),
    )


def _points(line: SheetRow | None, name: str, mark: TaskMark) -> float:
    """The points that count now: the gradebook's, where it has any."""
    points_by_task = {task_id(cell): grade.points for cell, grade in line.cells.items()} if line else {}
    return points_by_task.get(name, mark.points)


def _says(name: str, mistake_name: str, catalogue: Catalogue) -> str:
    """A known mistake's sentence; empty for what the course does not know any more."""
    try:
        return catalogue.task(name).mistake(mistake_name).says
    except (UnknownTask, KeyError):
        return "the right answer to another variant of the task" if mistake_name == "other-variant" else ""
