"""Which pages run again after which change, in a book of two pages with a library of two modules."""

import pytest
from small_book import ONE, SmallBook

pytestmark = pytest.mark.slow  # each builds several times; test_page_needs.py holds the rules without a build


@pytest.fixture
def book(tmp_path):
    made = SmallBook(tmp_path)
    assert made.build() == ["first", "second"]
    assert "[11, 111]" in made.shows("first") and "22" in made.shows("second")
    return made


def test_page_runs_after_what_it_used_has_changed_and_not_after_anything_else(book):
    assert book.build() == []
    book.write("lib/tinylib/one.py", "number = 12\n")
    assert book.build() == ["first"] and "[12, 111]" in book.shows("first")
    book.write("book/measured/one.json", "112\n")
    assert book.build() == ["first"] and "[12, 112]" in book.shows("first")
    book.write("lib/tinylib/three.py", "number = 33\n")
    book.write("book/measured/two.json", "1\n")
    assert book.build() == []
    book.write("lib/tinylib/__init__.py", "version = 2\n")
    assert book.build() == ["first", "second"]


def test_page_with_other_words_is_written_but_does_not_run_and_one_with_other_cells_runs_alone(book):
    book.page("first", ONE, title="Another heading")
    assert book.build() == []
    assert "Another heading" in (book.root / "_build/html/book/first.html").read_text()
    book.page("second", "from tinylib.two import number\nnumber + 1")
    assert book.build() == ["second"] and "23" in book.shows("second")


def test_page_whose_module_is_gone_fails_instead_of_showing_what_it_once_said(book):
    (book.root / "lib" / "tinylib" / "two.py").unlink()
    book.build(fails=True)
    book.write("lib/tinylib/two.py", "number = 24\n")
    assert book.build() == ["second"] and "24" in book.shows("second")


def test_page_shows_new_numbers_after_a_build_that_ran_it_and_was_then_stopped(book):
    book.write("lib/tinylib/two.py", "number = 23\n")
    stops = "def setup(app):\n    app.connect('env-updated', lambda *_: exit('stopped'))\n"
    conf = book.root / "book" / "_ext" / "conf.py"
    sound = conf.read_text()
    conf.write_text(sound + stops)
    book.build(fails=True)
    conf.write_text(sound)
    assert book.build() == []
    assert "23" in book.shows("second") and "22" not in book.shows("second")
