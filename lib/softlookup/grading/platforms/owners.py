"""Whose a file of Moodle's or Canvas's archive is, by the number that the platform put into its name.

Source: Moodle, mod/assign/classes/downloader.php: "FULL NAME_PARTICIPANT_assignsubmission_file_", as a folder or in
front of the file's name; the final underscore came and went. worksheet.py says whom a participant number means.
Canvas, app/models/content_zipper.rb: "NAME_USER_ATTACHMENT_FILE", with "_LATE" behind the name, which holds letters and
digits alone.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from softlookup.grading.data.errors import CourseError
from softlookup.grading.platforms.worksheet import Person, Worksheet, read_worksheet

MOODLE = re.compile(r"_(\d+)_assignsubmission_file(?=_|$)")
_OF_MOODLE = "assignsubmission_"
_CANVAS = re.compile(r"[^_]+(?:_LATE)?_(\d+)_\d+_")


class Owners:
    """Who handed in which file."""

    def __init__(self, people: Sequence[Person], place: Path) -> None:
        """Keep the class list.

        Args:
            people: The class list.
            place: The folder with Moodle's grading worksheet.
        """
        self._people, self._place = people, place

    def whose(self, parts: tuple[str, ...]) -> tuple[str, str]:
        """Say whose a file is.

        Args:
            parts: Its path in the archive.

        Returns:
            The student's id, and an empty text; or an empty id, and why nobody is found.
        """
        numbers = sorted(set(_numbers(parts)))
        if len(numbers) != 1:
            return "", f"it fits {' and '.join(numbers)}: collect it by hand" if numbers else "it names no student"
        moodle = next((match for part in parts if (match := MOODLE.search(part))), None)
        if moodle is None:
            student = self._by_number.get(numbers[0], "")
            return student, "" if student else f"the class list has no single student with the lms_user_id {numbers[0]}"
        if isinstance(self._worksheet, str):
            return "", self._worksheet
        return self._worksheet.whose(numbers[0], moodle.string[: moodle.start()])

    @cached_property
    def _worksheet(self) -> Worksheet | str:
        """The grading worksheet, or why there is none."""
        try:
            return read_worksheet(self._place, self._people)
        except CourseError as error:
            return str(error)

    @cached_property
    def _by_number(self) -> dict[str, str]:
        """Ids by Canvas's number; a student without one is known by the id. A number of two students is nobody's."""
        numbers = [person.lms_user_id or person.student for person in self._people]
        count = Counter(numbers)
        return {n: person.student for n, person in zip(numbers, self._people, strict=True) if count[n] == 1}


def _numbers(parts: tuple[str, ...]) -> Iterator[str]:
    """All numbers that a file's path could be meant to name; the platform writes one, students may add others.

    >>> list(_numbers(("all", "Ada_7101_assignsubmission_file_", "a.ipynb"))), list(_numbers(("b_LATE_72_5_a.ipynb",)))
    (['7101'], ['72'])
    """
    for part in parts:
        yield from MOODLE.findall(part)
    match = _CANVAS.match(parts[-1])
    # A path of Moodle's without a participant number, a group's for one, must not take one from a student's file name.
    named = any(MOODLE.search(part) for part in parts)
    if match and len(parts) <= 2 and (named or not any(_OF_MOODLE in part for part in parts)):
        yield match[1]
