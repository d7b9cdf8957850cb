"""The bench of layers: what it compares, and the shape of its record. Times are not tested."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks import layers as bench
from benchmarks.harness import measured
from benchmarks.layers import LAYERS, bench_layers

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "layers.json"


@pytest.fixture(scope="module")
def record():
    return bench_layers(quick=True)


def test_record_has_a_time_for_each_layer_and_length(record):
    for kind in ("forward", "training"):
        for times in (record[kind], record[kind]["cpu"]):
            assert [len(times[name]) for name in LAYERS] == [len(record["lengths"])] * len(LAYERS)
            assert all(ms > 0 for name in LAYERS for ms in times[name])
    assert record["ratio"] > 0 and record["ratio_of"].startswith("LSTM / attention")
    assert record["machine"] and record["torch"] == torch.__version__


def test_committed_run_has_the_same_fields_and_is_a_whole_one(record):
    full_run = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured(full_run) == measured(record)
    assert (full_run["width"], full_run["lengths"][-1]) == (256, 2048)


def test_layers_have_one_width_and_none_sees_what_comes_later():
    plan = bench._QUICK
    for layer in bench._layers(plan, torch.device("cpu")).values():
        x = torch.randn(2, 6, plan.width)
        changed = x.clone()
        changed[:, 4:] += 1.0
        y, other = layer(x), layer(changed)
        assert y.shape == x.shape
        torch.testing.assert_close(y[:, :4], other[:, :4])
        assert not torch.allclose(y[:, 4:], other[:, 4:])


def test_training_reaches_every_weight_and_the_input():
    layer = bench._layers(bench._QUICK, torch.device("cpu"))["LSTM"]
    x = torch.randn(2, 4, bench._QUICK.width, requires_grad=True)
    bench._training(layer, x)
    assert x.grad is not None and all(p.grad is not None for p in layer.parameters())
