"""Feedback pages show formulas without a script, allow none, and are there even where they cannot be made in time."""

import re

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.server_extensions.formgrader.handlers import template_path
from small_class import ROOT
from traitlets.config import Config, PyFileConfigLoader

from attacks.markup import PAYLOADS
from softlookup_grader.course.folder import Course
from softlookup_grader.data.records import HandMark, Record, TaskMark
from softlookup_grader.feedback.pages import feedback_converter, finish_page, page_of, points_page, refused_page
from softlookup_grader.judging.cleaning import POLICY
from softlookup_judge.data.result import BOOK

FILTER = {"markdown2html": "softlookup_grader.feedback.page_markdown.page_markdown"}


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


def rendered(template, config):
    """A page of nbgrader's templates, of a notebook whose student asks for pictures and scripts of another machine."""
    asks = '![x](https://spy.example/a.png) <img src="//spy.example/b.png"> <script src="https://spy.example/c.js"></script>'
    cell = nbformat.v4.new_markdown_cell(f"So $a_i$. {asks}")
    cell.metadata.nbgrader = {
        "solution": True,
        "grade": True,
        "points": 1,
        "score": 1,
        "grade_id": "a",
        "comment": "Good.",
    }
    config.HTMLExporter.template_name, config.HTMLExporter.extra_template_basedirs = template, [template_path]
    resources = {
        "nbgrader": {"score": 1, "max_score": 2, "late_penalty": 0},
        "base_url": "/user/grace",
        "index": 0,
        "total": 1,
    }
    return HTMLExporter(config=config).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]), resources)[0]


def loads(page):
    """What a page loads: addresses in elements that load by themselves, and in styles."""
    addresses = re.findall(
        r"""<(?:script|img|link|iframe|source|video|audio|object|embed)\b[^>]*?(?:src|href|data)=["']?([^"'\s>]+)""",
        page,
    )
    return addresses + re.findall(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]+)""", page)


def policy_of(page):
    """The content security policy, which holds for what comes after it: it has to be the first element of the head."""
    first = page.split("<head>", 1)[1].split(">", 1)[0].strip()
    assert first.startswith("<meta ") and 'http-equiv="Content-Security-Policy"' in first
    return re.search(r'content="([^"]*)"', first)[1]


def test_page_of_the_formgrader_loads_from_its_own_server_alone():
    page = rendered("formgrade", PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config())
    assert "<math" in page and policy_of(page).startswith("default-src 'self' ")
    assert loads(page) and {address.split("static/")[0] for address in loads(page)} == {"/user/grace/formgrader/"}


def test_feedback_page_has_its_policy_first_and_loads_nothing(course):
    page = rendered("feedback", feedback_converter(course).config)
    assert "<math" in page and policy_of(page) == POLICY and "<script" not in page and loads(page) == []


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
