"""Attacks that end, hang or fill something: rows 25 to 31 and 33, and signals, limits and exits beyond the list.

Every bomb here ends by itself after a while: a few thousand processes, a few gigabytes, a minute.
"""

from attacks.handin import ALL, ANSWER, CELL, EARLIER, EXTRA, Attack
from attacks.remarks import DIED, DISK, MEMORY, OUTPUT_CUT, PROCESSES, RAISED, TIME

_DEAF = """
import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))


def $NAME(*given, **named):
    begun = time.monotonic()
    while time.monotonic() - begun < 300:
        try:
            while time.monotonic() - begun < 300:
                pass
        except BaseException:
            continue


$NAME()
"""

_SWALLOWS = """
import time

begun = time.monotonic()
while time.monotonic() - begun < 300:
    try:
        time.sleep(300)
    except BaseException:
        pass
"""

_FORKS = """
import os
import time

for _ in range(12):
    os.fork()
time.sleep(40)
"""

_MEMORY = """
held = []
for _ in range(80):
    held.append(bytearray(b"x") * 100_000_000)
"""

_TENSORS = """
import torch

held = [torch.ones(50_000_000) for _ in range(40)]
"""

_THREADS = """
import threading
import time

for _ in range(5000):
    threading.Thread(target=time.sleep, args=(40,), daemon=True).start()
time.sleep(40)
"""

_CHILDREN = """
import os
import time

for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x") * 600_000_000
        time.sleep(40)
        os._exit(0)
time.sleep(40)
"""

_DISK = """
import os
import pathlib

for folder in (os.getcwd(), "/tmp", os.path.expanduser("~"), "/dev/shm", "/var/tmp"):
    try:
        with open(pathlib.Path(folder, "$TRACE-large"), "wb") as file:
            for _ in range(2000):
                file.write(bytes(1_000_000))
    except OSError as error:
        print(folder, error)
"""

_INODES = """
import pathlib
import tempfile

place = pathlib.Path(tempfile.mkdtemp())
for n in range(300_000):
    (place / str(n)).touch()
"""

_UNSEEN = """
import os
import time

held = []
part = b"x" * 25_000_000
for n in range(160):
    held.append(os.memfd_create(f"$TRACE-{n}"))
    os.write(held[-1], part)
time.sleep(3)
"""

_SEGMENTS = """
import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
for n in range(40):
    segment = libc.shmget(0, 100_000_000, 0o1600)
    place = libc.shmat(segment, None, 0)
    if segment < 0 or place in (None, 2**64 - 1):
        break
    ctypes.memset(place, 1, 100_000_000)
    libc.shmdt(place)
time.sleep(3)
"""

_LINES = """
for n in range(10_000_000):
    print("still here", n)
"""

_DISPLAYS = """
from IPython.display import HTML, display

for n in range(20):
    display(HTML("x" * 1_000_000))
for n in range(50_000):
    display({}, raw=True)
"""

_LONG_LINE = 'import sys\nfor _ in range(50):\n    sys.stdout.write("x" * 1_000_000)\n'

_FLOOD_BELOW = """
import os

for fd in (1, 2):
    try:
        for _ in range(2000):
            os.write(fd, b"x" * 10_000 + b"\\n")
    except OSError:
        pass
"""

_TALKATIVE = """
$RIGHT
quiet_$NAME = $NAME


def $NAME(*given, **named):
    for n in range(30_000):
        print("still here", n)
    return quiet_$NAME(*given, **named)
"""

_UNTIDY = """
import random
import threading
import time

import numpy as np
import torch

real_sleep = time.sleep
threading.Thread(target=real_sleep, args=(600,)).start()
time.sleep = lambda seconds: None
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


def spin():
    while True:
        real_sleep(0.01)


threading.Thread(target=spin, daemon=True).start()
$RIGHT
"""

_SWITCHES = """
import warnings

import numpy as np
import torch

torch.set_grad_enabled(False)
torch.set_default_dtype(torch.float64)
np.seterr(all="raise")
warnings.simplefilter("error")
np.set_printoptions(precision=2)
$RIGHT
"""

_CRASH = "import ctypes\nctypes.string_at(0)\n"

_RECURSION = """
import sys

sys.setrecursionlimit(10**8)


def deeper(n):
    return [deeper(n + 1)]


class Deep:
    def __repr__(self):
        return repr([self]) + repr(self)


deeper(0)
"""

_TIGHT = """
import resource
import sys

sys.setrecursionlimit(max(60, len(__import__("inspect").stack()) + 5))
for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_STACK, resource.RLIMIT_CPU):
    resource.setrlimit(kind, (1, 1))
"""

_LAST_WORDS = """
import atexit
import threading
import time


class Stays:
    def __del__(self, sleep=time.sleep):
        for _ in range(60):
            sleep(1)


stays = Stays()
stays.itself = stays
atexit.register(lambda: time.sleep(60))
threading._register_atexit(lambda: time.sleep(60))
threading.Thread(target=time.sleep, args=(60,)).start()
"""

_ALARMS = """
import faulthandler
import os
import signal


def again(*given):
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)


for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGXCPU, signal.SIGCHLD, signal.SIGPIPE):
    signal.signal(number, again)
again()
faulthandler.dump_traceback_later(0.05, repeat=True)
"""

_HALTED = """
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
"""

_DRIP = """
import time

begun = time.monotonic()
while time.monotonic() - begun < 300:
    print(".", end="", flush=True)
    try:
        time.sleep(1)
    except BaseException:
        pass
"""

_COLLECTED = """
import gc


def interfere(phase, info):
    raise MemoryError("from inside the collector")


gc.callbacks.append(interfere)
gc.disable()
gc.freeze()
for _ in range(200_000):
    loop = []
    loop.append(loop)
"""


def _loop(body: str) -> str:
    return f"def $NAME(*given, **named):\n    {body}\n"


ATTACKS = (
    Attack(
        "os-exit", 25, "ends the process while its cell runs", "import os\n\nos._exit(0)\n", CELL, EARLIER, remark=DIED
    ),
    Attack(
        "os-exit-in-answer",
        25,
        "ends the process when its function is asked",
        _loop("import os; os._exit(0)"),
        ANSWER,
        EARLIER,
        remark=DIED,
    ),
    Attack(
        "kills-itself",
        25,
        "sends itself SIGKILL",
        "import os\nimport signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n",
        CELL,
        EARLIER,
    ),
    Attack("sys-exit", 26, "calls sys.exit in its cell", "import sys\n\nsys.exit(0)\n"),
    Attack(
        "sys-exit-in-answer", 26, "calls exit() and quit() when asked", _loop("exit() or quit()"), ANSWER, remark=RAISED
    ),
    Attack("endless-cell", 27, "a cell that never ends", "while True:\n    pass\n", remark=TIME),
    Attack("endless-answer", 27, "a function that never comes back", _loop("while True: pass"), ANSWER, remark=TIME),
    Attack("deaf", 28, "an endless loop that ignores every signal", _DEAF, last=True, remark=TIME),
    Attack(
        "swallows",
        28,
        "an endless loop that swallows every exception",
        _SWALLOWS,
        last=True,
        remark=TIME,
    ),
    Attack("forks", 29, "forks until 4096 processes stand side by side", _FORKS, last=True, remark=PROCESSES),
    Attack("memory", 29, "takes 8 GB of memory", _MEMORY, last=True, remark=MEMORY),
    Attack("memory-tensors", 29, "takes 8 GB of memory in tensors", _TENSORS, last=True, remark=MEMORY),
    Attack("threads", 29, "starts 5,000 threads", _THREADS, last=True, remark=PROCESSES),
    Attack("children", 29, "eight children, each below the limit of one process", _CHILDREN, last=True, remark=MEMORY),
    Attack("unseen-files", 29, "takes 4 GB in files of memory that no process maps", _UNSEEN, last=True),
    Attack(
        "segments",
        29,
        "takes 4 GB in shared segments that no process has attached",
        _SEGMENTS,
        last=True,
        remark=MEMORY,
    ),
    Attack("disk", 30, "writes 2 GB wherever it may", _DISK, last=True),
    Attack("inodes", 30, "makes 300,000 empty files", _INODES, last=True, remark=DISK),
    Attack("lines", 31, "prints ten million lines", _LINES, last=True, remark=f"{OUTPUT_CUT}|{TIME}"),
    Attack("displays", 31, "displays 20 MB, and 50,000 times nothing", _DISPLAYS, last=True, remark=OUTPUT_CUT),
    Attack("long-line", 31, "writes one line of 50 MB", _LONG_LINE, last=True, remark=OUTPUT_CUT),
    Attack("flood-below", 31, "writes 40 MB to the descriptors below Python's streams", _FLOOD_BELOW, last=True),
    Attack("talkative", 31, "a right answer that prints 30,000 lines each time", _TALKATIVE, ANSWER, ALL),
    Attack(
        "untidy", 33, "right, but leaves threads running, patches time.sleep and seeds everything", _UNTIDY, ANSWER, ALL
    ),
    Attack("switches", 0, "right, but switches off gradients and turns warnings into errors", _SWITCHES, ANSWER, ALL),
    Attack("crash", 0, "reads address 0", _CRASH, last=True, remark=DIED),
    Attack(
        "recursion", 0, "recursion until the C stack is full", _RECURSION, last=True, remark=f"{DIED}|{MEMORY}|{RAISED}"
    ),
    Attack("tight-limits", 0, "sets limits under which nothing works any more", _TIGHT, last=True),
    Attack("last-words", 0, "code that runs when Python ends, for minutes", _LAST_WORDS),
    Attack("last-words-extra", 0, "the same, in a cell of its own", _LAST_WORDS, EXTRA),
    Attack("alarms", 0, "a thousand alarms a second, and handlers for every signal", _ALARMS, last=True),
    Attack("halted", 0, "halts itself with SIGSTOP", _HALTED, last=True),
    Attack("drip", 0, "prints one dot a second, for five minutes", _DRIP, last=True, remark=TIME),
    Attack("collector-callbacks", 0, "callbacks of the garbage collector that raise", _COLLECTED),
)
