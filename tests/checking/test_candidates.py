"""What a student's test is handed: callables made from numbers, which do what these say and tell nothing else."""

import numpy as np
import pytest
import torch

from softlookup_inside.asking.candidates import is_candidate, resolve_candidate
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import run
from softlookup_judge import get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

TESTS = ("09.find-leak", "09.find-shift", "09.find-padding", "09.find-dropout")


def test_other_arguments_come_back_as_they_are():
    for value in ({"model": 1}, [1], None, 3.0):
        assert resolve_candidate(value) is value and not is_candidate(value)
    with pytest.raises(KeyError, match="no such kind"):
        resolve_candidate({"candidate": "no such kind"})


@pytest.mark.parametrize("task_id", TESTS)
def test_settings_are_drawn_anew_and_hold_no_verdict(task_id):
    first, second = (draw(variant_of(get_task(task_id)), seed) for seed in (1, 2))
    assert len(first) == len(second) >= 7
    names = {tuple(case.args[0]) for case in first}
    assert len(names) == 1  # sound and broken ones have the same kinds of settings
    for case in first:
        assert not any(isinstance(value, str) for name, value in case.args[0].items() if name != "candidate")


@pytest.mark.parametrize("task_id", TESTS)
def test_sound_and_broken_ones_are_both_among_the_cases(task_id):
    task = get_task(task_id)
    verdicts = [bool(task.oracle(*(_tensor(arg) for arg in case.args))) for case in draw(variant_of(task), 3)]
    assert 2 <= sum(verdicts) <= len(verdicts) - 2


def test_a_sound_model_predicts_the_same_from_a_prefix():
    case = draw(variant_of(get_task("09.find-leak")), 5)[0]
    model, ids = resolve_candidate(case.args[0]), torch.tensor(case.args[1])
    torch.testing.assert_close(model(ids)[:, :4], model(ids[:, :4]))


def test_a_loss_of_logits_is_torchs_where_it_is_sound():
    loss = resolve_candidate(
        {"candidate": "loss of logits", "above": 0.0, "below": 0.0, "summed": False, "known": None}
    )
    logits, labels = torch.randn(2, 5, 7), torch.tensor([[1, 2, 3, 6, 6], [4, 0, 6, 6, 6]])
    expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=6)
    assert loss(logits, labels, 6).item() == pytest.approx(expected.item(), rel=1e-5)


def test_layers_drop_their_share_and_keep_the_mean():
    settings = {"weights": np.eye(1, dtype="float32")[None], "shares": [(0.25, 0.0)], "training": True}
    model = resolve_candidate({"candidate": "layers", **settings})
    x = torch.full((40_000, 1), 0.5)
    change = model(x) - x
    assert (change == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    assert change.mean().item() == pytest.approx(np.tanh(0.5), abs=0.02)
    torch.testing.assert_close(model.eval()(x) - x, torch.tanh(x))
    assert model.train().training


def test_the_probe_hands_over_something_new_each_time_and_minds_no_change_of_its_state():
    settings = {"weights": np.eye(2, dtype="float32")[None], "shares": [(0.5, 0.0)], "training": True}
    case = Case("layers", ({"candidate": "layers", **settings}, np.ones((3, 2), "float32")))
    states = []

    def student(model, x):
        states.append(model.training)
        model.eval()
        return True

    for _ in range(2):
        answer = run(student, case)
        assert answer.failure is None and answer.arrays[0] == np.array(True)
    assert states == [True, True]


def _tensor(value):
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value
