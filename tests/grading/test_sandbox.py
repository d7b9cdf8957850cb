"""A submission in the sandbox sees nothing of the machine, changes nothing on it, and ends when it is told to."""

import errno
import platform
import signal
import struct
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sandbox_tools import LIMITS, NEEDS_SANDBOX, REQUIRED, ask, hold, needs_sandbox, printed

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox import bubble
from softlookup_grader.sandbox.bubble import Zygote, how_it_ended
from softlookup_grader.sandbox.ends import RunEnd, ending_of
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import Dead, SubmissionSession
from softlookup_inside.sandbox import filter
from softlookup_inside.sandbox.filter import FORBIDDEN, program

pytestmark = NEEDS_SANDBOX
HOARD = """import os, time
for n in range(8):
    if os.fork() == 0:
        x = bytearray(80_000_000)
        time.sleep(60)
time.sleep(60)"""


def test_a_submission_runs_cells_as_a_kernel_does(begin):
    session = begin()
    ran = session.run("x = 2\nprint('hi')\nx + 1")
    assert [o["output_type"] for o in ran.outputs] == ["stream", "execute_result"]
    assert ran.outputs[1]["data"]["text/plain"] == "3" and not ran.trouble
    assert printed(session, "print(x)\n%time 1") != "" and printed(session, "!echo $HOME") == "/tmp/notebook"
    ran = session.run("1 / 0")
    assert ran.trouble == "ZeroDivisionError" and ran.outputs[0]["ename"] == "ZeroDivisionError"
    assert printed(session, "In [1]: y = 2\nIn [2]: print(y)") == "2" and printed(session, ">>> print(y + 1)") == "3"
    assert printed(session, "await __import__('asyncio').sleep(0, print('waited'))") == "waited"
    assert printed(session, "1 is 1\nprint('after')").count("SyntaxWarning") == 1
    session.run("import warnings; warnings.simplefilter('always')")
    assert "invalid escape" in printed(session, "x = '\\d'")
    assert session.run("def f(:").trouble == "SyntaxError"
    ran = session.run("print('so far')\nreturn 3")
    assert ran.trouble == "SyntaxError" and ran.outputs[0]["text"] == "so far\n"
    ran = session.run("def half(x):\n    return x // 0\nhalf(2)")
    assert "return x // 0" in "".join(ran.outputs[0]["traceback"])
    assert printed(session, "import inspect\nprint(inspect.getsource(half))").endswith("return x // 0")
    assert session.run("import sys; sys.exit()").trouble == "SystemExit"
    assert printed(session, "print('still here')") == "still here"


def test_a_submission_finds_nothing_of_the_instructors(begin):
    session = begin()
    root = Path(bubble.__file__).parents[5]
    for place in (root / "solutions", root / "tests", root / "lib", root / ".git", "/home", "/var", "/etc/passwd"):
        assert printed(session, f"import os; print(os.path.exists({str(place)!r}))") == "False"
    output = printed(session, "print(sorted(os.environ))")
    assert "SOFTLOOKUP" not in output and "SECRET" not in output
    assert printed(session, "print(os.listdir('/proc'), os.getpid(), os.getuid())") == "[] 1 1000"
    for name in ("tasks.ch04_one_head", "checking.oracle", "checking.judge", "grading.judging", "authoring", "cli"):
        ran = session.run(f"import softlookup.{name}")
        assert ran.trouble == "ModuleNotFoundError", name
    assert "is not there while this notebook is graded" in ran.outputs[0]["evalue"]
    assert printed(session, "import sys; print([m for m in sys.modules if 'one_head' in m or 'oracle' in m])") == "[]"


def test_a_submission_has_no_network_and_no_rights(begin):
    session = begin()
    assert session.run("import socket; socket.create_connection(('127.0.0.1', 22), 1)").trouble
    assert "Address family not supported" in printed(session, "socket.if_nameindex()"), "the kernel is not asked either"
    for source in (
        "open('/x', 'w')",
        "open('/usr/x', 'w')",
        "open('/softlookup/softlookup/x', 'w')",
        "import os; os.setuid(0)",
        "import ctypes, os\nif ctypes.CDLL(None, use_errno=True).umount(b'/proc'): raise OSError(ctypes.get_errno())",
        "if ctypes.CDLL(None, use_errno=True).umount2(b'/tmp', 2): raise OSError(ctypes.get_errno())",
        "if ctypes.CDLL(None, use_errno=True).mount(b'proc', b'/proc', b'proc', 0, None): raise OSError(1)",
        "os.kill(2, 9)",
    ):
        assert session.run(source).trouble in ("OSError", "PermissionError", "ProcessLookupError"), source


def test_what_one_submission_writes_no_other_finds(begin):
    first, second = begin(), begin()
    places = "import os\nplaces = ['/tmp', '/dev/shm', '/tmp/notebook', '/dev', '/dev/mqueue', '/var/tmp', '/run']\n"
    first.run(places + "for p in places:\n    try: open(p + '/planted', 'w').write('x')\n    except OSError: pass")
    assert printed(first, "print(os.path.exists('/tmp/planted'))") == "True"
    for session in (second, begin()):
        output = printed(session, places + "print([p for p in places if os.path.exists(p + '/planted')])")
        assert output == "[]"


@pytest.mark.parametrize(
    ("source", "trouble"),
    [
        ("open('/tmp/x', 'wb').write(b'0' * 20_000_000)", "OSError"),
        ("for n in range(20): open(f'/tmp/{n}', 'wb').write(b'0' * 1_000_000)", "OSError"),
        ("x = bytearray(500_000_000)", "MemoryError"),
        ("import os, time\nfor n in range(100):\n    if os.fork() == 0: time.sleep(60)", "BlockingIOError"),
        ("import threading as t\nfor n in range(100): t.Thread(target=t.Event().wait).start()", "RuntimeError"),
        ("while True: pass", "time"),
        ("import time\ntry:\n    time.sleep(60)\nexcept Exception: pass", "time"),
    ],
    ids=["file", "disk", "memory", "processes", "threads", "loop", "sleep"],
)
def test_limits_hold_and_the_submission_goes_on(begin, source, trouble):
    session = begin(replace(LIMITS, cell_s=1.0) if trouble == "time" else LIMITS)
    assert session.run(source).trouble == trouble
    assert printed(session, "print('on')") == "on"


@pytest.mark.parametrize(
    ("source", "why", "end"),
    [
        ("import os; os._exit(0)", "it ended its own process", RunEnd.EXIT),
        ("import os; os._exit(7)", "status 7", RunEnd.EXIT),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV", RunEnd.SIGNAL),
        ("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass", "did not stop", RunEnd.TIME),
        (HOARD, "of memory", RunEnd.MEMORY),
        ("import os; os.closerange(0, 100)", "ended its own process", RunEnd.EXIT),
        ("import os; os.dup2(os.open('/dev/null', os.O_RDWR), 3)", "ended its own process|rules", None),
        ("import os; os.write(3, b'x' * 1000)", "rules", RunEnd.PROTOCOL),
    ],
    ids=["exit", "status", "crash", "deaf", "children", "closed", "swapped", "noise"],
)
def test_a_submission_that_cannot_be_stopped_kindly_is_killed(begin, source, why, end):
    session = begin(Limits(**{**vars(LIMITS), "cell_s": 1.0 if "range(8)" not in source else 8.0}))
    begun = time.monotonic()
    with pytest.raises(Dead, match=why) as dead:
        session.run(source)
        session.run("1")
    assert dead.value.end is end or (end is None and dead.value.end in (RunEnd.EXIT, RunEnd.PROTOCOL))
    assert time.monotonic() - begun < 15


@pytest.mark.slow
@pytest.mark.parametrize("deaf", [False, True], ids=["terminated", "killed"])
def test_processor_time_that_is_over_is_told_from_a_memory_that_is_full(begin, deaf):
    session = begin(replace(LIMITS, cpu_s=1, cell_s=10.0))
    ignores = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n" if deaf else ""
    with pytest.raises(Dead, match="more than 1 s of processor time") as dead:
        session.run(f"{ignores}while True: pass")
    assert dead.value.end is RunEnd.TIME
    report = {"signal": signal.SIGKILL, "cpu_s": 0.5}
    assert ending_of(report, 1).end is RunEnd.SIGNAL and "memory" in ending_of(report, 1).why


def test_a_cell_whose_exception_has_the_name_of_an_end_is_not_that_end(begin):
    session = begin()
    ran = session.run("class time(Exception): pass\nraise time")
    assert (ran.trouble, ran.end) == ("time", RunEnd.RAISED)
    assert session.run("1").end is RunEnd.FINISHED
    assert begin(replace(LIMITS, cell_s=0.5)).run("while True: pass").end is RunEnd.TIME
    assert not session.run("print('... and 1 characters more, which are not kept')").cut


def test_output_is_cut(begin):
    ran = begin().run("for n in range(100_000): print('all work and no play')")
    assert sum(len(o["text"]) for o in ran.outputs) < 5000
    assert ran.cut and "characters more, which are not kept" in ran.outputs[-1]["text"]


def test_the_same_random_numbers_are_drawn_each_time(begin):
    source = "import random, numpy as np, torch\n"
    source += "print(random.random(), np.random.rand(), torch.rand(1).item(), hash('a'))"
    assert printed(begin(), source) == printed(begin(), source) != ""


def test_a_copy_of_a_zygote_serves_another_judge_and_ends_with_it():
    first = Zygote.start("bubblewrap", [])
    copies = [Zygote(first.copy()) for _ in range(2)]  # asked for before anything is imported
    first.wait()
    for copy in copies:
        copy.wait()
    sessions = [SubmissionSession(SubmissionProcess(copy, LIMITS, 3), time.monotonic() + 20) for copy in copies]
    assert [printed(session, "print('on')") for session in sessions] == ["on", "on"]
    copies[0].close()
    with pytest.raises(Dead):  # soon
        for _ in range(100):
            sessions[0].run("import time; time.sleep(0.05)")
    assert copies[1].lives() and sessions[1].run("1").trouble == ""
    first.close()
    assert not copies[1].lives()
    with pytest.raises(CourseError):
        SubmissionProcess(copies[1], LIMITS, 0)
    for process in (*sessions, copies[1]):
        process.close()


def test_a_zygote_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr(bubble, "_INSIDE", ("--no-such-option",))
    zygote = Zygote.start("bubblewrap", [])
    with pytest.raises(CourseError, match="the sandbox does not start here .*no-such-option"):
        zygote.wait()


def test_a_python_below_an_emptied_folder_is_moved_in_the_sandbox():
    seen = [str(bubble._seen(Path(place))) for place in ("/tmp/a/bin", "/opt/a/bin")]
    assert seen == ["/python/tmp/a/bin", "/opt/a/bin"]


def test_a_sandbox_that_is_required_is_not_left_out():
    skips = {text: needs_sandbox(text, {}).args[0] for text in ("", "no namespaces")}
    assert skips == {"": False, "no namespaces": True}
    assert not needs_sandbox("no namespaces", {REQUIRED: "1"}).args[0]


def test_without_bubblewrap_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(bubble.shutil, "which", lambda name: None)
    with pytest.raises(CourseError, match="bubblewrap is not installed.*apt install bubblewrap.*--sandbox none"):
        Zygote.start("bubblewrap")
    with pytest.raises(ValueError, match="'bubblewrap' or 'none'"):
        Zygote.start("docker")


@pytest.mark.slow
def test_without_a_sandbox_trusted_code_runs_all_the_same(tmp_path):
    zygote = Zygote.start("none", ["numpy", "torch"])
    zygote.wait()
    session = SubmissionSession(SubmissionProcess(zygote, LIMITS, 3), time.monotonic() + 20)
    student_object = hold(session, "def f(a): return a + 1")
    assert student_object.there and ask(session, np.ones(2)).arrays[0][0] == 2
    session.close()
    stage = zygote.stage
    zygote.close()
    assert not stage.exists()


def test_calls_that_no_notebook_needs_are_refused(begin):
    names = "memfd_create shmget unshare ptrace keyctl mount fspick semget io_setup inotify_init inotify_init1".split()
    numbers = [FORBIDDEN[name][platform.machine() == "aarch64"] for name in names]
    source = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    source += f"print({{(libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno()) for number in {numbers}}})"
    assert printed(begin(), source) == "{(-1, 1)}"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_sound_program(machine):
    column = ("x86_64", "aarch64").index(machine)
    kind = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
    assert program("riscv64") is None, "there is none for other machines"
    names = {pair[column]: name for name, pair in FORBIDDEN.items()}
    assert len(names) == len(FORBIDDEN)
    nothing = {pair[column] for pair in filter.NOTHING.values()}
    special = (filter.CLONE, filter.CLONE3, filter.SOCKET, filter.SOCKETPAIR, filter.FCNTL)
    for number in {*range(600)} - {call[column] for call in special}:
        expected = errno.EPERM if number in names else "nothing" if number in nothing else 0
        assert _came_to(machine, kind, number, 0x10000000) == expected, names.get(number, number)
    assert _came_to(machine, kind, 0x40000000 + 1) == errno.EPERM
    assert _came_to(machine, kind ^ 0x80000000, 1) == "killed"
    assert _came_to(machine, kind, filter.CLONE3[column]) == errno.ENOSYS
    clone = filter.CLONE[column]
    threads = 0x3D0F00  # what the C library starts a thread with
    assert _came_to(machine, kind, clone, threads) == _came_to(machine, kind, clone, 0x4111) == 0
    for bit in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert _came_to(machine, kind, clone, bit | 17) == errno.EPERM, hex(bit)
    for call in (filter.SOCKET, filter.SOCKETPAIR):
        open_ones = {family for family in range(64) if _came_to(machine, kind, call[column], family) == 0}
        assert open_ones == {1, 2, 10} and _came_to(machine, kind, call[column], 16) == errno.EAFNOSUPPORT
    commands = {_came_to(machine, kind, filter.FCNTL[column], 3, number): number for number in (3, 5, 6, 1024)}
    assert commands == {0: 5, "nothing": 6, errno.EPERM: 1024}
    assert {_came_to(machine, kind, filter.MADVISE[column], 0, 0, advice) for advice in (12, 20, 21)} == {"nothing"}
    assert _came_to(machine, kind, filter.MADVISE[column], 0, 0, 4) == 0
    reading = [_came_to(machine, kind, filter.PREADV2[column], 3, 0, 0, 0, 0, flags) for flags in (0, 8, 9)]
    assert reading == [0, errno.EPERM, errno.EPERM]


def _came_to(machine, kind, number, *args):
    """Run the filter on a call as the kernel does: 0 where it is allowed, else an error's number or a word."""
    code = program(machine)
    steps = [struct.unpack("HBBI", code[at : at + 8]) for at in range(0, len(code), 8)]
    data = struct.pack("<iIQ6Q", number, kind, 0, *args, *[0] * (6 - len(args)))
    at = value = 0
    while True:
        operation, yes, no, operand = steps[at]
        at += 1
        if operation == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        elif operation == 0x06:
            return {0x7FFF: 0, 0x8000: "killed"}.get(operand >> 16, operand & 0xFFFF or "nothing")
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[operation]
            at += yes if holds else no


def test_what_notebooks_do_with_processes_and_sockets_still_works(begin):
    source = """
        import asyncio, multiprocessing, socket, subprocess, threading
        print(subprocess.run(["echo", "run"], capture_output=True, text=True).stdout.strip())
        thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
        print(asyncio.run(asyncio.sleep(0, "loop")))
        with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, -2]))
        with socket.create_server(("127.0.0.1", 0)) as server: print(server.family.name)
        """
    assert printed(begin(), source).split("\n") == ["run", "thread", "loop", "[1, 2]", "AF_INET"]


def test_a_sandbox_that_ends_without_a_word_is_told_by_its_end() -> None:
    assert how_it_ended(-9) == "signal 9 ended it, and it said nothing"
    assert how_it_ended(3) == "it ended with status 3 and said nothing"
    assert how_it_ended(None) == "it runs, said nothing and is not ready"
