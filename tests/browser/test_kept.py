"""What pages keep in a reader's browser: each book for itself, and what earlier versions kept for all is taken over."""

import json
import shutil

import pytest
from book_browser import ROOT

from softlookup_course.browser import serving

pytestmark = pytest.mark.browser

PAGE = '<html lang="en" data-content_root="{root}"><title>A page</title><script src="{root}kept.js"></script></html>'
DEEP = "book/deep/page.html"


@pytest.fixture
def host(tmp_path):
    """Give the address of a host with two books, of two pages each."""
    for book in ("2026", "2027"):
        for page, root in (("page.html", "./"), (DEEP, "../../")):
            path = tmp_path / book / page
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(PAGE.format(root=root))
        shutil.copy(ROOT / "book" / "_static" / "kept.js", tmp_path / book)
    with serving(tmp_path) as address:
        yield address


def read_record(page, name="in-page"):
    return page.evaluate("name => softlookupKept.read(name)", name)


def test_kept_answers_are_those_of_one_book_on_all_its_pages(host, fresh):
    fresh.goto(f"{host}2026/page.html")
    fresh.evaluate("softlookupKept.write('in-page', {'04.mix': 'mine'})")
    fresh.goto(f"{host}2027/page.html")
    assert read_record(fresh) == {}
    fresh.evaluate("softlookupKept.write('in-page', {'04.mix': 'another'})")
    fresh.goto(f"{host}2026/{DEEP}")
    assert read_record(fresh) == {"04.mix": "mine"}


def test_kept_answers_of_earlier_versions_go_to_the_first_book_once(host, fresh):
    old = {"in-page": {"04.mix": "old"}, "quick": {"a.html": 1}, "read": {"a.html": 2}, "tasks": {"record": 3}}
    fresh.goto(f"{host}2026/page.html")
    fresh.evaluate("softlookupKept.write('quick', {'b.html': 4})")
    keys = {f"softlookup-{name}": json.dumps(record) for name, record in old.items()}
    fresh.evaluate("keys => Object.assign(localStorage, keys)", keys)
    fresh.goto(f"{host}2026/{DEEP}")
    records = {name: read_record(fresh, name) for name in old}
    assert records == old | {"quick": {"b.html": 4}}, "what a book has kept already stays"
    fresh.goto(f"{host}2027/page.html")
    assert [read_record(fresh, name) for name in old] == [{}] * 4
    assert fresh.evaluate("Object.keys(localStorage).every((key) => key.endsWith(' /2026/'))")


def test_kept_answers_last_until_the_page_is_left_where_nothing_is_stored(host, fresh):
    fresh.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})")
    fresh.goto(f"{host}2026/page.html")
    fresh.evaluate("softlookupKept.write('read', {'a.html': 1})")
    assert read_record(fresh, "read") == {"a.html": 1}
    fresh.reload()
    assert read_record(fresh, "read") == {}
