"""Answers in a page of the book: the verdict there is that of ``check``, without torch and without any solution."""

import ast
import io
import json
import pickle
import zipfile
from dataclasses import replace

import pytest
from packs import packed

from softlookup_course.in_page.packing import chosen, library, why_not
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.probe import run
from softlookup_judge import check, tasks
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.data.notebook import published
from softlookup_judge.data.published import answer, mutant_source, solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions_at_home


def test_most_tasks_can_be_done_in_a_page():
    ready = [task for chapter in CHAPTERS for task in chosen(chapter)]
    assert len(ready) >= 170
    assert all(why_not(task).startswith("it ") for task in tasks() if task not in ready)


@pytest.mark.one_in(44)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_verdicts_in_a_page_are_those_of_check(chapter, page):
    """The published solution is right there, and known mistakes have the names that they have at home."""
    assert page.load(chapter) == [task.id for task in chosen(chapter)]
    for task in chosen(chapter):
        cases = [case for case in questions_at_home(variant_of(task)).cases if not case.gradients]
        if any(case.grid or case.world for case in cases):
            continue  # the judge makes the results of kernels and ranks
        shown = [mistake.slug for mistake in task.mistakes if mistake.symptom is None]
        for slugs in ((), *((slug,) for slug in shown[:: max(1, len(shown) // 3)])):
            function = answer(variant_of(task), slugs)
            with calm_torch():
                arrays = [run(function, replace(case, fed=None), len(task.returns)).arrays for case in cases]
                home = check(task.id, function)
            if home.verdict == "error" or any(case.frame == "text" for case in cases):
                continue  # what a text was made of is not in its bytes
            pickled = pickle.dumps(
                [results if results is None or len(results) > 1 else results[0] for results in arrays]
            ).hex()
            reply = page.ask({"task": task.id, "given": pickled})
            assert reply["html"] > 500
            if slugs and reply["verdict"] != "pass":
                assert reply["named"] == list(home.diagnosis), (task.id, slugs)
            assert slugs or reply["verdict"] == "pass", (task.id, reply)
            if slugs and reply["verdict"] == "pass":
                assert any(case.gradients for case in questions_at_home(variant_of(task)).cases), (task.id, slugs)


BY_SOURCE = [task for chapter in (18, 19) for task in tasks(chapter) if not why_not(task)]


@pytest.mark.parametrize(
    "task", [pytest.param(task, id=task.id, marks=[pytest.mark.slow] * bool(at)) for at, task in enumerate(BY_SOURCE)]
)
def test_kernels_and_ranks_written_in_a_page_have_the_verdicts_of_check(task, page):
    page.load(task.chapter)
    set_up = ("", published(task.chapter).cells[f"{task.chapter}-setup"])
    shown = [mistake.slug for mistake in task.mistakes]
    for slugs in ((), *((slug,) for slug in shown[:: max(1, len(shown) // 3)])):
        source, variant = mutant_source(variant_of(task), slugs), variant_of(task)
        record = page.check(task.id, source, set_up)["record"]
        with calm_torch():
            home = check(task.id, answer(variant, slugs)).record()
        for name in ("verdict", "points", "diagnosis"):
            assert record[name] == home[name], (slugs, name)
        assert (record["verdict"] == "pass") is not bool(slugs)


def test_an_answer_in_float64_from_whole_numbers_has_its_mistake_named(page):
    """numpy divides whole numbers in float64, torch, which computed what the mistakes give, in float32."""
    page.load(0)
    reply = page.check("00.shares", "def row_shares(counts):\n    return counts / counts.sum(axis=0)\n")
    assert "first-axis" in reply["html"] and reply["record"]["diagnosis"] == ["first-axis"]


SCORES = "def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)\n"


def test_page_tells_what_was_printed_what_was_raised_and_where(page):
    page.load(4)
    reply = page.check("04.scores", "print('hello')\n" + SCORES)
    assert (reply["printed"], reply["error"], reply["record"]["verdict"]) == ("hello", "", "pass")
    reply = page.check("04.scores", "def scores(q, k):\n    return q @ k.T\n")
    assert reply["record"]["diagnosis"] == ["all-axes"] or "axes" in reply["text"]
    reply = page.check("04.scores", "\n\nimport torch\n")
    assert "line 3" in reply["error"] and "write it with numpy" in reply["error"] and "html" not in reply
    reply = page.check("04.scores", "def scores(q, k)\n    return 3\n")
    assert "SyntaxError" in reply["error"] and "line 1" in reply["error"]
    reply = page.check("04.scores", "def score(q, k):\n    return 3\n")
    assert "a function called `scores`" in reply["text"]
    reply = page.check("04.scores", "def scores(q, k):\n    return 1 / 0\n")
    assert reply["record"]["verdict"] == "error" and "line 2 of `scores`" in reply["text"]
    assert len(page.check("04.scores", "print('x' * 50_000)\n" + SCORES)["printed"]) < 11_000


def test_functions_of_earlier_tasks_are_at_hand_and_wrong_ones_are_replaced(page):
    page.load(2)
    preamble = ("", "import torch\nTAU = 0.5\n")
    weights = "def lookup_weights(scores, tau):\n    e = np.exp((scores - scores.max(-1, keepdims=True)) / tau)\n"
    right = ("02.weights", weights + "    return e / e.sum(-1, keepdims=True)\n")
    wrong = ("02.weights", weights + "    return e / e.sum()\n")
    source = "def soft_lookup(q, k, v):\n    return lookup_weights(q @ k.T, TAU) @ v\n"
    reply = page.check("02.lookup", source, preamble, right)
    assert reply["record"]["verdict"] == "pass" and "stood in" not in reply["text"]
    reply = page.check("02.lookup", source, preamble, wrong)
    assert reply["record"]["verdict"] == "pass" and "A sound function stood in for yours" in reply["text"]
    reply = page.check("02.lookup", source.replace("q @ k.T", "-(q @ k.T)"), preamble, wrong)
    assert reply["record"]["verdict"] != "pass"
    other = source.replace("q @ k.T, TAU", "q @ k.T / TAU, 1.0")
    assert "correct 02.weights first" in page.check("02.lookup", other, preamble, wrong)["text"]
    assert page.check("02.lookup", other, preamble, right)["record"]["verdict"] == "pass"


def test_page_names_all_earlier_tasks_that_sound_functions_stood_in_for(page):
    page.load(8)
    source = "def decoder_mask(ids, pad_id):\n    return causal_mask(*2 * ids.shape[1:]) & padding_mask(ids, pad_id)\n"
    reply = page.check("08.combine", source)
    assert reply["record"]["verdict"] == "pass"
    assert "Sound functions stood in for yours from tasks 08.causal and 08.padding, which are" in reply["text"]


def test_page_says_that_large_counts_overflow_there(page):
    page.load(12)
    wrong = "def product_cost(*args):\n    return 0\n"
    name = "12.product"
    assert "32 bits" in page.check(name, wrong)["text"]
    assert "32 bits" not in page.check("12.layer", "def layer_flops(*args):\n    return 0\n")["text"]


def test_no_answer_changes_the_judge_for_the_next_one(page):
    page.load(4)
    wrong = "def scores(q, k):\n    return q @ k.T * 0\n"
    builtin = "import builtins; del builtins.len"
    for spoils in ("np.abs = lambda x, *a, **k: np.zeros(np.shape(x))", "np.seterr(all='raise')", builtin):
        assert page.check("04.scores", f"{spoils}\n{wrong}")["record"]["verdict"] != "pass", spoils
        assert page.check("04.scores", wrong)["record"]["verdict"] != "pass"
        assert page.check("04.scores", SCORES)["record"]["verdict"] == "pass", spoils
    reply = page.check("04.scores", "raise ValueError('x' * 3_000_000)")
    assert len(reply["error"]) < 11_000
    reply = page.check("04.scores", "class Shy:\n    def __repr__(self):\n        return 1 / 0\nShy()")
    assert "ZeroDivisionError" in reply["error"]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_a_page_gets_holds_no_solution(chapter):
    archive = zipfile.ZipFile(io.BytesIO(library()))
    assert not [name for name in archive.namelist() if "tasks" in name or "solutions" in name]
    code = "\n".join(archive.read(name).decode() for name in archive.namelist())
    file = packed(chapter)
    for task in chosen(chapter):
        tree = next(
            node for node in ast.parse(solution(variant_of(task))).body if getattr(node, "name", "") == task.name
        )
        body = [ast.unparse(statement) for statement in tree.body if not isinstance(statement, ast.Expr)]
        whole = "\n".join(body)
        if len(whole) > 60:
            assert whole not in code and json.dumps(whole)[1:-1].encode() not in file, task.id


def test_cells_of_a_chapter_run_after_those_before_them(page):
    before = ["import numpy as np, torch\nfrom softlookup import model, reference", "rng = np.random.default_rng(0)"]
    cell = "x = rng.normal(size=3)\nreference.softmax(x)"
    first = page.ask({"do": "run", "cells": [*before, cell]})
    assert first["printed"].startswith("array([") and first["error"] == ""
    assert page.ask({"do": "run", "cells": [*before, cell]}) == first, "chance begins anew at each run"
    reply = page.ask({"do": "run", "cells": [*before, "model.DecoderLM"]})
    assert "The models need torch" in reply["error"] and "line 1" in reply["error"]
    table = "from softlookup_course.figures.page import table\ntable({'a': ['x|y', 2], 'b': [0.5, 0.25]})"
    assert page.ask({"do": "run", "cells": [table]})["tables"] == [[["a", "b"], ["x|y", "0.500"], ["2", "0.250"]]]
    drawn = "from softlookup_course.figures import show"
    assert "Pictures need JupyterLab" in page.ask({"do": "run", "cells": [drawn]})["error"]
