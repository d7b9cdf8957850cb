"""Signs that turn the direction of writing are seen wherever a student's text is shown; letters from the right stay."""

import nbformat
import pytest
from paper_class import enter, full, hand_in, paper_course, record
from small_class import NAME

from softlookup_command.plain_text import one_line, plain, visible
from softlookup_course.viva import pages
from softlookup_course.viva.vivas import Viva
from softlookup_grader.feedback.page_code import highlighted
from softlookup_grader.feedback.page_markdown import page_markdown
from softlookup_grader.feedback.pages import make_page, page_of, points_page, refused_page
from softlookup_grader.judging.cleaning import safe_markdown
from softlookup_grader.judging.outputs import as_outputs
from softlookup_grader.reports.side_by_side import Likeness
from softlookup_grader.reports.side_by_side import page_of as alike_page

SIGNS = [chr(n) for n in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
LETTERS = "שלום مرحبا"
TURNED = f"{LETTERS} {'|'.join(SIGNS)} end"
SEEN = f"{LETTERS} {'|'.join(f'⟨U+{ord(sign):04X}⟩' for sign in SIGNS)} end"


def has_sign(text):
    return any(sign in text for sign in SIGNS)


@pytest.mark.parametrize("show", [visible, plain, one_line], ids=lambda show: show.__name__)
def test_text_shows_the_signs_and_leaves_the_letters(show):
    assert show(TURNED) == SEEN and show(LETTERS) == LETTERS


def test_written_answers_outputs_and_code_show_them():
    assert safe_markdown(TURNED) == (SEEN, False)
    (output,) = as_outputs([{"output_type": "stream", "name": "stdout", "text": TURNED}])
    assert output.text == SEEN
    for source in (f"x = 1  # {TURNED}", f"x = 1  # {TURNED}" + " " * 300):
        page = highlighted(source)
        assert not has_sign(page) and "⟨U+202E⟩" in page and "שלום" in page


def test_an_entity_shows_the_sign_that_it_stands_for():
    cell = {"metadata": {"nbgrader": {"solution": True}}}
    text = page_markdown({"cell": cell}, f"{LETTERS} &#8238; &rlm;")
    assert "⟨U+202E⟩ ⟨U+200F⟩" in text and LETTERS in text


@pytest.mark.slow
def test_no_page_of_feedback_holds_them(tmp_path_factory, source):
    course = paper_course(tmp_path_factory, source)
    hand_in(course, "ada", {"04-mix": f"def mix(w, v):\n    return w @ v  # {TURNED}"})
    submitted = nbformat.read(course.notebook("submitted", "ada", NAME), as_version=4)
    for cell in submitted.cells:
        if cell.cell_type == "markdown":
            cell.source += f"\n\n{TURNED}"
        elif cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text=TURNED)]
    path = course.notebook("autograded", "ada", NAME)
    path.parent.mkdir(parents=True)
    nbformat.write(submitted, path)
    enter(course, "ada", full())
    for make in (
        lambda: make_page(course, NAME, "ada"),
        lambda: refused_page(course, NAME, "ada", f"{TURNED} is no notebook"),
    ):
        make()
        text = page_of(course, NAME, "ada").read_text()
        assert not has_sign(text) and "⟨U+202E⟩" in text and "שלום" in text
    points_page(course, NAME, record("ada", full()))
    assert not has_sign(page_of(course, NAME, "ada").read_text())


def test_pages_for_instructors_show_them_and_set_names_apart():
    page = alike_page(NAME, [Likeness(("ada", "bo"), (LETTERS, "bo"), (("04.mix", TURNED, TURNED),))])
    assert not has_sign(page) and page.count(SEEN) == 2 and f"<bdi>{LETTERS}</bdi>" in page
    assert f"<bdi>{LETTERS}</bdi>" in pages.student_sheet(Viva(LETTERS, NAME, (), 1))
