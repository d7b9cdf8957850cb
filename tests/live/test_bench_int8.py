"""The benchmark of int8 weights: its record's shape, and what the kept one says."""

import json
from pathlib import Path

import pytest

from benchmarks.harness import measured
from benchmarks.int8 import bench_int8

KEPT = Path(__file__).parents[2] / "book" / "measured" / "int8.json"
PAIRS = [
    ("A dog sleeps.", "Un chien dort."),
    ("Two cats play.", "Deux chats jouent."),
    ("A man reads a book.", "Un homme lit un livre."),
]


def test_quick_run_gives_the_kept_records_fields(tmp_path):
    for side, language in enumerate(("en", "fr")):
        (tmp_path / f"val.{language}").write_text("\n".join(pair[side] for pair in PAIRS) + "\n", encoding="utf-8")
    lines = []
    record = bench_int8(quick=True, folder=tmp_path, say=lines.append)
    committed = json.loads(KEPT.read_text(encoding="utf-8"))
    assert measured(record) == measured(committed)
    assert record["sets"]["val"].keys() == committed["sets"]["val"].keys()
    assert record["sets"]["val"]["pairs"] == 3 and len(lines) == 1


def test_kept_record_loses_less_than_a_fifth_of_a_point():
    committed = json.loads(KEPT.read_text(encoding="utf-8"))
    assert committed["least"] > -0.2
    assert committed["parameters"] == 8_905_728


def test_bench_without_a_folder_is_refused():
    with pytest.raises(ValueError, match="--data FOLDER"):
        bench_int8(quick=True, folder=None, say=print)
