"""What chapters 7, 8 and 10 say in words holds: of the committed runs of norms, of the walk, of masks in PyTorch."""

import json
from statistics import median

import numpy as np
import pytest
import torch
from built_book import ROOT
from torch import nn

from softlookup import model, reference
from softlookup_course.widgets.encoder_stepper import LayerExample, compute

PAGE = (ROOT / "book" / "07_encoder.md").read_text(encoding="utf-8")
RUNS = json.loads((ROOT / "book" / "measured" / "norms.json").read_text(encoding="utf-8"))


def losses(order, depth, rate, warmup):
    setting = (order, depth, rate, warmup)
    return [r["loss"] for r in RUNS["runs"] if (r["order"], r["depth"], r["rate"], r["warmup"]) == setting]


def test_deep_post_norm_without_warmup_does_not_learn_and_pre_norm_does():
    assert min(losses("post", 12, 0.003, 0)) > RUNS["guessing"]
    assert max(losses("pre", 12, 0.003, 0)) < RUNS["guessing"] / 5
    assert median(losses("post", 12, 0.003, 100)) < RUNS["guessing"]


def test_deep_post_norm_without_warmup_sometimes_learns_at_the_lower_rate():
    assert (
        min(losses("post", 12, 0.001, 0))
        < RUNS["guessing"] / 1.5
        < RUNS["guessing"]
        < max(losses("post", 12, 0.001, 0))
    )
    assert "post-LN without warm-up does not learn at this rate" in PAGE


def test_two_layers_learn_in_either_order():
    for rate in RUNS["rates"]:
        for warmup in RUNS["warmups"]:
            post, pre = (median(losses(order, 2, rate, warmup)) for order in ("post", "pre"))
            assert post < 1.4 * pre < RUNS["guessing"] / 2


def test_pre_norm_does_not_gain_by_a_warmup_in_these_runs():
    for depth in RUNS["depths"]:
        for rate in RUNS["rates"]:
            assert median(losses("pre", depth, rate, 0)) < median(losses("pre", depth, rate, 100))


def test_layer_of_the_walk_is_the_one_that_the_figure_shows():
    """The page writes the layer of its first figure in numpy; the interactive figure shows the same numbers."""
    x = np.random.default_rng(0).normal(size=(8, 4))
    real = np.arange(8) < 7
    example = LayerExample.drawn("", list("abcdefgh"), x, 16, 2, np.random.default_rng(4), real)
    w = example.arrays()
    q, k, v = (reference.split_heads(x @ w[name], 2) for name in ("w_q", "w_k", "w_v"))
    output = reference.merge_heads(reference.attention_weights(q, k, np.broadcast_to(real, (8, 8))) @ v) @ w["w_o"]
    x1 = reference.layer_norm(x + output, *w["norms"][:2])
    y = reference.layer_norm(x1 + reference.feed_forward(x1, w["w_1"], w["w_2"], w["b_1"], w["b_2"]), *w["norms"][2:])
    shown = compute(example, "post")["boxes"][-1]["tables"][-1]["numbers"]
    assert np.allclose(shown, y, atol=1e-6)
    assert "five layers more" in PAGE and "range(5, 10)" in PAGE


def test_one_sense_begins_closer_where_the_word_keeps_its_place():
    mini = json.loads((ROOT / "book" / "measured" / "refinement.json").read_text(encoding="utf-8"))
    apart, together = (np.array([pair["cosines"] for pair in mini[kind]]) for kind in ("pairs", "controls"))
    assert (together[:, 0] == 1).sum() == 2
    gap = (together - apart).mean(0)
    assert 0 < gap[0] < gap[-1] / 3
    assert (
        len({sentence for kind in ("pairs", "controls") for pair in mini[kind] for sentence in pair["sentences"]}) == 12
    )


DECODER, DECODER_MORE = (
    (ROOT / "book" / f"08_decoder_and_masks{ending}.md").read_text(encoding="utf-8") for ending in ("", "_more")
)
BLIND = torch.zeros(1, 3, dtype=torch.bool)
Q, K, V = torch.randn(1, 1, 4), torch.randn(1, 3, 4), torch.eye(3)[None]


def test_blind_row_differs_within_pytorch_as_the_page_says():
    assert "even PyTorch is not consistent" in DECODER
    assert "PyTorch's layer, however, gives NaN when it returns its weights." in DECODER_MORE
    assert nn.functional.scaled_dot_product_attention(Q, K, V, BLIND).eq(0).all()
    weights = nn.MultiheadAttention(4, 1, batch_first=True)(Q, K, K, attn_mask=~BLIND)[1]
    assert weights.isnan().all()


def test_masks_of_floats_are_added_by_pytorch_and_refused_here():
    assert "| PyTorch's, where the mask holds floats |" in DECODER
    added = torch.tensor([[-torch.inf, 0.0, 0.0]])
    assert nn.functional.scaled_dot_product_attention(Q, K, V, added)[0, 0, 0] == 0
    assert nn.MultiheadAttention(4, 1, batch_first=True)(Q, K, K, attn_mask=added)[1][0, 0, 0] == 0
    with pytest.raises(TypeError):
        model.attention_weights(Q[0], K[0], added)


def test_sentences_of_the_batch_are_translated_as_the_page_lays_them_out():
    translator = model.load_translator()
    for text, words in (
        ("A black dog is running through the snow.", "Un chien noir court dans la neige ."),
        ("Two men are talking.", "Deux hommes parlent ."),
    ):
        quoted = ", ".join(f'"{word}"' for word in words.split())
        assert f"[{quoted}]" in DECODER
        tokens = translator.translate(text, beams=1).tokens
        assert [token.strip("▁") for token in tokens] == [*words.split(), "</s>"]


def test_pytorchs_is_causal_hangs_at_the_top_left():
    q, k, v = torch.randn(1, 1, 1, 4), torch.randn(1, 1, 6, 4), torch.eye(6)[None, None]
    weights = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert weights[0, 0, 0].tolist() == [1, 0, 0, 0, 0, 0]
