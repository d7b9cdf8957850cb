"""What a student writes, prints, raises or attaches runs nothing and asks for nothing on the pages that show it."""

import base64
import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from own_jupyter import Seen, running_formgrader, watched
from playwright.sync_api import Browser, Page

from attacks.handin import TRACE
from attacks.markup import OUTSIDE, PAYLOADS, PRINTED, RUN, picture_bomb
from softlookup_course.samples.handins import answers, filled
from softlookup_grader import Course, Report, new_course
from softlookup_grader.course.notebooks import grade_id
from softlookup_grader.feedback.pages import page_of
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_judge.authoring import find_root, read_solution

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

NAME = "04_one_head"
STUDENT = "ada"
NAMED = f"<img src=x onerror={RUN.replace('/', '')}>"
"""A student's id, as a learning platform may deliver it."""
TOKEN = "markup-in-a-test"
WRITTEN = [payload for ones in PAYLOADS.values() for payload in ones]
RAISES = f"""
def scale(*given, **named):
    raise type("<img src=x onerror={RUN}>", (Exception,), {{}})("".join(MARKUP))
"""


def assert_quiet(page: Page, seen: Seen, address: str) -> None:
    """Nothing ran, nothing was asked for, and the page is still the same."""
    page.wait_for_load_state("networkidle")
    assert TRACE not in page.title()
    assert seen.requests == []
    # nbgrader's own script writes the number of the submission into the address.
    assert seen.events in ([f"page {address}"], [f"page {address}", f"page {address}?index=0"])
    tags = page.evaluate("[...document.querySelectorAll('.text_cell_render *')].map(one => one.localName)")
    assert not set(tags) & set("script style iframe object embed form base link meta video audio svg details".split())


def with_written_answers(source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The beginning of the assignment, and a written answer for each payload."""
    source = copy.deepcopy(source)
    end = next(at for at, cell in enumerate(source.cells) if grade_id(cell) == "04-scale-check")
    del source.cells[end + 1 :]
    for number in range(len(WRITTEN)):
        about = {"grade": True, "solution": True, "locked": False, "task": False, "points": 1, "schema_version": 3}
        cell = nbformat.v4.new_markdown_cell("YOUR ANSWER HERE", id=f"04-words-{number}")
        cell.metadata.nbgrader = {**about, "grade_id": cell.id, "cell_type": "markdown"}
        source.cells.append(cell)
    return source


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """One student with all payloads: written, printed, raised, attached, and in a name."""
    root = find_root()
    source = with_written_answers(read_solution(root / "solutions" / f"{NAME}.py"))
    made = new_course(tmp_path_factory.mktemp("markup") / "course", root / "nbgrader_config.py")
    made.release({NAME: source})
    release = nbformat.read(made.notebook("release", ".", NAME), as_version=4)
    texts = {f"04-words-{number}": text for number, text in enumerate(WRITTEN)}
    notebook = filled(release, {**answers(source), **texts, "04-scale": PRINTED + RAISES})
    picture = base64.b64encode(picture_bomb(8, 8)).decode("ascii")
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.attachments = {f'x" onerror="{RUN}.png': {"image/png": picture}, "<script>": {"text/html": NAMED}}
    for student in (STUDENT, NAMED):
        path = made.notebook("submitted", student, NAME)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")
    broken = made.notebook("submitted", "broken", NAME)
    broken.parent.mkdir(parents=True)
    broken.write_text(NAMED)
    return made


@pytest.fixture(scope="module")
def report(course: Course) -> Report:
    return grade_assignment(course, GradeRequest(NAME, seed=5, workers=1))


@pytest.fixture(scope="module")
def server(course: Course, report: Report, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_formgrader(course.root, tmp_path_factory.mktemp("jupyter"), TOKEN) as address:
        yield address


def test_watch_sees_what_runs_and_what_is_asked_for(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"{PAYLOADS['tags that run'][1]} {PAYLOADS['pictures'][0]} <img src='{OUTSIDE}/picture'>")
    with watched(chromium, file.as_uri(), within=file.as_uri()) as (page, seen):
        page.wait_for_load_state("networkidle")
        assert page.title() == TRACE and f"{OUTSIDE}/picture" in seen.requests


def test_feedback_page_runs_nothing_and_asks_for_nothing(chromium: Browser, course: Course, report: Report) -> None:
    assert len(WRITTEN) >= 40
    for student in (STUDENT, "broken"):
        address = page_of(course, NAME, student).as_uri()
        with watched(chromium, address, within=address) as (page, seen):
            assert_quiet(page, seen, address)
            assert page.locator("script").count() == 0 and seen.requests == []
            policy = page.locator("head > meta").first.get_attribute("content")
            assert "default-src 'none'" in policy and "script-src" not in policy
    text = page_of(course, NAME, STUDENT).read_text(encoding="utf-8")
    assert text.count("Written response") == len(WRITTEN)


def test_feedback_page_runs_nothing_even_where_an_answer_was_not_cleaned(
    chromium: Browser, course: Course, report: Report, tmp_path: Path
) -> None:
    text = page_of(course, NAME, STUDENT).read_text(encoding="utf-8")
    file = tmp_path / "page.html"
    file.write_text(text.replace("</body>", "\n".join(PAYLOADS["tags that run"][:16]) + "</body>"), encoding="utf-8")
    with watched(chromium, file.as_uri(), within=file.as_uri()) as (page, seen):
        page.wait_for_load_state("networkidle")
        page.locator("details").first.wait_for(state="attached")
        assert TRACE not in page.title() and seen.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("place", ["submission", f"manage_submissions/{NAME}", f"gradebook/{NAME}/{NAME}"])
def test_formgrader_runs_nothing_that_a_student_wrote(
    chromium: Browser, server: str, course: Course, place: str
) -> None:
    if place == "submission":
        with course.gradebook() as book:
            place = f"submissions/{book.find_submission_notebook(NAME, NAME, STUDENT).id}/"
    address = f"{server}formgrader/{place}"
    with watched(chromium, f"{server}login?token={TOKEN}&next=/api", address, within=server) as (page, seen):
        assert_quiet(page, seen, address)
        if place.startswith("submissions"):
            assert page.locator("input.score").count() > len(WRITTEN)
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
            assert [ids.count(f"04-{name}") for name in ("scale-check", "words-0", "uniform")] == [1, 1, 0]


def test_a_student_whose_id_is_markup_is_not_graded_but_told(course: Course, report: Report) -> None:
    assert {record.student for record in report.records} == {STUDENT, "broken"}
    assert any("img src=x" in name for name in course.left_out(NAME))


def test_reports_for_instructors_hold_no_markup_as_html(course: Course, report: Report) -> None:
    pages = [path for path in course.root.rglob("*.html") if "feedback" not in path.parts]
    assert pages == []
