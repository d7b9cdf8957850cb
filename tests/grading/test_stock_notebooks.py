"""Notebooks of nbgrader's own tests: the student's is run, with the instructor's cells, files and modules in place."""

import json
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sandbox_tools import NEEDS_SANDBOX
from small_class import lay

from softlookup_grader import Course, CourseError, GradeRequest, grade_assignment
from softlookup_grader.course.folder import use_own_programs
from softlookup_grader.course.inbox import MAX_BESIDE_BYTES, REMARKS, read_submission
from softlookup_grader.course.notebooks import BadNotebook
from softlookup_grader.data.work import unpacked
from softlookup_grader.judging.settings import settings_for
from softlookup_grader.judging.stock import as_handed_in

NAME = "ps1"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def marked(name: str, *, points: float | None = None, solution: bool = False, task: bool = False) -> dict:
    marks = {"grade": points is not None and not task, "grade_id": name, "locked": not solution, "schema_version": 3}
    marks |= {"solution": solution, "task": task} | ({} if points is None else {"points": points})
    return {"nbgrader": marks}


def code(source: str, name: str = "", **more: object) -> NotebookNode:
    return new_code_cell(source, metadata=marked(name, **more) if name else {})  # type: ignore[arg-type]


def text(source: str, name: str = "", **more: object) -> NotebookNode:
    return new_markdown_cell(source, metadata=marked(name, **more) if name else {})  # type: ignore[arg-type]


def notebook(*cells: NotebookNode, **kernel: str) -> NotebookNode:
    return new_notebook(cells=list(cells), metadata={"kernelspec": {**KERNEL["kernelspec"], **kernel}})


RELEASE = notebook(
    text("# Squares <img src='logo.png'>"),
    code("import math", "given"),
    code("raise NotImplementedError()", "answer", solution=True),
    code("assert square(3) == 9", "test", points=1),
    text("YOUR ANSWER HERE", "essay", points=2, solution=True),
)


def handed(*cells: NotebookNode, minor: int = 5) -> bytes:
    content = nbformat.from_dict(notebook(*cells))
    if minor < 5:
        for cell in content.cells:
            del cell["id"]
        content.nbformat_minor = minor
    return json.dumps(content).encode()


def sources(raw: bytes) -> list[str]:
    return [cell.source for cell in as_handed_in(RELEASE, raw, "a.ipynb").notebook.cells]


def with_answer(source: str) -> list[NotebookNode]:
    cells = [nbformat.from_dict(cell) for cell in RELEASE.cells]
    cells[2].source = source
    return cells


def test_the_students_cells_stay_in_their_order_and_locked_ones_are_put_back():
    cells = with_answer("def square(x):\n    return x * x")
    cells[3].source = "assert True"
    cells[1:1] = [code("x = 1"), text("<script>alert(1)</script>")]
    rebuilt = as_handed_in(RELEASE, handed(*reversed(cells)), "a.ipynb")
    assert [cell.source for cell in rebuilt.notebook.cells] == [
        "YOUR ANSWER HERE",
        "assert square(3) == 9",
        "def square(x):\n    return x * x",
        "import math",
        "&lt;script>alert(1)&lt;/script>",
        "x = 1",
        "# Squares <img src='logo.png'>",
    ]
    assert rebuilt.untouched == {"essay"} and list(rebuilt.answers) == ["answer"]
    assert rebuilt.remarks == ("The read-only cell was changed, and put back: test in a.ipynb.",)


def test_read_only_cells_that_are_gone_are_put_back_where_they_belong_and_answers_are_not():
    _, _, answer, _, essay = with_answer("square = pow")
    assert sources(handed(answer, essay)) == [
        "import math",
        "square = pow",
        "assert square(3) == 9",
        "YOUR ANSWER HERE",
    ]
    _, imports, _, test, _ = RELEASE.cells
    assert sources(handed(imports, code("def square(x): return 9"), test))[1] == "def square(x): return 9"


def test_of_a_cell_that_occurs_twice_the_last_has_the_mark_and_both_run():
    _, imports, answer, test, essay = with_answer("square = 1")
    other = nbformat.from_dict(answer)
    other.source, other.id = "square = 2", "other"
    rebuilt = as_handed_in(RELEASE, handed(imports, answer, other, test, essay), "a.ipynb")
    assert rebuilt.answers == {"answer": "square = 2"}
    assert [cell.source for cell in rebuilt.notebook.cells][1:3] == ["square = 1", "square = 2"]
    assert "nbgrader" not in rebuilt.notebook.cells[1].metadata


@pytest.mark.parametrize("minor", range(6))
def test_every_format_4_is_read_and_what_comes_out_is_sound(minor):
    rebuilt = as_handed_in(RELEASE, handed(*with_answer("square = 1"), minor=minor), "a.ipynb").notebook
    nbformat.validate(rebuilt)


def test_a_notebook_without_a_cell_of_the_assignment_is_refused():
    with pytest.raises(BadNotebook, match="a.ipynb has no cell of this assignment"):
        as_handed_in(RELEASE, handed(code("x = 1"), text("hello")), "a.ipynb")


READS = notebook(
    code("import helper\nfrom mine import sign\nnumber = int(open('data/n.txt').read())", "given"),
    code("raise NotImplementedError()", "answer", solution=True),
    code("assert answer == 42 and sign == '+' and helper.TWICE(21) == 42", "test", points=1),
    code("import os\nassert os.environ['NBGRADER_EXECUTION'] == 'autograde'\n0.1 + 0.2", "partial", points=3),
)
DRAWS = notebook(
    code("# YOUR CODE HERE", "plot", points=2, solution=True),
    code("import sys\nassert 'pytest' not in sys.modules", "test", points=1),
    text("Explain.", "drawing", points=5, task=True),
)


def stock_course(folder: Path, config: str = "", **notebooks: NotebookNode) -> Course:
    """A course that nbgrader makes and that has never heard of this grader."""
    use_own_programs()
    lay(folder / "nbgrader_config.py", f"c = get_config()\n{config}\n")
    for name, node in (notebooks or {"reads": READS, "draws": DRAWS}).items():
        lay(folder / "source" / NAME / f"{name}.ipynb", node)
    lay(folder / "source" / NAME / "data" / "n.txt", "42")
    lay(folder / "source" / NAME / "helper.py", "TWICE = (2).__mul__\n")
    course = Course.at(folder)
    from nbgrader.apps.api import NbGraderAPI

    done = NbGraderAPI(course.directory, config=course.config).generate_assignment(NAME)
    assert done["success"], done
    return course


def hand_in(course: Course, student: str, files: Mapping[str, str], without: tuple[str, ...] = ()) -> None:
    folder = course.folder("submitted", student, NAME)
    for path in course.notebooks("release", ".", NAME):
        if path.name not in without:
            node = nbformat.read(path, as_version=4)
            for cell in node.cells:
                cell.source = files.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
            lay(folder / path.name, node)
    for path, content in files.items():
        if "." in path:
            lay(folder / path, content)


ADA = {
    "answer": "answer = number",
    "mine.py": "sign = '+'",
    "plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])",
}


@pytest.mark.slow
@NEEDS_SANDBOX
def test_several_notebooks_with_files_modules_figures_and_one_that_is_missing(tmp_path):
    course = stock_course(tmp_path)
    hand_in(course, "ada", ADA)
    hand_in(course, "bob", {**ADA, "helper.py": "TWICE = 0", "extra.ipynb": "{}"}, without=("draws.ipynb",))
    report = grade_assignment(course, GradeRequest(NAME, seed=1, workers=1))
    ada, bob = report.records
    points = {name: mark.points for name, mark in ada.tasks.items()}
    assert points == {"draws/test": 1, "reads/test": 1, "reads/partial": 0.1 + 0.2}
    assert ada.by_hand["draws/plot"].waiting and ada.by_hand["draws/drawing"].waiting and ada.max == 12
    assert {name: mark.points for name, mark in bob.tasks.items()} == {**points, "draws/test": 0}
    assert not any(mark.waiting for mark in bob.by_hand.values()), "what was not handed in waits for nobody"
    assert bob.remarks == (
        "extra.ipynb is no notebook of this assignment, and was not read.",
        "draws.ipynb was not handed in: it earns nothing.",
    )
    outputs = [
        output
        for cell in nbformat.read(course.notebook("autograded", "ada", NAME, "draws"), as_version=4).cells
        for output in cell.get("outputs", ())
    ]
    assert any("image/png" in output.get("data", {}) for output in outputs), "a person gives points for the figure"
    pages = sorted(path.name for path in course.folder("feedback", "ada", NAME).glob("*.html"))
    assert pages == ["draws.html", "reads.html"]
    assert sorted(path.name for path in course.folder("feedback", "bob", NAME).glob("*.html")) == ["reads.html"]
    assert grade_assignment(course, GradeRequest(NAME)).as_json() == report.as_json()


def test_files_beside_notebooks_are_taken_within_limits_and_links_never(tmp_path):
    course = stock_course(tmp_path)
    hand_in(course, "ada", {**ADA, "big.bin": "x" * (MAX_BESIDE_BYTES + 1), "deep/er/a.txt": "a", "data/n.txt": "43"})
    folder = course.folder("submitted", "ada", NAME)
    (folder / "link.txt").symlink_to("/etc/passwd")
    (folder / "linked").symlink_to("/etc")
    files = unpacked(read_submission(course, NAME, "ada").content or b"")
    assert set(files) == {"draws.ipynb", "reads.ipynb", "mine.py", "deep/er/a.txt", REMARKS}
    (remark,) = json.loads(files[REMARKS])
    assert remark == "big.bin was left out: beside notebooks at most 200 files and 16 MB are taken."
    came = read_submission(course, NAME, "nobody")
    assert (came.status, came.reason) == ("missing", "there is no file draws.ipynb or reads.ipynb")


def test_what_a_course_sets_counts(tmp_path):
    config = "c.Execute.timeout = 90\nc.SoftLookup.preload = ['math']\nc.SoftLookup.memory_mb = 512"
    settings = settings_for(stock_course(tmp_path / "a", config), NAME)
    assert settings.stock is not None and settings.stock.preload == ("math",)
    assert (settings.limits.cell_s, settings.limits.total_s, settings.limits.memory_mb) == (90, 360, 512)
    settings = settings_for(stock_course(tmp_path / "b"), NAME)
    assert settings.stock is not None and settings.stock.preload == ("helper", "mine", "os", "sys")
    assert settings.limits.cell_s == 30, "nbgrader's own"
    assert dict(settings.stock.files) == {"data/n.txt": b"42", "helper.py": b"TWICE = (2).__mul__\n"}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            "c.SoftLookup.preload = 'numpy'",
            "c.SoftLookup.preload in nbgrader_config.py is 'numpy': it has to be a list",
        ),
        ("c.SoftLookup.memory_mb = 0", "c.SoftLookup.memory_mb in nbgrader_config.py is 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_sentence(tmp_path, config, sentence):
    with pytest.raises(CourseError, match=sentence):
        settings_for(stock_course(tmp_path, config), NAME)


def test_another_language_is_refused_by_its_kernel(tmp_path):
    node = notebook(text("Only words.", "essay", points=1, solution=True), name="ir", language="R", display_name="R")
    course = stock_course(tmp_path, words=node)
    with pytest.raises(CourseError, match=r"ps1/words.ipynb is for the kernel 'ir' \(R\): Python is the only language"):
        settings_for(course, NAME)
