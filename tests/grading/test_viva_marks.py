"""Answers to vivas: marked against the key, entered as a column of their own, and saved by a page with a clock."""

import json
import re

import pytest
from paper_class import enter, full, hand_in, paper_course
from small_class import NAME

from softlookup_course.viva.form import form
from softlookup_course.viva.marks import column, mark
from softlookup_course.viva.marks import enter as enter_marks
from softlookup_course.viva.of_class import seed_of
from softlookup_course.viva.questions import VivaQuestion
from softlookup_course.viva.vivas import Viva
from softlookup_grader.course.grade_sheet import read_sheet
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.reports.vivas import folder_of, paths_of


def question(number, key):
    return VivaQuestion(
        *(
            "result",
            "04.scale",
            False,
            f" 1   def scale{number}(x):\n 2       return x",
            "Line 2.",
            ("x = 1",),
            "",
            "What?",
        ),
        *(("1", "2", "3", "</script>4"), key, "So.", "it", 2, 2, ("04.scale", str(number))),
    )


def viva(student, keys="ABC"):
    return Viva(student, NAME, tuple(question(n, "ABCD".index(key)) for n, key in enumerate(keys)), 7)


@pytest.fixture
def course(tmp_path_factory, source):
    course = paper_course(tmp_path_factory, source)
    for student in ("ada", "bo"):
        hand_in(course, student, {"04-mix": "def mix(w, v):\n    return w @ v"})
        enter(course, student, full())
        text = json.dumps(viva(student).as_json())
        atomic_write(folder_of(course, NAME, student) / "viva.json", text.encode())
    return course


def table(tmp_path, text):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    return path


def test_answers_from_a_table_become_a_column_of_the_gradebook(course, tmp_path):
    marked = mark(course, NAME, table(tmp_path, "id,answers\nada,abc\nbo,A-D\n"))
    assert marked.points == {"ada": 3, "bo": 1} and marked.most == 3 and marked.notes == []
    for _ in range(2):
        enter_marks(course, NAME, marked)
    rows = {row.student: row for row in read_sheet(course, column(NAME))}
    assert (rows["ada"].score, rows["bo"].score, rows["ada"].max) == (3, 1, 3)
    assert all(row.score > 3 for row in read_sheet(course, NAME)), "the assignment's own points stay"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("eve,ABC", "there is no viva of 'eve'"),
        ("ada,AB", "give 3 letters"),
        ("ada,ABX", "give 3 letters"),
        ("ada,\x1b[2J", "give 3 letters"),
        ("ada,ABC\nada,ABD", "several answers"),
    ],
)
def test_answers_that_fit_no_viva_are_left_out_with_a_note(course, tmp_path, rows, says):
    marked = mark(course, NAME, table(tmp_path, f"id,answers\n{rows}\nbo,ABC\n"))
    assert marked.points == {"bo": 3} and says in marked.notes[0] and "\x1b" not in marked.notes[0]


def test_the_same_answers_count_once_and_different_ones_not_at_all(course, tmp_path):
    marked = mark(course, NAME, table(tmp_path, "id,answers\nada,ABC\nada,abc\nbo,ABC\nbo,ABD\nbo,ABC\n"))
    assert marked.points == {"ada": 3} and "'bo' has several answers" in marked.notes[0]


def test_answers_to_another_sheet_are_not_marked(course, tmp_path):
    code = viva("bo").code
    marked = mark(course, NAME, table(tmp_path, f"id,sheet,answers\nada,12345,ABC\nbo,{int(code)},ABC\n"))
    assert marked.points == {"bo": 3} and "12345" in marked.notes[0]


def test_saved_answers_are_read_from_a_folder_and_nothing_else_is(course, tmp_path):
    folder = tmp_path / "saved"
    saved = {"viva": viva("ada").code, "student": "ada", "answers": "ABC", "seconds": 700, "minutes": 6}
    for name, content in {
        "a/viva.json": json.dumps(saved),
        "b.json": "[" * 9_000,
        "c.json": json.dumps({**saved, "student": ["ada"]}),
        "d.json": json.dumps({**saved, "student": "bo"}),
        "e.json": "x" * 20_000,
        "f.json": json.dumps({**saved, "seconds": "soon"}),
        "g.txt": json.dumps(saved),
    }.items():
        atomic_write(folder / name, content.encode())
    marked = mark(course, NAME, folder)
    assert marked.points == {"ada": 3} and len(marked.notes) == 6
    assert "took 700 s, more than 6 minutes" in marked.notes[0]


def test_without_vivas_it_says_what_makes_them(course, tmp_path):
    with pytest.raises(CourseError, match="softlookup viva 05_many_heads"):
        mark(course, "05_many_heads", table(tmp_path, "id,answers\n"))
    with pytest.raises(CourseError, match="answers"):
        mark(course, NAME, table(tmp_path, "id,letters\nada,ABC\n"))


def test_the_seed_stays_so_that_sheets_on_paper_keep_their_keys(course):
    assert seed_of(course, NAME) == 7 and seed_of(course, "05_many_heads") is None
    (folder_of(course, NAME, "ada") / "viva.json").write_text("{")
    assert seed_of(course, NAME) == 7
    assert [path.name for path in paths_of(course, "bo")] == ["bo"]


def test_the_page_with_a_clock_holds_no_key_and_nothing_that_ends_its_script():
    pages = {form(viva("ada", keys)).replace(viva("ada", keys).code, "") for keys in ("ABC", "DDD")}
    assert len(pages) == 1, "another key makes no other page"
    page = pages.pop()
    assert page.count("</script>") == 2 and "&lt;/script&gt;4" in page and "So." not in page
    hostile = form(Viva("</script><b>", NAME, viva("ada").questions, 1))
    assert "<b>" not in re.sub(r"<b>[\w? ]", "", hostile.replace("<p><b>", "").replace("· <b><bdi>&lt;", ""))


@pytest.mark.slow
def test_the_page_saves_the_answers_when_the_time_is_over_or_before(tmp_path):
    from softlookup_course.browser import chromium

    path = tmp_path / "form.html"
    path.write_text(form(viva("ada"), 0.05))
    with chromium() as browser:
        page = browser.new_page()
        wrong = []
        page.on("console", lambda message: wrong.append(message.text))
        page.goto(path.as_uri())
        assert not page.locator("section").first.is_visible()
        with page.expect_download() as saved:
            page.locator("#start").click()
            page.locator("section").nth(1).get_by_label("B").check()
        answers = json.loads(saved.value.path().read_text())
        assert answers == {
            **{"viva": viva("ada").code, "assignment": NAME, "student": "ada", "minutes": 0.05},
            **{"answers": "-B-", "seconds": 3},
        }
        assert page.locator("input").first.is_disabled() and wrong == []
