"""Collecting bears whatever is handed in: broken, locked, too large, or made to be somebody else's."""

import os
import zipfile

import pytest
from arriving import FILE, collected, enter_class, moodle, notebook, unreadable, write, zipped
from small_class import NAME

from attacks import hostile_ones
from softlookup_grader.course.arrived import COLLECTED, UNREADABLE, arrivals
from softlookup_grader.platforms import items
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.items import ReadLimits
from softlookup_grader.platforms.sources import Ways
from softlookup_judge.authoring import make_release


@pytest.fixture
def course(paper):
    enter_class(paper, "ada", "zoë", "7103", "lin-ada", ben="7102")
    return paper


def test_one_persons_many_or_large_files_cost_nobody_else(course, downloads, monkeypatch):
    size = len(notebook())
    opened: list[str] = []
    usual = items.ArrivedFile.read

    def read(item: items.ArrivedFile, *most: int) -> bytes:
        opened.append(item.path)
        return usual(item, *most)

    monkeypatch.setattr(items.ArrivedFile, "read", read)
    many = {moodle("Ada Lovelace", 81, f"{n}.ipynb"): b"{}" for n in range(9)}
    large = {f"ben_7102_{n}_{n}.ipynb": b" " * 2 * size for n in range(3)}
    (downloads / "all.zip").write_bytes(zipped(many | large | {f"zoe_7103_9_{FILE}": notebook()}))
    collect(course, NAME, [downloads / "all.zip"], limits=ReadLimits(3, 3 * size))
    assert set(collected(course)) == {"7103"} and len(opened) == 3 + 1 + 2
    assert "3.ipynb was not read, since there are more than 3 files" in unreadable(course, "ada")
    assert f"or {3 * size:,} bytes: hand in the notebook alone" in unreadable(course, "ben")


def test_zips_in_a_persons_folder_share_what_may_be_read(course, tmp_path):
    zips = {f"ada/{n}.zip": zipped({f"{m}.ipynb": b"{}" for m in range(3)}) for n in range(3)}
    more = {"7103/a.zip": zipped({f"{n}.txt": b"" for n in range(6)} | {FILE: notebook()})}
    write(tmp_path / "a", {**zips, **more, f"ben/{FILE}": notebook(), **{f"ben/{n}.txt": b"x" for n in range(50)}})
    collect(course, NAME, [tmp_path / "a"], limits=ReadLimits(files=5, inside=5))
    assert set(collected(course)) == {"ben"} and "more than 5 files" in unreadable(course, "ada")
    assert "a zip of more than 5 files" in unreadable(course, "7103")


def test_a_file_that_is_too_large_is_not_unpacked(course, downloads, monkeypatch):
    (downloads / "all.zip").write_bytes(zipped({f"ben_7102_1_{FILE}": b"\0" * 500_000, f"z_7103_1_{FILE}": notebook()}))
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    collect(course, NAME, [downloads / "all.zip"], limits=ReadLimits(file_size=len(notebook()) + 10))
    assert "bytes: its outputs have to be cleared" in unreadable(course, "ben") and set(collected(course)) == {"7103"}


def test_small_files_are_read_first(course, downloads):
    entries = {f"ben_7102_1_a{n}.ipynb": b"\0" * 200_000 for n in range(5)} | {f"ben_7102_9_{FILE}": notebook()}
    (downloads / "all.zip").write_bytes(zipped(entries))
    collect(course, NAME, [downloads / "all.zip"], limits=ReadLimits(size=len(notebook()) + 10))
    assert set(collected(course)) == {"ben"}


def test_the_size_that_a_zip_claims_is_not_believed(course, downloads):
    raw = zipped({f"ben_7102_1_{FILE}": b"\0" * 3_000_000})
    honest = (3_000_000).to_bytes(4, "little")
    assert raw.count(honest) == 2
    (downloads / "all.zip").write_bytes(raw.replace(honest, (10).to_bytes(4, "little")))
    collect(course, NAME, [downloads / "all.zip"], limits=ReadLimits(file_size=1_000))
    assert "ben" not in collected(course) and unreadable(course, "ben")


def test_damaged_locked_and_linked_entries_cost_nobody_else(course, downloads):
    link = zipfile.ZipInfo(f"lin_7109_1_{FILE}")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    enter_class(course, **{"lin-ada": "7109"})
    damaged = moodle("Ben OBanneker", 82)
    entries = {moodle("Ada Lovelace", 81): notebook(), damaged: notebook(), link: b"../../source"}
    raw = bytearray(zipped({**entries, f"z_7103_1_{FILE}": notebook()}))
    with zipfile.ZipFile(write(downloads, {"all.zip": bytes(raw)}) / "all.zip") as archive:
        at = {name: archive.getinfo(name).header_offset for name in archive.namelist()}
    raw[at[damaged] + 30 + len(damaged) + 9] ^= 1
    directory = raw.rindex(b"PK\x01\x02")
    raw[directory + 8] |= 1  # the flag that says it is locked
    (downloads / "all.zip").write_bytes(bytes(raw))
    collect(course, NAME, [downloads / "all.zip"])
    assert set(collected(course)) == {"ada"}
    assert "cannot be unpacked or read" in unreadable(course, "ben")
    assert "is locked by a password" in unreadable(course, "7103") and "is a link" in unreadable(course, "lin-ada")


def test_a_broken_zip_is_named_and_the_others_are_collected(course, downloads):
    (downloads / "bad.zip").write_bytes(zipped({f"ben_7102_1_{FILE}": notebook()})[:-40])
    (downloads / "good.zip").write_bytes(zipped({f"z_7103_1_{FILE}": notebook()}))
    done = collect(course, NAME, [downloads])
    assert set(collected(course)) == {"7103"} and "download it again" in done.summary.strangers["bad.zip"]


def test_links_and_pipes_in_folders_are_not_followed(course, tmp_path):
    secret = write(tmp_path, {"secret.ipynb": notebook()}) / "secret.ipynb"
    for name in ("ada", "ben"):
        (tmp_path / "a" / name).mkdir(parents=True)
    os.symlink(secret, tmp_path / "a" / "ada" / FILE)
    os.mkfifo(tmp_path / "a" / "ben" / FILE)
    os.symlink(write(tmp_path / "b", {FILE: notebook()}), tmp_path / "a" / "7103")
    collect(course, NAME, [tmp_path / "a"])
    assert collected(course) == {}
    assert "is a link" in unreadable(course, "ada") and "is not a file" in unreadable(course, "ben")


@pytest.mark.parametrize(
    "path",
    [
        moodle("Ada_7102_assignsubmission_file_7101_assignsubmission_file_x", 7101),
        f"ada_7101_90210_x_7102_assignsubmission_file_{FILE}",
        f"Default group_assignsubmission_file_/ben_7102_90210_{FILE}",
        f"guest/ben/{FILE}",
        f"one-head-guest/{moodle('Ben OBanneker', 82)}",
    ],
)
def test_nobody_hands_in_as_somebody_else(course, downloads, path):
    """What lies in a person's folder is that person's, whatever it is called."""
    enter_class(course, ada="7101")
    write(downloads / "a" / "one-head-guest" / ".git", {"HEAD": b"ref: refs/heads/main\n"})
    sound = {f"zoë/ben_7102_90210_{FILE}": notebook(), f"7103/{moodle('Ben OBanneker', 82)}": notebook()}
    write(downloads / "a", {path: notebook(), **sound})
    collect(course, NAME, [downloads / "a"], Ways(worksheet=downloads / "Grades-5.csv"))
    assert set(collected(course)) == {"zoë", "7103"}


def test_hostile_zips_are_refused_with_a_sentence(course, source, tmp_path):
    hostile = [hand_in for hand_in in hostile_ones(source, make_release(source), NAME) if hand_in.archive]
    assert len(hostile) >= 8
    enter_class(course, *(hand_in.student for hand_in in hostile))
    for hand_in in hostile:
        write(tmp_path / "zips", dict(hand_in.archive))
    done = collect(course, NAME, [tmp_path / "zips"])
    in_course = {path.relative_to(course.root) for path in course.root.rglob("*") if path.is_file()}
    assert not [path for path in in_course if "softlookup-was-here" in path.name]
    # A zip is its student's by its name: a sound notebook in it counts, and nothing else does.
    states = {who: arrival.state for who, arrival in arrivals(course, NAME).by_student.items()}
    unread = {name for name, state in states.items() if state == UNREADABLE}
    assert unread == {f"attack-39-zip-{how}" for how in ("link", "broken", "many")}
    assert set(collected(course)) == {name for name, state in states.items() if state == COLLECTED}
    assert done.summary.strangers == {}
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".zip"] == []
