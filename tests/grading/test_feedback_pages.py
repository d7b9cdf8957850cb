"""Feedback pages show formulas without a script, allow none, and are there even where they cannot be made in time."""

import nbformat
import pytest
from nbconvert import HTMLExporter
from traitlets.config import Config

from attacks.markup import PAYLOADS
from softlookup.checking.result import BOOK
from softlookup.grading.course.folder import Course
from softlookup.grading.data.records import HandMark, Record, TaskMark
from softlookup.grading.feedback.pages import finish_page, page_of, points_page, refused_page

FILTER = {"markdown2html": "softlookup.grading.feedback.page_markdown.page_markdown"}


def shown(source, solution):
    config = Config()
    config.HTMLExporter.filters = FILTER
    cell = nbformat.v4.new_markdown_cell(f"BEGIN\n\n{source}\n\nEND")
    cell.metadata.nbgrader = {"solution": solution}
    page, _ = HTMLExporter(template_name="classic", config=config).from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell])
    )
    return page.split("BEGIN", 1)[1].rsplit("END", 1)[0]


@pytest.mark.parametrize("solution", [True, False])
def test_formulas_are_mathml_and_need_no_script(solution):
    page = shown("So $a_i<b^2$ and\n\n$$\\frac{QK^T}{\\sqrt{d_k}}$$\n\n\\begin{matrix} a & b \\end{matrix}", solution)
    assert page.count("<math") == page.count("</math>") == 3
    assert "<mfrac>" in page and "<msqrt>" in page and "<mo>&lt;</mo>" in page.replace("&#x0003C;", "&lt;")


def test_formulas_that_cannot_be_read_stay_as_they_were_typed():
    for formula in ("{" * 500, "\\frac" * 500, "x" * 3000):
        assert f"${formula}$" in shown(f"${formula}$", True)


def test_formulas_hold_no_tags_links_and_styles():
    page = shown("\n\n".join(PAYLOADS["formulas"]), False)
    for sign in ("<img", "href=", "style=", "onclick=", "javascript:alert"):
        assert sign not in page.split("<script>")[0], sign


def test_markdown_of_a_student_is_cleaned_on_the_page_and_the_release_is_not():
    text = "<details><summary>More</summary>x</details> <b>y</b> <img src=x onerror=z>"
    assert "<details>" in shown(text, False)
    page = shown(text, True)
    assert "<details>" not in page and "onerror" not in page and "src=" not in page and "<b>y</b>" in page


@pytest.fixture
def course(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    return Course(tmp_path)


def test_finished_page_has_its_policy_first_and_no_script(course):
    page = page_of(course, "a1", "ada")
    page.parent.mkdir(parents=True)
    mathjax = '<!-- Load mathjax -->\n<script src="https://a.b/c"> </script>\n<!-- End of mathjax configuration -->'
    page.write_text(f"<!DOCTYPE html>\n<html>\n<head>\n<meta charset='utf-8' />{mathjax}</head><body>x</body></html>")
    finish_page(course, page)
    text = page.read_text()
    head = text.split("<head>", 1)[1].strip()
    assert head.startswith('<meta http-equiv="Content-Security-Policy" content="default-src \'none\';')
    assert "<script" not in text and "<body>x</body>" in text


def test_plain_pages_have_the_policy_and_escape_what_they_tell(course):
    tasks = {"04.a": TaskMark(1.5, 2.0, "partial")}
    record = Record("ada", "graded", 3.5, 5.0, tasks, {"04.b": HandMark(2.0, 3.0, False)})
    points_page(course, "a1", record)
    text = page_of(course, "a1", "ada").read_text()
    assert "Score: 3.5 / 5" in text and "04.a: 1.5 / 2" in text and "04.b: 2 / 3" in text
    refused_page(course, "a1", "bob", "it holds <script>")
    for student in ("ada", "bob"):
        text = page_of(course, "a1", student).read_text()
        assert text.index("Content-Security-Policy") < text.index("<title>") and "<script" not in text


def test_links_lead_to_the_books_address_if_notebooks_were_released_with_one(course, monkeypatch):
    monkeypatch.delenv("SOFTLOOKUP_BOOK", raising=False)
    page = page_of(course, "a1", "ada")
    page.parent.mkdir(parents=True)
    page.write_text(f'<head></head><a href="{BOOK}book/x.html#y">z</a>')
    (course.root / ".release.json").write_text('{"seed": null, "assignments": {}, "book": "https://example.org/b/"}')
    finish_page(course, page)
    assert '<a href="https://example.org/b/book/x.html#y">' in page.read_text()
