"""Answers of chapter 19 that were judged or explained wrongly, or had no name."""

import math

import numpy as np
import pytest

from published import edited
from softlookup_judge import check

OWNER = "owner = (rank - step) % world\n"


@pytest.mark.parametrize(
    ("task_id", "edit"),
    [
        ("19.reduce-scatter", ("parts[into] = parts[into] + received", "parts[into] += received")),
        ("19.fsdp", ("velocity = beta * velocity + part / world", "velocity *= beta\n    velocity += part / world")),
        ("19.heads", ("    scores = q", "    w_o -= 0\n    x *= 1.5\n    scores = q")),
        ("19.broadcast", ("x.copy()", "x")),
        ("19.two-by-two", ("w_in = w_in - rate", "w_in -= rate")),
    ],
)
def test_a_rank_that_changes_its_inputs_is_not_right(task_id, edit):
    result = check(task_id, edited(task_id, [edit]))
    assert (result.points, result.diagnosis) == (0, ("habit:inputs-changed",)), result.text()


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("task_id", "edits", "mistake", "words"),
    [
        (
            "19.all-reduce",
            [
                (
                    "to, into = (rank - step) % world, (rank - step - 1) % world",
                    "to, into = (rank - step - step // (world - 1)) % world, "
                    "(rank - step - 1 - step // (world - 1)) % world",
                )
            ],
            "received-replaces-sum",
            "Or the second round passes on other parts than the finished ones",
        ),
        (
            "19.ring-attention",
            [("scores = np.where(", "scores = scores if owner == rank else np.where(")],
            "own-block-not-masked",
            "The rank's own block is not masked",
        ),
        ("19.ring-attention", [(OWNER, OWNER.replace("step)", "step - 1)"))], "owner-one-off", "one too far"),
        (
            "19.gradient",
            [("/ both[-1]", "/ max(1, len(y))")],
            "own-count-where-there-is-one",
            "the rank's own examples",
        ),
        (
            "19.gradient",
            [("total, np.float32(len(y))", "total / len(y) if len(y) else total, np.float32(min(len(y), 1))")],
            "mean-of-filled-batches",
            "the means of all batches that are not empty",
        ),
        ("19.fsdp", [("part / world", "part / len(x)")], "own-count", "is a mean already"),
        (
            "19.reduce-scatter",
            [
                ("parts[into] = parts[into] + received", "parts[into] = received"),
                ("return parts[rank]", "return parts[rank] + (world > 1) * np.split(x, world)[rank]"),
            ],
            "last-rank-adds-alone",
            "only the last one adds its own",
        ),
        (
            "19.all-gather",
            [("part.size), part.dtype", "part.size)"), ("isend(rows[to]", "isend(rows[to].astype(part.dtype)")],
            "float64-buffer",
            "`np.zeros` without one makes float64",
        ),
        (
            "19.two-by-two",
            [
                (
                    f"{w} = {w} - rate * ({d} + decay * {w})",
                    f"{w} = {w} - rate * {d}\n        {w} -= rate * decay * {w}",
                )
                for w, d in (("w_in", "d_in"), ("w_out", "d_out"))
            ],
            "decay-after-the-step",
            "Both use the weights before the step",
        ),
        (
            "19.all-gather",
            [
                (
                    "(rank - step) % world, (rank - step - 1) % world",
                    "(rank - step - 1) % world, (rank - step - 2) % world",
                )
            ],
            "other-part-sent-first",
            "sends its own part first",
        ),
        (
            "19.schedule",
            [
                ("min(stages - stage - 1, micro_batches)", "stages - stage - 1"),
                ("forwards[:warm_up]", '[f"F{i}" for i in range(warm_up)]'),
                ("backwards[micro_batches - warm_up :]", "backwards[max(0, micro_batches - warm_up) :]"),
            ],
            "warm-up-not-limited",
            "micro-batches that do not exist",
        ),
    ],
)
def test_a_natural_mistake_has_a_name_and_a_true_sentence(task_id, edits, mistake, words):
    result = check(task_id, edited(task_id, edits))
    assert (result.points, result.diagnosis) == (0, (mistake,)), result.text()
    assert words in result.text()


@pytest.mark.parametrize("exchange", [("(w, shard)", "(shard, w)"), ("(part, slope)", "(slope, part)")])
def test_arguments_that_are_exchanged_are_said_to_be_so_and_no_memory_is_shown(exchange):
    result = check("19.fsdp", edited("19.fsdp", [exchange]))
    assert result.points == 0 and result.case == "two ranks"
    assert "Are they exchanged? The output comes first" in result.text()


def pipeline_time_by(number):
    """Stages go on as far as they can; a pass is known by its kind and what is read of its micro-batch's number."""

    def pipeline_time(orders, forward_s, backward_s):
        stages, work = len(orders), 0.0
        done, clocks, ends = [0] * stages, [0.0] * stages, {}
        moves = True
        while moves:
            moves = False
            for stage, order in enumerate(orders):
                while done[stage] < len(order):
                    kind, which = order[done[stage]][0], number(order[done[stage]])
                    needs = (stage - 1, "F", which) if kind == "F" else (stage + 1, "B", which)
                    if kind == "B" and stage == stages - 1:
                        needs = (stage, "F", which)
                    if needs[0] >= 0 and needs not in ends:
                        break
                    seconds = forward_s if kind == "F" else backward_s
                    clocks[stage] = max(clocks[stage], ends.get(needs, 0.0)) + seconds
                    ends[stage, kind, which] = clocks[stage]
                    work += seconds
                    done[stage] += 1
                    moves = True
        if any(n < len(order) for n, order in zip(done, orders, strict=True)):
            return math.inf, 1.0, 0
        most = max(max(np.cumsum([1 if p[0] == "F" else -1 for p in order])) for order in orders)
        return max(clocks), 1 - work / (stages * max(clocks)), int(most)

    return pipeline_time


@pytest.mark.slow
def test_numbers_of_micro_batches_have_more_digits_than_one():
    assert check("19.bubble", pipeline_time_by(lambda p: int(p[1:]))).points == 4
    for number in (lambda p: int(p[1]), lambda p: int(p[-1]), lambda p: int(p[1:3])):
        assert check("19.bubble", pipeline_time_by(number)).points == 0
