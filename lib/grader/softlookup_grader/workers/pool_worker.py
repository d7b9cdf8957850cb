"""What runs in a worker process: it takes jobs from a pipe until the pipe closes or its parent is gone."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NoReturn

from softlookup_grader.data.errors import CourseError

READY, DONE, FAILED, HALT = b"R", b"D", b"F", b"H"
"""What a worker can say: it waits for jobs; the job's answer; the job failed; no job can be done here."""

Doing = Callable[[str, bytes], bytes]  # does one job: a name and bytes in, bytes out


def serve(
    make: Callable[[], AbstractContextManager[Doing]],
    pipe: Connection,
    log: Path,
    umask: int,
    processor: int | None = None,
) -> None:
    """Do jobs until there are no more. A job that raises ends the process, so that the next one finds a clean one."""
    os.umask(umask)
    if processor is not None:
        os.sched_setaffinity(0, {processor})
    # Ctrl-C reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    _die_with_parent()
    with open(log, "a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        with make() as doing:
            # What was made for all jobs is left out when garbage is looked for.
            gc.collect()
            gc.freeze()
            pipe.send_bytes(READY)
            while True:
                try:
                    name, payload = os.fsdecode(pipe.recv_bytes()), pipe.recv_bytes()
                except EOFError:
                    return
                pipe.send_bytes(DONE + doing(name, payload))
    except (BrokenPipeError, ConnectionResetError):
        return  # the parent stopped listening
    except CourseError as error:
        _say(pipe, HALT + str(error).encode())
    except Exception as error:
        traceback.print_exc()
        says = f"grading it failed ({type(error).__name__}: {error})"
        _say(pipe, FAILED + says[:400].encode("utf-8", "replace"))


def _say(pipe: Connection, message: bytes) -> None:
    try:
        pipe.send_bytes(message)
    except OSError:
        traceback.print_exc()


def _leave(*_: object) -> NoReturn:
    """On SIGTERM: end by way of all contexts, so that sandboxes are closed."""
    sys.exit(128 + signal.SIGTERM)


def _die_with_parent() -> None:
    """Watch the process that asked for this one, and end at once when it is gone: nobody would take an answer."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
