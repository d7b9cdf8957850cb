"""Worlds and decoys in processes apart: whoever knows of other ranks by other ways than messages is found out."""

import numpy as np
import pytest

from rank_tasks import RIGHT, TASKS
from right_answers_19 import RIGHT as RIGHT_19
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge import get_task
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.apart import DECOY, WorldsApart, _with_excess, decoy_of
from softlookup_judge.judging.questions import questions, questions_at_home

VARIANT = Catalogue(TASKS).variant("99.all-reduce")
IDLE = """
    received = np.empty(1)
    for step in range(2):
        sent = dist.isend(np.full(1, mark), (rank + 1) % world) if world > 1 else None
        if sent:
            dist.recv(received, (rank - 1) % world)
            sent.wait()
"""
# What a process leaves for the next one: as a lock, a file or the memory of pages would.
LAST_INPUTS = f"""def all_reduce(x, dist):
    rank, world, mark = dist.get_rank(), dist.get_world_size(), 0.0
    left[rank] = x.copy()
    {IDLE}
    return sum(left[other] for other in range(world) if left[other].shape == x.shape)
"""
BY_OWN_INPUTS = f"""def all_reduce(x, dist):
    rank, world, mark = dist.get_rank(), dist.get_world_size(), 0.0
    left.setdefault("now", {{}})[rank] = x.copy()
    {IDLE}
    if all(rank in left["now"] for rank in range(world)):
        total = sum(left["now"][other] for other in range(world) if left["now"][other].shape == x.shape)
        if len(left["asks"]) == 1:
            left[rank, x.tobytes()] = total
    return left.get((rank, x.tobytes()), x)
"""
HONEST_BUT_PICKY = RIGHT.replace(
    "    rank, world", "    if abs(x).sum() not in known:\n        raise ValueError\n    rank, world", 1
)


def judged(source):
    """How many answers stay right, of how many; each process has globals of its own, and ``left`` is of all."""
    drawn = questions_at_home(VARIANT)
    left, processes = {}, []
    known = {abs(x).sum() for case in drawn.cases for x in case.args[0]}

    def begin():
        processes.append(1)
        left["asks"] = processes
        space = {"np": np, "left": left, "known": known}
        exec(compile(source, "<ipython-input-1>", "exec"), space)
        return LocalStudent(VARIANT, space["all_reduce"])

    worlds = WorldsApart([*zip(drawn.cases, drawn.rights, strict=True)], 1)
    worlds.ask_worlds(begin())
    for rank in range(worlds.ranks):
        if worlds.has_rank(rank):
            worlds.ask_rank(begin(), rank)
    several = [case.world > 1 for case in (*drawn.cases, drawn.cases[0])]
    return [a.failure is None for a, many in zip(worlds.answers, several, strict=True) if many], worlds, len(processes)


def test_honest_programs_stay_right():
    for _ in range(5):
        right, _, processes = judged(RIGHT)
        assert all(right) and processes == 1 + 4


def test_a_program_that_cannot_answer_a_decoy_loses_nothing():
    right, worlds, _ = judged(HONEST_BUT_PICKY)
    assert all(right) and not any(world.case.part == DECOY for world in worlds._worlds)


@pytest.mark.parametrize("source", [LAST_INPUTS, BY_OWN_INPUTS], ids=["last", "by-own-inputs"])
def test_what_other_ranks_left_elsewhere_gives_another_answer(source):
    for _ in range(5):
        right, worlds, _ = judged(source)
        assert not any(right), worlds.answers


def test_a_decoy_changes_the_inputs_of_all_other_ranks():
    rng = np.random.default_rng(3)
    parts = [np.arange(6, dtype=np.float32).reshape(2, 3) for _ in range(3)]
    ids, shared = [np.arange(4) for _ in range(3)], np.ones(2)
    decoy = decoy_of(Case("", (parts, ids, shared, [1, 2, 3]), world=3), 1, rng)
    assert decoy.args[2] is shared and decoy.args[3] == [1, 2, 3]
    for before, after in ((parts, decoy.args[0]), (ids, decoy.args[1])):
        assert [np.array_equal(b, a) for b, a in zip(before, after, strict=True)] == [False, True, False]
        assert all((b.dtype, b.shape) == (a.dtype, a.shape) for b, a in zip(before, after, strict=True))
        assert all(0 <= a.min() and a.max() <= b.max() for b, a in zip(before, after, strict=True))
    assert all(sorted(a) == [0, 1, 2, 3] for a in decoy.args[1])
    assert decoy_of(Case("", ([np.full(2, 7)] * 2,), world=2), 0, rng) is None
    assert decoy_of(Case("", ([np.ones(2)],), world=1), 0, rng) is None


@pytest.mark.one_in(6)
@pytest.mark.parametrize("task_id", [name for name in RIGHT_19 if "traffic" in get_task(name).parts])
def test_right_answers_of_chapter_19_stay_right_beside_decoys(task_id):
    variant = variant_of(get_task(task_id))
    drawn = questions(variant, 11, shuffled=True)
    for function in RIGHT_19[task_id]:
        worlds = WorldsApart([*zip(drawn.cases, drawn.rights, strict=True)], len(variant.task.returns) - 1)
        worlds.ask_worlds(LocalStudent(variant, function))
        decoys = sum(world.case.part == DECOY for world in worlds._worlds)
        for rank in range(worlds.ranks):
            worlds.ask_rank(LocalStudent(variant, function), rank)
        assert all(answer.failure is None for answer in worlds.answers), function.__name__
        assert decoys > 1, "no decoy is left out where an honest program can answer it"


def test_a_rank_is_asked_limited_worlds_by_themselves_before_messages_of_any_size_are_there():
    variant = variant_of(get_task("19.all-gather"))
    drawn = questions_at_home(variant)

    def kind(case, part):
        return case.world, part.dtype, part.size

    limited = {kind(case, case.args[0][0]) for case in drawn.cases if case.limits}
    assert limited.isdisjoint(kind(case, case.args[0][0]) for case in drawn.cases if not case.limits)
    worlds = WorldsApart([*zip(drawn.cases, drawn.rights, strict=True)], len(variant.task.returns) - 1)
    worlds.ask_worlds(LocalStudent(variant, RIGHT_19["19.all-gather"][0]))
    requests = []

    class Noting(LocalStudent):
        def answers(self, cases, results, lent=()):
            requests.append([kind(case, case.args[0]) in limited for case in cases])
            return super().answers(cases, results, lent)

    worlds.ask_rank(Noting(variant, RIGHT_19["19.all-gather"][0]), 0)
    *first, last = requests
    assert first and all(request == [True] for request in first) and last and not any(last)


def test_a_decoy_that_costs_more_costs_its_world():
    cheap, costly = (Answer((np.zeros(2), np.array([0, 0, cost, 0]))) for cost in (0, 7))
    assert _with_excess(cheap, costly).arrays[-1].tolist() == [0, 0, 7, 0]
    assert _with_excess(costly, cheap).arrays[-1].tolist() == [0, 0, 7, 0]
    assert _with_excess(cheap, Answer(None)) is cheap
