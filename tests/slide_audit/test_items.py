"""Every audited statement of the slides is recomputed, and what comes out fits its printed verdict."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from softlookup_course.slide_audit import MODULES, VERDICTS, Item, items, table
from softlookup_course.slide_audit.rows import make_item

ROOT = Path(__file__).resolve().parents[2]
AUDITED = json.loads((Path(__file__).parent / "audited.json").read_text("utf-8"))
ITEMS = items()
each_item = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)


@pytest.mark.one_in(8)
@each_item
def test_what_is_computed_fits_the_verdict(item):
    result = item.recompute()
    assert len(result.truth) > 20
    if item.kind == "cited":
        return
    if item.kind == "damage" and result.agrees is None:
        return
    assert result.agrees == (item.verdict == "correct"), result
    if item.verdict == "rounding":
        assert 0 < result.largest < 1.5, "off by more than one unit of the last place"


@each_item
def test_verdict_is_the_printed_one_or_says_why_not(item):
    assert 15 <= len(item.states) <= 400 and len(item.slide) > 5
    assert item.tell or item.kind == "cited"
    assert item.verdict == AUDITED[item.id]["verdict"] or item.audit
    assert item.lecture == AUDITED[item.id]["lecture"]
    if AUDITED[item.id].get("extraction_suspect"):
        assert item.kind == "damage" or item.audit


@each_item
def test_section_exists_and_sources_are_listed(item):
    page, anchor = item.section.split("#")
    assert anchor in words_of(f"{page}.md", r"^\((.+)\)=$"), item.section
    assert {*item.source} <= words_of("references.bib", r"^@\w+\{(.+?),")


@cache
def words_of(file, pattern):
    return {*re.findall(pattern, (ROOT / "book" / file).read_text("utf-8"), re.MULTILINE)}


def test_items_on_the_glue_table_say_which_column_of_mnli_they_take():
    truths = {item.id: item.recompute().truth for item in ITEMS if item.id in ("E120", "E124")}
    assert "MNLI mismatched -3.6" in truths["E120"] and "the other is -4.4" in truths["E120"]
    assert "MNLI matched" in truths["E124"] and "at -3.7" in truths["E124"]


def test_slips_of_writing_and_damaged_text_say_nothing_about_a_subject():
    kinds = {item.kind: item.about_subject for item in ITEMS}
    assert kinds == {"computed": True, "cited": True, "draw": True, "writing": False, "damage": False}
    assert not any(re.search("spelled", item.states) and item.about_subject for item in ITEMS)


def test_no_statement_prints_the_rounding_of_a_computer():
    assert not [
        item.id for item in ITEMS if re.search(r"e\+00|(?:within|most|up to|to) \de-1\d", item.recompute().truth)
    ]


def test_an_item_with_an_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match="'odd' is none of"):
        Item("E000", "004", "a slide", "page#label", "something", "odd", lambda: None)
    with pytest.raises(ValueError, match="names none"):
        Item("E000", "004", "a slide", "page#label", "something", "wrong", lambda: None, kind="cited")


ROW = {
    "lecture": "004",
    "slide": "a slide",
    "section": "page#label",
    "states": "something",
    "verdict": "wrong",
    "steps": "twice = 2 * X",
    "agrees": "twice.sum() == 0",
    "truth": "Twice that is {twice:.1f}, {len(twice)} numbers.",
}
MODULE = {"X": np.array([1.0, 2.5]), "given": lambda: {"twice": np.zeros(3)}}


def without(*words, **others):
    return {key: value for key, value in ROW.items() if key not in words} | others


def test_a_row_computes_what_its_sentence_says():
    result = make_item("E000", ROW, MODULE).recompute()
    assert (result.truth, result.agrees) == ("Twice that is 2.0, 5.0, 2 numbers.", False)
    result = make_item("E000", without("steps", work="given"), MODULE).recompute()
    assert (result.truth, result.agrees) == ("Twice that is 0.0, 0.0, 0.0, 3 numbers.", True)
    row = without("agrees", printed="[1, 3.5]", true="X", places=1, truth="Off is {X[off][0]}.")
    assert make_item("E000", row, MODULE).recompute().truth == "1 of 2 numbers is off, by 1.0. Off is 2.5."


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (without("states"), "E000: 'states' is missing"),
        (without("agrees"), "E000: 'agrees' is missing"),
        (without(printed="X"), "E000: 'true' is missing"),
        (without(agree="True"), "E000: 'agree' is no word of an item"),
        (without(work="taken"), "E000: its module has no function 'taken'"),
        (without(verdict="odd"), "E000: 'odd' is none of"),
        (without(steps="twice = doubled(X)"), "E000: no operation, table or step is called 'doubled'"),
        (without(steps="assert X.sum() < 0"), r"E000: 'assert X\.sum\(\) < 0' fails"),
        (without(steps="import os"), "E000: 'import os' is neither an assignment nor an assertion"),
        (without(steps="twice = 2 *"), "E000: .*invalid syntax"),
        (without(printed="X", true="X[:1]"), r"E000: the printed table has the shape \(2,\), the true one \(1,\)"),
    ],
)
def test_a_row_that_cannot_be_computed_is_refused_by_its_name(row, message):
    with pytest.raises(ValueError, match=message):
        make_item("E000", row, MODULE).recompute()


def test_every_file_of_rows_is_read():
    folder = ROOT / "lib" / "course" / "softlookup_course" / "slide_audit"
    assert {path.stem for path in folder.glob("*.toml")} == set(MODULES)


def test_tables_of_the_slides_can_be_read_where_the_reference_is_left_out():
    names = "first_head, identity_head, masks_004, positions_001, uniform_head"
    code = f"import sys; sys.modules['softlookup.reference'] = None; from softlookup_course.slide_audit import {names}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_table_tells_rounding_from_a_slip():
    assert table([0.33], [1 / 3]).agrees
    assert table([0.34], [1 / 3]).largest == pytest.approx(1)
    assert table([0.43], [1 / 3]).largest == pytest.approx(10)
    with pytest.raises(ValueError, match=r"shape \(1,\), the true one \(2,\)"):
        table([1.0], [1.0, 2.0])


def test_verdicts_are_those_of_the_audit():
    assert {row["verdict"] for row in AUDITED.values()} == set(VERDICTS)
