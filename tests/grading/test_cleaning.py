"""What students write is harmless for whatever renders it: markup, signs that turn its direction, pictures in it."""

import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import jupytext
import nbformat
import pytest
from arriving import released
from nbconvert import HTMLExporter
from paper_class import enter, full, hand_in, record
from small_class import NAME, ROOT, lay, picture_of

from attacks.markup import PAYLOADS
from softlookup_command.plain_text import one_line, plain, visible
from softlookup_course.viva import pages
from softlookup_course.viva.vivas import Viva
from softlookup_grader.feedback.page_code import highlighted
from softlookup_grader.feedback.page_markdown import page_markdown
from softlookup_grader.feedback.pages import make_page, page_of, points_page, refused_page
from softlookup_grader.judging.cleaning import MAX_WRITTEN, NOT_SHOWN, safe_markdown
from softlookup_grader.judging.outputs import MAX_ATTACHED, MAX_PICTURE, MAX_TOGETHER, as_outputs, attached
from softlookup_grader.judging.rebuild import rebuild
from softlookup_grader.reports.side_by_side import Likeness
from softlookup_grader.reports.side_by_side import page_of as alike_page

ALL_PAYLOADS = [
    pytest.param(payload, id=f"{kind}-{at}") for kind, ones in PAYLOADS.items() for at, payload in enumerate(ones)
]
PNG = picture_of("png", 3, 2)

HONEST = (
    "Since $a<b$ and `x<y>`, **all** is *well*; 3 < 4 > 2 & so on, aside [1], x[i].",
    "| a | b |\n|---|:-:|\n| 1 | $x_{1}<y$ |\n\n1. one\n2. two\n   - three\n\n> quoted\n\n---\n\n~~no~~ H<sub>2</sub>O",
    "# Why\n\n## It is $O(n^2)$\n\n```python\nif a < b and c > d:\n    print('<b>')\n```\n\n    x = List[int] <tag>",
    "$$\n\\begin{aligned} a &< b \\\\ c &> d \\end{aligned}\n$$\n\nwith "
    "\\\\(x\\\\) and \\$5, `$HOME` and <br> a new line",
    "See [the paper](https://arxiv.org/abs/1706.03762), https://example.org, and <https://example.org/a?b=c&d=e>.",
    "Ω ≤ “quoted” – it’s ½ … \u00a0 ¶ &nbsp; &lt; &amp;",
    "My curve: ![a curve](attachment:curve.png)\n\n- [ ] open\n- [x] done",
)


EXPORTER = HTMLExporter(template_name="classic")


class _Seen(HTMLParser):
    """Collects the tags, attributes and addresses of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.addresses = set(), set(), set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src", "action", "srcset", "data", "poster"):
                self.addresses.add(value or "")


def as_formgrader_shows(text, attachments=None):
    """The cell of a page that formgrader's exporter makes of stored text."""
    cell = nbformat.v4.new_markdown_cell(f"BEGIN\n\n{text}\n\nEND")
    if attachments:
        cell.attachments = attachments
    page, _ = EXPORTER.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    return page.split("BEGIN", 1)[1].rsplit("END", 1)[0]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("payload", ALL_PAYLOADS)
def test_cleaned_answer_shows_no_tag_no_handler_and_no_address_of_its_own(payload):
    stored, changed = safe_markdown(payload)
    seen = _Seen(as_formgrader_shows(stored))
    assert not seen.tags & set("script style iframe object embed svg math form base link meta video input".split())
    assert not seen.tags & set("textarea plaintext title template select xmp".split())
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("style", "srcset", "background")]
    # Only what a person may click on, and never another program than the browser.
    assert all(re.match(r"https?://|#", address) for address in seen.addresses), seen.addresses
    assert "img" not in seen.tags and 'id="04-uniform"' not in stored


@pytest.mark.parametrize("text", HONEST)
def test_honest_answer_stays_as_it_was_written(text):
    assert safe_markdown(text, {"curve.png": {}}) == (text, False)


def test_all_written_solutions_and_questions_stay_as_they_are():
    texts = [
        cell.source
        for path in sorted(Path(ROOT, "solutions").glob("*.py"))
        for cell in jupytext.read(path).cells
        if cell.cell_type == "markdown" and "](../" not in cell.source and not re.match(r"# \d\d", cell.source)
    ]
    changed = [text for text in texts if safe_markdown(text) != (text, False)]
    assert len(texts) > 150 and changed == []


@pytest.mark.parametrize(
    "text",
    ["\\begin{a}" * 21_000, "[" * 190_000, "\n" * 190_000, "`" * 150_000, "$" * 19_000, "> " * 9_000]
    + [
        "a\n===\n" * 3_000,
        "*a " * 6_000,
        "<a " * 6_000,
        "](" * 9_000,
        "\\" * 19_000,
        "- " * 9_000,
        "![" * 2_000,
        "|a" * 2_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_cleaning_and_showing_absurd_text_takes_no_time(text):
    as_formgrader_shows("to import what is needed")
    begun = time.process_time()
    stored, _ = safe_markdown(text)
    as_formgrader_shows(stored)
    assert time.process_time() - begun < 4
    assert len(stored) < 3 * MAX_WRITTEN + 100


def test_cleaned_answer_keeps_what_is_harmless_beside_what_is_not():
    text = (
        "Since $a<b$:\n\n<script>x</script>\n\n| a |\n|---|\n| `<i>` |\n\n[here](javascript:x) and [there](https://a.b)"
    )
    stored, changed = safe_markdown(text)
    assert changed and "$a<b$" in stored and "`<i>`" in stored and "[there](https://a.b)" in stored
    page = as_formgrader_shows(stored)
    assert "<table>" in page and "&lt;script&gt;" in page and 'href="javascript' not in page
    text = f"![a](attachment:a.png) <b onclick=x> ![b](attachment:b.png) ![c](data:image/png;base64,{PNG})"
    stored, changed = safe_markdown(text, {"a.png": {"image/png": PNG}})
    page = as_formgrader_shows(stored, {"a.png": {"image/png": PNG}})
    assert changed and page.count("<img") <= 1 and "onclick" not in _Seen(page).attributes


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
def test_no_page_of_feedback_holds_them(paper):
    hand_in(paper, "ada", {"04-mix": f"def mix(w, v):\n    return w @ v  # {TURNED}"})
    submitted = nbformat.read(paper.notebook("submitted", "ada", NAME), as_version=4)
    for cell in submitted.cells:
        if cell.cell_type == "markdown":
            cell.source += f"\n\n{TURNED}"
        elif cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text=TURNED)]
    lay(paper.notebook("autograded", "ada", NAME), submitted)
    enter(paper, "ada", full())
    for make, reason in (make_page, ()), (refused_page, (f"{TURNED} is no notebook",)):
        make(paper, NAME, "ada", *reason)
        text = page_of(paper, NAME, "ada").read_text()
        assert not has_sign(text) and "⟨U+202E⟩" in text and "שלום" in text
    points_page(paper, NAME, record("ada", full()))
    assert not has_sign(page_of(paper, NAME, "ada").read_text())


def test_pages_for_instructors_show_them_and_set_names_apart():
    page = alike_page(NAME, [Likeness(("ada", "bo"), (LETTERS, "bo"), (("04.mix", TURNED, TURNED),))])
    assert not has_sign(page) and page.count(SEEN) == 2 and f"<bdi>{LETTERS}</bdi>" in page
    assert f"<bdi>{LETTERS}</bdi>" in pages.student_sheet(Viva(LETTERS, NAME, (), 1))


JPEG = picture_of("jpeg", 3, 2)


def answered(attachments, text="My curve: ![curve](attachment:curve.png)", name="90-run"):
    release = released("90_capstone")
    content = json.loads(nbformat.writes(release))
    cell = next(c for c in content["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)
    cell["source"], cell["attachments"] = text, attachments
    got = rebuild(release, json.dumps(content).encode(), "x.ipynb")
    return next(c for c in got.notebook.cells if c.id == name), got


def test_plot_of_a_run_comes_along_with_its_text_and_shows_on_a_page():
    cell, got = answered({"curve.png": {"image/png": PNG}, "other.jpg": {"image/jpeg": JPEG}})
    assert cell.attachments == {"curve.png": {"image/png": PNG}, "other.jpg": {"image/jpeg": JPEG}}
    assert got.remarks == () and "90-run" not in got.untouched
    nbformat.validate(got.notebook)
    page, _ = HTMLExporter().from_notebook_node(got.notebook)
    assert f"data:image/png;base64,{PNG}" in page


@pytest.mark.parametrize(
    "kinds",
    [
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"text/html": "<script>alert(1)</script>"},
        {"image/png": JPEG},
        {"image/png": "no base64"},
        {"image/png": "A" * (MAX_PICTURE + 1)},
        {"image/png": [PNG]},
        [PNG],
    ],
)
def test_what_is_no_picture_is_left_out_and_said(kinds):
    cell, got = answered({"curve.png": kinds})
    assert "attachments" not in cell
    assert got.remarks == (
        "1 attachment of 90.run left out: only PNG and JPEG pictures below 1.5 MB are taken.",
        f"The answer to 90.run held {NOT_SHOWN}: they stand there as plain text.",
    )


def test_attachments_of_any_shape_are_read_and_no_more_than_a_page_can_hold():
    for attachments in (None, [], "x", 3):
        assert attached({"attachments": attachments}) == ({}, 0)
    assert attached({"attachments": {"a\nb": {"image/png": PNG}, 7: {"image/png": PNG}}}) == ({}, 2)
    many = {f"{i}.png": {"image/png": PNG} for i in range(MAX_ATTACHED + 5)}
    for most, taken in ((), MAX_ATTACHED), ((3 * len(PNG),), 3):
        pictures, left_out = attached({"attachments": many}, *most)
        assert (len(pictures), left_out) == (taken, len(many) - taken)
    assert MAX_TOGETHER < 5_000_000


def test_attachments_of_a_cell_of_code_are_left_where_they_are():
    _, got = answered({"a.png": {"image/png": PNG}}, "def split_heads(x, n): return x", "90-split")
    assert all("attachments" not in rebuilt_cell for rebuilt_cell in got.notebook.cells)
