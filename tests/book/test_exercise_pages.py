"""A page for each notebook: made from it alone, complete, linked both ways, and light."""

import json
import re

import exercise_notebooks as notebooks
import exercise_pages as pages
import pytest
import yaml
from built_book import HTML, ROOT, need_book, page_at

from softlookup_judge import tasks

EVERY = list(notebooks.exercises(ROOT).values())
each = pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.name)
built = pytest.mark.book


@pytest.fixture(scope="module")
def chapters():
    """The chapter of each page of exercises."""
    return pages.chapters(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def notebook(*cells):
    made = [{"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)} for text in cells]
    return json.dumps({"cells": made})


TABLE = "| task | what you write | minutes | difficulty | points |\n|---|---|---|---|---|\n"
ROW = "| 99.one | First | 4 | ●○○ | 2 |"
TASK = "### Task 99.one · First\n\nabout · [read in the book](../../_build/html/book/99_page.html#page-one)\n\nDo it."


def test_table_says_what_the_tasks_descriptions_say():
    assert len(EVERY) == 22
    for exercise in EVERY:
        rows = {row.id: row for row in exercise.rows}
        described = {task.id: task for task in tasks(int(exercise.name[:2]))}
        assert {name for name in rows if "." in name} == set(described)
        for name, task in described.items():
            row = rows[name]
            assert (row.title, row.minutes, row.points) == (task.title, task.minutes, task.points)
            assert f"{row.page}.html#{row.label}" == task.book_url.removeprefix("book/")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([TABLE + ROW, TASK], "99_x has no heading"),
        (["# 9 · X\n\n" + TABLE + ROW, TASK.replace("99.one", "99.two")], "the table has 99.one, which no heading"),
        (["# 9 · X\n\n" + TABLE, TASK], "its table of tasks lacks 99.one"),
        (["# 9 · X\n\n" + TABLE + ROW, TASK.partition("[")[0]], "nothing to read is named for 99.one"),
        (["# X\n\n" + TABLE + ROW, TASK], "the heading 'X' is not NUMBER · TITLE"),
    ],
)
def test_notebook_that_was_not_made_by_the_builder_is_refused(cells, message):
    with pytest.raises(notebooks.BadExercise, match=message):
        notebooks.read_exercise("99_x", notebook(*cells), {})


def test_label_below_a_heading_is_shown_as_that_heading():
    page = "(page-top)=\n## What?\n\nWords.\n\n(page-one)=\n**Here** it is.\n"
    exercise = notebooks.read_exercise("99_x", notebook("# 9 · X\n\n" + TABLE + ROW, TASK), {"99_page": page})
    assert exercise.rows[0].under == "What?"
    assert notebooks.untitled(page, "page-top") == notebooks.untitled(page, "elsewhere") == ""
    assert "{ref}`What? <page-one>`" in notebooks.page_text(exercise, notebook("# 9 · X\n\n" + TABLE + ROW, TASK))


@built
@each
def test_page_shows_every_task_with_its_empty_cell_and_its_check(exercise):
    need_book()
    html = (HTML / f"{exercise.docname}.html").read_text(encoding="utf-8")
    cells = json.loads((ROOT / exercise.path).read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    shown = [words(block) for block in re.findall(r"<pre>(.*?)</pre>", html, re.S)]
    squeezed = {re.sub(r"\s+", "", text.replace("&quot;", '"').replace("&#39;", "'")) for text in shown}
    for code in codes:
        expected = re.sub(r"\s+", "", code).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert expected in squeezed, code
    assert html.count("tag_answer-cell") == sum("." in row.id for row in exercise.rows)
    assert html.count("tag_check-cell") == sum("." in row.id for row in exercise.rows)
    article = html.partition("<article")[2].partition("</article>")[0]
    assert "cell_output" not in article
    assert len(re.findall(r"<h1[ >]", article)) == 1
    ids = page_at(HTML / f"{exercise.docname}.html").ids
    assert {row.anchor for row in exercise.rows} <= set(ids)


@built
@each
def test_page_says_how_much_there_is_to_do_and_brings_the_notebook(exercise):
    need_book()
    path = HTML / f"{exercise.docname}.html"
    facts = words(path.read_text(encoding="utf-8").partition('class="exr-facts"')[2].partition("</p>")[0])
    assert f"about {exercise.minutes} minutes" in facts and f"{exercise.points:g} point" in facts
    files = [path.parent / link for link in page_at(path).links if link.endswith(".ipynb") and "_downloads" in link]
    assert files and files[0].read_bytes() == (ROOT / exercise.path).read_bytes()


@built
@each
def test_page_and_its_chapter_lead_to_each_other(exercise, chapters):
    need_book()
    above = chapters[exercise.docname]
    leads = {
        source: {(HTML / f"{source}.html").parent.joinpath(link.partition("#")[0]).resolve() for link in page.links}
        for source, page in ((name, page_at(HTML / f"{name}.html")) for name in (exercise.docname, above))
    }
    assert (HTML / f"{above}.html").resolve() in leads[exercise.docname]
    assert (HTML / f"{exercise.docname}.html").resolve() in leads[above]


@built
def test_names_of_tasks_on_a_chapters_page_lead_to_the_tasks():
    need_book()
    links = page_at(HTML / "book" / "04_one_head.html").links
    for row in notebooks.exercises(ROOT)["exercises/04_one_head/04_one_head"].rows:
        assert f"../exercises/04_one_head/04_one_head.html#{row.anchor}" in links


@built
@each
def test_search_knows_every_task_by_its_title(exercise):
    need_book()
    text = (HTML / "_static" / "search" / "sections.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("globalThis.softlookupSections=").rstrip(";"))
    number = [address for address, *_ in index["pages"]].index(f"{exercise.docname}.html")
    titles = {title.replace("’", "'") for page, _, _, title, *_ in index["sections"] if page == number}
    for row in exercise.rows:
        assert "." not in row.id or f"Task {row.id} · {row.title}" in titles


@built
def test_table_of_all_exercises_has_every_notebook_and_the_sums():
    need_book()
    html = (HTML / "book" / "exercises.html").read_text(encoding="utf-8")
    rows = [re.findall(r"<td.*?</td>", row, re.S) for row in re.findall(r"<tr.*?</tr>", html, re.S)]
    shown = [[words(cell) for cell in row] for row in rows if row]
    expected = [
        [exercise.title, str(len(exercise.rows)), str(exercise.minutes), f"{exercise.points:g}"] for exercise in EVERY
    ]
    assert shown[:-1] == expected
    assert shown[-1][1:] == [f"{sum(float(row[at]) for row in expected):g}" for at in (1, 2, 3)]
