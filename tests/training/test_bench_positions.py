"""The bench of positions: what its tasks ask, and what the page reads from it."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import positions as bench
from benchmarks.positions import FIRST_ID, METHODS

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "positions.json"


@pytest.fixture(scope="module")
def full_run():
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def test_letters_ask_for_the_one_so_many_places_back():
    plan = bench._Plan()
    ids, answers = bench._letters(plan)(3, 20, torch.Generator().manual_seed(0))
    assert (answers[:, : plan.back] == -100).all()
    torch.testing.assert_close(answers[:, plan.back :], ids[:, : -plan.back])
    assert ids.min() >= FIRST_ID and ids.max() < FIRST_ID + plan.letters


@pytest.mark.slow
def test_characters_ask_for_the_next_one_and_test_on_other_sentences():
    draw, vocabulary = bench.characters()
    (ids, answers), (tested, _) = (draw(2, 400, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    torch.testing.assert_close(ids[:, 1:], answers[:, :-1])
    assert ids.max() < vocabulary and not torch.equal(ids, tested)


def worst(record, kind, part, pick):
    means = {method: float(np.mean(record[kind][method][part])) for method in METHODS}
    return pick(means, key=lambda method: means[method])


def seeds(record, kind, method, part):
    return np.array(record[kind][method][part])


def test_what_the_page_says_of_the_run_holds_in_every_seed(full_run):
    assert all((seeds(full_run, "back", method, "trained") > 0.99).all() for method in ("sinusoidal", "t5", "rotary"))
    assert (seeds(full_run, "back", "rotary", "twice") > 0.8).all()
    assert worst(full_run, "back", "trained", min) == "none" and worst(full_run, "text", "trained", max) == "none"
    assert worst(full_run, "text", "four_times", max).startswith("rotary")
    assert worst(full_run, "text", "four_times", min) == "alibi"
    assert (seeds(full_run, "text", "alibi", "four_times") < 1.15 * seeds(full_run, "text", "alibi", "trained")).all()
    for method in ("sinusoidal", "learned"):
        assert (seeds(full_run, "text", method, "twice") > 2 * seeds(full_run, "text", method, "trained")).all()
    best = min(np.mean(full_run["text"][method]["trained"]) for method in METHODS)
    assert np.mean(full_run["text"]["rotary"]["trained"]) < best + 0.03
