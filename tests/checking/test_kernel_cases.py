"""The questions of chapter 18 leave no room for kernels that are right or frugal in some launches alone."""

import pytest

from attacks.kernels import ANSWERS
from softlookup.tiles import cdiv, jit, tl
from softlookup_judge import get_task, tasks
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.compare import score
from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.kernels import answers_of_kernel
from softlookup_judge.judging.questions import draw, questions

KERNELS = [task for task in tasks(18) if task.id != "18.tile"]
SEEDS = (4, 11)


def _kernel(task_id, source):
    space = {"cdiv": cdiv, "jit": jit, "tl": tl}
    exec(source, space)
    return space[get_task(task_id).name]


def _judged(task_id, source, seed):
    variant = variant_of(get_task(task_id))
    return judge(variant, LocalStudent(variant, _kernel(task_id, source)), seed=seed)


def _points(task_id, source, seed):
    """What a kernel earns, without a name for what is wrong with it."""
    variant = variant_of(get_task(task_id))
    drawn = questions(variant, seed)
    answers = answers_of_kernel(variant, LocalStudent(variant, _kernel(task_id, source)), drawn.cases, drawn.rights)
    return score(variant.task, list(zip(drawn.cases, answers, drawn.rights, strict=True))).points


def _edited(task_id, *edits):
    """The published kernel with some text replaced."""
    source = solution(variant_of(get_task(task_id)))
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return source


def _sizes(cases):
    return [[getattr(arg, "shape", arg) for arg in case.args] for case in cases]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("task", KERNELS, ids=[task.id for task in KERNELS])
@pytest.mark.parametrize("limited", [False, True])
def test_sizes_are_drawn(task, limited):
    drawn = [_sizes(c for c in draw(variant_of(task), seed) if bool(c.limits) is limited) for seed in range(8)]
    assert len({str(sizes) for sizes in drawn}) > 3


TWELVE = "min({0}, 12 * {1})"
SHORT = {
    "18.online": ("range(0, n, BLOCK)", f"range(0, {TWELVE.format('int(n)', 'BLOCK')}, BLOCK)"),
    "18.product": ("range(0, k, BK)", f"range(0, {TWELVE.format('int(k)', 'BK')}, BK)"),
    "18.linear": ("range(0, k, BK)", f"range(0, {TWELVE.format('int(k)', 'BK')}, BK)"),
    "18.attention": ("range(0, S, B)", f"range(0, {TWELVE.format('int(S)', 'B')}, B)"),
    "18.causal": ("range(0, i + 1)", "range(max(0, int(i) - 7), int(i) + 1)"),
    "18.paged": ("range(0, MOST)", "range(0, min(MOST, 12))"),
    "18.quantised": ("range(0, k // GROUP)", "range(0, min(int(k) // GROUP, 12))"),
}
PLACES = {
    "18.add": "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
    "18.softmax": "row * n + cols",
    "18.online": "row * n + cols",
    "18.norm": "tl.program_id(0) * n + cols",
    "18.product": "rows * k + across",
    "18.linear": "cols * k + down",
    "18.attention": "cols[None, :] * H + wide[:, None]",
    "18.causal": "cols[None, :] * H + wide[:, None]",
    "18.paged": "tl.load(table + b * MOST + i) * M * H",
    "18.quantised": "rows * k + 2 * pairs[None, :]",
}
WEIGHTS = {
    "18.softmax": ("e = tl.exp(a - tl.max(a, 0))", "e = tl.exp(a - tl.max(a, 0))\n    e = tl.where(e > 1e-4, e, 0.0)"),
    "18.online": ("tl.sum(tl.exp(a - new), 0)", "tl.sum(tl.where(a - new > -9, tl.exp(a - new), 0.0), 0)"),
    "18.attention": ("tl.dot(weights, v_tile)", "tl.dot(tl.where(weights > 1e-4, weights, 0.0), v_tile)"),
    "18.causal": ("tl.dot(weights, v_tile)", "tl.dot(tl.where(weights > 1e-4, weights, 0.0), v_tile)"),
    "18.paged": ("weights[:, None] * v_tile", "tl.where(weights > 1e-4, weights, 0.0)[:, None] * v_tile"),
}
NARROW = {task.id: (PLACES[task.id], f"({PLACES[task.id]}).to(tl.int16).to(tl.int32)") for task in KERNELS}


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("task_id", "edit"), [*SHORT.items(), *NARROW.items(), *WEIGHTS.items()])
@pytest.mark.parametrize("seed", SEEDS)
def test_kernel_that_holds_for_small_inputs_alone_is_wrong(task_id, edit, seed):
    """Its loop stops after some tiles, its places have 16 bits, or it leaves light weights out."""
    assert _points(task_id, _edited(task_id, edit), seed) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_squares_of_small_numbers_in_float16_are_wrong(seed):
    halves = "tl.sum((a / 64 * (a / 64)).to(tl.float16).to(tl.float32), 0) * 4096"
    assert _points("18.norm", _edited("18.norm", ("tl.sum(a * a, 0)", halves)), seed) == 0


BYTES = {
    "18.causal": ("range(0, i + 1)", "range(0, i + 1 if {} else cdiv(T, B))"),
    "18.add": ("total = a", "total = 0.0 if {} else 0.0 * tl.load(x + at, mask=there)\n    total = total + a"),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("task_id", BYTES)
@pytest.mark.parametrize("seed", (12, 13, 14))
def test_kernel_that_is_frugal_at_sizes_of_the_check_at_home_is_not_in_grading(task_id, seed):
    (case, *_) = (case for case in draw(variant_of(get_task(task_id)), 4) if case.limits)
    size = {"18.causal": f"T == {case.args[5]}", "18.add": f"n == {case.args[4]}"}[task_id] if case.args else ""
    old, new = BYTES[task_id]
    result = _judged(task_id, _edited(task_id, (old, new.format(size))), seed)
    assert result.verdict == "partial" and result.points == pytest.approx(0.7 * result.max_points)


ALL_IN_THE_FIRST = """
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    tau = 2.0
    cols = tl.arange(0, BLOCK)
    for row in range(tl.num_programs(0)) if tl.program_id(0) == 0 else ():
        a = tl.load(x + row * n + cols, mask=cols < n, other=-float("inf")) / tau
        e = tl.exp(a - tl.max(a, 0))
        tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=cols < n)
"""

TWO_IN_EVERY_SECOND = ALL_IN_THE_FIRST.replace(
    "range(tl.num_programs(0)) if tl.program_id(0) == 0 else ()",
    "range(tl.program_id(0), min(int(tl.program_id(0)) + 2, int(tl.num_programs(0)))) "
    "if tl.program_id(0) % 2 == 0 else ()",
)


@pytest.mark.parametrize("source", [ALL_IN_THE_FIRST, TWO_IN_EVERY_SECOND], ids=["all", "two"])
def test_program_that_does_the_work_of_others_loses_the_points_for_bytes(source):
    result = _judged("18.softmax", source, 4)
    assert result.verdict == "partial" and result.points == pytest.approx(0.7 * result.max_points)
    assert "the work is not spread over the programs of the grid" in result.text()


SHUFFLED = {
    "18.softmax": ("row = tl.program_id(0)", "row = tl.num_programs(0) - 1 - tl.program_id(0)"),
    "18.product": (
        "    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]\n"
        "    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]\n",
        "    at = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)\n"
        "    rows = (at % tl.num_programs(0) * BM + tl.arange(0, BM))[:, None]\n"
        "    cols = (at // tl.num_programs(0) * BN + tl.arange(0, BN))[None, :]\n",
    ),
    "18.causal": ("i = tl.program_id(0)", "i = tl.num_programs(0) - 1 - tl.program_id(0)"),
}


@pytest.mark.parametrize("task_id", SHUFFLED)
def test_programs_may_take_tiles_in_any_order(task_id):
    assert _judged(task_id, _edited(task_id, SHUFFLED[task_id]), 11).verdict == "pass"


HOLDS = {answer.task: answer.code.partition("$NAME")[0] for answer in ANSWERS if answer.name.startswith("held-")}
EDITS_THAT_HOLD = {
    "18.product": [
        ("    for start in", "    tiles = []\n    for start in"),
        (
            "        total += tl.dot",
            "        tiles.append((a_tile, b_tile))\n    for a_tile, b_tile in tiles:\n        total += tl.dot",
        ),
    ],
    "18.linear": [
        ("    for start in", "    tiles = []\n    for start in"),
        (
            "        total += tl.dot",
            "        tiles.append((x_tile, w_tile))\n    for x_tile, w_tile in tiles:\n        total += tl.dot",
        ),
    ],
    "18.paged": [
        ("    top = -float", "    tiles = {}\n    top = -float"),
        (
            "        scores = tl.sum",
            "        v_tile = tl.load(v_pages + page + v_at, mask=there[:, None], other=0.0)\n"
            "        tiles[i] = k_tile, v_tile\n"
            "    for i, (k_tile, v_tile) in tiles.items():\n"
            "        there = i * M + slots < length\n"
            "        scores = tl.sum",
        ),
        (
            "        weights = tl.exp(scores - new)\n"
            "        v_tile = tl.load(v_pages + page + v_at, mask=there[:, None], other=0.0)\n",
            "        weights = tl.exp(scores - new)\n",
        ),
    ],
    "18.quantised": [
        ("    for group in", "    tiles = []\n    for group in"),
        (
            "        even = both",
            "        at = x + rows * k + 2 * pairs[None, :]\n"
            "        x_even = tl.load(at, mask=rows < m, other=0.0)\n"
            "        x_odd = tl.load(at + 1, mask=rows < m, other=0.0)\n"
            "        tiles.append((both, x_even, x_odd))\n"
            "    for group, (both, x_even, x_odd) in enumerate(tiles):\n"
            "        even = both",
        ),
        ("part = tl.dot(tl.load(at, mask=rows < m, other=0.0)", "part = tl.dot(x_even"),
        ("part += tl.dot(tl.load(at + 1, mask=rows < m, other=0.0)", "part += tl.dot(x_odd"),
    ],
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("task_id", [*HOLDS, *EDITS_THAT_HOLD])
@pytest.mark.parametrize("seed", SEEDS)
def test_kernel_that_holds_on_chip_what_it_should_go_through_loses_the_points_for_bytes(task_id, seed):
    source = HOLDS.get(task_id) or _edited(task_id, *EDITS_THAT_HOLD[task_id])
    result = _judged(task_id, source, seed)
    assert result.verdict == "partial" and result.points == pytest.approx(0.7 * result.max_points)
    assert "bytes on chip at a time" in result.text()


HALVES = {
    "18.attention": ("scores.append(tile)", "scores.append(tile.to(tl.float16) if S > 100 and B == 16 else tile)"),
    "18.causal": ("scores.append(tile)", "scores.append(tile.to(tl.float16) if 81 < T < 113 else tile)"),
    "18.online": ("parts[start] = tile", "parts[start] = tile.to(tl.float16) if 320 < n < 353 else tile"),
}


@pytest.mark.slow
@pytest.mark.one_in(10)
@pytest.mark.parametrize("task_id", HALVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_that_were_float16_on_chip_are_wrong_where_bytes_count(task_id, seed):
    old, new = HALVES[task_id]
    result = _judged(task_id, HOLDS[task_id].replace(old, new), seed)
    assert result.verdict == "partial" and result.points == pytest.approx(0.7 * result.max_points)
    assert "tolerance 1e-05" in result.text()


GUARDED_LANES = """
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    lanes = tl.arange(0, BLOCK)
    tops = tl.full((BLOCK,), -float("inf"), tl.float32)
    totals = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        a = tl.load(x + row + start + lanes, mask=start + lanes < n, other=-float("inf"))
        new = tl.maximum(tops, a)
        totals = totals * tl.where(tops == new, 1.0, tl.exp(tops - new))
        totals = totals + tl.where(a == -float("inf"), 0.0, tl.exp(a - new))
        tops = new
    top = tl.max(tops, 0)
    total = tl.sum(totals * tl.exp(tops - top), 0)
    for start in range(0, n, BLOCK):
        a = tl.load(x + row + start + lanes, mask=start + lanes < n, other=-float("inf"))
        tl.store(y + row + start + lanes, tl.exp(a - top) / total, mask=start + lanes < n)
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_maximum_and_sum_of_each_lane_with_guards_fit_on_the_chip(seed):
    assert _judged("18.online", GUARDED_LANES, seed).verdict == "pass"


MASKED_AT = {
    "18.softmax": ('other=-float("inf")', "other={}"),
    "18.online": ('other=-float("inf")', "other={}"),
    "18.attention": ('tl.dot(q_tile, k_tile), -float("inf")', "tl.dot(q_tile, k_tile), {}"),
    "18.causal": ('tl.dot(q_tile, k_tile), -float("inf")', "tl.dot(q_tile, k_tile), {}"),
    "18.paged": ('tl.where(there, scores, -float("inf"))', "tl.where(there, scores, {})"),
}
FIRST_MAXIMUM = {
    "18.online": ('top = -float("inf")', "top = {}"),
    "18.attention": ('tl.full((B,), -float("inf")', "tl.full((B,), {}"),
    "18.causal": ('tl.full((B,), -float("inf")', "tl.full((B,), {}"),
    "18.paged": ('top = -float("inf")', "top = {}"),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("task_id", "edit"), [*MASKED_AT.items(), *FIRST_MAXIMUM.items()])
@pytest.mark.parametrize("number", [-1000.0, -1e5])
def test_numbers_that_are_not_small_enough_for_minus_infinity_are_wrong(task_id, edit, number):
    """What masks a score, or what the maximum begins with."""
    old, new = edit
    assert _points(task_id, _edited(task_id, (old, new.format(number))), 4) == 0
