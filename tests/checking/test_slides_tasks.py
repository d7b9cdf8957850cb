"""What the tasks on the slides' errors promise: the slides' own tables, and mistakes as students write them."""

import re

import numpy as np
import pytest

from published import ROOT, constants_of, solutions, world
from softlookup_course.slide_audit import (
    first_head,
    identity_head,
    intensity_001,
    masks_004,
    positions_001,
    uniform_head,
)
from softlookup_course.slide_audit.rows import read
from softlookup_judge import check, tasks
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import draw

PAGE = (ROOT / "book" / "14_slides_recomputed.md").read_text(encoding="utf-8")


def answer(name, *args):
    """What the published solution says."""
    return world(14)[name](*args)


def test_at_least_nine_tasks_and_two_with_variants_that_say_what_they_ask():
    assert len(tasks(14)) >= 9
    varied = [task for task in tasks(14) if len(constants_of(task)) > 1]
    assert len(varied) >= 2
    assert all(
        len({constants["named"] for constants in constants_of(task)}) == len(constants_of(task)) for task in varied
    )


@pytest.mark.parametrize("task", tasks(14), ids=lambda task: task.id)
def test_slides_page_names_the_task_and_has_the_section_it_links_to(task):
    assert f"`{task.id}`" in PAGE and f"minutes_{task.slug}" in PAGE
    assert re.search(rf"^\({task.anchor}\)=$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("task", tasks(14), ids=lambda task: task.id)
def test_no_sentence_of_a_mistake_on_slides_is_empty_or_said_twice_in_one_task(task):
    sentences = [mistake.says for mistake in task.mistakes]
    assert (
        len(sentences) >= 5
        and all(len(sentence) > 20 for sentence in sentences)
        and len(set(sentences)) == len(sentences)
    )
    assert solutions(14)[task.slug]


@pytest.mark.parametrize("task", tasks(14), ids=lambda task: task.id)
def test_no_answer_fits_every_question(task):
    """Fresh tables have slips and have none: whoever always accuses, or never, is wrong somewhere."""
    cases = draw(variant_of(task), 3)
    answers = {float(value) for case in cases for value in expected_results(variant_of(task), case)[0].ravel()}
    assert len(answers) > 1


def test_tables_of_the_first_slide_have_the_cells_that_are_listed_as_off():
    result = next(item for item in read("first_head") if item.id == "E001").work()
    right = first_head.X @ first_head.W_Q
    assert np.array_equal(answer("agrees", np.array(first_head.QUERIES), right, 2), ~result.off)
    recipes = np.stack([right, first_head.X @ first_head.W_Q.T])
    assert answer("best_hypothesis", np.array(first_head.QUERIES), recipes, 2) == (0, (~result.off).sum())
    keys = answer("suspects", first_head.X, first_head.W_K, np.array(first_head.KEYS), 2)
    assert keys[:, 2].all() and not keys[:, 0].any()


def test_tables_of_the_second_slide_are_no_softmax_and_have_too_much_rank():
    assert np.array_equal(
        answer("impossible_rows", identity_head.WEIGHTS, 3), ~identity_head.sums_to_one(identity_head.WEIGHTS)
    )
    assert answer("too_much_rank", identity_head.SCORES, 3, 2) == (3, True)
    x = identity_head.X
    assert answer("too_much_rank", (x @ x.T).round(2), 3, 2) == (3, False)
    assert answer("place_of", x, x, np.array([2, 2, 2, 2, 2]))[0] == len(x), "the most looked at is the least"


def test_output_of_the_third_slide_is_that_of_equal_weights():
    h = uniform_head
    assert answer("how_mixed", h.Q, h.K, h.V, h.OUTPUT, 2) == 3


def test_masks_of_the_slide_leak_where_they_are_joined_by_or():
    ticks, words = masks_004.TICKS, masks_004.WORDS[None]
    joined = ticks | words
    assert answer("leaks", ticks, words, joined, True).sum() == ((joined == 1) & (ticks * words == 0)).sum() > 0
    assert not answer("leaks", ticks, words, ticks & words, True).any()


def test_quotients_and_intensities_of_the_slides_are_recognised():
    peaks = [intensity_001.PEAK / 1e12]
    rates = [bandwidth / 1e9 for bandwidth in (intensity_001.SLIDE_BANDWIDTH, intensity_001.PCIE, intensity_001.SXM)]
    assert answer("which_quotient", peaks, rates, 390) == (0, 0)
    assert answer("which_quotient", peaks, rates, 153) == (0, 2)
    assert answer("counted_how", 1, 2, 1, 4, 0.333, 3) == (1, 1 / 12)
    layer = [[3, 50, 64, 64], [1, 50, 64, 64], [8, 50, 64, 64]]
    unit = 50 * 64 * 64
    assert answer("conventions", layer, [unit, unit, 16 * unit]) == ([0, 1, 2], True)


def test_rows_of_the_two_models_come_from_different_data():
    published = np.stack([[positions_001.DEV, positions_001.BERT], [positions_001.ROFORMER, positions_001.DEV]])
    printed = np.stack([positions_001.BERT, positions_001.ROFORMER])
    assert answer("measured_on", printed, published, 1)[0] == [1, 0]


@pytest.mark.parametrize(
    ("slug", "source", "mistake"),
    [
        (
            "14-rows",
            "def impossible_rows(w, p):\n    return (abs(w.sum(-1) - 1) > 1e-9) | (w.min(-1) < 0)",
            "no-rounding",
        ),
        (
            "14-place",
            "def place_of(q, k, c):\n    return (-(q @ k.T)).argsort(1)[range(len(q)), c] + 1",
            "sorted-index",
        ),
        (
            "14-rank",
            "def too_much_rank(s, h, p):\n    r = min(h, *s.shape)\n    return r, np.linalg.matrix_rank(s) > r",
            "no-rounding",
        ),
        (
            "14-split",
            "def cut_or_projected(x, w, t, p):\n    n, _, h = t.shape\n    found = []\n    for i in range(n):\n"
            "        o = slice(i, None, n)\n        a = agrees(t[i], x @ w[:, o], p).all()\n"
            "        b = agrees(t[i], x[:, o] @ w[o, o], p).all()\n        found.append(0 if a else 1 if b else 2)\n"
            "    return found",
            "interleaved",
        ),
        (
            "14-balance",
            "def which_quotient(a, b, n):\n    for i, x in enumerate(a):\n        for j, y in enumerate(b):\n"
            "            if int(x * 1000 / y) == n:\n                return i, j\n    return -1, -1",
            "cut-off",
        ),
    ],
)
def test_mistakes_on_slides_as_students_write_them_are_named(slug, source, mistake):
    task = next(task for task in tasks(14) if task.slug == slug)
    result = check(task.id, world(14, {slug: source})[task.name])
    assert (result.verdict, result.diagnosis) == ("wrong", (mistake,)), result.text()


def test_a_wrong_first_answer_costs_its_points_once():
    broken = {"14-printed": "def agrees(printed, true, places):\n    return printed == true\n"}
    for slug in ("14-hypothesis", "14-uniform", "14-split", "14-scores", "14-intensity"):
        task = next(task for task in tasks(14) if task.slug == slug)
        assert check(task.id, world(14, broken)[task.name]).verdict == "pass", slug
