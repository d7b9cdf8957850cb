"""The sample class: who is in it, and what it does to a folder."""

import ast

import nbformat
import pytest
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, rewritten
from softlookup_course.samples.sample_class import hand_ins, write_sample
from softlookup_grader import CourseError, new_course
from softlookup_grader.reports.planted import planted_mistakes
from softlookup_judge import Mistake, tasks
from softlookup_judge.authoring import make_release, notebook_text


def test_sample_class_has_every_known_mistake_and_files_as_it_says(source):
    release = make_release(source)
    made = list(hand_ins(source, release))
    by_student = {h.student: h for h in made}
    assert len(by_student) == len(made)
    assert by_student["missing-notebook"].text is None and by_student["empty-file"].text == ""
    assert by_student["blank"].text == nbformat.writes(release)
    mistakes = {pair for h in made for pair in h.mistakes.items()}
    assert mistakes == {(task.id, mistake.slug) for task in tasks(4) for mistake in task.mistakes if mistake.edits}
    some = {h.student for h in hand_ins(source, release, most=2)}
    others = {name for name in by_student if not name.startswith("mistake-")}
    assert some == others | {"mistake-1", "mistake-2"}, "a smaller class has fewer mistakes and all other kinds"


def test_rewritten_answers_differ_but_keep_name_and_arguments(source):
    known = {task.slug: task for task in tasks(4)}
    for name, text in answers(source).items():
        assert "SOLUTION" not in text
        if name not in known:
            continue
        before, after = ast.parse(text).body[-1], ast.parse(rewritten(text)).body[-1]
        assert isinstance(before, ast.FunctionDef) and isinstance(after, ast.FunctionDef)
        assert ast.dump(before) != ast.dump(after)
        assert (before.name, ast.dump(before.args)) == (after.name, ast.dump(after.args))


def test_a_mistake_whose_edits_do_not_fit_is_told():
    assert Mistake("minus", "", edits=(("+", "-"),)).applied_to("return a + b") == "return a - b"
    with pytest.raises(ValueError, match="'no-sqrt' edits 'sqrt', which the solution does not hold"):
        Mistake("no-sqrt", "", edits=(("sqrt", ""),)).applied_to("return a")


def test_course_release_is_the_committed_exercise(tmp_path, source):
    course = new_course(tmp_path / "course", ROOT / "nbgrader_config.py")
    course.release({NAME: source})
    released = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    assert notebook_text(released) == notebook_text(make_release(source))


def test_sample_leaves_other_peoples_folders_alone(tmp_path, source):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CourseError, match="is not empty and not a sample course"):
        write_sample(tmp_path, {NAME: source}, ROOT / "nbgrader_config.py")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_sample_that_was_broken_off_is_made_by_the_same_command(tmp_path, short, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    parts = tmp_path / "course", {NAME: short}, ROOT / "nbgrader_config.py"
    for name in ("new_course", "hand_ins"):
        with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
            broken.setattr(f"softlookup_course.samples.sample_class.{name}", stop)
            write_sample(*parts)
    assert write_sample(*parts).has_submissions()
    assert (tmp_path / "course").stat().st_mode & 0o777 == 0o700


def test_what_never_comes_back_is_waited_for_once(tmp_path, short):
    course = write_sample(tmp_path, {NAME: short, "05_other": short}, ROOT / "nbgrader_config.py")
    folders = [course.folder("submitted", "endless-loop", name).is_dir() for name in (NAME, "05_other")]
    assert folders == [True, False] and course.folder("submitted", "blank", "05_other").is_dir()


def test_sample_is_made_anew_over_an_old_one(tmp_path, short):
    config = ROOT / "nbgrader_config.py"
    (tmp_path / "notes.txt").write_text("mine")
    course = write_sample(tmp_path, {NAME: short}, config, force=True)
    (course.root / "submitted" / "left-over").mkdir()
    course = write_sample(tmp_path, {NAME: short}, config)
    assert "left-over" not in course.students() and (tmp_path / "notes.txt").read_text() == "mine"
    assert set(planted_mistakes(course, NAME)) == {s for s in course.students() if s.startswith("mistake-")}
    assert planted_mistakes(course, "05_other") == {}
