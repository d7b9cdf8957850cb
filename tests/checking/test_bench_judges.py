"""The bench of judges: its answers are what they say they are, and the course's check takes none of the wrong ones."""

import json
from pathlib import Path

import pytest

from benchmarks.harness import measured
from benchmarks.judges import OURS, QUICK, asked_by, bench_judges
from benchmarks.judges.answers import answers, functions, made
from benchmarks.judges.issue import issue, program
from benchmarks.judges.probes import PROBES, wrong_on
from benchmarks.judges.running import JUDGES
from softlookup.checking import check

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = json.loads((ROOT / "book" / "measured" / "judges.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("function", functions())
def test_wrong_answers_differ_where_some_judge_asks_and_right_ones_nowhere(function):
    kinds = {*PROBES[function](), "gradient"}
    askers = [asked[function] for asked in map(asked_by, JUDGES) if function in asked]
    asked = {kind.strip() for one in askers for kind in one.kinds.split(",")}
    assert len(askers) >= 2 and asked <= kinds
    for one in answers(function):
        differs = wrong_on(function, one.source)
        if one.right:
            assert not differs & asked, one.name
        else:
            assert any(each.asks(one.name, differs) for each in askers), one.name


def test_there_are_enough_answers_and_half_are_in_no_list_of_the_course():
    wrong = [one for function in functions() for one in answers(function) if not one.right]
    assert len(functions()) >= 20 and len(wrong) >= 200
    assert sum(not one.known for one in wrong) >= len(wrong) / 2
    assert len({(one.function, one.source) for one in wrong}) == len(wrong)


def test_embedding_that_knows_ten_rows_alone_is_rejected():
    given = {one.name: one for one in answers("embedding")}
    asked = asked_by(OURS)["embedding"]
    assert check(asked.task, asked.made(made(given["right-1"].source))).verdict == "pass"
    assert check(asked.task, asked.made(made(given["clamped-at-ten"].source))).verdict == "wrong"


def test_quick_bench_asks_the_course_alone_and_has_the_shape_of_the_committed_record():
    quick = bench_judges(quick=True)
    assert measured(quick) == measured(COMMITTED)
    (ours,) = quick["judges"]
    assert ours["judge"] == OURS and set(ours) == set(COMMITTED["judges"][0])
    assert (ours["functions"], ours["accepted"], ours["rejected"]) == (len(QUICK.functions), 0, 0)
    assert ours["named"] > 10 and quick["ratio"] is None and quick["both"] == []


def test_peer_that_is_not_there_is_said_to_be_missing(tmp_path):
    from benchmarks.judges.running import run

    for judge in ("TorchCode", "TorchLeet", "CS336"):
        assert "not in the folder of peers" in run(judge, tmp_path)["missing"]


def test_committed_record_has_all_judges_and_its_sums_are_those_of_its_answers():
    assert [one["judge"] for one in COMMITTED["judges"]] == list(JUDGES) and COMMITTED["missing"] == {}
    for row in COMMITTED["judges"]:
        said = [one["verdicts"].get(row["judge"], "not asked") for one in COMMITTED["answers"]]
        assert said.count("accepted") == row["accepted"]
        assert len(said) - said.count("not asked") == row["wrong"]
    assert {(one["function"], one["name"]) for one in COMMITTED["answers"]} == {
        (function, one.name) for function in functions() for one in answers(function) if not one.right
    }


@pytest.mark.parametrize("judge", [one for one in JUDGES if one != OURS])
def test_issue_of_a_peer_has_a_program_that_is_python_for_each_function(judge):
    text = issue(COMMITTED, judge)
    row = next(one for one in COMMITTED["judges"] if one["judge"] == judge)
    assert text.count("(differs from the right answer on: ") == row["accepted"]
    for function in asked_by(judge):
        source = program(judge, function, next(one.name for one in answers(function) if not one.right))
        compile(source, "<program>", "exec")
        assert "softlookup" not in source


def test_issue_of_an_unknown_judge_names_those_that_there_are():
    with pytest.raises(ValueError, match="TorchCode, TorchLeet, CS336"):
        issue(COMMITTED, "nobody")
