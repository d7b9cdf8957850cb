"""Chapter 14: answers that passed and are wrong, and a sentence that was not true of some code."""

import pytest

from published import everywhere, solutions, world
from softlookup_judge import get_task

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


def results(task_id, old, new):
    task = get_task(task_id)
    source = solutions(14)[task.slug]
    assert old in source
    return everywhere(task_id, world(14, {task.slug: source.replace(old, new)})[task.name])


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "old", "new"), PASSED)
def test_answers_that_hold_for_some_tables_alone_do_not_pass(task_id, old, new):
    for result in results(task_id, old, new):
        assert result.verdict == "wrong", result.text()


def test_the_largest_weight_alone_is_not_taken_for_the_first_row_alone():
    code = "look = hide = False\n    return int(mask.flat[weights.argmax()])\n    look ="
    for result in results("14.polarity", "look =", code):
        assert result.verdict == "wrong" and not result.diagnosis, result.text()
