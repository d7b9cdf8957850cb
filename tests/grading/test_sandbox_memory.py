"""All memory that a submission holds is counted, with a control group of the kernel's and without one."""

import time
from pathlib import Path

import pytest
from sandbox_tools import LIMITS, NEEDS_SANDBOX, printed

from attacks import unseen_memory
from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox import cgroups
from softlookup_grader.sandbox.cgroups import Places
from softlookup_grader.sandbox.processes import family
from softlookup_grader.sandbox.session import Dead

pytestmark = NEEDS_SANDBOX
NEEDS_GROUPS = pytest.mark.skipif(not cgroups.limits_memory(), reason="no control group can be made here")
CODE = {attack.name: attack.code for attack in unseen_memory.ATTACKS}
PATIENT = Limits(**{**vars(LIMITS), "cell_s": 20.0})


@pytest.fixture
def no_groups(monkeypatch):
    """A machine on which no control group can be made."""
    monkeypatch.setattr(cgroups, "places", Places)


@NEEDS_GROUPS
@pytest.mark.parametrize("name", ["unseen-shared", "unseen-tables", "unseen-sockets"])
def test_memory_that_no_process_shows_is_limited_by_a_group(begin, name):
    session = begin(PATIENT)
    with pytest.raises(Dead, match="held more than 300 MB of memory"):
        session.run(CODE[name])
        session.run("1")


@pytest.mark.parametrize("name", ["unseen-shared", "unseen-tables"])
def test_without_a_group_what_one_process_may_map_is_limited(begin, no_groups, name):
    session = begin(PATIENT)
    assert session.run(CODE[name]).trouble == "MemoryError"
    assert printed(session, "print('on')") == "on"


def test_without_a_group_all_processes_together_are_watched(begin, no_groups):
    session = begin(PATIENT)
    with pytest.raises(Dead, match="held more than 300 MB of memory"):
        session.run(
            "import os, time\nfor n in range(8):\n    if os.fork() == 0:\n        os.setsid()\n"
            "        x = bytearray(80_000_000)\n        time.sleep(60)\ntime.sleep(60)"
        )


@NEEDS_GROUPS
def test_group_holds_a_submission_and_all_that_it_starts_and_is_removed_with_it(begin):
    session = begin()
    source = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)"
    )
    session.run(f"{source}\nos.wait()")
    first = session.process.pid
    there = {int(pid) for pid in (session.process.group.memory / "cgroup.procs").read_text().split()}
    assert there > set(family(first)) and len(family(first)) == 2, "and the one that prepared it"
    folders = list(session.process.group.folders)
    assert folders and all(folder.is_dir() for folder in folders)
    session.process.group.close()
    assert all(folder.is_dir() for folder in folders), "it does not wait for what still runs"
    session.kill("it is over")
    cgroups.sweep(patience_s=5.0)
    assert not any(folder.exists() for folder in folders)


@NEEDS_GROUPS
def test_groups_of_a_killed_grader_are_removed_by_the_next():
    folder = cgroups.places().memory
    dead = folder / f"{cgroups.PREFIX}{2**22 + 1}-0"
    dead.mkdir()
    try:
        cgroups.places.cache_clear()
        assert cgroups.places().memory == folder and not dead.exists()
    finally:
        if dead.exists():
            dead.rmdir()


def _tree(tmp_path: Path, kind: str, options: str, groups: str, **ways: object) -> Places:
    """What is found where a machine's control groups look like this."""
    (tmp_path / "mounts").write_text(f"30 20 0:26 / {tmp_path}/fs rw,nosuid - {kind} {kind} {options}\n")
    (tmp_path / "own").write_text(groups)
    return cgroups._places(tmp_path / "mounts", tmp_path / "own", **ways)


@pytest.mark.parametrize("controllers", ["cpu memory pids", "memory", "pids"])
def test_version_2_is_used_where_the_folder_above_hands_memory_on(tmp_path, controllers):
    above = tmp_path / "fs" / "user.slice"
    (above / "run.scope").mkdir(parents=True)
    (above / "run.scope" / "cgroup.subtree_control").write_text("")
    (above / "cgroup.subtree_control").write_text(controllers + "\n")
    (above / "cgroup.procs").write_text("")
    ways = {"works": lambda folder, version: version == 2}
    places = _tree(tmp_path, "cgroup2", "rw,nsdelegate", "0::/user.slice/run.scope\n", **ways)
    cpu = above if "cpu" in controllers else None
    assert places == (Places(above, cpu, 2, above) if "memory" in controllers else Places())


def test_no_group_is_made_where_the_folder_cannot_be_written(tmp_path):
    (tmp_path / "fs").write_text("no folder")
    assert _tree(tmp_path, "cgroup", "rw,memory", "4:memory:/\n") == Places()


def test_member_of_a_strange_name_is_counted(begin, no_groups):
    session = begin()
    session.run(
        "import ctypes, os, time\nif os.fork() == 0:\n"
        "    ctypes.CDLL(None).prctl(15, b') S 1 \\xff\\n', 0, 0, 0)\n    time.sleep(600)"
    )
    first = session.process.pid
    end = time.monotonic() + 5
    while len(family(first)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    assert len(family(first)) == 2
