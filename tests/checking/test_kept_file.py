"""What commands keep beside a notebook: what is read of the file, and what of a damaged or hostile one is not."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from softlookup_judge.helping.kept import FORMAT, KEPT_FILE, HelpOnTask, Judged, Kept, TaskKept, kept_lines, read_kept

JUDGED = Judged("partial", 1.0, 2.0, ("no-sqrt",), "0123456789abcdef", datetime(2026, 3, 1, 12, tzinfo=UTC))
WHOLE = {
    "04.mix": TaskKept(help=HelpOnTask(2, "abc")),
    "04.scale": TaskKept(JUDGED, HelpOnTask(1, "abc"), {"k1": True, "k2": False}),
}


def write(folder: Path, content: object) -> None:
    (folder / KEPT_FILE).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def with_line(**line: object) -> dict[str, object]:
    return {"format": FORMAT, "tasks": {"04.scale": line}}


def test_what_is_written_is_read(tmp_path):
    write(tmp_path, kept_lines(WHOLE))
    assert read_kept(tmp_path) == Kept(WHOLE)


def test_where_there_is_no_file_nothing_is_known(tmp_path):
    assert read_kept(tmp_path) == Kept({})


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 200_000, '{"tasks": {}}', " " * 1_000_001])
def test_a_damaged_file_says_nothing_and_is_told_apart(tmp_path, text):
    write(tmp_path, text)
    assert read_kept(tmp_path) == Kept({}, damaged=True)


def test_a_file_that_is_no_text_or_no_file_is_damaged(tmp_path):
    (tmp_path / KEPT_FILE).write_bytes(b"\xff\xfe{")
    assert read_kept(tmp_path).damaged
    (tmp_path / KEPT_FILE).unlink()
    (tmp_path / KEPT_FILE).mkdir()
    assert read_kept(tmp_path) == Kept({}, damaged=True)


GOOD = json.loads(kept_lines({"04.scale": TaskKept(JUDGED)}))["tasks"]["04.scale"]["judged"]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"verdict": verdict} for verdict in ("blank", "stopped", "right", None, ["pass"])),
        *({"points": points} for points in (float("nan"), float("inf"), -1, True, "2", None)),
        *({"when": when} for when in ("", "yesterday", None, 3, "9999-99-99")),
        {"answer": None},
    ],
    ids=str,
)
def test_a_verdict_that_no_command_writes_is_left_out(tmp_path, wrong):
    write(tmp_path, with_line(judged=GOOD))
    assert read_kept(tmp_path).tasks["04.scale"].judged == Judged(
        *("partial", 1.0, 2.0, ("no-sqrt",), "0123456789abcdef", datetime(2026, 3, 1, 12, tzinfo=UTC))
    )
    write(tmp_path, with_line(judged={**GOOD, **wrong}))
    assert read_kept(tmp_path) == Kept({})


def test_help_and_questions_of_a_wrong_kind_are_left_out(tmp_path):
    for help_line in (3, {"steps": 9, "answer": ""}, {"steps": True, "answer": ""}, {"steps": 1}):
        write(tmp_path, with_line(help=help_line, questions={"a": 1, "b": True}))
        assert read_kept(tmp_path).tasks == {"04.scale": TaskKept(questions={"b": True})}
