"""A part of the chapters in a lecturer's own folder."""

import json
import re
from pathlib import Path

from softlookup_course.part import (
    chapters_of,
    contents,
    keep_to_notebook,
    left_out_sentence,
    schedule_page,
    write_pages,
)
from softlookup_course.part.contents import files

ROOT = Path(__file__).resolve().parents[2]


def test_contents_have_the_chosen_chapters_alone() -> None:
    pages = [*files(contents(ROOT, [2, 90]))]
    numbered = [page for page in pages if page.partition("/")[2][:2].isdigit()]
    assert {page.partition("/")[2].partition("/")[0] for page in numbered} == {
        "02_soft_lookup",
        "13_beyond_text_capstone",
        "90_capstone",
    }
    assert "book/schedule" in pages and "book/instructors" not in pages


def test_left_out_sentence_names_what_is_needed() -> None:
    assert left_out_sentence([5]) == "This course leaves out chapter 4 (One head), which chapter 5 needs."
    assert left_out_sentence(chapters_of(ROOT)) == ""


def test_schedule_page_leaves_out_dropped_tasks() -> None:
    assert "`02.mix`" in schedule_page(ROOT / "book", [2], 45)
    assert "`02.mix`" not in schedule_page(ROOT / "book", [2], 45, {"02.mix"})


def test_schedule_begins_a_chapter_with_a_session_and_says_what_each_takes() -> None:
    page = schedule_page(ROOT / "book", [4, 5, 6, 18], 90)
    first, second = page.split("## Session ")[1:3]
    assert "**One head**" in first and "**Many heads**" not in first and "**Many heads**" in second
    for session in page.split("## Session ")[1:]:
        stated = re.search(r"About (\d+) of 90 minutes: (\d+) for quest\D+(\d+) for the \D+(\d+) for tasks", session)
        assert stated
        whole, *parts = map(int, stated.groups())
        in_class = re.search(r"Tasks in class \((\d+) min\)", session)
        assert whole == sum(parts) <= 90 and parts[2] == int(in_class[1] if in_class else 0)


def test_write_pages_keeps_what_was_changed(tmp_path: Path) -> None:
    write_pages(ROOT, tmp_path, [2], "One", 75)
    page = tmp_path / "book" / "schedule.md"
    page.write_text("# Mine\n", encoding="utf-8")
    again = write_pages(ROOT, tmp_path, [2], "One", 50)
    assert again.kept == ["book/schedule.md"] and page.read_text(encoding="utf-8") == "# Mine\n"


def test_pages_leave_other_variants_to_the_notebook(tmp_path: Path) -> None:
    notebook = tmp_path / "exercises" / "04_one_head" / "04_one_head.ipynb"
    notebook.parent.mkdir(parents=True)
    cells = [{"source": ['check("04.mix", mix, variant=3)\n']}, {"source": ['check("04.head", one_head)']}]
    notebook.write_text(json.dumps({"cells": cells}))
    facts = tmp_path / "facts.js"
    record = {"tasks": ["04.mix", "04.head"], "not": {"04.scale": "why"}}
    facts.write_text(f"globalThis.softlookupFacts={json.dumps(record)};")
    assert keep_to_notebook(tmp_path, facts) == ["04.mix"]
    content = json.loads(facts.read_text().removeprefix("globalThis.softlookupFacts=").removesuffix(";"))
    assert content["tasks"] == ["04.head"] and set(content["not"]) == {"04.scale", "04.mix"}
