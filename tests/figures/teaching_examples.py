"""What the figures for lecturers are tried with."""

from softlookup import figures

TEACHING = {
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
