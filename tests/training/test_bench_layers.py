"""The bench of layers: what it compares. Times are not tested."""

import torch

from benchmarks import layers as bench


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
