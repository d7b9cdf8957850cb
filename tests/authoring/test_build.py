"""From solutions to exercises: the same bytes each time, nothing solved in them, constants where they belong."""

import json
import re
import shutil
from functools import cache

import nbformat
import pytest

from softlookup_inside.asking.candidates import INSIDES
from softlookup_judge import tasks
from softlookup_judge.authoring import (
    assignments,
    build_exercises,
    draw_variants,
    find_root,
    make_release,
    notebook_text,
    read_solution,
    solution_cells,
)
from softlookup_judge.authoring.build import NoCheckout
from softlookup_judge.authoring.fill import barred

ROOT = find_root()
NAME = "04_one_head"
SOLUTION = ROOT / "solutions" / f"{NAME}.py"
each_solution = pytest.mark.parametrize("solution", sorted((ROOT / "solutions").glob("*.py")), ids=lambda p: p.stem)


@cache
def source_of(solution):
    return read_solution(solution)


@cache
def release_of(solution):
    return make_release(source_of(solution))


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the settings and the solutions of two chapters alone."""
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "solutions").mkdir()
    for source in [*(ROOT / "solutions").glob(f"{NAME}.*"), *(ROOT / "solutions").glob("02_*")]:
        shutil.copy(source, tmp_path / "solutions")
    return tmp_path


def test_two_builds_give_the_same_bytes():
    first, second = (notebook_text(make_release(read_solution(SOLUTION))) for _ in range(2))
    assert first == second


def test_check_names_what_is_stale_and_changes_nothing(checkout):
    build_exercises(checkout)
    exercise = checkout / "exercises" / NAME / f"{NAME}.ipynb"
    exercise.write_text(exercise.read_text().replace("One head", "Two heads"))
    before = exercise.read_bytes()
    assert build_exercises(checkout, check=True) == [exercise]
    assert exercise.read_bytes() == before
    build_exercises(checkout)
    assert build_exercises(checkout, check=True) == []


def test_an_exercise_without_a_solution_is_an_orphan(checkout):
    orphan = checkout / "exercises" / "99_gone" / "99_gone.ipynb"
    orphan.parent.mkdir(parents=True)
    orphan.write_text("{}")
    assert orphan in build_exercises(checkout, check=True)
    build_exercises(checkout)
    assert not orphan.exists()


@pytest.mark.one_in(8)
@each_solution
def test_exercises_hold_no_solution_no_output_and_no_foreign_metadata(solution):
    release = release_of(solution)
    text = notebook_text(release)
    assert "SOLUTION" not in text
    assert "jupytext" not in text
    assert not re.search(r"\[\[(task|\d\d\.)", text), "a placeholder is left"
    assert "# variant" not in text
    for cell in release.cells:
        grader = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            if grader.get("solution"):
                assert "raise NotImplementedError()" in cell.source


@each_solution
def test_every_task_has_its_cells_in_the_notebook_and_the_right_points(solution):
    chapter = int(solution.stem[:2])
    cells = {c.metadata.nbgrader.grade_id: c for c in source_of(solution).cells if "nbgrader" in c.metadata}
    graded = [name for name, c in cells.items() if c.metadata.nbgrader.grade and c.cell_type == "code"]
    assert graded == [f"{task.slug}-check" for task in tasks(chapter)]
    for task in tasks(chapter):
        assert cells[task.slug].metadata.nbgrader.solution
        assert cells[f"{task.slug}-check"].metadata.nbgrader.points == task.points
        assert cells[f"{task.slug}-check"].source == f'check("{task.id}", {task.name})'
        source = cells[task.slug].source
        assert f"def {task.name}(" in source or f"class {task.name}(" in source


@pytest.mark.one_in(8)
@each_solution
def test_the_blank_exercise_runs_top_to_bottom(solution):
    namespace = {"__name__": "__main__"}
    for cell in release_of(solution).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"<submission {cell.id}>", "exec"), namespace)


def test_a_secret_draws_variants_the_same_each_time_and_never_the_published():
    chosen = draw_variants("a secret")
    assert chosen == draw_variants("a secret")
    assert {draw_variants(f"secret {n}")["04.scale"] for n in range(99)} == set(range(1, 9))
    for task in tasks():
        assert (chosen[task.id] == 0) == (len(task.variants) == 1)
    assert set(draw_variants(None).values()) == {0}


def test_variants_change_text_solution_and_check_together():
    notebook = read_solution(SOLUTION, {"04.scale": 1, "04.by-hand": 2})
    source = "\n".join(cell.source for cell in notebook.cells)
    assert "$\\tau = $ **2**" in source
    assert 'check("04.scale", scale, variant=1)' in source
    assert "Token **3**" in source
    assert "tau = 2.0" in solution_cells(notebook)["04-scale"]
    assert "token = 2" in solution_cells(notebook)["04-by-hand"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[04.scale:tau]]", "[[04.scale:temperature]]", "04.scale:temperature"),
        ("[[task 04.mix]]", "[[task 04.mixed]]", "04.mixed"),
        ("# variant 04.scale:tau", "# variant 04.scale:temperature", "04.scale:temperature"),
    ],
)
def test_places_that_name_nothing_are_refused(tmp_path, old, new, message):
    path = tmp_path / f"{NAME}.py"
    path.write_text(SOLUTION.read_text().replace(old, new))
    with pytest.raises((ValueError, KeyError), match=message):
        read_solution(path)


def test_committed_exercises_are_valid_notebooks():
    for name in assignments(ROOT):
        path = ROOT / "exercises" / name / f"{name}.ipynb"
        nbformat.validate(nbformat.read(path, as_version=4))
        ids = [cell["id"] for cell in json.loads(path.read_text())["cells"]]
        assert len(set(ids)) == len(ids)


def test_no_checkout_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("softlookup_judge.authoring.build.__file__", str(tmp_path / "a" / "b.py"))
    with pytest.raises(NoCheckout, match=r"no checkout of the course above .*: run this in the folder"):
        find_root(tmp_path)


BARS = "Not allowed here, from whatever library: "


def test_text_of_each_task_names_all_public_functions_that_it_bars():
    cells = [cell for path in ROOT.glob("exercises/*/*.ipynb") for cell in nbformat.read(path, 4).cells]
    texts = {cell.id: cell.source for cell in cells}

    def plain(dotted):
        return dotted.rpartition(".")[2].lower().replace("_", "").removesuffix("loss").removesuffix("2d")

    def says(task, dotted):
        line = texts[f"task-{task.slug}"].partition(BARS)[2].partition("\n")[0]
        names = re.findall(r"`([\w.]+)`", line)
        by_name = plain(dotted) in map(plain, names) or any(dotted.startswith(f"{name}.") for name in names)
        return by_name or ("autograd" in line and dotted.startswith(("torch.autograd.", "torch.func.")))

    public = [
        (task, dotted)
        for task in tasks()
        for dotted in task.forbids
        if dotted not in INSIDES and not dotted.startswith(("softlookup.", "softlookup_")) and "._" not in dotted
    ]
    assert len({task for task, _ in public}) > 50
    assert [(task.id, dotted) for task, dotted in public if not says(task, dotted)] == []


def test_task_that_bars_nothing_public_has_no_such_line():
    cells = [cell for path in ROOT.glob("exercises/*/*.ipynb") for cell in nbformat.read(path, 4).cells]
    lines = {cell.id for cell in cells if BARS in cell.source}
    assert lines == {f"task-{task.slug}" for task in tasks() if barred(task)}


def test_what_a_task_bars_is_listed_once_and_without_parts_of_the_library():
    sentence = barred(next(task for task in tasks(20) if task.id == "20.sft-loss"))
    assert all(f"{name}`" in sentence for name in ("torch.softmax", "log_softmax", "logsumexp", "cross_entropy"))
    assert "LogSoftmax" not in sentence and "softlookup" not in sentence
    assert barred(next(task for task in tasks(9) if task.id == "09.find-leak")) == ""


@each_solution
def test_every_notebook_says_once_that_inputs_are_left_alone(solution):
    texts = [cell.source for cell in release_of(solution).cells if cell.cell_type == "markdown"]
    assert sum(text.count("changes its inputs in place") for text in texts) == 1
