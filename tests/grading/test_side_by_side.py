"""Two submissions side by side see nothing of each other through what the kernel holds once for all of them."""

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_tools import LIMITS, NEEDS_SANDBOX, hold, printed

from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import SubmissionSession

pytestmark = NEEDS_SANDBOX

BEGIN = """
import ctypes, fcntl, mmap, os, platform, resource, signal, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
x86 = platform.machine() == "x86_64"


def call(number, *args):
    numbers = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return -ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *numbers) < 0 else 0


def tried(function, *args):
    try:
        function(*args)
        return 0
    except OSError as error:
        return -error.errno


def lock(kind, at):
    return struct.pack("hhqqi4x", kind, 0, at, 1, 0)


def locked(command, at):
    return struct.unpack("hhqqi4x", fcntl.fcntl(file, command, lock(fcntl.F_WRLCK, at)))[0] != fcntl.F_UNLCK


file = os.open(PATH, os.O_RDONLY)
"""
SIDES = {
    # What the first one does, and what the second one would see: whether it is there.
    "lock": ("fcntl.fcntl(file, fcntl.F_SETLK, lock(fcntl.F_RDLCK, 7))", "locked(fcntl.F_GETLK, 7)"),
    "waiting-lock": ("fcntl.fcntl(file, fcntl.F_SETLKW, lock(fcntl.F_RDLCK, 17))", "locked(fcntl.F_GETLK, 17)"),
    "lock-of-a-description": ("fcntl.fcntl(file, 37, lock(fcntl.F_RDLCK, 9))", "locked(36, 9)"),
    "waiting-lock-of-a-description": ("fcntl.fcntl(file, 38, lock(fcntl.F_RDLCK, 19))", "locked(36, 19)"),
    "flock": (
        "fcntl.flock(file, fcntl.LOCK_SH)",
        "tried(fcntl.flock, os.open(PATH, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB) != 0",
    ),
    "flock-of-a-device": (
        "null = os.open('/dev/null', os.O_RDWR); fcntl.flock(null, fcntl.LOCK_SH)",
        "tried(fcntl.flock, os.open('/dev/null', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB) != 0",
    ),
    "times-of-a-device": (
        "before = os.stat('/dev/full').st_mtime; tried(os.utime, '/dev/full')",
        "time.time() - os.stat('/dev/full').st_mtime < 60",
    ),
    "hidden-socket": (
        "listening = socket.socket(socket.AF_UNIX); listening.bind('\\0hidden'); listening.listen()",
        "tried(socket.socket(socket.AF_UNIX).connect, '\\0hidden') == 0",
    ),
    "queue": (
        "queue = libc.mq_open(b'/side', os.O_RDWR | os.O_CREAT, 0o666, None)",
        "libc.mq_open(b'/side', os.O_RDWR) >= 0",
    ),
    "threads": (
        "[threading.Thread(target=time.sleep, args=(5,), daemon=True).start() for _ in range(4)]",
        "tried(os.sysconf, 'SC_PHYS_PAGES') != 0 or call(99 if x86 else 179, ctypes.create_string_buffer(256)) == 0",
    ),
}
REFUSED = {
    "lease": "tried(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "lease-seen": "tried(fcntl.fcntl, file, fcntl.F_GETLEASE)",
    "notice": "tried(fcntl.fcntl, os.open(os.path.dirname(PATH), os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)",
    "hint": "tried(fcntl.fcntl, file, 1035, bytes(8))",
    "delegation": "tried(fcntl.fcntl, file, 1040, bytes(16))",
    "larger-pipe": "-((r := os.pipe()[0]) and not fcntl.fcntl(r, 1031, 2**20) and fcntl.fcntl(r, 1032) < 2**20)",
    "in-memory-read": "tried(os.preadv, file, [bytearray(1)], 0, os.RWF_NOWAIT)",
    "in-memory-count": "call(451, file, struct.pack('QQ', 0, 4096), ctypes.create_string_buffer(64), 0)",
    "in-memory-pages": "call(27 if x86 else 232, ctypes.c_void_p(0), 0, ctypes.create_string_buffer(8))",
}
HONEST = {
    "sqlite": """
import sqlite3
for mode in ("delete", "wal"):
    first, second = (sqlite3.connect(f"/tmp/{mode}.db") for _ in range(2))
    first.execute(f"pragma journal_mode={mode}")
    with first:
        first.execute("create table t (x)")
        first.execute("insert into t values (7)")
    print(second.execute("select x from t").fetchall(), second.execute("pragma journal_mode").fetchall())
""",
    "files": """
import mmap, os, shutil
import numpy as np
np.save("/tmp/a.npy", np.arange(5))
print(np.load("/tmp/a.npy", mmap_mode="r").sum(), np.load("/tmp/a.npy", mmap_mode="r+").sum())
with open("/tmp/a.npy", "r+b") as file:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    mmap.mmap(file.fileno(), 0).madvise(mmap.MADV_SEQUENTIAL)
shutil.copyfile("/tmp/a.npy", "/tmp/b.npy")
os.sync()
with open(os.devnull, "w") as nothing:
    print("x", file=nothing)
print(os.path.getsize("/tmp/b.npy"), len(open("/dev/urandom", "rb").read(3)))
""",
}
SAYS = {"sqlite": "[(7,)] [('delete',)]\n[(7,)] [('wal',)]", "files": "10 10\n168 3"}


@pytest.fixture(scope="module")
def sides(zygote: Zygote) -> Iterator[list[SubmissionSession]]:
    sessions = [SubmissionSession(SubmissionProcess(zygote, LIMITS, 3), time.monotonic() + 60) for _ in range(2)]
    for session in sessions:
        session.run("import os\nPATH = os.__file__\n" + BEGIN)
    yield sessions
    for session in sessions:
        session.close()


def _outside(*sources: str) -> list[str]:
    """What two processes of this test say, one after the other, with a file of their own: without a sandbox."""
    lines = []
    with tempfile.NamedTemporaryFile() as file, contextlib.ExitStack() as ends:
        for source in sources:
            code = f"PATH = {file.name!r}\n{BEGIN}\n{source}\nprint(flush=True)\ninput()"
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            process = subprocess.Popen([sys.executable, "-c", code], **pipes)
            ends.callback(process.communicate, "\n")
            lines.append(process.stdout.readline().strip())
    return lines


@pytest.mark.parametrize("name", SIDES)
def test_what_one_submission_leaves_with_the_kernel_no_other_sees(sides, name):
    sets, sees = SIDES[name]
    first, second = sides
    first.run(sets)
    assert printed(second, f"print({sees})") == "False"


@pytest.mark.parametrize("name", ["lock", "lock-of-a-description", "flock", "hidden-socket"])
def test_outside_of_a_sandbox_they_are_seen(name):
    sets, sees = SIDES[name]
    assert _outside(sets, f"print({sees}, end='')")[1] == "True"


@pytest.mark.parametrize("name", REFUSED)
def test_commands_that_reach_other_programs_are_refused(sides, name):
    assert printed(sides[0], f"print({REFUSED[name]})") == "-1"


def test_signals_that_wait_in_one_submission_leave_room_for_those_of_others(sides):
    # A child sends them to itself: to the first process of a namespace none is sent that it does not handle.
    sends = (
        "end, begin = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [40])\n"
        "    sent = 0\n"
        "    while sent < 200_000 and libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) == 0: sent += 1\n"
        "    os.write(begin, b'%d' % sent)\n"
        "    time.sleep(60)\n"
        "print(0 < int(os.read(end, 9)) < 1000)"
    )
    for session in sides:
        assert printed(session, sends) == "True"


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_go_on_as_at_home(begin, name):
    assert printed(begin(), HONEST[name]) == SAYS[name]


AS_USER = """
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from sandbox_tools import LIMITS, printed
from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import SubmissionSession

zygote = Zygote.start()
zygote.wait()
session = SubmissionSession(SubmissionProcess(zygote, LIMITS, 3), time.monotonic() + 20)
session.run(sys.argv[2])
answers = {name: printed(session, f"print({source})") for name, source in json.loads(sys.argv[3]).items()}
session.close()
zygote.close()
print(json.dumps([os.geteuid(), answers]))
"""


def test_a_grader_that_is_a_normal_user_owns_what_submissions_see_and_is_safe():
    """What a file's owner alone may do: a namespace of users makes this test's user a normal one who owns all files."""
    as_user = [shutil.which("unshare"), "--user", "--map-user=1000", "--map-group=1000"]
    if as_user[0] is None or subprocess.run([*as_user, "true"], capture_output=True).returncode:
        pytest.skip("no namespace of users can be made here, in which this test would be a normal user")
    begin = f"import softlookup\nPATH = softlookup.__file__\n{BEGIN}"
    asks = {**REFUSED, "owner": "os.stat(file).st_uid == os.getuid()"}
    done = subprocess.run(
        [*as_user, sys.executable, "-c", AS_USER, str(Path(__file__).parent), begin, json.dumps(asks)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    uid, answers = json.loads(done.stdout)
    assert uid == 1000 and answers.pop("owner") == "True"
    assert answers == dict.fromkeys(REFUSED, "-1")


@pytest.mark.parametrize("patience_s", [0.0, 5.0], ids=["end", "close"])
def test_nothing_of_a_process_is_alive_once_it_was_ended(zygote, patience_s):
    process = SubmissionProcess(zygote, LIMITS, 0)
    session = SubmissionSession(process, time.monotonic() + 20)
    session.run(
        "import os, signal, time\n"
        "for n in range(4):\n"
        "    if os.fork() == 0:\n"
        "        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        big = bytearray(20_000_000)\n"
        "        time.sleep(600)\n"
    )
    hold(session, "def f(x): return x")
    space = Path(f"/proc/{process.pid}/ns/pid").readlink()
    assert _in_space(space) >= 5
    if not patience_s:
        assert session.end() and _in_space(space) == 0
    session.close()
    until = time.monotonic() + patience_s
    while _in_space(space) and time.monotonic() < until:
        time.sleep(0.02)
    assert _in_space(space) == 0


def _in_space(space: Path) -> int:
    """How many processes are in a namespace."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += (process / "ns/pid").readlink() == space
    return count
