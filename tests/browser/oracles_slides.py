"""As `oracles`, for the table of a slide of which a reader presses cells."""

import re
from typing import Any

import numpy as np
from oracles import grids, near

from softlookup_course.slide_audit import first_head

SAID = re.compile(r"Token (\d), column (\d) of K: printed ([\d.]+), and (wrong|right)(?:, off by (\d+(?:\.\d+)?))?")
CAUGHT = (1, 2)
"""The cell of the keys that a single product shows to be wrong: its row and column, from 0."""


def pressed_keys(shown: dict[str, Any]) -> None:
    printed, true = np.array(first_head.KEYS), first_head.X @ first_head.W_K
    near(grids(shown["cells"])["copy0"], printed, "printed")
    off = np.abs(printed - true) > 0.005 + 1e-9
    pressed = [divmod(int(index), 3) for index in shown["memory"].split(".") if index]
    assert shown["count"] == f"Cells pressed: {len(pressed)}"
    is_shown = shown["all"] == "true"
    assert is_shown or CAUGHT not in pressed
    for index, (state, below) in enumerate(zip(shown["states"], shown["below"], strict=True)):
        cell = divmod(index, 3)
        is_known = is_shown or cell in pressed
        expected = "wrong" if off[cell] and is_known else "right" if cell in pressed else ""
        assert state == expected, cell
        assert (below is None) == (state != "wrong")
        assert below is None or abs(below - true[cell]) < 1e-9
    match = SAID.match(shown["words"])
    if match is None:
        assert shown["words"].startswith("Which key") and not pressed and not is_shown
        return
    at = int(match[1]) - 1, int(match[2]) - 1
    assert float(match[3]) == printed[at]
    assert (match[4] == "wrong") == off[at]
    assert match[5] is None or abs(float(match[5]) - abs(printed - true)[at]) < 0.0051
    terms = " + ".join(f"{a:g} × {b:g}" for a, b in zip(first_head.X[at[0]], first_head.W_K[:, at[1]], strict=True))
    assert shown["words"].endswith(f"{terms} = {true[at]:g}")
    assert ("other two can only add" in shown["words"]) == (at == CAUGHT)
