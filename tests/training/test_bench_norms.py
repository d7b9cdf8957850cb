"""The bench of norms: both orders get the same draws, and the record holds every run. Losses are not tested."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks import norms as bench
from benchmarks.harness import measured
from benchmarks.norms import ORDERS, bench_norms, guessing, model_of

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "norms.json"


@pytest.fixture(scope="module")
def record():
    return bench_norms(quick=True)


@pytest.mark.slow
def test_record_has_every_run_once(record):
    run_keys = [(r["order"], r["depth"], r["warmup"], r["rate"], r["seed"]) for r in record["runs"]]
    sizes = [len(record[name]) for name in ("depths", "warmups", "rates", "seeds")]
    assert len(run_keys) == len(set(run_keys)) == 2 * sizes[0] * sizes[1] * sizes[2] * sizes[3]
    assert all(len(run["curve"]) == record["steps"] // record["kept_every"] for run in record["runs"])
    assert record["machine"] and record["torch"] == torch.__version__


def test_committed_run_has_the_same_fields_and_is_a_whole_one(record):
    full_run = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured(full_run) == measured(record)
    assert (full_run["depths"], full_run["steps"], len(full_run["seeds"])) == ([2, 6, 12], 300, 3)
    assert full_run["ratio"] > 1 and "post-LN / pre-LN" in full_run["ratio_of"]


def test_a_seed_draws_the_same_weights_for_both_orders():
    plan = bench._QUICK
    post, pre = (dict(model_of(plan, order == "pre", 2, 1).named_parameters()) for order in ORDERS)
    assert set(pre) - set(post) == {"encoder.norm.gain", "encoder.norm.shift"}
    for name, weight in post.items():
        assert torch.equal(weight, pre[name]), name


def test_guessing_knows_the_place_alone():
    plan = bench._Plan(values=4, length=1)
    assert guessing(plan) == pytest.approx(torch.tensor(4.0).log().item(), abs=1e-3)
    assert guessing(bench._Plan(values=4, length=9)) < guessing(plan)


def test_a_run_can_be_repeated_to_the_last_digit():
    again = [bench._run(bench._QUICK, "pre", 1, 2, 1e-2, 5, torch.device("cpu")) for _ in range(2)]
    assert again[0] == again[1]
