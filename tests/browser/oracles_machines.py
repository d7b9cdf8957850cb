"""As `oracles`, for the figures that count operations and bytes, draw tokens, search and cut texts."""

import json
from functools import cache
from typing import Any

from book_browser import ROOT
from oracles import Oracle, kept, near

from softlookup import roofline as rl
from softlookup.roofline import config_json
from softlookup.text import BytePairTokenizer, CharacterTokenizer, Vocabulary, WordTokenizer
from softlookup.widgets import (
    Learned,
    beam_tree,
    cache_growth,
    config_reader,
    rate_explorer,
    roofline_explorer,
    sampling_explorer,
)
from softlookup.widgets import batching_explorer as batching
from softlookup.widgets import memory_explorer as memory
from softlookup.widgets.tokenizer import CUTS, pieces

COUNTING, INFERENCE = "book/12_counting.html", "book/10_inference.html"


@cache
def measured(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "book" / "measured" / f"{name}.json").read_text(encoding="utf-8"))


def batching_explorer(shown: dict[str, Any]) -> None:
    asked = shown["asked"]
    batch, length = batching.BATCHES[int(asked["batch"])], batching.LENGTHS[int(asked["length"])]
    stage = {"writing": batching.WRITING, "reading": batching.READING}[asked["stage"]]
    told = batching.describe(shown["model"], shown["machine"], stage, batch, length)
    for part in ("dense", "attention"):
        for key, value in told[part].items():
            near(shown["cells"][f"{part}-{key}"], value, key)
    for key in ("weight_bytes", "cache_bytes", "flops", "seconds", "tokens_per_s", "ridge"):
        near(float(shown["data"][key.replace("_", "")]), told[key], key)
    assert (shown["data"]["fits"] == "true") == told["fits"]


def memory_explorer(shown: dict[str, Any]) -> None:
    asked = shown["asked"]
    batch, length = memory.BATCHES[int(asked["batch"])], memory.LENGTHS[int(asked["length"])]
    if asked["use"] == "writing":
        told = memory.describe_writing(shown["model"], batch, length, memory.NUMBER_BYTES[asked["numbers"]])
    else:
        options = {name: asked[name] for name in ("fused", "recompute")}
        told = memory.describe_learning(shown["model"], batch, length, asked["recipe"], **options)
    told = {name: value for name, value in told.items() if value}
    assert shown["parts"] == told | {"all": sum(told.values())}
    held = rl.hardware(shown["machine"].rpartition(", ")[0]).memory_bytes
    assert (shown["data"]["fits"] == "true") == (sum(told.values()) <= held)


def beam_search(shown: dict[str, Any]) -> None:
    searches = kept(INFERENCE, "searches")["searches"]
    search = next(one for one in searches if one["beams"] == shown["beams"])
    steps = search["steps"][: shown["step"]]
    how = [("ended" if one["ended"] else "kept" if one["kept"] else "dropped") for one in steps[-1]]
    wanted = [[one["total"], what, ",".join(map(str, one["ids"]))] for one, what in zip(steps[-1], how, strict=True)]
    assert shown["rows"] == wanted
    ranked = beam_tree.finished(steps, float(shown["alpha"]))
    assert [ids for _, ids in shown["ends"]] == [",".join(map(str, ids)) for _, ids in ranked]
    near([score for score, _ in shown["ends"]], [score for score, _ in ranked], "scores")


def cache_in_steps(shown: dict[str, Any]) -> None:
    state, sizes = kept(INFERENCE, "prompt", "options"), shown["sizes"]
    names = {"layers": "n_layers", "heads": "n_kv_heads", "width": "head_width", "each": "each"}
    n, cached = len(state["tokens"]), shown["cached"] == "true"
    step = int(shown["data"]["step"])
    told = cache_growth.describe(
        n, state["prompt"], step, cached=cached, **{names[name]: int(value) for name, value in sizes.items()}
    )
    assert {name: int(shown["data"][name]) for name in told} == told
    assert shown["boxes"] == told["kept"]


def config(shown: dict[str, Any]) -> None:
    read, data = config_json.QUOTED[shown["data"]["model"]], shown["data"]
    told = config_reader.describe(read, int(data["length"]), int(shown["each"]))
    assert {name: int(data[name]) for name in told} == told
    assert shown["held"] == config_json.held(read, int(data["length"]))
    assert shown["parts"] == {name: number for name, number in config_reader.described(read)["parts"].items() if number}
    assert data["model"] in shown["words"]


def sampling(shown: dict[str, Any]) -> None:
    choice, at = kept(INFERENCE, "choices")["choices"][shown["place"]], shown["sliders"]
    k, p = (None if at["k"] > 50 else int(at["k"])), (None if at["p"] == 1 else at["p"])
    told = sampling_explorer.describe(choice["logits"], at["tau"], k, p, at["u"])
    near(shown["probabilities"], told["probabilities"], "probabilities")
    assert [shown["kept"], shown["drawn"]] == [told["kept"], told["drawn"]]


def learning_rates(shown: dict[str, Any]) -> None:
    told = rate_explorer.describe(int(shown["width"]), int(shown["warmup"]), int(shown["step"]))
    near([shown["rate"], shown["peak"]], [told["rate"], told["peak"]], "rate and peak")
    runs = [one for one in rate_explorer.curves(measured("schedules")) if one["peak"] == shown["chosen"]]
    assert shown["losses"] == [
        [one["warmup"], "no number" if one["loss"] is None else f"{one['loss']:.2f}"] for one in runs
    ]


def roof(shown: dict[str, Any]) -> None:
    record = measured("roofline")
    own = shown["machine"] == record["machine"]
    machine = rl.measured_hardware(record) if own else rl.hardware(shown["machine"])
    sizes = [shown["sizes"][letter] for letter in "BSNH"]
    told = roofline_explorer.describe(machine, shown["numbers"], *sizes, shown["phase"])
    assert [row[:4] for row in shown["rows"]] == [[t["name"], t["flops"], t["bytes"], t["bound"]] for t in told]
    near([row[4] for row in shown["rows"]], [t["seconds"] for t in told], "seconds")


def cut_text(shown: dict[str, Any]) -> None:
    told = kept("book/03_tokens_and_embeddings.html", "learned")["learned"][shown["source"]]
    tokenizer = BytePairTokenizer(told["alphabet"], [tuple(pair) for pair in told["merges"]])
    words = told["words"] and WordTokenizer(Vocabulary(told["words"]))
    characters = told["characters"] and CharacterTokenizer(Vocabulary(told["characters"]))
    learned = Learned(told["title"], told["about"], tokenizer, told["times"], words or None, characters or None)
    wanted = pieces(learned, shown["text"], CUTS[shown["cut"]], int(shown["merges"]))
    assert [tuple(pair) for pair in shown["tokens"]] == wanted


MACHINES = [
    Oracle("bat", COUNTING, batching_explorer),
    Oracle("mem", COUNTING, memory_explorer),
    Oracle("bmt", INFERENCE, beam_search),
    Oracle("kvc", INFERENCE, cache_in_steps),
    Oracle("cfg", "book/15_what_changed.html", config),
    Oracle("smp", INFERENCE, sampling),
    Oracle("lrx", "book/09_training.html", learning_rates),
    Oracle("rfl", "book/11_roofline.html", roof),
    Oracle("slt", "book/03_tokens_and_embeddings.html", cut_text),
]
"""The other figures."""
