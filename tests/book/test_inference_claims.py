"""What chapter 10 says in words holds: its questions, its small numbers, PyTorch's causal corner."""

import math

import pytest
import torch
from built_book import ROOT
from torch.nn import functional as F

from softlookup import model, roofline

PAGE = (ROOT / "book" / "10_inference.md").read_text(encoding="utf-8")


def test_the_question_on_temperature_has_the_answer_two():
    ratios = {}
    for tau in (0.5, 1.0, 2.0):
        first, second = model.next_token_probabilities(torch.tensor([[4.0, 2.0]]), temperature=tau)[0]
        ratios[tau] = math.log(first / second)
    assert ratios == pytest.approx({0.5: 4, 1.0: 2, 2.0: 1}, abs=1e-5)


def test_top_p_leaves_two_and_would_leave_none_without_the_crossing_token():
    logits = torch.tensor([[0.6, 0.25, 0.1, 0.05]]).log()
    assert int((model.next_token_probabilities(logits, top_p=0.7) > 0).sum()) == 2
    assert int((logits.exp().cumsum(-1) < 0.5).sum()) == 0  # what is left where the crossing token is dropped


def test_temperature_and_top_k_come_before_top_p_as_the_page_says():
    logits = torch.tensor([[3.0, 2.0, 1.5, 0.0, -1.0]])
    p = torch.softmax(logits / 1.7, -1)
    p = torch.where(p >= p.topk(3).values[:, -1:], p, 0.0)
    p = p / p.sum()
    before = p.cumsum(-1) - p  # in order of size already
    p = torch.where(before < 0.7, p, 0.0)
    got = model.next_token_probabilities(logits, temperature=1.7, top_k=3, top_p=0.7)
    torch.testing.assert_close(got, p / p.sum())


def test_least_time_on_the_formula_sheet_counts_only_weights_that_a_token_reads():
    """An untied embedding table is looked up in, one row for a token: it is no part of the bound."""
    llama = roofline.MODELS["Llama 3 8B"]
    table = llama.V * llama.D
    assert sum(roofline.parameters(llama).values()) - roofline.product_weights(llama) >= table
    sheet = (ROOT / "book" / "formulas.md").read_text(encoding="utf-8")
    assert "rl.product_weights(one) * rl.HALF_BYTES / MACHINE.bandwidth_bytes_per_s" in sheet


def test_alpha_one_ranks_long_texts_nearly_by_their_mean():
    for n in (50, 200):
        assert -n / model.length_penalty_of(n, 1.0) == pytest.approx(-6, rel=0.1)


def test_pytorchs_is_causal_hangs_at_the_top_left():
    q, k, v = torch.randn(1, 1, 1, 4), torch.randn(1, 1, 6, 4), torch.eye(6)[None, None]
    assert F.scaled_dot_product_attention(q, k, v, is_causal=True)[0, 0, 0].tolist() == [1, 0, 0, 0, 0, 0]


def test_writing_with_a_cache_needs_the_scores_that_a_causal_mask_leaves_open():
    for prompt, new in ((2, 3), (5, 1), (1, 7)):
        last = prompt + new - 1
        fed = [prompt] + [1] * (new - 1)
        rows = sum(sum(range(seen + 1, seen + n + 1)) for n, seen in zip(fed, [0, *range(prompt, last)], strict=True))
        assert rows == int(model.causal_mask(last).sum())


def test_no_sentence_of_the_page_sends_the_reader_to_a_chapter_that_is_to_come():
    assert "(to come)" not in PAGE
