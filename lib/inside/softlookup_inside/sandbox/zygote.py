"""A process in the sandbox with everything imported already, which forks once for each submission.

It is started as a script, and talks to its owner over the socket that its first argument numbers; asked for a copy of
itself, it serves another owner. A submission gets a connection to the judge, a pipe that tells how it ended, namespaces
of its own, empty places to write, limits, and no rights.
"""

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import random
import resource
import shutil
import signal
import socket
import struct
import sys
from importlib import import_module
from typing import Any

from softlookup_inside import OURS

_NAMESPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x08000000 | 0x40000000 | 0x04000000
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE, _MS_RDONLY = 2, 4, 0x4000, 0x40000, 1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 1, 38, 24
_MS_NOEXEC = 8
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_LARGE_PAGE, _MADV_COLLAPSE = 1 << 21, 25
_MS_REMOUNT, _MS_BIND, _MS_RELATIME = 0x20, 0x1000, 1 << 21
_EMPTY = ("/tmp", "/dev/shm", "/proc", "/dev/mqueue")
_NODES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
"""The machine's own, which all submissions share."""

_MODULES = tuple(f"softlookup_inside.sandbox.{name}" for name in ("filter", "kernel_shell", "submission"))
"""What every submission's process runs, imported once and not in each fork."""

_TERMINALS = 16  # terminals that a submission may open at once: a machine has few, and nobody counts their memory


class _Trouble(Exception):
    """The sandbox itself does not work here; the message says what was refused."""


def _call(libc: Any, name: str, *args: Any) -> None:
    if getattr(libc, name)(*args) != 0:
        raise _Trouble(f"{name} was refused ({os.strerror(ctypes.get_errno())})")


def own_namespaces(libc: Any, disk_mb: int) -> None:
    """Enter namespaces of one's own, with empty places to write; what is forked next is the first process in them."""
    uid, gid = os.getuid(), os.getgid()
    _call(libc, "unshare", _NAMESPACES)
    for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {uid} 1"), ("gid_map", f"1000 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _call(libc, "mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    for path in _EMPTY:
        if not os.path.isdir(path):
            continue
        flags = _MS_NOSUID | _MS_NODEV | (_MS_RDONLY if path == "/proc" else 0)
        room = b"size=4k" if path == "/proc" else b"mode=1777,nr_inodes=10000,size=%dm" % disk_mb
        _call(libc, "mount", b"tmpfs", path.encode(), b"tmpfs", flags, room)
    for node in _NODES:
        if os.path.ismount(node):
            _mark_unchangeable(libc, node)
    if os.path.isdir("/dev/pts"):  # else each could open the terminals of all that run beside it
        some = b"newinstance,ptmxmode=0666,mode=600,max=%d" % _TERMINALS
        _call(libc, "mount", b"devpts", b"/dev/pts", b"devpts", _MS_NOSUID | _MS_NOEXEC, some)


def begin_loopback() -> None:
    """Let a submission reach itself at 127.0.0.1, in a network of its own that leads nowhere else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        fcntl.ioctl(link, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _mark_unchangeable(libc: Any, node: str) -> None:
    """Let nobody change a device's times, which whoever may write to it may do; it is read and written as before."""
    flags = os.statvfs(node).f_flag
    stay = flags & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    stay |= _MS_RELATIME if flags & os.ST_RELATIME else 0
    _call(libc, "mount", None, node.encode(), None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | stay, None)


def no_rights(libc: Any) -> None:
    """Give up every capability, and calls that no notebook needs: what was covered must stay covered."""
    from softlookup_inside.sandbox import filter

    for capability in range(64):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _call(libc, "capset", header, (ctypes.c_uint32 * 6)())
    _call(libc, "prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    filter.install(libc)


def held_kb() -> dict[str, int]:
    """Kilobytes of addresses (VmSize) and of memory of one's own (VmData) so far."""
    with open("/proc/self/status") as file:
        return {line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith(("VmSize", "VmData"))}


def limit(about: dict[str, Any], used_kb: dict[str, int]) -> None:
    """Set the limits, inside the new namespace of users: there the number of processes is counted by itself."""
    megabyte = 1 << 20
    resource.setrlimit(resource.RLIMIT_CPU, (about["cpu_s"], about["cpu_s"] + 2))
    memory = about["memory_mb"] * megabyte
    for limit, most in (
        (resource.RLIMIT_DATA, used_kb["VmData"] * 1024 + memory),
        # Counts what is mapped and not in memory too, so it stands in only where no control group counts exactly.
        *(((resource.RLIMIT_AS, used_kb["VmSize"] * 1024 + memory),) if about["addresses"] else ()),
        (resource.RLIMIT_FSIZE, about["disk_mb"] * megabyte),
        (resource.RLIMIT_NOFILE, 256),
        # Of these all submissions together have what the grader may have: no notebook needs more than a few signals.
        (resource.RLIMIT_SIGPENDING, 256),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_CORE, 1),  # the only limit that also holds where cores are piped into a program (core(5))
        *(() if about["bare"] else ((resource.RLIMIT_NPROC, about["processes"]),)),
    ):
        resource.setrlimit(limit, (most, most))


def _submission(link: socket.socket, about: dict[str, Any], shell: Any) -> None:
    """The submission's own process, from here to its end."""
    from softlookup_inside.sandbox import submission as inside

    fd = os.dup2(link.fileno(), 3)
    link.detach()
    os.closerange(4, 65536)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    home = about["home"]
    os.makedirs(home, exist_ok=True)
    os.chdir(home)
    os.environ["HOME"] = home
    if about["beside"]:
        shutil.copytree(about["beside"], home, dirs_exist_ok=True)
        sys.path.insert(0, home)
    random.seed(about["seed"])
    # Whoever has not imported them (they may be missing) does not use their random numbers either.
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(about["seed"] % 2**32)
    if "torch" in sys.modules:
        # What torch.manual_seed does besides is for accelerators, and there are none here.
        sys.modules["torch"].default_generator.manual_seed(about["seed"] % 2**32)
    inside.main(socket.socket(fileno=fd), shell, about["output_kb"] * 1024, about["beside"])


def _between(
    link: socket.socket, status: int, about: dict[str, Any], shell: Any, libc: Any, used_kb: dict[str, int]
) -> None:
    """Between zygote and submission: makes the namespaces, waits, and tells how it ended."""
    outcome: dict[str, Any] = {}
    try:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        link.sendmsg([b"begin"])  # carries this process's number: the judge moves it into a control group meanwhile
        if not about["bare"]:
            own_namespaces(libc, about["disk_mb"])
            if about["beside"]:
                begin_loopback()
        if link.recv(1) != b"!":
            raise _Trouble("the judge is gone")
        child = os.fork()  # in the same control group
        if child == 0:
            os.close(status)
            try:
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                os.setsid()  # in the zygote's process group it could signal the zygote and all other submissions
                link.sendmsg([b"hello"])  # carries the process's number as the judge sees it
                limit(about, used_kb)
                if not about["bare"]:
                    no_rights(libc)
                _submission(link, about, shell)
            finally:
                os._exit(70)
        link.close()
        _, ended, used = os.wait4(child, 0)
        outcome = {"signal": os.WTERMSIG(ended)} if os.WIFSIGNALED(ended) else {"exit": os.WEXITSTATUS(ended)}
        outcome["cpu_s"] = used.ru_utime + used.ru_stime
    except (OSError, _Trouble) as error:
        outcome = {"trouble": str(error)}
    try:
        os.write(status, json.dumps(outcome).encode())
    finally:
        os._exit(0)


def keep_to(processors: list[int]) -> None:
    """Run on these processors alone, and whatever is forked; where that is refused, the system chooses."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, processors)


def load(modules: list[str]) -> None:
    """Import what submissions need, and begin what is begun by a first call, without a look for garbage."""
    gc.disable()
    for name in modules:
        try:
            import_module(name)
        except ImportError as error:
            print(f"not imported beforehand: {error}", file=sys.stderr)
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)
        # The first backward pass from a given gradient imports 500 modules. It starts no thread where there is no GPU.
        ones = torch.ones(2, 2, requires_grad=True)
        torch.softmax(ones @ ones, -1).backward(torch.ones(2, 2))
        torch.manual_seed(0)  # looks for accelerators when it is called first
    if "softlookup" in sys.modules:
        _ = sys.modules["softlookup"].__version__  # looked up in the package's metadata, and kept
        _ = sys.modules["softlookup"].check  # what stands for the judge
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)  # a part of numpy that is imported when it is asked for


def stand_still() -> None:
    """Make ready to be forked: what is there stays, and no fork looks for garbage in it."""
    gc.enable()
    gc.collect()
    gc.freeze()
    _in_large_pages()


def _in_large_pages() -> None:
    """Put the memory of this process into large pages, where the kernel has them: a fork and its end handle fewer."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with open("/proc/self/maps") as file:
        mappings = [line.split() for line in file]
    for address_range, rights, _, _, inode, *name in mappings:
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            begin, end = (int(address, 16) for address in address_range.split("-"))
            begin, end = -(-begin // _LARGE_PAGE) * _LARGE_PAGE, end // _LARGE_PAGE * _LARGE_PAGE
            if begin < end:
                libc.madvise(begin, end - begin, _MADV_COLLAPSE)


class _NotHere:
    """Says why a part of the library cannot be imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith(OURS):
            message = f"{name} is not there while this notebook is graded: its tasks ask you to write it yourself"
            raise ModuleNotFoundError(message, name=name)


def main() -> None:
    """Import everything, say so, and fork on demand until the owner is gone: "?", "copy", or a submission's limits."""
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load([*settings["modules"], *_MODULES])
    from softlookup_inside.asking.calm import uncompiled
    from softlookup_inside.asking.gates import prepare
    from softlookup_inside.sandbox import kernel_shell, shell

    for names in settings["forbidden"]:
        prepare(tuple(names))  # imports what holds them
    sys.meta_path.append(_NotHere())
    cells = kernel_shell.KernelShell() if settings["beside"] else shell.CellShell()
    cells.warm()
    compiling = uncompiled() if "torch" in sys.modules else contextlib.nullcontext()
    compiling.__enter__()  # for good: there is no compiler in a sandbox
    for names in settings["forbidden"]:
        prepare(tuple(names))  # now that all is imported: gates are looked up by what is
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those between
    libc, used_kb = ctypes.CDLL(None, use_errno=True), held_kb()  # once, and not in each fork
    stand_still()
    control.send(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 65536, 2)
        if not message:
            return
        if message == b"?":
            control.send(b"!")
        elif message == b"copy":
            if os.fork() == 0:
                control.close()
                control = socket.socket(fileno=descriptors[0])
                os.setsid()  # each session has its own share of the processors
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                control.send(b"ready")
            else:
                os.close(descriptors[0])
        else:
            link_fd, status = descriptors
            about = json.loads(message) | {"beside": settings["beside"]}
            keep_to(about["processors"])  # those of the judge, with which it takes turns
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                control.close()
                _between(socket.socket(fileno=link_fd), status, about, cells, libc, used_kb)
            os.close(link_fd)
            os.close(status)


if __name__ == "__main__":
    main()
