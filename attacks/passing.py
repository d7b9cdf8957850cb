"""Pairs of submissions: one leaves its right answer somewhere, the next one looks for it."""

from attacks.handin import ALL, ANSWER, Attack

_PLACES = """
import os
import tempfile


def places():
    for folder in (tempfile.gettempdir(), "/dev/shm", "/dev/mqueue", "/var/tmp", "/run", "/var/lock", os.getcwd(),
                   os.path.expanduser("~"), os.path.dirname(os.getcwd()), "/sys/fs/cgroup", "/proc/sys/kernel"):
        yield os.path.join(folder, "$TRACE-passed")
"""

_LEAVES_FILES = (
    _PLACES
    + """
for path in places():
    try:
        with open(path, "w") as file:
            file.write('''$RIGHT''')
    except OSError:
        pass
$RIGHT
"""
)

_FINDS_FILES = (
    "$WRONG\n"
    + _PLACES
    + """
for path in places():
    try:
        text = open(path).read()
    except OSError:
        continue
    print("$LEAK", path)
    exec(text)
    break
"""
)

_KERNEL_CALLS = """
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
ADD_KEY, KEYCTL = (248, 250) if platform.machine() == "x86_64" else (217, 219)
USER_KEYS, SEARCH, READ = -4, 10, 11
libc.shmat.restype = ctypes.c_void_p
"""

_LEAVES_KEYS = (
    _KERNEL_CALLS
    + """
text = b'''$RIGHT'''
print(libc.syscall(ADD_KEY, b"user", b"$TRACE", text, len(text), USER_KEYS))
segment = libc.shmget(0x50F7, 65536, 0o1666)
place = libc.shmat(segment, None, 0)
if place not in (None, 2**64 - 1):
    ctypes.memmove(place, text + b"\\0", len(text) + 1)
$RIGHT
"""
)

_FINDS_KEYS = (
    "$WRONG\n"
    + _KERNEL_CALLS
    + """
room = ctypes.create_string_buffer(65536)
number = libc.syscall(KEYCTL, SEARCH, USER_KEYS, b"user", b"$TRACE", 0)
if number > 0 and libc.syscall(KEYCTL, READ, number, room, 65536) > 0:
    print("$LEAK the kernel's keys")
    exec(room.value.decode())
segment = libc.shmget(0x50F7, 65536, 0o666)
place = libc.shmat(segment, None, 0) if segment >= 0 else None
if place not in (None, 2**64 - 1) and ctypes.string_at(place):
    print("$LEAK shared memory")
    exec(ctypes.string_at(place).decode())
"""
)

_REMEMBERS = """
MARKED = '''$TRACE-treasure
$RIGHT
#$TRACE-end'''
$RIGHT
"""

_DIGS = """
$WRONG
import gc
import re

PATTERN = re.compile(b"$TRACE" + b"-treasure\\n(.*?)\\n#" + b"$TRACE" + b"-end", re.DOTALL)


def dig():
    for one in gc.get_objects():
        if isinstance(one, dict):
            yield from (value.encode(errors="replace") for value in list(one.values()) if type(value) is str)
    try:
        maps = open("/proc/self/maps").read().splitlines()
        memory = open("/proc/self/mem", "rb")
    except OSError:
        return
    for line in maps:
        begin, end = (int(x, 16) for x in line.split()[0].split("-"))
        if "rw" in line and end - begin < 1 << 28:
            try:
                memory.seek(begin)
                yield memory.read(end - begin)
            except (OSError, ValueError, OverflowError):
                pass


for text in dig():
    stolen = [found.group(1) for found in PATTERN.finditer(text) if found.group(1).startswith(b"def ")]
    if stolen:
        print("$LEAK an earlier submission's text")
        exec(stolen[0].decode())
        break
"""

ATTACKS = (
    Attack(
        "files-a-leaves",
        0,
        "right, and leaves its answer wherever it may write",
        _LEAVES_FILES,
        ANSWER,
        ALL,
        group="files",
    ),
    Attack(
        "files-b-finds",
        0,
        "looks for the answer that the one before left in a file",
        _FINDS_FILES,
        ANSWER,
        group="files",
    ),
    Attack(
        "keys-a-leaves",
        0,
        "right, and leaves its answer in the kernel's keys and shared memory",
        _LEAVES_KEYS,
        ANSWER,
        ALL,
        group="keys",
    ),
    Attack(
        "keys-b-finds",
        0,
        "looks for the answer in the kernel's keys and shared memory",
        _FINDS_KEYS,
        ANSWER,
        group="keys",
    ),
    Attack(
        "memory-a-leaves",
        0,
        "right, with its answer's text marked for the next one",
        _REMEMBERS,
        ANSWER,
        ALL,
        group="memory",
    ),
    Attack(
        "memory-b-digs",
        0,
        "digs for an earlier submission's text in its own process's memory",
        _DIGS,
        ANSWER,
        group="memory",
    ),
)
