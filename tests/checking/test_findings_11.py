"""Chapter 11: answers that passed and are wrong, right ones that lost points, and mistakes with units."""

import pytest
import torch

from published import results, world, written
from softlookup_judge import check, tasks

FUSE = (
    "def bytes_moved(steps, keep, n, w):\n    apart = sum(len(set({0})) + 1 for _, i in steps)\n"
    "    made, read = {{o for o, _ in steps}}, set({1})\n    return apart * n * w, (len(read - made) + {2}) * n * w"
)
ALL_NAMES = "[x for _, i in steps for x in i]"
SHEET = (
    "def read_sheet(text):\n    number, unit = text.rstrip('*').split()\n    value = float(number.replace(',', ''))\n"
    "    power, star = {{'M': 2, 'G': 3, 'T': 4}}[unit[0]], '*' in text\n    return {0}"
)
TRIED = (
    "def fewest_rows(d, f, w, ridge):\n    for t in range(1, 5000):\n"
    "        if 2 * t * d * f / (w * (t * d + d * f + t * f)) >= ridge:\n            return t\n    return 0"
)
NEAR = "def how_near(flops, n_bytes, seconds, peak, road):\n    a, b = flops / peak, n_bytes / road\n    return {}"

LIMITS = (
    "def time_with_link(flops, n_bytes, link_bytes, peak, road, link):\n"
    "    t = [flops / {}, n_bytes / {}, 2 * link_bytes / link]\n    return max(t), t.index(max(t))"
)

ACCEPTED = [
    ("the peak of an A100", "11.link", LIMITS.format("312e12", "road")),
    ("the bandwidth of an A100", "11.link", LIMITS.format("peak", "2039e9")),
    ("some number is read", "11.intensity", "def intensity(r, w, o, bits):\n    return o / (max(r, 1) + w) / bits * 8"),
    ("names of one letter", "11.fuse", FUSE.format("''.join(i)", f"''.join({ALL_NAMES})", "len(keep)")),
    ("a few units by heart", "11.sheet", SHEET.format("value * {'TFLOPS': 1e12, 'TOPS': 1e12, 'GB/s': 1e9, 'TB/s': "
    "1e12, 'GB': 1e9, 'GiB': 2**30, 'MiB': 2**20, 'MB/s': 1e6, 'TiB': 2**40}[unit] / (1 + star)")),
    ("more units by heart", "11.sheet", SHEET.format("value * (1024 if 'i' in unit else 1e3) ** power / (1 + star) if "
    "unit in ('TFLOPS', 'GFLOPS', 'TOPS', 'TB/s', 'GB/s', 'MB/s', 'MiB/s') or unit[-1] == 'B' else 0")),
    ("only the first few thousand rows tried", "11.rows", TRIED),
    ("bound by what was reached", "11.near", NEAR.format("max(a, b) / seconds, flops / seconds >= peak / 2")),
]  # fmt: skip


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("what", "task_id", "source"), ACCEPTED, ids=lambda value: value[:20])
def test_answers_that_hold_for_special_inputs_alone_do_not_pass(what, task_id, source):
    for result in results(task_id, source):
        assert result.verdict in ("wrong", "error"), (what, result.text())


def test_a_reciprocal_at_the_ridge_costs_nothing():
    """2/R - 1/D - 1/F rounds: no question may hang on the last bit of it."""
    source = (
        "def fewest_rows(d, f, w, ridge):\n    left = 2 / (ridge * w) - 1 / d - 1 / f\n"
        "    return math.ceil(1 / left) if left > 0 else 0"
    )
    for result in results("11.rows", source):
        assert result.verdict == "pass", result.text()


@pytest.mark.usefixtures("verdicts_alone")
def test_half_of_a_sparse_peak_is_a_wrong_ridge():
    peak = "sheet['sparse'].get(dtype, 2 * sheet['dense'][dtype]) / 2"
    for result in results("11.ridge", f"def ridge(sheet, dtype):\n    return {peak} / sheet['memory']"):
        assert result.verdict == "wrong", result.text()


def test_the_larger_of_reads_and_writes_is_not_told_that_stores_are_forgotten():
    for result in results("11.intensity", "def intensity(r, w, o, bits):\n    return o / (max(r, w) * bits / 8)"):
        assert result.verdict == "wrong" and not result.diagnosis, result.text()


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
    result = check("11.product", written("11.product", source))
    assert result.verdict != "pass" and result.diagnosis == ("one-operation", "elements-for-bytes"), result.text()


def test_a_wrong_ridge_does_not_sink_a_later_answer_that_uses_it():
    later = "def attainable(p, b, i):\n    bend = ridge({'dense': {'x': p * 1e12}, 'memory': b * 1e9}, 'x')\n"
    later += "    return p if i >= bend else p * i / bend"
    wrong = "def ridge(sheet, dtype):\n    return sheet['dense'][dtype] / 800e9"
    result = check("11.attainable", world(11, {"11-ridge": wrong, "11-attainable": later})["attainable"])
    assert result.verdict == "pass", result.text()
