"""softlookup read: a config at a glance."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from build_glance import first_years
from click.testing import CliRunner
from published_files import FILES
from tiny_decoders import tiny

from softlookup.describing.filled_entries import decoder_defaults
from softlookup.describing.read_layers import DECODERS
from softlookup.roofline import config_json
from softlookup.roofline.config_json import QUOTED
from softlookup.roofline.glance import LONG, diagram, formulas, glance, glance_text, repeats
from softlookup_command.commands import main

MEASURED = Path(__file__).parents[2] / "book" / "measured"
GPT_OSS = """gpt_oss: 24 layers, width 2,880

   embedding 201,088 x 2,880
   │
┌ 12 x ────────────────────────────────────────────────────────────────┐
│ 1 x  grouped-query attention, 64/8 heads of 64, window of 128, sinks │
│      4 of 32 experts of 2,880                                        │
│ 1 x  grouped-query attention, 64/8 heads of 64, sinks                │
│      4 of 32 experts of 2,880                                        │
└──────────────────────────────────────────────────────────────────────┘
   │
   an output matrix, 201,088 scores
"""


def call(*arguments):
    return CliRunner().invoke(main, ["read", *map(str, arguments)])


@pytest.fixture
def file(tmp_path):
    def write(config):
        path = tmp_path / "config.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return path

    return write


def test_a_config_is_drawn_and_counted(file):
    result = call(file(QUOTED["gpt-oss 20B"]))
    assert result.exit_code == 0
    assert result.output.startswith(GPT_OSS)
    assert "parameters  20.9 billion, 4.19 billion of them for a token\n" in result.output
    assert "cache       49,152 bytes for a token, 24,576 once all windows are full; 3.22 GB at 131,072" in result.output
    assert "further tokens" not in result.output


def test_layers_that_predict_further_tokens_are_said_to_be_left_out(file):
    sentence = "Not counted either: one layer that predicts further tokens.\n"
    assert sentence in call(file({**QUOTED["DeepSeek-V3"], "num_nextn_predict_layers": 1})).output


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (QUOTED["DeepSeek-V3"], "yes"),
        ({**tiny("llama"), "quantization_config": {"bits": 4}}, "yes"),
        ({"model_type": "gemma3", "text_config": tiny("gemma3_text"), "tie_word_embeddings": True}, "yes"),
        (tiny("mamba"), "no: state space (Mamba) is not in this library"),
        ({**tiny("llama"), "rope_theta": "x"}, "no: rope_theta is 'x'; wanted a number"),
    ],
)
def test_it_is_said_whether_the_library_runs_the_model(file, config, line):
    assert call(file(config)).output.endswith(f"\nruns in softlookup: {line}\n")


def evaluated(formula):
    """The value of a formula without its words."""
    plain = re.sub(r"\[[^\]]*\]", "", formula).replace(",", "").replace("×", "*").replace("−", "-")
    assert re.fullmatch(r"[0-9 ()*+-]+", plain)
    return eval(plain)  # noqa: S307


@pytest.mark.parametrize("name", DECODERS)
def test_the_formulas_of_every_family_come_to_its_counts(name):
    shown = glance({"tie_word_embeddings": False, **tiny(name)})
    counts = {"total": shown.total, "active": shown.active, "cache": shown.long_bytes, "states": shown.state_bytes}
    assert {what: evaluated(text) for what, text in formulas(shown).items()} == {
        what: count for what, count in counts.items() if count
    }


@pytest.mark.parametrize("name", DECODERS)
def test_every_family_is_drawn_and_written_as_json(name, file):
    config = {"tie_word_embeddings": False, **tiny(name)}
    shown = json.loads(call(file(config), "--json").output)
    layers = config_json.layers(config).layers
    assert sorted(place for row in shown["layers"] for place in row["places"]) == list(range(len(layers)))
    for row in shown["layers"]:
        assert [part["words"] for part in row["parts"]] == list(layers[row["places"][0]].words)
        assert all(part["kind"] and "Sizes" not in part["kind"] for part in row["parts"])
    assert shown["total"] == config_json.sizes(config).total
    assert shown["long_bytes"] == config_json.cache_bytes(config, LONG)
    text = glance_text(glance(config))
    assert all(words in text for layer in layers for words in layer.words)
    assert max(map(len, text.splitlines())) < 150


def test_the_text_decoder_of_a_model_of_text_and_images_is_named(file):
    config = {"model_type": "qwen3_5", "tie_word_embeddings": False, "text_config": tiny("qwen3_5_text")}
    assert call(file(config)).output.startswith(
        "qwen3_5_text: 5 layers, width 48 (the text decoder of qwen3_5; nothing else of it is counted)\n"
    )


def test_repeats_join_again_to_the_sequence():
    for name in DECODERS:
        layers = list(config_json.layers({"tie_word_embeddings": False, **tiny(name)}).layers)
        for sequence in (layers, layers * 3, [*layers * 2, layers[0]]):
            again = []
            for times, body in repeats(sequence):
                again += [layer for count, layer in body for _ in range(count)] * times
            assert again == sequence


def test_a_model_of_equal_layers_is_one_box():
    lines = diagram(config_json.layers(QUOTED["Llama 3 8B"]))
    assert [line[:7] for line in lines if line.startswith("┌")] == ["┌ 32 x "]


GLANCE = json.loads((MEASURED / "glance.json").read_text(encoding="utf-8"))
RELEASED = json.loads((MEASURED / "released_configs.json").read_text(encoding="utf-8"))


def test_the_file_for_the_book_has_each_architecture_once():
    assert GLANCE["transformers"] == decoder_defaults()["transformers"]
    names = [row["model_type"] for row in GLANCE["rows"]]
    assert sorted([*names, *GLANCE["left_out"]]) == sorted(DECODERS)


@pytest.mark.parametrize("row", GLANCE["rows"], ids=lambda row: row["model_type"])
def test_a_row_counts_the_config_of_the_model_that_it_names(row):
    name, config = row["name"], {"model_type": row["model_type"]}
    if name is not None:
        released = RELEASED.get(row["model_type"], {"name": None})
        config = released["config"] if released["name"] == name else QUOTED[name]
        assert config_json.layers(config).model_type == row["model_type"]
    assert row["total"] == config_json.sizes(config).total
    assert row["active"] == config_json.sizes(config).active
    assert row["long_bytes"] == config_json.cache_bytes(config, LONG)


def size_in_name(name):
    """The parameters that a model's name states; None where it states none, or those of one expert."""
    match = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)b\b", re.sub(r"\d+B-\d+E", "", name), re.IGNORECASE)
    return match and 1e9 * float(match[1])


def test_sizes_are_read_from_names():
    assert size_in_name("gpt-oss-20b") == 20e9
    assert size_in_name("Qwen3-30B-A3B") == 30e9
    assert size_in_name("Llama 2 7B") == 7e9
    for name in ("Mixtral-8x7B-v0.1", "DeepSeek-V3", "Llama-4-Scout-17B-16E-Instruct", "GLM-5"):
        assert size_in_name(name) is None


@pytest.mark.parametrize("row", [row for row in GLANCE["rows"] if row["name"]], ids=lambda row: row["name"])
def test_a_model_that_is_named_has_the_size_that_it_was_released_with(row):
    released = RELEASED.get(row["model_type"], {})
    stated = size_in_name(row["name"])
    if stated is None:
        stated = released["parameters"]
        assert released["stated_in"]
    assert 0.85 < row["total"] / stated < 1.15


def test_released_configs_have_a_source_and_agree_with_those_that_the_library_quotes():
    for released in RELEASED.values():
        if released["source"] == "tests/roofline/published_files.py":
            assert released["config"] == FILES[released["name"]]
        else:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{12}: \S+_config\.json", released["source"])
    for name, model_type in (
        ("DeepSeek-V3", "deepseek_v3"),
        ("gpt-oss 20B", "gpt_oss"),
        ("Qwen3 30B-A3B", "qwen3_moe"),
    ):
        assert config_json.layers(RELEASED[model_type]["config"]) == config_json.layers(QUOTED[name])


def test_an_architecture_is_of_the_year_of_the_first_wheel_that_has_it(tmp_path):
    for version, year, types in (("1.0", 2023, ["llama"]), ("2.0", 2025, ["llama", "qwen3"])):
        with zipfile.ZipFile(tmp_path / f"transformers-{version}-py3-none-any.whl", "w") as wheel:
            table = zipfile.ZipInfo("transformers/models/auto/configuration_auto.py", (year, 12, 1, 0, 0, 0))
            wheel.writestr(table, "\n".join(f'("{name}", "Config"),' for name in types))
    assert first_years(tmp_path, ["llama", "qwen3"]) == {"llama": 2023, "qwen3": 2025}
    with pytest.raises(ValueError, match="no wheel in .* has 'qwen4'"):
        first_years(tmp_path, ["qwen4"])


@pytest.mark.parametrize(
    ("model_type", "more"),
    [("qwen3_5_text", {"mlp_only_layers": [1]}), ("gemma4_text", {"use_bidirectional_attention": "all"})],
)
def test_what_released_files_say_beside_their_sizes_is_refused_where_it_would_count(model_type, more):
    config = RELEASED[model_type]["config"]
    with pytest.raises(ValueError, match=next(iter(more))):
        glance({**config, "text_config": {**config["text_config"], **more}})


def test_state_is_shown_where_there_is_one():
    assert "state " in glance_text(glance(tiny("qwen3_next")))
    assert "state " not in glance_text(glance(QUOTED["Llama 3 8B"]))
    assert "cache       none" in glance_text(glance(tiny("mamba2")))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is no JSON: "),
        ("[1]", "the description is a list; wanted the mapping that a config.json holds."),
        ("{}", "the description has no field model_type."),
        ({"model_type": "bert"}, "model_type is 'bert'; this library has afmoe, "),
        ({**tiny("olmo3"), "strange": 1}, "strange = 1: not understood for model_type 'olmo3'"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(file, content, says):
    path = file(content)
    result = call(path)
    assert result.exit_code == 2
    assert result.output.startswith(f"softlookup: {path}")
    assert says in result.output


def test_a_missing_file_and_one_that_is_no_text_are_said(tmp_path):
    assert call(tmp_path / "none.json").output.endswith("none.json cannot be read: No such file or directory.\n")
    (tmp_path / "weights").write_bytes(b"\xff\xfe\x00")
    assert "weights is not text in UTF-8" in call(tmp_path / "weights").output
