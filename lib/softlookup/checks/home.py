"""``check``: judge an answer in the student's own process, at once."""

import contextlib
import functools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from softlookup.checks.diagnose import SHORTCUT
from softlookup.checks.judge import TimeIsUp, judge
from softlookup.checks.probe import Answer, run
from softlookup.checks.registry import UnknownTask, get_task, tasks
from softlookup.checks.result import CheckResult
from softlookup.checks.source import names_in, reached, shortcut
from softlookup.checks.task import Case, Task

TIME_LIMIT_S = 10.0
"""How long one check may take at home, where the system can tell (not on Windows)."""

HOME_SEED = 4
"""At home the inputs are the same every time, so that a picture can be compared with the one before."""


def stand_in(task: Task) -> Callable[..., Any]:
    """A sound function in place of a student's own, for torch tensors and numpy arrays alike."""

    @functools.wraps(task.oracle)
    def call(*args: Any, **named: Any) -> Any:
        import torch

        numpy_in = any(isinstance(a, np.ndarray) for a in (*args, *named.values()))
        turn = (lambda a: torch.from_numpy(a) if isinstance(a, np.ndarray) else a) if numpy_in else (lambda a: a)
        result = task.oracle(*map(turn, args), **{k: turn(v) for k, v in named.items()}, **task.variants[0])
        if not numpy_in:
            return result
        return tuple(r.numpy() for r in result) if isinstance(result, tuple) else result.numpy()

    return call


class LocalStudent:
    """Answers from an object in this process."""

    def __init__(self, task: Task, obj: Callable[..., Any]) -> None:
        self.obj = obj
        self.earlier = {get_task(task_id).name: get_task(task_id) for task_id in task.uses}

    def may_use_stand_ins(self) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer calls."""
        named = {name for function in reached(self.obj) for name in names_in(function)}
        return tuple(task.id for name, task in self.earlier.items() if name in named)

    def ask(self, case: Case, results: int, stand_ins: bool = False) -> Answer:
        """Call the object on one case."""
        with self._standing_in() if stand_ins else contextlib.nullcontext():
            return run(self.obj, case, results)

    @contextlib.contextmanager
    def _standing_in(self) -> Iterator[None]:
        functions = reached(self.obj)
        worlds = {id(f.__globals__): f.__globals__ for f in functions}.values()
        kept = [(world, {name: world[name] for name in self.earlier if name in world}) for world in worlds]
        try:
            for world in worlds:
                world.update({name: stand_in(task) for name, task in self.earlier.items()})
            yield
        finally:
            for world, before in kept:
                for name in self.earlier:
                    world.pop(name, None)
                world.update(before)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeIsUp`` in this thread after so many seconds, where the system has an interval timer."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: Any) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    # It rings again each second, in case the first one fell into a bare `except:`.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Small tensors gain nothing from many threads, and on a busy machine they wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _plain(task: Task, verdict: str, sentence: str, variant: int = 0, diagnosis: tuple[str, ...] = ()) -> CheckResult:
    return CheckResult(task.id, task.title, 0.0, task.points, verdict, diagnosis, (sentence,), variant, task.book_url)


def check(task_id: str, obj: Any, *, variant: int = 0) -> CheckResult:
    """Check an answer and say what is right, what is not, and which mistake it was.

    Args:
        task_id: The task, "04.scale".
        obj: Your function (or class), not the result of calling it.
        variant: Which variant of the task your notebook asks for; it is in the notebook already.

    Returns:
        The result. In a notebook it shows itself; in a terminal ``print(result.text())`` does. A wrong answer, an
        exception in it,
        an interruption or an unknown task gives a result too, never an exception.

    >>> check("04.spread", lambda head_width, sigma_q, sigma_k: head_width**0.5 * sigma_q * sigma_k).verdict
    'pass'
    """
    try:
        task = get_task(task_id)
    except UnknownTask as error:
        return CheckResult(str(task_id), "unknown task", 0.0, 0.0, "error", (), (f"{str(error).capitalize()}",))
    if variant not in range(len(task.variants)):
        return _plain(task, "error", f"There is no variant {variant!r} of this task; it has {len(task.variants)}.")
    if not callable(obj):
        said = f"Hand over the function `{task.name}` itself, without calling it: check got {type(obj).__name__}."
        return _plain(task, "wrong", said, variant)
    stop = frozenset(other.name for other in tasks(task.chapter) if other.id != task.id)
    used = shortcut(obj, task.forbids, task.name, stop)
    if used:
        said = f"This task asks you to write it yourself: `{used}` is not allowed here."
        return _plain(task, "wrong", said, variant, (SHORTCUT,))
    started = time.monotonic()
    try:
        with one_thread(), time_limit(TIME_LIMIT_S):
            return judge(task, LocalStudent(task, obj), seed=HOME_SEED, variant=variant)
    except TimeIsUp:
        said = f"Your function was still running after {TIME_LIMIT_S:g} s and was stopped."
        said += " Is there a loop that never ends?"
        return _plain(task, "timeout", said, variant)
    except KeyboardInterrupt:
        said = f"You interrupted it after {time.monotonic() - started:.0f} s, while your function was running."
        return _plain(task, "stopped", said, variant)
