"""Chapter 14: the slides' own tables are what they are said to be, and answers that passed and are wrong."""

import numpy as np
import pytest

from published import edited, everywhere, world
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

PASSED = [
    ("14.checksum", "> half * printed.shape[0]", "> half * printed.shape[0] + 1e-5 * np.abs(printed.sum(axis=0))"),
    ("14.hypothesis", "agrees(printed, one, places)", "agrees(printed, one, 2)"),
    ("14.uniform", "agrees(printed, weights @ v, places)", "agrees(printed, weights @ v, 1)"),
    ("14.scores", "agrees(printed[model], report, places)", "agrees(printed[model], report, 1)"),
    ("14.intensity", "agrees(printed, per_byte, places)", "agrees(printed, per_byte, 4)"),
    ("14.intensity", "agrees(printed, per_number, places)", "agrees(printed, per_number, 4)"),
    ("14.polarity", "mask = np.broadcast_to", "weights = weights[: len(mask)]\n    mask = np.broadcast_to"),
    ("14.rows", "(weights < 0)", "(weights <= 0)"),
    ("14.rank", "values[largest] > rounding", "values[largest:].sum() > rounding"),
    ("14.rank", "values[largest] > rounding", "np.sqrt((values[largest:] ** 2).sum()) > rounding"),
    (
        "14.scores",
        "published[0, 0] > published[1, 0]",
        "np.round(published[0, 0], places) > np.round(published[1, 0], places)",
    ),
    ("14.conventions", "len(set(kinds)) > 1", "kinds[0] != kinds[-1]"),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "old", "new"), PASSED)
def test_answers_that_hold_for_some_tables_alone_do_not_pass(task_id, old, new):
    for result in everywhere(task_id, edited(task_id, [(old, new)])):
        assert result.verdict == "wrong", result.text()


def test_the_largest_weight_alone_is_not_taken_for_the_first_row_alone():
    code = "look = hide = False\n    return int(mask.flat[weights.argmax()])\n    look ="
    for result in everywhere("14.polarity", edited("14.polarity", [("look =", code)])):
        assert result.verdict == "wrong" and not result.diagnosis, result.text()


def answer(name, *args):
    """What the published solution says."""
    return world(14)[name](*args)


@pytest.mark.parametrize("task", tasks(14), ids=lambda task: task.id)
def test_no_answer_fits_every_question(task):
    """Fresh tables have slips and have none: whoever always accuses, or never, is wrong somewhere."""
    cases = draw(variant_of(task), 3)
    answers = {float(value) for case in cases for value in expected_results(variant_of(task), case)[0].ravel()}
    assert len(answers) > 1


def test_tables_of_the_first_slide_have_the_cells_that_are_listed_as_off():
    result = next(item for item in read("first_head") if item.id == "E001").recompute()
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


def test_a_wrong_first_answer_costs_its_points_once():
    broken = {"14-printed": "def agrees(printed, true, places):\n    return printed == true\n"}
    for slug in ("14-hypothesis", "14-uniform", "14-split", "14-scores", "14-intensity"):
        task = next(task for task in tasks(14) if task.slug == slug)
        assert check(task.id, world(14, broken)[task.name]).verdict == "pass", slug
