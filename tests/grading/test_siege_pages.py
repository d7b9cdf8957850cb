"""What a hand-in turns into for a person: code that is slow to colour, formulas that end elsewhere, headings."""

import time

import pytest
from small_class import ROOT
from traitlets.config import PyFileConfigLoader

from softlookup_grader.feedback.page_code import highlighted
from softlookup_grader.judging.cleaning import safe_markdown

SLOW = ("\n " * 99_000, "\n " * 2_500, "a." * 90_000, "a." * 9_000, "match" + " " * 19_000 + "x", "x = 1\n" * 30_000)
PICTURE = "![x](http://example.org/a.png)"
ELSEWHERE = (
    f"$ {{ {PICTURE} $",
    "$ { <img src=http://example.org/b.png> $",
    f"$$ {{ \n\n{PICTURE}\n\n$$",
    f"\\begin{{x}}\n\n{PICTURE}\n\n\\end{{x}}",
    f"- ```\n{PICTURE}\n  ```",
    f"- a\n\n  ```\n {PICTURE}\n  ```",
)


@pytest.mark.parametrize("source", SLOW)
def test_code_that_is_slow_to_colour_stays_plain(source):
    began = time.monotonic()
    page = highlighted(f"if a < b:\n    pass\n{source}")
    assert time.monotonic() - began < 20, "the longest of them take hours to colour"
    assert "a &lt; b" in page and "<span " not in page


def test_code_of_an_answer_has_colours():
    page = highlighted("def row_means(x):\n    return x.mean(-1) < 3\n")
    assert '<span class="k">def</span>' in page and "&lt;" in page


def test_the_formgrader_colours_code_with_the_same_bound():
    config = PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config()
    assert config.HTMLExporter.filters["highlight_code"] == "softlookup_grader.feedback.page_code.highlighted"


@pytest.mark.parametrize("text", ELSEWHERE)
def test_a_formula_that_ends_elsewhere_for_jupyterlab_brings_no_outside_picture(text):
    stored = safe_markdown(text)[0]
    as_one_block = stored.startswith("```")
    assert as_one_block or (PICTURE not in stored.replace(f"\\{PICTURE}", "") and "<img" not in stored)


@pytest.mark.parametrize(
    "text", ["$a<b and c>d$ and $f[0](x)$", "$x!$ costs $5![1]$", "2 $<$ 3, <b>H</b><sub>2</sub>O"]
)
def test_honest_formulas_are_not_said_to_hold_html(text):
    stored, changed = safe_markdown(text)
    assert not changed and stored.replace("< ", "<") == text


@pytest.mark.parametrize("heading", ["# 04 Results", "## 10-fold validation ##", "### notebook settings", "# top"])
def test_a_heading_named_like_a_part_of_the_page_is_set_in_bold(heading):
    stored, changed = safe_markdown(f"{heading}\n\nSince $a<b$, *all* is well.\n\n## Why\n\nIt is.")
    assert changed and stored == f"**{heading.strip('# ')}**\n\nSince $a<b$, *all* is well.\n\n## Why\n\nIt is."
