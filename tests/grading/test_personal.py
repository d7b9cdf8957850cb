"""An assignment that is released for each student: everybody is asked other variants, bound to the id."""

import copy
import json
import shutil

import nbformat
import pytest
from click.testing import CliRunner
from fake_grader import judged_here

from softlookup_command.commands import main
from softlookup_grader import Course, GradeRequest, grade_assignment
from softlookup_grader.course.personal import own_release, personal_folder, whose
from softlookup_grader.data.work import RunSettings, parted, with_release
from softlookup_grader.reports.explaining import explain
from softlookup_grader.workers.making import make_examiner
from softlookup_judge import get_task
from softlookup_judge.authoring import draw_variants, make_release, read_solution, solution_cells
from softlookup_judge.authoring.build import find_root
from softlookup_judge.data.conventions import Convention

NAME = "02_soft_lookup"
ROOT = find_root()
SECRET = "a word that nobody knows"


def run(*words):
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("personal") / "course"
    made = run("release", NAME, "--course", folder, "--course-seed", SECRET)
    assert made.exit_code == 0, made.output
    for student in ("ada", "ben", "cleo", "dan"):
        hand_in(Course.at(folder), student, nbformat.v4.new_notebook())
    made = run("release", NAME, "--course", folder, "--course-seed", SECRET, "--per-student")
    assert made.exit_code == 0 and "4 notebooks" in made.output, made.output
    return Course.at(folder)


def hand_in(course, student, notebook):
    path = course.notebook("submitted", student, NAME)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def answered(course, student, variants):
    """The notebook of a student, with the published answers to some variants in it."""
    notebook = nbformat.reads(own_release(course, NAME, student).decode(), as_version=4)
    cells = solution_cells(read_solution(ROOT / "solutions" / f"{NAME}.py", variants))
    for cell in notebook.cells:
        cell.source = cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    return notebook


@pytest.mark.slow
def test_everybody_is_graded_by_the_notebook_that_was_made_for_them(course):
    (personal_folder(course, NAME) / "dan.ipynb").unlink()
    variants = draw_variants(SECRET, "ada")
    hand_in(course, "ada", answered(course, "ada", variants))
    hand_in(course, "ben", answered(course, "ben", draw_variants(None)))
    hand_in(course, "cleo", answered(course, "ada", variants))
    hand_in(course, "dan", answered(course, "ada", variants))
    request = GradeRequest(NAME, seed=7, feedback=False)
    report = grade_assignment(course, request, executor=judged_here).as_json()["submissions"]
    varied = {task for task, number in variants.items() if number and task.startswith("02.")}
    assert {mark["verdict"] for mark in report["ada"]["tasks"].values()} <= {"pass", "by hand"}
    ben, cleo = report["ben"]["tasks"], report["cleo"]["tasks"]
    assert all(ben[task]["verdict"] != "pass" for task in varied)
    assert sum(ben[task]["diagnosis"] == ["other-variant"] for task in varied) >= len(varied) - 2
    unlike = {task for task in varied if variants[task] != draw_variants(SECRET, "cleo")[task]}
    assert unlike and all(cleo[task]["verdict"] != "pass" for task in unlike)
    assert report["dan"]["status"] == "refused"
    assert any("made for 'ada'" in remark for remark in explain(course, NAME, "cleo", make_examiner).remarks)
    assert {task.mark.variant for task in explain(course, NAME, "ben", make_examiner).tasks} != {0}


def test_notebooks_of_one_student_are_the_same_each_time_and_those_of_two_are_not(course):
    before = {student: own_release(course, NAME, student) for student in ("ada", "ben")}
    assert run("release", NAME, "--course", course.root, "--course-seed", SECRET).exit_code == 0
    assert before == {student: own_release(course, NAME, student) for student in ("ada", "ben")}
    assert draw_variants(SECRET, "ada") != draw_variants(SECRET, "ben") != draw_variants(SECRET)
    assert b"### BEGIN SOLUTION" not in before["ada"] and b"return" not in before["ada"].split(b"def mix")[1][:400]


def test_notebooks_for_each_student_need_a_secret_and_a_class(tmp_path):
    result = run("release", NAME, "--course", tmp_path / "a", "--per-student")
    assert result.exit_code != 0 and "--course-seed" in result.output
    result = run("release", NAME, "--course", tmp_path / "b", "--course-seed", SECRET, "--per-student")
    assert result.exit_code != 0 and "nobody in the class" in result.output


def test_metadata_that_do_not_fit_are_told_and_count_for_nothing(course):
    release = own_release(course, NAME, "ada")
    changed = json.loads(release)
    assert list(whose(release, release, "ada")) == []
    changed["metadata"]["softlookup"]["bound"] = "0" * 32
    assert "missing or changed" in next(whose(release, json.dumps(changed).encode(), "ada"))
    changed["metadata"]["softlookup"] = [["student", "ada"]]
    assert "missing or changed" in next(whose(release, json.dumps(changed).encode(), "ada"))
    assert "made for 'ben'" in next(whose(release, own_release(course, NAME, "ben"), "ada"))
    assert list(whose(release, b"[" * 100_000, "ada")) != []


def test_submission_and_release_travel_together():
    for release, submission in ((b"", b""), (b"{}", b"x" * 300), (b"r" * 70_000, b"")):
        assert parted(with_release(release, submission)) == (release, submission)


def test_students_fetch_their_own_notebook_and_no_other(course, tmp_path, monkeypatch):
    from nbgrader.coursedir import CourseDirectory

    from softlookup_grader.platforms.for_nbgrader import FetchOwn

    monkeypatch.setattr("softlookup_grader.platforms.for_nbgrader.get_username", lambda: "ben")
    source, target = personal_folder(course, NAME).parent, tmp_path / NAME
    fetch = FetchOwn(coursedir=CourseDirectory(assignment_id=NAME), parent=None)
    fetch.dest_path = str(target)
    fetch.do_copy(str(source), str(target))
    assert (target / f"{NAME}.ipynb").read_bytes() == own_release(course, NAME, "ben")
    assert not (target / "personal").exists()
    (target / f"{NAME}.ipynb").write_text("begun")
    fetch.do_copy(str(source), str(target))
    assert (target / f"{NAME}.ipynb").read_text() == "begun"
    shutil.rmtree(target)
    monkeypatch.setattr("softlookup_grader.platforms.for_nbgrader.get_username", lambda: "nobody")
    with pytest.raises(Exception, match="no notebook was made"):
        fetch.do_copy(str(source), str(target))


def test_a_lent_function_takes_what_the_notebook_asks_for():
    """The head is right and calls a function that is not; another task was lent something before it."""
    variant = 6
    assert get_task("04.mix").conventions[variant] == Convention((1, 0), (), (), (0,))
    release = make_release(read_solution(ROOT / "solutions" / "04_one_head.py", {"04.mix": variant}))
    cells = solution_cells(read_solution(ROOT / "solutions" / "04_one_head.py", {"04.mix": variant}))
    cells["04-mix"] = "def mix(v, weights):\n    return v\n"
    cells["04-softmax"] = "def softmax(x):\n    return x\n"
    cells["04-column"] = cells["04-column"].replace("torch.softmax(scaled, dim=-1)", "softmax(scaled)")
    cells["04-head"] = (
        "def one_head(x, w_q, w_k, w_v, mask=None):\n"
        "    q, k, v = project(x, w_q, w_k, w_v)\n"
        "    return mix(v, attention_weights(q, k, mask)).mT\n"
    )
    for cell in (filled := copy.deepcopy(release)).cells:
        cell.source = cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    with make_examiner(RunSettings.single("04_one_head", nbformat.writes(release), 5)) as examiner:
        graded = examiner.examine("ada", nbformat.writes(filled).encode())
    marks = {mark.task: mark.verdict for mark in graded.marks}
    assert (marks["04.mix"], marks["04.column"], marks["04.head"]) == ("wrong", "pass", "pass"), graded.marks
