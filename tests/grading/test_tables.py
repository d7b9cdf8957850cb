"""Tables that people hand in: whatever separator and encoding, columns by title or by what is in them."""

from pathlib import Path

import pytest

from softlookup_grader import CourseError
from softlookup_grader.data.tables import Table, are_addresses, are_numbered, as_number, read_table

ROWS = [["id", "Név", "pont"], ["ada", "Lovelace, Ada; countess", "1,5"], ["bo", "a\tb|c", "2"]]
SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def written(rows: list[list[str]], separator: str, end: str = "\n") -> str:
    return "".join(separator.join(f'"{cell}"' for cell in row) + end for row in rows)


@pytest.mark.parametrize("separator", SIGNS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_is_read_and_goes_back_as_it_came(tmp_path: Path, separator: str, encoding: str, end: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(written(ROWS, separator, end).encode(encoding))
    table = read_table(path)
    assert [table.header, *table.rows] == ROWS and table.decimal == ","
    assert f"separated by {SIGNS[separator]}, decimal comma" in table.understood()
    before, after = (raw.decode(table.encoding).replace('"', "") for raw in (path.read_bytes(), table.content()))
    assert after == before
    path.write_bytes(table.content())
    again = read_table(path)
    assert [again.header, *again.rows] == ROWS and again.encoding == table.encoding


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PK\x03\x04xlsx", "is a spreadsheet or an archive: save the table as CSV"),
        (b"\xd0\xcf\x11\xe0xls", "is a spreadsheet or an archive"),
        (b"id\0\0\0name", "is not text"),
        (b"", "it is empty"),
        (b"\n,,\n", "it is empty"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(CourseError, match=says):
        read_table(tmp_path / "t.csv")
    with pytest.raises(CourseError, match="cannot be read"):
        read_table(tmp_path / "no.csv")


def test_the_line_that_names_the_separator_for_a_spreadsheet_is_kept() -> None:
    table = Table("sep=;\r\nid;a,b,c\r\nada;1,2,3\r\n")
    assert table.header == ["id", "a,b,c"] and table.text() == "sep=;\r\nid;a,b,c\r\nada;1,2,3\r\n"


def test_a_column_is_found_in_whatever_spelling() -> None:
    table = Table("Submitted at,E-Mail Address,lms_user_id\n1,2,3\n")
    assert (table.find("submitted_at"), table.find("email address"), table.find("LMS user ID")) == (0, 1, 2)
    with pytest.raises(CourseError, match=r"has no column 'points' \(it has: 'Submitted at', 'E-Mail Address'"):
        table.column("points")


def test_columns_are_known_by_what_is_in_them_where_titles_say_nothing() -> None:
    table = Table("Kennung;Adresse;Gruppe\nADA;ada@example.org;1\nbo;bo@example.org;1\n")
    assert table.take_ids(["id"], {"ada@example.org"}) == [1]
    assert Table("Kennung;Gruppe\nADA;1\nbo;1\n").take_ids(["id"], {"ada", "bo", "1"}) == [0]
    assert Table("Kennung;Gruppe\nzed;1\nyan;1\nada;1\n").take_ids(["id"], {"ada"}) == [], "one of three is no column"
    assert "'Adresse' is the e-mail address; not used: 'Kennung', 'Gruppe'" in table.understood()


def test_two_columns_that_look_alike_are_not_guessed_at() -> None:
    table = Table("a,b\nx@y.org,z@y.org\n")
    with pytest.raises(CourseError, match=r"several columns may hold the address \('a', 'b'\): .* title 'email'"):
        table.take("address", "email", like=are_addresses)


def test_shapes_of_cells() -> None:
    for word in ("Participant ", "Teilnehmer/in", "Participante ", "参加者 ", "Участник "):
        assert are_numbered([f"{word}{n}" for n in (7, 18)]), word
    assert not are_numbered(["Participant 7", "Gast 8"]) and not are_numbered(["7"]) and not are_numbered([])
    assert as_number("1.5") == as_number("1,5") == 1.5 and as_number("inf") is None and as_number("") is None
