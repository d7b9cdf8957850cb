"""Tasks on heads and interventions: a head that is silenced, the induction score, activation patching."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal, softmax
from softlookup_judge.data.published import described


def _silence_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, t: int, h: int, d: int, head: int) -> Case:
        return Case(label, (normal(rng, n, t, h), normal(rng, n * h, d), normal(rng, d), head))

    return [
        case("the second of three heads, T = 4", 3, 4, 2, 5, 1),
        case("N = T = H = D = 4, the first head", 4, 4, 4, 4, 0),
        case("the last of two heads", 2, 5, 3, 6, 1),
        case("one head alone", 1, 3, 4, 2, 0),
        case("one position", 3, 1, 3, 4, 2),
    ]


def _silence(z: Any, w_o: Any, b_o: Any, head: int) -> Any:
    """By what the head adds through its own rows, taken away from the whole."""
    import torch

    width = z.shape[2]
    whole = torch.cat(list(z), dim=1) @ w_o + b_o
    rows = w_o[head * width : (head + 1) * width]
    without = whole - z[head] @ rows
    return without, without + (z[head].sum(0) / z.shape[1]) @ rows


SILENCE = described("17.silence", cases=_silence_cases, oracle=_silence, cuts=False)


def _induction_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, block: int) -> Case:
        t = 2 * block
        scores = 2 * normal(rng, n, t, t, dtype="float64")
        for shift in (1, block - 1, block):  # the token before, the one behind the same token, and the same token
            at = np.arange(shift, t)
            scores[rng.integers(n), at, at - shift] += 2.5
        hidden = np.triu(np.ones((t, t), dtype=bool), 1)
        return Case(label, (softmax(np.where(hidden, -np.inf, scores)).astype("float32"),))

    return [
        case("three heads, a block of 4", 3, 4),
        case("two heads, a block of 5", 2, 5),
        case("one head, a block of 3", 1, 3),
        case("six heads, a block of 6", 6, 6),
        case("a block of 2", 2, 2),
    ]


def _induction(weights: Any) -> Any:
    """Along a diagonal, below the main one."""
    import torch

    half = weights.shape[-1] // 2
    return torch.stack([torch.diagonal(pattern, 1 - half)[1 : half + 1].mean() for pattern in weights])


INDUCTION = described("17.induction", cases=_induction_cases, oracle=_induction, cuts=False)


def _answer(x: np.ndarray, mixes: np.ndarray, weights: np.ndarray, read: np.ndarray) -> float:
    for mix, weight in zip(mixes, weights, strict=True):
        x = x + np.tanh(mix @ x @ weight)
    return float(x[-1] @ read)


def _patch_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, d: int, layers: int, alike: int = 0) -> Case:
        while True:
            clean, corrupted = normal(rng, t, d, dtype="float64"), normal(rng, t, d, dtype="float64")
            corrupted[:alike] = clean[:alike]
            mixes = np.tril(softmax(normal(rng, layers, t, t, dtype="float64")))
            weights, read = normal(rng, layers, d, d, dtype="float64"), normal(rng, d, dtype="float64")
            both = [_answer(x, mixes, weights, read) for x in (clean, corrupted)]
            if abs(both[0] - both[1]) > 0.5 and abs(both[0]) > 0.5:
                return Case(label, (clean, corrupted, mixes, weights, read))

    return [
        case("T = 3, D = 4, two layers", 3, 4, 2),
        case("T = D = L = 3", 3, 3, 3),
        case("inputs that differ at the last two positions", 5, 3, 2, alike=3),
        case("one layer", 4, 2, 1),
        case("one position", 1, 4, 3),
    ]


def _patch(clean: Any, corrupted: Any, mixes: Any, weights: Any, read: Any) -> Any:
    """With both runs side by side, and every patched run from the first layer on."""
    import torch

    layers, t = len(mixes), len(clean)

    def run(patch: tuple[int, int] | None) -> tuple[Any, Any]:
        good, bad = clean, corrupted
        for i in range(layers):
            if patch is not None and patch[0] == i:
                here = torch.arange(t)[:, None] == patch[1]
                bad = torch.where(here, good, bad)
            good, bad = (x + (mixes[i] @ x @ weights[i]).tanh() for x in (good, bad))
        return good[-1] @ read, bad[-1] @ read

    clean_result, got = run(None)
    return torch.stack(
        [torch.stack([(run((i, at))[1] - got) / (clean_result - got) for at in range(t)]) for i in range(layers)]
    )


PATCH = described("17.patch", cases=_patch_cases, oracle=_patch, cuts=False)
