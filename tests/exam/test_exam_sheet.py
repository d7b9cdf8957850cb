"""Sheets and keys: the same for the same seed, worth what was asked for, and without answers on the sheet."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from softlookup.cli import main
from softlookup.exam import ExamError, draw_sheet, key_markdown, parse_chapters, sheet_markdown, write_exam
from softlookup.exam.printed import as_html
from softlookup.exam.written import apart


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
    assert sheet.points == points == sum(one.question.points for one in sheet.questions)
    assert [one.number for one in sheet.questions] == list(range(1, len(sheet.questions) + 1))
    assert len({one.question.id for one in sheet.questions}) == len(sheet.questions)


@pytest.mark.parametrize("seed", range(8))
def test_every_chapter_is_asked_for_where_points_are_enough(seed: int):
    assert {one.question.chapter for one in draw_sheet(seed, points=70).questions} == {*range(1, 14), 15, 16, 17}
    assert {one.question.chapter for one in draw_sheet(seed, [4, 8], points=20).questions} == {4, 8}


def test_question_has_the_same_numbers_whatever_else_is_on_the_sheet():
    long, short = draw_sheet(3, points=200), draw_sheet(3, [4], points=12)
    texts = {one.question.id: one.drawn.text for one in long.questions}
    shared = [one for one in short.questions if one.question.id in texts]
    assert shared and all(one.drawn.text == texts[one.question.id] for one in shared)


def test_key_has_what_the_sheet_has_not():
    sheet = draw_sheet(5)
    asked, key = sheet_markdown(sheet), key_markdown(sheet)
    assert asked.count("\n## ") == key.count("\n## ") == key.count("**Answer.**") == key.count("**Marks.**")
    assert key.count("**Marks.**") == len(sheet.questions)
    for word in ("Answer", "Marks", "Mistakes", "points: "):
        assert word not in asked
    for one in sheet.questions:
        assert apart(one.drawn.text) in asked and apart(f"**Answer.** {one.drawn.answer}") in key
        assert one.drawn.answer not in asked and apart(one.drawn.answer) not in asked
    assert (
        f"{sheet.points} points" in asked
        and f"seed {sheet.seed}" in key
        and "seed" not in asked
        and f"{sheet.minutes} minutes" in asked
    )


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"seed": -1}, "the seed is -1: give a whole number"),
        ({"seed": 1, "chapters": [0, 3]}, "no questions on chapter 0: choose from chapters 1, 2, 3"),
        ({"seed": 1, "chapters": []}, "no questions on chapter"),
        ({"seed": 1, "points": 1}, "the number of points is 1: give 2 to"),
        ({"seed": 1, "points": 9999}, "the number of points is 9999: give 2 to"),
        ({"seed": 1, "chapters": [4], "points": 5}, "add up to 5 points: give ."),
    ],
)
def test_sheet_that_cannot_be_had_is_refused(asked: dict, says: str):
    with pytest.raises(ExamError, match=says):
        draw_sheet(**asked)


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
    from softlookup.curriculum import ROUTES

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
    assert [one.name for one in files] == [f"exam-6-{n}" for n in ("sheet.md", "sheet.html", "key.md", "key.html")]
    assert files[0].read_text() == sheet_markdown(sheet) and "$" not in files[1].read_text().split("<body>")[1]
    assert (tmp_path / "new" / "mathjax" / "tex-chtml.js").is_file()
    assert list((tmp_path / "new" / "mathjax").rglob("*.woff"))
