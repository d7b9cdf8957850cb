"""Attacks on the submissions beside, and on the processes that they all come from."""

from attacks.handin import Attack

_GROUP_KILLED = """
import os
import signal

for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
    for target in (0, -1, -os.getpgid(0), os.getppid(), -os.getppid()):
        try:
            os.kill(target, number)
        except OSError as error:
            print(target, error)
"""

_GROUP_HALTED = """
import os
import signal

for target in (0, -1):
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        try:
            os.kill(target, number)
        except OSError as error:
            print(target, error)
"""

_GROUP_SLOWED = """
import os

for kind in (os.PRIO_PGRP, os.PRIO_USER):
    try:
        os.setpriority(kind, 0, 19)
    except OSError as error:
        print(error)
"""

_BUSY = """
import os
import time

begun = time.monotonic()
for _ in range(58):
    if os.fork() == 0:
        os.setsid()
        while time.monotonic() - begun < 60:
            pass
        os._exit(0)
"""

_LEASES = """
import fcntl
import glob
import os
import signal
import sys

signal.signal(signal.SIGIO, signal.SIG_IGN)
held = []
for package in ("matplotlib", "numpy", "torch", "IPython"):
    for path in sorted(glob.glob(f"{sys.prefix}/lib/python3*/site-packages/{package}/*.py"))[:40]:
        try:
            held.append(os.open(path, os.O_RDONLY))
            fcntl.fcntl(held[-1], fcntl.F_SETLEASE, fcntl.F_WRLCK)
            print("$LEAK a lease on", path)
        except OSError as error:
            print(error)
"""

_WATCHES = """
import fcntl
import os
import signal
import sys

seen = []
signal.signal(signal.SIGIO, lambda *given: seen.append(given))
for folder in sys.path:
    try:
        fcntl.fcntl(os.open(folder, os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
        print("$LEAK a watch on", folder)
    except OSError as error:
        print(error)
"""

_LOCKS = """
import fcntl
import numpy

library = open(numpy.__file__, "rb")
for command in (fcntl.LOCK_SH, fcntl.LOCK_EX):
    try:
        fcntl.flock(library, command)
        fcntl.lockf(library, fcntl.LOCK_SH)
    except OSError as error:
        print(error)
"""

ATTACKS = (
    Attack("group-killed", 0, "sends SIGKILL to its process group and to all processes", _GROUP_KILLED),
    Attack("group-halted", 0, "halts its process group, so that nothing is forked any more", _GROUP_HALTED),
    Attack("group-slowed", 0, "gives its process group the lowest priority", _GROUP_SLOWED),
    Attack("leases", 0, "takes leases on library files, so that whoever opens them waits", _LEASES),
    Attack("watches", 0, "asks to be notified when others read the library's folders", _WATCHES),
    Attack("locks", 0, "locks a library file", _LOCKS),
    Attack("busy-children", 0, "58 children in sessions of their own that never rest", _BUSY, last=True),
)
