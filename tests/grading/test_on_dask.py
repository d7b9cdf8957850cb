"""Grading on a Dask cluster: a real scheduler and real workers of this machine, some of which die."""

import functools
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from fake_grader import faked, here
from small_class import NAME, STUDENTS, write_course

pytest.importorskip(
    "distributed", reason="the package distributed is not installed: pip install 'softlookup-grader[dask]'"
)

from dask_cluster import Cluster, cluster, noting_examiner, wait_for
from own_course import released

from softlookup_grader import Course, CourseError
from softlookup_grader.data.work import Graded, RunSettings
from softlookup_grader.judging.settings import identity, settings_for
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.ledger import Ledger
from softlookup_grader.run.request import GradeRequest, Watcher
from softlookup_grader.workers import on_dask
from softlookup_grader.workers.on_dask import dask_executor
from softlookup_grader.workers.pool import DIED_TWICE

CLASS = 24
RELEASE = nbformat.writes(nbformat.v4.new_notebook())
SETTING = RunSettings.single(NAME, RELEASE, 5)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask") / "cluster") as begun:
        yield begun


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory, short: nbformat.NotebookNode) -> Course:
    """A class of two dozen, most of whom handed in the same."""
    course = write_course(tmp_path_factory.mktemp("class") / "course", short, STUDENTS)
    content = course.notebook("submitted", "half-done", NAME).read_bytes()
    for number in range(CLASS - len(STUDENTS)):
        path = course.notebook("submitted", f"student-{number}", NAME)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return course


@pytest.fixture
def course(handed_in: Course, tmp_path: Path) -> Course:
    return Course.at(Path(shutil.copytree(handed_in.root, tmp_path / "course", symlinks=True)))


class At(Watcher):
    """Does something once so many submissions are done."""

    def __init__(self, count: int, do: Callable[[], object]) -> None:
        self.left, self.do = count, do

    def step(self, name: str, graded: Graded | None = None) -> None:
        self.left -= 1
        if self.left == 0:
            self.do()


def order(**options: object) -> GradeRequest:
    return GradeRequest(NAME, **{"seed": 5, "feedback": False, "workers": 1, **options})


def graded_at_home(course: Course) -> dict:
    return grade_assignment(course, order(again=True), executor=here()).as_json()


def graded(executor: on_dask.MakeExecutor, *students: str, settings: RunSettings = SETTING) -> dict[str, Graded]:
    submissions = [(student, b'{"cells": []}') for student in students]
    return {result.student: result for result in executor(settings).run(iter(submissions))}


def test_report_is_that_of_local_workers_though_one_is_killed(shared: Cluster, course: Course) -> None:
    shared.staff(2)
    victim = next(name for name in shared.workers if shared.lives(name))
    calls = course.root / "calls"
    executor = shared.faked(calls=calls, sleep_s=0.05)
    on_two = grade_assignment(course, order(), executor=executor, watch=At(8, lambda: shared.kill(victim)))
    assert not shared.lives(victim)
    assert len(on_two.records) == CLASS and {r.status for r in on_two.records} == {"graded", "refused", "missing"}
    assert set(calls.read_text().split()) == {r.student for r in on_two.records if r.status != "missing"}
    with Ledger(course.root / ".grading" / NAME, release=identity(settings_for(course, NAME))) as ledger:
        assert all(ledger.of(student).entered for student in course.students())
    assert on_two.as_json() == graded_at_home(course)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        ("fails", "grading it failed (RuntimeError: the disk is full)"),
        pytest.param("kills", DIED_TWICE, marks=pytest.mark.slow),
        # The kernel may end a worker in place of what uses too much: what is graded beside it has its verdict.
        pytest.param("kills_worker", DIED_TWICE, marks=pytest.mark.slow),
        pytest.param("hangs", "grading it took more than 1.5 s, twice", marks=pytest.mark.slow),
    ],
)
def test_submission_that_harms_its_worker_is_refused_and_nobody_else(shared: Cluster, harm: str, reason: str) -> None:
    if nanny := harm in ("kills_worker", "hangs"):
        shared.dismiss()
        shared.hire(2, nanny=True)
    shared.staff(3 if harm == "kills" else 1)
    students = [f"student-{number}" for number in range(8)]
    executor = shared.faked(**{harm: ("harmful",)}, sleep_s=0.02)(SETTING)
    if harm == "hangs":
        executor = replace(executor, patience_s=1.5)
    got = graded(lambda _: executor, *students[:4], "harmful", *students[4:])
    refused = got.pop("harmful")
    assert (refused.status, refused.reason) == ("refused", reason)
    assert set(got) == set(students) and {result.status for result in got.values()} == {"graded"}
    if nanny:
        shared.dismiss()


def test_submissions_are_taken_only_as_they_are_needed(shared: Cluster) -> None:
    shared.staff(1)
    taken: list[str] = []

    def source() -> Iterator[tuple[str, bytes]]:
        for number in range(40):
            taken.append(f"student-{number}")
            yield taken[-1], b'{"cells": []}'

    workers = sum(shared.lives(name) for name in shared.workers)
    results = shared.faked()(SETTING).run(source())
    for done in range(1, 6):
        next(results)
        assert len(taken) <= 1 + done + (1 + on_dask.IN_FLIGHT) * workers
    results.close()


def test_no_pickle_of_a_workers_is_read_as_an_answer(shared: Cluster) -> None:
    shared.staff(1)
    with on_dask._connected(shared.address) as client:
        assert client.submit(bytes, 3).result(timeout=60) == bytes(3)
        with pytest.raises(TypeError, match="serialize"):
            client.submit(functools.partial, len).result(timeout=60)


@pytest.mark.slow
def test_submissions_and_notebooks_may_be_large(shared: Cluster) -> None:
    shared.staff(1)
    large = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x" * 12_000_000, id="long")])
    settings = RunSettings.single(NAME, nbformat.writes(large), 5)
    results = graded(shared.faked(), "one", "öther ?", settings=settings)
    assert set(results) == {"one", "öther ?"} and all(len(r.notebooks[0][1]) > 12_000_000 for r in results.values())
    big = b'{"cells": []}' + b" " * 12_000_000  # Dask would warn of a large graph
    assert [g.status for g in shared.faked()(SETTING).run([("one", big)])] == ["graded"]


def test_another_library_on_a_worker_is_told(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from softlookup_grader.workers import dask_worker

    shared.staff(1)
    monkeypatch.setattr(dask_worker, "library_version", lambda: "0.0.1 (abcdef01)")
    message = r"the Dask worker tcp://\S+ cannot grade: it has softlookup .*\), and the grader has 0\.0\.1 \(abcdef01\)"
    with pytest.raises(CourseError, match=message):
        graded(shared.faked(), "one")


@pytest.mark.slow
def test_examiner_is_kept_for_a_run_and_closed_after_it(shared: Cluster, tmp_path: Path) -> None:
    shared.staff(1)
    log = tmp_path / "log"
    executor = dask_executor(shared.address, functools.partial(noting_examiner, log))
    assert len(graded(executor, *(f"student-{number}" for number in range(9)))) == 9
    workers = sum(shared.lives(name) for name in shared.workers)
    wait_for(lambda: log.read_text().count("closed") == log.read_text().count("opened"))
    assert 1 <= log.read_text().count("opened") <= workers
    before = log.read_text().count("opened")
    stopped = executor(SETTING).run((f"student-{number}", b'{"cells": []}') for number in range(40))
    next(stopped)
    stopped.close()
    wait_for(lambda: log.read_text().count("closed") == log.read_text().count("opened") > before)


def test_library_version_changes_with_the_source(tmp_path: Path) -> None:
    from softlookup_grader.workers.dask_worker import library_version

    (tmp_path / "part").mkdir()
    named = set()
    for content in ("", "a = 1", "a = 2"):
        (tmp_path / "part" / "one.py").write_text(content)
        named.add(library_version([tmp_path]))
    (tmp_path / "part" / "one.py").rename(tmp_path / "part" / "two.py")
    assert len({*named, library_version([tmp_path])}) == 4


def test_no_scheduler_and_no_workers_are_told(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused, monkeypatch.context() as patch:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        patch.setattr(on_dask, "CONNECT_S", 0.5)
        with pytest.raises(CourseError, match=f"there is no Dask scheduler at '{nowhere}'"):
            graded(dask_executor(nowhere), "one")
    assert graded(dask_executor(nowhere)) == {}, "nothing to do needs no cluster"
    shared.dismiss()
    with pytest.raises(CourseError, match=r"had no workers for 1 s: start some"):
        graded(shared.faked(wait_s=1.0), "one")


@pytest.mark.slow
def test_without_bubblewrap_a_worker_grades_nothing(shared: Cluster, tmp_path: Path) -> None:
    shared.dismiss()
    shared.hire(1, PATH=str(tmp_path))
    try:
        with pytest.raises(CourseError, match="cannot grade: bubblewrap is not installed, and submissions are run in"):
            graded(dask_executor(shared.address), "one")
    finally:
        shared.dismiss()


@pytest.mark.slow
def test_lost_scheduler_is_told_and_what_was_done_is_kept(tmp_path: Path, course: Course) -> None:
    with cluster(tmp_path / "cluster") as lost:
        lost.hire(1)
        calls = course.root / "calls"
        executor = lost.faked(calls=calls, sleep_s=0.02)
        with pytest.raises(CourseError, match=r"the Dask scheduler \S+ was lost .*run the same command again"):
            grade_assignment(course, order(), executor=executor, watch=At(6, lost.scheduler.kill))
    with Ledger(course.root / ".grading" / NAME, release=identity(settings_for(course, NAME))) as ledger:
        done = {s for s in ledger.students() if ledger.graded(s).status != "missing"}
    assert 0 < len(done) < CLASS
    calls.unlink()
    at_home = grade_assignment(course, order(), executor=faked(course, order(), calls=calls))
    assert not done & set(calls.read_text().split()), "graded twice"
    assert at_home.as_json() == graded_at_home(course)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_sandboxes_on_workers_give_the_same_report_as_at_home(shared, tmp_path, source):
    shared.dismiss()
    shared.hire(2, threads=2)
    course = write_course(tmp_path / "course", source, ("half-done", "mistake-2", "deleted-function", "not-json"))
    on_two = grade_assignment(course, order(), executor=dask_executor(shared.address))
    assert {r.status for r in on_two.records} == {"graded", "refused"}
    at_home = grade_assignment(course, order(again=True))
    assert on_two.as_json() == at_home.as_json()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_own_tasks_travel_to_workers_that_cannot_see_their_folder(shared: Cluster, tmp_path: Path) -> None:
    shared.dismiss()
    shared.hire(2)
    course = released(tmp_path / "course", "99_mine")
    request = GradeRequest("99_mine", seed=5, feedback=False)
    report = grade_assignment(course, request, executor=dask_executor(shared.address)).as_json()["submissions"]
    assert report["ada"]["score"] == 3
    assert report["ben"]["tasks"]["99.row-means"]["diagnosis"] == ["over-columns"]
    path = course.root / "tasks" / "99_mine_tasks.py"
    path.write_text("import os\n\nassert os.getpid() == " + str(os.getpid()) + "\n" + path.read_text())
    with pytest.raises(CourseError, match="cannot grade: .*99_mine_tasks.py, line 3, could not be read"):
        grade_assignment(course, request, executor=dask_executor(shared.address))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed")
def test_cluster_with_tls_is_spoken_to_with_a_certificate_and_not_without(course, tmp_path):
    """The certificate comes from Dask's own configuration, as the guide says."""
    import dask

    pem = tmp_path / "cluster.pem"
    how = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=cluster"]
    made = ["openssl", "req", *how, "-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(made, check=True, capture_output=True)
    pem.write_bytes((tmp_path / "key.pem").read_bytes() + (tmp_path / "cert.pem").read_bytes())
    tls_settings = {f"distributed.comm.tls.{name}": str(pem) for name in ("ca-file", "client.cert", "client.key")}
    with dask.config.set(tls_settings), cluster(tmp_path / "cluster", pem) as begun:
        assert begun.address.startswith("tls://")
        begun.hire(1)
        report = grade_assignment(course, order(), executor=begun.faked())
        without = dict.fromkeys(tls_settings, None)
        with dask.config.set(without), pytest.raises(CourseError, match="no Dask scheduler"):
            grade_assignment(course, order(again=True), executor=begun.faked())
    assert report.as_json() == graded_at_home(course)
