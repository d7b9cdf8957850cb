"""Sheets and keys: the same for the same seed, worth what was asked for, and without answers on the sheet."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from softlookup_command.commands import main
from softlookup_course.exam import (
    ExamError,
    draw_sheet,
    key_markdown,
    parse_chapters,
    sheet_markdown,
    write_exam,
    write_page,
)
from softlookup_course.exam.bank import QUESTIONS
from softlookup_course.exam.printed import as_html
from softlookup_course.exam.written import apart


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["exam", *map(str, words)])


def test_same_seed_gives_the_same_sheet_and_others_others():
    sheets = [sheet_markdown(draw_sheet(seed)) for seed in (1, 1, 2, 3)]
    assert sheets[0] == sheets[1] and len(set(sheets)) == 3
    assert key_markdown(draw_sheet(7)) == key_markdown(draw_sheet(7))


@pytest.mark.parametrize("points", [20, 40, 60, 61, 90])
@pytest.mark.parametrize("seed", range(5))
def test_sheet_is_worth_what_was_asked_for(seed: int, points: int):
    sheet = draw_sheet(seed, points=points)
    assert sheet.points == points == sum(entry.question.points for entry in sheet.questions)
    assert [entry.position for entry in sheet.questions] == list(range(1, len(sheet.questions) + 1))
    assert len({entry.question.id for entry in sheet.questions}) == len(sheet.questions)


@pytest.mark.parametrize("seed", range(8))
def test_every_chapter_is_asked_for_where_points_are_enough(seed: int):
    chapters = {entry.question.chapter for entry in draw_sheet(seed, points=70).questions}
    assert chapters == {*range(1, 14), *range(15, 21)}
    assert {entry.question.chapter for entry in draw_sheet(seed, [4, 8], points=20).questions} == {4, 8}


def test_question_has_the_same_numbers_whatever_else_is_on_the_sheet():
    long, short = draw_sheet(3, points=200), draw_sheet(3, [4], points=12)
    texts = {entry.question.id: entry.instance.text for entry in long.questions}
    shared = [entry for entry in short.questions if entry.question.id in texts]
    assert shared and all(entry.instance.text == texts[entry.question.id] for entry in shared)


def test_key_has_what_the_sheet_has_not():
    sheet = draw_sheet(5)
    sheet_text, key = sheet_markdown(sheet), key_markdown(sheet)
    assert sheet_text.count("\n## ") == key.count("\n## ") == key.count("**Answer.**") == key.count("**Marks.**")
    assert key.count("**Marks.**") == len(sheet.questions)
    for word in ("Answer", "Marks", "Mistakes", "points: "):
        assert word not in sheet_text
    for entry in sheet.questions:
        assert apart(entry.instance.text) in sheet_text and apart(f"**Answer.** {entry.instance.answer}") in key
        assert entry.instance.answer not in sheet_text and apart(entry.instance.answer) not in sheet_text
    assert (
        f"{sheet.points} points" in sheet_text
        and f"seed {sheet.seed}" in key
        and "seed" not in sheet_text
        and f"{sheet.minutes} minutes" in sheet_text
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seed": -1}, "the seed is -1: give a whole number"),
        ({"seed": 1, "chapters": [0, 3]}, "no questions on chapter 0: choose from chapters 1, 2, 3"),
        ({"seed": 1, "chapters": []}, "no questions on chapter"),
        ({"seed": 1, "points": 1}, "the number of points is 1: give 2 to"),
        ({"seed": 1, "points": 9999}, "the number of points is 9999: give 2 to"),
        ({"seed": 1, "chapters": [4], "points": 5}, "add up to 5 points: give ."),
    ],
)
def test_sheet_that_cannot_be_had_is_refused(options: dict, says: str):
    with pytest.raises(ExamError, match=says):
        draw_sheet(**options)


@pytest.mark.parametrize(
    ("text", "chapters"), [("3", [3]), ("2-4", [2, 3, 4]), ("1, 4-5,9", [1, 4, 5, 9]), ("13", [13])]
)
def test_chapters_are_read(text: str, chapters: list[int]):
    assert parse_chapters(text) == chapters


@pytest.mark.parametrize("text", ["", "four", "4-", "-4", "8-2", "1;2", "1-9999999"])
def test_chapters_that_make_no_sense_are_refused(text: str):
    with pytest.raises(ExamError, match="chapters are"):
        parse_chapters(text)


def test_command_prints_sheet_and_key():
    both, key = call("--seed", 4, "--points", 30), call("--seed", 4, "--points", 30, "--key")
    assert both.exit_code == key.exit_code == 0
    assert both.output.startswith("# Exam") and key.output.startswith("# Key")
    assert both.output.endswith(key.output) and "30 points" in both.output


@pytest.mark.parametrize("route", ["introduction", "systems"])
def test_command_takes_the_chapters_of_a_route(route: str):
    from softlookup_course.curriculum import ROUTES

    output = call("--seed", 4, "--route", route).output
    chapters = ", ".join(str(n) for n in sorted(ROUTES[route].chapters) if 0 < n < 90)
    assert f"chapters {chapters}\n" in output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--seed", 1, "--chapters", "14"], "no questions on chapter 14"),
        (["--seed", 1, "--chapters", "x"], "chapters are 'x'"),
        (["--seed", 1, "--points", "0"], "the number of points is 0"),
        (["--seed", -1], "Invalid value for '--seed'"),
        ([], "Missing option '--seed'"),
        (["--seed", 1, "--route", "systems", "--chapters", "4"], "give one of them"),
    ],
)
def test_command_says_what_is_wrong(words: list, says: str):
    result = call(*words)
    assert result.exit_code != 0 and says in result.output and "Traceback" not in result.output


def test_page_keeps_formulas_and_hides_markup():
    page = as_html(
        "# A\n\nIs $a < b$ in `x`? $$\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}$$\n\n| a |\n|---|\n| 1 |\n", "t"
    )
    assert r"\(a &lt; b\)" in page and r"\[\begin{bmatrix} 1 &amp; 2 \\ 3 &amp; 4 \end{bmatrix}\]" in page
    assert "<table>" in page and "<code>x</code>" in page and "http" not in page


def test_displayed_formulas_stand_in_paragraphs_of_their_own():
    assert apart("One $$a$$ two, $b$.") == "One\n\n$$a$$\n\ntwo, $b$." and apart("$$a$$") == "$$a$$"
    lines = key_markdown(draw_sheet(3, points=250)).splitlines()
    assert all(line.lstrip("> ").startswith("$$") and line.endswith("$$") for line in lines if "$$" in line)


def test_files_are_written_with_what_typesets_them(tmp_path: Path):
    sheet = draw_sheet(6, [4], points=11)
    files = write_exam(sheet, tmp_path / "new")
    assert [path.name for path in files] == ["sheet.md", "sheet.html", "key.md", "key.html"]
    assert files[0].read_text() == sheet_markdown(sheet) and "$" not in files[1].read_text().split("<body>")[1]
    assert (tmp_path / "new" / "mathjax" / "tex-chtml.js").is_file()
    assert list((tmp_path / "new" / "mathjax").rglob("*.woff"))
    page = files[1].read_text()
    assert "6" not in page.split("<title>")[1].split("</title>")[0] and "seed" not in page and str(tmp_path) not in page


def test_page_leaves_room_beside_each_question_and_keeps_both_together():
    sheet = draw_sheet(6, [4], points=11)
    page = as_html(sheet_markdown(sheet), "t")
    parts = page.split("<section>")[1:]
    assert len(parts) == len(sheet.questions) and all('class="space" style="height: ' in part for part in parts)
    assert "section:has(.space), table, .formula { break-inside: avoid }" in page and "<!--" not in page
    assert "<section>" in (key := as_html(key_markdown(sheet), "t")) and 'class="space"' not in key


def test_versions_ask_the_same_with_other_numbers_in_another_order():
    plain, a, b = (draw_sheet(9, [4, 5, 8], 40, version=letter) for letter in ("", "A", "B"))
    assert {entry.question.id for entry in a.questions} == {entry.question.id for entry in b.questions}
    assert {entry.question.id for entry in a.questions} == {entry.question.id for entry in plain.questions}
    assert [entry.question.id for entry in a.questions] != [entry.question.id for entry in b.questions]
    texts = [{entry.question.id: entry.instance.text for entry in sheet.questions} for sheet in (plain, a, b)]
    assert sum(texts[1][name] != texts[2][name] for name in texts[0]) > len(texts[0]) / 2
    assert "version A" in sheet_markdown(a) and "version B" in key_markdown(b)
    result = call("--seed", 9, "--versions", "A,B", "--points", 20)
    assert result.exit_code == 0 and result.output.count("# Exam: transformers · version ") == 2
    assert "give letters such as A,B" in call("--seed", 9, "--versions", "A,../B").output
    assert "give each letter once" in call("--seed", 9, "--versions", "A,A").output


def test_questions_are_included_and_left_out():
    sheet = draw_sheet(3, [5], 21, include=["04/weights"], exclude=["05/shapes"])
    ids = [entry.question.id for entry in sheet.questions]
    assert "04/weights" in ids and "05/shapes" not in ids and sheet.points == 21 and sheet.chapters == (4, 5)
    worth = sheet.questions[0].question.points
    assert [entry.question.id for entry in draw_sheet(3, [5], worth, include=["04/weights"]).questions] == [
        "04/weights"
    ]
    for words, says in (
        ({"include": ["04/nothing"]}, "there is no question 04/nothing"),
        ({"include": ["04/weights"], "exclude": ["04/weights"]}, "both included and excluded"),
        ({"include": ["04/weights"], "points": worth - 1}, f"have {worth} points"),
        ({"include": ["04/weights"], "points": 999}, f"the number of points is 999: give {worth} to"),
    ):
        with pytest.raises(ExamError, match=says):
            draw_sheet(3, [5], **words)


def test_list_has_every_question():
    lines = call("--list").output.splitlines()
    assert len(lines) == len(QUESTIONS) and all(
        question.id in line for question, line in zip(QUESTIONS, lines, strict=True)
    )


def test_edited_sheet_becomes_a_page_again(tmp_path: Path):
    edited = tmp_path / "sheet.md"
    edited.write_text("# Midterm\n\n## 1. (5 points)\n\nWhat is $a<b$?\n\n<!-- space: 7.5 cm -->\n\n## 2.\n\nWhy?\n")
    page = write_page(edited, tmp_path / "out").read_text()
    assert "<title>Midterm</title>" in page and 'style="height: 7.5cm"' in page and page.count("<section>") == 2
    assert r"\(a&lt;b\)" in page


@pytest.mark.slow
@pytest.mark.browser
def test_printed_sheet_has_no_seed_and_no_path_and_every_question_on_one_page(tmp_path: Path):
    pypdf = pytest.importorskip("pypdf")
    # In a process of its own: another test's browser may hold this one's event loop.
    words = ["exam", "--seed", "20261", "--chapters", "4-5", "--points", "12", "--out", str(tmp_path / "exam")]
    result = subprocess.run(
        [sys.executable, "-m", "softlookup_command", *words], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr[-2000:]
    if "note: no PDF" in result.stdout:
        pytest.skip("no Chromium here")
    pages = [page.extract_text() for page in pypdf.PdfReader(tmp_path / "exam" / "sheet.pdf").pages]
    text = " ".join(pages)
    assert "20261" not in text and "file:" not in text and str(tmp_path) not in text
    assert f"1 / {len(pages)}" in pages[0] and "Number: ___" in pages[0]


@pytest.mark.slow
def test_exam_of_a_course_keeps_to_its_chapters_and_tasks(tmp_path):
    from softlookup_course.commands.exams import draw_sheets

    folder = tmp_path / "course"
    known = {
        question.id: {mistake.task for mistake in question.draw(0).expected} - {""}
        for question in QUESTIONS
        if question.chapter == 4
    }
    dropped = sorted(set.union(*known.values()) - {"04.head"})[0]
    about = {question_id for question_id, tasks in known.items() if dropped in tasks}
    made = CliRunner().invoke(main, ["release", "04_one_head", "--course", str(folder), "--drop", dropped])
    assert made.exit_code == 0 and about, made.output
    how = {"route": None, "points": 10, "include": (), "exclude": (), "versions": "", "folder": folder}
    for seed in range(12):
        sheet = draw_sheets(seed, chapters=None, **how)[0]
        assert sheet.chapters == (4,) and not about & {entry.question.id for entry in sheet.questions}
    with pytest.raises(ExamError, match="none of these chapters"):
        draw_sheets(1, chapters="5-8", **how)
