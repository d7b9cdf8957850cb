"""The task that counts an encoder's parameters."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _parameter_cases(rng: Rng) -> list[Case]:
    sizes = (
        (512, 2048, 6, False, False, False),
        (512, 2048, 6, False, False, True),
        (768, 3072, 12, False, True, False),
        (4, 16, 1, True, False, True),
        (6, 10, 3, True, True, True),
        (int(rng.integers(5, 90)), int(rng.integers(91, 300)), 5, False, True, True),
    )
    return [Case(f"(D, F, L, gated, bias, pre_norm) = {args}", args, frame="plain") for args in sizes]


def _parameters(d_model: int, d_hidden: int, n_layers: int, gated: bool, bias: bool, pre_norm: bool) -> int:
    """Counted on torch's own modules, on the device that holds no numbers."""
    import torch
    from torch import nn

    with torch.device("meta"):
        layers = [
            nn.ModuleList(
                [
                    *(nn.Linear(d_model, d_model, bias=bias) for _ in range(4)),
                    *(nn.Linear(d_model, d_hidden, bias=bias) for _ in range(1 + gated)),
                    nn.Linear(d_hidden, d_model, bias=bias),
                    nn.LayerNorm(d_model),
                    nn.LayerNorm(d_model),
                ]
            )
            for _ in range(n_layers)
        ]
        last = [nn.LayerNorm(d_model)] if pre_norm else []
    return sum(p.numel() for p in nn.ModuleList([*layers, *last]).parameters())


PARAMETERS = described("07.parameters", cases=_parameter_cases, oracle=_parameters, frame="plain")
