"""As `oracles`, for the figure that routes tokens through experts."""

import json
from typing import Any

import numpy as np
from book_browser import ROOT
from oracles import near

from softlookup_course.widgets import expert_routing


def routed_token(shown: dict[str, Any]) -> None:
    """Gates, choice and weights by numpy from the recorded vectors; what the batch needs by counting."""
    record = json.loads((ROOT / "book" / "measured" / "experts.json").read_text(encoding="utf-8"))
    run = record["routers"][list(expert_routing.ROUTERS)[int(shown["router"])]]
    token, count, step = (int(shown[name]) for name in ("token", "count", "step"))
    x = np.array(run["x"][token].split(), float)
    logits, bias = x @ np.array(run["w"]), np.array(run["bias"])
    gates = 1 / (1 + np.exp(-logits))
    experts = np.sort(np.argsort(gates + bias)[-2:])
    weights = [gates[e] / gates[experts].sum() if e in experts else None for e in range(len(bias))]
    assert sorted(run["chosen"][token]) == experts.tolist()
    rows = {"logit": (2, logits), "gate g": (3, gates), "bias b": (4, bias), "g + b": (4, gates + bias)}
    for name, (begins, expected) in rows.items():
        if step >= begins:
            near(shown["rows"][name], expected, name, 6e-5)
        else:
            assert set(shown["rows"][name]) == {None}, name
    for got, expected in zip(shown["rows"]["weight"], weights, strict=True):
        assert (got is None) == (expected is None or step < 5) and (got is None or abs(got - expected) < 6e-5)
    assert shown["strips"] == [True, step >= 6, step >= 6, step == 7, step == 7]
    assert shown["words"].startswith(f"Token “{record['text'][token]}”, step {step}, ")
    assert step not in (4, 6, 7) or all(str(e) in shown["words"] for e in experts)
    needed = [len({e for chosen in run["chosen"][:n] for e in chosen}) for n in range(1, count + 1)]
    loads = np.bincount(np.array(run["chosen"][:count]).ravel(), minlength=len(bias))
    assert shown["rows"]["tokens"] == loads.tolist() and shown["dots"] == needed and shown["inside"] == count
    assert shown["rows"]["fetched"] == [1 if load else None for load in loads]
    assert f"{needed[-1]} of {len(bias)} experts" in shown["batch"]
    n = np.arange(1, len(record["text"]) + 1)[:, None]
    mean = (1 - (1 - np.array(run["load"])) ** n).sum(1)
    assert f" {mean[count - 1]:.2f}. " in shown["batch"]
    near(shown["line"], 20 + 120 * (1 - mean / len(bias)), "mean", 0.06)
    assert shown["chips"] == [[t, " ".join(map(str, e))] for t, e in zip(record["text"], run["chosen"], strict=True)]
    assert shown["set"] == [f"{step} of 7", str(count)]
