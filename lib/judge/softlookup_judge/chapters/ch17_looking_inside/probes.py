"""Tasks on probes: a linear one in closed form, and what its control task says of it."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _fit(states: np.ndarray, labels: np.ndarray, shown: np.ndarray, ridge: float) -> np.ndarray:
    x = np.column_stack([states, np.ones(len(states))])
    targets = 2.0 * labels - 1
    return np.linalg.solve(x[shown].T @ x[shown] + ridge * np.eye(x.shape[1]), x[shown].T @ targets[shown])


def _probe_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, d: int, n_shown: int, ridge: float, shift: float = 0.6) -> Case:
        """Labels follow a direction with a shift, and some luck; no answer of the probe is close."""
        while True:
            states = normal(rng, m, d, dtype="float64") + shift
            along = states @ normal(rng, d, dtype="float64") + 0.8 * normal(rng, m, dtype="float64")
            labels = (along > np.quantile(along, 0.35)).astype("int64")
            shown = np.zeros(m, dtype=bool)
            shown[rng.permutation(m)[:n_shown]] = True
            if len(set(labels[shown])) < 2 or len(set(labels[~shown])) < 2:
                continue
            answers = np.column_stack([states, np.ones(m)]) @ _fit(states, labels, shown, ridge)
            right = (answers > 0) == (labels == 1)
            apart = abs(right[shown].mean() - right[~shown].mean()) > 0.02
            if np.abs(answers).min() > 1e-3 and apart and 0 < right[~shown].mean() < 1:
                return Case(label, (states, labels, shown, ridge))

    return [
        case("M = 20, D = 4, twelve shown", 20, 4, 12, 0.1),
        case("M = 30, D = 7, a strong ridge", 30, 7, 20, 5.0),
        case("states far from 0", 24, 3, 15, 0.5, 3.0),
        case("fewer states than numbers", 12, 9, 6, 1.0),
        case("M = 40, D = 2", 40, 2, 25, 0.01),
        case("states of a single number", 18, 1, 11, 0.2),
    ]


def _probe(states: Any, labels: Any, shown: Any, ridge: float) -> Any:
    """By least squares on rows more: the ridge as examples whose target is 0."""
    import torch

    x = torch.nn.functional.pad(states, (0, 1), value=1.0)
    targets = torch.where(labels == 1, 1.0, -1.0).to(x.dtype)
    more = ridge**0.5 * torch.eye(x.shape[1], dtype=x.dtype)
    rows, row_targets = torch.cat((x[shown], more)), torch.cat((targets[shown], more.new_zeros(len(more))))
    w = torch.linalg.pinv(rows) @ row_targets
    tried = [i for i, seen in enumerate(shown.tolist()) if not seen]
    right = sum(int((float(x[i] @ w) > 0) == bool(labels[i] == 1)) for i in tried)
    return w, torch.tensor(right / len(tried), dtype=torch.float64)


PROBE = described("17.probe", cases=_probe_cases, oracle=_probe, cuts=False)


def _selectivity_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, v: int, classes: int, good: float, by_heart: float, fraction: float = 0.5) -> Case:
        while True:
            words, labels = rng.integers(v, size=m), rng.integers(classes, size=m)
            drawn = rng.integers(classes, size=v)
            control = drawn[words]
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
                return Case(label, (words, labels, drawn, predicted, controlled, held_out))

    return [
        case("20 places, 5 words, two classes", 20, 5, 2, 0.9, 0.5),
        case("30 places, 6 words, three classes", 30, 6, 3, 0.7, 0.6),
        case("a probe that knows nothing more than the control", 26, 4, 2, 0.5, 0.95),
        case("12 places, 9 words", 12, 9, 2, 0.8, 0.3, 0.7),
        case("as many words as places", 14, 14, 4, 0.6, 0.4),
        case("one word everywhere", 20, 1, 3, 0.7, 0.5),
    ]


def _selectivity(words: Any, labels: Any, drawn: Any, predicted: Any, control_predicted: Any, held_out: Any) -> Any:
    """Place by place."""
    import torch

    control = [int(drawn[int(word)]) for word in words]
    places = [i for i, is_held_out in enumerate(held_out.tolist()) if is_held_out]
    real = sum(int(predicted[i]) == int(labels[i]) for i in places) / len(places)
    by_heart = sum(int(control_predicted[i]) == control[i] for i in places) / len(places)
    numbers = (torch.tensor(x, dtype=torch.float64) for x in (real, by_heart, real - by_heart))
    return torch.tensor(control), *numbers


SELECTIVITY = described("17.selectivity", cases=_selectivity_cases, oracle=_selectivity, cuts=False)
