"""Collecting from nbgrader's exchange: nbgrader copies each hand-in with its time, and what was copied is looked at."""

import contextlib
from pathlib import Path
from typing import Any

from softlookup_command.plain_text import one_line, plain
from softlookup_grader.course.folder import CONFIG_NAME, Course, quiet
from softlookup_grader.course.inbox import SECRET, STAMP
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
    """What nbgrader copied of a student: the notebook under its own name, else all files."""
    folder: Path = course.folder("submitted", student, assignment)
    if not folder.is_dir() or folder.is_symlink():
        return []
    items = [item for item in in_folder(folder) if item.parts not in ((STAMP,), (SECRET,))]
    notebooks = [item for item in items if item.parts == (f"{assignment}.ipynb",)]
    return [ArrivedFile(item.parts, item.size, item.open, item.trouble, base=source) for item in notebooks or items]
