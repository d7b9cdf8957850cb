"""Starts a zygote: in bubblewrap, or, for code that one trusts, without."""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import ONE_THREAD
from softlookup_grader.sandbox.remedies import remedy
from softlookup_grader.sandbox.stages import needs_room, new_stage
from softlookup_inside.installed import PACKAGES, homes

NO_BUBBLEWRAP = (
    "bubblewrap is not installed, and submissions are run in nothing less: install the system's package 'bubblewrap' "
    "('apt install bubblewrap' on Debian and Ubuntu), or say '--sandbox none' for code that you trust"
)
START_S = 120.0
ANSWER_S = 10.0  # seconds after which a zygote that does not answer is taken to be dead or stopped
ENDING_S = 0.5
_NOBODY = "65534"
_INSIDE = (
    *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"),
    # Whoever is not root owns /dev, and every submission sees the same one.
    *("--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--"),
)
_HOME = "/tmp/notebook"
_PLAINLY = ("-s", "-B", "-P")
"""Python's options: nothing of the user's own, no compiled files written, no folder put on the path."""

_BESIDE = "beside"
"""The folder of the staged library that holds the files beside an assignment's notebooks."""

_AS_IN_A_KERNEL = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "NBGRADER_EXECUTION": "autograde",
}
"""What nbgrader's kernels find in their environment."""

_SYSTEM = ("lib", "lib64", "lib32", "bin", "sbin")

_WRITTEN = ("transformers", "sentence_transformers")
"""Packages beside the library in which many an answer is written already; benchmarks use them, no notebook does."""

_JUDGE_INIT = '''"""Checks, while a notebook is graded: the judge is outside."""

from softlookup_inside.sandbox.held import check, hint

__all__ = ["check", "hint"]
'''


class SandboxError(CourseError):
    """The sandbox does not work on this machine; the message says what was refused, and what to do."""


@needs_room()
def staged(hidden: Sequence[str] = ()) -> Path:
    """Put together, in a folder for the path, what a submission may import of this project but for ``hidden`` names."""
    folder = new_stage()
    visible_packages = {"softlookup_inside": None, **beside_submissions()}
    package_homes = homes()
    for package, names in visible_packages.items():
        home, target = package_homes[package], folder / package
        target.mkdir()
        for path in home.iterdir() if names is None else sorted({home / "__init__.py", *_named(home, names)}):
            if f"{package}.{path.stem}" in hidden or path.name == "__pycache__":
                continue
            if path.is_dir():
                shutil.copytree(path, target / path.name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(path, target / path.name)
    (folder / "softlookup_judge").mkdir()
    (folder / "softlookup_judge" / "__init__.py").write_text(_JUDGE_INIT, encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@needs_room()
def _lay_beside(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put an assignment's files where submissions get copies from."""
    folder.mkdir()
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for entry in (folder, *folder.rglob("*")):
        entry.chmod(0o755 if entry.is_dir() else 0o644)


def beside_submissions() -> dict[str, tuple[str, ...]]:
    """The packages of this project that submissions may import in part, and which of their modules."""
    return {point.module: tuple(point.load()) for point in entry_points(group="softlookup.beside_submissions")}


def _named(home: Path, names: Sequence[str]) -> Iterator[Path]:
    """The modules and folders of a package that have some names."""
    return (path for name in names for path in (home / name, home / f"{name}.py") if path.exists())


def trouble() -> str:
    """Say in one sentence why submissions cannot be given a sandbox here, nothing if they can."""
    try:
        command = [*_bubblewrap(), *_INSIDE, *_less_rights()]
    except SandboxError as error:
        return str(error)
    command += ["unshare", "--user", "--mount", "--pid", "--net", "--ipc", "--fork", "true"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(Path("/")))
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines() or ["it said nothing"]
    return f"bubblewrap is installed, but does not work on this machine ({lines[-1][:200]}){remedy(lines[-1])}"


def sandboxed(stage: Path) -> list[str]:
    """The command that starts this Python in a sandbox, with a staged library at /softlookup; arguments follow."""
    before = [*_bubblewrap(), "--ro-bind", str(stage), "/softlookup", *_INSIDE, *_less_rights()]
    return [*before, str(_seen(Path(sys.executable))), *_PLAINLY]


def readable(folder: Path) -> str:
    """Say why submissions could read a folder that must stay closed: they are shown /usr and all of this Python."""
    visible_folders = [
        Path("/usr"),
        *(Path("/", name) for name in _SYSTEM if not Path("/", name).is_symlink()),
        *_pythons(),
    ]
    for visible_folder in visible_folders:
        if folder.resolve().is_relative_to(visible_folder):
            return (
                f"submissions could read {folder}, since they are shown all of {visible_folder}: move it out of there"
            )
    return ""


@dataclass(frozen=True)
class _Started:
    """What is there of a zygote that was started here."""

    process: subprocess.Popen[bytes]  # its process
    stage: Path  # the library as its submissions see it
    errors: IO[bytes]  # what it writes to stderr
    bare: bool  # whether there is no sandbox


class Zygote:
    """The judge's end of the connection to a process with everything imported, which forks submissions and copies."""

    def __init__(self, control: socket.socket, started: _Started | None = None) -> None:
        self.control, self._started = control, started
        self.process = None if started is None else started.process
        self.stage = None if started is None else started.stage
        self.bare = started is not None and started.bare
        self.answer_s = ANSWER_S
        self._begun, self._ready = time.monotonic(), False

    @classmethod
    def start(
        cls,
        sandbox: str = "bubblewrap",
        modules: Sequence[str] = (),
        forbidden: Sequence[Sequence[str]] = (),
        hidden: Sequence[str] = (),
        beside: Mapping[str, bytes] | None = None,
    ) -> "Zygote":
        """Start a zygote in a process of its own. It begins to import at once, and is ready after ``wait``.

        Where files ``beside`` notebooks are given, submissions run as in a kernel, in a folder with copies of them.
        """
        if sandbox not in ("bubblewrap", "none"):
            raise ValueError(f"sandbox is {sandbox!r}; wanted 'bubblewrap' or 'none'")
        bare = sandbox == "none"
        if not bare:
            _bubblewrap()  # what is missing is said before a folder is made
        stage = staged(hidden)
        if beside is not None:
            _lay_beside(stage / _BESIDE, beside)
        # Messages keep their ends: several may wait until everything is imported.
        judge_end, zygote_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the zygote
        there = stage if bare else Path("/softlookup")
        python = [sys.executable, *_PLAINLY] if bare else sandboxed(stage)
        script = str(there / "softlookup_inside/sandbox/zygote.py")
        options = json.dumps(
            {
                "modules": list(modules),
                "forbidden": [list(names) for names in forbidden],
                "beside": "" if beside is None else str(there / _BESIDE),
            }
        )
        fd = zygote_end.fileno()
        try:
            process = subprocess.Popen(
                [*python, script, str(fd), options],
                pass_fds=(fd,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment(there) | ({} if beside is None else _AS_IN_A_KERNEL),
                start_new_session=True,
                umask=0o022,  # files of a submission are as at home, however private the course is
            )
        finally:
            zygote_end.close()
        return cls(judge_end, _Started(process, stage, errors, bare))

    def wait(self) -> None:
        """Wait until everything is imported; if it does not start, a SandboxError says why."""
        self.control.settimeout(START_S)
        try:
            ready = self.control.recv(16)
        except OSError:
            ready = b""
        if ready != b"ready":
            message = self._last_line()
            self.close()
            cure = remedy(message) or ": 'softlookup doctor' says what is missing"
            raise SandboxError(f"the sandbox does not start here ({message}){cure}")
        self._ready = True

    def fork(self, link: socket.socket, status: int, about: Mapping[str, object]) -> None:
        """Fork a submission; SandboxError if the zygote is gone."""
        message = json.dumps({**about, "bare": self.bare, "home": self._new_home()}).encode()
        self._tell(message, [link.fileno(), status])

    def copy(self) -> socket.socket:
        """Have it fork a copy of itself for another judge, once everything is imported; this does not wait."""
        judge_end, copy_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._tell(b"copy", [copy_end.fileno()])
        except SandboxError:
            judge_end.close()
            raise
        finally:
            copy_end.close()
        return judge_end

    def lives(self) -> bool:
        """Whether it still answers, or may still be importing."""
        if self._has_ended():
            return False
        try:
            if not self._ready:
                ready, _, _ = select.select([self.control], [], [], 0)
                if not ready:
                    return time.monotonic() - self._begun < START_S
                self._ready = self.control.recv(16) == b"ready"
                if not self._ready:  # it ended while it started
                    return False
            self.control.settimeout(self.answer_s)
            self.control.send(b"?")
            return self.control.recv(1) == b"!"
        except (OSError, ValueError):  # it is gone, or closed here
            return False

    def close(self) -> None:
        """End it, its copies, and all submissions with it."""
        self.control.close()
        if self._started is None:
            return
        # The whole group: a bubblewrap that dies while it starts leaves a child that would wait for it for ever.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._started.process.pid, signal.SIGKILL)
        self._started.process.wait()
        self._started.errors.close()
        shutil.rmtree(self._started.stage, ignore_errors=True)

    def _has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def _tell(self, message: bytes, descriptors: list[int]) -> None:
        try:
            if self._has_ended():
                raise BrokenPipeError
            socket.send_fds(self.control, [message], descriptors)
        except OSError:
            raise SandboxError(f"the sandbox ended ({self._last_line()})") from None

    def _new_home(self) -> str:
        """Where a submission works; in a sandbox it is empty for each."""
        return tempfile.mkdtemp(prefix="softlookup-bare-", dir=self.stage) if self.bare else _HOME

    def _last_line(self) -> str:
        """What it wrote last, or how it ended."""
        if self._started is None:
            return "it said nothing"
        # What it writes last stands there when it has ended, which may come a moment after its connection closed.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._started.process.wait(ENDING_S)
        self._started.errors.seek(0)
        lines = self._started.errors.read(20_000).decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else how_it_ended(self._started.process.returncode)


def how_it_ended(status: int | None) -> str:
    """Say how a process ended that wrote nothing, by the status that ``subprocess`` gives."""
    if status is None:
        return "it runs, said nothing and is not ready"
    if status < 0:
        return f"signal {-status} ended it, and it said nothing"
    return f"it ended with status {status} and said nothing"


def environment(library: Path) -> dict[str, str]:
    """What a submission finds in its environment: nothing of the instructor's, and the same each time."""
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(library),
        "PYTHONHASHSEED": "0",
        "HOME": _HOME,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "IPYTHONDIR": "/tmp/ipython",
        **dict.fromkeys(ONE_THREAD, "1"),
    }


def _bubblewrap() -> list[str]:
    """The command in front of Python's, up to where the staged library is bound."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(NO_BUBBLEWRAP)
    root = os.geteuid() == 0
    command = [bwrap, "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--hostname", "sandbox"]
    # As root there is no namespace of users here: each submission gets one, and with it a count of its own processes.
    command += [] if root else ["--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY]
    installed = Path(sysconfig.get_path("purelib"))
    for name, home in homes().items():
        if home.resolve() != (installed / name).resolve() and (message := readable(home)):
            raise SandboxError(message)
    command += ["--ro-bind", "/usr", "/usr", "--perms", "0755", "--dir", "/etc"]
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            command += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "fonts", "mime.types"):
        if Path("/etc", name).exists():
            command += ["--ro-bind", f"/etc/{name}", f"/etc/{name}"]
    made_folders: set[Path] = set()
    for python_home in _pythons():
        command += [*_parents(_seen(python_home), made_folders), "--ro-bind", str(python_home), str(_seen(python_home))]
    # Where this project is installed and not only linked to, its answers would lie beside the other packages.
    for package in (installed / name for name in (*PACKAGES, *_WRITTEN)):
        if package.is_dir():
            command += ["--tmpfs", str(_seen(package))]
    return command


def _less_rights() -> list[str]:
    """Take root's rights away before Python starts; whoever is not root has none to lose."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise SandboxError("the program setpriv is not there (package util-linux), which takes root's rights away")
    nobody = [setpriv, "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups", "--no-new-privs"]
    return [*nobody, "--bounding-set=-all", "--inh-caps=-all"]


def _pythons() -> list[Path]:
    """The folders that this Python consists of, outside /usr, none inside another."""
    folders = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_exec_prefix)}
    folders |= {Path(p).resolve() for p in map(str, set(folders))}
    folders |= {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")}
    outside = sorted(p for p in folders if not p.is_relative_to("/usr") and p.exists())
    return [p for p in outside if not any(p != other and p.is_relative_to(other) for other in outside)]


def _seen(path: Path) -> Path:
    """Where a path lies in the sandbox: a Python below a folder that is emptied for each submission is moved away."""
    emptied = any(path.is_relative_to(folder) for folder in ("/tmp", "/dev", "/proc"))
    return Path("/python", *path.parts[1:]) if emptied else path


def _parents(path: Path, made_folders: set[Path]) -> list[str]:
    """Make the folders above a place readable: bubblewrap alone makes them for root."""
    arguments = []
    for parent in reversed(path.parents[:-1]):
        if parent not in made_folders:
            made_folders.add(parent)
            arguments += ["--perms", "0755", "--dir", str(parent)]
    return arguments
