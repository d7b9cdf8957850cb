"""The ledger: what it keeps, what it does with a torn end, another release, a full disk."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from softlookup_grader import CourseError
from softlookup_grader.data.disk import Shelf, atomic_write
from softlookup_grader.data.work import Graded, Mark
from softlookup_grader.run.ledger import FILE, Ledger, Run


def graded(student: str, digest: str = "d1", points: float = 1.5) -> Graded:
    mark = Mark("04.scale", "04-scale-check", points, 2.0, "partial", ("no-sqrt",), "é \u2028")
    return Graded(student, "graded", digest, (mark,), remarks=("cut",), notebooks=(("a", "{}"),), seconds=0.1)


def opened(folder: Path, release: str = "r", **options: object) -> Ledger:
    return Ledger(folder, release=release, **options)


def test_what_is_written_is_read_back(tmp_path):
    with opened(tmp_path, seed=7) as ledger:
        ledger.add(graded("ann"))
        ledger.add(graded("bob"))
        ledger.mark_entered("ann")
        ledger.mark_page("ann", "p1")
    with opened(tmp_path) as ledger:
        assert ledger.run.seed == 7 and ledger.students() == ["ann", "bob"]
        ann, bob = ledger.of("ann"), ledger.of("bob")
        assert ann and bob and (ann.entered, ann.page, bob.entered) == (True, "p1", False)
        assert ledger.graded("ann").as_json() == graded("ann").as_json() and ledger.graded("ann").notebooks == ()
        assert ledger.of("cid") is None


def test_first_line_is_the_run_and_lines_are_as_agreed(tmp_path):
    with opened(tmp_path, seed=7) as ledger:
        ledger.add(graded("ann"))
        ledger.mark_entered("ann")
        ledger.mark_finished()
        ledger.mark_finished()
    first, second, third, *rest = map(json.loads, (tmp_path / FILE).read_text().splitlines())
    assert first["run"]["seed"] == 7 and len(first["run"]["release"]) == 64
    assert second == json.loads(json.dumps(graded("ann").as_json()))
    assert third == {"entered": "ann", "digest": "d1"} and len(rest) == 1


def test_last_line_of_a_student_counts(tmp_path):
    with opened(tmp_path) as ledger:
        ledger.add(graded("ann", "d1", 1))
        ledger.mark_entered("ann")
        ledger.add(graded("ann", "d2", 2))
    with opened(tmp_path) as ledger:
        entry = ledger.of("ann")
        assert entry and entry.digest == "d2" and not entry.entered
        assert ledger.graded("ann").marks[0].points == 2


@pytest.mark.parametrize("cut", [1, 5, 40, 100])
def test_a_torn_last_line_is_cut_off(tmp_path, cut):
    with opened(tmp_path, seed=7) as ledger:
        ledger.add(graded("ann"))
        ledger.add(graded("bob"))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[:-cut])
    with opened(tmp_path) as ledger:
        assert ledger.run.seed == 7 and ledger.students() == ["ann"]
        ledger.add(graded("bob"))
    assert (tmp_path / FILE).read_bytes() == whole


def test_a_torn_first_line_is_no_ledger_and_a_line_of_zeros_stands_for_nothing(tmp_path):
    with opened(tmp_path, seed=7):
        pass
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-9])
    with opened(tmp_path, seed=8) as ledger:
        assert ledger.run.seed == 8 and ledger.students() == []
        ledger.add(graded("ann"))
    with open(tmp_path / FILE, "ab") as file:
        file.write(bytes(50) + b"\n" + b'{"entered": "nobody", "digest": ""}\n[1]\n')
    with opened(tmp_path) as ledger:
        ledger.add(graded("bob"))
    with opened(tmp_path) as ledger:
        assert ledger.students() == ["ann", "bob"] and ledger.graded("bob").student == "bob"


@pytest.mark.parametrize(
    ("options", "seed"),
    [({"release": "other"}, None), ({"seed": 8}, 8), ({"sandbox": "none"}, 7), ({"again": True}, 7)],
)
def test_a_new_run_begins_and_the_old_ledger_is_kept(tmp_path, options, seed):
    for number in (1, 2):
        with opened(tmp_path, seed=7) as ledger:
            ledger.add(graded("ann"))
            ledger.mark_finished()
        before = (tmp_path / FILE).read_bytes()
        with opened(tmp_path, **options) as ledger:
            assert ledger.students() == [] and ledger.set_aside == tmp_path / f"ledger-{2 * number - 1}.jsonl"
            assert seed in (None, ledger.run.seed)
        assert (tmp_path / f"ledger-{2 * number - 1}.jsonl").read_bytes() == before
        os.rename(tmp_path / FILE, tmp_path / f"ledger-{2 * number}.jsonl")


def test_a_run_of_everybody_anew_goes_on_until_its_end(tmp_path):
    with opened(tmp_path, seed=7) as ledger:
        ledger.mark_finished()
    with opened(tmp_path, again=True) as ledger:
        ledger.add(graded("ann"))
    with opened(tmp_path, again=True) as ledger:
        assert ledger.students() == ["ann"], "it was interrupted: the same command goes on"
        ledger.mark_finished()
    with opened(tmp_path, again=True) as ledger:
        assert ledger.students() == []


def test_a_seed_is_drawn_once_and_too_long_to_be_found_by_trying(tmp_path):
    with opened(tmp_path / "a") as first, opened(tmp_path / "b") as second:
        assert first.run.seed != second.run.seed
        drawn = first.run.seed
    with opened(tmp_path / "a") as first:
        assert first.run.seed == drawn
    seeds = [Run.new(None, "", "bubblewrap", False).seed for _ in range(10)]
    assert max(seeds).bit_length() > 100 and len(set(seeds)) == 10


def test_only_one_grader_works_on_a_ledger_and_a_killed_one_lets_go(tmp_path):
    with opened(tmp_path), pytest.raises(CourseError, match=rf"process {os.getpid()}\) is working on this assignment"):
        opened(tmp_path)
    script = (
        "import sys, os, signal\nfrom pathlib import Path\nfrom softlookup_grader.run.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]), release='r', seed=7)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, tmp_path]).returncode == -9
    with opened(tmp_path) as ledger:
        assert ledger.run.seed == 7


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path, monkeypatch):
    with opened(tmp_path) as ledger:
        ledger.add(graded("ann"))
        write = os.write

        def full(fd: int, content: bytes) -> int:
            if len(content) < 100:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(fd, content[: len(content) - 60])

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(CourseError, match=r"no room left to write .*ledger.jsonl: make room"):
                ledger.add(graded("bob"))
        assert ledger.students() == ["ann"]
        ledger.add(graded("cid"))
    with opened(tmp_path) as ledger:
        assert ledger.students() == ["ann", "cid"]
    with pytest.raises(CourseError, match=r"cannot be written \(Not a directory\)"):
        opened(tmp_path / FILE / "folder")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    atomic_write(tmp_path / "a" / "x", b"old", 0o444)
    assert (tmp_path / "a" / "x").stat().st_mode & 0o777 == 0o444

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(CourseError, match="no room left"):
        atomic_write(tmp_path / "a" / "x", b"new")
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["x"] and (tmp_path / "a" / "x").read_bytes() == b"old"


def test_the_shelf_gives_back_only_whole_notebooks(tmp_path):
    shelf = Shelf(tmp_path)
    assert shelf.get("ann") is None
    shelf.store("ann", '{"a": 1}')
    shelf.store("../../ann", '{"a": 2}')
    assert shelf.get("ann") == '{"a": 1}' and shelf.get("../../ann") == '{"a": 2}'
    (path,) = (p for p in (tmp_path / "waiting").iterdir() if "1" in p.read_text())
    path.write_text('{"a": ')
    assert shelf.get("ann") is None
    shelf.drop("../../ann")
    shelf.drop("nobody")
    assert shelf.get("../../ann") is None
