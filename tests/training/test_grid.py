"""Layers divided among ranks: the losses and gradients of the whole model."""

from functools import partial

import pytest
import torch

from softlookup.model import Config
from softlookup.model.whole.transformer import Transformer
from softlookup.training.data import make_batch
from softlookup.training.devices import joined, run_on_ranks
from softlookup.training.grid import add_gradients, cut_layers
from softlookup.training.loop import summed_loss

UNEVEN = make_batch([([5, 6, 7, 1], [2, 5, 6, 9, 3]), ([5, 1], [2, 9, 3]), ([8, 9, 1], [2, 3])], 0)
"""Three rows for two shares, with 6 and 2 labels."""


def small(**parts):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 4, "n_layers": 1, "d_hidden": 24, "dropout": 0.0}
    return Transformer(Config(40, **sizes | parts)).double()


def grid_gradients(parts, tensor, device, tell):
    """Work of a rank: two backward passes on a grid, their loss and the gradients, as nested lists."""
    model = small(**parts)
    cut_layers(model, tensor)
    loss = joined(model, summed_loss)
    for _ in range(2):
        value = loss(UNEVEN, 0.1)
        value.backward()
    add_gradients(model)
    total = value.detach().clone()
    torch.distributed.all_reduce(total)
    gradients = {name: parameter.grad.full_tensor().tolist() for name, parameter in model.named_parameters()}
    model.eval()
    with torch.no_grad():
        logits = model(UNEVEN.source_ids, UNEVEN.target_ids)
    return float(total) / torch.distributed.get_world_size(), gradients, logits.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts, world",
    [
        pytest.param({}, 4, marks=pytest.mark.slow),
        pytest.param(
            {"n_kv_heads": 2, "activation": "swiglu", "tied": False, "hidden_bias": False, "attention_bias": True}, 2
        ),
    ],
)
def test_a_grid_has_the_losses_and_gradients_of_the_whole_model(parts, world):
    total, gradients, logits = run_on_ranks(partial(grid_gradients, parts, 2), world, "cpu", lambda content: None)
    model = small(**parts)
    loss = summed_loss(model, UNEVEN, 0.1)
    (2 * loss).backward()
    assert total == pytest.approx(loss.item(), rel=1e-12)
    assert gradients.keys() == dict(model.named_parameters()).keys()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(torch.tensor(gradients[name], dtype=torch.float64), parameter.grad)
    torch.testing.assert_close(torch.tensor(logits, dtype=torch.float64), model(UNEVEN.source_ids, UNEVEN.target_ids))


@pytest.mark.parametrize(
    "parts, tensor, world, says",
    [
        ({}, 3, 2, "2 ranks cannot be divided into rows of 3"),
        ({"n_kv_heads": 1}, 2, 2, "1 key-value heads cannot be divided among 2 ranks"),
        ({"d_hidden": 9}, 2, 2, "9 hidden units cannot be divided among 2 ranks"),
        ({"qk_norm": "head"}, 2, 2, "an attention layer has qk_norm"),
    ],
)
def test_what_cannot_be_divided_is_refused(parts, tensor, world, says, monkeypatch):
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: world)
    with pytest.raises(ValueError, match=says):
        cut_layers(small(**parts), tensor)
