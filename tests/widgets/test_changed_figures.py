"""The layer of 2017 beside one of today, and models as dots: boxes, marks and counts against configs and sources."""

import inspect
import json
import re
from importlib import import_module, util
from pathlib import Path

import pytest

from softlookup.roofline.config_json import QUOTED, layers
from softlookup_course.widgets import CostSwitches, LayerComparison, ModelDots, cost_switches, layer_comparison
from softlookup_course.widgets.model_dots import KINDS, memory, memory_type

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "book" / "measured"
RELEASED = json.loads((MEASURED / "released_configs.json").read_text(encoding="utf-8"))
ROWS = json.loads((MEASURED / "glance.json").read_text(encoding="utf-8"))["rows"]
CONFIGS = {
    "llama": QUOTED["Llama 2 7B"],
    **{name: RELEASED[name]["config"] for name in ("gpt_oss", "glm_moe_dsa", "qwen3_5_moe_text")},
}
LAYERS = {
    "llama": "LlamaDecoderLayer",
    "gpt_oss": "GptOssDecoderLayer",
    "glm_moe_dsa": "GlmMoeDsaDecoderLayer",
    "qwen3_5_moe": "Qwen3_5MoeDecoderLayer",
}


def marks(name):
    every = layer_comparison.describe(CONFIGS[name])["marks"].values()
    return {text for row in every for text, *_ in row}


@pytest.mark.parametrize("name", CONFIGS)
def test_layers_that_are_compared_have_two_norms_without_bias(name):
    model = layers(CONFIGS[name])
    assert {layer.norms for layer in model.layers} == {2 * model.d_model}
    assert model.model_type in layer_comparison.PRE_NORM


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="reads the layers of transformers")
@pytest.mark.parametrize("name", LAYERS)
def test_norms_stand_before_the_sublayers_and_are_rms_norms(name):
    module = import_module(f"transformers.models.{name}.modeling_{name}")
    source = inspect.getsource(getattr(module, LAYERS[name]))
    assert re.findall(r"self\.(\w+layernorm) = \w*RMSNorm\(", source) == ["input_layernorm", "post_attention_layernorm"]
    forward = source[source.index("def forward") :]
    steps = [
        forward.index(f"self.{part}(") for part in ("input_layernorm", "self_attn", "post_attention_layernorm", "mlp")
    ]
    assert steps == sorted(steps)
    assert len(re.findall(r"residual \+ hidden_states", forward)) == 2


def test_marks_are_the_parts_of_the_chapter_and_each_model_has_some():
    known = {"rotary positions", "norm before the sublayer", "RMSNorm for LayerNorm", "no encoder", "SwiGLU for ReLU"}
    assert marks("llama") == known
    assert {"window of 128 in 12 of 24 layers", "a sink in each head", "YaRN, 32 times as long"} < marks("gpt_oss")
    assert "8 of 256 experts and a shared one, in 75 of 78 layers" in marks("glm_moe_dsa")
    assert {"norms on queries and keys", "delta rule in 30 of 40 layers"} < marks("qwen3_5_moe_text")
    every = [
        mark
        for config in CONFIGS.values()
        for row in layer_comparison.describe(config)["marks"].values()
        for mark in row
    ]
    assert {link for _, link, _ in every} == {link for link, _ in layer_comparison.SECTIONS.values()}


def test_every_mark_leads_to_a_label_that_its_page_has_and_names_a_cost_of_the_chapter():
    for link, cost in layer_comparison.SECTIONS.values():
        page, label = link.split(".html#")
        assert f"\n({label})=\n" in (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
        assert cost in ("", *layer_comparison.COSTS) and bool(cost) == page.startswith("15_")


def test_model_whose_norms_stand_elsewhere_is_refused():
    with pytest.raises(ValueError, match="where the norms of 'gemma3_text' stand is not known"):
        LayerComparison({"Gemma 3 1B": QUOTED["Gemma 3 1B"]}, "Gemma 3 1B")


def test_fallbacks_show_every_box_and_every_kind():
    html = LayerComparison({name: CONFIGS[name] for name in ("llama", "gpt_oss")}, "gpt_oss").fallback
    assert "cross-attention, 8 heads of 64" in html and "a sink in each head" in html and "<td>3.22</td>" in html
    html = ModelDots(ROWS, ["Llama 2 7B"]).fallback
    counts = [int(number) for number in re.findall(r"</th><td>(\d+)</td>", html)]
    assert len(counts) == len(KINDS) and sum(counts) == len(ROWS)


def test_dots_have_the_kinds_and_the_bytes_of_their_rows():
    by_type = {row["model_type"]: row for row in ROWS}
    kinds = {"llama": "all tokens", "gpt_oss": "windows", "deepseek_v3": "latent", "qwen3_next": "recurrent"}
    assert {name: memory_type(by_type[name]) for name in kinds} == kinds
    assert memory(by_type["llama"]) == 2 * 2 * 32 * 128 * 32 * 131_072
    with pytest.raises(ValueError, match="no row has the name 'GPT-9'"):
        ModelDots(ROWS, ["GPT-9"])


def test_switches_can_be_fewer_and_show_memory_alone():
    figure = CostSwitches("Llama 2 7B", "H100 SXM", ("heads", "latent", "windows"), ("memory",))
    assert set(figure.records) == {"", "heads", "latent"} and figure.costs == ["memory"]
    assert figure.most["memory"] == sum(
        cost_switches.describe(QUOTED["Llama 2 7B"], (), 131_072)[k] for k in ("stored", "cache")
    )
    names = re.findall(r'<th scope="row">([^<]+)</th>', figure.fallback)
    assert names[-1] == "8 key-value heads, windows of 1,024" and "GFLOP" not in figure.fallback
