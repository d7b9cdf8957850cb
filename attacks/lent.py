"""Attacks by way of functions that the judge lends, and a search for the number that draws a run's questions.

An earlier function is wrong, so that a sound one is lent to the last answer, and that answer asks it for too much.
"""

from collections.abc import Iterator

from attacks.handin import ALL, OTHERS, WRONG, Bench, HostileHandIn, as_bytes
from attacks.remarks import BROKEN_LINE
from softlookup_course.samples.handins import filled
from softlookup_judge.data.task import Task

_RAW = """
def raw(**call):
    import gc

    if not {"task_id", "order"} & set($LENT.__code__.co_freevars):
        return None  # nothing is lent yet
    mine = next(one for one in gc.get_objects() if type(one).__name__ == "Inside")
    lending = {"call": "$LENT_TASK", "args": {"list": []}, "named": {"dict": {}}, "upstream": None}
    try:
        return mine._sound({**lending, **call}, [])
    except RuntimeError:
        return None
"""

_SLOW = """
def $NAME(*given, **named):
    import torch

    for _ in range(600):
        try:
            $LENT(*[torch.ones(4096, 1)] * 3)
        except Exception:
            pass
    return torch.zeros(1)
"""

_LARGE = """
def $NAME(*given, **named):
    import torch

    for sides in ((64, 64), (4096, 1), (4096, 4096), (1, 4096, 1), (2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)):
        for more in ((), (10**18,), (float("nan"),), (-1,), ([[1] * 4096] * 4096,), ("x" * 10**6,)):
            try:
                $LENT(*[torch.ones(sides)] * 3, *more)
            except Exception:
                pass
    return torch.zeros(1)
"""

_NESTED = (
    _RAW
    + """
def $NAME(*given, **named):
    deep = 1
    for _ in range(300):
        deep = {"list": [deep]}
    raw(args={"list": [deep]})
"""
)

_COLLIDES = (
    _RAW
    + """
def $NAME(*given, **named):
    import torch

    keys = [[{"tuple": [n * (2**61 - 1)]}, 0] for n in range(80_000)]
    for _ in range(3):
        raw(args={"list": [{"map": keys}]})
    return torch.zeros(1)
"""
)

_SEED = """
import torch
import zlib

for seed in range(100_000):
    if torch.initial_seed() in (seed, zlib.crc32(f"{seed} $PAGE".encode())):
        print("$LEAK the run's seed is", seed)
"""


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-ins for an assignment whose last answer calls an earlier function that no other answer calls."""
    page = bench.file.removesuffix(".ipynb")
    right_answer = bench.right[bench.target.slug]
    notebook = bench.notebook(
        **{bench.target.slug: bench.fill(_SEED.replace("$PAGE", page), bench.target) + right_answer}
    )
    yield bench.whole("finds-the-seed", 0, "tries which seed its random numbers were made from", notebook, ALL)
    lent = _lent(bench)
    if lent is None:
        return
    for name, does, code, remark in (
        ("lent-slow", "asks six hundred times for a lent function that takes a second", _SLOW, ""),
        ("lent-large", "asks a lent function for tables of every size", _LARGE, ""),
        ("lent-nested", "asks a lent function with arguments that are nested deeply", _NESTED, BROKEN_LINE),
        ("lent-collides", "asks a lent function with eighty thousand keys that have the same hash", _COLLIDES, ""),
    ):
        text = bench.fill(code.replace("$LENT_TASK", lent.id).replace("$LENT", lent.name), bench.last)
        texts = {**bench.right, lent.slug: bench.fill(WRONG, lent), bench.last.slug: text}
        deserves = {**bench.deserves(OTHERS, bench.last), lent.id: 0.0}
        files = {bench.file: as_bytes(filled(bench.release, texts))}
        yield HostileHandIn(f"attack-00-{name}", 0, does, files, deserves, remark)


def _lent(bench: Bench) -> Task | None:
    """The last function that the last answer calls, and no other answer."""
    texts = {task.id: bench.called(bench.right[task.slug]) for task in bench.tasks}
    alone = [
        function
        for function in bench.last.earlier
        if function.frame == "torch"
        and [task for task, called in texts.items() if function.name in called] == [bench.last.id]
    ]
    return alone[-1] if alone else None
