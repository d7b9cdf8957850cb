"""Oracles of chapter 15's first figure, and of the models at a glance: both read the recorded files by themselves."""

import json
from functools import cache
from typing import Any

from book_browser import ROOT

from softlookup.roofline import config_json

MODEL_TYPES = {
    "gpt-oss-20b (2025)": "gpt_oss",
    "Qwen3.5-35B-A3B (2026)": "qwen3_5_moe_text",
    "GLM-5 (2026)": "glm_moe_dsa",
}
KNOWN = {"rotary positions", "norm before the sublayer", "RMSNorm for LayerNorm", "no encoder", "SwiGLU for ReLU"}
LONG = 131_072


@cache
def recorded(name: str) -> Any:
    return json.loads((ROOT / "book" / "measured" / f"{name}.json").read_text(encoding="utf-8"))


def expected_marks(entries: dict[str, Any]) -> set[str]:
    """Write the marks of a layer down from the entries of its config.json."""
    marks, every = set(KNOWN), entries["num_hidden_layers"]
    types = entries.get("layer_types", [])
    if (latent := entries.get("kv_lora_rank")) is not None:
        marks.add(f"latent of {latent}, rotary key of {entries['qk_rope_head_dim']}")
    elif entries["num_key_value_heads"] < entries["num_attention_heads"]:
        marks.add(f"{entries['num_key_value_heads']} key-value heads")
    if narrow := types.count("sliding_attention"):
        marks.add(f"window of {entries['sliding_window']} in {narrow} of {every} layers")
    if recurrent := types.count("linear_attention"):
        marks |= {f"delta rule in {recurrent} of {every} layers", "norms on queries and keys"}
    if "index_topk" in entries:
        marks.add(f"{entries['index_topk']:,} tokens chosen by an indexer")
    if entries.get("attn_output_gate"):
        marks.add("gate on the output")
    if entries["model_type"] == "gpt_oss":
        marks |= {"a sink in each head", f"YaRN, {entries['rope_scaling']['factor']:g} times as long"}
    experts = entries.get("num_local_experts", entries.get("num_experts", entries.get("n_routed_experts")))
    if experts is not None:
        shared = "n_shared_experts" in entries or "shared_expert_intermediate_size" in entries
        dense = entries.get("first_k_dense_replace", 0)
        some = f", in {every - dense} of {every} layers" if dense else ""
        marks.add(f"{entries['num_experts_per_tok']} of {experts} experts{' and a shared one' * shared}{some}")
    return marks


def compared_layers(shown: dict[str, Any]) -> None:
    if shown["model"] in MODEL_TYPES:
        config = recorded("released_configs")[MODEL_TYPES[shown["model"]]]["config"]
    else:
        config = config_json.QUOTED["Llama 2 7B"]
    assert {text for text, _ in shown["marks"]} == expected_marks(config.get("text_config", config))
    assert all(link.partition(".html#")[2] for _, link in shown["marks"])
    fresh = len(shown["marks"]) - len([text for text, _ in shown["marks"] if text in KNOWN or "key-value" in text])
    assert f"Of {len(shown['marks'])} differences from 2017" in shown["said"]
    assert f"and {fresh or 'none'} {'is' if fresh == 1 else 'are'} new" in shown["said"]
    total_bytes = config_json.cache_bytes(config, LONG) + 2 * config_json.state_numbers(config)
    assert f"takes {total_bytes / 1e9:.3g} GB" in shown["said"]
    assert f"has {config_json.sizes(config).total / 1e9:.3g} billion parameters" in shown["said"]
    assert shown["pressed"] == [shown["model"]]


def glanced(shown: dict[str, Any]) -> None:
    if not shown["type"]:
        assert shown["chosen"] == "" and shown["link"] is None and "Point at a dot" in shown["said"]
        return
    row = next(row for row in recorded("glance")["rows"] if row["model_type"] == shown["type"])
    assert (shown["chosen"], shown["link"]) == (shown["type"], f"#model-{shown['type']}")
    assert shown["said"].startswith(row["name"] or row["model_type"]) and shown["now"] == (row["name"] or shown["type"])
    total_bytes = row["long_bytes"] + row["state_bytes"]
    units = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))
    for number, after in ((total_bytes / LONG, " for each of 131,072 tokens"), (total_bytes, " in all")):
        size, unit = next(unit for unit in units if number >= 0.9995 * unit[0])
        assert f"{float(f'{number / size:.3g}'):,g} {unit}{after}" in shown["said"]
    for count in ("total", "active"):
        assert f"{float(f'{row[count] / 1e9:.3g}'):,g} billion" in shown["said"]
