"""Weights in a file: what comes back is what went in, and what does not fit is named."""

import math

import pytest
import torch
from safetensors import safe_open
from tiny_run import VOCABULARY, Toy
from torch import nn

from softlookup.model.whole.weights import (
    CheckpointError,
    load_weights,
    model_tensors,
    read_tensors,
    save_weights,
    write_tensors,
)


def test_weights_come_back_exactly_tied_ones_and_buffers_too(tmp_path, device):
    model, other = Toy().to(device), Toy().to(device)
    model.calls += 7
    save_weights(model, tmp_path / "new" / "folder" / "w.safetensors", notes={"score": 1.5})
    assert load_weights(other, tmp_path / "new" / "folder" / "w.safetensors") == {"score": 1.5}
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name
    assert other.output.weight is other.table.weight
    with safe_open(tmp_path / "new" / "folder" / "w.safetensors", framework="pt") as opened:
        assert set(opened.keys()) == {"table.weight", "output.bias", "calls"}


def test_model_tensors_are_the_models_own():
    model = Toy()
    tensors = model_tensors(model)
    assert tensors["table.weight"] is model.table.weight and tensors["calls"] is model.calls
    assert list(tensors) == ["calls", "table.weight", "output.bias"]


def test_half_precision_halves_the_file_and_loads_into_the_models_own_dtype(tmp_path):
    model, other = Toy(d_model=64), Toy(d_model=64)
    save_weights(model, tmp_path / "full")
    save_weights(model, tmp_path / "half", torch.float16)
    assert read_tensors(tmp_path / "half")[0]["table.weight"].dtype == torch.float16
    assert read_tensors(tmp_path / "half")[0]["calls"].dtype == torch.int64
    size = 2 * VOCABULARY * 64
    assert (tmp_path / "full").stat().st_size - (tmp_path / "half").stat().st_size == pytest.approx(size, rel=0.05)
    load_weights(other, tmp_path / "half")
    assert other.table.weight.dtype == torch.float32 and other.table.weight.requires_grad
    assert torch.equal(other.table.weight, model.table.weight.half().float())


def test_a_foreign_safetensors_file_of_the_same_names_loads(tmp_path):
    from safetensors.torch import save_file

    source, model = nn.Linear(3, 2), nn.Linear(3, 2)
    save_file(dict(source.state_dict()), tmp_path / "w")
    assert load_weights(model, tmp_path / "w") == {}
    assert torch.equal(model.weight, source.weight)


def test_weights_that_share_memory_or_are_views_can_be_written(tmp_path):
    class Shares(nn.Module):
        def __init__(self):
            super().__init__()
            whole = torch.randn(4, 3)
            self.a, self.b = nn.Parameter(whole[:2]), nn.Parameter(whole[2:].T)

    model, other = Shares(), Shares()
    save_weights(model, tmp_path / "w")
    load_weights(other, tmp_path / "w")
    assert torch.equal(model.a, other.a) and torch.equal(model.b, other.b)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.bool, torch.uint8, torch.int32])
def test_tensors_of_every_kind_come_back(tmp_path, dtype):
    tensors = {"some": (torch.arange(6) % 2).view(2, 3).to(dtype), "one": torch.tensor(1).to(dtype)}
    tensors["none"] = torch.zeros(0, 3, dtype=dtype)
    write_tensors(tmp_path / "w", tensors, {"kind": "test", "numbers": [1, 0.1]})
    back, header = read_tensors(tmp_path / "w")
    assert header == {"kind": "test", "numbers": [1, 0.1]} and back.keys() == tensors.keys()
    assert all(torch.equal(back[name], tensor) and back[name].dtype == dtype for name, tensor in tensors.items())


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.fresh = nn.Embedding(VOCABULARY, 4), nn.Linear(2, 2)


def test_all_that_does_not_fit_is_named_and_nothing_is_changed(tmp_path):
    save_weights(Toy(), tmp_path / "w")
    model = Other()
    before = model.table.weight.detach().clone()
    with pytest.raises(CheckpointError) as caught:
        load_weights(model, tmp_path / "w")
    for piece in (
        "missing fresh.weight",
        "missing fresh.bias",
        "unexpected calls",
        "unexpected output.bias",
        "table.weight has shape (20, 8), wanted (20, 4)",
    ):
        assert piece in str(caught.value)
    assert torch.equal(model.table.weight, before)


def test_a_count_is_not_taken_for_a_weight(tmp_path):
    write_tensors(tmp_path / "w", {"weight": torch.zeros(1, 1, dtype=torch.int64), "bias": torch.zeros(1)}, {})
    with pytest.raises(CheckpointError, match="this model: weight has dtype torch.int64, wanted torch.float32"):
        load_weights(nn.Linear(1, 1), tmp_path / "w")


def test_a_long_list_of_misfits_is_cut(tmp_path):
    save_weights(nn.Sequential(*[nn.Linear(1, 1) for _ in range(10)]), tmp_path / "w")
    with pytest.raises(CheckpointError, match=r"unexpected 0.bias; .*; and 14 more$"):
        load_weights(nn.Linear(1, 1), tmp_path / "w")


def test_numbers_too_large_for_the_dtype_are_refused(tmp_path):
    model = nn.Linear(2, 1)
    with torch.no_grad():
        model.bias[0] = 70000
    with pytest.raises(ValueError, match="bias holds numbers too large for torch.float16: the largest is 70000"):
        save_weights(model, tmp_path / "w", torch.float16)
    save_weights(model, tmp_path / "w", torch.bfloat16)
    with torch.no_grad():
        model.bias[0] = math.inf
    save_weights(model, tmp_path / "w", torch.float16)


def test_kinds_that_no_file_can_hold_are_refused(tmp_path):
    class Extra(nn.Linear):
        def get_extra_state(self):
            return {"a": 1}

        def set_extra_state(self, state):
            pass

    with pytest.raises(TypeError, match="_extra_state is a dict; only tensors"):
        save_weights(Extra(1, 1), tmp_path / "w")
    with pytest.raises(TypeError, match="dtype is torch.int8; wanted a floating-point dtype"):
        save_weights(Toy(), tmp_path / "w", torch.int8)
    assert not list(tmp_path.iterdir())
