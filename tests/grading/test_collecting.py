"""Collecting what learning platforms give: whose a file is, and what is refused."""

import io
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from small_class import NAME, ROOT
from traitlets.config import Config, LoggingConfigurable

from attacks import hostile_ones
from softlookup.authoring import make_release
from softlookup.grading.platforms import collecting
from softlookup.grading.platforms.collecting import ByLmsNumber, CarefulExtractor

FILE = f"{NAME}.ipynb"


class Class:
    """A gradebook with five students; two of them have the same number."""

    students = [
        SimpleNamespace(id="ada", lms_user_id="7101", email=None),
        SimpleNamespace(id="ben", lms_user_id="7102", email="Ben@example.org"),
        SimpleNamespace(id="7103", lms_user_id=None, email=None),
        SimpleNamespace(id="one", lms_user_id="7104", email=None),
        SimpleNamespace(id="two", lms_user_id="7104", email=None),
    ]

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> "Class":
        return self

    def __exit__(self, *_: object) -> None:
        pass


class App(LoggingConfigurable):
    """What a plugin sees of zip_collect."""

    downloaded_directory, extracted_directory = "downloaded", "extracted"
    collect_directory_structure = "{downloaded}/{assignment_id}/{collect_step}"
    coursedir = SimpleNamespace(assignment_id=NAME, root="/course", db_url="", course_id="")


WORKSHEET = (
    '\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade\n'
    "Participant 81,Ada Lovelace,ada,ada@example.org,Submitted,\n"
    "Participant 82,Ben O'Banneker,,ben@example.org,Submitted,\n"
    "Participant 83,Zo\u00eb \u5c0f\u660e,7103,,Submitted,\n"
    "Participant 84,Ada Lovelace,7104,,Submitted,\n"
    "Participant 85,Ada Lovelace,,ben@example.org,Submitted,\n"
    "Participant 86,Guest,,guest@example.org,Submitted,\n"
    "Participant 87,Twice,ada,,Submitted,\n"
    "Participant 87,Twice,7103,,Submitted,\n"
    "Participant 88,Two Ways,ada,ben@example.org,Submitted,\n"
    # One who is called like the word that stands before the numbers of another assignment.
    "Participant 7102,Mallory,7103,,Submitted,\n"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the instructor puts the worksheet."""
    folder = tmp_path / "downloaded" / NAME
    folder.mkdir(parents=True)
    (folder / "Grades-CS1-One head-5.csv").write_text(WORKSHEET, encoding="utf-8")
    return folder


@pytest.fixture
def whose(monkeypatch: pytest.MonkeyPatch, place: Path):
    monkeypatch.setattr(collecting, "Gradebook", Class)
    monkeypatch.setattr(App.coursedir, "root", str(place.parents[1]))
    plugin = ByLmsNumber(parent=App())

    def ask(name: str) -> str | None:
        ids = plugin.collect(f"{place}/extracted/{name}")
        assert ids is None or ids["file_id"] == NAME
        return ids and ids["student_id"]

    return ask


@pytest.mark.parametrize(
    ("name", "student"),
    [
        (f"all/Ada Lovelace_81_assignsubmission_file_/{FILE}", "ada"),
        (f"all/Ada Lovelace_81_assignsubmission_file/{FILE}", "ada"),
        (f"all/Ada Lovelace_81_assignsubmission_file_{FILE}", "ada"),
        (f"all/Ada_LOVELACE_81_assignsubmission_file_/{NAME} (1).ipynb", "ada"),
        # Moodle takes apostrophes away, a disk may take letters apart.
        (f"all/Ben OBanneker_82_assignsubmission_file_/{FILE}", "ben"),
        (f"all/Zoe\u0308  \u5c0f\u660e_83_assignsubmission_file_{FILE}", "7103"),
        # Two people of one name: the number decides.
        (f"all/Ada Lovelace_85_assignsubmission_file_/{FILE}", "ben"),
        # Blind marking.
        (f"all/Participant_82_assignsubmission_file_/{FILE}", "ben"),
        (f"submissions/bannekerben_7102_90210_{FILE}", "ben"),
        (f"submissions/bannekerben_LATE_7102_90210_{NAME}-2.ipynb", "ben"),
        (f"bannekerben_7102_90210_{FILE}", "ben"),
        (f"submissions/chenjingrun_7103_90210_{FILE}", "7103"),
    ],
)
def test_file_is_known_by_the_number_of_either_platform(whose, name: str, student: str):
    assert whose(name) == student


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (f"all/{FILE}", "names no student"),
        (f"all/ada_7109_90210_{FILE}", "lms_user_id 7109"),
        (f"all/one_7104_90210_{FILE}", "no single student with the lms_user_id 7104"),
        # A participant number is no lms_user_id, whoever has that number in another place.
        (f"all/Ada Lovelace_7101_assignsubmission_file_/{FILE}", "participant 7101 is not in the grading worksheet"),
        (f"all/Ben Banneker_7102_assignsubmission_file_/{FILE}", "has 'Mallory' as participant 7102"),
        (f"all/Ada Lovelace_84_assignsubmission_file_/{FILE}", "the class list has no student with the ID number"),
        (f"all/Guest_86_assignsubmission_file_/{FILE}", "the class list has no student with the ID number"),
        (f"all/Twice_87_assignsubmission_file_/{FILE}", "participant 87 stands twice"),
        (f"all/Two Ways_88_assignsubmission_file_/{FILE}", "fits ada and ben"),
        # A group of which the number is a participant's, a group without a number, and what an editor embedded.
        (f"all/Group A_81_assignsubmission_file_/{FILE}", "it may be a group's submission"),
        (f"Default group_assignsubmission_file_/ben_7102_90210_{FILE}", "names no student"),
        (f"Ada Lovelace_81_assignsubmission_onlinetext_/ben_7102_90210_{FILE}", "names no student"),
        (f"all/_81_assignsubmission_file_/{FILE}", "and the archive has ''"),
        ("all/ada_7101_90210_05_many_heads.ipynb", "its name is not"),
        (f"all/ada_7101_90210_not{FILE}", "its name is not"),
        # Somebody tries to hand in as somebody else.
        (f"all/Ada_7102_assignsubmission_file_7101_assignsubmission_file_/{FILE}", "fits 7101 and 7102"),
        (f"all/Ada_7101_assignsubmission_file_x_7102_assignsubmission_file_{FILE}", "fits 7101 and 7102"),
        (f"all/ada_7101_90210_x_7102_assignsubmission_file_{FILE}", "fits 7101 and 7102"),
        (f"Ada_7101_assignsubmission_file_/ben_7102_90210_{FILE}", "fits 7101 and 7102"),
        (f"all/Ada_7101_assignsubmission_file_/x/Ben_7102_assignsubmission_file_/{FILE}", "fits 7101 and 7102"),
    ],
)
def test_doubtful_file_is_nobodys(whose, logged: io.StringIO, name: str, why: str):
    assert whose(name) is None
    assert why in logged.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_worksheet_in_another_language_is_understood(whose, place: Path, encoding: str):
    rows = WORKSHEET.removeprefix("\ufeff").replace('"', "").replace("Participant ", "Teilnehmer/in").splitlines()
    header = "ID;Vollst\u00e4ndiger Name;ID-Nummer;E-Mail-Adresse;Status;Bewertung"
    text = "\n".join([header, *(row.replace(",", ";") for row in rows[1:] if row.isascii() and "Tw" not in row)])
    (place / "Grades-CS1-One head-5.csv").write_bytes(text.encode(encoding))
    assert whose(f"all/Ada Lovelace_81_assignsubmission_file_/{FILE}") == "ada"
    assert whose(f"all/Teilnehmerin_82_assignsubmission_file_/{FILE}") == "ben"
    assert whose(f"all/Guest_86_assignsubmission_file_/{FILE}") is None


def test_students_file_name_does_not_name_another_student(whose):
    assert whose(f"all/Ada Lovelace_81_assignsubmission_file_/ben_7102_90210_{FILE}") == "ada"
    assert whose(f"all/ben_7102_90210_ada_7101_1_{FILE}") == "ben"


def test_second_notebook_of_a_student_is_left_out_and_stops_nobody(whose, logged: io.StringIO):
    assert whose(f"all/ada_7101_1_{FILE}") == "ada"
    assert whose(f"all/ada_7101_2_{NAME}-1.ipynb") is None
    assert "ada handed in another one" in logged.getvalue()
    assert whose(f"all/ben_7102_3_{FILE}") == "ben"


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ((), "put the assignment's grading worksheet into"),
        (("a.csv", "b.csv"), r"several CSV files \(a.csv, b.csv\)"),
        (("class.csv",), "not a grading worksheet that Moodle gives"),
    ],
)
def test_without_one_worksheet_moodles_files_are_nobodys_and_canvass_are_known(
    whose, place: Path, logged: io.StringIO, files: tuple[str, ...], why: str
):
    for path in place.glob("*.csv"):
        path.unlink()
    for name in files:
        (place / name).write_text("id,email\nada,ada@example.org\n")
    assert whose(f"all/Ada Lovelace_81_assignsubmission_file_/{FILE}") is None
    assert re.search(why, logged.getvalue())
    assert whose(f"submissions/bannekerben_7102_90210_{FILE}") == "ben"


def extract(archives: Path, target: Path, **limits: int) -> list[str]:
    """Unpack, and list what came out."""
    CarefulExtractor(parent=App(), config=Config(CarefulExtractor=limits)).extract(str(archives), str(target))
    return sorted(str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir())


def test_notebooks_are_unpacked_and_nothing_else(tmp_path: Path, logged: io.StringIO):
    archives = tmp_path / "archive"
    archives.mkdir()
    (archives / f"ada_7101_1_{FILE}").write_text("{}")
    (archives / "notes.txt").write_text("x")
    (archives / "link.ipynb").symlink_to("notes.txt")
    with zipfile.ZipFile(archives / "all.zip", "w") as archive:
        archive.writestr(f"Ben_7102_assignsubmission_file_/{FILE}", "{}")
        archive.writestr("Ben_7102_assignsubmission_file_/own.zip", b"PK")
    paths = extract(archives, tmp_path / "out")
    assert paths == [f"ada_7101_1_{FILE}", f"all/Ben_7102_assignsubmission_file_/{FILE}"]
    assert "own.zip' is not a notebook" in logged.getvalue() and "link.ipynb is not a file" in logged.getvalue()
    assert "notes.txt is neither a zip nor a notebook" in logged.getvalue()


def test_too_much_is_not_unpacked(tmp_path: Path, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch):
    archives = tmp_path / "archive"
    archives.mkdir()
    with zipfile.ZipFile(archives / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4):
            archive.writestr(f"{number}.ipynb", "0" * 1000 * (number + 1))
    monkeypatch.setattr(collecting, "MAX_BYTES", 2500)
    assert extract(archives, tmp_path / "a", most_bytes=2000) == ["all/0.ipynb"]
    assert extract(archives, tmp_path / "b", most_entries=1) == ["all/0.ipynb"]
    assert extract(archives, tmp_path / "c") == ["all/0.ipynb", "all/1.ipynb"]
    assert "would make it more than 2,000 bytes" in logged.getvalue()
    assert "has 4 entries, more than 1" in logged.getvalue()
    assert "'2.ipynb' has more than 2,500 bytes" in logged.getvalue()


def test_one_entry_in_anothers_way_costs_nobody_else(tmp_path: Path, logged: io.StringIO):
    archives = tmp_path / "archive"
    archives.mkdir()
    with zipfile.ZipFile(archives / "all.zip", "w") as archive:
        archive.writestr(f"Ada_81_assignsubmission_file_/{FILE}", "{}")
        archive.writestr(f"Ada_81_assignsubmission_file_/{FILE}/{FILE}", "{}")
        archive.writestr(f"Zo\u00eb_83_assignsubmission_file_/{FILE}", "{}")
        archive.writestr(f"Zoe\u0308_83_assignsubmission_file_/{FILE}", "[]")
        archive.writestr(f"Ben_82_assignsubmission_file_/{FILE}", "{}")
        damaged = archive.getinfo(f"Ben_82_assignsubmission_file_/{FILE}")
        archive.writestr(f"Cy_84_assignsubmission_file_/{FILE}", "{}")
    raw = bytearray((archives / "all.zip").read_bytes())
    raw[damaged.header_offset + 30 + len(damaged.filename)] ^= 1
    (archives / "all.zip").write_bytes(raw)
    assert extract(archives, tmp_path / "out") == [
        f"all/{who}_assignsubmission_file_/{FILE}" for who in ("Ada_81", "Cy_84", "Zo\u00eb_83")
    ]
    assert "cannot be unpacked (Bad CRC-32" in logged.getvalue() and "is there twice" in logged.getvalue()


def test_hostile_zips_are_refused_with_a_sentence(source: nbformat.NotebookNode, tmp_path: Path, logged: io.StringIO):
    ones = [hand_in for hand_in in hostile_ones(source, make_release(source), NAME) if hand_in.archive]
    assert len(ones) >= 8
    for hand_in in ones:
        archives, target = tmp_path / hand_in.student / "archive", tmp_path / hand_in.student / "out"
        archives.mkdir(parents=True)
        for name, content in hand_in.archive.items():
            (archives / name).write_bytes(content)
        logged.seek(0)
        logged.truncate()
        paths = extract(archives, target)
        assert set(paths) <= {f"{hand_in.student}/{FILE}"}
        assert "refused" in logged.getvalue(), hand_in.student
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in (FILE, *_names(ones))]
    assert outside == []


def _names(ones: list) -> set[str]:
    return {name for hand_in in ones for name in hand_in.archive}


def test_config_can_name_the_plugins():
    from traitlets.utils.importstring import import_item

    guide = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    for plugin in (CarefulExtractor, ByLmsNumber):
        name = f"softlookup.grading.platforms.collecting.{plugin.__name__}"
        assert f'"{name}"' in guide and import_item(name) is plugin
