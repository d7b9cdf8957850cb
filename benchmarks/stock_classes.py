"""Two courses of ordinary nbgrader assignments with a class each, made here: what ``bench stock-courses`` grades.

One is the course that ``nbgrader quickstart`` makes, with the two notebooks of its ``ps1``. The other has a notebook on
a data frame, read from a file that lies beside it. nbgrader releases both; neither says anything to this grader.
"""

import csv
import io
import random
import shutil
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

import nbformat

from benchmarks.stock_cases.case import ASSIGNMENT, CONFIG, cell, notebook, release, run_nbgrader
from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.errors import CourseError

BLANK = ""
"""In place of an answer: the cell stays as released."""

RIGHT = "right"
"""In place of an answer: that of the source."""

Answers = Mapping[str, Sequence[str]]
"""What students put into the cells of an assignment, by the cells' names; each is equally likely."""

_QUICKSTART: Answers = {
    "squares": (
        *[RIGHT] * 6,
        "def squares(n):\n    return [i ** 2 for i in range(1, n + 1)]",
        "def squares(n):\n    if n < 1:\n        raise ValueError(n)\n    return [i ** 2 for i in range(1, n)]",
        "def squares(n):\n    if n < 1:\n        raise ValueError(n)\n    table = [i * i for i in range(200_000)]\n"
        "    return [i ** 2 for i in range(table[1], n + 1)]",
        BLANK,
    ),
    "sum_of_squares": (
        *[RIGHT] * 7,
        "def sum_of_squares(n):\n    return n * (n + 1) * (2 * n + 1) // 6",
        "def sum_of_squares(n):\n    return sum(squares(n - 1))",
        BLANK,
    ),
    "sum_of_squares_equation": (RIGHT, RIGHT, r"$\sum_{i=1}^n i$", BLANK),
    "sum_of_squares_application": (RIGHT, RIGHT, "print(sum_of_squares(24))", BLANK),
    "part-a": (RIGHT, RIGHT, "It calls itself.", BLANK),
    "part-b": (RIGHT, RIGHT, "For large ones, which take long.", BLANK),
}

_READ = """def read(path):
    \"\"\"The readings as a data frame, with days as dates.\"\"\"
    ### BEGIN SOLUTION
    return pd.read_csv(path, parse_dates=["day"])
    ### END SOLUTION
"""
_FILLED = """def filled(frame):
    \"\"\"The readings, each missing temperature replaced by the mean of its station.\"\"\"
    ### BEGIN SOLUTION
    means = frame.groupby("station")["celsius"].transform("mean")
    return frame.assign(celsius=frame["celsius"].fillna(means))
    ### END SOLUTION
"""
_MONTHLY = """def monthly(frame):
    \"\"\"The mean temperature of each month (rows, 1 to 12) and station (columns).\"\"\"
    ### BEGIN SOLUTION
    months = frame["day"].dt.month.rename("month")
    return frame.groupby([months, "station"])["celsius"].mean().unstack()
    ### END SOLUTION
"""
_WARMEST = """def warmest(frame):
    \"\"\"The warmest day of each station: a dictionary of dates by station.\"\"\"
    ### BEGIN SOLUTION
    rows = frame.loc[frame.groupby("station")["celsius"].idxmax()]
    return dict(zip(rows["station"], rows["day"]))
    ### END SOLUTION
"""
_READINGS: Answers = {
    "read": (*[RIGHT] * 8, "def read(path):\n    return pd.read_csv(path)", BLANK),
    "filled": (
        *[RIGHT] * 6,
        "def filled(frame):\n    return frame.fillna({'celsius': frame['celsius'].mean()})",
        "def filled(frame):\n    return frame.dropna()",
        "def filled(frame):\n    frame = frame.copy()\n    for at, row in frame.iterrows():\n"
        "        if pd.isna(row['celsius']):\n            same = frame['station'] == row['station']\n"
        "            frame.loc[at, 'celsius'] = frame.loc[same, 'celsius'].mean()\n    return frame",
        BLANK,
    ),
    "monthly": (
        *[RIGHT] * 6,
        "def monthly(frame):\n    table = frame.assign(month=frame['day'].dt.month)\n"
        "    return table.pivot_table(values='celsius', index='month', columns='station')",
        "def monthly(frame):\n    table = frame.assign(month=frame['day'].dt.month)\n"
        "    return table.pivot_table(values='celsius', index='month', columns='station', aggfunc='median')",
        "def monthly(frame):\n    return frame.groupby('station')['celsius'].mean()",
        BLANK,
    ),
    "warmest": (
        *[RIGHT] * 6,
        "def warmest(frame):\n    return {name: group.sort_values('celsius')['day'].iloc[-1] "
        "for name, group in frame.groupby('station')}",
        "def warmest(frame):\n    return frame.groupby('station')['celsius'].max().to_dict()",
        "def warmest(frame):\n    return {name: max(frame['day']) for name in frame['station'].unique()}",
        BLANK,
    ),
}


def quickstart(root: Path, submissions: int) -> None:
    """Have nbgrader make its own example of a course, and hand in."""
    if error := run_nbgrader(root.parent, "quickstart", root.name):
        raise CourseError(f"nbgrader could not make its example of a course: {error}")
    _hand_in(root, submissions, _QUICKSTART)


def readings(root: Path, submissions: int) -> None:
    """Make a course with a notebook on a data frame, and hand in."""
    source = root / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    (source / "readings.csv").write_text(_readings(), encoding="utf-8")
    (source / f"{ASSIGNMENT}.ipynb").write_bytes(_notebook())
    _hand_in(root, submissions, _READINGS)


def _readings() -> str:
    """A year's temperatures at four stations, in which some are missing."""
    rng, lines = random.Random(1), io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["day", "station", "celsius"])
    for day in range(365):
        for station, name in enumerate(("harbour", "hill", "marsh", "wood")):
            celsius = 10 - 2 * station - abs(day - 182) / 10 + rng.gauss(0, 3)
            at = date(2025, 1, 1) + timedelta(days=day)
            writer.writerow([at.isoformat(), name, "" if rng.random() < 0.05 else f"{celsius:.1f}"])
    return lines.getvalue()


def _notebook() -> bytes:
    return notebook(
        cell("# A year of readings\n\n`readings.csv` lies beside this notebook.", "title", markdown=True),
        "import numpy as np\nimport pandas as pd",
        cell(_READ, "read", solution=True),
        "read('readings.csv').head()",
        cell(
            "frame = read('readings.csv')\nassert list(frame.columns) == ['day', 'station', 'celsius']\n"
            "assert frame.shape == (1460, 3)\nassert frame['day'].dt.year.eq(2025).all()",
            "read-test",
            1,
        ),
        cell(_FILLED, "filled", solution=True),
        cell(
            "whole = filled(frame)\nassert len(whole) == len(frame) and whole['celsius'].notna().all()\n"
            "assert frame['celsius'].isna().any(), 'the readings themselves stay as they are'\n"
            "### BEGIN HIDDEN TESTS\n"
            "for name, group in frame.groupby('station'):\n"
            "    same = whole.loc[group.index, 'celsius'][group['celsius'].isna()]\n"
            "    assert np.allclose(same, group['celsius'].mean())\n"
            "### END HIDDEN TESTS",
            "filled-test",
            2,
        ),
        cell(_MONTHLY, "monthly", solution=True),
        "monthly(frame).round(1)",
        cell(
            "table = monthly(frame)\nassert table.shape == (12, 4) and list(table.index) == list(range(1, 13))\n"
            "june = frame[(frame['station'] == 'hill') & (frame['day'].dt.month == 6)]\n"
            "assert np.isclose(table.loc[6, 'hill'], june['celsius'].mean())",
            "monthly-test",
            2,
        ),
        cell(_WARMEST, "warmest", solution=True),
        cell(
            "days = warmest(frame)\nassert set(days) == {'harbour', 'hill', 'marsh', 'wood'}\n"
            "for name, day in days.items():\n"
            "    here = frame[frame['station'] == name]\n"
            "    assert here.loc[here['day'] == day, 'celsius'].item() == here['celsius'].max()",
            "warmest-test",
            1,
        ),
    )


def _hand_in(root: Path, submissions: int, texts: Answers) -> None:
    """Have nbgrader release the assignment, and write submissions of right, wrong, slow and blank answers.

    None runs into a limit of time: it would cost each grader just that.
    """
    release(root)
    rng, released, source = random.Random(2), root / "release" / ASSIGNMENT, root / "source" / ASSIGNMENT
    names = sorted(path.name for path in released.glob("*.ipynb"))
    notebooks = {name: nbformat.read(released / name, as_version=4) for name in names}
    right = {name: answers(nbformat.read(source / name, as_version=4)) for name in names}
    for number in range(1, submissions + 1):
        folder = root / "submitted" / f"student-{number:03}" / ASSIGNMENT
        shutil.copytree(released, folder)
        for name in names:
            draws = {answer: rng.choice(texts[answer]) for answer in right[name]}
            draws = {answer: right[name][answer] if text == RIGHT else text for answer, text in draws.items()}
            written = filled(notebooks[name], {answer: text for answer, text in draws.items() if text != BLANK})
            nbformat.write(written, folder / name)
