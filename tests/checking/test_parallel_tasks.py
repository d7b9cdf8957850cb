"""Tasks of chapter 19: what an answer may send, and the points for traffic."""

import numpy as np
import pytest

from published import ROOT
from softlookup.ranks import run_here
from softlookup_inside.asking.calling import inputs_for
from softlookup_inside.ranks.packing import DTYPES, pack_inbox
from softlookup_judge import check, tasks
from softlookup_judge.authoring import read_solution
from softlookup_judge.data.compare import inputs_of
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw, questions_at_home
from softlookup_judge.judging.ranks import rank_question

RANK_TASKS = [task for task in tasks(19) if questions_at_home(variant_of(task)).cases[0].world]
RINGS = {"19.reduce-scatter": 1, "19.all-gather": 1, "19.all-reduce": 2, "19.fsdp": 2}
"""How many times a ring carries all parts but one of an array."""


def _text(task, number):
    cells = read_solution(ROOT / "solutions" / "19_many_devices.py", {task.id: number}).cells
    return next(cell.source for cell in cells if f"### Task {task.id} ·" in cell.source)


def _traffic(task, case):
    inputs = [inputs_for(rank_question(case, rank, pack_inbox({}))) for rank in range(case.world)]
    return run_here(answer(variant_of(task), ()), inputs, case.offers).traffic


@pytest.mark.parametrize("task", RANK_TASKS, ids=[task.id for task in RANK_TASKS])
def test_an_answer_may_send_what_the_published_one_sends(task):
    limited = [case for case in draw(variant_of(task), 5) if case.limits]
    assert limited and all(case.world >= 3 for case in limited), task.id
    for case in limited:
        traffic = _traffic(task, case)
        costs = traffic.busiest_link_bytes, len(traffic.messages), traffic.steps, traffic.busiest_rank_bytes
        assert all(limit is None or cost <= limit for cost, limit in zip(costs, case.limits, strict=False))


@pytest.mark.parametrize("task", [task for task in RANK_TASKS if task.id in RINGS], ids=lambda task: task.id)
def test_rings_load_each_link_as_their_text_says(task):
    for case in draw(variant_of(task), 5):
        if not case.limits:
            continue
        array, parts = case.args[0][0], 1 if task.id in ("19.all-gather", "19.fsdp") else case.world
        n_bytes = RINGS[task.id] * (case.world - 1) * array.nbytes // parts
        traffic = _traffic(task, case)
        assert case.limits == (n_bytes, None, None, n_bytes)
        assert traffic.link_bytes == {(rank, (rank + 1) % case.world): n_bytes for rank in range(case.world)}
        assert traffic.sent_bytes == traffic.received_bytes == [n_bytes] * case.world
        assert array.dtype in (np.float32, np.float64)


def examples_for_everybody(w, x, y, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    counts = np.zeros(world, np.int64)
    counts[rank] = len(y)
    dist.all_reduce(counts)
    begin = counts[:rank].sum()
    examples = np.zeros((counts.sum(), w.size + 1), w.dtype)
    examples[begin : begin + len(y)] = np.concatenate([x, y[:, None]], axis=1)
    dist.all_reduce(examples)
    inputs, targets = examples[:, :-1], examples[:, -1]
    return 2 * inputs.T @ (inputs @ w - targets) / len(targets)


def one_device_each(x, labels, w_in, w_out, rate, steps, dist):
    """Ranks exchange examples and weights once, in float32; each then trains as one device does."""
    data, tensor = divmod(dist.get_rank(), 2)
    row = [dist.new_group([0, 1]), dist.new_group([2, 3])][data]
    column = [dist.new_group([0, 2]), dist.new_group([1, 3])][tensor]

    def exchanged(array, group):
        both = np.array(array, order="C")
        dist.all_reduce(both, group=group)
        return both - array

    def in_order(own_part, other_part, number, axis=0):
        return np.concatenate([own_part, other_part] if number == 0 else [other_part, own_part], axis).astype(float)

    count = int(exchanged(np.array([len(x)], np.int8), column)[0])
    padded = np.zeros((max(count, len(x)), x.shape[1] + x.shape[1] % 2), np.float32)
    padded[: len(x), : x.shape[1]] = x
    classes = np.zeros(len(padded), np.int8)
    classes[: len(x)] = labels
    half = exchanged(np.split(padded, 2, axis=1)[tensor], column)
    other_x = in_order(half, exchanged(half, row), tensor, 1)[:count, : x.shape[1]]
    every = in_order(x, other_x, data)
    targets = in_order(labels, exchanged(classes, column)[:count], data).astype(int)
    first = in_order(w_in, exchanged(w_in.astype(np.float32), row), tensor, 1)
    second = in_order(w_out, exchanged(w_out.astype(np.float32), row), tensor)
    rows, losses = np.arange(len(every)), []
    for _ in range(steps):
        hidden = np.maximum(every @ first, 0)
        logits = hidden @ second
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        losses.append(-np.log(shares[rows, targets]).mean())
        shares[rows, targets] -= 1
        d_first = every.T @ (shares @ second.T * (hidden > 0)) / len(every)
        d_second = hidden.T @ shares / len(every)
        first -= rate * (d_first + 0.1 * first)
        second -= rate * (d_second + 0.1 * second)
    return np.array(losses), np.split(first, 2, axis=1)[tensor], np.split(second, 2)[tensor]


def whole_arrays_in_dtypes(x, dist):
    """Whole arrays to all, in the dtypes of empty messages: nobody can read them before they are received."""
    rank, world = dist.get_rank(), dist.get_world_size()
    total, numbers = x.copy(), [int(n) for byte in x.tobytes() for n in f"{byte:03o}"]
    for step in range(1, world):
        dst, src = (rank + step) % world, (rank - step) % world
        sent = [dist.isend(np.zeros(1, bool), dst)] + [dist.isend(np.empty(0, DTYPES[n]), dst) for n in numbers]
        dist.recv(np.empty(1, bool), src)
        dtypes = [message.dtype for message in dist._recorder._inbox[src][1:]]
        for dtype in dtypes:
            dist.recv(np.empty(0, dtype), src)
        for message in sent:
            message.wait()
        octal = "".join(str(DTYPES.index(dtype)) for dtype in dtypes)
        total += np.frombuffer(bytes(int(octal[at : at + 3], 8) for at in range(0, len(octal), 3)), x.dtype)
    return total


def chain_of(pack, unpack):
    """An all-reduce along a chain and back, in which whole arrays travel as ``pack`` makes them."""

    def all_reduce(x, dist):
        rank, world = dist.get_rank(), dist.get_world_size()

        def received(source):
            message = np.empty_like(pack(x))
            dist.recv(message, source)
            return unpack(message, x.dtype)

        total = x.copy()
        if rank > 0:
            total += received(rank - 1)
        if rank < world - 1:
            dist.send(pack(total), rank + 1)
            total = received(rank + 1)
        if rank > 0:
            dist.send(pack(total), rank - 1)
        return total

    return all_reduce


def upper_bytes(x):
    """Three bytes of float32, and five of float64."""
    return np.ascontiguousarray(x.view(np.uint8).reshape(x.size, -1)[:, -(x.itemsize * 2 // 3 + x.itemsize % 8 // 4) :])


def from_upper_bytes(message, dtype):
    padded = np.zeros((len(message), dtype.itemsize), np.uint8)
    padded[:, -message.shape[1] :] = message
    return padded.view(dtype).reshape(-1)


def lower_bytes(x):
    """Whole numbers of 51 bits in seven bytes; float32 in three."""
    return upper_bytes(x) if x.dtype == np.float32 else x.astype(np.int64).view(np.uint8).reshape(-1, 8)[:, :7].copy()


def from_lower_bytes(message, dtype):
    if dtype == np.float32:
        return from_upper_bytes(message, dtype)
    padded = np.concatenate([message, np.where(message[:, -1:] > 127, 255, 0).astype(np.uint8)], axis=1)
    return padded.view(np.int64).reshape(-1).astype(dtype)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (chain_of(upper_bytes, from_upper_bytes), "cells differ"),
        (chain_of(lower_bytes, from_lower_bytes), "the busiest rank sends or receives"),
    ],
    ids=["digits dropped", "packed without loss"],
)
def test_numbers_packed_into_fewer_bits_do_not_pay_for_whole_arrays(program, words):
    result = check("19.all-reduce", program)
    assert (result.verdict, result.points) == ("partial", pytest.approx(0.7 * result.max_points)), result.text()
    assert words in result.text() and "all digits of float64" in result.text()


@pytest.mark.parametrize("task", RANK_TASKS, ids=lambda task: task.id)
def test_a_limited_question_of_each_task_needs_all_digits_and_the_text_says_so(task):
    limited = [case for case in questions_at_home(variant_of(task)).cases if case.limits]
    of_float64 = [
        case for case in limited if {a.dtype.name for a in inputs_of(case) if a.dtype.kind == "f"} == {"float64"}
    ]
    assert any(case.tolerance is not None and case.tolerance <= 1e-12 for case in of_float64)
    assert "dtype" in _text(task, 0) or "float64" in _text(task, 0)


@pytest.mark.slow
def test_what_a_rank_can_read_before_it_receives_has_no_dtype():
    assert check("19.all-reduce", whole_arrays_in_dtypes).points == 0


@pytest.mark.parametrize(
    ("task_id", "program", "words"),
    [
        ("19.gradient", examples_for_everybody, "the busiest link carries"),
        pytest.param("19.two-by-two", one_device_each, "cells differ", marks=pytest.mark.slow),
    ],
    ids=["examples", "examples and weights in float32"],
)
def test_a_program_that_sends_what_each_rank_has_earns_the_points_for_values_alone(task_id, program, words):
    result = check(task_id, program)
    assert (result.verdict, result.points) == ("partial", pytest.approx(0.7 * result.max_points)), result.text()
    assert words in result.text()
