"""Clones of the repositories in a table of addresses, without a checkout: nothing that they hold is written or run.

Addresses may be anything that somebody typed: they reach git behind ``--``, in one of five forms, with no other
transport. Files are asked of git one by one, so that links, hooks, filters and endless trees do nothing.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, key_of
from softlookup_grader.platforms.items import ArrivedFile, composed, leads_outside, path_trouble
from softlookup_grader.platforms.lms_sheet import by_key
from softlookup_grader.platforms.owners import Owner
from softlookup_grader.platforms.roster import TITLES
from softlookup_grader.platforms.worksheet import Person

ADDRESS_COLUMNS = (
    *("address", "clone_url", "git_url", "http_url", "ssh_url", "url", "repository", "repo", "link", "git"),
    *("Adresse", "adresse du dépôt", "dirección", "indirizzo", "endereço", "adres", "адрес", "адреса", "地址"),
)
STUDENT_COLUMNS = tuple(dict.fromkeys(("roster_identifier", "identifier", *TITLES["id"], "email", "lms_user_id")))
CLONE_S, AT_ONCE = 120, 6
LISTED_BYTES, MOST_FILES = 10_000_000, 500
"""How much of the list of a repository's files is read, and how many of them are kept."""
PACK_BYTES = 2_000_000_000  # how large a file git may write for one clone; a repository of notebooks has some megabytes

_FORMS = re.compile(r"(?:https|ssh|git|file)://\S+|(?:[\w.-]+@)?[\w.-]+:(?!//)[^\s:]\S*|[^:@]+")
_LOOKS = re.compile(r"\w[\w+.-]*:(?:://?|//)\S+|[^\s@]+@[^\s@:]+:\S+|(?:/|~|\.{1,2}/).+|\S+\.git/?")
_SECRET = re.compile(r"(?<=//)[^/@\s]+@")


@dataclass(frozen=True)
class Clone:
    """What a row of a table of addresses came to."""

    owner: Owner  # whose it is
    items: Sequence[ArrivedFile] = ()  # the files of the repository
    why: str = ""  # why there are none, one clause


def takes_addresses(table: Table) -> int | None:
    """Find the column of a table that holds addresses of repositories; None if none does."""
    width = range(len(table.header))
    columns = [at for at in width if (cells := table.cells(at)) and 2 * sum(map(_is_address, cells)) > len(cells)]
    titled = [at for title in ADDRESS_COLUMNS if (at := table.find(title)) is not None and at in columns]
    columns = titled or columns
    return table.mean(columns[0], "repository") if columns else None


def clones(table: Table, address: int, people: Sequence[Person], ids: str | None, folder: Path) -> list[Clone]:
    """Clone all repositories of a table, a column for the student and one for the address, into a folder."""
    known = by_key(people)
    keys = [table.mean(table.column(ids), "student")] if ids else table.take_ids(STUDENT_COLUMNS, known)
    if not keys:
        raise CourseError(
            f"the table of repositories has no column of ids (it has: {table.titles()}): name it with --id"
        )

    def cloned(numbered: tuple[int, list[str]]) -> Clone:
        row_number, row = numbered
        row_name = next((row[at].strip() for at in keys if row[at].strip()), f"row {row_number + 1}")
        students = sorted({known[key].student for at in keys if (key := key_of(row[at])) in known})
        where = row[address].strip()
        if len(students) != 1:
            fits = " and ".join(map(one_line, students)) or "nobody"
            return Clone(Owner(row_name, why=f"this row of the table of repositories fits {fits} in the class list"))
        owner = Owner(row_name, students[0])
        if not where:
            return Clone(owner, why="the table of repositories has no address")
        target = folder / str(row_number)
        why = address_trouble(where) or _clone(where, target)
        where = without_secret(where)
        return Clone(owner, why=f"{where} {why}") if why else Clone(owner, _files(target, where))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            return list(pool.map(cloned, enumerate(table.rows, 1)))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def address_trouble(address: str) -> str:
    """Why an address is not given to git, a clause that follows it; empty if it is."""
    if address.startswith("-"):
        return "begins with a hyphen, which git would take for an option: it was refused"
    if "::" in address or not address.isprintable() or not _FORMS.fullmatch(address):
        return "is no address of a repository that is cloned here: it was refused (https, ssh, git, file or a path is)"
    return ""


def without_secret(address: str) -> str:
    """An address without the name and the password in it."""
    return one_line(_SECRET.sub("", address), 300)


def _is_address(cell: str) -> bool:
    return _LOOKS.fullmatch(cell) is not None


def _environment() -> dict[str, str]:
    asks = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true"}
    return {**os.environ, **asks, "GIT_ALLOW_PROTOCOL": "https:ssh:git:file", "LC_ALL": "C"}


def _clone(address: str, target: Path, most_s: float = CLONE_S) -> str:
    """Clone one repository; why that failed, a clause, or an empty text."""
    address = os.path.expanduser(address)
    settings = ("core.hooksPath=/dev/null", "protocol.ext.allow=never", "submodule.recurse=false")
    command = ["git", *(part for setting in settings for part in ("-c", setting)), "clone", "--quiet", "--bare"]
    command += ["--depth", "1", "--no-local", "--no-tags", "--template=", "--", address, str(target)]
    try:
        # A session of its own: no terminal on which git or ssh could ask, and one group to end.
        process = subprocess.Popen(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise CourseError("there is no program git here: install it, or give a folder of clones") from None
    if sys.platform.startswith("linux"):
        import resource

        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (PACK_BYTES, PACK_BYTES))
    try:
        _, errors = process.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"could not be cloned within {most_s:g} seconds"
    if process.returncode == 0:
        return ""
    lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("fatal:")), lines[0] if lines else "git ended")
    return f"could not be cloned ({without_secret(reason.removeprefix('fatal:').strip())})"


def _files(repository: Path, address: str) -> list[ArrivedFile]:
    """The files of the branch that is checked out where the repository comes from."""
    command = ["git", "--git-dir", str(repository), "ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD"]
    process = subprocess.Popen(
        command, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with process:
        assert process.stdout is not None
        raw = process.stdout.read(LISTED_BYTES)
        process.kill()  # a tree may name itself a billion times
    # A repository may hold thousands of other files; some are kept to say what is there where no notebook is.
    lines = sorted(raw.split(b"\0"), key=lambda line: b".ipynb" not in line.lower())[:MOST_FILES]
    items = (_file(repository, address, line) for line in lines)
    return [item for item in items if item is not None]


def _file(repository: Path, address: str, line: bytes) -> ArrivedFile | None:
    about, separator, path = line.partition(b"\t")
    fields = about.decode("ascii", "replace").split()
    if not separator or len(fields) != 4 or not fields[3].isdigit():
        return None  # a submodule, or a line that was cut off
    name = composed(path.decode("utf-8", "replace"))
    trouble = path_trouble(name)
    if not trouble and not fields[0].startswith("100"):
        trouble = "is a link, not a file, and was refused"

    def read(most: int) -> bytes:
        command = ["git", "--git-dir", str(repository), "cat-file", "blob", fields[2]]
        with subprocess.Popen(
            command, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            content = process.stdout.read(most)
            process.kill()
        return content

    outside = leads_outside(name)
    return ArrivedFile(tuple(name.split("/")), int(fields[3]), read, trouble, base=address, is_outside=outside)
