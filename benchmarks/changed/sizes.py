"""The sizes of the experiments of `softlookup bench changed`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ChangedSizes:
    """The sizes of the experiments; the defaults are those of the whole run."""

    read_tokens: int = 1024
    stretches: int = 4
    window: int = 256
    sinks: int = 4
    bits: tuple[int, ...] = (8, 4, 2)
    group: int = 32
    width: int = 64
    n_heads: int = 4
    n_layers: int = 3
    length: int = 48
    batch: int = 32
    steps: int = 600
    seeds: tuple[int, ...] = (1, 2, 3)
    rate: float = 3e-3
    high_rate: float = 1e-2
    muon_rate: float = 0.02
    n_experts: int = 8
    per_token: int = 2
    bias_rate: float = 1e-2
    times: int = 4
    test_rows: int = 100
    state_width: int = 64
    pairs: tuple[int, ...] = (4, 8, 16, 32, 64, 128)
    draft_steps: int = 300
    written: int = 256
    rounds: int = 5
    n_draft: tuple[int, ...] = (1, 2, 4, 8)


QUICK = ChangedSizes(
    read_tokens=24,
    stretches=1,
    window=12,
    bits=(4,),
    group=8,
    width=16,
    n_heads=2,
    n_layers=1,
    length=8,
    batch=2,
    steps=4,
    seeds=(1,),
    n_experts=4,
    test_rows=2,
    state_width=8,
    pairs=(2, 4),
    draft_steps=2,
    written=6,
    rounds=1,
    n_draft=(2,),
)
