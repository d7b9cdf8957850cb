"""For each interactive figure: what it shows now, read by `readers.js`, and what the library gives at that setting.

No engine is named here: `test_figures_by_hand.py` works the figures in Chromium, `test_other_engines.py` in the others.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from book_browser import HTML

from softlookup import reference
from softlookup_course.widgets import Look, Sizes
from softlookup_course.widgets.attention_steps import STAGES
from softlookup_course.widgets.head_shapes import describe as describe_heads
from softlookup_course.widgets.lookup_plane import look_up
from softlookup_course.widgets.mask_builder import describe as describe_mask
from softlookup_course.widgets.position_explorer import describe_rotary, describe_sinusoids

STATE = re.compile(r'<script type="application/vnd.jupyter.widget-state\+json">(.*?)</script>', re.S)
READERS = Path(__file__).with_name("readers.js").read_text(encoding="utf-8").rstrip()
TWO_DECIMALS = 0.005 + 1e-9


@dataclass(frozen=True)
class Oracle:
    """A figure: its class in the page, the page, and what fails unless its numbers are right."""

    name: str
    page: str
    agrees: Callable[[Any], None]

    def script(self) -> str:
        """Give the function that reads the first such figure of the page."""
        return f"() => ({READERS}).{self.name}(document.querySelector('.slf.{self.name}'))"


@cache
def widget_state(page: str, *traits: str) -> dict[str, Any]:
    """Give what a page keeps for the figure that has these traits; Python put it there when the book was built."""
    models = json.loads(STATE.search((HTML / page).read_text(encoding="utf-8"))[1])["state"].values()
    return next(model["state"] for model in models if set(traits) <= set(model["state"]))


def grids(cells: list[list[Any]]) -> dict[str, np.ndarray]:
    """Put cells [grid, row, column, value] together to tables."""
    tables: dict[str, dict[tuple[int, int], float]] = {}
    for grid, row, column, value, *_ in cells:
        tables.setdefault(grid, {})[row, column] = value
    made = {}
    for grid, numbers in tables.items():
        made[grid] = np.full(np.max(list(numbers), axis=0) + 1, np.nan)
        for place, value in numbers.items():
            made[grid][place] = value
    return made


def near(shown: Any, expected: Any, what: str, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(shown, expected, rtol=1e-9, atol=atol, err_msg=what)


def attention_steps(shown: dict[str, Any]) -> None:
    example = widget_state("book/04_one_head.html", "examples")["examples"][shown["example"]]
    q, k, v = (np.array(example[name]) for name in "qkv")
    mask = None if example["mask"] is None else np.array(example["mask"])
    scores = q @ k.T
    expected = {"q": q, "k": k, "v": v, "scores": scores, "scaled": scores / np.sqrt(q.shape[1])}
    expected["weights"] = reference.attention_weights(q, k, mask)
    expected["output"] = reference.scaled_dot_product_attention(q, k, v, mask)
    last = {"score": "scores", "scale": "scaled", "softmax": "weights", "mix": "output"}[STAGES[shown["stage"]]]
    tables = grids(shown["cells"])
    assert last in tables
    for name, table in tables.items():
        near(table, expected[name], name)
    for grid, row, column, _, text in shown["cells"]:
        if text != "−∞":
            assert abs(float(text.replace("−", "-")) - expected[grid][row, column]) <= TWO_DECIMALS


def encoder_stepper(shown: dict[str, Any]) -> None:
    record = widget_state("book/07_encoder.html", "records")["records"][shown["example"]][shown["order"]]
    box = next(box for box in record["boxes"] if box["id"] == shown["box"])
    tables = grids(shown["cells"])
    assert set(tables) == {table["id"] for table in box["tables"]}
    for table in box["tables"]:
        near(tables[table["id"]], table["numbers"], table["id"])


def head_shapes(shown: dict[str, Any]) -> None:
    counts = describe_heads(Sizes("shown", **shown["sizes"]), int(shown["bytes"]))
    assert shown["shapes"] == counts["shapes"]
    flops = counts["flops"]
    expected = {f"parameters.{name}": n for name, n in counts["parameters"].items()}
    expected |= {"flops.projections": sum(flops[name] for name in "qkvy"), "flops.attention": flops["a"] + flops["z"]}
    expected |= {
        "flops.total": flops["total"],
        "score_bytes": counts["score_bytes"],
        "cache_bytes": counts["cache_bytes"],
    }
    assert shown["counts"] == expected


def lookup_plane(shown: dict[str, Any]) -> None:
    store = widget_state("book/02_soft_lookup.html", "store")["store"]
    expected = look_up(store["k"], store["v"], shown["query"], shown["tau"], shown["cosine"])
    for name in ("scores", "weights", "answer"):
        near(shown[name], expected[name], name)
    for text, weight in zip(shown["written"], expected["weights"], strict=True):
        assert abs(float(text) - weight) <= TWO_DECIMALS


def mask_builder(shown: dict[str, Any]) -> None:
    look = Look(**widget_state("book/08_decoder_and_masks.html", "looks")["looks"][shown["sentence"]])
    expected = describe_mask(look, np.array(shown["mask"]))
    near(shown["weights"], expected["weights"], "weights")
    near(shown["output"], expected["outputs"], "output")
    assert [shown[name] for name in ("allowed", "future", "blind")] == [
        expected[n] for n in ("allowed", "future", "blind")
    ]


def position_explorer(shown: dict[str, Any]) -> None:
    first, second = shown["positions"]
    if shown["rotary"]:
        state = widget_state("book/06_positions.html", "query", "key", "base")
        expected = describe_rotary(state["query"], state["key"], first, second, state["base"])
        near(shown["turned"], expected["query"] + expected["key"], "turned")
        near(shown["numbers"]["score"], expected["score"], "score")
        near([shown["numbers"]["part0"], shown["numbers"]["part1"]], expected["parts"], "parts")
    else:
        expected = describe_sinusoids(first, second, int(shown["width"]))
        near(shown["rows"], expected["rows"], "rows")
        near(shown["numbers"]["dot"], expected["dot"], "dot")
        near(shown["numbers"]["distance"], abs(first - second), "distance")


def product_shapes(shown: dict[str, Any]) -> None:
    state, tables = widget_state("book/00_before_you_start.html", "shape_a"), grids(shown["cells"])
    for which in "ab":
        rows, columns = shown["sizes"][which]
        turned = which in shown["turned"]
        whole = np.array(state[which]).T if turned else np.array(state[which])
        assert np.array_equal(tables[which], whole[:rows, :columns]), which
    if tables["a"].shape[1] == tables["b"].shape[0]:
        assert np.array_equal(tables["c"], tables["a"] @ tables["b"])
    else:
        assert "c" not in tables and "They fit." not in shown["words"]


def machine_map(shown: dict[str, Any]) -> None:
    run = widget_state("book/01_motivation.html", "runs")["runs"][shown["sentence"]]
    slug, layer, names = shown["slug"], shown["layer"], [row[0] for row in shown["rows"]]
    numbers = [float(row[1].partition(" of ")[0].replace("−", "-").replace(",", "")) for row in shown["rows"]]
    source, target = run["source"], run["target"]
    at = (source if shown["reads"] else target).index(shown["word"])
    if slug in run["weights"]:
        seen = target[: at + 1] if slug == "masked-attention" else source
        expected = (seen, run["weights"][slug][layer][at][: len(seen)])
    elif slug in run["vectors"]:
        expected = ([f"number {i + 1}" for i in range(len(names))], run["vectors"][slug][at])
    elif slug in run["norms"]:
        layers = run["norms"][slug]
        expected = (["before the norm", "after the norm"], [lengths[at] for lengths in layers[layer % len(layers)]])
    elif slug == "source":
        expected = (source, run["source_ids"])
    elif slug == "target":
        expected = (target[: len(names)], run["target_ids"][: len(names)])
    elif slug in run["active"]:
        expected = ([f"layer {i + 1}" for i in range(len(names))], [counts[at] for counts in run["active"][slug]])
    elif slug in run["lengths"]:
        after = [f"after layer {i}" for i in range(1, len(names))]
        expected = (["before layer 1", *after], [lengths[at] for lengths in run["lengths"][slug]])
    else:
        expected = (run["best"][at], run[{"scores": "logits", "distribution": "probabilities"}[slug]][at])
    assert names == list(expected[0])
    near(numbers, expected[1], slug, atol=TWO_DECIMALS)


def patch_explorer(shown: dict[str, Any]) -> None:
    picture = widget_state("book/13_beyond_text.html", "pictures")["pictures"][shown["picture"]]
    near(shown["values"], picture["views"][shown["view"]]["values"], "map")
    assert f"Read as {picture['best']}" in shown["about"]


def first_lookup(shown: dict[str, Any]) -> None:
    record = widget_state("book/index.html", "record")["record"]
    query, place = (
        next(entry for entry in record["asked"] if entry["name"] == shown["asked"]),
        record["taus"].index(shown["tau"]),
    )
    near(shown["weights"], query["weights"][place], "weights", atol=TWO_DECIMALS)
    assert query["answers"][place] in shown["said"]


ATTENTION = [
    Oracle("fst", "book/index.html", first_lookup),
    Oracle("slw", "book/04_one_head.html", attention_steps),
    Oracle("ens", "book/07_encoder.html", encoder_stepper),
    Oracle("hsh", "book/05_many_heads.html", head_shapes),
    Oracle("slp", "book/02_soft_lookup.html", lookup_plane),
    Oracle("msk", "book/08_decoder_and_masks.html", mask_builder),
    Oracle("pse", "book/06_positions.html", position_explorer),
    Oracle("spr", "book/00_before_you_start.html", product_shapes),
    Oracle("slm", "book/01_motivation.html", machine_map),
    Oracle("pat", "book/13_beyond_text.html", patch_explorer),
]
"""The figures of the first page and of chapters 0 to 8 and 13; `oracles_machines` has those that count and draw."""
