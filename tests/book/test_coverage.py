"""Every row of the lectures that a chapter covers has its place, and what the table names is really there."""

import importlib
import re
from html import unescape

import pytest
import yaml
from built_book import HTML, ROOT, need_book
from coverage_table import drawn, whole_rows

import softlookup_judge as checking

# How many rows of the list (the lectures', and in chapters 15 to 17 what came after them) each chapter owes a place.
ROWS_OF = dict(enumerate((1, 7, 6, 3, 11, 7, 10, 6, 8, 9, 4, 7, 6, 10, 2, 20, 14, 12, 13, 14, 12))) | {90: 1}
ROWS = [f"{chapter}.{row}" for chapter, rows in ROWS_OF.items() for row in range(1, rows + 1)]
TABLE = ROOT / "book" / "coverage.yml"
NEEDED, OPTIONAL = {"title", "anchor"}, {"library", "tasks", "figures", "widgets"}


@pytest.fixture(scope="module")
def table():
    return whole_rows()


def find(dotted):
    """Import a dotted name: as much of it as is a module, the rest as attributes."""
    module, *rest = dotted.split(".")
    obj = importlib.import_module(module)
    for name in rest:
        module = f"{module}.{name}"
        obj = getattr(obj, name) if hasattr(obj, name) else importlib.import_module(module)
    return obj


def test_every_row_is_there_with_its_fields(table):
    listed = {row: set(entry) for row, entry in yaml.safe_load(TABLE.read_text(encoding="utf-8")).items()}
    del listed["sections"]
    assert sorted(listed) == sorted(table) == sorted(ROWS)
    assert {row for row, fields in listed.items() if not NEEDED <= fields <= NEEDED | OPTIONAL} == set()


def test_every_name_of_the_library_can_be_imported(table):
    for row, entry in table.items():
        names = [*entry["library"], *entry["figures"], *entry["widgets"]]
        assert names or entry["tasks"], f"row {row} names nothing of the library, and no task"
        for name in names:
            assert name.startswith(("softlookup", "benchmarks.")) and callable(find(name)), f"row {row}: {name}"


def test_every_task_of_the_table_exists_and_every_task_is_in_it(table):
    known = {task.id for task in checking.tasks()}
    named = {task for entry in table.values() for task in entry["tasks"]}
    assert known and known == named


@pytest.mark.parametrize("chapter", [chapter for chapter in ROWS_OF if chapter < 90])
def test_what_the_table_lists_is_drawn_by_the_chapter(table, chapter):
    pages = (ROOT / "book").glob(f"{chapter:02}_*.md")
    pictures = {name for page in pages for _, name, _ in drawn(page.read_text(encoding="utf-8"))}
    rows = [row for number, row in table.items() if int(number.split(".")[0]) == chapter]
    assert {name for row in rows for field in ("figures", "widgets") for name in row[field]} == pictures


def test_task_and_figure_that_no_row_lists_belong_to_the_row_before_them(monkeypatch):
    rows = {
        "4.1": {"title": "", "anchor": "04_one_head.html#one-head-without"},
        "4.2": {"title": "", "anchor": "04_one_head.html#one-head-scale", "tasks": ["04.head"]},
    }
    whole = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    others = {number: row for number, row in whole.items() if number[0] not in "4s"}
    monkeypatch.setattr("coverage_table.rows", lambda: others | rows)
    table = whole_rows()
    assert "04.column" in table["4.1"]["tasks"] and "04.scale" in table["4.2"]["tasks"]
    assert "04.head" in table["4.2"]["tasks"] and "04.head" not in table["4.1"]["tasks"]


@pytest.mark.book
def test_page_shows_every_row_with_its_title_and_its_tasks(table):
    need_book()
    text = re.sub(r"<[^>]+>", "", (HTML / "book" / "coverage.html").read_text(encoding="utf-8"))
    text = unescape(text).replace("’", "'")
    for row, entry in table.items():
        assert f"{row} {entry['title']}" in text, row
        assert f"Tasks: {', '.join(entry['tasks'])}" in text if entry["tasks"] else True, row
