"""nbgrader's own buttons and commands do no harm in a course: autograde refuses, feedback reaches whom it can."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from small_class import NAME, ROOT, write_course

from softlookup_grader import Course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, short: object) -> Course:
    made = write_course(tmp_path_factory.mktemp("buttons") / "course", short, ("half-done", "mistake-2"))
    page = made.notebook("feedback", "half-done", NAME).with_suffix(".html")
    page.parent.mkdir(parents=True)
    page.write_text("half-done's page")
    (page.parent / "timestamp.txt").write_text("2026-12-01 17:00:00 UTC")
    (page.parent / "submission_secret.txt").write_text("abc")
    other = made.notebook("feedback", "mistake-2", NAME).with_suffix(".html")
    other.parent.mkdir(parents=True)
    other.write_text("mistake-2's page")
    return made


def test_formgraders_autograde_refuses_before_it_touches_anything(course: Course) -> None:
    written = course.notebook("autograded", "half-done", NAME)
    written.parent.mkdir(parents=True)
    written.write_text("graded in the sandbox")
    result = NbGraderAPI(course.directory, config=course.config).autograde(NAME, "half-done")
    assert not result["success"]
    assert f"softlookup grade {NAME} --student half-done" in result["error"]
    assert written.read_text() == "graded in the sandbox"


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run nbgrader's own program in a course's folder; what it logged."""
    env = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


def test_feedback_reaches_those_of_the_exchange_and_names_the_others(course: Course, tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    output = nbgrader(course.root, "release_feedback", NAME, f"--Exchange.root={exchange}")
    assert "mistake-2 got no feedback through the exchange" in output
    assert [path.read_text() for path in exchange.rglob("*.html")] == ["half-done's page"]


@pytest.mark.slow
def test_a_course_can_go_back_to_stock_nbgrader(course: Course, tmp_path: Path) -> None:
    lines = (ROOT / "nbgrader_config.py").read_text().splitlines()
    stock_lines = [line for line in lines if "Autograde.exporter_class" not in line]
    assert len(stock_lines) == len(lines) - 1
    copy = Path(shutil.copytree(course.root, tmp_path / "course"))
    (copy / "nbgrader_config.py").write_text("\n".join(stock_lines))
    nbgrader(copy, "autograde", NAME, "--student", "half-done", "--force")
