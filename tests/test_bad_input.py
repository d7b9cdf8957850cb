"""Bad input to the commands: one clear sentence each, no traceback, exit status 2."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from softlookup_command.commands import main


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["check", "none.ipynb"], "there is no file none.ipynb"),
        (["check", "empty.ipynb"], "empty.ipynb is empty."),
        (["check", "broken.ipynb"], "broken.ipynb is not a notebook: it is not JSON, or its JSON breaks off (line 1"),
        (["check", "list.ipynb"], "list.ipynb is JSON, but not a notebook: it has no cells."),
        (["check", "folder"], "folder is not a file."),
        (["grade", "04_one_head", "--course", "nowhere"], "there is no folder nowhere"),
        (["grade", "04_one_head", "--course", "folder"], "folder is not a course's folder"),
        (["sample", "folder"], "folder is not empty and not a sample course"),
        (["sample", "empty.ipynb"], "empty.ipynb is a file"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.ipynb").write_text("")
    Path("broken.ipynb").write_text('{"cells": [')
    Path("list.ipynb").write_text("[]")
    Path("folder").mkdir()
    Path("folder", "mine.txt").write_text("mine")
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit)
    assert result.stdout == "" and len(result.stderr.strip().splitlines()) == 1
    assert result.stderr.startswith("softlookup: ") and says in result.stderr
    assert result.stderr.rstrip().endswith((".", "?"))


@pytest.mark.parametrize("words", [["grade"], ["bench", "nothing"], ["grade", "x", "--workers", "0"], ["explain"]])
def test_wrong_use_is_told_without_a_traceback(words: list[str]) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2 and "Traceback" not in result.output and "Usage:" in result.stderr
