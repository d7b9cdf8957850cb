"""Models whose weights are larger than a fresh model's."""

import torch


def lively(model):
    """Move every weight, so that a forgotten token or a switch that is not read shows."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return model.double().eval()
