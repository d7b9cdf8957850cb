"""What figures for lecturers, and of a student's way, are tried with."""

import numpy as np

from softlookup_course import figures

TEACHING = {
    "row_of_children": (figures.row_of_children, (["The", "cat", "says", "it"], 1, 3)),
    "student_path": (figures.student_path, ()),
    "marked_tables": (figures.marked_tables, ({"X": np.eye(2), "Y": np.ones((2, 3))}, {"X": np.eye(2) > 0})),
    "gains_by_task": (
        figures.gains_by_task,
        (["one", "two"], {"as printed": np.array([9.0, -1]), "again": np.array([-1.0, 0])}, "one"),
    ),
    "teacher_forcing": (figures.teacher_forcing, (["start", "a", "red", "cat"],)),
    "chapters": (
        figures.chapters,
        (
            {0: "First", 1: "Second", 2: "Third", 90: "Last"},
            {0: (0, 0), 1: (0, 1), 2: (3, 1), 90: (3, 3)},
            [(1, 0, True), (2, 0, True), (90, 2, False), (90, 1, True)],
            [0, 1],
        ),
    ),
}
