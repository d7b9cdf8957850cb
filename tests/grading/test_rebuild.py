"""What is graded is the release, with the solutions of the submission and nothing else, whatever the file holds."""

import copy
import json
import random
import time
import tracemalloc

import nbformat
import pytest
from small_class import NAME

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import (
    BadNotebook,
    grade_id,
    is_graded,
    notebook_json,
    read_notebook,
    verdict_of,
)
from softlookup_grader.judging.cleaning import NOT_SHOWN
from softlookup_grader.judging.matching import MAX_SOURCE
from softlookup_grader.judging.names import Leaning
from softlookup_grader.judging.rebuild import rebuild, released_check
from softlookup_grader.reports.similarity import cells_of, given_by
from softlookup_judge.checking.catalogue import STANDARD


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
    before = copy.deepcopy(release)
    got = rebuilt(release, handed)
    assert got.remarks == () and not got.untouched - {"04-uniform"}
    assert sources(got.notebook) == {**sources(release), **answers(source)}
    assert [c.id for c in got.notebook.cells] == [c.id for c in release.cells] and before == release
    nbformat.validate(got.notebook)


def test_rebuild_of_the_release_is_all_untouched(release):
    got = rebuilt(release, json.loads(nbformat.writes(release)))
    assert got.untouched == {grade_id(c) for c in release.cells if c.metadata.get("nbgrader", {}).get("solution")}


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


def test_rebuild_uses_the_releases_order(release, handed):
    handed["cells"].reverse()
    got = rebuilt(release, handed)
    assert [c.id for c in got.notebook.cells] == [c.id for c in release.cells]
    assert any("another order" in remark for remark in got.remarks)


@pytest.mark.parametrize("at", [0, 1, -1], ids=["before", "after", "another answer, at the end"])
def test_rebuild_of_a_doubled_cell_takes_the_last_filled_one(release, handed, at):
    cells = handed["cells"]
    first = cell_of(handed, "04-scale")
    expected = "".join(first["source"]) if at >= 0 else "def scale(): pass"
    other = cell_of(release, "04-scale").source if at >= 0 else expected
    cells.insert(cells.index(first) + at if at >= 0 else len(cells), copy.deepcopy(first) | {"source": other})
    got = rebuilt(release, handed)
    assert sources(got.notebook)["04-scale"] == expected
    assert any("04.scale occurs 2 times" in remark for remark in got.remarks)


def test_rebuild_says_what_is_missing_and_what_is_left_out(release, handed):
    handed["cells"] = [c for c in handed["cells"] if c is not cell_of(handed, "04-scale")]
    handed["cells"].append({"cell_type": "code", "source": "import os", "metadata": {}, "outputs": []})
    got = rebuilt(release, handed)
    assert "The cell of 04.scale is missing; it counts as not filled in." in got.remarks
    assert any(remark.startswith("1 cell that is not in") for remark in got.remarks)
    assert "04-scale" in got.untouched and "import os" not in nbformat.writes(got.notebook).split("04-setup")[0]
    handed["cells"] = [c for c in handed["cells"] if c is not cell_of(handed, "04-mix-check")]
    assert "The check cell of 04.mix was missing; the released one was used." in rebuilt(release, handed).remarks


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


WEIGHTS = "def attention_weights(q, k, m):\n    return "


@pytest.mark.parametrize(
    ("weights", "mix", "lent"),
    [
        pytest.param(f"{WEIGHTS}softmax(scale(scores(q, k)))", "", "scores scale softmax", id="calls"),
        pytest.param(f"{WEIGHTS}q @ k.mT", "", "", id="none"),
        pytest.param(f"def softmax(x): return x\n{WEIGHTS}softmax(q)", "", "", id="own"),
        pytest.param(
            "attention_weights = lambda q, k, m: mix(q, k)",
            "def mix(a, b): return scores(a, b)",
            "scores mix",
            id="through another",
        ),
        pytest.param(f"{WEIGHTS}one_head(q)", "", "", id="later"),
        pytest.param("def attention_weights(q, k, m: softmax", "", "", id="syntax"),
    ],
)
def test_leaning_reads_the_text_and_believes_nobody(release, source, weights, mix, lent):
    right = answers(source)
    texts = {"04-weights": weights, "04-mix": mix or right["04-mix"], "04-head": "def one_head(q): return q"}
    weights_check = released_check(cell_of(release, "04-weights-check"), STANDARD)
    leaning = Leaning(filled(release, {**right, **texts})).on(weights_check.task)
    assert leaning == tuple(f"04.{name}" for name in lent.split())


ODD = (
    *(None, True, False, 0, -1, 1.5, 1e308, float("nan"), float("inf"), 2**70, 10**300, "", "x", "\ud800", "\x00"),
    *("\x1b[2J", "04-scale", "code", "markdown", "a" * 5000, ["a\n"] * 500, [], {}, [[]], [None], [1], ["a", 3], [{}]),
    *({"": {}}, {"a": None}, {"nbgrader": None}, {"grade_id": ["04-scale"]}, {"nbgrader": {"grade_id": {}}}),
    *({"nbgrader": {"grade_id": "04-scale"}}, {"image/png": "iVBORw0KGgo="}, {"a.png": {"image/png": "\ud800"}}),
    *({"a.png": {"image/png": ["iVBORw0KGgo="]}}, {"\ud800": {"image/png": "iVBORw0KGgo="}}, {"a.png": [1]}),
    *({"a" * 300: {}}, {"a.png": {"image/png": "é"}}, [[[[[[]]]]]]),
)
"""Values of every kind that JSON has, and some that only Python's reader takes."""

KEYS = "cell_type source metadata outputs attachments id execution_count nbgrader grade_id cells".split()


def spoiled(value, rng, depth=0):
    """Change one thing somewhere in a JSON value: it is replaced, dropped, doubled, renamed or added to."""
    if isinstance(value, dict) and value and (depth < 2 or rng.random() < 0.7):
        key = rng.choice(list(value))
        way = rng.randrange(8)
        if way == 0:
            del value[key]
        elif way == 1:
            value[rng.choice(KEYS)] = copy.deepcopy(rng.choice(ODD))
        else:
            value[key] = spoiled(value[key], rng, depth + 1)
        return value
    if isinstance(value, list) and value and (depth < 3 or rng.random() < 0.7):
        at = rng.randrange(len(value))
        way = rng.randrange(8)
        if way == 0:
            del value[at]
        elif way == 1:
            value.insert(at, copy.deepcopy(value[rng.randrange(len(value))]))
        elif way == 2:
            value.insert(at, copy.deepcopy(rng.choice(ODD)))
        else:
            value[at] = spoiled(value[at], rng, depth + 1)
        return value
    return copy.deepcopy(rng.choice(ODD))


def raw_of(content, rng):
    """The file's bytes: the JSON text, at times with a few bytes of it lost or changed."""
    raw = bytearray(json.dumps(content, indent=rng.choice((None, 1))).encode())
    if rng.random() < 0.1:
        for _ in range(rng.randrange(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw[: rng.randrange(len(raw))] if rng.random() < 0.05 else raw)


def dealt_with(release, raw, path):
    """Everything that grading and the class report do with a file, but for running its code."""
    path.write_bytes(raw)
    try:
        notebook = read_notebook(path)
    except BadNotebook as error:
        assert 0 < len(str(error)) < 1000 and str(error).isprintable()
    else:
        cells_of(notebook, given_by(release))
        for cell in notebook.cells:
            verdict_of(cell)
    try:
        rebuilt = rebuild(release, raw, f"{NAME}.ipynb")
    except BadNotebook as error:
        assert 0 < len(str(error)) < 1000
        return
    assert [grade_id(cell) for cell in rebuilt.notebook.cells] == [grade_id(cell) for cell in release.cells]
    assert all(remark.isprintable() and len(remark) < 2000 for remark in rebuilt.remarks)
    nbformat.validate(rebuilt.notebook)
    json.dumps(rebuilt.notebook, ensure_ascii=False, allow_nan=False).encode()
    for cell in rebuilt.notebook.cells:
        if is_graded(cell) and (check := released_check(cell, STANDARD)) is not None:
            Leaning(rebuilt.notebook).on(check.task)
            return


@pytest.mark.parametrize(("rounds", "seed"), [(150, 1), pytest.param(4_000, 2, marks=pytest.mark.slow)])
def test_rebuild_takes_whatever_a_file_holds_or_refuses_it(release, handed, tmp_path, rounds, seed):
    rng = random.Random(seed)
    for number in range(rounds):
        content = copy.deepcopy(handed)
        for _ in range(rng.choice((1, 1, 2, 5, 20))):
            content = spoiled(content, rng)
            if not isinstance(content, dict):
                break
        dealt_with(release, raw_of(content, rng), tmp_path / f"{number % 5}.ipynb")


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize("key", KEYS)
def test_rebuild_takes_every_odd_value_in_every_place_of_a_cell(release, handed, tmp_path, key):
    for odd in ODD:
        content = copy.deepcopy(handed)
        for name in ("04-scale", "04-scale-check", "04-uniform"):
            cell = cell_of(content, name)
            holders = {"grade_id": cell["metadata"]["nbgrader"], "nbgrader": cell["metadata"]}
            holders.get(key, cell)[key] = odd
        dealt_with(release, json.dumps(content).encode(), tmp_path / "odd.ipynb")
