"""A submitted file may be anything: it is rebuilt, or refused in a sentence, and nothing else comes out."""

import copy
import json
import random
from itertools import count

import nbformat
import pytest
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import BadNotebook, grade_id, is_graded, read_notebook, verdict_of
from softlookup_grader.judging.names import Leaning
from softlookup_grader.judging.rebuild import rebuild, released_check
from softlookup_grader.reports.similarity import cells_of, given_by
from softlookup_judge.checking.catalogue import STANDARD

ODD = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        1e308,
        float("nan"),
        float("inf"),
        2**70,
        10**300,
        "",
        "x",
        "\ud800",
        "\x00",
        "\x1b[2J",
    ),
    *([], {}, [[]], [None], [1], ["a", 3], [{}], {"": {}}, {"a": None}, "a" * 5000, ["a\n"] * 500, {"nbgrader": None}),
    *(
        {"grade_id": ["04-scale"]},
        {"nbgrader": {"grade_id": {}}},
        {"nbgrader": {"grade_id": "04-scale"}},
        "04-scale",
        "code",
    ),
    *(
        {"image/png": "iVBORw0KGgo="},
        {"a.png": {"image/png": ["iVBORw0KGgo="]}},
        {"a.png": {"image/png": "\ud800"}},
        "markdown",
    ),
    *(
        {"\ud800": {"image/png": "iVBORw0KGgo="}},
        {"a.png": [1]},
        {"a" * 300: {}},
        {"a.png": {"image/png": "é"}},
        [[[[[[]]]]]],
    ),
)
"""Values of every kind that JSON has, and some that only Python's reader takes."""

KEYS = (
    "cell_type",
    "source",
    "metadata",
    "outputs",
    "attachments",
    "id",
    "execution_count",
    "nbgrader",
    "grade_id",
    "cells",
)


@pytest.fixture(scope="module")
def release():
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def handed(release, source):
    return json.loads(nbformat.writes(filled(release, answers(source))))


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


def dealt_with(release, raw, folder, number):
    """Everything that grading and the class report do with a file, but for running its code."""
    path = folder / f"{number}.ipynb"
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


def fuzzed(release, handed, folder, rounds, seed):
    rng = random.Random(seed)
    for number in range(rounds):
        content = copy.deepcopy(handed)
        for _ in range(rng.choice((1, 1, 2, 5, 20))):
            content = spoiled(content, rng)
            if not isinstance(content, dict):
                break
        dealt_with(release, raw_of(content, rng), folder, number % 5)


def test_rebuild_takes_whatever_a_file_holds_or_refuses_it(release, handed, tmp_path):
    fuzzed(release, handed, tmp_path, 150, 1)


@pytest.mark.slow
def test_rebuild_takes_whatever_a_file_holds_or_refuses_it_in_the_long_run(release, handed, tmp_path):
    fuzzed(release, handed, tmp_path, 4_000, 2)


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("key", KEYS)
def test_rebuild_takes_every_odd_value_in_every_place_of_a_cell(release, handed, tmp_path, key):
    numbers = count()
    names = ("04-scale", "04-scale-check", "04-uniform")
    for odd in ODD:
        content = copy.deepcopy(handed)
        for cell in content["cells"]:
            about = cell["metadata"].get("nbgrader", {})
            if about.get("grade_id") in names:
                (about if key == "grade_id" else cell["metadata"] if key == "nbgrader" else cell)[key] = odd
        dealt_with(release, json.dumps(content).encode(), tmp_path, next(numbers) % 3)
