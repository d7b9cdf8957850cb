"""What a GPU trains by, tried on a CPU: the plain model with its loss in parts learns what the fast path does."""

from dataclasses import replace

import pytest
import torch
from tiny_translation import TINY
from tiny_translation import run as run_tiny

from softlookup.training import translation
from softlookup.training.plain_loss import PlainLoss


@pytest.mark.slow
def test_the_plain_model_learns_what_the_fast_path_does(tmp_path, monkeypatch):
    recipe = replace(TINY, dropout=0.0)
    monkeypatch.setattr(translation, "quick_dtype", lambda device: torch.float32)
    losses = run_tiny(tmp_path / "cpu", recipe).losses
    chosen = translation._Run._objective

    def as_on_a_gpu(run, model, device, dtype):
        objective, is_plain = chosen(run, model, torch.device("cuda"), dtype)
        assert is_plain and isinstance(objective.__closure__[0].cell_contents, PlainLoss)
        return objective, is_plain

    monkeypatch.setattr(translation._Run, "_objective", as_on_a_gpu)
    assert run_tiny(tmp_path / "gpu", recipe).losses == pytest.approx(losses, rel=1e-3)
