"""What no sandboxing grader can do without: the floor that ``softlookup bench grading`` measures beside the grader.

In it: for each submission a process forked from one that has the libraries loaded, the same namespaces and limits, the
same rights given up, the student's cells, the calls that the first round of each check makes of the student's functions
(the gradients that it asks for, too), and the process's end. As many at a time as the grader has workers.

Not in it: loading the libraries and what this file needs for the calls, which happens once; control groups; a shell for
notebooks (cells are compiled and executed as they stand); a channel (cells and inputs are in memory before the fork,
and nothing comes back but counts and a time); gates in front of forbidden functions, time limits, catching what is
printed; comparing, naming mistakes, asking again with functions lent; reading and writing files, the gradebook, the
report.
"""

import ctypes
import mmap
import os
import pickle
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from softlookup_inside.asking.calling import called, inputs_for
from softlookup_inside.asking.case import Case

_SLOT = struct.Struct("dii")


@dataclass(frozen=True)
class Work:
    """What one submission has run.

    Attributes:
        cells: The sources of its cells, and of the given ones.
        calls: For each check the expression that gives the function, and the questions.
        files: What lies beside the notebook: names and contents.
    """

    cells: tuple[str, ...]
    calls: tuple[tuple[str, tuple[Case, ...]], ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True)
class Floor:
    """What the floor came to.

    Attributes:
        seconds: From the first fork to the end of the last process.
        code_s: Seconds in the students' cells and functions, added up over the submissions.
        start_s: Seconds until the libraries were loaded.
        answered: How many checks had all their calls answered, added up over the submissions.
        imported: How many modules the submissions' processes loaded, added up. All but what students import of their
            own belongs before the first fork: it would take its time once for every submission.
    """

    seconds: float
    code_s: float
    start_s: float
    answered: int
    imported: int


def works(assignment: str, release: str, texts: Sequence[str], seed: int) -> list[Work]:
    """What the grader would have submissions run.

    ``release`` is the notebook as students got it, as JSON text; ``seed`` draws the questions, as in grading.
    """
    import nbformat

    from softlookup_grader.course.notebooks import grade_id
    from softlookup_grader.judging.rebuild import rebuild
    from softlookup_grader.judging.zygotes import asked_by
    from softlookup_judge.checking.catalogue import STANDARD
    from softlookup_judge.judging.questions import questions

    notebook = nbformat.reads(release, as_version=4)
    checks = {name: check for name, check in asked_by(notebook, STANDARD).items() if check is not None}
    drawn = [(check.expression, questions(check.variant, seed, shuffled=True).cases) for check in checks.values()]
    calls = tuple((name, (*cases, cases[0])) for name, cases in drawn)  # the first one comes twice
    work_list = []
    for text in texts:
        cells = rebuild(notebook, text.encode(), assignment).notebook.cells
        work_list.append(
            Work(tuple(c.source for c in cells if c.cell_type == "code" and grade_id(c) not in checks), calls)
        )
    return work_list


def floor(assignment: str, release: str, texts: Sequence[str], workers: int, seed: int = 1) -> Floor:
    """Measure the floor for these submissions, one after the other, in the grader's own kind of sandbox.

    ``release`` is the notebook as students got it, as JSON text; ``workers`` is how many processes at a time.
    SandboxError if there is no sandbox here; RuntimeError if a submission's process did not come to its end.
    """
    import nbformat

    from softlookup_grader.judging.zygotes import imports

    distinct = list(dict.fromkeys(texts))
    modules = sorted({"numpy", "torch", *imports(nbformat.reads(release, as_version=4))})
    by_text = dict(zip(distinct, works(assignment, release, distinct, seed), strict=True))
    return floor_of([by_text[text] for text in texts], modules, workers)


def floor_of(submissions: Sequence[Work], modules: Sequence[str], workers: int) -> Floor:
    """Measure the floor for what each submission has run; ``modules`` are loaded before all. It raises as ``floor``."""
    from softlookup_grader.data.work import Limits
    from softlookup_grader.sandbox.bubble import environment, sandboxed, staged
    from softlookup_grader.workers.pool import processors

    record = {
        "modules": list(modules),
        "workers": workers,
        "apart": workers == processors(),
        "submissions": list(submissions),
        "limits": {**asdict(Limits()), "bare": False, "addresses": False},
    }
    stage = staged()
    try:
        place = stage / "benchmarks"
        place.mkdir(mode=0o755)
        for name, source in (("__init__.py", b""), ("grading_floor.py", Path(__file__).read_bytes())):
            (place / name).write_bytes(source)
            (place / name).chmod(0o644)
        command = [*sandboxed(stage), "-c", "from benchmarks.grading_floor import inside; inside()"]
        done = subprocess.run(
            command, input=pickle.dumps(record), capture_output=True, env=environment(Path("/softlookup"))
        )
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    if done.returncode:
        raise RuntimeError(f"the floor could not be measured: {done.stderr.decode(errors='replace').strip()[-300:]}")
    seconds, code_s, start_s, answered, imported = done.stdout.split()[-5:]
    return Floor(float(seconds), float(code_s), float(start_s), int(answered), int(imported))


def inside() -> None:
    """The process that all submissions are forked from, in the sandbox; it reads its work from its standard input."""
    begun = time.perf_counter()
    record = pickle.load(sys.stdin.buffer)
    from softlookup_inside.sandbox import filter, zygote  # noqa: F401 - the filter once, and not in each fork

    zygote.load(record["modules"])
    zygote.stand_still()
    start_s = time.perf_counter() - begun
    submissions, limits = record["submissions"], record["limits"]
    libc = ctypes.CDLL(None, use_errno=True)
    slots = mmap.mmap(-1, _SLOT.size * len(submissions))
    # As in grading, each keeps to a processor of its own where there are just as many.
    cores = sorted(os.sched_getaffinity(0))
    free = [[core] for core in cores] if record["apart"] else [cores] * record["workers"]
    running: dict[int, list[int]] = {}
    begun = time.perf_counter()
    for number, work in enumerate(submissions):
        if not free:
            free.append(running.pop(_ended()))
        affinity = free.pop()
        if pid := os.fork():
            running[pid] = affinity
        else:
            zygote.keep_to(affinity)
            _between(zygote, libc, limits, work, memoryview(slots)[_SLOT.size * number :])
    while running:
        del running[_ended()]
    seconds = time.perf_counter() - begun
    each = list(_SLOT.iter_unpack(slots[:]))
    print(seconds, sum(row[0] for row in each), start_s, sum(row[1] for row in each), sum(row[2] for row in each))


def _ended() -> int:
    pid, status = os.wait()
    if status:
        raise RuntimeError(f"a submission's process ended with status {status}")
    return pid


def _between(zygote: Any, libc: Any, limits: dict[str, Any], work: Work, slot: memoryview) -> None:
    """Enter the namespaces; the process that is forked in them is the submission's, as in grading."""
    status, loaded = 1, len(sys.modules)
    try:
        resident_kb = zygote.held_kb()
        zygote.own_namespaces(libc, limits["disk_mb"])
        if child := os.fork():
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        else:
            os.setsid()
            zygote.limit(limits, resident_kb)
            zygote.no_rights(libc)
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            begun = time.perf_counter()
            answered = _run(work)
            _SLOT.pack_into(slot, 0, time.perf_counter() - begun, answered, len(sys.modules) - loaded)
            status = 0
    finally:
        os._exit(status)


def _run(work: Work) -> int:
    """Run the cells and make the calls; an exception is the student's own business."""
    os.chdir("/tmp")  # where it may write
    for name, content in work.files:
        Path(name).write_bytes(content)
    names: dict[str, Any] = {"__name__": "__main__"}
    for source in work.cells:
        try:
            exec(compile(source, "<cell>", "exec"), names)
        except Exception:
            continue
    answered = 0
    for expression, cases in work.calls:
        try:
            answer = eval(expression, names)
            for case in cases:
                _call(answer, case)
            answered += 1
        except Exception:
            continue
    return answered


def _call(answer: Any, case: Case) -> None:
    result = called(answer, case, inputs_for(case))
    if case.gradients:
        import torch

        if isinstance(result, list | tuple):
            result = torch.stack(tuple(result))
        result.backward(torch.from_numpy(case.upstream).to(result.dtype))
