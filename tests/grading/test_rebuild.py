"""What is graded is the release, with the solutions of the submission and with nothing else of it."""

import copy
import json
import time
import tracemalloc

import nbformat
import pytest
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import BadNotebook, grade_id, notebook_json
from softlookup_grader.judging.cleaning import NOT_SHOWN
from softlookup_grader.judging.matching import MAX_SOURCE
from softlookup_grader.judging.names import Leaning
from softlookup_grader.judging.rebuild import rebuild, released_check
from softlookup_judge.checking.catalogue import STANDARD


@pytest.fixture(scope="module")
def release():
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


@pytest.fixture
def handed(release, source):
    """A right submission, as an object that a test may spoil."""
    return json.loads(nbformat.writes(filled(release, answers(source))))


def rebuilt(release, content):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return rebuild(release, raw, "x.ipynb")


def cell_of(notebook, name):
    cells = notebook["cells"] if isinstance(notebook, dict) else notebook.cells
    return next(c for c in cells if c.get("metadata", {}).get("nbgrader", {}).get("grade_id") == name)


def sources(notebook):
    return {grade_id(cell): cell.source for cell in notebook.cells if grade_id(cell)}


def test_rebuild_takes_the_solutions_and_says_nothing(release, handed, source):
    got = rebuilt(release, handed)
    assert got.remarks == () and not got.untouched - {"04-uniform"}
    right = answers(source)
    for name, text in sources(got.notebook).items():
        assert text == (right[name] if name in right else sources(release)[name])
    assert [c.id for c in got.notebook.cells] == [c.id for c in release.cells]
    nbformat.validate(got.notebook)


def test_rebuild_of_the_release_is_all_untouched(release):
    got = rebuilt(release, json.loads(nbformat.writes(release)))
    assert got.untouched == {grade_id(c) for c in release.cells if c.metadata.get("nbgrader", {}).get("solution")}


def test_rebuild_leaves_the_release_as_it_is(release, handed):
    before = copy.deepcopy(release)
    rebuilt(release, handed)
    assert before == release


def test_rebuild_puts_checks_and_setup_back(release, handed):
    cell_of(handed, "04-scale-check")["source"] = "1000"
    cell_of(handed, "04-setup")["source"] = "import os; os._exit(0)"
    cell_of(handed, "04-scale-check")["metadata"]["tags"] = ["skip-execution"]
    got = rebuilt(release, handed)
    assert sources(got.notebook)["04-scale-check"] == sources(release)["04-scale-check"]
    assert sources(got.notebook)["04-setup"] == sources(release)["04-setup"]
    assert "tags" not in cell_of(got.notebook, "04-scale-check").metadata
    assert got.remarks == (
        "The check cell of 04.scale was changed; the released one was used.",
        "The given cell 04-setup was changed; the released one was used.",
    )


@pytest.mark.parametrize(
    "about",
    [
        {"grade_id": "04-scale", "schema_version": 99, "solution": False, "grade": False, "points": 1000},
        {"grade_id": "04-scale"},
        {"grade_id": "04-scale", "locked": {"a": []}, "points": "many"},
    ],
)
def test_rebuild_believes_no_metadata_but_the_name(release, handed, about):
    cell_of(handed, "04-scale")["metadata"] = {"nbgrader": about}
    got = rebuilt(release, handed)
    assert got.remarks == ()
    assert cell_of(got.notebook, "04-scale").metadata == cell_of(release, "04-scale").metadata


def test_rebuild_takes_code_from_a_cell_that_became_text(release, handed):
    cell = cell_of(handed, "04-scale")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    got = rebuilt(release, handed)
    assert cell_of(got.notebook, "04-scale").cell_type == "code"
    assert "sqrt" in cell_of(got.notebook, "04-scale").source or "**" in cell_of(got.notebook, "04-scale").source


def test_rebuild_uses_the_releases_order(release, handed):
    handed["cells"].reverse()
    got = rebuilt(release, handed)
    assert [c.id for c in got.notebook.cells] == [c.id for c in release.cells]
    assert any("another order" in remark for remark in got.remarks)


@pytest.mark.parametrize("blank_first", [True, False])
def test_rebuild_of_a_doubled_cell_takes_the_filled_one(release, handed, blank_first):
    cells = handed["cells"]
    at = cells.index(cell_of(handed, "04-scale"))
    right = cells[at]["source"]
    blank = copy.deepcopy(cells[at]) | {"source": cell_of(release, "04-scale").source}
    cells.insert(at if blank_first else at + 1, blank)
    got = rebuilt(release, handed)
    assert sources(got.notebook)["04-scale"] == "".join(right)
    assert any("04.scale occurs 2 times" in remark for remark in got.remarks)


def test_rebuild_of_two_filled_cells_takes_the_last(release, handed):
    cells = handed["cells"]
    cells.append(copy.deepcopy(cell_of(handed, "04-scale")) | {"source": "def scale(): pass"})
    assert sources(rebuilt(release, handed).notebook)["04-scale"] == "def scale(): pass"


def test_rebuild_says_what_is_missing_and_what_is_left_out(release, handed):
    handed["cells"] = [c for c in handed["cells"] if c is not cell_of(handed, "04-scale")]
    handed["cells"].append({"cell_type": "code", "source": "import os", "metadata": {}, "outputs": []})
    got = rebuilt(release, handed)
    assert "The cell of 04.scale is missing; it counts as not filled in." in got.remarks
    assert any(remark.startswith("1 cell that is not in") for remark in got.remarks)
    assert "04-scale" in got.untouched and "import os" not in nbformat.writes(got.notebook).split("04-setup")[0]


def test_rebuild_ignores_look_alike_names(release, handed):
    cell = cell_of(handed, "04-scale")
    cell["metadata"]["nbgrader"]["grade_id"] = "04-scаle"  # noqa: RUF001  (a Cyrillic letter)
    cell["id"], cell["source"] = "x", "pass"
    assert "The cell of 04.scale is missing; it counts as not filled in." in rebuilt(release, handed).remarks


@pytest.mark.parametrize("text", ["#" * (MAX_SOURCE + 1), "a\x00b"])
def test_rebuild_counts_what_no_answer_can_be_as_blank(release, handed, text):
    cell_of(handed, "04-scale")["source"] = text
    got = rebuilt(release, handed)
    assert "04-scale" in got.untouched and any("counts as not filled in" in remark for remark in got.remarks)


@pytest.mark.parametrize(
    "cell",
    [None, 3, "x", {}, {"metadata": 3}, {"metadata": {"nbgrader": 3}}, {"metadata": {"nbgrader": {"grade_id": []}}}],
)
def test_rebuild_takes_no_harm_from_cells_of_any_kind(release, handed, cell):
    handed["cells"].insert(3, cell)
    assert rebuilt(release, handed).remarks == ()


def test_rebuild_takes_no_harm_from_sources_of_any_kind(release, handed):
    for name, value in (("04-scale", 3), ("04-mix", [1]), ("04-scores", None), ("04-softmax", "\ud800 = 1")):
        cell_of(handed, name)["source"] = value
    got = sources(rebuilt(release, handed).notebook)
    assert got["04-scale"] == "" and got["04-mix"] == ""
    got["04-softmax"].encode()


def test_rebuild_names_half_a_character_and_the_cell_that_holds_it(release, handed):
    cell_of(handed, "04-softmax")["source"] = ["import math\n", "def softmax\ud800(x):\n", "    return x\n"]
    cell_of(handed, "04-scale")["source"].append("\n# a whole one: \ud83d\ude00")
    (remark,) = rebuilt(release, handed).remarks
    assert "cell of 04.softmax" in remark and "U+D800 in line 2" in remark and "delete it" in remark


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "is empty"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"[]", "no cells"),
        (b"[" * 200_000, "not JSON"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3"),
        (b'{"nbformat": 4, "cells": {}}', "no list"),
        (b'{"nbformat": "4", "cells": []}', "something else than a number"),
        (b'{"nbformat": ' + b"9" * 5000 + b', "cells": []}', "not JSON"),
        (b" " * 50_000_001, "50,000,001 bytes"),
        (b'{"nbformat": 4, "cells": [' + b"[]," * 16_000_000 + b"[]]}", "more than 2,000,000 items"),
        (b'{"nbformat": 4, "cells": [' + b'{"a":""},' * 1_000_000 + b"{}]}", "more than 2,000,000 items"),
    ],
)
def test_rebuild_refuses_what_is_no_notebook(release, raw, says):
    with pytest.raises(BadNotebook, match=says):
        rebuilt(release, raw)


def test_rebuild_reads_so_many_cells_and_no_more(release, handed):
    junk = {"cell_type": "markdown", "source": "x", "metadata": {}}
    handed["cells"] = handed["cells"] + [junk] * 100_000
    got = rebuilt(release, handed)
    assert len(got.notebook.cells) == len(release.cells) and "the first 10,000 were read" in got.remarks[0]


def test_rebuild_reads_long_outputs_with_brackets_in_them(release, handed):
    cell_of(handed, "04-scale")["outputs"] = [{"output_type": "stream", "text": "[1, 2, {}] \\" * 1_000_000}]
    assert rebuilt(release, handed).remarks == ()


def test_rebuild_of_what_is_large_takes_little_memory_and_time():
    raw = b'{"nbformat": 4, "cells": [' + b"[]," * 16_000_000 + b"[]]}"
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(BadNotebook, match="items"):
        notebook_json(raw, "x.ipynb")
    assert time.process_time() - begun < 5
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()


def test_rebuild_cleans_a_written_answer_and_says_so(release, handed):
    cell_of(handed, "04-uniform")["source"] = "Since $a<b$ <img src=x onerror=alert(1)>"
    got = rebuilt(release, handed)
    assert sources(got.notebook)["04-uniform"] == "Since $a<b$ &lt;img src=x onerror=alert(1)>"
    assert got.remarks == (f"The answer to 04.uniform held {NOT_SHOWN}: they stand there as plain text.",)
    assert "04-uniform" not in got.untouched


def test_asked_in_reads_task_and_variant_from_the_release():
    def code(text):
        return nbformat.v4.new_code_cell(text)

    assert released_check(code('check("04.scale", scale)'), STANDARD).variant.number == 0
    first = released_check(code('check("04.scale", scale, variant=1)'), STANDARD)
    assert first.task.id == "04.scale" and first.variant.number == 1
    assert (first.expression, first.alone) == ("scale", True)
    second = released_check(code('import math\nsoftlookup.check("04.scale", functools.partial(scale, 1))'), STANDARD)
    assert (second.expression, second.alone) == ("functools.partial(scale, 1)", False)
    for text in ('check("04.no-such", f)', "assert f() == 1", "check(", 'check("04.scale", f, variant=99)', "check()"):
        assert released_check(code(text), STANDARD) is None
    assert released_check(nbformat.v4.new_markdown_cell('check("04.scale", scale)'), STANDARD) is None


@pytest.mark.parametrize(
    ("texts", "lent"),
    [
        (
            {"04-weights": "def attention_weights(q, k, m):\n    return softmax(scale(scores(q, k)))"},
            "scores scale softmax",
        ),
        ({"04-weights": "def attention_weights(q, k, m):\n    return q @ k.mT"}, ""),
        ({"04-weights": "def softmax(x): return x\ndef attention_weights(q, k, m):\n    return softmax(q)"}, ""),
        (
            {
                "04-weights": "attention_weights = lambda q, k, m: mix(q, k)",
                "04-mix": "def mix(a, b): return scores(a, b)",
            },
            "scores mix",
        ),
        ({"04-weights": "def attention_weights(q, k, m): return one_head(q)"}, ""),
        ({"04-weights": "def attention_weights(q, k, m: softmax"}, ""),
    ],
    ids=["calls", "none", "own", "through another", "later", "syntax"],
)
def test_leaning_reads_the_text_and_believes_nobody(release, source, texts, lent):
    notebook = filled(release, {**answers(source), "04-head": "def one_head(q): return q", **texts})
    weights_check = released_check(cell_of(release, "04-weights-check"), STANDARD)
    assert Leaning(notebook).on(weights_check.task) == tuple(f"04.{name}" for name in lent.split())


def test_rebuild_says_that_a_check_is_missing(release, handed):
    handed["cells"] = [c for c in handed["cells"] if c is not cell_of(handed, "04-mix-check")]
    assert rebuilt(release, handed).remarks == ("The check cell of 04.mix was missing; the released one was used.",)
