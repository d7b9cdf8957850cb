"""Answers beside ordinary test cells that go for neighbours, the gradebook, files and the machine: nobody else pays."""

from pathlib import Path

import pytest
from sandbox_tools import NEEDS_SANDBOX
from test_stock_notebooks import ADA, NAME, hand_in, stock_course

from softlookup_grader import GradeRequest, grade_assignment

ATTACKS = {
    # All of these give the right answer, too, so whoever does harm and is not stopped has the same points.
    "looks_around": """
from pathlib import Path
names = "COURSE", "../../gradebook.db", "/proc/1/root/COURSE", "/proc/self/cwd/../ada"
seen = [name for name in names if Path(name).exists()]
assert not seen, seen
""",
    "leaves_strange_files": """
import os
os.mkfifo("pipe"); os.symlink("/etc/passwd", "link"); os.symlink("/", "root")
for at in range(3000): open(f"f{at}", "w").close()
open("helper.py", "w").write("TWICE = 0"); open("x" * 200, "w").write("y")
""",
    "lies_about_files": """
from softlookup_inside.sandbox import submission
import numpy as np
lies = ["../../../tmp/notebook/mine.py", "/etc/passwd", "gradebook.db", "a\\0b", 7]
submission.Inside._read = lambda self, request, arrays: ({"paths": lies}, [np.zeros(3, np.uint8)] * len(lies))
""",
    "breaks_the_reading": """
from softlookup_inside.sandbox import submission
submission.Inside._read = lambda self, request, arrays: ({"paths": None}, [])
""",
    "serves": """
import socket
server = socket.create_server(("127.0.0.1", 8765))
""",
    "asks_the_server": """
import socket, time
for _ in range(20):
    time.sleep(0.05)
    with socket.socket() as link:
        assert link.connect_ex(("127.0.0.1", 8765)), "a neighbour can be reached"
with socket.socket() as link:
    link.settimeout(1)
    assert link.connect_ex(("10.0.0.1", 80))
""",
    "stays": """
import os, time
if os.fork() == 0:
    os.setsid()
    while True: time.sleep(1)
""",
}


@pytest.mark.slow
@NEEDS_SANDBOX
def test_attacks_beside_test_cells_cost_no_neighbour_a_point(tmp_path: Path) -> None:
    course = stock_course(tmp_path / "course")
    hand_in(course, "honest", ADA)
    for name, code in ATTACKS.items():
        # In the first notebook, whose files go to the next one.
        hand_in(course, name, {**ADA, "plot": code.replace("COURSE", str(course.root))})
    report = grade_assignment(course, GradeRequest(NAME, seed=1, workers=2, feedback=False))
    points = {row.student: {name: mark.points for name, mark in row.tasks.items()} for row in report.records}
    honest = points["honest"]
    assert honest == {"draws/test": 1, "reads/test": 1, "reads/partial": 0.1 + 0.2}
    for row in report.records:
        assert row.status == "graded", (row.student, row.reason)
        if row.student != "lies_about_files":  # whose next notebook may find other files
            assert points[row.student] == honest, (row.student, points[row.student], row.remarks)
        draws = course.notebook("autograded", row.student, NAME, "draws").read_text()
        assert "AssertionError" not in draws, (row.student, draws)
    assert not (tmp_path / "notebook").exists() and not Path("/tmp/notebook/mine.py").exists()
    with course.gradebook() as book:
        scores = {submission.student_id: submission.score for submission in book.assignment_submissions(NAME)}
    assert set(scores) == {"honest", *ATTACKS} and scores["honest"] == pytest.approx(2.3)
