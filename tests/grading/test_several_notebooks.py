"""Assignments of several notebooks with files beside them: collected, reported, exported, explained, given back."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from arriving import enter_class, moodle, without_marks, write, zipped
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from stock_class import ASSIGNMENT, FIRST, RIGHT, SECOND, answered, write_stock_course

from softlookup_command.commands import main
from softlookup_course.giving_out.handout import make_handout
from softlookup_course.giving_out.solutions import make_solutions
from softlookup_grader import Course, CourseError, GradeRequest, grade_assignment
from softlookup_grader.course.arrived import UNREADABLE, arrivals
from softlookup_grader.course.by_hand import comment, share_out
from softlookup_grader.course.grade_sheet import read_sheet
from softlookup_grader.course.groups import set_table, sharing
from softlookup_grader.course.inbox import MAX_BESIDE, STAMP, files_in, read_submission
from softlookup_grader.forgetting import forget
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.exports import plain_table
from softlookup_grader.platforms.feedback_zips import feedback_zips
from softlookup_grader.platforms.sources import Ways
from softlookup_grader.reports.class_report import class_report, read_report
from softlookup_grader.reports.explaining import explain
from softlookup_grader.reports.known_answers import _read
from softlookup_judge.checking.catalogue import STANDARD

BOTH = [f"{FIRST}.ipynb", f"{SECOND}.ipynb"]
LONG = "def answer(word):\n" + "".join(f"    x{n} = [word, {n}] * {n} + [len(word) // {n + 1}]\n" for n in range(30))
"""So long a function that two who have it are alike."""


@pytest.fixture(scope="session")
def released(made_once: Callable) -> Path:
    """The course, released, without a class."""
    return made_once("several-notebooks", write_stock_course)


@pytest.fixture
def course(released: Path, tmp_path: Path) -> Course:
    course = Course.at(shutil.copytree(released, tmp_path / "course"))
    enter_class(course, "ada", "ben", cy="7102")
    return course


@pytest.fixture(scope="session")
def graded_once(made_once: Callable, released: Path) -> Path:
    """The course with a class, graded."""

    def make(folder: Path) -> None:
        shutil.copytree(released, folder)

        def hand_in(student: str, beside: dict[str, bytes] | None = None, **answers: str) -> None:
            files = {f"{name}.ipynb": answered(folder, name, text, why="So.") for name, text in answers.items()}
            write(folder / "submitted" / student / ASSIGNMENT, {**files, **(beside or {})})

        helper = {"mine.py": b"def add(numbers):\n    return sum(numbers)\n"}
        hand_in("ada", helper, counting="from mine import add as answer", letters=LONG)
        hand_in("ben", counting="def answer(numbers):\n    return 7")
        hand_in("cy", counting=RIGHT[FIRST], letters=LONG)
        hand_in("dee", counting=LONG, letters="def answer(word):\n    return 'ab'")
        hand_in("eve", **RIGHT)
        hand_in("fay", counting="def answer(numbers):\n    return 6", letters="def answer(word):\n    raise ValueError")
        course = Course.at(folder)
        report = grade_assignment(course, GradeRequest(ASSIGNMENT, workers=1, seed=3))
        report.write(folder / "reports" / f"{ASSIGNMENT}.json")

    return made_once("several-graded", make)


@pytest.fixture
def graded(graded_once: Path, tmp_path: Path) -> Course:
    return Course.at(shutil.copytree(graded_once, tmp_path / "course"))


def in_folder(course: Course, student: str) -> list[str]:
    folder = course.folder("submitted", student, ASSIGNMENT)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def two(course: Course, **more: str) -> dict[str, bytes]:
    """Both notebooks, answered, under the names that they have."""
    return {f"{name}.ipynb": answered(course.root, name, RIGHT[name], **more) for name in (FIRST, SECOND)}


def test_notebooks_are_known_by_cells_and_files_beside_them_come_along(course, downloads):
    first, second = two(course).values()
    notes = nbformat.writes(nbformat.v4.new_notebook()).encode()
    beside = {"work/mine.py": b"x = 1", "work/data/more.csv": b"1", "work/notes.ipynb": notes, f"work/{STAMP}": b"2020"}
    junk = {"work/__pycache__/mine.pyc": b"", "work/.git/config": b"", "elsewhere.txt": b""}
    # Their cells have the same names, so that only what they are called tells them apart.
    inner = zipped({f"work/my {FIRST} (1).ipynb": first, f"work/{SECOND}-v2.ipynb": second, **beside, **junk})
    files = {moodle("Ada Lovelace", 81, "all.zip"): inner}
    done = collect(course, ASSIGNMENT, [write(downloads, {"all.zip": zipped(files)}) / "all.zip"])
    assert in_folder(course, "ada") == [*BOTH[:1], "data/more.csv", BOTH[1], "mine.py"] and done.notes == []
    assert read_submission(course, ASSIGNMENT, "ada").content is not None
    assert list(done.summary.lines()) == [
        "3 in class: 1 collected, 0 unreadable, 2 nothing",
        "ben: nothing",
        "cy: nothing",
    ]


def test_files_that_a_platform_flattened_get_their_own_names_and_no_others(course, tmp_path):
    first, second = two(course).values()
    names = {f"cy_7102_11_{FIRST}.ipynb": first, f"cy_7102_12_{SECOND}-1.ipynb": second, "cy_7102_13_mine.py": b"x = 1"}
    repository = {"lab_1_2_mine.py": b"", "more/lab_1_2_x.csv": b"", **two(course)}
    (tmp_path / "ada.zip").write_bytes(zipped(repository))
    collect(course, ASSIGNMENT, [write(tmp_path / "a", {"all.zip": zipped(names)}) / "all.zip", tmp_path / "ada.zip"])
    assert in_folder(course, "cy") == [*BOTH, "mine.py"]
    assert in_folder(course, "ada") == sorted(repository)


def test_who_handed_in_one_of_two_is_collected_and_the_line_says_which_is_missing(course, tmp_path):
    first, second = two(course).values()
    files = {f"ada/{FIRST}.ipynb": first, f"ben/{FIRST}.ipynb": first, f"ben/{SECOND}.ipynb": second[:-30]}
    done = collect(course, ASSIGNMENT, [write(tmp_path / "a", files)])
    lines = list(done.summary.lines())
    assert lines[0].startswith("3 in class: 2 collected")
    assert lines[2:] == [f"{student}: collected without {SECOND}.ipynb" for student in ("ada", "ben")]
    (note,) = done.notes
    assert note.startswith(f"not every notebook of ben could be read, and {FIRST}.ipynb was chosen: {SECOND}.ipynb is")
    collect(course, ASSIGNMENT, [write(tmp_path / "b", {f"ada/{SECOND}.ipynb": second})])
    assert in_folder(course, "ada") == BOTH


def test_marks_that_an_editor_lost_are_made_up_for_by_what_the_cells_say(course, tmp_path):
    first, second = map(without_marks, two(course).values())
    collect(course, ASSIGNMENT, [write(tmp_path / "a", {"ada/x.ipynb": second, "ada/y.ipynb": first})])
    assert in_folder(course, "ada") == BOTH
    assert (course.folder("submitted", "ada", ASSIGNMENT) / f"{SECOND}.ipynb").read_bytes() == second


def test_different_files_of_one_notebook_and_names_that_tell_nothing_are_refused(course, tmp_path):
    first, second = two(course).values()
    other = answered(course.root, FIRST, "def answer(numbers): return 6")
    files = {f"ada/{FIRST}.ipynb": first, f"ada/old {FIRST}.ipynb": other, f"ada/{SECOND}.ipynb": second}
    collect(course, ASSIGNMENT, [write(tmp_path / "a", {**files, "ben/a.ipynb": first, "ben/b.ipynb": second})])
    arrived = arrivals(course, ASSIGNMENT).by_student
    assert {about.state for about in arrived.values()} == {UNREADABLE} and not in_folder(course, "ada")
    assert f"are different notebooks of this assignment: ask which counts, and put it into submitted/ada/{ASSIGNMENT}/"
    assert f"submitted/ada/{ASSIGNMENT}/{FIRST}.ipynb" in arrived["ada"].why
    assert f"a.ipynb has cells of several notebooks, and is called like none: {FIRST}, {SECOND}" in arrived["ben"].why


def test_files_beside_that_are_too_many_or_in_each_others_way_cost_nobody_the_notebooks(course, tmp_path):
    many = {f"f{n:03}.csv": b"1" for n in range(MAX_BESIDE + 2)}
    files = {**two(course), "a": b"a file", "a/b.csv": b"below it", "n" * 240: b"", **many}
    (tmp_path / "ada.zip").write_bytes(zipped(files))
    done = collect(course, ASSIGNMENT, [tmp_path / "ada.zip"])
    assert len(in_folder(course, "ada")) == MAX_BESIDE + 2 and (course.root / f"submitted/ada/{ASSIGNMENT}/a").is_file()
    (note,) = done.notes
    assert note.startswith("not every file of ada was taken: f199.csv was left out: beside notebooks at most 200 files")
    assert note.endswith("… has too long a name")


def test_what_was_collected_stays_until_it_is_to_be_replaced(course, tmp_path):
    place = course.folder("submitted", "ada", ASSIGNMENT)
    collect(course, ASSIGNMENT, [write(tmp_path / "a", {f"ada/{n}": raw for n, raw in two(course).items()})])
    write(place, {STAMP: b"2026-01-01 00:00:00 UTC"})
    newer = {f"ada/{name}": raw for name, raw in {**two(course, before="x = 1"), "mine.py": b""}.items()}
    (note,) = collect(course, ASSIGNMENT, [write(tmp_path / "b", newer)]).notes
    assert note == f"ada has another {' and '.join(BOTH)} already, which was kept: --force replaces it"
    assert in_folder(course, "ada") == [*BOTH, STAMP]
    (note,) = collect(course, ASSIGNMENT, [tmp_path / "b"], Ways(force=True)).notes
    assert "the time of the earlier one was removed" in note and in_folder(course, "ada") == [*BOTH, "mine.py"]
    assert collect(course, ASSIGNMENT, [tmp_path / "b"]).notes == []


def test_the_exchange_is_collected_with_all_notebooks(course):
    exchange = course.root.parent / "exchange"
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write(f'\nc.CourseDirectory.course_id = "abc"\nc.Exchange.root = "{exchange}"\n')
        file.write("c.ExchangeCollect.check_owner = False\n")
    when = "2026-11-01 10:00:00 UTC"
    hand_in = exchange / "abc" / "inbound" / f"ada+{ASSIGNMENT}+{when}+xyz"
    write(hand_in, {**two(course), "mine.py": b"", STAMP: when.encode()})
    exchange.chmod(0o777)
    course = Course.at(course.root)
    done = collect(course, ASSIGNMENT, [], Ways(exchange=True))
    assert in_folder(course, "ada") == [*BOTH, "mine.py", STAMP] and done.notes == []
    assert arrivals(course, ASSIGNMENT).by_student["ada"].source.startswith(f"exchange/ada+{ASSIGNMENT}+{when}+xyz/")


def test_a_group_is_named_in_any_of_its_notebooks_and_forgetting_leaves_all_files_to_it(course):
    files = two(course)
    lined = nbformat.reads(files[f"{SECOND}.ipynb"].decode(), as_version=4)
    lined.cells.insert(0, nbformat.v4.new_markdown_cell("Group: ada, ben"))
    files[f"{SECOND}.ipynb"] = nbformat.writes(lined).encode()
    write(course.folder("submitted", "ada", ASSIGNMENT), {**files, "mine.py": b"x = 1"})
    assert sharing(course, ASSIGNMENT).groups == (("ada", "ben"),)
    write(course.folder("submitted", "cy", ASSIGNMENT), {f"{FIRST}.ipynb": b"{}"})
    set_table(course, ASSIGNMENT, [["cy", "ada"]])
    assert sharing(course, ASSIGNMENT).damaged["cy"] == f"{FIRST}.ipynb is JSON, but not a notebook: it has no cells"
    set_table(course, ASSIGNMENT, [])
    forget(course, "ada")
    content = read_submission(course, ASSIGNMENT, "ben").content
    assert content is not None and b"Group: ben" in content
    assert list(files_in(course, ASSIGNMENT, content)) == [*BOTH, "mine.py"]


@NEEDS_SANDBOX
def test_cells_of_the_same_name_are_two_tasks_in_every_table(graded):
    report = read_report(graded.root / "reports" / f"{ASSIGNMENT}.json")
    keys = [f"{name}/{cell}" for name in (FIRST, SECOND) for cell in ("test", "why")]
    rows = {row.student: row for row in read_sheet(graded, ASSIGNMENT, report)}
    assert list(rows["eve"].cells) == keys
    assert [[cell.points for cell in rows[student].cells.values()] for student in ("ada", "ben", "dee")] == [
        [2, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 3, 0],
    ]
    lines = plain_table([*rows.values()]).text.splitlines()
    assert lines[0].endswith(",".join(keys)) and lines[5].startswith("eve,,,,graded,5,0,5,7,2,,3,")
    tasks = {task.task: task.pass_rate for task in class_report(graded, ASSIGNMENT).tasks}
    assert tasks == {keys[0]: pytest.approx(4 / 6), keys[2]: pytest.approx(2 / 6)}


@NEEDS_SANDBOX
def test_answers_are_compared_within_a_notebook(graded):
    (pair,) = class_report(graded, ASSIGNMENT).pairs
    assert (pair.first, pair.second, pair.cells) == ("ada", "cy", (f"{SECOND}/answer",))
    shown = class_report(graded, ASSIGNMENT).side_by_side[0]
    assert shown.answers == ((f"{SECOND}/answer", LONG, LONG),)
    released = {f"{name}/answer": () for name in (FIRST, SECOND)}
    _, texts = _read(graded.folder("submitted", "cy", ASSIGNMENT) / f"{SECOND}.ipynb", released)
    assert texts == {f"{SECOND}/answer": LONG}


@NEEDS_SANDBOX
def test_explain_asks_all_notebooks_once_more_with_the_students_files(graded, run_on):
    explanation = explain(graded, ASSIGNMENT, "ada", SandboxExaminer)
    assert explanation.agrees and explanation.changed is False
    assert [task.mark.task for task in explanation.tasks][::2] == [f"{FIRST}/test", f"{SECOND}/test"]
    shutil.rmtree(graded.folder("submitted", "eve", ASSIGNMENT))
    later = explain(graded, ASSIGNMENT, "eve", SandboxExaminer)
    assert later.agrees and later.changed is None and not later.other_release
    assert (
        f"{FIRST}/test: pass, 2 of 2 points" in run_on("explain", "eve", ASSIGNMENT, "--task", f"{FIRST}/test").output
    )


@pytest.fixture
def run_on(graded: Course) -> Callable:
    return lambda *words: CliRunner().invoke(main, [*map(str, words), "--course", str(graded.root)])


@NEEDS_SANDBOX
def test_comments_and_shares_are_of_a_notebooks_cell(graded, run_on):
    comment(graded, ASSIGNMENT, "eve", f"{SECOND}/why", "Good.")
    with graded.gradebook() as book:
        comments = {
            (name, row.name): row.manual_comment
            for name in (FIRST, SECOND)
            for row in book.find_submission_notebook(name, ASSIGNMENT, "eve").comments
        }
    assert {key for key, text in comments.items() if text} == {(SECOND, "why")}
    with pytest.raises(CourseError, match=f"no graded answer to why in {ASSIGNMENT}.*: {FIRST}/answer, {FIRST}/why, "):
        comment(graded, ASSIGNMENT, "eve", "why", "Good.")
    shares = share_out(graded, ASSIGNMENT, ["ana", "bo"])
    assert len(shares) == 12 and len({(share.student, share.grader) for share in shares}) == 6
    assert "ana: 3 submissions, 3 to read: ada" in run_on("share", ASSIGNMENT, "--between", "ana,bo").output


@NEEDS_SANDBOX
def test_feedback_zips_hold_all_pages_of_a_student(graded):
    comment(graded, ASSIGNMENT, "cy", f"{SECOND}/why", "Good.")
    places = {"ada": moodle("Ada", 81, "a.zip"), "cy": f"cy_7102_11_{FIRST}.ipynb"}
    record = {s: {"state": "collected", "source": source, "why": ""} for s, source in places.items()}
    content = json.dumps({"students": record, "strangers": {}}).encode()
    write(graded.root / ".collected", {f"{ASSIGNMENT}.json": content})
    done = feedback_zips(graded, ASSIGNMENT, read_report(graded.root / "reports" / f"{ASSIGNMENT}.json"))
    moodles, canvas = (zipfile.ZipFile(path) for path in done.zips)
    assert [*done.zips.values()] == [1, 1] and canvas.namelist() == [places["cy"]]
    assert moodles.namelist() == [f"Ada_81_assignsubmission_file_/{name}.html" for name in (FIRST, SECOND)]
    feedback = nbformat.reads(canvas.read(places["cy"]).decode(), as_version=4)
    nbformat.validate(feedback)
    first, *others = [cell.source for cell in feedback.cells]
    assert f"| {SECOND}/test | 0 / 3 |" in first and f"**{SECOND}/why**: Good." in first
    assert [text for text in others if text in (f"# {FIRST}", f"# {SECOND}")] == [f"# {FIRST}", f"# {SECOND}"]
    assert RIGHT[FIRST] in others and LONG in others


def test_what_packs_one_notebook_says_so_of_several(course):
    says = f"{ASSIGNMENT} has other notebooks than .*{FIRST}, {SECOND}"
    with pytest.raises(CourseError, match=says):
        make_handout(course, ASSIGNMENT)
    with pytest.raises(CourseError, match=says):
        make_solutions(course, ASSIGNMENT, STANDARD, report=None, now=None, root=Path.cwd)
