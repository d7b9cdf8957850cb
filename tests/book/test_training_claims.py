"""What chapter 9 says in words holds: of numbers by hand, of committed runs, of the translator's card and curves."""

import json
import math
import re

import numpy as np
import pytest
import torch
from built_book import ROOT

from softlookup import model
from softlookup.model.parts.initialise import xavier_
from softlookup.model.published.translator import SHIPPED
from softlookup.training.grammar_run import grammar_recipe

PAGE = (ROOT / "book" / "09_training.md").read_text(encoding="utf-8")
MORE = (ROOT / "book" / "09_training_more.md").read_text(encoding="utf-8")
RUNS = json.loads((ROOT / "book" / "measured" / "schedules.json").read_text(encoding="utf-8"))
CARD = (SHIPPED / "CARD.md").read_text(encoding="utf-8")


def lost(warmup, peak):
    return [run["loss"] for run in RUNS["runs"] if (run["warmup"], run["peak"]) == (warmup, peak)]


def test_a_softmax_too_many_leaves_the_floor_that_the_text_names():
    surest = torch.tensor([[1.0, 0.0, 0.0, 0.0]])  # no probabilities are further apart
    floor = torch.nn.functional.cross_entropy(surest, torch.tensor([0])).item()
    assert floor == pytest.approx(math.log(1 + 3 / math.e)) and f"{floor:.2f}" == "0.74"


def test_peak_of_the_paper_is_at_its_warmup_and_the_rate_falls_behind_it():
    rates = np.array([model.noam(step, 512) for step in range(1, 9001)])
    assert int(rates.argmax()) + 1 == 4000 and f"{rates.max():.2e}" == "6.99e-04"
    assert (np.diff(rates[3999:]) < 0).all() and (np.diff(rates[:4000]) > 0).all()
    assert model.noam(6000, 512, warmup=1000) == pytest.approx(model.noam(6000, 512))


def test_runs_with_a_warmup_have_a_higher_and_better_best_peak():
    none, some = RUNS["warmups"]

    def best(warmup):
        return min(RUNS["peaks"], key=lambda peak: np.mean(lost(warmup, peak)))

    assert best(some) > best(none)
    assert np.mean(lost(some, best(some))) < np.mean(lost(none, best(none)))


@pytest.mark.parametrize("gradient", [1e-3, 4.0, -250.0])
def test_adams_first_step_is_as_long_as_the_rate(gradient):
    weight = torch.nn.Parameter(torch.tensor(0.0, dtype=torch.float64))
    weight.grad = torch.tensor(gradient, dtype=torch.float64)
    torch.optim.Adam([weight], lr=0.01, betas=(0.9, 0.98), eps=1e-9).step()
    assert abs(weight.item()) == pytest.approx(0.01, rel=1e-5)


def test_least_smoothed_loss_of_the_text_is_that_of_a_model_that_gives_what_was_asked():
    target = model.label_smoothing(torch.tensor([[5]]), 4000, 0.1)[0, 0].double()
    assert -(target * target.log()).sum().item() == pytest.approx(1.15, abs=0.01)


def test_first_loss_of_four_thousand_words_is_the_questions():
    assert f"{math.log(4000):.1f}" == "8.3"


def test_autocast_keeps_products_in_half_and_the_loss_in_float32():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = torch.randn(4, 8) @ torch.randn(8, 8)
        assert x.dtype == torch.bfloat16
        loss = torch.nn.functional.cross_entropy(x, torch.zeros(4, dtype=torch.long))
    assert loss.dtype == torch.float32
    digits = [-math.log10(torch.finfo(kind).eps) for kind in (torch.bfloat16, torch.float16)]
    assert 2 < digits[0] < 3 <= math.ceil(digits[1])


def test_float16_loses_digits_below_its_smallest_normal_number_and_ends_1024_times_further_down():
    half = torch.finfo(torch.float16)
    smallest = half.smallest_normal * half.eps
    assert (half.smallest_normal, smallest) == (2.0**-14, 2.0**-24)

    def of(x):
        return torch.tensor(x, dtype=torch.float16).item()

    assert of(half.smallest_normal * (1 + half.eps)) > half.smallest_normal
    assert of(half.smallest_normal / 2 * (1 + half.eps)) == half.smallest_normal / 2
    assert of(smallest) > 0 == of(smallest / 2)


def test_matrices_of_the_library_are_drawn_by_xavier():
    torch.manual_seed(0)
    w = torch.empty(400, 100)
    xavier_(w)
    assert w.var().item() == pytest.approx(2 / 500, rel=0.05)


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


def test_cross_entropy_takes_logits_in_torch_and_probabilities_in_scikit_learn():
    from sklearn.metrics import log_loss

    torch.manual_seed(0)
    logits, labels = torch.randn(6, 4, dtype=torch.float64), torch.tensor([0, 1, 2, 3, 1, 0])
    by_torch = torch.nn.functional.cross_entropy(logits, labels).item()
    assert log_loss(labels, logits.softmax(-1), labels=range(4)) == pytest.approx(by_torch)


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


def test_bleu_is_a_geometric_mean_of_four_precisions_with_a_penalty_and_no_count():
    from sacrebleu.metrics import BLEU

    score = BLEU(effective_order=False).corpus_score(["a b c d e f g h"], [["a b c d e f g x y z"]])
    means = math.exp(sum(math.log(precision) for precision in score.precisions) / 4)
    assert score.score == pytest.approx(score.bp * means) and score.bp < 1


def test_language_models_begin_with_a_normal_of_two_hundredths_and_torchs_transformer_with_xavier():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    for name in ("BertConfig", "GPT2Config", "LlamaConfig"):
        assert getattr(transformers, name)().initializer_range == 0.02
    torch.manual_seed(0)
    layer = torch.nn.Transformer(64, 4, 1, 1, 256, batch_first=True, norm_first=False).encoder.layers[0]
    for weight in (layer.linear1.weight, layer.linear2.weight, layer.self_attn.out_proj.weight):
        limit = math.sqrt(6 / sum(weight.shape))
        assert 0.98 * limit < weight.abs().max().item() <= limit
