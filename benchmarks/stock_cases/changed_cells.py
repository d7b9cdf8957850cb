"""What students do to the cells of a notebook: nbgrader's tests of its preprocessors retold, and more of the kind."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output

from benchmarks.stock_cases.case import (
    ASSIGNMENT,
    Edit,
    Files,
    StockCase,
    answers,
    both,
    cell,
    find,
    insert,
    marked,
    notebook,
    release,
    tested,
    unchanged,
    without,
)
from softlookup_grader.course.folder import Course

RIGHT = "x = 1"
WHOLE = notebook(
    cell("# Set x to 1."),
    cell("y = 10", "given"),
    cell("Read this.", "words", markdown=True),
    cell("# YOUR CODE HERE\nraise NotImplementedError()", "answer", solution=True),
    cell("assert x == 1", "test1", 1),
    cell("assert x + y == 11", "test2", 2),
    cell("YOUR ANSWER HERE", "essay", 3, solution=True, markdown=True),
    cell("# YOUR CODE HERE", "program", 4, solution=True),
    cell("Draw a diagram.", "drawing", 5, task=True),
)
SOURCE: Files = {"p1.ipynb": WHOLE}


def hands_in(edit: Edit) -> Files:
    """The released notebook with a change."""
    return {"p1.ipynb": edit}


def with_kind(name: str, kind: str) -> Edit:
    """Make a cell of another kind."""

    def edit(node: NotebookNode) -> None:
        entry = find(node, name)
        entry.cell_type = kind
        for key in ("outputs", "execution_count"):
            entry.pop(key, None)
        if kind == "code":
            entry.outputs, entry.execution_count = [], None

    return edit


def copied(name: str, source: str) -> Edit:
    """Put a copy of a cell with its metadata behind it, and another text into the copy."""

    def edit(node: NotebookNode) -> None:
        entry = find(node, name)
        copy = cell(source, markdown=entry.cell_type == "markdown")
        copy.metadata["nbgrader"] = {**entry.metadata["nbgrader"]}
        node.cells.insert(node.cells.index(entry) + 1, copy)

    return edit


def moved(name: str, place: int) -> Edit:
    """Move a cell to another place."""

    def edit(node: NotebookNode) -> None:
        entry = find(node, name)
        node.cells.remove(entry)
        node.cells.insert(place, entry)

    return edit


def stripped(node: NotebookNode) -> None:
    """Take nbgrader's metadata off all cells."""
    for entry in node.cells:
        entry.metadata.pop("nbgrader", None)


def tagged(name: str, *tags: str) -> Edit:
    """Give a cell tags."""

    def edit(node: NotebookNode) -> None:
        find(node, name).metadata["tags"] = list(tags)

    return edit


def with_outputs(node: NotebookNode) -> None:
    """Outputs of a test that never ran, as if a number had come out."""
    find(node, "test2").outputs = [new_output("execute_result", {"text/plain": "2"}, execution_count=1)]


def other_points(root: Path) -> None:
    """The second test is worth 20 points instead of 2, the essay 30; released once more."""
    node = notebook_of(WHOLE)
    find(node, "test2").metadata["nbgrader"]["points"] = 20
    find(node, "essay").metadata["nbgrader"]["points"] = 30
    _rewrite(root, node)


def other_tests(root: Path) -> None:
    """The second test asks for another number; released once more."""
    node = notebook_of(WHOLE)
    find(node, "test2").source = "assert x + y == 12"
    _rewrite(root, node)


def notebook_of(content: bytes) -> NotebookNode:
    """A notebook's cells, from its file."""
    return nbformat.reads(content.decode(), as_version=4)


def _rewrite(root: Path, node: NotebookNode) -> None:
    nbformat.write(node, root / "source" / ASSIGNMENT / "p1.ipynb")
    release(root)


def graded_by_hand(root: Path) -> None:
    """A person gives points, a comment and extra credit; then both hand in again, later."""
    course = Course.at(root)
    with course.gradebook() as book:
        for student in ("bar", "foo"):
            for name, score in (("essay", 2.5), ("test2", 1.5), ("drawing", 4.0)):
                grade = book.find_grade(name, "p1", ASSIGNMENT, student)
                grade.manual_score, grade.needs_manual_grade = score, False
            book.find_grade("essay", "p1", ASSIGNMENT, student).extra_credit = 0.5
            book.find_comment("essay", "p1", ASSIGNMENT, student).manual_comment = "Well written."
        book.db.commit()
    for student in ("bar", "foo"):
        folder = course.folder("submitted", student, ASSIGNMENT)
        node = nbformat.read(folder / "p1.ipynb", as_version=4)
        answers(program=f"z = 3  # {student}")(node)
        if student == "bar":
            answers(answer=RIGHT, essay="Another text.")(node)
        nbformat.write(node, folder / "p1.ipynb")
        (folder / "timestamp.txt").write_text("2030-01-01 00:00:00 UTC")


CHANGED_CELLS = (
    StockCase(
        "answers",
        "Right, wrong and missing answers; written, drawn and programmed ones that a person reads.",
        SOURCE,
        {
            "right": hands_in(answers(answer=RIGHT, essay="A text.", program="z = 3", drawing="A diagram.")),
            "wrong": hands_in(answers(answer="x = 2")),
            "raises": hands_in(answers(answer="x = 1\nraise KeyError(x)", program="1 / 0")),
            "broken": hands_in(answers(answer="def x(:")),
            "blank": hands_in(answers(answer="", essay="", program="")),
            "space": hands_in(answers(essay="YOUR ANSWER HERE ", program="# YOUR CODE HERE\n")),
            "same": hands_in(unchanged),
        },
    ),
    StockCase(
        "overwrite_cells",
        "Locked cells, their kinds, points and marks of nbgrader's are changed.",
        SOURCE,
        {
            "points": hands_in(both(answers(answer=RIGHT), marked("test2", points=200))),
            "source": hands_in(answers(answer="x = 2", test1="pass", test2="", given="y = 9", words="No.")),
            "checksum": hands_in(both(answers(answer=RIGHT), marked("test2", checksum="1234"))),
            "kind-of-test": hands_in(both(answers(answer=RIGHT), with_kind("test2", "markdown"))),
            "kind-of-answer": hands_in(both(answers(answer=RIGHT), with_kind("answer", "markdown"))),
            "kind-of-essay": hands_in(both(answers(essay="1 / 0"), with_kind("essay", "code"))),
            "raw": hands_in(both(answers(answer=RIGHT), with_kind("test2", "raw"))),
            "unlocked": hands_in(both(answers(answer="x = 2", test1="pass"), marked("test1", locked=False))),
        },
    ),
    StockCase(
        "marks_that_make_a_test_an_answer",
        "A student turns tests into answers, or into cells without a grade, by nbgrader's metadata.",
        SOURCE,
        {
            "a-solution": hands_in(both(answers(answer="x = 2", test1="pass"), marked("test1", solution=True))),
            "b-ungraded": hands_in(both(answers(answer="x = 2", test1="pass"), marked("test1", grade=False))),
            "c-other-id": hands_in(both(answers(answer="x = 2"), marked("test1", grade_id="another"))),
            "d-swapped": hands_in(
                both(
                    answers(answer="x = 1"),
                    marked("test1", grade_id="spare"),
                    marked("test2", grade_id="test1"),
                    marked("spare", grade_id="test2"),
                )
            ),
            "e-essay-locked": hands_in(both(answers(essay="A text."), marked("essay", solution=False))),
            "f-honest": hands_in(answers(answer=RIGHT)),
        },
    ),
    StockCase(
        "deduplicate_ids",
        "A copy of an answer that keeps nbgrader's marks, at which stock nbgrader stops for all who follow.",
        SOURCE,
        {
            "a-honest": hands_in(answers(answer=RIGHT)),
            "b-copies": hands_in(both(answers(answer="x = 2"), copied("answer", RIGHT))),
            "c-honest": hands_in(answers(answer=RIGHT)),
        },
    ),
    StockCase(
        "deleted_cells",
        "Students delete tests, answers, given code, or everything.",
        SOURCE,
        {
            "test": hands_in(both(answers(answer=RIGHT), without("test2"))),
            "answer": hands_in(without("answer")),
            "given": hands_in(both(answers(answer=RIGHT), without("given"))),
            "essay": hands_in(both(answers(answer=RIGHT), without("essay", "program"))),
            "task": hands_in(both(answers(answer=RIGHT), without("drawing"))),
            "all": {"p1.ipynb": notebook()},
            "marks": hands_in(both(answers(answer=RIGHT), stripped)),
        },
    ),
    StockCase(
        "add_missing_cells",
        "The same, in a course that adds missing cells.",
        SOURCE,
        {
            "test": hands_in(both(answers(answer=RIGHT), without("test2"))),
            "tests": hands_in(both(answers(answer="x = 2"), without("test1", "test2"))),
            "essay": hands_in(both(answers(answer=RIGHT), without("essay", "program"))),
            "task": hands_in(both(answers(answer=RIGHT), without("drawing"))),
        },
        config="c.OverwriteCells.add_missing_cells = True\n",
    ),
    StockCase(
        "unmarked_cells",
        "Students add cells: with a state, with the answer, with a copy of it behind the tests, and in another order.",
        SOURCE,
        {
            "counts": hands_in(both(answers(answer="x = 0"), insert(4, "x += 1"))),
            "counts-twice": hands_in(both(answers(answer="x = 0"), insert(4, "x += 1", "x += 1"))),
            "between": hands_in(both(answers(answer=RIGHT), insert(5, "x = 3"))),
            "split": hands_in(both(answers(answer="def one():\n    return 1"), insert(4, "x = one()"))),
            "behind": hands_in(both(answers(answer="pass"), insert(10, RIGHT))),
            "tests-first": hands_in(both(answers(answer=RIGHT), moved("answer", 9))),
            "given-last": hands_in(both(answers(answer=RIGHT), moved("given", 9))),
            "names": hands_in(both(answers(answer=RIGHT), insert(0, "assert = 3", "del y", "import antigravity_no"))),
        },
    ),
    StockCase(
        "outputs_handed_in",
        "A notebook comes with an output of a test that would give points.",
        SOURCE,
        {"fake": hands_in(both(answers(answer="x = 2"), with_outputs))},
    ),
    StockCase(
        "tags_of_nbclient",
        "Students give tests the tags that let nbclient skip a cell or expect its error.",
        SOURCE,
        {
            "skips": hands_in(both(answers(answer="x = 2"), tagged("test1", "skip-execution"))),
            "expects": hands_in(both(answers(answer="x = 2"), tagged("test1", "raises-exception"))),
        },
    ),
    StockCase(
        "points_changed",
        "The source gets other points and is released again when all is graded.",
        SOURCE,
        {"right": hands_in(answers(answer=RIGHT, essay="A text.")), "wrong": hands_in(answers(answer="x = 2"))},
        then=other_points,
    ),
    StockCase(
        "tests_changed",
        "The source gets another test, and is released again when all is graded.",
        SOURCE,
        {"right": hands_in(answers(answer=RIGHT, essay="A text.")), "wrong": hands_in(answers(answer="x = 2"))},
        then=other_tests,
    ),
    StockCase(
        "graded_by_hand",
        "A person has given points, a comment and extra credit; both students hand in again.",
        SOURCE,
        {
            "foo": hands_in(answers(answer=RIGHT, essay="A text.", drawing="A diagram.")),
            "bar": hands_in(answers(answer="x = 2", essay="A text.")),
        },
        then=graded_by_hand,
    ),
    StockCase(
        "hidden_tests",
        "Tests of which a part is hidden, with the delimiters of a course's own.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "assert double(2) == 4\n# VORBORGEN\nassert double(-3) == -6\n# ENDE",
                "# VORBORGEN\nassert double(0.5) == 1\n# ENDE",
            )
        },
        {
            "right": hands_in(answers(answer="def double(x):\n    return 2 * x")),
            "shown": hands_in(answers(answer="def double(x):\n    return abs(2 * x)")),
            "four": hands_in(answers(answer="def double(x):\n    return 4")),
        },
        config='c.ClearHiddenTests.begin_test_delimeter = "VORBORGEN"\n'
        'c.ClearHiddenTests.end_test_delimeter = "ENDE"\n',
    ),
)
