"""Tasks on probes, superposition and sparse autoencoders."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def _fit(states: np.ndarray, labels: np.ndarray, is_shown: np.ndarray, ridge: float) -> np.ndarray:
    x = np.column_stack([states, np.ones(len(states))])
    targets = 2.0 * labels - 1
    return np.linalg.solve(x[is_shown].T @ x[is_shown] + ridge * np.eye(x.shape[1]), x[is_shown].T @ targets[is_shown])


def _probe_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, d: int, n_shown: int, ridge: float, shift: float = 0.6) -> Case:
        """Labels follow a direction with a shift, and some luck; no answer of the probe is close."""
        while True:
            states = doubles(rng, m, d) + shift
            along = states @ doubles(rng, d) + 0.8 * doubles(rng, m)
            labels = (along > np.quantile(along, 0.35)).astype("int64")
            is_shown = np.zeros(m, dtype=bool)
            is_shown[rng.permutation(m)[:n_shown]] = True
            if len(set(labels[is_shown])) < 2 or len(set(labels[~is_shown])) < 2:
                continue
            answers = np.column_stack([states, np.ones(m)]) @ _fit(states, labels, is_shown, ridge)
            is_right = (answers > 0) == (labels == 1)
            apart = abs(is_right[is_shown].mean() - is_right[~is_shown].mean()) > 0.02
            if np.abs(answers).min() > 1e-3 and apart and 0 < is_right[~is_shown].mean() < 1:
                return Case(label, (states, labels, is_shown, ridge))

    return [
        case("M = 20, D = 4, twelve shown", 20, 4, 12, 0.1),
        case("M = 30, D = 7, a strong ridge", 30, 7, 20, 5.0),
        case("states far from 0", 24, 3, 15, 0.5, 3.0),
        case("fewer states than numbers", 12, 9, 6, 1.0),
        case("M = 40, D = 2", 40, 2, 25, 0.01),
        case("states of a single number", 18, 1, 11, 0.2),
    ]


@graded("17.probe", _probe_cases, cuts=False)
def _probe(states: Any, labels: Any, shown: Any, ridge: float) -> Any:
    """By least squares on rows more: the ridge as examples whose target is 0."""
    x = torch.nn.functional.pad(states, (0, 1), value=1.0)
    targets = torch.where(labels == 1, 1.0, -1.0).to(x.dtype)
    more = ridge**0.5 * torch.eye(x.shape[1], dtype=x.dtype)
    rows, row_targets = torch.cat((x[shown], more)), torch.cat((targets[shown], more.new_zeros(len(more))))
    w = torch.linalg.pinv(rows) @ row_targets
    tried = [i for i, is_shown in enumerate(shown.tolist()) if not is_shown]
    n_right = sum(int((float(x[i] @ w) > 0) == bool(labels[i] == 1)) for i in tried)
    return w, torch.tensor(n_right / len(tried), dtype=torch.float64)


def _selectivity_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, v: int, classes: int, good: float, by_heart: float, fraction: float = 0.5) -> Case:
        while True:
            words, labels = rng.integers(v, size=m), rng.integers(classes, size=m)
            control_classes = rng.integers(classes, size=v)
            control = control_classes[words]
            predicted = np.where(rng.random(m) < good, labels, rng.integers(classes, size=m))
            controlled = np.where(rng.random(m) < by_heart, control, rng.integers(classes, size=m))
            held_out = rng.random(m) < fraction
            hits = (
                [(a == b)[held_out].mean() for a, b in ((predicted, labels), (controlled, control))]
                if held_out.any()
                else [0, 0]
            )
            whole = [(a == b).mean() for a, b in ((predicted, labels), (controlled, control))]
            crossed = (
                [(a == b)[held_out].mean() for a, b in ((controlled, labels), (predicted, control))]
                if held_out.any()
                else [0, 0]
            )
            values = [*hits, *whole, *crossed]
            if 0 < held_out.sum() < m and len({round(float(x), 6) for x in values}) == 6 and hits[1] > 0:
                return Case(label, (words, labels, control_classes, predicted, controlled, held_out))

    return [
        case("20 places, 5 words, two classes", 20, 5, 2, 0.9, 0.5),
        case("30 places, 6 words, three classes", 30, 6, 3, 0.7, 0.6),
        case("a probe that knows nothing more than the control", 26, 4, 2, 0.5, 0.95),
        case("12 places, 9 words", 12, 9, 2, 0.8, 0.3, 0.7),
        case("as many words as places", 14, 14, 4, 0.6, 0.4),
        case("one word everywhere", 20, 1, 3, 0.7, 0.5),
    ]


@graded("17.selectivity", _selectivity_cases, cuts=False)
def _selectivity(words: Any, labels: Any, drawn: Any, predicted: Any, control_predicted: Any, held_out: Any) -> Any:
    """Place by place."""
    control = [int(drawn[int(word_id)]) for word_id in words]
    positions = [i for i, is_held_out in enumerate(held_out.tolist()) if is_held_out]
    real = sum(int(predicted[i]) == int(labels[i]) for i in positions) / len(positions)
    by_heart = sum(int(control_predicted[i]) == control[i] for i in positions) / len(positions)
    numbers = (torch.tensor(x, dtype=torch.float64) for x in (real, by_heart, real - by_heart))
    return torch.tensor(control), *numbers


def _shared_cases(rng: Rng) -> list[Case]:
    five = np.array([[np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(5) / 5]).T
    gone = doubles(rng, 3, 5)
    gone[:, 2] = 0
    return [
        Case("five directions in a plane, a pentagon", (five,)),
        Case("D = 3, M = 6", (doubles(rng, 3, 6),)),
        Case("D = M = 4", (doubles(rng, 4, 4, scale=0.6),)),
        Case("one dimension for four features", (doubles(rng, 1, 4),)),
        Case("two features at right angles", (np.diag([1.0, 2.0]),)),
        Case("a feature that was given up", (gone,), part="zero"),
        Case("opposite features", (np.array([[1.0, -0.8, 0.0], [0.0, 0.0, 1.5]]),)),
        Case("long and short ones", (doubles(rng, 5, 7) * np.linspace(0.2, 3, 7),)),
    ]


@graded("17.superposition", _shared_cases, parts={"core": 0.8, "zero": 0.2}, cuts=False)
def _shared(w: Any) -> Any:
    """Pair by pair."""
    columns, rows = list(w.T), []
    for i, column in enumerate(columns):
        length = float(column @ column) ** 0.5
        products = [float(column @ other) / length if length else 0.0 for other in columns]
        others = sum(p * p for j, p in enumerate(products) if j != i)
        rows.append((length, others, length**2 / (length**2 + others) if length else 0.0))
    return tuple(torch.tensor(x, dtype=torch.float64) for x in zip(*rows, strict=True))


def _autoencoder_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, d: int, a: int, price: float, scale: float = 1.0) -> Case:
        lengths = rng.uniform(0.4, 2.5, (a, 1)).astype("float32")
        inputs = normal(rng, m, d, scale=scale), normal(rng, d, a), normal(rng, a, scale=0.5)
        return Case(label, (*inputs, normal(rng, a, d) * lengths, normal(rng, d), price))

    return [
        case("M = 4, D = 3, A = 6", 4, 3, 6, 0.1),
        case("M = D = A = 4", 4, 4, 4, 0.5),
        case("one state", 1, 5, 8, 0.2),
        case("no price", 5, 2, 7, 0.0),
        case("large states, a high price", 6, 4, 9, 2.0, 3.0),
    ]


@graded("17.autoencoder", _autoencoder_cases, cuts=False)
def _autoencoder(h: Any, w_encoder: Any, b_encoder: Any, directions: Any, b_decoder: Any, price: float) -> Any:
    """State by state, latent by latent."""
    latents, again, losses = [], [], []
    for state in h:
        active = [max(0.0, float((state - b_decoder) @ w_encoder[:, i] + b_encoder[i])) for i in range(len(directions))]
        whole = b_decoder.clone()
        for strength, row in zip(active, directions, strict=True):
            whole = whole + strength / float(row @ row) ** 0.5 * row
        latents.append(torch.tensor(active, dtype=h.dtype))
        again.append(whole)
        losses.append(float((whole - state) @ (whole - state)) + price * sum(active))
    return torch.stack(latents), torch.stack(again), torch.tensor(sum(losses) / len(losses), dtype=h.dtype)


def _top_k_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, d: int, a: int, k: int, bias: float = 0.0, scale: float = 1.0) -> Case:
        inputs = normal(rng, m, d, scale=scale), normal(rng, d, a), normal(rng, a, scale=0.5) + np.float32(bias)
        return Case(label, (*inputs, normal(rng, a, d), normal(rng, d), k))

    steps = np.arange(3, dtype="float32")
    h = np.stack((steps, 2 - steps, steps + 1, 1 - steps), axis=1)  # whole numbers: ties are exact
    w_encoder = np.tile(np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype="float32"), (1, 3))
    tied = (h, w_encoder, np.ones(6, dtype="float32"), normal(rng, 6, 4), np.zeros(4, dtype="float32"))
    return [
        case("M = 6, D = 3, A = 8, k = 2", 6, 3, 8, 2, 1.0),
        case("M = D = A = 5, k = 3", 5, 5, 5, 3),
        case("only the largest", 4, 2, 7, 1),
        case("fewer than k are above 0", 5, 3, 9, 6, -1.5),
        case("all latents", 3, 4, 6, 6),
        case("states of one number", 7, 1, 4, 2),
        case("large states", 8, 4, 10, 3, 0.0, 4.0),
        Case("equal latents", (*tied, 2), part="ties"),
        Case("equal latents, k = 4", (*tied, 4), part="ties"),
    ]


@graded("17.top-k-codes", _top_k_cases, parts={"core": 0.85, "ties": 0.15}, cuts=False)
def _top_k(h: Any, w_encoder: Any, b_encoder: Any, directions: Any, b_decoder: Any, k: int) -> Any:
    """State by state: a latent is active if it is above 0 and fewer than k come before it."""
    latents, again = [], []
    for state in h:
        before = [float((state - b_decoder) @ w_encoder[:, i] + b_encoder[i]) for i in range(len(directions))]
        ahead = [sum((y, -j) > (x, -i) for j, y in enumerate(before)) for i, x in enumerate(before)]
        active = [x if x > 0 and n < k else 0.0 for x, n in zip(before, ahead, strict=True)]
        latents.append(torch.tensor(active, dtype=h.dtype))
        again.append(b_decoder + sum(x * row for x, row in zip(active, directions, strict=True)))
    missed = sum(float((x - y) @ (x - y)) for x, y in zip(h, again, strict=True))
    return torch.stack(latents), torch.stack(again), missed / (len(h) * float(h.var(dim=0, correction=0).sum()))
