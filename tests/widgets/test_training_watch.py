"""The figure of a training run: verdicts against the bench's own, numbers against its record, and bad input."""

import json
import random
from pathlib import Path

import pytest

from benchmarks.after_pretraining import draw_riddle
from softlookup_course.widgets import TrainingWatch
from softlookup_course.widgets.training_watch import axis, read_question

RECORD = json.loads(
    (Path(__file__).parents[2] / "book" / "measured" / "after_pretraining.json").read_text(encoding="utf-8")
)
PROMPTS, SFT, GRPO = RECORD["prompts"], RECORD["sft"], RECORD["grpo"]
KINDS = {"right": list(SFT[0]["by_kind"])}


def test_right_answers_to_a_prompt_are_those_of_the_bench():
    rng = random.Random(20)
    for riddle in (draw_riddle(rng, 4) for _ in range(200)):
        question, answers = read_question(riddle.prompt)
        assert answers == (riddle.answer(False), riddle.answer(True)) and f"\n{question}\n" in riddle.prompt


def test_scores_and_answers_are_the_records():
    figure = TrainingWatch(PROMPTS, {"fine-tuning": SFT}, KINDS)
    (run,) = figure.runs
    assert figure.steps == [scores["step"] for scores in SFT]
    assert run["values"] == [[scores["by_kind"][kind] for scores in SFT] for kind in KINDS["right"]]
    assert [[answer["text"] for answer in step] for step in run["answers"]] == [scores["samples"] for scores in SFT]
    assert [answer["is_right"] for answer in run["answers"][-1]] == [True] * 3
    assert not any(answer["is_right"] for answer in run["answers"][0])


def test_scores_beside_others_and_below_them_come_to_one_level():
    figure = TrainingWatch(PROMPTS, {"DPO": RECORD["dpo"]}, {"": ["polite"], "nats": ["chosen", "rejected"]})
    assert figure.runs[0]["values"][1] == [step["chosen"] for step in RECORD["dpo"]]
    assert figure.runs[0]["texts"][2][-1].startswith("\N{MINUS SIGN}")
    assert [line["panel"] for line in figure.lines] == [0, 1, 1]


def test_repeated_courtesy_is_wrong_in_the_run_without_a_penalty_alone():
    runs = {"without": GRPO["tempting"], "with": GRPO["tempting, KL"]}
    figure = TrainingWatch(PROMPTS, runs, {"reward": ["reward"]})
    ends = [[answer["is_right"] for answer in run["answers"][-1]] for run in figure.runs]
    assert ends == [[False] * 3, [True] * 3]
    assert figure.panels[0]["high"] == max(scores["reward"] for run in runs.values() for scores in run)
    assert figure.fallback.count("<tr>") == 1 + len(GRPO["tempting"]) + 3 and "reward, with" in figure.fallback


def test_stand_in_has_the_scores_and_an_answer_of_every_step():
    figure = TrainingWatch(PROMPTS, {"fine-tuning": SFT}, KINDS)
    assert figure.fallback.count("<tr>") == 1 + len(SFT) and len(json.dumps(figure.runs)) < 20_000
    last = SFT[-1]
    cells = [f"{fraction:.0%}" for fraction in last["by_kind"].values()] + last["samples"][:1]
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    assert f'<tr><th scope="row">{last["step"]}</th>{row}</tr>' in figure.fallback


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([0.0], [0.0]), ([4.26], [0.0, 2.0, 4.0]), ([-13.4, 1.3], [-10.0, -5.0, 0.0]), ([39.6, 3.0], [0.0, 20.0])],
)
def test_axis_has_zero_and_round_numbers_inside_its_ends(values, ticks):
    chosen = axis(values, "kl")
    assert [tick for tick, _ in chosen["ticks"] if tick <= max(values)] == ticks
    assert chosen["low"] <= min(values) and chosen["high"] >= max(values) and chosen["low"] < chosen["high"]


@pytest.mark.parametrize(
    ("prompts", "runs", "panels", "message"),
    [
        (["What is it?"], {"": SFT}, KINDS, "wanted a question .* got 'What is it\\?'"),
        (PROMPTS, {"": SFT}, {"": ["luck"]}, "no score luck; there are first"),
        (PROMPTS, {"a": SFT, "b": SFT[1:]}, KINDS, "measured at the same steps"),
    ],
)
def test_what_cannot_be_shown_is_refused(prompts, runs, panels, message):
    with pytest.raises(ValueError, match=message):
        TrainingWatch(prompts, runs, panels)
