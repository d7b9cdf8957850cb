"""What was given to be collected, recognised by what it is, and sorted by whose each file in it is."""

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, key_of, read_table
from softlookup_grader.platforms.cloning import ADDRESS_COLUMNS, STUDENT_COLUMNS, clones, takes_addresses
from softlookup_grader.platforms.items import ArrivedFile, composed, file_item, in_folder, in_zip, open_zip
from softlookup_grader.platforms.lms_sheet import by_key
from softlookup_grader.platforms.owners import Owner, Owners, is_platforms
from softlookup_grader.platforms.worksheet import WORKSHEET, Person, Worksheet

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
REPOSITORY_COLUMNS = ("repository", "repository_name", "student_repository_name", "folder", *ADDRESS_COLUMNS)
USER_COLUMNS = ("github_username", "gitlab_username", "username", "user")
_TABLES = (".csv", ".tsv", ".txt")
_NO_CLONES: Mapping[str, str] = {}
_REMOTE = re.compile(r'\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.M)


@dataclass(frozen=True)
class Ways:
    """How to read what is collected."""

    # a table that says whose a folder or a repository is, by its name, its address or its user
    roster: Table | None = None
    prefix: str = ""  # what stands in front of the student's part of the names of folders
    worksheet: Path | None = None  # Moodle's grading worksheet, if it lies elsewhere than beside the zip
    ids: str | None = None  # the title of the column of students in a table, if it is not a usual one
    exchange: bool = False  # whether nbgrader's exchange is collected, too
    force: bool = False  # whether notebooks that were collected before are replaced


@dataclass
class Pile:
    """What came in, sorted by whose it is."""

    by_student: dict[str, list[ArrivedFile]] = field(default_factory=dict)
    troubles: dict[str, tuple[str, str]] = field(default_factory=dict)
    strangers: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def add(self, owner: Owner, items: Iterable[ArrivedFile]) -> None:
        """Put files on the pile of their owner."""
        self.names.add(owner.name)
        if owner.student:
            self.by_student.setdefault(owner.student, []).extend(items)
        else:
            self.strangers.setdefault(owner.name, owner.why)

    def cannot(self, owner: Owner, why: str) -> None:
        """Remember that what a student handed in cannot be had."""
        self.add(owner, ())
        if owner.student:
            self.troubles.setdefault(owner.student, (owner.name, why))


class Sources:
    """Looks at what was given, and puts each file on the pile of its owner."""

    def __init__(self, people: Sequence[Person], ways: Ways, stack: ExitStack, pile: Pile) -> None:
        self._people, self._ways, self._stack, self._pile = people, ways, stack, pile
        self._tables: dict[str, Table] = {}
        self._worksheets: dict[str, Worksheet] = {}

    def understood(self) -> list[str]:
        """How each table was read."""
        tables = {name: table.understood() for name, table in self._tables.items()}
        if self._ways.roster is not None:
            tables["the roster"] = self._ways.roster.understood()
        return [f"{one_line(name)}: {how}" for name, how in tables.items()]

    def look_at(self, what: Sequence[Path]) -> None:
        """Look at all that was given: tables first, since worksheets explain zips."""
        if self._ways.worksheet is not None:
            self._worksheet(self._ways.worksheet)
        lists, other_paths = [], []
        for path in what:
            if path.is_dir() or _begins(path) in _ZIP or ".ipynb" in path.name.casefold():
                other_paths.append(path)
            else:
                lists += self._table(path)
        for path in other_paths:
            self._beside(path if path.is_dir() else path.parent)
        by_folder = named_in(self._ways.roster, self._people, self._ways.ids) if self._ways.roster is not None else {}
        self._owners = Owners(self._people, tuple(self._worksheets.values()), by_folder, self._ways.prefix)
        for path in other_paths:
            if path.is_dir():
                self._folder(path)
            elif _begins(path) in _ZIP:
                self._zip(path)
            else:
                self._add([file_item(path, (path.name,))])
        for table, address in lists:
            folder = Path(tempfile.mkdtemp(prefix="softlookup-clones-"))
            self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
            for clone in clones(table, address, self._people, self._ways.ids, folder):
                if clone.why:
                    self._pile.cannot(clone.owner, clone.why)
                elif clone.items or not clone.owner.student:
                    self._pile.add(clone.owner, clone.items)
                else:
                    self._pile.cannot(clone.owner, "the repository is empty")

    def _table(self, path: Path) -> list[tuple[Table, int]]:
        """A table of addresses; a worksheet is kept instead."""
        table = read_table(path, "table")
        address = takes_addresses(table)
        if address is not None:
            self._tables[path.name] = table
            return [(table, address)]
        try:
            self._keep_worksheet(path, Worksheet(table, self._people), table)
        except CourseError:
            raise CourseError(
                f"{path} is none of the files that can be collected: a zip of Moodle's or Canvas's, a folder, a table "
                f"of addresses of repositories, or Moodle's grading worksheet (it has: {table.titles()})"
            ) from None
        return []

    def _worksheet(self, path: Path) -> None:
        table = read_table(path, WORKSHEET)
        try:
            self._keep_worksheet(path, Worksheet(table, self._people), table)
        except CourseError as error:
            raise CourseError(f"{path}: {error}") from None

    def _keep_worksheet(self, path: Path, worksheet: Worksheet, table: Table) -> None:
        self._worksheets[str(path.resolve())] = worksheet
        self._tables[path.name] = table

    def _beside(self, folder: Path) -> None:
        """Take the grading worksheets that lie beside zips; other tables lie there for other ends."""
        for path in sorted(folder.glob("*.csv")):
            if str(path.resolve()) in self._worksheets or not path.is_file():
                continue
            try:
                table = read_table(path, WORKSHEET)
                if takes_addresses(table) is None:
                    self._keep_worksheet(path, Worksheet(table, self._people), table)
            except CourseError:
                continue

    def _folder(self, folder: Path) -> None:
        """A folder: of zips and worksheets, of what was in them, of people's folders, or of clones."""
        # Clones lie side by side here, or in the one folder that lies here.
        marks = (mark for level in ("*", "*/*") for mark in folder.glob(f"{level}/[.o]*") if _is_repositorys(mark))
        repositories = {composed(mark.parent.name): _address(mark) for mark in marks}
        here = sorted(folder.iterdir())
        if not here:
            raise CourseError(f"{folder} is empty: name the folder that holds zips, people's folders, or clones")
        loose = [path for path in here if path.is_file() and not path.is_symlink() and not self._is_somebodys(path)]
        archives = [path for path in loose if _begins(path) in _ZIP]
        for path in archives:
            self._zip(path)
        tables = [path for path in loose if path.suffix.casefold() in _TABLES]
        others = {(composed(path.name),) for path in (*archives, *tables)}
        self._add([item for item in in_folder(folder) if item.parts not in others], repositories)

    def _is_somebodys(self, path: Path) -> bool:
        """Whether a file is one person's by its name."""
        return is_platforms(path.name) or self._owners.is_persons(path.stem)

    def _zip(self, path: Path) -> None:
        """A zip of a platform's; one that is called as a student is holds that student's files."""
        owner = self._owners.whose((path.name,)) if self._is_somebodys(path) else Owner(one_line(path.name))
        archive = open_zip(path)
        if isinstance(archive, str):
            self._pile.cannot(owner if owner.student else Owner(owner.name, why=archive), archive)
            return
        self._stack.enter_context(archive)
        items = list(in_zip(archive))
        if self._is_somebodys(path):
            self._pile.add(owner, items)
        elif items:
            around = [item.parts[at - 1] for item in items for at in (1, 2) if item.parts[at : at + 1] == (".git",)]
            self._add(items, {folder: "" for folder in around if not is_platforms(folder)})
        else:
            self._pile.add(Owner(owner.name, why="this zip is empty"), ())

    def _add(self, items: Sequence[ArrivedFile], repositories: Mapping[str, str] = _NO_CLONES) -> None:
        """Put files on the piles of their owners."""
        for item in items:
            if item.is_outside:
                self._pile.add(Owner(item.path, why=item.trouble), ())
        inside = [(item.parts, item) for item in items if not item.is_outside and not item.hidden]
        for parts, item in _without_wrappers(inside, self._owners, repositories):
            owner = self._owners.whose(parts, repositories)
            # A path is kept from the part on that names the person: what is below that, students chose.
            self._pile.add(owner, [replace(item, parts=parts)])


_Placed = tuple[tuple[str, ...], ArrivedFile]


def _without_wrappers(items: Sequence[_Placed], owners: Owners, repositories: Mapping[str, str]) -> Iterator[_Placed]:
    """Files by their paths below what a platform or a repacking put around all of them."""
    by_top: dict[str, list[_Placed]] = {}
    for placed in items:
        by_top.setdefault(placed[0][0], []).append(placed)
    for top, ones in by_top.items():
        inner = {parts[1] for parts, _ in ones if len(parts) > 1}
        folder = all(len(parts) > 1 for parts, _ in ones)
        known = top in repositories or owners.is_persons(top) or is_platforms(top)
        of_platform = all(map(is_platforms, inner))
        alone = len(by_top) == 1 and not owners.named_by(top).student
        if folder and not known and (of_platform or alone):
            inside = list(_without_wrappers([(parts[1:], item) for parts, item in ones], owners, repositories))
            # A stranger's folder is no wrapper: it would lose its name, and nobody is found below it.
            if of_platform or any(owners.whose(parts, repositories).student for parts, _ in inside):
                yield from inside
                continue
        yield from ones


def _is_repositorys(path: Path) -> bool:
    """Whether a file or a folder shows that the one around it is a clone or a bare repository."""
    return path.name == ".git" or (path.name == "objects" and (path.parent / "HEAD").is_file())


def _address(mark: Path) -> str:
    """Where a clone comes from, as a roster's addresses are compared; empty if that is not known."""
    config = (mark if mark.name == ".git" else mark.parent) / "config"
    if not config.is_file():
        return ""
    try:
        with open(config, encoding="utf-8", errors="replace") as file:
            origin = _REMOTE.search(file.read(100_000))
    except OSError:
        return ""
    return address_key(origin[1]) if origin else ""


def _begins(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4)
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror})") from None


def named_in(roster: Table, people: Sequence[Person], ids: str | None = None) -> dict[str, tuple[str, ...]]:
    """Students by the names that their folders or repositories have in a table, as key_of() writes them.

    A name of several, such as that of two forks, gives each; an address, as address_key() has it, tells them apart.
    """
    known = by_key(people)
    repository = roster.take("repository", *REPOSITORY_COLUMNS, *USER_COLUMNS)
    keys = [roster.mean(roster.column(ids), "student")] if ids else roster.take_ids(STUDENT_COLUMNS, known)
    if repository is None or not keys:
        raise CourseError(
            f"the roster needs a column for the repository ({', '.join((*REPOSITORY_COLUMNS, *USER_COLUMNS))}) and one "
            f"for the student ({', '.join(STUDENT_COLUMNS)}), and has {roster.titles()}"
        )
    by_name: dict[str, tuple[str, ...]] = {}
    for row in roster.rows:
        # Of an address the last part is the name of the folder into which git clones.
        name = key_of(row[repository].strip().rstrip("/").rpartition("/")[2].removesuffix(".git"))
        students = {known[key].student for at in keys if (key := key_of(row[at])) in known}
        if name and len(students) == 1:
            for key in {name, address_key(row[repository])}:
                by_name[key] = tuple(sorted({*by_name.get(key, ()), *students}))
    if not by_name:
        raise CourseError(f"the roster names nobody of the class list; it was {roster.understood()}")
    return by_name


def address_key(address: str) -> str:
    """What the forms of a repository's address have in common.

    >>> address_key("https://me:secret@g.org/Ada/hw.git"), address_key("git@g.org:ada/hw")
    ('g.org/ada/hw', 'g.org/ada/hw')
    """
    location = address.strip().rstrip("/").removesuffix(".git").rpartition("//")[2].rpartition("@")[2]
    return key_of(location.replace(":", "/"))
