"""Vivas that are written outside of the course: forgetting a student reaches them, or says where it cannot."""

import json

import pytest
from click.testing import CliRunner
from paper_class import in_class, paper_course
from small_class import NAME

from softlookup_command import main
from softlookup_course.viva.of_class import write_vivas
from softlookup_course.viva.questions import RESULT, VivaQuestion
from softlookup_course.viva.vivas import Viva
from softlookup_grader import CourseError
from softlookup_grader.forgetting import forget, kept_of, not_reached
from softlookup_grader.reports.vivas import RECORD, folders_elsewhere, unreachable

CLASS = ("ada", "ada-2", "bo-tang")


@pytest.fixture
def course(tmp_path_factory, source):
    made = paper_course(tmp_path_factory, source)
    for student in CLASS:
        in_class(made, student)
    return made


def write(course, out, students=CLASS, together=True, seed=1):
    return write_vivas(course, [Viva(student, NAME, (), seed) for student in students], out, together)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_forget_reaches_a_folder_elsewhere_and_takes_nothing_of_others(course, tmp_path):
    out = tmp_path / "exam"
    write(course, out)
    (out / "sheets.pdf").write_bytes(b"%PDF-")
    (out / "notes.txt").write_text("of the examiner, on ada")
    assert f"{out / 'ada'}" in kept_of(course, "ada")
    removed = forget(course, "ada")
    assert {str(out / name) for name in ("ada", "sheets.html", "sheets.pdf", "keys.html")} <= set(removed)
    others = [f"{student}/{name}.html" for student in CLASS[1:] for name in ("form", "key", "oral", "sheet")]
    assert names(out) == sorted([*others, "ada-2/viva.json", "bo-tang/viva.json", "notes.txt"])
    assert kept_of(course, "ada") == not_reached(course, "ada") == []


def test_a_folder_with_something_else_in_it_loses_the_vivas_files_alone(course, tmp_path):
    write(course, tmp_path, together=False)
    (tmp_path / "ada" / "thesis.tex").write_text("years of work")
    (tmp_path / "bo-tang" / "viva.json").write_text('{"student": "somebody else"}')
    (tmp_path / "bo-tang" / ".key.html.123").write_text("of a run that was killed")
    forget(course, "ada")
    assert names(tmp_path / "ada") == ["thesis.tex"]
    forget(course, "bo-tang")
    assert names(tmp_path / "bo-tang") == ["viva.json"]


def test_a_folder_that_is_named_like_a_student_and_holds_no_viva_stays(course, tmp_path):
    write(course, tmp_path, ("ada-2",))
    for name in ("ada", "cy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sheet.html").write_text("<p>ada</p>")
    (tmp_path / "target").mkdir()
    write(course, tmp_path / "target", ("bo-tang",), together=False)
    (tmp_path / "bo-tang").symlink_to(tmp_path / "target" / "bo-tang")
    forget(course, "ada")
    assert (tmp_path / "ada" / "sheet.html").is_file()
    forget(course, "bo-tang")
    assert (tmp_path / "bo-tang").is_symlink() and not (tmp_path / "target" / "bo-tang").exists()


@pytest.mark.parametrize("how", ["moved", "not mounted"])
def test_a_folder_that_is_not_there_is_named_and_reached_when_it_is_back(course, tmp_path, how):
    out, away = tmp_path / "exam", tmp_path / "away"
    write(course, out)
    out.rename(away)
    if how == "not mounted":
        out.mkdir()
    arguments = ["forget", "ada", "--yes", "--course", str(course.root)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0 and f"Not reached: {out}, which vivas were written to" in result.output
    assert folders_elsewhere(course) == [out] and (away / "ada" / "viva.json").is_file()
    if how == "not mounted":
        out.rmdir()
    away.rename(out)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0 and f"  {out / 'ada'}\n" in result.output and str(out) + "," not in result.output
    assert not (out / "ada").exists() and (out / "ada-2" / "viva.json").is_file()


def test_the_record_names_nobody_and_ends_with_the_last_viva(course, tmp_path):
    out = tmp_path / "exam"
    write(course, out, CLASS[:2])
    write(course, out, CLASS[:1])
    path = course.root / RECORD
    assert json.loads(path.read_text()) == {"folders": [str(out)]} and path.stat().st_mode & 0o777 == 0o600
    forget(course, "ada")
    assert folders_elsewhere(course) == [out]
    forget(course, "ada-2")
    assert folders_elsewhere(course) == unreachable(course) == []


def test_the_usual_folder_needs_no_record_and_one_within_the_course_moves_along(course, tmp_path):
    write(course, course.root / "viva" / NAME)
    assert not (course.root / RECORD).exists()
    write(course, course.root / "exam")
    assert json.loads((course.root / RECORD).read_text()) == {"folders": ["exam"]}


def test_a_damaged_record_is_one_sentence_and_nothing_is_removed(course, tmp_path):
    write(course, tmp_path / "exam")
    for text in ("{", "[]", '{"folders": 3}', '{"folders": [3]}'):
        (course.root / RECORD).write_text(text)
        with pytest.raises(CourseError, match="is damaged"):
            forget(course, "ada")
    assert (tmp_path / "exam" / "ada" / "viva.json").is_file()


def test_no_sheet_is_left_beside_the_key_of_another_one(course, tmp_path, monkeypatch):
    write(course, tmp_path, ("ada",), together=False)

    def killed(path, content, **_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr("softlookup_course.viva.of_class.atomic_write", killed)
        write(course, tmp_path, ("ada",), together=False, seed=2)
    assert not (tmp_path / "ada" / "viva.json").exists()
    write(course, tmp_path, ("ada",), together=False, seed=2)
    assert json.loads((tmp_path / "ada" / "viva.json").read_text())["seed"] == 2


def test_what_is_left_out_stands_on_the_pages_for_the_examiner_and_on_no_students(course, tmp_path):
    note = "04.scale is left out: <b>\u202e it was late."
    options = ("1", "2", "3", "4")
    call = ("x = 1",)
    question = VivaQuestion(RESULT, "04.scale", False, "", "", call, "", "What?", options, 0, "So.", "it", 2, 1, call)
    viva = Viva("ada", NAME, (question,), 1, (note,))
    assert Viva.from_json(json.loads(json.dumps(viva.as_json()))) == viva
    write_vivas(course, [viva], tmp_path, together=True)
    words = "04.scale is left out: &lt;b&gt;⟨U+202E⟩ it was late."
    for name, has in (("key", True), ("oral", True), ("sheet", False), ("form", False)):
        assert (words in (tmp_path / "ada" / f"{name}.html").read_text()) is has, name
    assert words in (tmp_path / "keys.html").read_text() and words not in (tmp_path / "sheets.html").read_text()
