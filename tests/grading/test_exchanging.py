"""nbgrader's exchange is a way to collect: its times come along, and who is in is kept as for all other ways."""

import os
import shutil
from pathlib import Path

import pytest
from arriving import FILE, collected, enter_class, notebook
from click.testing import CliRunner
from paper_class import paper_course
from small_class import NAME

from softlookup_command.commands import main
from softlookup_grader import Course, CourseError
from softlookup_grader.course.arrived import UNREADABLE, arrivals
from softlookup_grader.course.inbox import handed_in_at
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.sources import Ways

EXCHANGE = Ways(exchange=True)


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    made = paper_course(tmp_path_factory, source)
    exchange = made.root.parent / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    with open(made.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f'\nc.Exchange.root = "{exchange}"\nc.ExchangeCollect.check_owner = False\n')
    enter_class(made, "ada", "ben", "7103")
    (exchange / "softlookup" / "inbound").mkdir(parents=True)
    return Course.at(made.root)


def submit(course: Course, student: str, files: dict[str, bytes], hour: int = 17) -> Path:
    when = f"2026-12-01 {hour}:00:00 UTC"
    folder = course.root.parent / "exchange" / "softlookup" / "inbound" / f"{student}+{NAME}+{when}+abc"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "timestamp.txt").write_text(when)
    return folder


def test_the_exchange_is_collected_with_times_and_recorded(course: Course) -> None:
    submit(course, "ada", {FILE: notebook(), f"{NAME}-Copy1.ipynb": notebook("return 2.0")})
    submit(course, "ben", {"mine.ipynb": notebook("return 3.0")})
    submit(course, "7103", {"a.html": b"<html>"})
    done = CliRunner().invoke(main, ["collect", NAME, "--exchange", "--course", str(course.root)])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "3 in class: 2 collected, 1 unreadable, 0 nothing",
        "7103: unreadable, a.html is a web page (HTML), not a notebook",
    ]
    assert collected(course) == {"ada": notebook(), "ben": notebook("return 3.0")}
    assert str(handed_in_at(course, NAME, "ada")[0]) == "2026-12-01 17:00:00"
    about = arrivals(course, NAME).by_student
    assert about["ada"].source == f"exchange/ada+{NAME}+2026-12-01 17:00:00 UTC+abc/{FILE}"
    assert about["7103"].state == UNREADABLE


def test_a_newer_submission_counts_only_if_asked(course: Course) -> None:
    submit(course, "ada", {FILE: notebook()})
    collect(course, NAME, [], EXCHANGE)
    submit(course, "ada", {FILE: notebook("return 2.0")}, hour=18)
    done = collect(course, NAME, [], EXCHANGE)
    assert collected(course) == {"ada": notebook()} and "--force takes newer ones" in done.notes[0]
    collect(course, NAME, [], Ways(exchange=True, force=True))
    assert collected(course) == {"ada": notebook("return 2.0")}


def test_links_in_the_exchange_are_not_followed(course: Course) -> None:
    folder = submit(course, "ada", {})
    os.symlink(course.notebook("source", ".", NAME), folder / FILE)
    done = collect(course, NAME, [], EXCHANGE)
    assert collected(course) == {} and f"the link {FILE} in ada+" in done.notes[0]


def test_what_nbgrader_warns_of_is_said(course: Course) -> None:
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("c.ExchangeCollect.check_owner = True\nc.CollectNoLinks.check_owner = True\n")
    submit(course, "ada", {FILE: notebook()})
    (note,) = collect(Course.at(course.root), NAME, [], EXCHANGE).notes
    assert "claims to be submitted by ada but is owned by" in note


def test_an_exchange_that_is_not_there_is_one_sentence(course: Course) -> None:
    shutil.rmtree(course.root.parent / "exchange" / "softlookup")
    with pytest.raises(CourseError, match="could not collect from the exchange.*Course not found.*logs/collect.log"):
        collect(course, NAME, [], EXCHANGE)
    assert collected(course) == {}
