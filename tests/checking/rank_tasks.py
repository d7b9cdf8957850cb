"""A course's own task whose answer is one rank of a parallel program: an all-reduce."""

from softlookup_judge.data.own import OwnTasks

RIGHT = '''def all_reduce(x, dist):
    """x (n,) of each rank -> the sum over all ranks (n,), on each."""
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = [part.copy() for part in np.array_split(x, world)]
    for step in range(2 * (world - 1)):
        to, into = (rank - step) % world, (rank - step - 1) % world
        received = np.empty_like(parts[into])
        sent = dist.isend(parts[to], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        parts[into] = parts[into] + received if step < world - 1 else received
    return np.concatenate(parts)
'''
GATHERED = """def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    total = x.copy()
    others = [other for other in range(world) if other != rank]
    parts = {other: np.empty_like(x) for other in others}
    pending = [dist.irecv(parts[other], other) for other in others] + [dist.isend(x, other) for other in others]
    for each in pending:
        each.wait()
    return x + sum(parts.values())
"""
NAME = "99_ranks"
_FIRST, _REST = RIGHT.split("    rank, world", 1)
TEXTS = {
    f"{NAME}.py": f"""# %% 99-setup
import numpy as np

from softlookup import check

# %% [markdown]
# [[task 99.all-reduce]]

# %% 99-all-reduce
{_FIRST}    ### BEGIN SOLUTION
    rank, world{_REST}    ### END SOLUTION
""",
    f"{NAME}.toml": """[tasks."99.all-reduce"]
name = "all_reduce"
title = "Ring"
points = 4
minutes = 9
difficulty = 2
returns = ["sum", "traffic"]

["99.all-reduce"]
own-part-lost = ["parts[into] + received if", "received if"]
one-round = ["2 * (world - 1)", "world - 1"]

[says]
own-part-lost = "What a rank receives replaces its part: add both."
one-round = "The sums never travel on to the other ranks: the ring goes round twice."
""",
    f"{NAME}_tasks.py": '''"""All-reduce."""

from softlookup_inside.asking.case import Case
from softlookup_judge.data.published import described
from softlookup_judge.judging.ranks import on_all_ranks
from softlookup_judge.chapters.draws import normal


def _cases(rng):
    def ask(label, world, size, part="core", limits=None):
        inputs = [normal(rng, size) for _ in range(world)]
        offers = ("send", "recv", "isend", "irecv")
        return Case(label, (inputs,), part, "numpy", world=world, offers=offers, limits=limits, tolerance=1e-5)

    return [
        ask("two ranks", 2, 4),
        ask("three ranks, seven numbers", 3, 7),
        ask("one rank", 1, 3),
        ask("bytes of four ranks", 4, 16, "traffic", (2 * 3 * 16 * 4 // 4, 24, 6)),
    ]


def _oracle(x):
    return on_all_ranks([sum(x)] * len(x))


TASKS = (
    described(
        "99.all-reduce",
        cases=_cases,
        oracle=_oracle,
        frame="numpy",
        cuts=False,
        parts={"core": 0.7, "traffic": 0.3},
        forbids=("softlookup_inside.ranks.collectives",),
    ),
)
''',
}
TASKS = OwnTasks(tuple(TEXTS.items()))
