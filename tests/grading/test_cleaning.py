"""What students write is harmless for whatever renders it, and honest markdown stays as it is."""

import re
import time
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbconvert import HTMLExporter
from small_class import ROOT, picture_of

from attacks.markup import PAYLOADS
from softlookup_grader.judging.cleaning import MAX_WRITTEN, safe_markdown

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


@cache
def exporter():
    return HTMLExporter(template_name="classic")


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
    page, _ = exporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    return page.split("BEGIN", 1)[1].rsplit("END", 1)[0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("payload", ALL_PAYLOADS)
def test_cleaned_answer_shows_no_tag_no_handler_and_no_address_of_its_own(payload):
    stored, changed = safe_markdown(payload)
    seen = _Seen(as_formgrader_shows(stored))
    assert not seen.tags & set("script style iframe object embed svg math form base link meta video input".split())
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("style", "srcset", "background")]
    assert not seen.tags & {"textarea", "plaintext", "title", "template", "select", "xmp"}
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


def test_cleaned_answer_keeps_what_is_harmless_beside_what_is_not():
    text = (
        "Since $a<b$:\n\n<script>x</script>\n\n| a |\n|---|\n| `<i>` |\n\n[here](javascript:x) and [there](https://a.b)"
    )
    stored, changed = safe_markdown(text)
    assert changed and "$a<b$" in stored and "`<i>`" in stored and "[there](https://a.b)" in stored
    page = as_formgrader_shows(stored)
    assert "<table>" in page and "&lt;script&gt;" in page and 'href="javascript' not in page


def test_cleaned_answer_with_its_own_picture_shows_it_and_no_other():
    text = f"![a](attachment:a.png) <b onclick=x> ![b](attachment:b.png) ![c](data:image/png;base64,{PNG})"
    stored, changed = safe_markdown(text, {"a.png": {"image/png": PNG}})
    page = as_formgrader_shows(stored, {"a.png": {"image/png": PNG}})
    assert changed and page.count("<img") <= 1 and "onclick" not in _Seen(page).attributes


@pytest.mark.parametrize(
    "text",
    [
        "\\begin{a}" * 21_000,
        "[" * 190_000,
        "\n" * 190_000,
        "`" * 150_000,
        "$" * 19_000,
        "> " * 9_000,
        "a\n===\n" * 3_000,
    ]
    + ["*a " * 6_000, "<a " * 6_000, "](" * 9_000, "\\" * 19_000, "- " * 9_000, "![" * 2_000, "|a" * 2_000],
    ids=lambda text: repr(text[:6]),
)
def test_cleaning_and_showing_absurd_text_takes_no_time(text):
    as_formgrader_shows("to import what is needed")
    begun = time.process_time()
    stored, _ = safe_markdown(text)
    as_formgrader_shows(stored)
    assert time.process_time() - begun < 4
    assert len(stored) < 3 * MAX_WRITTEN + 100
