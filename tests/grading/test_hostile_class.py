"""Hostile submissions among honest ones, graded in one batch: nobody gains, nobody is harmed, nothing is left behind.

The hand-ins only ever run in the grader's own sandbox; without bubblewrap nothing here runs.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from small_class import NAME, ROOT

from attacks import LEAK, TRACE, HostileHandIn, hostile_ones
from attacks.writing import write_hand_in
from softlookup_course.samples.handins import answers, filled
from softlookup_grader import Course, new_course
from softlookup_grader.data.work import Limits
from softlookup_grader.run.request import Watcher

engine = pytest.importorskip("softlookup_grader.run.engine")
pytest.importorskip("softlookup_grader.judging.examine", reason="the sandboxed examiner is not there")
pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap, which runs hostile code here")

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


class Notes(Watcher):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


@dataclass(frozen=True)
class Batch:
    """A class that was graded, and what the machine looked like before and after."""

    course: Course  # its folder
    hostile: dict[str, HostileHandIn]  # the hostile hand-ins, by student
    report: dict  # the report, as JSON
    messages: dict[str, list[str]]  # what each student was told
    sentences: list[str]  # what was said while grading went on
    before: set[str]  # what lay in the places where an attack may leave something
    after: set[str]  # the same, afterwards

    def points(self, student: str) -> dict[str, float]:
        return {task: mark["points"] for task, mark in self.report["submissions"][student]["tasks"].items()}


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


def graded(folder: Path, source: nbformat.NotebookNode, ones: Iterable[HostileHandIn]) -> Batch:
    """Grade hostile hand-ins among honest ones."""
    course = new_course(folder / "course", ROOT / "nbgrader_config.py")
    course.release({NAME: source})
    release = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    for student in HONEST:
        path = course.notebook("submitted", student, NAME)
        path.parent.mkdir(parents=True)
        nbformat.write(filled(release, answers(source)), path)
    hostile = {}
    for hand_in in ones:
        write_hand_in(hand_in, course.root / "submitted" / hand_in.student / NAME)
        if hand_in.student not in NO_IDS:
            hostile[hand_in.student] = HostileHandIn(**{**vars(hand_in), "files": {}})
    before = around(course.root)
    order = engine.GradeRequest(NAME, seed=SEED, workers=1, feedback=True, limits=LIMITS)
    notes = Notes()
    report = engine.grade_assignment(course, order, watch=notes).as_json()
    return Batch(course, hostile, report, told_in(course), notes.sentences, before, around(course.root))


def told_in(course: Course) -> dict[str, list[str]]:
    """What each student was told: in the ledger, and in the outputs of the graded notebook."""
    texts = {}
    for line in (course.root / ".grading" / NAME / "ledger.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "status" in entry and "student" in entry:
            messages = [mark["message"] for mark in entry["marks"]]
            path = course.notebook("autograded", entry["student"], NAME)
            shown = list(printed(path)) if path.is_file() else []
            texts[entry["student"]] = [*entry["remarks"], entry["reason"], *messages, *shown]
    return texts


def printed(path: Path) -> Iterator[str]:
    """The last line of each printed output of a notebook, where it says what was cut."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            lines = "".join(output.get("text", "")).splitlines()
            yield from lines[-1:]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory, source: nbformat.NotebookNode) -> Batch:
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    ones = (
        hand_in for hand_in in hostile_ones(source, release) if QUICK.search(hand_in.student) and not hand_in.archive
    )
    return graded(tmp_path_factory.mktemp("hostile-quick"), source, ones)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, source: nbformat.NotebookNode) -> Batch:
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    ones = (hand_in for hand_in in hostile_ones(source, release) if not hand_in.archive)
    return graded(tmp_path_factory.mktemp("hostile-whole"), source, ones)


@pytest.fixture(params=["quick", pytest.param("whole", marks=pytest.mark.slow)])
def batch(request: pytest.FixtureRequest) -> Iterator[Batch]:
    yield request.getfixturevalue(request.param)


def test_everybody_in_the_batch_has_a_result(batch: Batch) -> None:
    assert set(batch.report["submissions"]) == {*HONEST, *batch.hostile}
    assert len(batch.hostile) >= 26


def test_a_folder_that_cannot_be_a_students_is_left_out_with_its_reason(batch: Batch) -> None:
    there = {name: why for name, why in NO_IDS.items() if (batch.course.root / "submitted" / name).exists()}
    assert not there or there == NO_IDS
    for name, why in there.items():
        matches = [sentence for sentence in batch.sentences if f"the folder {name!r} in submitted/" in sentence]
        assert len(matches) == 1 and why in matches[0], batch.sentences


def test_hostile_ones_have_what_their_honest_code_deserves(batch: Batch) -> None:
    wrong = {}
    for student, hand_in in batch.hostile.items():
        entry = batch.report["submissions"][student]
        if hand_in.stops:
            if entry["status"] == "graded" or entry["score"] != 0:
                wrong[student] = f"{entry['status']} with {entry['score']} points"
        else:
            got = batch.points(student)
            differing = {
                task: (got.get(task), points) for task, points in hand_in.deserves.items() if got.get(task) != points
            }
            if entry["status"] != "graded" or differing:
                wrong[student] = f"{entry['status']} {entry.get('reason', '')}: got and deserved {differing}"
    assert wrong == {}


def test_what_was_ignored_or_stopped_is_told_in_a_sentence(batch: Batch) -> None:
    silent = {
        student: (
            hand_in.remark,
            [message for message in batch.messages.get(student, []) if message and "agrees" not in message],
        )
        for student, hand_in in batch.hostile.items()
        if hand_in.remark and not any(re.search(hand_in.remark, message) for message in batch.messages.get(student, []))
    }
    assert silent == {}


def test_honest_ones_among_them_have_all_points(batch: Batch) -> None:
    for student in HONEST:
        assert {mark["verdict"] for mark in batch.report["submissions"][student]["tasks"].values()} == {"pass"}


def test_nothing_is_left_behind(batch: Batch) -> None:
    assert batch.after - batch.before == set()


def test_nothing_was_read_that_is_not_theirs(batch: Batch) -> None:
    leaked = [
        path.parent.parent.name
        for path in (batch.course.root / "autograded").rglob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if LEAK in json.dumps({**output, "traceback": []})
    ]
    assert leaked == []


def test_no_page_holds_a_script_that_a_submission_wrote(batch: Batch) -> None:
    pages = list((batch.course.root / "feedback").rglob("*.html"))
    assert len(pages) >= len(HONEST)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert f"<script>document.title='{TRACE}'" not in text and not re.search(r"<img[^>]*onerror", text), page
        assert "\x1b" not in text and "<svg onload" not in text


def test_no_notebook_and_no_page_is_larger_than_a_browser_can_bear(batch: Batch) -> None:
    files = [path for step in ("autograded", "feedback") for path in (batch.course.root / step).rglob("*.[ih]*")]
    large = {path: path.stat().st_size for path in files if path.stat().st_size > 6_000_000}
    assert len(files) > 2 * len(HONEST) and large == {}


def test_gradebook_says_the_same_as_the_report(batch: Batch) -> None:
    with batch.course.gradebook() as book:
        for student in (*HONEST, *batch.hostile):
            entry = batch.report["submissions"][student]
            if entry["status"] == "graded":
                assert book.find_submission(NAME, student).score == pytest.approx(entry["score"]), student


def test_course_holds_what_it_held(batch: Batch) -> None:
    with batch.course.gradebook() as book:
        assert book.find_assignment(NAME).max_score == batch.report["submissions"][HONEST[0]]["max"]
    assert os.path.isdir(batch.course.root / "source" / NAME)
