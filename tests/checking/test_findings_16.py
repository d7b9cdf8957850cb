"""Chapter 16: answers that passed and are wrong."""

import pytest

from published import everywhere, solutions, world
from softlookup.checking import get_task

EDITS = [
    (
        "16.schedule",
        [("computed >= prompt:", "computed >= prompt - 1:"), ("computed < prompt:", "computed < prompt - 1:")],
    ),
    ("16.stream", [("for stop in stops for n", "for stop in stops[:1] for n")]),
    ("16.stream", [("text[sent:]\n    return parts", "text[sent:]\n    return [one for one in parts if one]")]),
    ("16.speedup", [("/ steps > gain", "/ steps >= gain")]),
    ("16.batch-limit", [("computing > reading", "computing >= reading")]),
    ("16.admit", [("needed > left", "needed > left + 1")]),
    ("16.ragged", [("-torch.inf", "-1e4")]),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "edits"), EDITS)
def test_serving_answers_that_passed_and_are_wrong_lose_points(task_id, edits):
    task = get_task(task_id)
    source = solutions(16)[task.slug]
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    for result in everywhere(task_id, world(16, {task.slug: source})[task.name]):
        assert result.points < task.points, result.text()
