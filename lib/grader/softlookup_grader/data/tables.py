"""Tables as people hand them in: any separator, encoding and decimal sign, and titles in any language.

A column is known by its title, or by what its cells look like; a table says how it was understood.
"""

import csv
import io
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.data.errors import CourseError

BOM = "\ufeff"
_SEPARATORS = ",;\t|"
_SHOWN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_FRACTION = re.compile(r"\s*[-+]?\d+([.,])\d+\s*")
_ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


class Table:
    """A table that somebody handed in."""

    def __init__(self, text: str, what: str = "table", encoding: str = "utf-8") -> None:
        """Read it; CourseError if it is no CSV, or empty."""
        self.what, self.encoding = what, encoding
        self._front = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        separator_line = re.match(r"sep=(.)\r?\n", text)  # by this line Excel knows the separator
        if separator_line:
            self._front, text = self._front + separator_line[0], text[separator_line.end() :]
        self._end = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
        self._delimiter, rows = _parsed(text, separator_line[1] if separator_line else "", what)
        if not any(cell.strip(_SEPARATORS) for row in rows for cell in row):
            raise CourseError(f"the file is not a {what}: it is empty")
        self.header = rows[0]
        self.rows = [row + [""] * (len(self.header) - len(row)) for row in rows[1:]]
        signs = Counter(match[1] for row in self.rows for cell in row if (match := _FRACTION.fullmatch(cell)))
        self.decimal = "," if signs[","] > signs["."] else "."
        self._understood: dict[int, str] = {}

    def find(self, *titles: str) -> int | None:
        """Where the first column is that has one of these titles, in whatever spelling; None if none has."""
        spelt = [_spelt(title) for title in self.header]
        return next((spelt.index(_spelt(title)) for title in titles if _spelt(title) in spelt), None)

    def column(self, title: str) -> int:
        """Where a column is; CourseError if it is not there."""
        index = self.find(title)
        if index is None:
            raise CourseError(f"the file has no column {title!r} (it has: {self.titles()})")
        return index

    def require(self, titles: Sequence[str], instead: Sequence[str] = ()) -> None:
        """Hold that all of these columns are there, or all of the others: else it is a CourseError."""
        if not any(columns and all(self.find(title) is not None for title in columns) for columns in (titles, instead)):
            raise CourseError(
                f"the file is not a {self.what}: wanted the columns {', '.join(titles)}, got {self.titles()}"
            )

    def titles(self) -> str:
        """Its columns, for a message."""
        more = f" and {len(self.header) - 12} more" if len(self.header) > 12 else ""
        return ", ".join(repr(one_line(title, 40)) for title in self.header[:12]) + more

    def cells(self, index: int) -> list[str]:
        """What a column holds, without blanks around and without empty cells."""
        return [cell for row in self.rows if (cell := row[index].strip())]

    def take(self, meaning: str, *titles: str, like: Callable[[list[str]], bool] | None = None) -> int | None:
        """Find the column of a meaning, by its titles or else by cells that are ``like`` it, and remember it."""
        index = self.find(*titles)
        if index is None and like is not None:
            free = [at for at in range(len(self.header)) if at not in self._understood]
            columns = [at for at in free if (cells := self.cells(at)) and like(cells)]
            if len(columns) > 1:
                both = ", ".join(repr(one_line(self.header[at], 40)) for at in columns)
                title = f" {titles[0]!r}" if titles else ""
                raise CourseError(
                    f"several columns may hold the {meaning} ({both}): give the right one the title{title}"
                )
            index = columns[0] if columns else None
        return index if index is None else self.mean(index, meaning)

    def take_ids(self, titles: Sequence[str], known: Collection[str], before: int | None = None) -> list[int]:
        """Find the columns by which students are known, the surest first, and remember what they mean.

        Those with a usual title, then e-mail addresses; where titles lead to nobody, known ids left of ``before``.
        """
        titled_columns = [at for title in titles if (at := self.find(title)) is not None and at not in self._understood]
        free = [
            at for at in range(len(self.header))[:before] if at not in self._understood and at not in titled_columns
        ]
        addresses = [at for at in free if are_addresses(self.cells(at))]
        columns = [*titled_columns, *addresses]
        if not any(key_of(cell) in known for at in titled_columns for cell in self.cells(at)):
            columns += [at for at in free if at not in columns and _mostly_known(self.cells(at), known)]
        for at in columns:
            self.mean(at, "e-mail address" if are_addresses(self.cells(at)) else "student")
        return list(dict.fromkeys(columns))

    def mean(self, index: int, meaning: str) -> int:
        """Remember what a column was understood to hold."""
        self._understood.setdefault(index, meaning)
        return index

    def understood(self) -> str:
        """How the table was read, one sentence: separator, encoding, and what each column was taken for."""
        separator = _SHOWN.get(self._delimiter, repr(self._delimiter))
        names = [repr(one_line(title, 40)) for title in self.header]
        clauses = [f"{names[at]} is the {means}" for at, means in sorted(self._understood.items())]
        unused_titles = [name for at, name in enumerate(names) if at not in self._understood]
        clauses += [f"not used: {', '.join(unused_titles)}"] * bool(unused_titles)
        rows = f"{len(self.rows)} row{'s' * (len(self.rows) != 1)}"
        sign = ", decimal comma" if self.decimal == "," else ""
        return f"read {rows} in {self.encoding}, separated by {separator}{sign}: {'; '.join(clauses)}"

    def amount(self, points: float) -> str:
        """Points as this table writes them."""
        return amount(points).replace(".", self.decimal)

    def text(self) -> str:
        """The file's text."""
        out = io.StringIO(newline="")
        sparing = csv.writer(out, delimiter=self._delimiter, lineterminator=self._end)
        every = csv.writer(out, delimiter=self._delimiter, lineterminator=self._end, quoting=csv.QUOTE_ALL)
        for row in [self.header, *self.rows]:
            # Python leaves a lone carriage return unquoted, and a reader takes it for the row's end.
            (every if any(re.search(r"\r(?!\n)", cell) for cell in row) else sparing).writerow(row)
        return self._front + out.getvalue()

    def content(self) -> bytes:
        """The file's bytes."""
        return self.text().encode(self.encoding, "replace")


def read_table(path: Path, what: str = "table") -> Table:
    """Read a table from a file, in UTF-8, UTF-16 or the Western encoding of Windows."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror})") from None
    if content.startswith(_ARCHIVES):
        raise CourseError(f"{path} is a spreadsheet or an archive: save the table as CSV, and give that")
    for encoding in _encodings(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return Table(text, what, encoding)
    raise CourseError(f"{path} is not text: export it once more, as CSV in UTF-8")


def amount(points: float) -> str:
    """Points as a number that every program reads: a point, no zeros behind it."""
    return f"{points:.4f}".rstrip("0").rstrip(".")


def key_of(text: str) -> str:
    """What the spellings of one id, address or name have in common, whatever program wrote them.

    >>> key_of(" Zoë ") == key_of("ZOË"), key_of("123") == key_of("00123")
    (True, False)
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).casefold())


def as_number(text: str) -> float | None:
    """A number as a spreadsheet may write it, None if it is none.

    >>> as_number("30,00"), as_number("nan"), as_number("-")
    (30.0, None, None)
    """
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def are_addresses(cells: list[str]) -> bool:
    """Whether all cells are e-mail addresses, and there are some."""
    return bool(cells) and all(map(_ADDRESS.fullmatch, cells))


def are_numbered(cells: list[str]) -> bool:
    """Whether all cells are one word with a number behind it: "Participant 7", in any language."""
    matches = [re.fullmatch(r"([^\d@]*[^\W\d_]\D*?)\s*(\d+)", cell) for cell in cells]
    words = {match and match[1] for match in matches}
    return len(words) == 1 and None not in words


def _mostly_known(cells: list[str], known: Collection[str]) -> bool:
    hits = sum(key_of(cell) in known for cell in cells)
    return 2 * hits >= len(cells) > 0 and hits > 0 and len(set(cells)) == len(cells)


def _spelt(title: str) -> str:
    """A title without what is spelt in several ways: capitals, blanks, hyphens, underscores."""
    return re.sub(r"[\W_]+", "", title).casefold() or title


def _encodings(content: bytes) -> tuple[str, ...]:
    """What a file's encoding may be, the likeliest first."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ("utf-16-le",) if content.startswith(b"\xff") else ("utf-16-be",)
    if content[1:200:2].count(0) > 50 or (content[1::2] and not any(content[1:200:2])):
        return ("utf-16-le",)
    if content[:200:2].count(0) > 50 or (content[1::2] and not any(content[:200:2])):
        return ("utf-16-be",)
    return "utf-8", "cp1252", "latin-1"


def _parsed(text: str, separator: str, what: str) -> tuple[str, list[list[str]]]:
    """The separator by which most rows are as long as the first one, and the rows, empty ones left out."""
    best: tuple[float, int, str, list[list[str]]] | None = None
    problem = ""
    most = csv.field_size_limit(len(text) + 1)  # one long answer of a student must not cost the whole file
    try:
        for sign in separator or _SEPARATORS:
            try:
                rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign) if any(row)]
            except csv.Error as error:
                problem = problem or str(error)
                continue
            width = len(rows[0]) if rows else 0
            even = sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0
            if best is None or (even, width) > best[:2]:
                best = even, width, sign, rows
    finally:
        csv.field_size_limit(most)
    if best is None:
        raise CourseError(f"the file is not a {what}: it is no CSV ({problem})")
    return best[2:]
