"""Every row of the lectures that a chapter covers has its place, and what the table names is really there."""

import importlib

import pytest
import yaml
from built_book import HTML, ROOT, Page, need_book

from softlookup import checks
from softlookup.checks.registry import CHAPTERS

# How many rows of the lectures' list each chapter owes a place.
ROWS_OF = {0: 1, 1: 7, 2: 6, 3: 3, 4: 11, 5: 7, 6: 10, 7: 6, 8: 8, 9: 9, 10: 4, 11: 7, 12: 6, 13: 10, 14: 2, 90: 1}
ROWS = [f"{chapter}.{row}" for chapter in CHAPTERS for row in range(1, ROWS_OF[chapter] + 1)]
TABLE = ROOT / "book" / "coverage.yml"
FIELDS = {"title", "anchor", "library", "tasks", "figures", "widgets"}


@pytest.fixture(scope="module")
def table():
    return yaml.safe_load(TABLE.read_text(encoding="utf-8"))


def find(dotted):
    """Import a dotted name: as much of it as is a module, the rest as attributes."""
    module, *rest = dotted.split(".")
    found = importlib.import_module(module)
    for name in rest:
        module = f"{module}.{name}"
        found = getattr(found, name) if hasattr(found, name) else importlib.import_module(module)
    return found


def test_every_row_is_there_with_every_field(table):
    assert [row for row in ROWS if row not in table] == []
    assert {row: FIELDS ^ set(entry) for row, entry in table.items() if set(entry) != FIELDS} == {}


def test_every_name_of_the_library_can_be_imported(table):
    for row, entry in table.items():
        names = [*entry["library"], *entry["figures"], *entry["widgets"]]
        assert names, f"row {row} names nothing of the library"
        for name in names:
            assert name.startswith("softlookup.") and callable(find(name)), f"row {row}: {name}"


def test_every_chapter_with_tasks_has_rows(table):
    assert {int(row.split(".")[0]) for row in table} >= set(CHAPTERS)


def test_every_task_of_the_table_exists_and_every_task_is_in_it(table):
    known = {task.id for task in checks.tasks()}
    named = {task for entry in table.values() for task in entry["tasks"]}
    assert known and known == named


@pytest.mark.book
def test_every_anchor_stands_on_its_built_page(table):
    need_book()
    pages = {}
    for row, entry in table.items():
        name, _, anchor = entry["anchor"].partition("#")
        pages.setdefault(name, Page(HTML / "book" / name))
        assert anchor and anchor in pages[name].ids, f"row {row}: no #{anchor} on {name}"


@pytest.mark.book
def test_every_task_links_to_an_anchor_that_is_built():
    need_book()
    for task in checks.tasks():
        name, _, anchor = task.book_url.partition("#")
        assert anchor and anchor in Page(HTML / name).ids, f"{task.id}: no #{anchor} on {name}"
