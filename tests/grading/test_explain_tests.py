"""``grade --explain-tests`` shows which test cells pass with answers that solve nothing, and grades nobody."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT
from test_plain_tests import about

from benchmarks.stock_cases.case import run_nbgrader
from softlookup_grader import Course, new_course
from softlookup_grader.reports.explaining_tests import explain_tests
from softlookup_grader.reports.stub_answers import REPLACED, STUBS, NamesInTests

NAME = "homework"
EMPTY, EQUAL, REDEFINES, READS = (stub.name for stub in STUBS)
TESTS = {  # the source of a test, what it is worth, and what answers earn that solve nothing
    "shown": (
        "assert shown(2) == 4\nresult = shown(0.1)\nassert abs(result - 0.2) < 1e-9",
        2.0,
        {EQUAL: 2.0, REDEFINES: 2.0, READS: 2.0},
    ),
    "hidden": (
        "assert hidden(2) == 4\n### BEGIN HIDDEN TESTS\nassert isinstance(hidden(3), int)\n### END HIDDEN TESTS",
        3.0,
        {REDEFINES: 3.0},
    ),
    "arrays": (
        "import numpy as np\nnp.testing.assert_allclose(arrays(np.arange(3)), [0, 2, 4])",
        2.0,
        {REDEFINES: 2.0, READS: 2.0},
    ),
    "raises": (
        "try:\n    raises(None)\nexcept TypeError:\n    pass\nelse:\n    raise AssertionError('no exception')",
        1.0,
        {READS: 1.0},
    ),
    "partial": ("(partial(2) == 4) + 0.5 * (partial(0) == 0)", 2.0, {EQUAL: 2.0, REDEFINES: 2.0, READS: 1.0}),
    "weak": ("assert callable(weak)", 1.0, {EMPTY: 1.0, EQUAL: 1.0, REDEFINES: 1.0, READS: 1.0}),
    "strict": ("assert {4: 'four'}[strict(2)]", 2.0, {}),
}
CHECK = "from softlookup import check\ncheck('04.scale', scale)"


def write(folder: Path, *tests: str, more: tuple[tuple[str, str, float], ...] = ()) -> Course:
    """A course of which nobody has handed in anything, with some of the tests."""
    answer = "def {}(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    cells = []
    for name, source, points in (*((name, *TESTS[name][:2]) for name in tests), *more):
        cells.append(new_code_cell(answer.format(name), metadata=about(name, solution=True)))
        cells.append(new_code_cell(source, metadata=about(f"{name}-check", points=points)))
    for at, cell in enumerate(cells):
        cell.id = f"cell-{at}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    course = new_course(folder, ROOT / "nbgrader_config.py")
    course.release({NAME: new_notebook(cells=cells, metadata=kernel)})
    return course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return write(tmp_path_factory.mktemp("explained") / "course", *TESTS)


def files(course: Course) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}


@NEEDS_SANDBOX
def test_each_kind_of_answer_passes_what_it_passes_and_nothing_is_written(course: Course) -> None:
    before = files(course)
    tests = explain_tests(course, NAME)
    assert files(course) == before
    assert [(test.cell, test.points) for test in tests] == [
        (f"{name}-check", points) for name, (_, points, _) in TESTS.items()
    ]
    assert [test.cell for test in tests if test.hidden] == ["hidden-check"]
    every = {f"{name}-check": {**earned, REPLACED.name: points} for name, (_, points, earned) in TESTS.items()}
    assert {test.cell: test.earned for test in tests} == every


@NEEDS_SANDBOX
def test_command_shows_a_line_for_each_test_cell_and_the_points_of_each_kind(course: Course, run: Callable) -> None:
    done = run("grade", NAME, "--explain-tests")
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert lines[1].startswith("7 of 7 pass where an answer turns all cells after it into 'pass';")
    assert "hidden-check 3 yes redefines" in lines
    assert "partial-check 2 no equals everything, redefines, reads the test (1)" in lines
    assert "strict-check 2 no none of these" in lines
    assert "Points of 13 for an answer that solves nothing:" in lines
    sums = {EMPTY: 1, EQUAL: 5, REDEFINES: 10, READS: 7}
    assert [name for name, points in sums.items() if not any(f"{name} {points} " in line for line in lines)] == []
    assert "book/instructors_task.md" in lines[-1]
    assert not (course.root / "reports").exists()


@pytest.mark.slow
@NEEDS_SANDBOX
def test_cells_that_check_judged_tasks_are_not_explained(tmp_path: Path) -> None:
    course = write(tmp_path / "course", "shown", more=(("scale", CHECK, 2.0),))
    (test,) = explain_tests(course, NAME)
    assert (test.cell, test.earned) == ("shown-check", {**TESTS["shown"][2], REPLACED.name: 2.0})


@pytest.mark.slow
@NEEDS_SANDBOX
def test_cells_of_several_notebooks_have_their_notebooks_name(tmp_path: Path) -> None:
    for folder, words in ((tmp_path, ("quickstart", "course")), (tmp_path / "course", ("generate_assignment", "ps1"))):
        assert not run_nbgrader(folder, *words)
    tests = explain_tests(Course.at(tmp_path / "course"), "ps1")
    assert {test.cell: [*test.earned] for test in tests} == {
        "problem1/correct_squares": [EQUAL, REDEFINES, READS, REPLACED.name],
        "problem1/squares_invalid_input": [READS, REPLACED.name],
        "problem1/correct_sum_of_squares": [EQUAL, REDEFINES, READS, REPLACED.name],
        "problem1/sum_of_squares_uses_squares": [READS, REPLACED.name],
    }


def test_assignment_without_such_tests_gets_a_sentence(tmp_path: Path, run: Callable, course: Course) -> None:
    empty = write(tmp_path / "course", more=(("scale", CHECK, 2.0),))
    assert explain_tests(empty, NAME) == []
    assert "no assignment 'other'" in run("grade", "other", "--explain-tests").output
    assert "leave out --json" in run("grade", NAME, "--explain-tests", "--student", "ada").output


def test_names_that_answers_give_are_those_that_no_cell_before_defines() -> None:
    cells = ["import numpy as np\nlimit = 3", "assert f(limit) == g(1)", "kept = f\ndel f\nassert not kept(1)"]
    names = NamesInTests.of([*cells, "f = kept"], [cells[1], "import a.b as c\nc.same(np.abs(f(x)), len(y.z()))"])
    assert names == NamesInTests(("f", "g"), ("c", "len", "np", "y"), ("a", "a.b"))
