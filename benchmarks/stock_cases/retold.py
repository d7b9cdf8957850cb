"""nbgrader's own tests of its command ``autograde``, as far as they concern grades, and its documentation's course.

A case's name is that of the test, or of what it is about where a test holds several.
"""

from pathlib import Path

from benchmarks.stock_cases.case import (
    ASSIGNMENT,
    Files,
    StockCase,
    answers,
    both,
    cell,
    notebook,
    of_guide,
    of_nbgrader,
    unchanged,
)

DUE = "2015-02-02 14:58:23.948203 America/Los_Angeles"
UNCHANGED: Files = {"p1.ipynb": of_nbgrader("submitted-unchanged.ipynb")}
CHANGED: Files = {"p1.ipynb": of_nbgrader("submitted-changed.ipynb")}
EMPTY = notebook(kernel=None)
AUTOTESTS: Files = {"autotests.yml": of_nbgrader("autotests.yml")}
STUB = 'c.ClearSolutions.code_stub = dict(python="# YOUR CODE HERE")\n'
LATE_PLUGIN = """
from nbgrader.plugins import BasePlugin

class Blarg(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        # loss 1 mark per hour late
        return int(total_seconds_late / 3600)
"""


def at(files: Files, time: str) -> Files:
    """The same files, handed in at a time of the day on which they are due."""
    return {**files, "timestamp.txt": f"{time}.948203 America/Los_Angeles" if time else ""}


def autotest(name: str, **students: str) -> StockCase:
    """A notebook whose tests nbgrader generates; each student hands in a file of nbgrader's."""
    return StockCase(
        f"test_{name.replace('-', '_')}",
        f"Tests that nbgrader generates: its notebook {name}.",
        {"p1.ipynb": of_nbgrader(f"{name}.ipynb")},
        {student: {"p1.ipynb": of_nbgrader(f"{name}-{file}.ipynb")} for student, file in students.items()},
        config=STUB,
        beside=AUTOTESTS,
    )


def no_longer_late(root: Path) -> None:
    """Bar's submission gets another time, as in nbgrader's issue 723."""
    root.joinpath("submitted", "bar", ASSIGNMENT, "timestamp.txt").write_text(DUE)


def empty_notebooks(root: Path) -> None:
    """Foo hands in two empty notebooks, later."""
    folder = root / "submitted" / "foo" / ASSIGNMENT
    for name in ("p1", "p2"):
        (folder / f"{name}.ipynb").write_bytes(EMPTY)
    (folder / "timestamp.txt").write_text("2015-02-02 16:58:23.948203 America/Los_Angeles")


def _page(student: str) -> Files:
    folder = f"submitted/{student}/{ASSIGNMENT}"
    names = ("problem1.ipynb", "problem2.ipynb", "timestamp.txt", "jupyter.png")
    return {name: of_guide(f"{folder}/{name}") for name in names}


def _source(name: str) -> Files:
    return {file: of_guide(f"source/{name}/{file}") for file in ("problem1.ipynb", "problem2.ipynb", "jupyter.png")}


HEADER: Files = {"source/header.ipynb": of_guide("source/header.ipynb")}
WITH_HEADER = 'c.IncludeHeaderFooter.header = "source/header.ipynb"\n'

DOCUMENTATION = (
    StockCase(
        "ps1",
        "The course of nbgrader's user guide, with its two students and one who changes nothing.",
        _source("ps1"),
        {
            "bitdiddle": _page("bitdiddle"),
            "hacker": _page("hacker"),
            "idle": {"problem1.ipynb": unchanged, "problem2.ipynb": unchanged},
        },
        config=WITH_HEADER,
        beside=HEADER,
        due="2015-02-02 15:00:00 UTC",
    ),
    StockCase(
        "ps1_autotest",
        "The same course with generated tests; a third student copies the published answer.",
        _source("ps1_autotest"),
        {
            "bitdiddle": _page("bitdiddle"),
            "hacker": _page("hacker"),
            "right": {
                "problem1.ipynb": answers(
                    {
                        "squares": "def squares(n):\n    if n < 1:\n        raise ValueError\n"
                        "    return [i**2 for i in range(1, n + 1)]",
                        "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
                        "cell-d3df8cd59fd0eb74": "my_dictionary = dict(one=1, two=2, three=3)",
                    }
                ),
                "problem2.ipynb": answers({"part-a": "Recursion.", "part-b": "It does not end."}),
            },
        },
        config=WITH_HEADER,
        beside={**HEADER, **AUTOTESTS},
    ),
)

RETOLD = (
    StockCase(
        "test_grade",
        "Answers that nobody changed, and changed ones: points, comments and what waits for a person.",
        UNCHANGED,
        {"foo": UNCHANGED, "bar": CHANGED},
    ),
    StockCase("test_missing_student", "A student who is not in the gradebook yet.", CHANGED, {"baz": CHANGED}),
    StockCase(
        "test_missing_student_not_created",
        "A student who is not in the gradebook, in a course that does not create students.",
        CHANGED,
        {"baz": CHANGED},
        config="c.Autograde.create_student = False\n",
    ),
    autotest("autotest-simple", foo="unchanged", bar="changed"),
    autotest("autotest-hashed", foo="unchanged", bar="changed"),
    autotest("autotest-multi", foo="unchanged", bar="changed"),
    autotest("autotest-hidden", foo="unchanged", bar="changed-wrong", baz="changed-right"),
    StockCase(
        "test_showtraceback_exploit",
        "Answers that replace showtraceback, so that failed tests show no error.",
        UNCHANGED,
        {
            "foo": UNCHANGED,
            "bar": CHANGED,
            "spam": {"p1.ipynb": of_nbgrader("submitted-cheat-attempt.ipynb")},
            "eggs": {"p1.ipynb": of_nbgrader("submitted-cheat-attempt-alternative.ipynb")},
        },
        config="c.Execute.timeout = None\n",
    ),
    StockCase(
        "test_student_id_exclude",
        "Students whom the course's settings exclude.",
        UNCHANGED,
        {"foo": UNCHANGED, "bar": CHANGED, "baz": CHANGED},
        config='c.CourseDirectory.student_id_exclude = "bar,baz"\n',
    ),
    StockCase(
        "test_grade_cell_and_locked_cell_changed",
        "Test cells and read-only cells that students changed.",
        UNCHANGED,
        {
            "foo": {"p1.ipynb": of_nbgrader("submitted-grade-cell-changed.ipynb")},
            "bar": {"p1.ipynb": of_nbgrader("submitted-locked-cell-changed.ipynb")},
        },
    ),
    StockCase(
        "test_grade_timestamp",
        "Times of submissions, one before and one after the due date, without a penalty.",
        UNCHANGED,
        {"foo": at(UNCHANGED, "2015-02-02 15:58:23"), "bar": at(CHANGED, "2015-02-01 14:58:23")},
        due=DUE,
    ),
    StockCase(
        "test_grade_empty_timestamp",
        "A time of submission that is empty.",
        UNCHANGED,
        {"foo": at(UNCHANGED, "")},
        due=DUE,
    ),
    StockCase(
        "test_grade_invalid_timestamp",
        "A time of submission that is none.",
        UNCHANGED,
        {"bar": {**CHANGED, "timestamp.txt": "But I want to be a timestamp string :("}, "foo": UNCHANGED},
        due=DUE,
    ),
    StockCase(
        "test_late_submission_penalty_zero",
        "Late submissions lose all their points, and get them back when they are late no longer.",
        UNCHANGED,
        {"foo": at(UNCHANGED, "2015-02-02 14:58:23"), "bar": at(CHANGED, "2015-02-02 15:58:23")},
        config="c.LateSubmissionPlugin.penalty_method = 'zero'\n",
        due=DUE,
        then=no_longer_late,
    ),
    StockCase(
        "test_late_submission_penalty_zero_once",
        "Late submissions lose all their points.",
        UNCHANGED,
        {"foo": at(UNCHANGED, "2015-02-02 14:58:23"), "bar": at(CHANGED, "2015-02-02 15:58:23")},
        config="c.LateSubmissionPlugin.penalty_method = 'zero'\n",
        due=DUE,
    ),
    StockCase(
        "test_late_submission_penalty_plugin",
        "A plugin of the course's takes a point for each hour, and no more than there are.",
        UNCHANGED,
        {"foo": at(UNCHANGED, "2015-02-02 18:58:23"), "bar": at(CHANGED, "2015-02-02 15:58:23")},
        config="c.AssignLatePenalties.plugin_class = 'late_plugin.Blarg'\n",
        beside={"late_plugin.py": LATE_PLUGIN},
        due=DUE,
    ),
    StockCase(
        "test_side_effects",
        "A notebook that writes a file and has no graded cell.",
        {"p1.ipynb": of_nbgrader("side-effects.ipynb")},
        {"foo": {"p1.ipynb": of_nbgrader("side-effects.ipynb")}},
    ),
    StockCase(
        "test_skip_extra_notebooks",
        "A copy of the notebook is handed in with it.",
        UNCHANGED,
        {"foo": {**CHANGED, "p1 copy.ipynb": of_nbgrader("submitted-unchanged.ipynb")}},
    ),
    StockCase(
        "test_update_newer",
        "Two notebooks, handed in again, later and empty.",
        {"p1.ipynb": of_nbgrader("test.ipynb"), "p2.ipynb": of_nbgrader("test.ipynb")},
        {
            "foo": at(
                {"p1.ipynb": of_nbgrader("test.ipynb"), "p2.ipynb": of_nbgrader("test.ipynb")}, "2015-02-02 15:58:23"
            )
        },
        due=DUE,
        then=empty_notebooks,
    ),
    StockCase(
        "test_hidden_tests_single_notebook",
        "Answers that pass the tests that students see, and fail in the hidden ones.",
        {"p1.ipynb": of_nbgrader("test-hidden-tests.ipynb"), "jupyter.png": of_nbgrader("jupyter.png")},
        {"foo": {"p1.ipynb": unchanged}},
        config=STUB,
    ),
    StockCase(
        "test_handle_failure",
        "A notebook with graded cells in the place of an empty one; another student follows.",
        {"p1.ipynb": EMPTY, "p2.ipynb": EMPTY},
        {
            "bar": {"p1.ipynb": EMPTY, "p2.ipynb": of_nbgrader("test.ipynb")},
            "foo": {"p1.ipynb": EMPTY, "p2.ipynb": EMPTY},
        },
    ),
    StockCase(
        "test_missing_source_kernelspec",
        "A source without a kernel, submissions with Python's and with one that does not exist.",
        {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel=None)},
        {
            "foo": {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel="python")},
            "bar": {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel="blarg")},
        },
    ),
    StockCase(
        "test_incorrect_source_kernelspec",
        "A source with a kernel that does not exist.",
        {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel="blah")},
        {"foo": {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel="python")}},
        config="c.ClearSolutions.code_stub = {'python': '## Answer', 'blah': '## Answer'}\n",
    ),
    StockCase(
        "test_incorrect_submitted_kernelspec",
        "A submission with a kernel that does not exist, to a source with Python's.",
        {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel="python")},
        {"foo": {"p1.ipynb": notebook(cell("assert True", "test", 1), kernel="blah")}},
    ),
    StockCase(
        "test_infinite_loop",
        "A cell that never ends, and a limit of a second.",
        {"p1.ipynb": of_nbgrader("infinite-loop.ipynb")},
        {"foo": {"p1.ipynb": of_nbgrader("infinite-loop.ipynb")}},
        config="c.Execute.timeout = 1\n",
    ),
    StockCase(
        "test_missing_files",
        "A student's folder without a notebook.",
        {"p1.ipynb": EMPTY},
        {"foo": {"p1.ipynb": EMPTY}, "bar": {}},
    ),
    StockCase(
        "test_grade_missing_notebook",
        "One of two notebooks is not handed in.",
        {**UNCHANGED, "p2.ipynb": of_nbgrader("submitted-unchanged.ipynb")},
        {"foo": CHANGED},
    ),
    StockCase(
        "test_grade_with_validating_envvar",
        "A test that fails where NBGRADER_EXECUTION is set.",
        {"p1.ipynb": of_nbgrader("validating-environment-variable.ipynb")},
        {"foo": {"p1.ipynb": of_nbgrader("validating-environment-variable.ipynb")}},
    ),
    StockCase(
        "test_autograde_timeout",
        "A test of five seconds, within nbgrader's limit of 30.",
        {"p1.ipynb": of_nbgrader("timeout.ipynb")},
        {"foo": {"p1.ipynb": of_nbgrader("timeout.ipynb")}},
    ),
    StockCase(
        "test_autograde_timeout_of_2",
        "A test of five seconds, and a limit of two.",
        {"p1.ipynb": of_nbgrader("timeout.ipynb")},
        {"bar": {"p1.ipynb": of_nbgrader("timeout.ipynb")}},
        config="c.Execute.timeout = 2\n",
    ),
    StockCase(
        "open_relative_file",
        "A test that opens a file beside the notebook, which the students changed, deleted, or left.",
        {"p1.ipynb": of_nbgrader("open_relative_file.ipynb"), "data.txt": of_nbgrader("data.txt")},
        {
            "foo": {"p1.ipynb": unchanged, "data.txt": of_nbgrader("data.txt")},
            "bar": {"p1.ipynb": unchanged, "data.txt": "another\n"},
            "baz": {"p1.ipynb": unchanged},
        },
    ),
    StockCase(
        "validation_zero_points",
        "A test of zero points that fails.",
        {"p1.ipynb": of_nbgrader("validation-zero-points.ipynb")},
        {"foo": {"p1.ipynb": unchanged}},
    ),
    StockCase(
        "test_with_output",
        "Outputs that are handed in, and a picture that the source does not have.",
        {"p1.ipynb": of_nbgrader("test.ipynb")},
        {"foo": {"p1.ipynb": of_nbgrader("test-with-output.ipynb")}, "bar": {"p1.ipynb": unchanged}},
    ),
    StockCase(
        "no_metadata",
        "Notebooks without any of nbgrader's metadata in the place of one with them.",
        {"p1.ipynb": of_nbgrader("test.ipynb")},
        {"foo": {"p1.ipynb": of_nbgrader("test-no-metadata.ipynb")}, "bar": {"p1.ipynb": both(unchanged)}},
    ),
)
