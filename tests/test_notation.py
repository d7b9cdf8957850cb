"""The legend: each letter once, the letters the design names, and a table that holds them all."""

import re
from pathlib import Path

import pytest

from softlookup import notation

PACKAGE = Path(notation.__file__).parent


def test_legend_holds_the_letters_of_the_design_once_each():
    letters = [axis.letter for axis in notation.LEGEND]
    assert sorted(letters) == sorted("BTSDNKHFVL")
    assert frozenset(letters) == notation.LETTERS


def test_every_axis_says_what_it_counts_and_what_others_call_it():
    meanings = [axis.meaning for axis in notation.LEGEND]
    assert all(meanings) and len(set(meanings)) == len(meanings)
    assert all(axis.elsewhere for axis in notation.LEGEND)


def test_meaning_finds_each_letter_and_an_unknown_one_lists_them_all():
    for axis in notation.LEGEND:
        assert notation.meaning(axis.letter) == axis.meaning
    with pytest.raises(KeyError, match="no axis 'Q' in the legend; the letters are B T S D N K H F V L"):
        notation.meaning("Q")


def test_markdown_table_has_one_row_for_each_letter_and_no_stray_column():
    header, rule, *rows = notation.legend_markdown().splitlines()
    assert len(rows) == len(notation.LEGEND)
    columns = header.count("|")
    for line, axis in zip(rows, notation.LEGEND, strict=True):
        cells = [cell.replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
        assert cells[1:4] == [f" **{axis.letter}** ", f" {axis.meaning} ", f" {axis.elsewhere} "]
        assert line.count("|") - line.count(r"\|") == rule.count("|") == columns


@pytest.mark.parametrize("package", ["reference", "model", "training"])
def test_shape_suffixes_of_the_library_use_letters_of_the_legend_or_say_what_theirs_mean(package):
    """``q_BNTH`` names its axes; besides M (columns of any matrix) and 1, a file may explain letters of its own."""
    all_suffixes, strangers = set(), {}
    for path in (PACKAGE / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        suffixes = set(re.findall(r"\b[a-z]+(?:_[a-z]+)*_([A-Z][A-Z0-9]*|1)\b", text))
        match = re.search(
            r"^Letters of its own: (.*?)\n(?:\n|\"\"\")", text.split('"""')[1] + '"""', re.DOTALL | re.MULTILINE
        )
        letters = set(re.findall(r"\b[A-Z]\b", match.group(1))) if match else set()
        strange = {suffix for suffix in suffixes if not set(suffix) <= notation.LETTERS | {"M", "1"} | letters}
        all_suffixes |= suffixes
        if strange:
            strangers[path.name] = strange
    assert all_suffixes, f"no shape suffix anywhere in {package}"
    assert not strangers
