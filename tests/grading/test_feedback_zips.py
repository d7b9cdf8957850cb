"""Feedback pages show formulas without a script and allow none; they go back in the zips that platforms take."""

import re
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.server_extensions.formgrader.handlers import template_path
from paper_class import enter, full, hand_in
from small_class import NAME, ROOT, lay
from traitlets.config import Config, PyFileConfigLoader

from attacks.markup import PAYLOADS
from softlookup_grader import Course, CourseError
from softlookup_grader.course.arrived import COLLECTED, UNREADABLE, Arrival, Arrivals, arrivals
from softlookup_grader.course.collected import keep
from softlookup_grader.data.records import HandMark, Record, Report, TaskMark
from softlookup_grader.feedback.pages import feedback_converter, finish_page, page_of, points_page, refused_page
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.judging.cleaning import POLICY
from softlookup_grader.platforms.feedback_zips import feedback_zips, zips_with
from softlookup_judge.data.result import BOOK

FILE = f"{NAME}.ipynb"
LOCAL = '<p><a href="../../../../_build/html/book/04_one_head.html#x" target="_blank">Read this</a></p>'
REMOTE = '<a href="https://example.org/book/x.html">there</a>'


@pytest.fixture
def course(paper):
    for student, number in (("ada", ""), ("ben", "7102"), ("7103", ""), ("zoe", "")):
        hand_in(paper, student, {"04-mix": "def mix(w, v):\n    return w @ v"})
        enter(paper, student, full())
        with paper.gradebook() as book:
            book.update_or_create_student(student, lms_user_id=number, email=f"{student}@example.org")
            sheet = book.find_submission_notebook(NAME, NAME, student)
            sheet.comments[0].manual_comment = "Good & <short>."
            book.db.commit()
        page = paper.notebook("feedback", student, NAME).with_suffix(".html")
        lay(page, f"<p>feedback of {student}</p>{LOCAL}{REMOTE}")
        graded = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])
        graded.cells[0].outputs = [nbformat.v4.new_output("display_data", {"text/html": LOCAL})]
        lay(paper.notebook("autograded", student, NAME), graded)
    return paper


def came(course: Course, **sources: str) -> None:
    """Files that were collected."""
    arrived = {**arrivals(course, NAME).by_student, **{who: Arrival(COLLECTED, at) for who, at in sources.items()}}
    keep(course, NAME, Arrivals(arrived))


def inside(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_moodle_gets_pages_in_folders_that_name_the_participant(course):
    came(course, ada=f"Ada Lovelace_81_assignsubmission_file_/work/{FILE}")
    came(course, ben=f"Ben_OBanneker_82_assignsubmission_file_{FILE}")
    done = feedback_zips(course, NAME)
    (path,) = done.zips
    assert (path.name, done.zips[path]) == (f"{NAME}-feedback-moodle.zip", 2)
    pages = inside(path)
    assert list(pages) == [
        f"Ada Lovelace_81_assignsubmission_file_/{NAME}.html",
        f"Ben OBanneker_82_assignsubmission_file_/{NAME}.html",
    ]
    for (name, page), student in zip(pages.items(), ("ada", "ben"), strict=True):
        # As Moodle reads it: at most five parts between underscores, the second is a number, then the plugin.
        assert name.split("/")[0].split("_", 4)[1:4] == [name.split("_")[1], "assignsubmission", "file"]
        assert f"feedback of {student}<" in page and REMOTE in page and "_build" not in page and "Read this" in page
    assert done.notes == ["these students' notebooks came from no platform, so no zip has their feedback: 7103, zoe"]


def test_canvas_gets_notebooks_under_the_names_that_it_gave(course):
    name = f"bannekerben_LATE_7102_90210_{NAME}-2.ipynb"
    came(course, ben=name)
    done = feedback_zips(course, NAME)
    (path,) = done.zips
    assert path.name == f"{NAME}-feedback-canvas.zip"
    notebook = nbformat.reads(inside(path)[name], as_version=4)
    nbformat.validate(notebook)
    head = notebook.cells[0].source
    with course.gradebook() as book:
        score = book.find_submission(NAME, "ben").score
    assert head.startswith(f"# {NAME}: {score:g} / ") and "| 04.scale | 2 / 2 |" in head
    assert "Good &amp; &lt;short&gt;." in head
    assert notebook.cells[1].source == "x = 1"
    shown = notebook.cells[1].outputs[0]["data"]["text/html"]
    assert "_build" not in shown and "Read this" in shown


def test_refused_notebook_comes_back_with_the_reason(course):
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    course.notebook("autograded", "ben", NAME).unlink()
    report = Report(NAME, 1, (Record("ben", "refused", 0.0, 39.0, reason="it is not a notebook <b>"),))
    (path,) = feedback_zips(course, NAME, report).zips
    (text,) = inside(path).values()
    reason = f"# {NAME}\n\nThis notebook could not be graded: it is not a notebook &lt;b&gt;."
    assert [cell.source for cell in nbformat.reads(text, as_version=4).cells] == [reason]


def test_a_notebook_in_a_zip_comes_back_under_the_name_of_the_zip(course):
    came(course, ben="bannekerben_7102_90210_work.zip/mine/a.ipynb")
    (path,) = feedback_zips(course, NAME).zips
    assert list(inside(path)) == ["bannekerben_7102_90210_work.zip.ipynb"]


def test_who_gets_nothing_is_named_and_a_name_that_a_student_chose_leads_to_nobody(course):
    came(course, ada=f"one-head-ada/bannekerben_7102_90210_{FILE}", ben=f"bannekerben_7102_90210_{FILE}")
    arrived = {**arrivals(course, NAME).by_student, "7103": Arrival(UNREADABLE, "chen_7103_90210_a.html", "it is HTML")}
    keep(course, NAME, Arrivals(arrived))
    course.notebook("feedback", "7103", NAME).with_suffix(".html").unlink()
    done = feedback_zips(course, NAME)
    assert list(done.zips.values()) == [1]
    why = "there is no feedback page, which 'softlookup grade 04_one_head' makes"
    assert done.notes[0] == f"7103 got no feedback: {why}"


def test_nothing_collected_is_an_error_and_an_old_zip_goes(course):
    came(course, ben=f"one-head-ben/{FILE}")
    with pytest.raises(CourseError, match="softlookup collect 04_one_head ZIP"):
        feedback_zips(course, NAME)
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    old = course.root / "reports" / f"{NAME}-feedback-moodle.zip"
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(b"old")
    feedback_zips(course, NAME)
    assert not old.exists() and not list(old.parent.glob(".*feedback*"))


def test_the_zips_of_a_student_are_found_to_be_forgotten(course):
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    (path,) = feedback_zips(course, NAME).zips
    assert zips_with(course, "ben") == [path] and zips_with(course, "ada") == []
    forget(course, "ben")
    assert not path.exists() and kept_of(course, "ben") == []


FILTER = {"markdown2html": "softlookup_grader.feedback.page_markdown.page_markdown"}


def shown(source, solution):
    config = Config()
    config.HTMLExporter.filters = FILTER
    cell = nbformat.v4.new_markdown_cell(f"BEGIN\n\n{source}\n\nEND")
    cell.metadata.nbgrader = {"solution": solution}
    exporter = HTMLExporter(template_name="classic", config=config)
    page, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
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
def empty(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    return Course(tmp_path)


def rendered(template, config):
    """A page of nbgrader's templates, of a notebook whose student asks for pictures and scripts of another machine."""
    asks = '![x](https://spy.example/a.png) <img src="//spy.example/b.png"> <script src="https://spy.example/c.js"></script>'
    cell = nbformat.v4.new_markdown_cell(f"So $a_i$. {asks}")
    graded = {"solution": True, "grade": True, "points": 1, "score": 1}
    cell.metadata.nbgrader = {**graded, "grade_id": "a", "comment": "Good."}
    config.HTMLExporter.template_name, config.HTMLExporter.extra_template_basedirs = template, [template_path]
    scores = {"score": 1, "max_score": 2, "late_penalty": 0}
    resources = {"nbgrader": scores, "base_url": "/user/grace", "index": 0, "total": 1}
    return HTMLExporter(config=config).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]), resources)[0]


def loads(page):
    """What a page loads: addresses in elements that load by themselves, and in styles."""
    elements = "script|img|link|iframe|source|video|audio|object|embed"
    addresses = re.findall(rf"""<(?:{elements})\b[^>]*?(?:src|href|data)=["']?([^"'\s>]+)""", page)
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


def test_feedback_page_has_its_policy_first_and_loads_nothing(empty):
    page = rendered("feedback", feedback_converter(empty).config)
    assert "<math" in page and policy_of(page) == POLICY and "<script" not in page and loads(page) == []


def test_plain_pages_have_the_policy_and_escape_what_they_tell(empty):
    tasks = {"04.a": TaskMark(1.5, 2.0, "partial")}
    record = Record("ada", "graded", 3.5, 5.0, tasks, {"04.b": HandMark(2.0, 3.0, False)})
    points_page(empty, "a1", record)
    text = page_of(empty, "a1", "ada").read_text()
    assert "Score: 3.5 / 5" in text and "04.a: 1.5 / 2" in text and "04.b: 2 / 3" in text
    refused_page(empty, "a1", "bob", "it holds <script>")
    for student in ("ada", "bob"):
        text = page_of(empty, "a1", student).read_text()
        assert text.index("Content-Security-Policy") < text.index("<title>") and "<script" not in text


def test_links_lead_to_the_books_address_if_notebooks_were_released_with_one(empty, monkeypatch):
    monkeypatch.delenv("SOFTLOOKUP_BOOK", raising=False)
    page = lay(page_of(empty, "a1", "ada"), f'<head></head><a href="{BOOK}book/x.html#y">z</a>')
    (empty.root / ".release.json").write_text('{"seed": null, "assignments": {}, "book": "https://example.org/b/"}')
    finish_page(empty, page)
    assert '<a href="https://example.org/b/book/x.html#y">' in page.read_text()
