"""What platforms and people give a teacher: notebooks of a class of paper, zips as they are made, a class list."""

import copy
import io
import json
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import nbformat
from small_class import NAME, ROOT

from softlookup_grader import Course
from softlookup_grader.course.arrived import UNREADABLE, arrivals

FILE = f"{NAME}.ipynb"
WORKSHEET = (
    '\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade\n'
    "Participant 81,Ada Lovelace,ada,ada@example.org,Submitted,\n"
    "Participant 82,Ben O'Banneker,,ben@example.org,Submitted,\n"
    "Participant 83,Zo\u00eb \u5c0f\u660e,7103,,Submitted,\n"
    "Participant 84,Ada Lovelace,7104,,Submitted,\n"
    "Participant 85,Ada Lovelace,,ben@example.org,Submitted,\n"
    "Participant 86,Guest,,guest@example.org,Submitted,\n"
    "Participant 87,Twice,ada,,Submitted,\n"
    "Participant 87,Twice,7103,,Submitted,\n"
    "Participant 88,Two Ways,ada,ben@example.org,Submitted,\n"
    # One who is called like the word that stands before the numbers of another assignment.
    "Participant 7102,Mallory,7103,,Submitted,\n"
)


@cache
def released(name: str = NAME) -> nbformat.NotebookNode:
    """The notebook that students are given."""
    return nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)


def notebook(answer: str = "return 1.0", name: str = NAME, cell: str = "04-scale") -> bytes:
    """A notebook in which one answer is filled in; with an empty answer it is as released."""
    made = copy.deepcopy(released(name))
    for part in made.cells:
        if answer and part.id == cell:
            part.source = part.source.partition("    # YOUR CODE")[0] + f"    {answer}\n"
    return nbformat.writes(made).encode()


def without_marks(raw: bytes) -> bytes:
    """A notebook of which an editor lost nbgrader's marks and the ids of the cells."""
    content = json.loads(raw)
    for number, cell in enumerate(content["cells"]):
        cell["metadata"], cell["id"] = {}, f"c{number}"
    return json.dumps(content).encode()


def zipped(entries: Mapping[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip as Python makes it: names that are no ASCII are in UTF-8, with the flag."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def without_flag(entries: Mapping[str, bytes], encoding: str) -> bytes:
    """A zip whose names are in this encoding, without the flag that says UTF-8, as repacking programs make it."""
    spelt = {name: name.encode(encoding, "replace") for name in entries}
    stand_in = {f"{at:04d}" + "x" * (len(spelt[name]) - 4): name for at, name in enumerate(entries)}
    raw = zipped({key: entries[name] for key, name in stand_in.items()})
    for key, name in stand_in.items():
        assert raw.count(key.encode()) == 2, "the name stands in front of the content and in the directory"
        raw = raw.replace(key.encode(), spelt[name])
    return raw


def enter_class(course: Course, *students: str, **numbers: str) -> None:
    """Put students on the class list, with an e-mail address each; ``numbers`` are those of a platform."""
    with course.gradebook() as book:
        for student in {**dict.fromkeys(students), **dict.fromkeys(numbers)}:
            book.update_or_create_student(student, email=f"{student}@example.org", lms_user_id=numbers.get(student))


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def collected(course: Course) -> dict[str, bytes]:
    """What lies in submitted/ of whom."""
    places = {student: course.notebook("submitted", student, NAME) for student in course.students()}
    return {student: path.read_bytes() for student, path in places.items() if path.is_file()}


def unreadable(course: Course, student: str) -> str:
    """Why nothing of a student's can be graded."""
    arrival = arrivals(course, NAME).by_student[student]
    assert arrival.state == UNREADABLE and student not in collected(course)
    return arrival.why


def moodle(name: str, number: int, file: str = FILE) -> str:
    """A path in a zip of Moodle's."""
    return f"{name}_{number}_assignsubmission_file_/{file}"
