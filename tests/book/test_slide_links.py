"""Sections and statements of the slides lead to each other, both ways, without a word typed on a chapter's page."""

import re
from types import SimpleNamespace

import pytest
import slide_links
from built_book import HTML, ROOT, need_book
from docutils import nodes
from docutils.utils import new_document

from softlookup_course.slide_audit import items
from softlookup_course.slide_audit.listing import as_html, headings_of, sections

ITEMS = items()
WHERE = {item.section for item in ITEMS}
COUNTS = {(page, label): n for page, labels in sections(ITEMS).items() for label, n in labels.items()}
APP = SimpleNamespace(
    builder=SimpleNamespace(format="html", get_relative_uri=lambda here, there: "list.html"),
    env=SimpleNamespace(found_docs={"book/14_slides_recomputed"}),
)


def page_with(*labels):
    document = new_document("page")
    for label in labels:
        document += nodes.section("", nodes.title("", "A heading"), nodes.paragraph("", "Words."), ids=["auto", label])
    return document


def test_every_statement_is_counted_in_its_section():
    assert sum(COUNTS.values()) == len(ITEMS)
    assert all(re.fullmatch(r"\d\d_\w+", page) and re.fullmatch(r"[a-z0-9-]+", label) for page, label in COUNTS)


def test_the_line_stands_before_subsections_and_in_the_box_where_there_is_one():
    plain = nodes.section("", nodes.title("", "One"), nodes.paragraph("", "Words."), nodes.section(""))
    slide_links.append(plain, "list.html", "label", 2)
    assert plain[2].astext() == "On the slides: 2 statements recomputed"
    body = nodes.container("", nodes.paragraph("", "A slide has 3."))
    box = nodes.container("", nodes.rubric("", slide_links.TITLE), body)
    boxed = nodes.section("", nodes.title("", "One"), box, nodes.paragraph("", "More."))
    slide_links.append(boxed, "list.html", "label", 1)
    assert body[-1].astext() == "1 statement recomputed" and len(boxed) == 3


def test_a_box_about_slides_goes_behind_the_sections_own_words_and_before_its_links():
    box = nodes.container("", nodes.rubric("", slide_links.TITLE), nodes.paragraph("", "A slide has 3."))
    line = nodes.paragraph("", "In the library: x", classes=["section-line"])
    inner = nodes.section("", nodes.title("", slide_links.TITLE), nodes.paragraph("", "No box."), ids=["inner"])
    words = nodes.paragraph("", "Words.")
    outer = nodes.section("", nodes.title("", "One"), box, words, line, nodes.target(), inner, ids=["outer"])
    document = new_document("page")
    document += outer
    slide_links.boxes_to_end(document)
    assert outer.children[1:4] == [words, box, line] and box.parent is outer
    assert outer[-1] is inner and isinstance(outer[-2], nodes.target)


def test_a_statement_whose_section_is_gone_is_a_warning(monkeypatch):
    warnings = []
    monkeypatch.setattr(slide_links.log, "warning", lambda text, *more, **_: warnings.append(text % more))
    page = next(page for page, _ in COUNTS)
    slide_links.add_lines(APP, page_with("another"), f"book/{page}")
    assert (
        len(warnings) == sum(other_page == page for other_page, _ in COUNTS)
        and "no section of this page" in warnings[0]
    )


def test_the_list_knows_the_section_of_each_statement():
    some = ITEMS[:5]
    lectures = {key: key for key in ("000", "001", "002", "003", "004")}
    headings = {item.section: f"Why <{number}>?" for number, item in enumerate(some)}
    html = as_html(some, lectures, {item.id: item.recompute() for item in some}, headings)
    for item in some:
        page, label = item.section.split("#")
        assert re.search(rf'<article id="{item.id}" [^>]*data-section="{label}"', html)
        heading = headings[item.section].replace("<", "&lt;").replace(">", "&gt;")
        assert f'<a href="{page}.html#{label}">{heading}</a>' in html


def test_the_list_has_a_chip_for_each_verdict_lecture_and_chapter_and_all_are_pressed_first():
    lectures = {key: key for key in ("000", "001", "002", "003", "004")}
    some = ITEMS[::4]
    html = as_html(some, lectures, {item.id: item.recompute() for item in some}, dict.fromkeys(WHERE, "A heading"))
    groups = re.findall(r'<div class="pick" role="group" aria-label="(\w+)" data-pick="(\w+)">(.*?)</div>', html)
    assert [(name, key) for name, key, _ in groups] == [
        ("Verdict", "verdict"),
        ("Lecture", "lecture"),
        ("Chapter", "chapter"),
    ]
    for _, key, chips in groups:
        states = re.findall(r'aria-pressed="(\w+)" data-value="(\w*)"', chips)
        assert states[0] == ("true", "") and {state for state, _ in states[1:]} == {"false"}
        assert {value for _, value in states[1:]} == set(re.findall(rf'<article [^>]*data-{key}="(\w+)"', html))


def test_headings_are_read_from_the_pages_of_all_statements():
    headings = headings_of(ITEMS, ROOT / "book")
    assert set(headings) == WHERE and all(len(heading) > 3 and "$" not in heading for heading in headings.values())


def test_a_heading_is_found_for_labels_of_all_kinds_and_loses_its_markup(tmp_path):
    text = "# Page\n\n(a)=\n## Why $\\sqrt{H}$, and `x`?\n\n```python\n# (no)=\n```\n\n(b)=\nA paragraph.\n\n(c)=\n"
    (tmp_path / "page.md").write_text(text + "### The $T \\times S$ {term}`scores <score>`\n")
    expected = {"a": "Why √H, and x?", "b": "Why √H, and x?", "c": "The T × S scores"}
    for label, heading in expected.items():
        item = SimpleNamespace(section=f"page#{label}")
        assert headings_of([item], tmp_path) == {item.section: heading}
    with pytest.raises(LookupError, match=r"page\.md has no label no"):
        headings_of([SimpleNamespace(section="page#no")], tmp_path)


@pytest.mark.book
@pytest.mark.parametrize("page", sorted({page for page, _ in COUNTS}))
def test_built_sections_link_back_to_the_list(page):
    need_book()
    html = (HTML / "book" / f"{page}.html").read_text(encoding="utf-8")
    links = re.findall(
        r'class="[^"]*on-the-slides[^"]*">(?:On the slides: )?<a [^>]*href="([^"]+)">(\d+) statement', html
    )
    counts = {re.sub(r".*section=([^#]+)#.*", r"\1", href): int(count) for href, count in links}
    assert counts == {label: count for (other_page, label), count in COUNTS.items() if other_page == page}
    assert all(href.startswith("14_slides_recomputed.html?section=") for href, _ in links)
    for label in counts:
        under = html[html.index(f'id="{label}"') :]
        before = under[: under.index(f"section={label}#")]
        assert len(re.findall(r"<h[2-4]\b", before)) == 1, "the line stands in its own section"


@pytest.mark.book
def test_the_built_list_has_every_statement_and_the_place_that_lines_link_to():
    need_book()
    html = (HTML / "book" / "14_slides_recomputed.html").read_text(encoding="utf-8")
    assert 'id="slides-all"' in html
    assert all(f'<article id="{item.id}"' in html for item in ITEMS)
