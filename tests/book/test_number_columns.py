"""Columns of numbers stand to the right, and no other."""

import importlib
import sys

import pytest
from built_book import ROOT
from docutils import nodes

sys.path.insert(0, str(ROOT / "book" / "_ext"))
number_columns = importlib.import_module("number_columns")


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["1", "22"], True),
        (["1,000", "−0.5", "≈ 12 %"], True),
        (["2.5 MB", "–", "300 kB"], True),
        (["1", "none"], False),
        (["4 heads", "8 heads"], False),
        (["", "-"], False),
        (["(2, 3)"], False),
    ],
)
def test_column_is_of_numbers_when_all_its_cells_are_or_are_empty(texts, right):
    assert number_columns.columns([["name", text] for text in texts]) == ({1} if right else set())


def test_first_column_names_the_rows_and_stays():
    assert number_columns.columns([["1", "10"], ["2", "20"]]) == {1}
    assert number_columns.columns([]) == set()


def table(*rows):
    def row(texts):
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))

    head, *body = map(row, rows)
    group = nodes.tgroup("", nodes.thead("", head), nodes.tbody("", *body), cols=len(rows[0]))
    return nodes.section("", nodes.table("", group))


def test_head_of_a_column_goes_with_its_numbers():
    tree = table(["what", "bytes", "why"], ["cache", "10", "it grows"], ["weights", "2,000", "they stay"])
    number_columns.align(None, tree, "page")
    marked = [entry.astext() for entry in tree.findall(nodes.entry) if "text-right" in entry["classes"]]
    assert marked == ["bytes", "10", "2,000"]
