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
from softlookup_judge import check

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = json.loads((ROOT / "book" / "measured" / "judges.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("function", functions())
def test_wrong_answers_differ_where_some_judge_asks_and_right_ones_nowhere(function):
    kinds = {*PROBES[function](), "gradient"}
    askers = [by_function[function] for by_function in map(asked_by, JUDGES) if function in by_function]
    asked_kinds = {kind.strip() for asker in askers for kind in asker.kinds.split(",")}
    assert len(askers) >= 2 and asked_kinds <= kinds
    for answer in answers(function):
        differs = wrong_on(function, answer.source)
        if answer.right:
            assert not differs & asked_kinds, answer.name
        else:
            assert any(each.asks(answer.name, differs) for each in askers), answer.name


def test_there_are_enough_answers_and_half_are_in_no_list_of_the_course():
    wrong = [answer for function in functions() for answer in answers(function) if not answer.right]
    assert len(functions()) >= 20 and len(wrong) >= 200
    assert sum(not answer.known for answer in wrong) >= len(wrong) / 2
    assert len({(answer.function, answer.source) for answer in wrong}) == len(wrong)


def test_embedding_that_knows_ten_rows_alone_is_rejected():
    by_name = {answer.name: answer for answer in answers("embedding")}
    question = asked_by(OURS)["embedding"]
    assert check(question.task, question.made(made(by_name["right-1"].source))).verdict == "pass"
    assert check(question.task, question.made(made(by_name["clamped-at-ten"].source))).verdict == "wrong"


@pytest.mark.slow
def test_quick_bench_asks_the_course_alone_and_has_the_shape_of_the_committed_record():
    quick = bench_judges(quick=True)
    assert measured(quick) == measured(COMMITTED)
    (course_row,) = quick["judges"]
    assert course_row["judge"] == OURS and set(course_row) == set(COMMITTED["judges"][0])
    assert (course_row["functions"], course_row["accepted"], course_row["rejected"]) == (len(QUICK.functions), 0, 0)
    assert course_row["named"] > 10 and quick["ratio"] is None and quick["both"] == []


def test_peer_that_is_not_there_is_said_to_be_missing(tmp_path):
    from benchmarks.judges.running import run

    for judge in ("TorchCode", "TorchLeet", "CS336"):
        assert "not in the folder of peers" in run(judge, tmp_path)["missing"]


def test_committed_record_has_all_judges_and_its_sums_are_those_of_its_answers():
    assert [row["judge"] for row in COMMITTED["judges"]] == list(JUDGES) and COMMITTED["missing"] == {}
    for row in COMMITTED["judges"]:
        verdicts = [answer["verdicts"].get(row["judge"], "not asked") for answer in COMMITTED["answers"]]
        assert verdicts.count("accepted") == row["accepted"]
        assert len(verdicts) - verdicts.count("not asked") == row["wrong"]
    assert {(answer["function"], answer["name"]) for answer in COMMITTED["answers"]} == {
        (function, answer.name) for function in functions() for answer in answers(function) if not answer.right
    }


@pytest.mark.parametrize("judge", [judge for judge in JUDGES if judge != OURS])
def test_issue_of_a_peer_has_a_program_that_is_python_for_each_function(judge):
    text = issue(COMMITTED, judge)
    row = next(row for row in COMMITTED["judges"] if row["judge"] == judge)
    assert text.count("(differs from the right answer on: ") == row["accepted"]
    for function in asked_by(judge):
        source = program(judge, function, next(answer.name for answer in answers(function) if not answer.right))
        compile(source, "<program>", "exec")
        assert "softlookup" not in source


def test_issue_of_an_unknown_judge_names_those_that_there_are():
    with pytest.raises(ValueError, match="TorchCode, TorchLeet, CS336"):
        issue(COMMITTED, "nobody")
