"""Models and losses compiled as one graph, beside themselves as they are: prints the largest difference of each.

For a process without the tests' checks of shapes, which torch's compiler cannot see through.
"""

import json
import sys

import torch

from softlookup.model import Config, DecoderLM, EncoderLM, Transformer, ViT
from softlookup.training.vocabulary_loss import vocabulary_loss

SMALL = Config(50, d_model=16, n_heads=2, n_layers=2, d_hidden=24, max_length=16, dropout=0.0)
LLAMA = SMALL.but(positions="rotary_halves", norm="rms", activation="swiglu", hidden_bias=False, n_kv_heads=1)
IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 0, 0]])
IMAGES = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(0))


class Loss(torch.nn.Module):
    """The loss of drawn states and a table, one label of which does not count."""

    def __init__(self, **options):
        super().__init__()
        self.states, self.table = (torch.nn.Parameter(torch.randn(n, 8)) for n in (7, 11))
        self.options = options

    def forward(self, labels):
        """The loss."""
        return vocabulary_loss(self.states, self.table, labels, ignored=0, **self.options)


MODELS = {
    "decoder-only": (lambda: DecoderLM(SMALL), (IDS,)),
    "decoder-only, Llama's parts": (lambda: DecoderLM(LLAMA), (IDS,)),
    "decoder-only, ALiBi": (lambda: DecoderLM(SMALL.but(positions="alibi")), (IDS,)),
    "decoder-only, a window": (lambda: DecoderLM(SMALL.but(window=3)), (IDS,)),
    "encoder-decoder": (lambda: Transformer(SMALL), (IDS, IDS)),
    "encoder-only": (lambda: EncoderLM(SMALL), (IDS,)),
    "ViT": (lambda: ViT(8, 4, 3, channels=1, d_model=16, n_heads=2, n_layers=2, d_hidden=24), (IMAGES,)),
    "loss of a vocabulary": (Loss, (torch.tensor([3, 0, 5, 10, 1, 2, 9]),)),
    "loss of a vocabulary, smoothed, in chunks": (
        lambda: Loss(epsilon=0.1, chunk=4),
        (torch.tensor([3, 0, 5, 10, 1, 2, 9]),),
    ),
}


def largest_difference(model, inputs):
    """Of outputs and gradients, compiled and not."""
    results = []
    for form in (model, torch.compile(model, fullgraph=True, backend="aot_eager")):
        output = form(*inputs)
        gradients = torch.autograd.grad(output.square().mean(), list(model.parameters()), allow_unused=True)
        results.append([output, *(gradient for gradient in gradients if gradient is not None)])
    return max(float((a - b).detach().abs().max()) for a, b in zip(*results, strict=True))


def main(device, *names):
    """Print the largest difference of each."""
    differences = {}
    for name in names:
        make, inputs = MODELS[name]
        torch.manual_seed(0)
        torch._dynamo.reset()
        model = make().to(device).eval()
        differences[name] = largest_difference(model, [tensor.to(device) for tensor in inputs])
    print(json.dumps(differences))


if __name__ == "__main__":
    main(*sys.argv[1:])
