"""Chapters carry the number of their file in the sidebar, in titles and in links; exercises carry no second one."""

import importlib
import re
import sys
from types import SimpleNamespace

import pytest
from built_book import HTML, ROOT, need_book
from docutils import nodes
from docutils.utils import new_document

sys.path.insert(0, str(ROOT / "book" / "_ext"))
chapter_numbers = importlib.import_module("chapter_numbers")

PAGES = {"book/04_one_head", "book/04_one_head_more", "book/index", "exercises/04_one_head/04_one_head"}


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("book/04_one_head", "4. One head"),
        ("book/04_one_head_more", "4a. One head"),
        ("book/index", "One head"),
        ("exercises/04_one_head/04_one_head", "One head"),
    ],
)
def test_titles_of_chapters_alone_begin_with_the_files_number(page, title):
    document = new_document("page")
    document += nodes.section("", nodes.title("", "One head"), ids=["one-head"])
    env = SimpleNamespace(docname=page, found_docs=PAGES)
    document.settings.env = env
    chapter_numbers.NumberChapter(document).apply()
    assert document[0][0].astext() == title and document[0]["ids"] == ["one-head"]


def squeezed(html):
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


@pytest.mark.book
def test_numbers_in_the_built_sidebar_are_those_of_the_files():
    need_book()
    html = (HTML / "book/index.html").read_text(encoding="utf-8")
    sidebar = re.search(r'<nav class="bd-links.*?</nav>', html, re.S)[0]
    entries = re.findall(r'<a class="[^"]*reference internal" href="([^"]+)">(.*?)</a>', sidebar, re.S)
    chapters = {href: squeezed(name) for href, name in entries if re.match(r"\d\d_", href)}
    assert len(chapters) == len(list((ROOT / "book").glob("[0-9][0-9]_*.md")))
    for href, name in chapters.items():
        assert re.fullmatch(rf"{int(href[:2])}[a-z]?\. \D.*", name), (href, name)
    others = [squeezed(name) for href, name in entries if not re.match(r"\d\d_", href)]
    assert "Exercises" in others and not any(re.match(r"\d+[a-z]?\. ", name) for name in others)
    tab = re.search(r"<title>(.*?)</title>", (HTML / "book/04_one_head.html").read_text(encoding="utf-8"), re.S)[1]
    assert tab.strip().startswith("4. One head of self-attention")
