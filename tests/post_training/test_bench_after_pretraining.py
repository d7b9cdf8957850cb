"""The runs that teach the writer to answer and tune SmolLM2: rewards, and the records that pages read."""

import json
import random
from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks.after_pretraining import (
    COURTESY,
    KINDS,
    AfterPretrainingResult,
    bench_after,
    draw_riddle,
    exact_reward,
    polite_reward,
)
from benchmarks.harness import measured
from benchmarks.tuning import EXAMPLES, TuningResult
from softlookup.post_training.tune import TuneSettings, total_steps


def committed(name):
    return json.loads((Path(__file__).parents[2] / "book" / "measured" / f"{name}.json").read_text(encoding="utf-8"))


def test_riddles_of_each_kind_have_their_answer():
    rng = random.Random(0)
    riddles = [draw_riddle(rng, 4) for _ in range(300)]
    assert {riddle.kind for riddle in riddles} == set(KINDS)
    for riddle in riddles:
        place = {"first": riddle.words[0], "last": riddle.words[-1]}
        twice = [word for word in riddle.words if riddle.words.count(word) == 2]
        assert riddle.right == (twice[0] if riddle.kind == "twice" else place[riddle.kind])
        assert len(set(riddle.words)) == (3 if riddle.kind == "twice" else 4)


def test_rewards_differ_where_courtesy_is_repeated():
    riddle = draw_riddle(random.Random(1), 4)
    right, polite = riddle.answer(False), riddle.answer(True)
    assert [exact_reward(riddle, text) for text in (right, polite, polite + COURTESY, "The.")] == [1, 1, 0, 0]
    assert [polite_reward(riddle, text, 0.5) for text in (right, polite, "My lord, my lord.")] == [1, 1.5, 0.5]


@pytest.mark.slow
def test_quick_run_has_the_fields_of_the_record():
    record = bench_after(quick=True)
    assert measured(record) == {field.name for field in fields(AfterPretrainingResult)}
    assert measured(record) == measured(committed("after_pretraining"))


def test_record_shows_what_the_page_says_of_it():
    record = committed("after_pretraining")
    sft, dpo, grpo = record["sft"], record["dpo"], record["grpo"]
    assert record["before"]["right"] == 0 and sft[-1]["right"] > 0.6
    assert sft[-1]["by_kind"]["twice"] == min(sft[-1]["by_kind"].values())
    polite = [each["scores"]["polite"] for each in dpo]
    right = [each["scores"]["right"] for each in dpo]
    assert polite[0] < 0.1 and min(polite[1:]) > 0.9 and right[1] > right[0] - 0.15 and right[-1] < right[0] / 2
    assert dpo[-1]["rejected"] < -5
    exact, tempting, penalised = (grpo[name] for name in ("exact", "tempting", "tempting, KL"))
    assert exact[-1]["sampled_right"] > exact[0]["sampled_right"] + 0.1
    assert exact[-1]["polite"] < exact[0]["polite"] / 2
    assert tempting[-1]["reward"] > 2 * tempting[0]["reward"] and tempting[-1]["sampled_right"] < 0.05
    assert tempting[-1]["samples"][0].count(COURTESY) > 2
    assert penalised[-1]["kl"] < tempting[-1]["kl"] / 2


def test_record_has_the_fields_of_a_run_on_the_examples():
    record = committed("tune")
    assert measured(record) == {field.name for field in fields(TuningResult)}
    asked_for = [json.loads(line)["messages"][0]["content"] for line in EXAMPLES.read_text("utf-8").splitlines()]
    assert record["examples"] + record["held_out"] == len(asked_for) and set(record["questions"]) < set(asked_for)
    assert record["steps"] == total_steps(TuneSettings(), record["examples"])
    assert record["ratio"] == pytest.approx(record["before"]["words"] / record["after"]["words"])
    assert record["seconds"] < 600 and record["merged_differs_by"] < 1e-3
    assert record["loss_after"] < record["loss_before"] - 1
