"""What a class can do around the sandbox: its files, its memory where nothing counts it, and the pages for a person."""

import csv
import io
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from small_class import ROOT
from traitlets.config import PyFileConfigLoader

from softlookup_grader.course.notebooks import MAX_ITEMS, BadNotebook, notebook_json
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table
from softlookup_grader.feedback.page_code import highlighted
from softlookup_grader.judging.cleaning import safe_markdown
from softlookup_grader.judging.rebuild import MAX_SOURCE
from softlookup_grader.reports.similarity import MAX_CHARACTERS, alike, code_tokens
from softlookup_grader.sandbox.bubble import staged
from softlookup_grader.sandbox.processes import holds_more

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.mark.parametrize("end", [b"", b"\\"])
def test_notebooks_quotes_that_nobody_closes_are_counted_at_once(end: bytes) -> None:
    raw = b'{"nbformat":4,"cells":[' + b"," * (MAX_ITEMS + 1) + b'"' + b'\\"' * 50_000 + end
    begun = time.process_time()
    with pytest.raises(BadNotebook, match="items"):
        notebook_json(raw, "a.ipynb")
    assert time.process_time() - begun < 2.0


def test_notebooks_items_within_text_do_not_count() -> None:
    text = "," * (MAX_ITEMS + 1) + '\\"'
    assert notebook_json(f'{{"nbformat":4,"cells":["{text}"]}}'.encode(), "a.ipynb")["nbformat"] == 4


def test_lms_sheet_a_long_answer_of_one_student_costs_nobody_the_file() -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["Identifier", "Online text"], ["Participant 1", "x" * 200_000], ["Participant 2", ""]])
    before = csv.field_size_limit()
    sheet = Table(out.getvalue())
    assert len(sheet.rows) == 2
    assert csv.field_size_limit() == before


def test_likeness_nothing_that_is_graded_hides_behind_the_end() -> None:
    assert MAX_CHARACTERS >= MAX_SOURCE
    code = "\n".join(f"v{n} = {n} * w + u[{n % 7}]" for n in range(80))
    hidden = '"""' + "p" * (MAX_SOURCE - len(code) - 10) + '"""\n' + code
    others = {f"student-{n}": {"a": code_tokens(f"x = {n}\n")} for n in range(20)}
    pairs = alike({**others, "ann": {"a": code_tokens(code)}, "bob": {"a": code_tokens(hidden)}})
    assert [(pair.first, pair.second) for pair in pairs] == [("ann", "bob")]


# The first thread ends at once; the other one takes memory and says so.
_HEADLESS = """
import ctypes, threading, time

def hold():
    time.sleep(0.2)
    held = bytearray(60_000_000)
    held[::4096] = b"1" * len(held[::4096])
    print("held", flush=True)
    time.sleep(60)

threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(NUMBER, 0)
"""


@LINUX
def test_memory_a_process_without_its_first_thread_is_counted() -> None:
    number = {"x86_64": 60, "aarch64": 93}[platform.machine()]
    with subprocess.Popen(
        [sys.executable, "-c", _HEADLESS.replace("NUMBER", str(number))], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            assert Path(f"/proc/{process.pid}/statm").read_text().split()[1] == "0"
            assert holds_more(process.pid, 50)
            assert not holds_more(process.pid, 500)
        finally:
            process.kill()


def test_stages_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(CourseError, match="TMPDIR"):
        staged()


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
