"""The bench of grading measures two graders on the same submissions."""

import json
from importlib import import_module
from operator import attrgetter

import nbformat
import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT

from benchmarks.grading import honest
from benchmarks.grading_floor import floor
from benchmarks.grading_parts import AROUND, CLOCKS, _Clocks
from softlookup_command.commands import main
from softlookup_course.samples.handins import answers, filled


def test_honest_submissions_are_the_sample_class_without_its_accidents(source):
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    texts = honest(source, release)
    assert len(texts) == len(set(texts)) > 30
    assert not any("while True" in text or "no_such_thing" in text for text in texts)


@NEEDS_SANDBOX
def test_floor_runs_the_cells_and_makes_the_calls_of_every_check(source):
    text = (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    release = nbformat.reads(text, as_version=4)
    right = nbformat.writes(filled(release, answers(source)))
    checks = sum(cell.cell_type == "code" and cell.source.startswith("check(") for cell in release.cells)
    measured = floor(NAME, text, [right, text], 2)
    assert measured.answered == checks, "all of the first, and nothing of the blank one"
    assert measured.imported == 0, "what is loaded in each process would be counted once for every submission"
    assert 0 < measured.code_s < 2 * measured.seconds


def test_clocks_count_the_time_of_an_inner_part_once():
    now = [0.0]
    clocks = _Clocks(now=lambda: now[0])

    def passes(seconds, then=lambda: None):
        now[0] += seconds
        then()
        now[0] += seconds

    inner = clocks.around("inner", passes)
    clocks.around("outer", passes)(1.0, lambda: inner(10.0))
    now[0] += 100.0
    clocks.turn()
    assert clocks.took == {"the rest": 100.0, "outer": 2.0, "inner": 20.0}


@pytest.mark.slow
@NEEDS_SANDBOX
def test_bench_grading_gives_a_record_with_a_ratio_and_the_same_scores(tmp_path):
    file = tmp_path / "record.json"
    done = CliRunner().invoke(main, ["bench", "grading", "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    record = json.loads(file.read_text())
    assert record["same_scores"] is True and record["ratio"] > 0 and record["submissions"] == 3
    assert [measurement["submissions"] for measurement in record["classes"]] == [3, 6]
    assert all(measurement["peak_mb"] > 0 and measurement["ms_per_submission"] > 0 for measurement in record["classes"])
    assert all(measurement["ratio_to_floor"] > 1 for measurement in (record, *record["classes"]))
    assert record["ours_ms_per_submission"] > record["floor_ms_per_submission"] > 0
    took = record["parts_ms_per_submission"]
    assert all(took[part] > 0 for part in took if part not in ("naming mistakes", AROUND))
    assert {"machine", "peer", "workers"} <= record.keys()


def test_every_part_names_functions_that_there_are():
    for names in CLOCKS.values():
        for module, attributes in (name.split(":") for name in names):
            assert attrgetter(attributes)(import_module(module)), f"{module}: {attributes}"
