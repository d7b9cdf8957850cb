"""What a course holds is for its owner alone: by the permissions of what is written, and tried with two accounts."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import nbformat
import pytest
from click.testing import CliRunner
from fake_grader import here
from small_class import NAME, ROOT, write_course

from softlookup_command import commands as cli
from softlookup_course.samples.handins import answers, filled
from softlookup_grader import GradeRequest, grade_assignment, new_course
from softlookup_grader.commands.shared import keep_private
from softlookup_grader.course.exposure import exposed, exposure_sentence
from softlookup_grader.data.disk import atomic_write, private, write_whole
from softlookup_grader.data.file_systems import file_system_of, is_far
from softlookup_judge.authoring import read_solution
from softlookup_judge.authoring.choosing import chosen_tasks

CONFIG = ROOT / "nbgrader_config.py"
OWNER, OTHER = 54_321, 54_322
ACCOUNTS = {OWNER: "softlookup", OTHER: "ben"}
"""Two accounts, by numbers that nobody has."""


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """That of most accounts: everybody may read what one writes."""
    before = os.umask(0o022)
    yield
    assert os.umask(before) == 0o022, "a command left its own umask behind"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(root: Path) -> list[str]:
    """What in a folder has any permission for anybody but its owner."""
    return [str(path.relative_to(root)) for path in sorted([root, *root.rglob("*")]) if mode(path) & 0o077]


def test_files_of_a_private_folder_are_the_owners_and_others_follow_the_umask(tmp_path: Path) -> None:
    with private(tmp_path / "course"):
        for folder in ("course", "elsewhere"):
            atomic_write(tmp_path / folder / "reports" / "a.json", b"{}")
            write_whole(tmp_path / folder / "b.csv", b"")
        with private(tmp_path / "another"):
            atomic_write(tmp_path / "course" / "x", b"")
        subprocess.run(["touch", str(tmp_path / "course" / "by-a-program")], check=True)
    assert mode(tmp_path / "course" / "x") == 0o644, "a private folder within another one has its time alone"
    (tmp_path / "course" / "x").unlink()
    assert open_to_others(tmp_path / "course") == []
    assert mode(tmp_path / "course" / "by-a-program") == 0o600
    assert mode(tmp_path / "elsewhere" / "reports") == 0o755
    assert mode(tmp_path / "elsewhere" / "reports" / "a.json") == mode(tmp_path / "elsewhere" / "b.csv") == 0o644


def test_file_that_is_there_keeps_its_permissions_until_it_is_written(tmp_path: Path) -> None:
    course = new_course(tmp_path / "course", CONFIG)
    for name in ("kept.txt", "written.txt"):
        (course.root / name).write_text("x")
    with private(course.root):
        atomic_write(course.root / "written.txt", b"y")
    assert (mode(course.root / "kept.txt"), mode(course.root / "written.txt")) == (0o644, 0o600)


def test_course_that_is_shared_with_a_group_stays_shared_with_it(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "course").chmod(0o2770)
    course = new_course(tmp_path / "course", CONFIG)
    assert mode(course.root) == 0o2770
    with private(course.root):
        atomic_write(course.root / "a.txt", b"")
    assert mode(course.root / "a.txt") == 0o660
    assert "permissions" not in course.config.BaseConverter and exposed(course) is None


def test_new_course_is_closed_and_the_folders_above_it_are_the_users(tmp_path: Path) -> None:
    course = new_course(tmp_path / "years" / "2026" / "course", CONFIG)
    assert mode(course.root) == 0o700 and mode(course.root.parent) == 0o755
    (tmp_path / "used").mkdir(mode=0o750)
    (tmp_path / "used" / "notes.txt").touch()
    assert mode(new_course(tmp_path / "used", CONFIG).root) == 0o750, "one that holds something keeps its permissions"


def commands_on_courses() -> list[click.Parameter]:
    """The parameter of each command that names the course, but of those that only read it or publish from it."""
    every = {}
    for command in cli.by_audience()["For instructors"]:
        subs = command.commands if isinstance(command, click.Group) else {"": command}
        every |= {f"{command.name} {sub}".strip(): inner for sub, inner in subs.items()}
    return [
        pytest.param(parameter, id=name)
        for name, command in every.items()
        if name.split()[-1] not in ("exam", "book")
        for parameter in command.params
        if parameter.name == "folder"
    ]


@pytest.mark.parametrize("parameter", commands_on_courses())
def test_command_keeps_private_what_it_writes_into_its_course(parameter: click.Parameter, tmp_path: Path) -> None:
    assert parameter.callback is keep_private
    with click.Context(click.Command("any")) as context:
        assert parameter.process_value(context, str(tmp_path)) == tmp_path
        atomic_write(tmp_path / "x", b"")
    assert mode(tmp_path / "x") == 0o600


def test_release_and_grades_are_private_and_exports_elsewhere_are_not(tmp_path: Path, short: object) -> None:
    root = tmp_path / "course"
    with private(root):
        course = write_course(root, short, ("half-done", "not-json"))
        grade_assignment(course, GradeRequest(NAME, workers=1, feedback=False), executor=here())
    assert (root / "gradebook.db").is_file() and course.notebook("release", ".", NAME).is_file()
    assert list((root / "autograded").rglob("*.ipynb")) and list((root / ".grading").rglob("ledger*"))
    assert open_to_others(root) == []
    refused = CliRunner().invoke(cli.main, ["grade", NAME, "--course", str(root), "--workers", "none"])
    assert refused.exit_code == 2  # the umask is looked at when the test ends
    for out in (root / "reports" / "in.csv", tmp_path / "out.csv"):
        done = CliRunner().invoke(cli.main, ["export", NAME, "--course", str(root), "--out", str(out)])
        assert done.exit_code == 0, done.output
    assert (mode(root / "reports" / "in.csv"), mode(tmp_path / "out.csv")) == (0o600, 0o644)


def test_doctor_says_what_others_can_read_and_how_to_close_it(tmp_path: Path) -> None:
    above = Path(tempfile.mkdtemp())
    above.chmod(0o755)  # pytest's own folders are closed to others
    try:
        course = new_course(above / "a course", CONFIG)
        for name in ("gradebook.db", "source/a/a.ipynb", "viva/a/keys.html", "book/page.md"):
            (course.root / name).parent.mkdir(parents=True, exist_ok=True)
            (course.root / name).write_text("")
        assert exposed(course) is None and exposure_sentence(course, course.root) == ""
        course.root.chmod(0o711)  # nothing can be listed, but names that are known can be opened
        seen = exposed(course)
        assert seen is not None and (seen.files, seen.folders) == (3, 4)
        assert seen.kinds == ("the gradebook", "vivas with their keys", "sources with their solutions")
        says = exposure_sentence(course, course.root)
        assert "3 files and 4 folders, among them the gradebook" in says and f"'chmod -R go= '{course.root}''" in says
        (course.root / "gradebook.db").chmod(0o600)
        (course.root / "viva").chmod(0o700)
        assert str(exposed(course)) == "1 file and 2 folders, among them sources with their solutions"
        (course.root / "source").chmod(0o600 | stat.S_IRGRP)  # the group can list it, and enter it cannot
        assert str(exposed(course)) == "0 files and 1 folder, among them sources with their solutions"
        above.chmod(0o700)
        assert exposed(course) is None
    finally:
        shutil.rmtree(above)


MOUNTS = """\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:40 / /students rw,relatime shared:2 master:7 - nfs4 server:/students rw,vers=4.2
31 30 0:41 / /students/grace/local rw - xfs /dev/vdb rw
32 22 0:42 / /srv/with\\040space rw - fuse.sshfs grace@server:/ rw
33 22 0:43 / /mnt/c rw - 9p C:\\134 rw,aname=drvfs
34 22 0:44 / /twice rw - cifs //server/share rw
35 34 0:45 / /twice rw - tmpfs none rw
damaged
"""


@pytest.mark.parametrize(
    ("path", "kind", "far"),
    [
        ("/students/grace/course/gradebook.db", "nfs4", True),
        ("/studentship/gradebook.db", "ext4", False),
        ("/students/grace/local/gradebook.db", "xfs", False),
        ("/srv/with space/gradebook.db", "fuse.sshfs", True),
        ("/mnt/c/Users/grace/gradebook.db", "9p", True),
        ("/twice/gradebook.db", "tmpfs", False),
    ],
)
def test_file_system_is_that_of_the_longest_mount(tmp_path: Path, path: str, kind: str, far: bool) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    assert file_system_of(Path(path), tmp_path / "mountinfo") == kind
    assert is_far(kind) is far
    assert file_system_of(tmp_path, tmp_path / "none") == "" and not is_far(""), "where the kernel does not tell"


# In a mount namespace of its own: gives the two accounts names, and makes the Python that runs this reachable for them,
# for it may lie below /root.
REACHABLE = """
set -e
accounts=$1 closed=$2 python=$3 uid=$4; shift 4
mount --bind "$accounts" /etc/passwd
if [ -n "$closed" ]; then
  kept=$(mktemp -d)
  mount --bind "$python" "$kept"
  mount -t tmpfs -o mode=755 tmpfs "$closed"
  mkdir -p "$python"
  mount --bind "$kept" "$python"
fi
exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
"""


class Machine:
    """Two accounts on one machine, a course of one of them, and an exchange."""

    def __init__(self, place: Path) -> None:
        self.place, self.course, self.exchange = place, place / "course", place / "exchange"
        base = Path(sys.base_prefix)
        closed = [parent for parent in base.parents if not parent.stat().st_mode & stat.S_IXOTH]
        accounts = place / "passwd"
        lines = [f"{name}:x:{uid}:{uid}::{place / name}:/bin/sh\n" for uid, name in ACCOUNTS.items()]
        accounts.write_text(Path("/etc/passwd").read_text() + "".join(lines))
        self._reach = [str(accounts), str(closed[-1]) if closed else "", str(base)]
        for uid, name in ACCOUNTS.items():
            home = place / name
            home.mkdir()
            os.chown(home, uid, uid)

    def run(self, account: str, *words: str, here: Path | None = None) -> str:
        """Run a command as softlookup, who owns the course, or as ben; what it said."""
        (uid,) = (uid for uid, name in ACCOUNTS.items() if name == account)
        home = self.place / account
        env = {
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "JUPYTER_CONFIG_PATH": str(self.place / "jupyter"),
            "SOFTLOOKUP_EXCHANGE": str(self.exchange),
        }
        command = ["unshare", "--mount", "sh", "-c", REACHABLE, "-", *self._reach, str(uid), *words]
        done = subprocess.run(command, cwd=here or home, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
        return done.stdout + done.stderr

    def softlookup(self, *words: str) -> str:
        return self.run("softlookup", sys.executable, "-m", "softlookup_command", *words, "--course", str(self.course))

    def nbgrader(self, account: str, *words: str) -> str:
        here = self.course if account == "softlookup" else None
        return self.run(account, sys.executable, "-m", "nbgrader", *words, here=here)


def read_by(uid: int, root: Path) -> list[str]:
    """What below a folder another account can open or list: tried, in a process of that account."""
    paths = [root, *root.rglob("*")]
    output, inside = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            got = []
            for path in paths:
                try:
                    os.close(os.open(path, os.O_RDONLY))
                except PermissionError:
                    continue
                got.append(str(path))
            os.write(inside, json.dumps(got).encode())
        finally:
            os._exit(0)
    os.close(inside)
    with open(output, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    return list(json.loads(answer))


@pytest.fixture
def machine() -> Iterator[Machine]:
    if os.geteuid() != 0:
        pytest.skip("only root can act as two accounts")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace can be made here")
    place = Path(tempfile.mkdtemp(prefix="softlookup-accounts-"))
    place.chmod(0o755)
    yield Machine(place)
    shutil.rmtree(place)


@pytest.mark.slow
def test_no_other_account_reads_a_course_of_the_hub(machine: Machine) -> None:
    page = (ROOT / "book" / "instructors_later.md").read_text()
    for folder, place in (("course", machine.course), ("exchange", machine.exchange)):
        (words,) = re.findall(rf"(install -d [^\n]*) /srv/softlookup/{folder}\b", page)
        subprocess.run([*words.replace("-o softlookup", f"-o {OWNER}").split(), str(place)], check=True)
    (machine.place / "jupyter").mkdir()
    shutil.copy(ROOT / "deploy" / "jupyterhub" / "nbgrader_config.py", machine.place / "jupyter")

    source = read_solution(ROOT / "solutions" / f"{NAME}.py")
    dropped = sorted({*chosen_tasks(source)} - {"04.scale", "04.uniform"})
    machine.softlookup("release", NAME, *(word for task in dropped for word in ("--drop", task)))
    (machine.place / "softlookup" / "class.csv").write_text("id,first_name\nben,Ben\nada,Ada\n")
    machine.softlookup("students", "class.csv")
    machine.nbgrader("softlookup", "release_assignment", NAME)
    machine.nbgrader("ben", "fetch_assignment", NAME, "--course", "softlookup")
    notebook = machine.place / "ben" / NAME / f"{NAME}.ipynb"
    notebook.write_text(nbformat.writes(filled(nbformat.read(notebook, as_version=4), answers(source))))
    machine.nbgrader("ben", "submit", NAME, "--course", "softlookup")
    assert "1 collected" in machine.softlookup("collect", NAME, "--exchange")
    assert "ben 2/5" in " ".join(machine.softlookup("grade", NAME, "--workers", "1").split())
    machine.softlookup("report", NAME)
    machine.softlookup("viva", NAME, "--questions", "1")
    machine.softlookup("export", NAME)
    assert "no other" not in machine.softlookup("doctor") and "can read no files" in machine.softlookup("doctor")
    machine.nbgrader("softlookup", "release_feedback", NAME)
    machine.nbgrader("ben", "fetch_feedback", NAME, "--course", "softlookup")
    assert list((machine.place / "ben" / NAME).rglob("feedback/*/*.html"))

    written = {str(path.relative_to(machine.course)).split(os.sep)[0] for path in machine.course.rglob("*")}
    assert {"gradebook.db", "source", "submitted", "autograded", "feedback", "reports", "viva", ".grading"} <= written
    assert read_by(OTHER, machine.course) == []
    assert len(read_by(OWNER, machine.course)) == 1 + len(list(machine.course.rglob("*")))
    assert open_to_others(machine.course) == []

    shared = machine.exchange / "softlookup"
    seen = {str(Path(path).relative_to(shared)) for path in read_by(OTHER, shared)}
    assert f"outbound/{NAME}/{NAME}.ipynb" in seen and not {"inbound", "feedback"} & seen
    with pytest.raises(AssertionError, match="Operation not permitted"):
        machine.run("ben", "mv", str(shared), str(machine.exchange / "gone"))
