"""A part of an assignment: what is left out is gone everywhere, and what later cells need stays."""

import re

import pytest

from softlookup_judge import tasks
from softlookup_judge.authoring import find_root, make_release, read_solution
from softlookup_judge.authoring.choosing import BadChoice, choose, chosen_tasks
from softlookup_judge.data.notebook import without_marks

ROOT = find_root()


def source(name="04_one_head"):
    return read_solution(ROOT / "solutions" / f"{name}.py")


def points(notebook):
    """Points by task, as nbgrader's metadata has them."""
    marked = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return {
        metadata.grade_id.removesuffix("-check").replace("-", ".", 1): metadata.points
        for metadata in marked
        if metadata.get("grade")
    }


def text(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


def run(notebook):
    """Run the code of a source, without its checks and written answers."""
    space = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
            exec(without_marks(cell.source), space)
    return space


def test_nothing_chosen_changes_nothing():
    assert choose(source()) == source()


def test_a_dropped_task_is_gone_from_table_headings_and_cells():
    left = choose(source(), drop=["04.softmax-backward", "04.backward", "04.uniform"])
    assert set(points(source())) - set(points(left)) == {"04.softmax-backward", "04.backward", "04.uniform"}
    assert not re.search(
        r"04.(softmax-backward|backward|uniform)\b(?!.html)", text(left).replace("#one-head-uniform", "")
    )
    assert "In your own words" not in text(left)


def test_points_stand_in_metadata_table_and_heading():
    other = choose(source(), points={"04.attention": 6, "04.scale": 1, "04.uniform": 2.5})
    assert {task: n for task, n in points(other).items() if points(source())[task] != n} == {
        "04.attention": 6,
        "04.scale": 1,
        "04.uniform": 2.5,
    }
    assert re.search(r"(?m)^\| \[04.attention\].*\| 6 \|$", text(other))
    assert re.search(r"### Task 04.scale ·[^\n]*\n\n[^\n]*· 1 point ·", text(other))
    assert re.search(r"(?m)^\| 04-uniform .*\| 2.5 \|$", text(other)) and "2.5 points, graded by a person" in text(
        other
    )


def test_an_answer_that_later_cells_use_is_given_solved_and_locked():
    left = choose(source(), drop=["04.project"])
    cell = next(cell for cell in left.cells if cell.id == "04-project")
    assert cell.metadata.nbgrader.locked and not cell.metadata.nbgrader.solution
    assert "return" in next(cell for cell in make_release(left).cells if cell.id == "04-project").source
    assert "04.project" not in points(left) and "holds the answer to task 04.project" in text(left)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*.py")))
def test_every_second_task_can_go_and_the_rest_still_runs(name):
    whole = source(name)
    for first in (0, 1):
        left = choose(whole, drop=chosen_tasks(whole)[first::2])
        assert chosen_tasks(left) == chosen_tasks(whole)[1 - first :: 2]
        names = {task.name for task in tasks(int(name[:2])) if task.id in chosen_tasks(left)}
        if name != "14_find_the_error":  # its answers are read, not called, before they are repaired
            assert names <= set(run(left))


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"drop": ["05.split"]}, "05.split is no task of this notebook"),
        ({"points": {"04.scale": -1}}, "0 or more"),
        ({"points": {"04.scale": float("nan")}}, "0 or more"),
        ({"drop": ["04.scale"], "points": {"04.scale": 1}}, "both left out"),
        ({"drop": [*(task.id for task in tasks(4)), "04.uniform"]}, "leaves no task"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(choice, says):
    with pytest.raises(BadChoice, match=re.escape(says)):
        choose(source(), **choice)
