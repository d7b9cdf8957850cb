"""What chapter 9 says in words holds: of committed runs, of half precision, of the translator's card and curves."""

import json
import math
import re

import numpy as np
import pytest
import torch
from built_book import ROOT

from softlookup.model.published.translator import SHIPPED
from softlookup.training.grammar_run import grammar_recipe

PAGE = (ROOT / "book" / "09_training.md").read_text(encoding="utf-8")
MORE = (ROOT / "book" / "09_training_more.md").read_text(encoding="utf-8")
RUNS = json.loads((ROOT / "book" / "measured" / "schedules.json").read_text(encoding="utf-8"))
CARD = (SHIPPED / "CARD.md").read_text(encoding="utf-8")


def lost(warmup, peak):
    return [run["loss"] for run in RUNS["runs"] if (run["warmup"], run["peak"]) == (warmup, peak)]


def test_runs_with_a_warmup_have_a_higher_and_better_best_peak():
    none, some = RUNS["warmups"]

    def best(warmup):
        return min(RUNS["peaks"], key=lambda peak: np.mean(lost(warmup, peak)))

    assert best(some) > best(none)
    assert np.mean(lost(some, best(some))) < np.mean(lost(none, best(none)))


def test_autocast_keeps_products_in_half_and_the_loss_in_float32():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = torch.randn(4, 8) @ torch.randn(8, 8)
        assert x.dtype == torch.bfloat16
        loss = torch.nn.functional.cross_entropy(x, torch.zeros(4, dtype=torch.long))
    assert loss.dtype == torch.float32
    digits = [-math.log10(torch.finfo(kind).eps) for kind in (torch.bfloat16, torch.float16)]
    assert 2 < digits[0] < 3 <= math.ceil(digits[1])


def test_stages_of_the_translator_are_as_the_caption_says():
    recipes = [json.loads((SHIPPED / f"recipe-{n}.json").read_text(encoding="utf-8")) for n in (1, 2, 3, 4)]
    assert recipes[1]["dropout"] < recipes[0]["dropout"]
    layers = [recipe["n_layers"] for recipe in recipes]
    assert layers[0] == layers[1] < layers[2] < layers[3]
    curve = json.loads((SHIPPED / "curve.json").read_text(encoding="utf-8"))
    lowest = [min(loss for _, loss in curve[name]["validation"]) for name in ("first", "second", "third", "fourth")]
    assert lowest == sorted(lowest, reverse=True)


def test_card_says_what_the_page_says_of_data_time_and_test_sets():
    assert "29,000 pairs" in CARD and "not quite 5 hours of one core" in CARD and "some five hours" in PAGE
    assert re.search(r"test sets were translated once with each model that was shipped, after it was chosen", CARD)
    assert "two test sets, translated once after this model was chosen" in MORE
    assert "two later ones that were not put in its place" in CARD and "Two later models were compared" in MORE


def test_run_of_the_notebook_is_the_one_that_its_text_describes():
    recipe = grammar_recipe()
    assert recipe.steps == 800
    notebook = (ROOT / "solutions" / "09_training.py").read_text(encoding="utf-8")
    assert "one to two minutes" in notebook and "continues when you run this cell again" in notebook


@pytest.fixture(scope="module")
def saved_bytes():
    """The function of the page of further details, from its cell."""
    cell = MORE[MORE.index("def saved_bytes") :]
    namespace = {"torch": torch, "F": torch.nn.functional}
    exec(compile(cell[: cell.index("\n# With weights")], "<page>", "exec"), namespace)
    return namespace["saved_bytes"]


@pytest.mark.parametrize(("tokens", "ratio"), [(128, 0.67), (512, 0.88), (1024, 1.03)])
def test_autocast_saves_activations_of_plain_attention_in_two_kinds(saved_bytes, tokens, ratio):
    """Counted by hand: the inputs of two norms in float32, 14 T D numbers in half precision, the weights in both."""
    rows, square = tokens * 128, 2 * tokens**2
    got = saved_bytes(tokens, False, True, torch.bfloat16) / saved_bytes(tokens, False, False)
    counted = (4 * 2 * rows + 2 * 14 * rows + 6 * square) / (4 * 16 * rows + 4 * square)
    assert got == pytest.approx(counted, rel=2e-3) and got == pytest.approx(ratio, abs=0.006)


def test_autocast_nearly_halves_activations_of_fused_attention(saved_bytes):
    whole = saved_bytes(512, True, False)
    assert saved_bytes(512, True, True, torch.bfloat16) / whole == pytest.approx(0.56, abs=0.005)


def test_autocast_saves_copies_of_the_weights_for_the_backward_pass(saved_bytes):
    more = saved_bytes(64, True, True) - saved_bytes(64, True, True, torch.bfloat16)
    assert more == 2 * 12 * 128**2  # 2 bytes a parameter: 18 with weights, gradients and Adam
    row = next(line for line in MORE.splitlines() if line.startswith("| autocast"))
    assert "| 4 | 4 | 8 | 2, in half precision" in row and "16 to 18" in row


def test_language_models_begin_with_a_normal_of_two_hundredths_and_torchs_transformer_with_xavier():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    for name in ("BertConfig", "GPT2Config", "LlamaConfig"):
        assert getattr(transformers, name)().initializer_range == 0.02
    torch.manual_seed(0)
    layer = torch.nn.Transformer(64, 4, 1, 1, 256, batch_first=True, norm_first=False).encoder.layers[0]
    for weight in (layer.linear1.weight, layer.linear2.weight, layer.self_attn.out_proj.weight):
        limit = math.sqrt(6 / sum(weight.shape))
        assert 0.98 * limit < weight.abs().max().item() <= limit
