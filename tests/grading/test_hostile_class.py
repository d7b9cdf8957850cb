"""Hostile submissions among honest ones, graded in one batch: nobody gains, nobody is harmed, nothing is left behind.

The hand-ins only ever run in the grader's own sandbox; without bubblewrap nothing here runs.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from fake_grader import Seen
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT, lay

from attacks import LEAK, OF_CHAPTERS, TRACE, HostileHandIn, hostile_by_kind, hostile_ones
from attacks.handin import Bench
from attacks.writing import write_hand_in
from softlookup_course.samples.handins import answers, filled
from softlookup_grader import Course, new_course
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.work import Limits
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_judge.authoring import make_release, read_solution

pytestmark = NEEDS_SANDBOX
HONEST = ("aaa-honest", "honest-1", "zzz-honest")
LIMITS = Limits(cell_s=10.0, answer_s=10.0, total_s=60.0, cpu_s=40, memory_mb=1024, disk_mb=32)
SEED = 11
QUICK = re.compile(
    "transformer$|do-execute$|fake-module$|frames$|oracle|gradebook$|daemon|skip-exec|over-max|link-to-source|file-half"
    "|wrong-endian|stored|in-order|forged|asks-the|claims|script$|surrogates$|files-|group-halted|unseen-clone"
    "|lent-collides|raw-signals|markup-(tags|bomb)"
)
"""Those that are graded in every run of the tests: none that waits for a limit, or whose kind has a file of its own."""
NO_IDS = {
    "attack,\"quoted\"; 'id'": "web pages",
    "attack <i>id & [red]Ωmega": "takes for a pattern",
    "-rf": "begins with a hyphen",
}
"""Folders whose names cannot be ids, and part of the sentence that says why they are left out."""


@dataclass(frozen=True)
class Batch:
    """A class that was graded, and what the machine looked like before and after."""

    course: Course  # its folder
    hostile: dict[str, HostileHandIn]  # the hostile hand-ins, by student
    report: dict  # the report, as JSON
    verdicts: dict[str, list[str]]  # what each student reads of each task
    messages: dict[str, list[str]]  # and besides, in remarks and outputs
    sentences: list[str]  # what was said while grading went on
    left: set[str]  # what lies in the places where an attack may leave something, and did not before
    slowest_s: float  # the longest time of a submission

    def undeserved(self) -> dict[str, str]:
        """What is not as honest code deserves, by student."""
        wrong = {}
        for student, entry in self.report["submissions"].items():
            hand_in = self.hostile.get(student)
            marks = {task: mark["points"] for task, mark in entry["tasks"].items()}
            if hand_in is None:
                fine = {mark["verdict"] for mark in entry["tasks"].values()} == {"pass"}
            elif hand_in.stops:
                fine = entry["status"] != GRADED and entry["score"] == 0
            else:
                fine = entry["status"] == GRADED and hand_in.deserves.items() <= marks.items()
            if not fine:
                wrong[student] = f"{entry['status']} {entry.get('reason', '')}: {marks}"
        return wrong

    def silent(self, *, anywhere: bool = True) -> dict[str, tuple[str, list[str]]]:
        """Who reads no sentence of what was ignored or stopped, beside a task or ``anywhere``."""
        silent = {}
        for student, hand_in in self.hostile.items():
            messages = [*self.verdicts.get(student, []), *(self.messages.get(student, []) if anywhere else ())]
            if hand_in.remark and not any(re.search(hand_in.remark, message) for message in messages):
                silent[student] = hand_in.remark, [text for text in messages if text and "agrees" not in text]
        return silent


def around(course: Path) -> set[str]:
    """Files and processes with the mark of an attack, wherever one might get at."""
    places = (course, Path(tempfile.gettempdir()), Path("/dev/shm"), Path("/var/tmp"), Path.home(), Path.cwd(), ROOT)
    traces = {str(path) for place in places if place.is_dir() for path in place.glob(f"{TRACE}*")}
    traces |= {str(path) for path in course.rglob(f"*{TRACE}*") if "submitted" not in path.parts}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == TRACE[:15]:
                traces.add(f"process {entry.name}")
        except OSError:
            continue
    return traces


def graded(
    folder: Path, source: nbformat.NotebookNode, ones: Iterable[HostileHandIn], name: str = NAME, **options: object
) -> Batch:
    """Grade hostile hand-ins among honest ones."""
    course = new_course(folder / "course", ROOT / "nbgrader_config.py")
    course.release({name: source})
    release = nbformat.read(course.notebook("release", ".", name), as_version=4)
    for student in HONEST:
        lay(course.notebook("submitted", student, name), filled(release, answers(source)))
    hostile = {}
    for hand_in in ones:
        write_hand_in(hand_in, course.root / "submitted" / hand_in.student / name)
        if hand_in.student not in NO_IDS:
            hostile[hand_in.student] = HostileHandIn(**{**vars(hand_in), "files": {}})
    before, seen = around(course.root), Seen()
    report = grade_assignment(course, GradeRequest(name, seed=11, workers=1, **options), watch=seen)
    slowest, left = max(record.seconds for record in report.records), around(course.root) - before
    return Batch(course, hostile, report.as_json(), *read_by_students(course, name), seen.sentences, left, slowest)


def read_by_students(course: Course, name: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What each student reads of the tasks, and besides: in remarks, and in the outputs of the graded notebook."""
    verdicts, messages = {}, {}
    for line in (course.root / ".grading" / name / "ledger.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "status" in entry and "student" in entry:
            path = course.notebook("autograded", entry["student"], name)
            shown = list(printed(path)) if path.is_file() else []
            verdicts[entry["student"]] = [mark["message"] for mark in entry["marks"]]
            messages[entry["student"]] = [*entry["remarks"], entry["reason"], *shown]
    return verdicts, messages


def printed(path: Path) -> Iterator[str]:
    """The last line of each printed output of a notebook, where it says what was cut."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            lines = "".join(output.get("text", "")).splitlines()
            yield from lines[-1:]


@pytest.fixture(scope="module", params=["quick", pytest.param("whole", marks=pytest.mark.slow)])
def batch(request, tmp_path_factory, source, release):
    every = request.param == "whole"
    made = (hand_in for hand_in in hostile_ones(source, release) if not hand_in.archive)
    ones = (hand_in for hand_in in made if every or QUICK.search(hand_in.student))
    return graded(tmp_path_factory.mktemp(f"hostile-{request.param}"), source, ones, limits=LIMITS)


def test_a_folder_that_cannot_be_a_students_is_left_out_with_its_reason(batch):
    there = {name: why for name, why in NO_IDS.items() if (batch.course.root / "submitted" / name).exists()}
    assert not there or there == NO_IDS
    for name, why in there.items():
        matches = [sentence for sentence in batch.sentences if f"the folder {name!r} in submitted/" in sentence]
        assert len(matches) == 1 and why in matches[0], batch.sentences


def test_hostile_ones_have_what_their_honest_code_deserves(batch):
    assert set(batch.report["submissions"]) == {*HONEST, *batch.hostile} and len(batch.hostile) >= 26
    assert batch.undeserved() == {}


def test_what_was_ignored_or_stopped_is_said_in_a_sentence(batch):
    assert batch.silent() == {}


def test_nothing_is_left_behind(batch):
    assert batch.left == set()


def test_nothing_was_read_that_is_not_theirs(batch):
    leaked = [
        path.parent.parent.name
        for path in (batch.course.root / "autograded").rglob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if LEAK in json.dumps({**output, "traceback": []})
    ]
    assert leaked == []


def test_no_page_holds_a_script_that_a_submission_wrote(batch):
    pages = list((batch.course.root / "feedback").rglob("*.html"))
    assert len(pages) >= len(HONEST)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert f"<script>document.title='{TRACE}'" not in text and not re.search(r"<img[^>]*onerror", text), page
        assert "\x1b" not in text and "<svg onload" not in text


def test_no_notebook_and_no_page_is_larger_than_a_browser_can_bear(batch):
    files = [path for step in ("autograded", "feedback") for path in (batch.course.root / step).rglob("*.[ih]*")]
    large = {path: path.stat().st_size for path in files if path.stat().st_size > 6_000_000}
    assert len(files) > 2 * len(HONEST) and large == {}


def test_gradebook_says_the_same_as_the_report(batch):
    with batch.course.gradebook() as book:
        assert book.find_assignment(NAME).max_score == batch.report["submissions"][HONEST[0]]["max"]
        for student in (*HONEST, *batch.hostile):
            entry = batch.report["submissions"][student]
            if entry["status"] == "graded":
                assert book.find_submission(NAME, student).score == pytest.approx(entry["score"]), student
    assert os.path.isdir(batch.course.root / "source" / NAME)


QUICK_OF_CHAPTERS = re.compile("scalars|turns$|nowhere|forged|locks$|packed|shapes")


@pytest.fixture(
    scope="module",
    params=[pytest.param(n, marks=[pytest.mark.slow] * bool(at)) for at, n in enumerate(sorted(OF_CHAPTERS))],
)
def of_chapter(request):
    """A chapter whose tasks have attacks of their own: its bench, and these."""
    name = request.param
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    bench = Bench(source, make_release(source), name)
    made = [hand_in for _, hand_in in hostile_by_kind(source, bench.release, name, kinds=OF_CHAPTERS[name])]
    assert len({hand_in.student for hand_in in made}) == len(made) >= 8
    return name, bench, made


def test_other_notebooks_have_none_of_them(source, release):
    assert not list(hostile_by_kind(source, release, NAME, kinds={"kernels", "ranks"}))


def test_each_deserves_all_other_points_and_at_most_a_part_of_its_own(of_chapter):
    _, bench, made = of_chapter
    best = {task.id: float(task.points) for task in bench.tasks}
    for hand_in in made:
        less = {task: points for task, points in hand_in.deserves.items() if points != best[task]}
        assert set(hand_in.deserves) == set(best) and len(less) == 1, hand_in.student
        assert all(0 <= points < best[task] for task, points in less.items()), hand_in.student


@pytest.mark.slow
@pytest.mark.parametrize("which", ["quick", pytest.param("all", marks=pytest.mark.slow)])
def test_nobody_gains_and_no_other_task_is_lost_within_the_limit_of_time(of_chapter, tmp_path, which):
    name, bench, made = of_chapter
    some = [hand_in for hand_in in made if which == "all" or QUICK_OF_CHAPTERS.search(hand_in.student)]
    batch = graded(tmp_path, bench.source, some, name, feedback=False)
    assert len(batch.hostile) == len(some) >= 3
    assert batch.undeserved() == {} and batch.silent(anywhere=False) == {}
    assert batch.slowest_s < Limits().worst_s
