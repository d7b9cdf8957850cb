"""A process that has imported what pages need of other people's packages, and forks a kernel for each page.

`forked_kernels.py` starts it as a script with the number of a connection, on which a message (JSON: ``argv``, ``cwd``,
``env``) comes for each kernel. The fork answers with its process's number and descriptor. Nothing of this project is
imported before the fork, so that `kernel_watch.py` sees which page uses what; no thread runs and no socket of ZeroMQ is
there, since a fork would have a part of it.
"""

import contextlib
import ctypes
import gc
import json
import os
import signal
import socket
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

HEAVY = (
    *("numpy.random", "torch", "torch._dynamo", "matplotlib.pyplot", "IPython.display"),  # optimisers import dynamo
    *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "anywidget", "debugpy", "nbformat"),
)
"""What pages import. Not safetensors: a page that has it counts as one that reads all weights (`page_needs.NATIVE`)."""

TRIED: set[str] = set()
"""Modules that were looked for before the fork, found or not; `kernel_watch.py` notes them for each page."""

MOST_BYTES = 1 << 20
"""Of a message; more than a socket takes at once."""

_PR_SET_PDEATHSIG = 1


class _Trying:
    """A finder that finds nothing and notes what is looked for."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if path is None:
            TRIED.add(name)


def load() -> None:
    """Import as a kernel would: ipykernel without the folder that one stands in, all else with it."""
    del sys.path[0]  # the folder of this script
    sys.meta_path.insert(0, _Trying())
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # ipykernel reads it when it is imported: a kernel ends with this
    if not os.environ.get("MPLBACKEND"):
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # what a kernel sets, too
    from ipykernel import kernelapp  # noqa: F401
    from IPython.core.shellapp import InteractiveShellApp

    InteractiveShellApp.init_path(SimpleNamespace(ignore_cwd=False))  # type: ignore[arg-type]
    for name in HEAVY:
        with contextlib.suppress(ImportError):  # a page that needs it says so
            import_module(name)
    del sys.meta_path[[type(finder) for finder in sys.meta_path].index(_Trying)]


def become(about: dict[str, Any], control: socket.socket) -> None:
    """Turn this fork into the kernel that was asked for; this returns when the kernel ends."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    socket.send_fds(control, [b"%d" % os.getpid()], [os.pidfd_open(os.getpid())])
    control.close()
    os.chdir(about["cwd"])
    os.environ.clear()
    os.environ.update(about["env"], JPY_PARENT_PID=str(os.getppid()))
    sys.argv = about["argv"]
    # Else all pages would draw the same; Python's own random sees to itself.
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()

    from ipykernel import kernelapp

    kernelapp.launch_new_instance()


def bury() -> None:
    """Take note of kernels that have ended, so that their time counts as this process's."""
    with contextlib.suppress(ChildProcessError):  # there are none, ended or not
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def main() -> None:
    """Import everything and fork on demand, until the connection closes."""
    sys.modules["kernel_server"] = sys.modules["__main__"]
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # all of this stays
    load()
    gc.enable()
    gc.freeze()  # no page looks for garbage in it: that would copy the memory
    while message := control.recv(MOST_BYTES):
        bury()
        if os.fork() == 0:
            return become(json.loads(message), control)
    bury()


if __name__ == "__main__":
    main()
