"""As `oracles`, for the figure of activation patching in chapter 17."""

import json
from typing import Any

import numpy as np
from book_browser import ROOT
from oracles import near

from softlookup_course.widgets import patching_grid


def spelled(token: str) -> str:
    return token.strip() or ("␣" if token else "(special)")


def patched_passes(shown: dict[str, Any]) -> None:
    record = json.loads((ROOT / "book" / "measured" / "patching.json").read_text(encoding="utf-8"))
    arrays, vocabulary = patching_grid.unpack(record), record["vocabulary"]
    clean, corrupted, row, column = (int(shown[name]) for name in ("clean", "corrupted", "row", "column"))
    assert shown["lists"] == [corrupted, clean] and shown["pressed"] == [shown["mode"]]
    assert shown["layer"] == str(column)
    is_vector = shown["mode"] == "vector"
    begins = 0 if is_vector else 1
    shares = arrays["shares" if is_vector else "heads"][corrupted, clean]
    back = shares[column, row] if is_vector else shares[column - 1, row]
    near(shown["here"], back, "the cell")
    for r, c, value in shown["patches"]:
        assert value is None or abs(value - (shares[c, r] if is_vector else shares[c - 1, r])) < 1e-9, (r, c)
    near(np.array(shown["ranks"]), arrays["ranks"][clean, begins:].T, "ranks")
    layers = arrays["direct"][clean, corrupted]
    heads, networks = layers[:, :-1].sum(axis=1), layers[:, -1]
    if is_vector:
        heads, networks = np.append(arrays["embedding"][clean, corrupted], heads), np.append(0, networks)
    near(np.array(shown["added"]), np.array([heads, networks]), "what layers add")
    answer, other = (record["answers"][i].strip() for i in (clean, corrupted))
    assert f"{back:.2f} of the answer comes back".replace("-", "\N{MINUS SIGN}") in shown["words"] or abs(back) < 0.005
    logits = arrays["logits"]
    low, high = (logits[i, clean] - logits[i, corrupted] for i in (corrupted, clean))
    lead = low + back * (high - low)
    if "causal" not in shown["words"] and abs(lead) > 0.1:
        ahead, behind = (answer, other) if lead > 0 else (other, answer)
        assert f"{ahead} is now ahead of {behind}" in shown["words"]
    before, after, whole = shown["passes"]
    for tokens, prompt in ((before, corrupted), (whole, clean)):
        assert [token for token, _ in tokens] == [
            spelled(vocabulary[i]) for i in arrays["tokens"][:, prompt, prompt, 0, 0]
        ]
    best = arrays["tokens"][0, corrupted, clean, column, row] if is_vector else None
    best = arrays["head_tokens"][corrupted, clean, column - 1, row] if best is None else best
    assert after[0][0] == spelled(vocabulary[best]) and len(after) == (3 if is_vector else 1)
    assert f"{answer} has rank {arrays['ranks'][clean, column, 1]:,})" in shown["reading"]
