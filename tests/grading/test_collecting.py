"""Collecting what platforms and people give: whose a file is, which one counts, and the table at the end."""

import os
import shutil
import tracemalloc
import unicodedata
from pathlib import Path

import nbformat
import pytest
from arriving import (
    FILE,
    collected,
    enter_class,
    moodle,
    notebook,
    unreadable,
    without_flag,
    without_marks,
    write,
    zipped,
)
from click.testing import CliRunner
from nbgrader.api import Student
from paper_class import hand_in, in_class
from small_class import NAME

from softlookup_command.commands import main
from softlookup_grader import Course, CourseError
from softlookup_grader.course import collected as record
from softlookup_grader.course.arrived import COLLECTED, NOTHING, UNREADABLE, arrivals
from softlookup_grader.course.collected import summary
from softlookup_grader.course.groups import Sharing, set_table
from softlookup_grader.course.inbox import handed_in_at
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.feedback_zips import _moodle_name
from softlookup_grader.platforms.sources import Ways
from softlookup_judge.authoring import read_solution
from softlookup_judge.authoring.build import find_root

OTHER = "05_many_heads"


@pytest.fixture
def course(paper):
    enter_class(paper, "ada", "zoë", "7103", "lin-ada", ben="7102")
    return paper


@pytest.mark.parametrize("encoding", ["flag", "utf-8", "cp437", "decomposed"])
def test_zip_names_are_read_in_every_encoding(course, downloads, encoding):
    name = "Zoë Müller"
    (downloads / "Grades-5.csv").write_text(f"Identifier,Full name,ID number\nParticipant 9,{name},zoë\n")
    spelt = unicodedata.normalize("NFD" if encoding == "decomposed" else "NFC", name)
    entries = {moodle(spelt, 9): notebook()}
    raw = without_flag(entries, encoding) if encoding in ("utf-8", "cp437") else zipped(entries)
    (downloads / "all.zip").write_bytes(raw)
    done = collect(course, NAME, [downloads / "all.zip"])
    assert collected(course) == {"zoë": notebook()} and done.summary.strangers == {}
    assert arrivals(course, NAME).by_student["zoë"].source == moodle(name, 9)


@pytest.mark.parametrize(
    "name",
    [f"{NAME}.IPYNB", f"{NAME}.ipynb.txt", f"{NAME}-Copy1.ipynb", f"{NAME} (1).ipynb"]
    + ["abgabe_final_v2.ipynb", "00107.ipynb", "Untitled.json", f"work/deep/{FILE}"],
)
def test_the_one_notebook_is_taken_whatever_it_is_called(course, tmp_path, name):
    beside = {"ada/notes.txt": b"hello", f"ada/.ipynb_checkpoints/{NAME}-checkpoint.ipynb": notebook("return 2.0")}
    write(tmp_path / "a", {f"ada/{name}": notebook(), "ada/05.ipynb": notebook(name=OTHER), **beside})
    collect(course, NAME, [tmp_path / "a"])
    assert collected(course) == {"ada": notebook()}


def test_a_notebook_is_known_without_the_marks_that_an_editor_lost(course, tmp_path):
    files = {"ada/x.ipynb": without_marks(notebook()), "ben/x.ipynb": without_marks(notebook(name=OTHER))}
    collect(course, NAME, [write(tmp_path / "a", files)])
    assert set(collected(course)) == {"ada"} and "no answer cell of this assignment" in unreadable(course, "ben")


def test_of_two_notebooks_the_answered_one_counts_and_of_different_ones_none(course, tmp_path):
    scratch = nbformat.reads(notebook().decode(), as_version=4)
    scratch.cells.append(nbformat.v4.new_code_cell("print('a cell that no answer needs')"))
    ada = {"ada/a.ipynb": notebook(""), "ada/b.ipynb": notebook()}
    ben = {"ben/a.ipynb": notebook(), "ben/b.ipynb": nbformat.writes(scratch).encode()}
    equal = {"7103/a.ipynb": notebook(""), "7103/b.ipynb": notebook("")}
    different = {"zoë/a.ipynb": notebook(), "zoë/b.ipynb": notebook("return 2.0")}
    collect(course, NAME, [write(tmp_path / "a", {**ada, **ben, **equal, **different})])
    assert collected(course) == {"ada": notebook(), "ben": notebook(), "7103": notebook("")}
    assert "zoë/a.ipynb and zoë/b.ipynb are different notebooks" in unreadable(course, "zoë")
    assert f"submitted/zoë/{NAME}/{FILE}" in unreadable(course, "zoë")


def test_a_damaged_notebook_beside_a_readable_one_is_named(course, tmp_path):
    files = {"draft.ipynb": notebook(), "final.ipynb": notebook("return 2.0")[:-40], "05.ipynb": notebook(name=OTHER)}
    write(tmp_path / "a", {f"ada/{name}": raw for name, raw in files.items()})
    done = collect(course, NAME, [write(tmp_path / "a", {"ben/work.zip": zipped(files)})])
    assert collected(course) == {"ada": notebook(), "ben": notebook()}
    for student, note in zip(("ada", "ben"), done.notes, strict=True):
        assert note.startswith(f"not every notebook of {student} could be read, and draft.ipynb was chosen: ")
        assert "final.ipynb is not a notebook" in note and "its JSON breaks off" in note and "05.ipynb" not in note


@pytest.mark.parametrize("packed", [False, True])
def test_of_more_files_than_are_read_none_is_taken(course, tmp_path, packed):
    files = {"a.ipynb": notebook(""), "z.ipynb": notebook("return 2.0")} | {f"{n}.ipynb": b"{}" for n in range(100)}
    write(tmp_path / "a" / "ada", {"work.zip": zipped(files)} if packed else files)
    write(tmp_path / "a" / "ben", {FILE: notebook()} | {f"{n}.txt": b"x" for n in range(150)})
    done = collect(course, NAME, [tmp_path / "a"])
    assert set(collected(course)) == {"ben"} and done.notes == []
    assert "was not read, since there are more than 100 files" in unreadable(course, "ada")


def test_a_text_typed_into_moodle_is_its_students(course, downloads):
    (downloads / "Grades-5.csv").write_text(
        "Identifier,Full name,ID number\nParticipant 102,Ben Banneker,ben\nParticipant 81,Ada Lovelace,ada\n"
    )
    page = b"<!DOCTYPE html><html><body>See my file.</body></html>"
    people = ("Ben Banneker_102", "Ada Lovelace_81")
    typed = {f"{name}_assignsubmission_onlinetext_/onlinetext.html": page for name in people}
    (downloads / "all.zip").write_bytes(zipped(typed | {moodle("Ada Lovelace", 81): notebook()}))
    done = collect(course, NAME, [downloads / "all.zip"])
    assert done.summary.strangers == {} and collected(course) == {"ada": notebook()}
    assert unreadable(course, "ben") == "onlinetext.html is a web page (HTML), not a notebook"
    sources = {student: about.source for student, about in arrivals(course, NAME).by_student.items()}
    assert sources["ada"] == moodle("Ada Lovelace", 81)
    folder = sources["ben"].partition("/")[0]
    assert _moodle_name(folder, NAME) == f"Ben Banneker_102_assignsubmission_file_/{NAME}.html"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a.html": b"<!DOCTYPE html><p>"}, "a.html is a web page (HTML), not a notebook"),
        ({FILE: b"\n<html>"}, f"{FILE} is a web page (HTML), not a notebook"),
        ({"a.py": b"def scale(): pass"}, "a.py is not a notebook"),
        ({"a.pdf": b"%PDF-1.7"}, "a.pdf is a PDF file, not a notebook"),
        ({FILE: b""}, f"{FILE} is empty"),
        ({FILE: b"{"}, f"{FILE} is not a notebook: it is not JSON"),
        ({"a.rar": b"Rar!\x1a"}, "a.rar is an archive that is not opened"),
        ({FILE: b"version https://git-lfs.github.com/spec/v1"}, "is a pointer of Git LFS"),
        ({"05.ipynb": notebook(name=OTHER)}, "05.ipynb is the notebook of"),
        ({"a.zip": zipped({"a.txt": b"x"})}, "a.zip is a zip without a notebook"),
        ({"a.zip": zipped({FILE: notebook()})[:-40]}, "a.zip is a broken zip"),
        ({"a.zip": zipped({"x/b.ipynb": zipped({FILE: notebook()})})}, "b.ipynb is a zip inside of a zip"),
        ({"a.zip": zipped({"a.ipynb": notebook(), "b.ipynb": notebook("return 2.0")})}, "are different notebooks"),
    ],
)
def test_who_handed_in_no_notebook_of_the_assignment_is_unreadable(course, tmp_path, files, says):
    write(tmp_path / "a" / "ada", files)
    write(tmp_path / "a" / "ben", {FILE: notebook()})
    done = collect(course, NAME, [tmp_path / "a"])
    assert says in unreadable(course, "ada") and set(collected(course)) == {"ben"}
    assert done.summary.by_student["ada"].state == UNREADABLE


def test_a_zip_that_a_student_handed_in_gives_its_only_notebook(course, downloads):
    inner = zipped({f"__MACOSX/._{FILE}": b"\0", f"mine/{FILE}": notebook(), "mine/05.ipynb": notebook(name=OTHER)})
    (downloads / "all.zip").write_bytes(zipped({moodle("Ada Lovelace", 81, "work.zip"): inner}))
    write(tmp := downloads / "more", {"ben_7102_90210_work.zip": zipped({"a.ipynb": notebook("return 2.0")})})
    collect(course, NAME, [downloads / "all.zip", tmp])
    assert collected(course) == {"ada": notebook(), "ben": notebook("return 2.0")}
    sources = {student: about.source for student, about in arrivals(course, NAME).by_student.items()}
    assert sources["ada"] == f"{moodle('Ada Lovelace', 81, 'work.zip')}/mine/{FILE}"
    assert sources["ben"].startswith("ben_7102_90210_work.zip/")


def test_worksheets_of_two_courses_explain_a_zip_each(course, downloads):
    other = {"b.csv": b"Identifier;Full name;ID number\nParticipant 181;Ben Banneker;ben\n"}
    zips = {"a.zip": moodle("Ada Lovelace", 81), "b.zip": moodle("Ben Banneker", 181)}
    write(downloads, other | {name: zipped({entry: notebook()}) for name, entry in zips.items()})
    collect(course, NAME, [downloads])
    assert set(collected(course)) == {"ada", "ben"}


def test_a_folder_holds_zips_or_what_was_in_them_or_peoples_folders(course, downloads):
    write(
        downloads,
        {
            "canvas.zip": zipped({f"submissions/ben_LATE_7102_90210_{FILE}": notebook()}),
            f"unpacked/{moodle('Ada Lovelace', 81)}": notebook("return 2.0"),
            f"lin-ada@example.org/{FILE}": notebook("return 3.0"),
            "7103.ipynb": notebook("return 4.0"),
            "class.csv": b"id,email\nada,a@example.org\n",
            unicodedata.normalize("NFD", "Übung.zip"): zipped(
                {unicodedata.normalize("NFD", f"ZOË/{FILE}"): notebook("return 5.0")}
            ),
        },
    )
    done = collect(course, NAME, [downloads])
    everybody = enumerate(("ben", "ada", "lin-ada", "7103", "zoë"), 1)
    assert collected(course) == {student: notebook(f"return {n}.0") for n, student in everybody}
    assert done.summary.strangers == {}


def test_a_repacked_zip_may_have_one_folder_around_all(course, tmp_path):
    (tmp_path / "a.zip").write_bytes(zipped({f"CS1 One head/{name}/{FILE}": notebook() for name in ("ada", "ben")}))
    (tmp_path / "b.zip").write_bytes(zipped({f"guest/{FILE}": notebook()}))
    done = collect(course, NAME, [tmp_path / "a.zip", tmp_path / "b.zip"])
    assert set(collected(course)) == {"ada", "ben"} and list(done.summary.strangers) == ["guest"]


def test_worksheet_is_found_beside_the_zip_or_among_what_is_given(course, downloads):
    (downloads / "all.zip").write_bytes(zipped({moodle("Ada Lovelace", 81): notebook()}))
    sheet = downloads / "Grades-5.csv"
    elsewhere = shutil.move(sheet, downloads.parent / "sheet.csv")
    with_none = collect(course, NAME, [downloads / "all.zip"])
    assert "with --worksheet" in with_none.summary.strangers["Ada Lovelace_81_assignsubmission_file_"]
    assert collect(course, NAME, [downloads / "all.zip", Path(elsewhere)]).summary.strangers == {}
    assert set(collected(course)) == {"ada"}
    shutil.rmtree(course.submitted)
    done = collect(course, NAME, [downloads / "all.zip"], Ways(worksheet=Path(elsewhere)))
    assert set(collected(course)) == {"ada"} and "'Identifier' is the identifier" in done.understood[0]
    with pytest.raises(CourseError, match=r"class.csv: the file is not a grading worksheet"):
        collect(course, NAME, [], Ways(worksheet=write(downloads, {"class.csv": b"id,email\na,b\n"}) / "class.csv"))


def test_what_was_there_is_kept_unless_asked(course, tmp_path):
    hand_in(course, "ben", {"04-mix": "def mix(w, v):\n    return w @ v"})
    before = course.notebook("submitted", "ben", NAME).read_bytes()
    done = collect(course, NAME, [write(tmp_path / "a", {f"ben/{FILE}": notebook(), f"ada/{FILE}": notebook()})])
    assert done.notes == ["ben has another notebook already, which was kept: --force replaces it"]
    assert collected(course) == {"ben": before, "ada": notebook()}
    assert collect(course, NAME, [tmp_path / "a"], Ways(force=True)).notes == []
    assert collect(course, NAME, [tmp_path / "a"]).notes == [], "the same content is no clash"
    assert collected(course)["ben"] == notebook()


def test_an_unreadable_file_does_not_take_an_earlier_notebook_away(course, tmp_path):
    write(tmp_path / "a", {f"ada/{FILE}": notebook()})
    write(tmp_path / "b", {"ada/a.html": b"<html>", f"ben/{FILE}": notebook()})
    collect(course, NAME, [tmp_path / "a"])
    done = collect(course, NAME, [tmp_path / "b"], Ways(force=True))
    assert set(collected(course)) == {"ada", "ben"} and "a.html is a web page" in done.notes[0]
    assert {about.state for about in arrivals(course, NAME).by_student.values()} == {COLLECTED}


def test_later_collects_add_to_the_record_and_mend_it(course, downloads):
    collect(course, NAME, [write(downloads / "one", {"ada/a.html": b"<html>", f"guest/{FILE}": notebook()})])
    done = collect(course, NAME, [write(downloads / "two", {f"ada/{FILE}": notebook()})])
    assert done.summary.by_student["ada"].state == COLLECTED and set(done.summary.strangers) == {"guest"}
    in_class(course, "guest")
    assert collect(course, NAME, [downloads / "one"], Ways(force=True)).summary.strangers == {}
    assert set(collected(course)) == {"ada", "guest"}


def test_the_table_at_the_end_names_everybody_who_is_not_in(course, downloads, run):
    entries = {
        moodle("Ada Lovelace", 81): notebook(),
        moodle("Ben OBanneker", 82, "a.html"): b"<html>",
        moodle("Group A", 84): notebook(),
        "../../gradebook.db": b"not yours",
    }
    (downloads / "all.zip").write_bytes(zipped(entries))
    hand_in(course, "zoë", {})
    done = run("collect", NAME, downloads / "all.zip")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[1:] == [
        "5 in class: 2 collected, 1 unreadable, 2 nothing",
        "ben: unreadable, a.html is a web page (HTML), not a notebook",
        "7103: nothing",
        "lin-ada: nothing",
        "nobody's: ../../gradebook.db: is a path that leads outside, and was refused",
        "nobody's: Group A_84_assignsubmission_file_: the grading worksheet has 'Ada Lovelace' as participant 84, and "
        "the archive has 'Group A': it may be a group's submission or the worksheet of another assignment; hand it in "
        "by hand",
    ]
    assert list(summary(course, NAME).lines()) == done.output.splitlines()[1:]


def test_members_of_a_group_that_is_in_are_in(course):
    hand_in(course, "ada", {})
    set_table(course, NAME, [("ada", "ben"), ("7103", "zoë")])
    standing = summary(course, NAME).by_student
    assert (standing["ben"].state, standing["ben"].why) == (COLLECTED, "with ada")
    assert standing["ada"].why == "" and standing["7103"].state == standing["zoë"].state == NOTHING


def test_what_is_given_has_to_be_of_a_kind_that_is_collected(course, tmp_path, run):
    (tmp_path / "empty").mkdir()
    table = write(tmp_path, {"class.csv": b"id,email\nada,a@example.org\n"}) / "class.csv"
    with pytest.raises(CourseError, match="class.csv is none of the files that can be collected.*'id', 'email'"):
        collect(course, NAME, [table])
    with pytest.raises(CourseError, match="empty is empty"):
        collect(course, NAME, [tmp_path / "empty"])
    with pytest.raises(CourseError, match="softlookup release 05_many_heads"):
        collect(course, OTHER, [tmp_path])
    done = run("collect", NAME)
    assert done.exit_code == 2 and "say what to collect" in done.output


def test_nothing_is_written_through_a_link_in_submitted(course, tmp_path):
    for name in ("ada", "ben", "zoë"):
        write(tmp_path / "a", {f"{name}/{FILE}": notebook()})
    (tmp_path / "elsewhere").mkdir()
    course.submitted.mkdir()
    (course.submitted / "ada").symlink_to(tmp_path / "elsewhere")
    course.notebook("submitted", "ben", NAME).mkdir(parents=True)
    collect(course, NAME, [tmp_path / "a"], Ways(force=True))
    assert list((tmp_path / "elsewhere").iterdir()) == [] and set(collected(course)) == {"zoë"}
    states = arrivals(course, NAME).by_student
    assert "is a link or a file" in states["ada"].why and "is a folder" in states["ben"].why


def test_notebooks_of_another_assignment_are_named_where_both_are_released(course, tmp_path):
    course.release({OTHER: read_solution(find_root() / "solutions" / f"{OTHER}.py")})
    collect(course, NAME, [write(tmp_path / "a", {"ada/x.ipynb": notebook(name=OTHER, cell="05-split")})])
    assert unreadable(course, "ada") == f"x.ipynb is the notebook of {OTHER}"


@pytest.mark.slow
def test_a_large_class_is_collected_one_notebook_at_a_time(course, downloads, monkeypatch):
    students = [f"s{n:03d}" for n in range(40)]
    with course.gradebook() as book:
        book.db.add_all([Student(id=name) for name in students])
        book.db.commit()
    rows = "".join(f"Participant {1000 + n},Student {n},{name}\n" for n, name in enumerate(students))
    (downloads / "Grades-5.csv").write_text("Identifier,Full name,ID number\n" + rows)
    entries = {moodle(f"Student {n}", 1000 + n): notebook(f"return {n}.5 #" + "x" * 1_000_000) for n in range(40)}
    (downloads / "all.zip").write_bytes(zipped(entries))
    size = sum(map(len, entries.values()))
    del entries
    monkeypatch.setattr(record, "sharing", lambda *_: Sharing())
    tracemalloc.start()
    done = collect(course, NAME, [downloads / "all.zip"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.summary.count(COLLECTED) == 40 and peak < size / 4
    assert course.notebook("submitted", "s007", NAME).read_bytes().count(b"return 7.5 #") == 1


def test_a_replaced_notebook_keeps_no_time_of_the_earlier_one(course, tmp_path):
    for answer in ("return 1.0", "return 2.0"):
        done = collect(course, NAME, [write(tmp_path / "in", {f"ada/{FILE}": notebook(answer)})], Ways(force=True))
        stamp = course.folder("submitted", "ada", NAME) / "timestamp.txt"
        if answer == "return 1.0":
            stamp.write_text("2026-12-01 10:00:00 UTC")
            assert not done.notes
    assert not stamp.exists() and "the time of the earlier one was removed" in done.notes[0]


def test_without_a_class_list_nothing_is_collected(paper):
    with pytest.raises(CourseError, match="class list is empty.*softlookup students"):
        collect(paper, NAME, [])


EXCHANGE = Ways(exchange=True)


@pytest.fixture
def exchanging(paper):
    exchange = paper.root.parent / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    with open(paper.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f'\nc.Exchange.root = "{exchange}"\nc.ExchangeCollect.check_owner = False\n')
    enter_class(paper, "ada", "ben", "7103")
    (exchange / "softlookup" / "inbound").mkdir(parents=True)
    return Course.at(paper.root)


def submit(course: Course, student: str, files: dict[str, bytes], hour: int = 17) -> Path:
    when = f"2026-12-01 {hour}:00:00 UTC"
    folder = course.root.parent / "exchange" / "softlookup" / "inbound" / f"{student}+{NAME}+{when}+abc"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "timestamp.txt").write_text(when)
    return folder


def test_the_exchange_is_collected_with_times_and_recorded(exchanging):
    submit(exchanging, "ada", {FILE: notebook(), f"{NAME}-Copy1.ipynb": notebook("return 2.0")})
    submit(exchanging, "ben", {"mine.ipynb": notebook("return 3.0")})
    submit(exchanging, "7103", {"a.html": b"<html>"})
    done = CliRunner().invoke(main, ["collect", NAME, "--exchange", "--course", str(exchanging.root)])
    assert done.exit_code == 0 and done.output.splitlines() == [
        "3 in class: 2 collected, 1 unreadable, 0 nothing",
        "7103: unreadable, a.html is a web page (HTML), not a notebook",
    ]
    assert collected(exchanging) == {"ada": notebook(), "ben": notebook("return 3.0")}
    assert str(handed_in_at(exchanging, NAME, "ada")[0]) == "2026-12-01 17:00:00"
    about = arrivals(exchanging, NAME).by_student
    assert about["ada"].source == f"exchange/ada+{NAME}+2026-12-01 17:00:00 UTC+abc/{FILE}"
    assert about["7103"].state == UNREADABLE


def test_a_newer_submission_counts_only_if_asked(exchanging):
    submit(exchanging, "ada", {FILE: notebook()})
    collect(exchanging, NAME, [], EXCHANGE)
    submit(exchanging, "ada", {FILE: notebook("return 2.0")}, hour=18)
    done = collect(exchanging, NAME, [], EXCHANGE)
    assert collected(exchanging) == {"ada": notebook()} and "--force takes newer ones" in done.notes[0]
    collect(exchanging, NAME, [], Ways(exchange=True, force=True))
    assert collected(exchanging) == {"ada": notebook("return 2.0")}


def test_links_in_the_exchange_are_not_followed(exchanging):
    folder = submit(exchanging, "ada", {})
    os.symlink(exchanging.notebook("source", ".", NAME), folder / FILE)
    done = collect(exchanging, NAME, [], EXCHANGE)
    assert collected(exchanging) == {} and f"the link {FILE} in ada+" in done.notes[0]


def test_what_nbgrader_warns_of_is_said(exchanging):
    with open(exchanging.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("c.ExchangeCollect.check_owner = True\nc.CollectNoLinks.check_owner = True\n")
    submit(exchanging, "ada", {FILE: notebook()})
    (note,) = collect(Course.at(exchanging.root), NAME, [], EXCHANGE).notes
    assert "claims to be submitted by ada but is owned by" in note


def test_an_exchange_that_is_not_there_is_one_sentence(exchanging):
    shutil.rmtree(exchanging.root.parent / "exchange" / "softlookup")
    with pytest.raises(CourseError, match="could not collect from the exchange.*Course not found.*logs/collect.log"):
        collect(exchanging, NAME, [], EXCHANGE)
    assert collected(exchanging) == {}
