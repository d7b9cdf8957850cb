"""What chapter 11 promises of its tasks as a whole, and answers as students write them."""

import pytest
import torch

from published import constants_of, world
from softlookup_judge import check, tasks


def test_every_listed_mistake_of_units_is_known_to_some_task():
    known = {mistake.number for task in tasks(11) for mistake in task.mistakes}
    assert {78, 80, 81} <= known
    slugs = {mistake.slug for task in tasks(11) for mistake in task.mistakes}
    named = {"elements-for-bytes", "one-operation", "binary-everywhere", "binary-overlooked", "sparse-peak"}
    assert named | {"eight-hundred", "prefixes-mixed", "both-ways"} <= slugs


def test_at_least_eight_tasks_and_two_with_variants():
    assert len(tasks(11)) >= 8
    varied = [task for task in tasks(11) if len(constants_of(task)) > 1]
    assert len(varied) >= 2
    for task in varied:
        named = [constants["named"] for constants in constants_of(task)]
        assert len(set(named)) == len(named)


def test_operations_of_the_product_are_those_of_torchs_own_counter():
    from torch.utils.flop_counter import FlopCounterMode

    task = next(task for task in tasks(11) if task.id == "11.product")
    for t, d, f in ((3, 5, 7), (1, 64, 9)):
        with FlopCounterMode(display=False) as counter:
            torch.empty(t, d, device="meta") @ torch.empty(d, f, device="meta")
        assert task.oracle(t, d, f, 4)[0] == counter.get_total_flops()


@pytest.mark.parametrize(
    ("slug", "source", "diagnosis"),
    [
        ("11-intensity", "def intensity(r, w, o, bits):\n    return o / (r + w)", ("elements-for-bytes",)),
        ("11-intensity", "def intensity(r, w, o, bits):\n    return o / (4 * (r + w))", ("always-four",)),
        ("11-product", "def product_cost(t, d, f, b):\n    return t*d*f, b*(t*d + d*f + t*f)", ("one-operation",)),
        ("11-product", "def product_cost(t, d, f, b):\n    return 2*t*d*f, t*d + d*f + t*f", ("elements-for-bytes",)),
        (
            "11-product",
            "def product_cost(t, d, f, b):\n    return t*d*f, t*d + d*f + t*f",
            ("one-operation", "elements-for-bytes"),
        ),
        ("11-ridge", "def ridge(sheet, dtype):\n    return sheet['dense'][dtype] / 800e9", ("eight-hundred",)),
        ("11-attainable", "def attainable(p, b, i):\n    return min(p, b * i)", ("prefixes-mixed",)),
        ("11-attainable", "def attainable(p, b, i):\n    return min(p * 1e12, b * 1e9 * i)", ("other-unit",)),
        ("11-attainable", "def attainable(p, b, i):\n    return min(p, b / 1e3 / i)", ("divided",)),
        ("11-rows", "def fewest_rows(d, f, b, ridge):\n    return math.ceil(ridge * b / 2)", ("matrix-alone",)),
        (
            "11-time",
            "def least_time(ops, p, b):\n    return sum(x / p + y / b for x, y in ops)",
            ("added",),
        ),
        (
            "11-near",
            "def how_near(fl, by, s, p, b):\n    return fl / s / p, fl / by >= p / b",
            ("share-of-peak",),
        ),
        (
            "11-link",
            "def time_with_link(f, n, l, p, b, k):\n    t = (f/p, n/b, l/k)\n    return max(t), t.index(max(t))",
            ("both-ways",),
        ),
    ],
)
def test_roofline_answers_as_students_write_them_wrongly_are_named(slug, source, diagnosis):
    task = next(task for task in tasks(11) if task.slug == slug)
    result = check(task.id, world(11, {slug: source})[task.name])
    assert result.verdict != "pass" and result.diagnosis == diagnosis, result.text()


def test_a_wrong_ridge_does_not_sink_a_later_answer_that_uses_it():
    later = "def attainable(p, b, i):\n    bend = ridge({'dense': {'x': p * 1e12}, 'memory': b * 1e9}, 'x')\n"
    later += "    return p if i >= bend else p * i / bend"
    wrong = "def ridge(sheet, dtype):\n    return sheet['dense'][dtype] / 800e9"
    result = check("11.attainable", world(11, {"11-ridge": wrong, "11-attainable": later})["attainable"])
    assert result.verdict == "pass", result.text()
