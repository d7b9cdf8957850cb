"""What chapter 7 says in words holds: of the committed runs, of norms, of the slide's numbers."""

import json
import re
from statistics import median

import numpy as np
import torch
from built_book import ROOT

from softlookup import reference
from softlookup.model import Config, Encoder, FeedForward
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


def test_norm_by_hand_gives_the_numbers_of_the_text():
    x = np.array([1.0, 3.0, 5.0, 11.0])
    assert (x.mean(), ((x - 5) ** 2).tolist(), x.var()) == (5.0, [16.0, 4.0, 0.0, 36.0], 14.0)
    assert np.allclose(reference.rms_norm(np.array([1.0, 7.0]), np.ones(2), eps=0.0), [0.2, 1.4])
    assert np.allclose(reference.layer_norm(np.full(4, 2.0), np.ones(4), np.zeros(4)), 0)


def test_unbiased_variance_makes_results_too_small_by_the_factor_of_the_text():
    x = torch.randn(7, dtype=torch.float64)
    unbiased = (x - x.mean()) / x.std()
    right = torch.nn.functional.layer_norm(x, (7,), eps=0)
    assert torch.allclose(unbiased / right, torch.full((7,), (6 / 7) ** 0.5, dtype=torch.float64))


def test_feed_forward_by_hand_gives_the_numbers_of_the_text():
    w_1, w_2 = np.array([[1.0, 0, -1], [1, -1, 2]]), np.array([[1.0, 0], [0, 1], [2, -1]])
    b_1, b_2 = np.array([0.0, 1, -2]), np.array([0.5, 0])
    assert reference.feed_forward(np.array([[1.0, 2.0]]), w_1, w_2, b_1, b_2).tolist() == [[5.5, -1.0]]


def test_hidden_number_is_a_key_in_the_columns_and_a_value_in_the_rows():
    rng = np.random.default_rng(0)
    x, w_1, w_2 = rng.normal(size=(1, 4)), rng.normal(size=(4, 6)), rng.normal(size=(6, 4))
    by_lookup = sum(max(x[0] @ w_1[:, i], 0.0) * w_2[i] for i in range(6))
    np.testing.assert_allclose(reference.feed_forward(x, w_1, w_2)[0], by_lookup)


def test_gated_network_of_two_thirds_has_as_many_parameters():
    def count(hidden, kind):
        return sum(p.numel() for p in FeedForward(96, hidden, activation=kind, bias=False).parameters())

    assert count(8 * 96 // 3, "swiglu") == count(4 * 96, "relu") == count(4 * 96, "swiglu") * 2 // 3


def test_padding_changes_no_real_token_behind_a_mask_and_a_zero_key_is_no_mask():
    torch.manual_seed(0)
    encoder = Encoder(Config(vocab_size=9, d_model=8, n_heads=2, n_layers=3, d_hidden=16, dropout=0.0))
    x = torch.randn(1, 5, 8)
    other = x.clone()
    other[0, 4] = 50.0
    real = torch.tensor([True] * 4 + [False])[None, None, None]
    with torch.no_grad():
        assert torch.equal(encoder(x, real)[0, :4], encoder(other, real)[0, :4])
        assert not torch.allclose(encoder(x)[0, :4], encoder(other)[0, :4])
    assert (reference.attention_weights(np.ones((1, 2)), np.array([[1.0, 1], [0, 0]])) > 0).all()


def test_page_names_no_chapter_that_is_not_there_and_keeps_its_letters():
    pages = {path.stem for path in (ROOT / "book").glob("*.md")}
    linked = set(re.findall(r"\]\((\w+)\.md\)", PAGE))
    assert linked <= pages


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


def test_slides_scores_are_symmetric_and_scores_of_two_matrices_are_not():
    block = np.array([[2.3, 0.8, 1.2, 1.5], [0.8, 2.1, 0.9, 1.3], [1.2, 0.9, 2.5, 1.1], [1.5, 1.3, 1.1, 2.2]])
    assert (block == block.T).all()
    rng = np.random.default_rng(0)
    x, w_q, w_k = rng.normal(size=(4, 4)), *rng.normal(size=(2, 4, 4))
    scores = (x @ w_q) @ (x @ w_k).T
    assert np.abs(scores - scores.T).max() > 1


def test_one_sense_begins_closer_where_the_word_keeps_its_place():
    mini = json.loads((ROOT / "book" / "measured" / "refinement.json").read_text(encoding="utf-8"))
    apart, together = (np.array([pair["cosines"] for pair in mini[kind]]) for kind in ("pairs", "controls"))
    assert (together[:, 0] == 1).sum() == 2
    gap = (together - apart).mean(0)
    assert 0 < gap[0] < gap[-1] / 3
    assert (
        len({sentence for kind in ("pairs", "controls") for pair in mini[kind] for sentence in pair["sentences"]}) == 12
    )
