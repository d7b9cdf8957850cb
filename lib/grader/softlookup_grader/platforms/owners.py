"""Whose a file is: by the number that Moodle or Canvas put into its path, else by the name of a person's folder.

Source: Moodle, mod/assign/classes/downloader.php: "FULL NAME_PARTICIPANT_assignsubmission_file_", with or without the
last underscore, "_onlinetext_" for what was typed; numbers of two assignments never coincide (assign_user_mapping.id).
Canvas, app/models/content_zipper.rb: "NAME_USER_ATTACHMENT_FILE", with "_LATE" behind the name, of letters and digits.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from softlookup_command.plain_text import one_line
from softlookup_grader.data.tables import key_of
from softlookup_grader.platforms.lms_sheet import by_key
from softlookup_grader.platforms.worksheet import NO_WORKSHEET, Person, Worksheet

MOODLE = re.compile(r"_(\d+)_assignsubmission_(?:file|onlinetext)(?=_|$)")
CANVAS = re.compile(r"[^_]+(?:_LATE)?_(\d+)_\d+_")
_OF_MOODLE = "assignsubmission_"
_NOBODY = "its name is no id, e-mail address or lms_user_id of the class list"


@dataclass(frozen=True)
class Owner:
    """Whose a file is."""

    name: str  # what names the person: a folder, or the file itself
    student: str = ""  # the student's id; empty if nobody is found
    why: str = ""  # why nobody is found, one clause


@dataclass(frozen=True)
class Owners:
    """Who handed in which file."""

    people: Sequence[Person]  # the class list
    worksheets: Sequence[Worksheet] = ()  # Moodle's grading worksheets
    # students by names of folders, where a table says so; a name of several is nobody's
    by_folder: Mapping[str, Sequence[str]] = field(default_factory=dict)
    prefix: str = ""  # what stands in front of the student's part of a folder's name

    def whose(self, parts: tuple[str, ...], clones: Mapping[str, str] | None = None) -> Owner:
        """Say whose a file is."""
        name = parts[0]
        address = (clones or {}).get(name)
        if address:  # it tells apart those for whom the name stands
            fits = {student for students in self._ends(key_of(name)) for student in students}
            fits &= {*self._known.get(address, ())}
            if len(fits) == 1:
                return Owner(name, *fits)
        if address is not None or (len(parts) > 1 and self.is_persons(name)) or not is_platforms(name):
            return self.named_by(name, len(parts) > 1, address is not None)
        moodle, canvas = MOODLE.search(name), CANVAS.match(name)
        # A platform writes one number; somebody's name, or the name of a file, may hold others.
        numbers = sorted({*MOODLE.findall(name), *([canvas[1]] if canvas else [])})
        if len(numbers) != 1:
            why = f"it fits {' and '.join(numbers)}: collect it by hand" if numbers else "it names no student"
            return Owner(name, why=why)
        if moodle:
            return Owner(name, *self._by_worksheet(numbers[0], name[: moodle.start()]))
        student = self._by_number.get(numbers[0], "")
        why = "" if student else f"the class list has no single student with the lms_user_id {numbers[0]}"
        return Owner(name, student, why)

    def is_persons(self, name: str) -> bool:
        """Whether a folder or a zip is called exactly as a student is."""
        return key_of(name) in self._known

    def named_by(self, name: str, folder: bool = True, clone: bool = False) -> Owner:
        """Say whose a folder, or a file without a folder, is by its name; that of a clone may end in a student's."""
        key = key_of(name)
        stem = PurePosixPath(key).stem
        for spelt in (key,) if folder else (key, stem, PurePosixPath(stem).stem):
            if students := self._known.get(spelt, ()):
                return _of(name, students)
        if not folder:
            return Owner(name, why="it lies in no folder of a student, and its name is nobody's")
        if self.prefix:
            if not key.startswith(key_of(self.prefix)):
                return Owner(name, why=f"its name does not begin with {one_line(self.prefix)}")
            remaining = key.removeprefix(key_of(self.prefix))
            if students := self._known.get(remaining, ()):
                return _of(name, students)
            return Owner(name, why=f"{one_line(remaining)} is no student of the class list")
        fits = sorted({student for students in self._ends(key) for student in students})
        if fits and not clone:
            why = f"{_NOBODY}, though it ends as that of {one_line(fits[0])}: give the part before the name as --prefix"
            return Owner(name, why=why)
        if len(fits) > 1:
            both = " and ".join(map(one_line, fits))
            return Owner(name, why=f"its name fits {both}: give the part before the name as --prefix")
        return Owner(name, fits[0]) if fits else Owner(name, why=_NOBODY + ", and ends in none" * clone)

    def _ends(self, key: str) -> list[Sequence[str]]:
        """Students by whose names a name ends."""
        return [students for end, students in self._known.items() if f"-{key}".endswith(f"-{end}")]

    @cached_property
    def _known(self) -> Mapping[str, Sequence[str]]:
        """Students by what a folder may be called."""
        return self.by_folder or {key: (person.student,) for key, person in by_key(self.people).items()}

    @cached_property
    def _by_number(self) -> dict[str, str]:
        """Ids by Canvas's number; a student without one is known by the id. A number of two students is nobody's."""
        numbers = [person.lms_user_id or person.student for person in self.people]
        count = Counter(numbers)
        return {n: person.student for n, person in zip(numbers, self.people, strict=True) if count[n] == 1}

    def _by_worksheet(self, participant: str, name: str) -> tuple[str, str]:
        """The student of a participant number, or why there is none."""
        answers = [worksheet.whose(participant, name) for worksheet in self.worksheets if worksheet.has(participant)]
        students = sorted({student for student, _ in answers if student})
        if len(students) == 1:
            return students[0], ""
        if students:
            return "", f"the worksheets have {' and '.join(map(one_line, students))} as participant {participant}"
        if answers:
            return answers[0]
        return self.worksheets[0].whose(participant, name) if self.worksheets else ("", NO_WORKSHEET)


def _of(name: str, students: Sequence[str]) -> Owner:
    """The owner of a name that stands for these students: nobody, if they are several."""
    if len(students) == 1:
        return Owner(name, students[0])
    both = " and ".join(map(one_line, students))
    return Owner(name, why=f"the roster has this name for {both}: rename the folders, and write their names into it")


def given_name(name: str) -> str:
    """What a student called a file, without what Moodle or Canvas put in front of it.

    >>> given_name("ada_LATE_72_5_a.csv"), given_name("Ada_81_assignsubmission_file_a.csv"), given_name("a_b.csv")
    ('a.csv', 'a.csv', 'a_b.csv')
    """
    match = MOODLE.search(name) or CANVAS.match(name)
    return name[match.end() :].removeprefix("_") or name if match else name


def is_platforms(name: str) -> bool:
    """Whether Moodle or Canvas named a folder or a file so.

    >>> is_platforms("Ada_81_assignsubmission_file_"), is_platforms("ada_LATE_72_5_a.ipynb"), is_platforms("ada-72")
    (True, True, False)
    """
    return _OF_MOODLE in name or CANVAS.match(name) is not None
