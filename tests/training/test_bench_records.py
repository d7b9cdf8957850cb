"""Benches of the chapters: what they compare, what their pages read, and their records.

Quick runs have the fields of the committed ones, which are whole, and go on when stopped.
"""

import json
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import decisions, faults, layers, norms, positions, schedules
from benchmarks.harness import measured
from benchmarks.talk import bench_talk
from softlookup.model.published.smollm2 import checked_file

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured"
WHOLE = {
    "experts": {"text": 24, "routers": 2, "unseen_tokens": 8192},
    "decisions": {"steps": 300, "seeds": 5, "runs": 55},
    "faults": {"steps": 300, "seeds": 3, "runs": 21},
    "grid": {"devices": 4, "tensor": 2},
    "layers": {"width": 256, "lengths": 8},
    "norms": {"depths": 3, "steps": 300, "seeds": 3},
    "positions": {"seeds": 3, "times": 4, "length": 24},
    "prefill": {"reading": 5, "writing": 5},
    "schedules": {"steps": 400, "seeds": 2, "peaks": 5},
}
"""What committed records were measured with: numbers, or how many of a kind."""


@cache
def committed(name):
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def bench(name):
    return getattr(import_module(f"benchmarks.{name}"), f"bench_{name}")


@cache
def quick(name):
    return bench(name)(quick=True)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n != "faults" else []) for n in WHOLE])
def test_quick_record_has_the_fields_of_the_committed_one_which_is_whole(name):
    whole, record = committed(name), quick(name)
    assert measured(whole) == measured(record)
    for field, size in WHOLE[name].items():
        assert (whole[field] if isinstance(whole[field], int) else len(whole[field])) == size, field
    assert whole["ratio"] > {"faults": 3, "norms": 1, "prefill": 3, "schedules": 1}.get(name, 0)
    for field in measured(whole):
        if isinstance(whole[field], dict):
            assert list(whole[field]) == list(record[field]), field


@pytest.mark.parametrize("name", ["faults", pytest.param("schedules", marks=pytest.mark.slow)])
def test_an_interrupted_bench_goes_on_where_it_was(name, tmp_path, monkeypatch):
    module, done = import_module(f"benchmarks.{name}"), []
    whole = module._run

    def interrupted(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        return whole(*arguments)

    monkeypatch.setattr(module, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench(name)(quick=True, runs_file=tmp_path / "runs")
    monkeypatch.setattr(module, "_run", lambda *arguments: done.append(arguments) or whole(*arguments))
    again = bench(name)(quick=True, runs_file=tmp_path / "runs")
    assert len(done) == len(quick(name)["runs"]) and again["runs"] == quick(name)["runs"]


def test_all_runs_of_faults_begin_with_the_same_weights():
    assert len({run["true"][0] for run in quick("faults")["runs"]}) == 1


@pytest.mark.parametrize("record", [pytest.param(quick, marks=pytest.mark.slow), committed])
def test_curves_on_a_grid_are_those_of_one_device(record):
    exact = record("grid")["curves"]["float64"]
    assert exact["grid"] == pytest.approx(exact["alone"], rel=1e-5, abs=1e-5)
    assert record is quick or (len(exact["alone"]) == 30 and exact["alone"][-1] < 0.8 * exact["alone"][0])


# Faults.


def test_a_batch_in_two_parts_has_the_same_gradient_if_its_sums_are_divided_once():
    plan = decisions._Plan(dropout=0.0)
    ids, vocabulary = faults.grammar_ids(plan.sentences, plan.unseen)

    def gradient(parts):
        setting = decisions._Setting(parts=parts)
        model = decisions.made(plan, vocabulary, setting, seed=1)
        decisions.accumulate(model, ids[: plan.rows], setting, plan.first_part)
        return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])

    whole = gradient("")
    torch.testing.assert_close(gradient("sums"), whole, rtol=1e-3, atol=1e-6)
    assert (gradient("means") - whole).norm() > 0.05 * whole.norm()


def test_settings_of_decisions_change_one_thing_each():
    settings = [setting for of in decisions.SETTINGS.values() for setting in of.values()]
    usual = vars(decisions._Setting())
    assert all(sum(value != usual[name] for name, value in vars(setting).items()) == 1 for setting in settings)


def test_faults_of_the_loss_change_it_as_they_are_called():
    ids, vocabulary = faults.grammar_ids(faults._QUICK.sentences, faults._QUICK.unseen)

    class Knows(torch.nn.Module):
        """Is certain of the token that was just read."""

        def forward(self, inputs):
            return 50 * torch.nn.functional.one_hot(inputs, vocabulary).float()

    losses = {fault: faults.loss_of(Knows(), ids, fault).item() for fault in (faults.HEALTHY, *faults.FAULTS)}
    assert losses["not-shifted"] < 1e-6 < 10 < losses[faults.HEALTHY]
    assert losses["padding-counted"] < losses[faults.HEALTHY]
    assert losses["second-softmax"] < 10
    assert losses["no-mask"] == losses["never-zeroed"] == losses["dropout-on"] == losses[faults.HEALTHY]


# Layers.


def test_layers_have_one_width_and_none_sees_what_comes_later():
    plan = layers._QUICK
    for layer in layers._layers(plan, torch.device("cpu")).values():
        x = torch.randn(2, 6, plan.width)
        changed = x.clone()
        changed[:, 4:] += 1.0
        y, other = layer(x), layer(changed)
        assert y.shape == x.shape
        torch.testing.assert_close(y[:, :4], other[:, :4])
        assert not torch.allclose(y[:, 4:], other[:, 4:])


def test_training_reaches_every_weight_and_the_input():
    layer = layers._layers(layers._QUICK, torch.device("cpu"))["LSTM"]
    x = torch.randn(2, 4, layers._QUICK.width, requires_grad=True)
    layers._training(layer, x)
    assert x.grad is not None and all(p.grad is not None for p in layer.parameters())


# Norms.


def test_a_seed_draws_the_same_weights_for_both_orders():
    plan = norms._QUICK
    post, pre = (dict(norms.model_of(plan, order == "pre", 2, 1).named_parameters()) for order in norms.ORDERS)
    assert set(pre) - set(post) == {"encoder.norm.gain", "encoder.norm.shift"}
    for name, weight in post.items():
        assert torch.equal(weight, pre[name]), name


def test_guessing_knows_the_place_alone():
    plan = norms._Plan(values=4, length=1)
    assert norms.guessing(plan) == pytest.approx(torch.tensor(4.0).log().item(), abs=1e-3)
    assert norms.guessing(norms._Plan(values=4, length=9)) < norms.guessing(plan)


def test_a_run_can_be_repeated_to_the_last_digit():
    again = [norms._run(norms._QUICK, "pre", 1, 2, 1e-2, 5, torch.device("cpu")) for _ in range(2)]
    assert again[0] == again[1]


# Schedules.


def test_runs_with_and_without_a_warmup_meet_the_same_data_and_weights():
    plan = schedules._QUICK
    batches, validation, vocabulary = schedules._data(plan)
    first = [schedules._run(plan, batches[1], validation, vocabulary, w, 1e-9, 1)["curve"] for w in plan.warmups]
    assert first[0] == pytest.approx(first[1], abs=1e-3)  # hardly any rate, so the curve is that of the data
    again = schedules._run(plan, batches[1], validation, vocabulary, 2, 1e-2, 1)
    assert again == schedules._run(plan, batches[1], validation, vocabulary, 2, 1e-2, 1)


def test_a_run_that_diverges_has_no_loss():
    plan = schedules._QUICK
    batches, validation, vocabulary = schedules._data(plan)
    assert schedules._run(plan, batches[1], validation, vocabulary, 0, 1e30, 1)["loss"] is None


# Positions.


def test_letters_ask_for_the_one_so_many_places_back():
    plan = positions._Plan()
    ids, answers = positions._letters(plan)(3, 20, torch.Generator().manual_seed(0))
    assert (answers[:, : plan.back] == -100).all()
    torch.testing.assert_close(answers[:, plan.back :], ids[:, : -plan.back])
    assert ids.min() >= positions.FIRST_ID and ids.max() < positions.FIRST_ID + plan.letters


@pytest.mark.slow
def test_characters_ask_for_the_next_one_and_test_on_other_sentences():
    draw, vocabulary = positions.characters()
    (ids, answers), (tested, _) = (draw(2, 400, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    torch.testing.assert_close(ids[:, 1:], answers[:, :-1])
    assert ids.max() < vocabulary and not torch.equal(ids, tested)


def worst(kind, part, pick):
    means = {method: float(np.mean(committed("positions")[kind][method][part])) for method in positions.METHODS}
    return pick(means, key=lambda method: means[method])


def seeds(kind, method, part):
    return np.array(committed("positions")[kind][method][part])


def test_what_the_page_says_of_positions_holds_in_every_seed():
    assert all((seeds("back", method, "trained") > 0.99).all() for method in ("sinusoidal", "t5", "rotary"))
    assert (seeds("back", "rotary", "twice") > 0.8).all()
    assert worst("back", "trained", min) == "none" and worst("text", "trained", max) == "none"
    assert worst("text", "four_times", max).startswith("rotary")
    assert worst("text", "four_times", min) == "alibi"
    assert (seeds("text", "alibi", "four_times") < 1.15 * seeds("text", "alibi", "trained")).all()
    for method in ("sinusoidal", "learned"):
        assert (seeds("text", method, "twice") > 2 * seeds("text", method, "trained")).all()
    best = min(np.mean(committed("positions")["text"][method]["trained"]) for method in positions.METHODS)
    assert np.mean(committed("positions")["text"]["rotary"]["trained"]) < best + 0.03


# Prefill.


def test_every_way_of_cutting_a_prompt_gives_the_same_logits():
    assert all(record("prefill")["largest_difference"] < 1e-5 for record in (quick, committed))


def test_what_the_page_says_of_prefill_is_so():
    full_run = committed("prefill")
    reading, writing = full_run["reading"]["ms_per_token"], full_run["writing"]["ms_per_token"]
    assert full_run["ratio"] == pytest.approx(reading[0] / reading[-1]) and full_run["ratio"] > 3
    assert full_run["writing"]["ratio"] == pytest.approx(writing[0] / writing[-1]) and full_run["writing"]["ratio"] > 2
    assert reading == sorted(reading, reverse=True) and writing == sorted(writing, reverse=True)


# The published chat model.


@pytest.mark.slow
def test_record_of_talk_says_that_all_wrote_the_same():
    pytest.importorskip("transformers")
    try:
        checked_file()
    except ModuleNotFoundError as error:
        pytest.skip(f"the published model's file is not installed: {error}")
    record = bench_talk(quick=True)
    assert record["bench"] == "talk" and record["equal"] is True and record["ratio"] > 0
    assert set(record["tokens_per_s"]) == {"fast", "theirs", "plain"} and record["parameters"] == 134_515_008
    assert "one thread" in record["ratio_of"] and json.loads(json.dumps(record)) == record
