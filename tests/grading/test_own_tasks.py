"""A course's own tasks: found, refused where they do not fit, released without their answers, and graded."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from fake_grader import judged_here
from own_course import ROOT, TEXTS, WRONG, own_texts, released
from sandbox_tools import NEEDS_SANDBOX

from softlookup_command.commands import main
from softlookup_grader import Course, CourseError
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.reports.explaining import explain
from softlookup_grader.run import engine
from softlookup_grader.run.request import GradeRequest
from softlookup_judge import check, get_task, hint, tasks
from softlookup_judge.authoring import build_exercises, read_solution
from softlookup_judge.checking.catalogue import STANDARD, Catalogue, catalogue_of, course_above, here
from softlookup_judge.checking.trial import problems
from softlookup_judge.data.own import BAKED, OwnTasks, OwnTasksError, read_tasks
from softlookup_judge.home import Checker


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return released(tmp_path_factory.mktemp("own") / "course", "04_one_head", "99_mine")


@pytest.fixture
def course(once: Course, tmp_path: Path) -> Course:
    return Course.at(Path(shutil.copytree(once.root, tmp_path / "course")))


def write_tasks(folder: Path, texts: dict[str, str]) -> None:
    (folder / "tasks").mkdir()
    for name, text in texts.items():
        (folder / "tasks" / name).write_text(text)


def submissions(course: Course, name: str, **more: object) -> dict:
    """Grade an assignment, and give what the report says of each student."""
    request = GradeRequest(name, **{"seed": 5, "feedback": False, "workers": 1, **more})
    return engine.grade_assignment(course, request, executor=judged_here).as_json()["submissions"]


def test_own_task_stands_behind_the_task_that_it_names():
    catalogue = Catalogue(own_texts())
    ids = [task.id for task in catalogue.tasks(4)]
    assert ids[ids.index("04.scale") + 1] == "04.colder"
    assert [task.id for task in catalogue.tasks(99)] == ["99.row-means"]
    notebook = read_solution(ROOT / "solutions" / "04_one_head.py", catalogue=catalogue)
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    at = names.index("04-scale-check")
    assert names[at + 2 : at + 4] == ["04-colder", "04-colder-check"]
    assert sum("| [04.colder](#cell-id=task-04-colder) |" in cell.source for cell in notebook.cells) == 1
    assert "04.colder" not in [task.id for task in STANDARD.tasks(4)]
    with pytest.raises(KeyError):
        STANDARD.tasks(99)


def test_two_courses_in_one_process_know_their_own_tasks_alone():
    """Both describe 04.colder and 99.row-means, and they mean different things by them."""
    other = TEXTS["04_one_head_tasks.py"].replace("scores / tau", "scores * tau")
    words = TEXTS["04_one_head.py"].replace("scores / tau", "scores * tau")
    facts = TEXTS["04_one_head.toml"].replace("scores / tau", "scores * tau").replace('"scores * tau"]', '"scores"]', 1)
    changed = own_texts(f04_one_head_tasks_py=other, f04_one_head_py=words, f04_one_head_toml=facts)
    first, second = Checker(Catalogue(own_texts())), Checker(Catalogue(changed))
    cold, hot = (lambda scores, tau: (scores / tau).softmax(-1)), (lambda scores, tau: (scores * tau).softmax(-1))
    for _ in range(2):  # one after the other, and again: nothing of the one stays behind for the other
        assert [checker.check("04.colder", cold).verdict for checker in (first, second)] == ["pass", "wrong"]
        assert [checker.check("04.colder", hot).verdict for checker in (first, second)] == ["wrong", "pass"]
    assert first.check("04.colder", hot).diagnosis == ("multiplied",)
    assert check("04.colder", cold).verdict == "unknown"
    assert first.attempts["04.colder"].failures == 3 and second.attempts["04.colder"].failures == 2


_FACTS, _MODULE = TEXTS["99_mine.toml"], TEXTS["99_mine_tasks.py"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"f04_one_head_tasks_py": TEXTS["04_one_head_tasks.py"].replace("04.colder", "04.scale")}, "04.scale, which"),
        ({"f04_one_head_py": TEXTS["04_one_head.py"].replace("04-colder", "04-scale")}, "a cell 04-scale, as the cour"),
        ({"f04_one_head_py": TEXTS["04_one_head.py"].replace("04.scale", "04.cold")}, "has no task 04.cold"),
        ({"f04_one_head_toml": TEXTS["04_one_head.toml"].replace('name = "colder"', 'name = "mix"')}, "as task 04.mix"),
        ({"f99_mine_py": None}, "99_mine.py is missing"),
        ({"f99_mine_py": TEXTS["99_mine.py"].replace("99-row-means", "99-rows")}, "no cell '# %% 99-row-means'"),
        ({"f99_mine_toml": _FACTS + "["}, "99_mine.toml is no TOML"),
        ({"f99_mine_toml": _FACTS.replace("points = 3, ", "")}, "lacks points"),
        ({"f99_mine_toml": _FACTS.replace("99.row", "99.other")}, "no line for 99.row-means"),
        ({"f99_mine_tasks_py": "import nothing_of_that_name\n"}, "99_mine_tasks.py, line 1, could not be read"),
        ({"f99_mine_tasks_py": _MODULE + "TASKS = ()\n"}, "a line for 99.row-means, and TASKS"),
        ({"f99_mine_toml": _FACTS.replace('["means"]', '"means"')}, "needs a list of names"),
        ({"f99_mine_tasks_py": "TASKS = (3,)\n"}, "TASKS holds 3"),
        ({"f04_other_py": "", "f04_other_toml": "", "f04_other_tasks_py": "TASKS = ()"}, "one number"),
    ],
)
def test_own_tasks_that_do_not_fit_are_refused_in_a_sentence(changed: dict, says: str):
    with pytest.raises(OwnTasksError, match=says):
        for number in (4, 99):
            Catalogue(own_texts(**changed)).tasks(number)


def test_another_name_for_a_chapters_number_is_refused():
    renamed = {name.replace("04_one_head", "04_other"): text for name, text in TEXTS.items()}
    with pytest.raises(OwnTasksError, match="04 is the number of 04_one_head"):
        Catalogue(OwnTasks(tuple(renamed.items()))).tasks(4)


STRAY = "# %% 99-helper\ndef helper():\n    ### BEGIN SOLUTION\n    ### END SOLUTION\n\n# %% [markdown]"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[[task 99.row", "", "has no text with"),
        ("### BEGIN SOL", "", "needs the lines"),
        ("# %% [markdown]", STRAY, "99-helper, which answers no task"),
    ],
)
def test_solution_without_a_heading_marks_or_a_task_is_refused(old: str, new: str, says: str):
    catalogue = Catalogue(own_texts(f99_mine_py=TEXTS["99_mine.py"].replace(old, new)))
    with pytest.raises(OwnTasksError, match=says):
        read_solution(ROOT / "solutions" / "99_mine.py", catalogue=catalogue)


@pytest.mark.slow
def test_trial_finds_a_wrong_oracle_and_mistakes_that_pass_or_have_no_name_of_their_own():
    sound = Catalogue(own_texts())
    assert [problems(sound.task(task_id)) for task_id in ("04.colder", "99.row-means", "04.scale")] == [[], [], []]
    wrong = Catalogue(own_texts(f99_mine_tasks_py=_MODULE.replace("x.shape[-1]", "2")))
    assert "does not give what the oracle gives" in problems(wrong.task("99.row-means"))[0]
    more = TEXTS["04_one_head.toml"].replace("[says]", 'same = ["dim=-1", "-1"]\nas-first = ["/ tau", "* tau"]\n[says]')
    unclear = Catalogue(own_texts(f04_one_head_toml=more + 'same = "Nothing."\nas-first = "Like the first."\n'))
    assert [problem.partition(":")[0] for problem in problems(unclear.task("04.colder"))] == [
        "the mistake same passes",
        "the mistake as-first is taken for multiplied, which gives the same results in every case",
    ]


@pytest.mark.slow
def test_command_tries_own_tasks_and_refuses_without_any(course: Course, run: Callable):
    done = run("tasks", "--test")
    assert done.exit_code == 0 and "04.colder: the answer agrees with the oracle; 2 known mistakes" in done.output
    for path in (course.root / "tasks").glob("04_*"):
        path.unlink()
    (course.root / "tasks" / "99_mine_tasks.py").write_text(_MODULE.replace("dim=-1", "dim=0"))
    done = run("tasks", "--test")
    assert done.exit_code == 1 and "99.row-means: the published answer does not give" in done.output
    (course.root / "tasks" / "99_mine_tasks.py").write_text(_MODULE)
    (course.root / "tasks" / "99_mine.toml").write_text(_FACTS.replace("name =", 'anchor = "no-such", name ='))
    done = run("tasks", "--test")
    assert done.exit_code == 1 and "book/index.md has no section (no-such)=" in done.output
    shutil.rmtree(course.root / "tasks")
    done = run("tasks", "--test")
    assert done.exit_code == 2 and "there are no own tasks" in done.output


def with_case(argument: str) -> str:
    """The descriptions of 04.colder, with another first argument of its first case."""
    return "import numpy as np\n" + TEXTS["04_one_head_tasks.py"].replace("normal(rng, 3, 5)", argument)


def test_a_tensor_in_a_case_is_an_array():
    catalogue = Catalogue(own_texts(f04_one_head_tasks_py=with_case("torch.from_numpy(normal(rng, 3, 5))")))
    (task,) = catalogue.own_tasks(4)
    assert problems(task) == []
    baked = catalogue.for_students(4, [task.id])
    assert baked == Catalogue(own_texts()).for_students(4, [task.id]), "as from arrays"


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("torch.ones(3, 5, dtype=torch.bfloat16)", "holds a tensor that numpy cannot hold"),
        ("np.ones((3, 5)), {1, 2}", "students cannot be given the questions of 04.colder: a set cannot be written"),
    ],
)
def test_a_case_that_students_cannot_be_given_is_refused_in_a_sentence(tmp_path: Path, argument: str, says: str):
    texts = {**TEXTS, "04_one_head_tasks.py": with_case(argument)}
    if "{1" in argument:  # the answer and its oracle take it, and make nothing of it
        texts["04_one_head_tasks.py"] = texts["04_one_head_tasks.py"].replace("5)), {1, 2}, 0.5", "5)), 0.5, {1, 2}")
        texts["04_one_head_tasks.py"] = texts["04_one_head_tasks.py"].replace("tau: float)", "tau: float, more=None)")
        texts["04_one_head.py"] = texts["04_one_head.py"].replace("(scores, tau)", "(scores, tau, more=None)")
    write_tasks(tmp_path, texts)
    tried = CliRunner().invoke(main, ["tasks", "--test", "--course", str(tmp_path)])
    assert tried.exit_code == 1 and says in " ".join(tried.output.split())
    refused = CliRunner().invoke(main, ["release", "04_one_head", "--course", str(tmp_path)])
    assert refused.exit_code == 2 and says.partition(":")[0] in refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["tasks"], "nothing was written"


def test_students_get_neither_solutions_nor_oracles(course: Course):
    secrets = ("softmax(scores / tau, dim", "x.mean(dim", "torch.log_softmax(scores", "x.sum", "gives the answer away")
    for name in WRONG:
        folder = course.root / "release" / name
        assert sorted(os.listdir(folder)) == sorted([f"{name}.ipynb", BAKED])
        for path in folder.iterdir():
            content = path.read_text(errors="replace")
            assert not [secret for secret in secrets if secret in content], path


def test_student_checks_own_tasks_from_the_file_beside_the_notebook(course, tmp_path, monkeypatch):
    home = Path(shutil.copytree(course.root / "release" / "04_one_head", tmp_path / "home"))
    monkeypatch.chdir(home)
    here.cache_clear()
    import torch

    assert here().course_tasks == OwnTasks(baked=(home / BAKED,))
    assert check("04.colder", lambda scores, tau: torch.softmax(scores / tau, -1)).verdict == "pass"
    wrong = check("04.colder", lambda scores, tau: torch.softmax(scores * tau, -1))
    assert (wrong.verdict, wrong.diagnosis) == ("wrong", ("multiplied",))
    steps = [hint("04.colder").text() for _ in range(3)]
    assert "softmax(scores / tau)" in steps[-1] and not any("away" in step or "def colder" in step for step in steps)
    assert check("04.scale", lambda scores, width: scores / width**0.5).verdict == "pass"
    (home / BAKED).write_bytes(b"damaged")
    here.cache_clear()
    damaged = check("04.colder", len)
    assert damaged.verdict == "error" and "is damaged" in damaged.text()
    (home / BAKED).unlink()
    here.cache_clear()
    assert BAKED in check("04.colder", len).text()


def test_own_tasks_never_come_into_the_exercises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_tasks(tmp_path, TEXTS)
    (tmp_path / "solutions").mkdir()
    for path in (ROOT / "_config.yml", *(ROOT / "solutions").glob("04_one_head.*")):
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    build_exercises(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOFTLOOKUP_TASKS", str(tmp_path / "tasks"))
    here.cache_clear()
    assert get_task("04.colder").points == 2
    done = CliRunner().invoke(main, ["exercises", "--check"])
    assert done.exit_code == 0, done.output
    monkeypatch.setenv("SOFTLOOKUP_TASKS", str(tmp_path / "none"))
    here.cache_clear()
    with pytest.raises(OwnTasksError, match="which is no folder"):
        tasks()


@NEEDS_SANDBOX
@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", WRONG)
def test_own_tasks_are_graded_named_and_explained(course: Course, name: str):
    _, task, _, _, mistake = WRONG[name]
    report = submissions(course, name, feedback=True)
    assert report["ada"]["tasks"][task]["verdict"] == "pass"
    lost = report["ben"]["tasks"][task]
    assert (lost["points"], lost["verdict"], lost["diagnosis"]) == (0, "wrong", [mistake])
    page = course.notebook("feedback", "ben", name).with_suffix(".html")
    assert catalogue_of(course.root).task(task).mistake(mistake).says in page.read_text()
    by_task = {entry.mark.task: entry for entry in explain(course, name, "ben", SandboxExaminer).tasks}
    assert by_task[task].result is not None and by_task[task].result.diagnosis == (mistake,) and by_task[task].agrees


def plant(folder: Path) -> None:
    """Put into a submission all that could be taken for own tasks: oracles and questions that the answer passes."""
    (folder / "tasks").mkdir()
    for name, text in TEXTS.items():
        trap = "open(__file__ + '.ran', 'w').close()\n" if name.endswith("_tasks.py") else ""
        text = text.replace("scores / tau", "scores * tau").replace("x.sum(dim=-1) / x.shape[-1]", "x.mean(dim=0)")
        (folder / "tasks" / name).write_text(text + trap)
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")


@NEEDS_SANDBOX
@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", WRONG)
def test_files_in_a_submission_change_nothing_in_grading(course: Course, name: str, monkeypatch: pytest.MonkeyPatch):
    honest = submissions(course, name)
    folder = course.folder("submitted", "ben", name)
    plant(folder)
    evil = own_texts()
    turned = ((file, text.replace("/ tau", "* tau").replace("dim=-1", "dim=0")) for file, text in evil.texts)
    baked = Catalogue(OwnTasks(tuple(turned))).for_students(int(name[:2]), [WRONG[name][1]])
    assert baked
    for place in (folder, folder.parent, course.root):
        (place / BAKED).write_bytes(baked)
    (folder.parent / "tasks").symlink_to(folder / "tasks")
    assert course_above(folder) == course.root, "a folder in a submission is no course"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SOFTLOOKUP_TASKS", str(folder / "tasks"))
    here.cache_clear()
    assert submissions(course, name, again=True) == honest
    by_task = {entry.mark.task: entry for entry in explain(course, name, "ben", SandboxExaminer).tasks}
    assert by_task[WRONG[name][1]].mark.verdict == "wrong"
    assert not list(course.root.rglob("*.ran"))
    shutil.rmtree(course.root / "tasks")
    assert course_above(folder) == course.root


@NEEDS_SANDBOX
def test_changed_oracle_has_submissions_graded_again_and_one_that_is_gone_is_told(course: Course):
    assert submissions(course, "99_mine")["ada"]["score"] == 3
    path = course.root / "tasks" / "99_mine_tasks.py"
    path.write_text(path.read_text().replace("x.sum(dim=-1) / x.shape[-1]", "x.mean(dim=0)"))
    assert submissions(course, "99_mine")["ada"]["score"] == 0
    for path in (course.root / "tasks").glob("99_*"):
        path.unlink()
    with pytest.raises(CourseError, match=r"99_mine asks 99\.row-means, and .* does not describe that"):
        submissions(course, "99_mine")


def test_release_without_own_tasks_takes_the_file_away(course: Course, run: Callable):
    for path in (course.root / "tasks").glob("04_*"):
        path.unlink()
    done = run("release", "04_one_head")
    assert done.exit_code == 0, done.output
    assert os.listdir(course.root / "release" / "04_one_head") == ["04_one_head.ipynb"]
    notebook = nbformat.read(course.notebook("release", ".", "04_one_head"), as_version=4)
    assert not any("colder" in cell.source for cell in notebook.cells)


def test_own_tasks_are_read_as_text_alone(tmp_path: Path):
    (tmp_path / "99_mine.py").write_bytes(b"\xff\xfe")
    with pytest.raises(OwnTasksError, match="cannot be read as text"):
        read_tasks(tmp_path)
    assert read_tasks(tmp_path / "none") == OwnTasks()
