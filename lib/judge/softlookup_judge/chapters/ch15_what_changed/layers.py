"""A task on per-layer embeddings: a small row for each token in each layer, let through by the state."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _table_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, d: int, width: int, layers: int, layer: int, eps: float = 1e-6) -> Case:
        vocabulary = t + 4
        while True:
            x, w_gate = (1.3 * normal(rng, t, d) + 0.4).astype("float32"), normal(rng, d, width)
            # A GELU far below 0 has few digits in float32; where a row has no other, the norm would magnify the error.
            if ((x @ w_gate).max(axis=1) > 1).all():
                break
        ids = rng.permutation(vocabulary)[:t]
        table = normal(rng, vocabulary, layers * width, scale=0.8)
        gain = rng.uniform(0.4, 1.8, d).astype("float32")
        return Case(label, (x, ids, table, layer, w_gate, normal(rng, width, d), gain, eps), frame="numpy")

    return [
        case("T = 5, D = 6, three layers of width 4", 5, 6, 4, 3, 1),
        case("the first layer", 4, 6, 3, 4, 0),
        case("the last layer", 3, 5, 2, 4, 3),
        case("T = D = width = layers", 4, 4, 4, 4, 2),
        case("one token", 1, 8, 3, 2, 1),
        case("a large eps", 4, 7, 5, 3, 2, 0.8),
    ]


def _table_step(x: Any, ids: Any, table: Any, layer: int, w_gate: Any, w_out: Any, gain: Any, eps: float) -> Any:
    """Token by token, with torch's GELU and norm; the row is scaled at last."""
    import torch
    from torch.nn.functional import gelu, rms_norm

    x, table, w_gate, w_out, gain = (torch.as_tensor(value) for value in (x, table, w_gate, w_out, gain))
    width = w_gate.shape[1]
    rows = []
    for state, token in zip(x, ids.tolist(), strict=True):
        row = table[token].unflatten(0, (-1, width))[layer]
        through = gelu(state @ w_gate, approximate="tanh") * row
        rows.append(state + rms_norm(through @ w_out * width**0.5, gain.shape, gain, eps))
    return torch.stack(rows).numpy()


PER_LAYER = described("15.per-layer", cases=_table_cases, oracle=_table_step, frame="numpy", cuts=False)
