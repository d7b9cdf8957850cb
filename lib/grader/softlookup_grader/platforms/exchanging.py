"""nbgrader's exchange: nbgrader copies each hand-in with its time, which is looked at, and gives feedback back.

Source: nbgrader, exchange/default/release_feedback.py: a page is called after the hand-in's secret and its notebook.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from softlookup_command.plain_text import one_line, plain
from softlookup_grader.course.folder import CONFIG_NAME, Course, quiet
from softlookup_grader.course.inbox import SECRET, STAMP, read_slips
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.platforms.items import ArrivedFile, in_folder


def from_exchange(course: Course, assignment: str, force: bool) -> tuple[dict[str, list[ArrivedFile]], list[str]]:
    """Have nbgrader collect an assignment; with ``force`` a newer hand-in replaces one that was collected before."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.utils import capture_log, temp_attrs

    log = course.log("collect")
    with quiet(log), temp_attrs(course.directory, assignment_id=assignment):
        api = NbGraderAPI(course.directory, config=_with_everybodys(course))
        collector = api.exchange.Collect(coursedir=course.directory, authenticator=api.authenticator, parent=api)
        collector.update = force
        done = capture_log(collector)
        print(done.get("log", ""), done.get("error", ""))
    messages = [line for line in done.get("log", "").splitlines() if line.strip()]
    if not done["success"]:
        lines = [line for line in (*done.get("error", "").splitlines(), *messages) if line.strip()]
        says = next((line for line in messages if "not found" in line or "permission" in line), lines[-1])
        raise CourseError(f"nbgrader could not collect from the exchange ({plain(says.strip(), 300)}): see {log}")
    came: dict[str, list[ArrivedFile]] = {}
    for hand_in in getattr(collector, "src_records", ()):
        student, name = str(hand_in["username"]), str(hand_in["filename"])
        came[student] = _copied(course, assignment, student, f"exchange/{name}")
    earlier = sum("already exists" in line for line in messages)
    notes = [
        one_line(line.partition("] ")[2] or line, 400) for line in messages if "cheating" in line or "link" in line
    ]
    if earlier:
        stay = (
            "was collected before, and stays as it is"
            if earlier == 1
            else "were collected before, and stay as they are"
        )
        notes.append(f"from the exchange {earlier} {stay}: --force takes newer ones")
    return came, notes


def exchange_folder(course: Course) -> Path | None:
    """The course's folder in the exchange; None if neither its configuration nor everybody's names an exchange."""
    root = _with_everybodys(course).Exchange.get("root")
    return Path(root, course.directory.course_id) if root else None


def release_feedback(course: Course, assignment: str, students: Iterable[str]) -> None:
    """Have nbgrader give feedback back to those whose hand-in came through the exchange, where it is not there yet."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.utils import capture_log, temp_attrs

    exchange, log = exchange_folder(course), course.log("release_feedback")
    waiting = [student for student in students if exchange and not _has_feedback(exchange, course, assignment, student)]
    with quiet(log):
        api = NbGraderAPI(course.directory, config=_with_everybodys(course))
        for student in waiting:
            with temp_attrs(course.directory, assignment_id=assignment, student_id=student):
                # Not by the API's own function, which warns of itself.
                done = capture_log(api.exchange.ReleaseFeedback(coursedir=course.directory, parent=api))
            print(done.get("log", ""), done.get("error", ""))
            if not done["success"]:
                raise CourseError(f"nbgrader could not release the feedback of {one_line(student)}: see {log}")


def _has_feedback(exchange: Path, course: Course, assignment: str, student: str) -> bool:
    """Whether the exchange holds a student's pages as they are now, or none belongs there."""
    from nbgrader.utils import notebook_hash

    folder = course.folder("feedback", student, assignment)
    pages = list(folder.glob("*.html"))
    if pages and not (folder / SECRET).is_file():  # nbgrader, which made no page of what was refused, copies them
        for name, content in read_slips(course, assignment, student).items():
            atomic_write(folder / name, content)
    if not (folder / SECRET).is_file():
        return True
    secret = (folder / SECRET).read_text(encoding="utf-8")
    for page in pages:
        copy = exchange / "feedback" / f"{notebook_hash(secret=secret, notebook_id=page.stem)}.html"
        if not copy.is_file() or copy.stat().st_mtime_ns < page.stat().st_mtime_ns:
            return False
    return True


def _with_everybodys(course: Course) -> Any:
    """The course's configuration over everybody's, which is where a hub says what its exchange is."""
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config import Config, ConfigFileNotFound, PyFileConfigLoader

    config = Config()
    for folder in reversed(jupyter_config_path()):
        with contextlib.suppress(ConfigFileNotFound):
            config.merge(PyFileConfigLoader(CONFIG_NAME, path=folder).load_config())
    config.merge(course.config)
    return config


def _copied(course: Course, assignment: str, student: str, source: str) -> list[ArrivedFile]:
    """What nbgrader copied of a student: the one notebook of an assignment under its own name, else all files."""
    folder: Path = course.folder("submitted", student, assignment)
    if not folder.is_dir() or folder.is_symlink():
        return []
    items = [item for item in in_folder(folder) if item.parts not in ((STAMP,), (SECRET,))]
    alone = not course.layout(assignment).packed
    notebooks = [item for item in items if alone and item.parts == (f"{assignment}.ipynb",)]
    return [ArrivedFile(item.parts, item.size, item.open, item.trouble, base=source) for item in notebooks or items]
