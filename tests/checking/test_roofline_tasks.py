"""Tasks of chapter 11: mistakes with units, and what is said of answers."""

import torch

from published import world
from softlookup_judge import check, tasks


def test_every_mistake_with_units_is_known_to_some_task():
    slugs = {mistake.slug for task in tasks(11) for mistake in task.mistakes}
    named = {"elements-for-bytes", "one-operation", "binary-everywhere", "binary-overlooked", "sparse-peak"}
    assert named | {"eight-hundred", "prefixes-mixed", "both-ways"} <= slugs


def test_operations_of_the_product_are_those_of_torchs_own_counter():
    from torch.utils.flop_counter import FlopCounterMode

    task = next(task for task in tasks(11) if task.id == "11.product")
    for t, d, f in ((3, 5, 7), (1, 64, 9)):
        with FlopCounterMode(display=False) as counter:
            torch.empty(t, d, device="meta") @ torch.empty(d, f, device="meta")
        assert task.oracle(t, d, f, 4)[0] == counter.get_total_flops()


def test_two_mistakes_in_one_product_are_both_named():
    source = "def product_cost(t, d, f, b):\n    return t*d*f, t*d + d*f + t*f"
    result = check("11.product", world(11, {"11-product": source})["product_cost"])
    assert result.verdict != "pass" and result.diagnosis == ("one-operation", "elements-for-bytes"), result.text()


def test_a_wrong_ridge_does_not_sink_a_later_answer_that_uses_it():
    later = "def attainable(p, b, i):\n    bend = ridge({'dense': {'x': p * 1e12}, 'memory': b * 1e9}, 'x')\n"
    later += "    return p if i >= bend else p * i / bend"
    wrong = "def ridge(sheet, dtype):\n    return sheet['dense'][dtype] / 800e9"
    result = check("11.attainable", world(11, {"11-ridge": wrong, "11-attainable": later})["attainable"])
    assert result.verdict == "pass", result.text()
