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

ATTACKS = (
    Attack("group-killed", 0, "sends SIGKILL to its process group and to all processes", _GROUP_KILLED),
    Attack("group-halted", 0, "halts its process group, so that nothing is forked any more", _GROUP_HALTED),
    Attack("group-slowed", 0, "gives its process group the lowest priority", _GROUP_SLOWED),
    Attack("busy-children", 0, "58 children in sessions of their own that never rest", _BUSY, last=True),
)
