"""Chapter 16: answers that passed and are wrong."""

import numpy as np
import pytest

from published import edited, everywhere
from softlookup_judge import get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

BY_BLOCKS = [
    ("while same <", "while same + block_size <="),
    ("prompt[same] == other[same]", "mark(prompt, same) == mark(other, same)"),
    ("same += 1", "same += block_size"),
]
SUM = "    def mark(ids, at):\n        return sum(n * n + n for n in ids[at : at + block_size])\n\n"
LIBRARY_FOR_LONG = "        if size > 64:\n            part = x[:, start : start + size].sum(dim=1)\n"
STILL_OPEN = "any(stop.startswith(text[at:]) for stop in stops for at in range(min(found)))"
EDITS = [
    ("16.stream", [("for stop in stops for n", "for stop in stops[:1] for n")]),
    ("16.stream", [("text[sent:]\n    return parts", "text[sent:]\n    return [one for one in parts if one]")]),
    ("16.speedup", [("/ steps > gain", "/ steps >= gain")]),
    ("16.batch-limit", [("computing > reading", "computing >= reading")]),
    ("16.admit", [("needed > left", "needed > left + 1")]),
    ("16.ragged", [("-torch.inf", "-1e4")]),
    ("16.constrained-step", [("min(k, scores.shape[1])", "k")]),
    ("16.stream", [("if found:", f"if found and not {STILL_OPEN}:")]),
    # These are right on small inputs.
    ("16.append", [("len(tables)", "min(len(tables), 32)")]),
    ("16.free", [("in ended:", "in ended[:16]:")]),
    ("16.ragged", [("behind = ", "scores[..., 256:] = -torch.inf\n    behind = ")]),
    ("16.prefix", [("prompt[same] == other[same]", "(prompt[same] - other[same]) % 2**16 == 0")]),
    ("16.prefix", [("in earlier:", "in earlier[-64:]:")]),
    ("16.prefix", [("min(len(prompt), len(other))", "min(len(prompt), len(other), 256)")]),
    ("16.prefix", [*BY_BLOCKS, ("    longest = 0", SUM + "    longest = 0")]),
    ("16.batches", [("[:slots]", "[: min(slots, 32)]")]),
    ("16.schedule", [("enumerate(running)", "enumerate(running[:256])")]),
    ("16.stream", [("range(len(stop))", "range(min(len(stop), 32))")]),
    ("16.stream", [("in stops if", "in stops[:32] if")]),
    ("16.simulate", [("range(1000)", "range(200)")]),
    ("16.latencies", [("sorted(values)", "sorted(values[:256])")]),
    ("16.token-mask", [("in characters:", "in characters[:8]:")]),
    ("16.token-mask", [("in characters:", "in characters[:64]:")]),
    ("16.constrained-step", [("scores.topk", "scores.bfloat16().topk")]),
    ("16.constrained-step", [("scores.topk(min(k,", "scores.topk(min(k, 256,")]),
    ("16.split-sum", [("        total = total + part", LIBRARY_FOR_LONG + "        total = total + part")]),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "edits"), EDITS)
def test_serving_answers_that_passed_and_are_wrong_lose_points(task_id, edits):
    for result in everywhere(task_id, edited(task_id, edits)):
        assert result.points < get_task(task_id).points, result.text()


@pytest.mark.parametrize("seed", [1, 2, 9])
def test_simulate_questions_do_not_hang_on_rounding(seed):
    """A step that ended at an arrival would be decided by the order in which an answer adds up its times."""
    task = get_task("16.simulate")
    for case in draw(variant_of(task), seed):
        *before, fixed, each = case.args
        right = np.array(task.oracle(*case.args))
        for factor in (1 - 1e-9, 1 + 1e-9):
            np.testing.assert_allclose(np.array(task.oracle(*before, fixed * factor, each * factor)), right, rtol=1e-6)
