"""The three figures of chapter 10 in Python: their numbers against the model's own search, cache and probabilities."""

import re

import numpy as np
import pytest
import torch

from softlookup import model
from softlookup_course.widgets import (
    BeamTree,
    CacheGrowth,
    Choice,
    SamplingExplorer,
    beam_tree,
    cache_growth,
    sampling_explorer,
)

LOGITS = np.random.default_rng(1).normal(size=30) * 2
TOKENS = [f"t{i}" for i in range(30)]
TABLE = torch.randn(8, 8, generator=torch.Generator().manual_seed(5), dtype=torch.float64).log_softmax(-1)


def after(texts):
    return np.array([TABLE[text[-1] if text else 0].tolist() for text in texts])


@pytest.mark.parametrize(("tau", "k", "p"), [(1.0, None, None), (0.5, 4, None), (2.0, None, 0.7), (0, None, None)])
def test_described_sampling_sums_to_one_and_draws_what_it_keeps(tau, k, p):
    sampling = sampling_explorer.describe(sampling_explorer.rounded(LOGITS), tau, k, p, 0.37)
    shares = np.array(sampling["probabilities"])
    assert shares.sum() == pytest.approx(1) and sampling["kept"] == (shares > 0).sum()
    assert shares[sampling["drawn"]] > 0
    np.testing.assert_allclose(sampling["plain"], torch.tensor(LOGITS).softmax(-1), atol=0.01)
    if k is not None:
        assert sampling["kept"] == k


def test_sampling_explorer_keeps_rounded_logits_and_a_table_without_markup():
    figure = SamplingExplorer(["<b>", *TOKENS[1:]], [Choice("one", "a <i>", tuple(LOGITS))])
    assert figure.choices[0]["logits"] == [round(x, 2) for x in LOGITS.tolist()]
    assert "<b>" not in figure.fallback and "<i>" not in figure.fallback


@pytest.mark.parametrize("alpha", beam_tree.ALPHAS)
@pytest.mark.parametrize("beams", [1, 2, 4])
def test_grown_tree_is_the_librarys_search_and_stops_where_it_does(beams, alpha):
    steps = beam_tree.grow(after, 1, beams, 6)
    search = model.beam_search(
        lambda ids, state: (TABLE[ids[:, -1]], None),
        torch.zeros(1, 1, dtype=torch.int64),
        beams=beams,
        max_new_tokens=6,
        end_id=1,
        length_penalty=alpha,
        keep=1,
        trace=True,
    )
    steps = steps[: beam_tree.last_step(steps, alpha, 6)]
    for step, nodes in zip(steps, search.trace[0], strict=True):
        hypotheses = [hypothesis for hypothesis in step if hypothesis["kept"]]
        assert [hypothesis["ids"][-1] for hypothesis in hypotheses] == [node.token for node in nodes]
        assert [hypothesis["ended"] for hypothesis in hypotheses] == [node.ended for node in nodes]
        np.testing.assert_allclose(
            [hypothesis["total"] for hypothesis in hypotheses], [node.log_probability for node in nodes]
        )
    score, ids = beam_tree.finished(steps, alpha)[0]
    assert ids == search.best.new_ids[0].tolist() and score == pytest.approx(float(search.scores[0, 0]))


def test_dropped_texts_are_the_next_likeliest_and_come_from_where_they_say():
    steps = beam_tree.grow(after, 1, 2, 4)
    for before, step in zip([[{"ids": []}], *steps], steps, strict=False):
        totals = [hypothesis["total"] for hypothesis in step]
        assert totals == sorted(totals, reverse=True)
        for hypothesis in step:
            assert hypothesis["ids"][:-1] == before[hypothesis["parent"]]["ids"]


def test_beam_tree_escapes_its_tokens():
    figure = BeamTree("a <b>", after, 1, limit=4, name=lambda i: f"<{i}>")
    assert "<b>" not in figure.fallback and "<3>" not in figure.fallback


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_described_cache_is_as_large_as_the_models(kv_heads):
    config = model.Config(vocab_size=9, d_model=16, n_heads=4, n_kv_heads=kv_heads, n_layers=3, d_hidden=8)
    lm = model.DecoderLM(config).eval()
    state, prompt = lm.start(), 3
    ids = torch.ones(1, 8, dtype=torch.int64)
    sizes = {"n_layers": 3, "n_kv_heads": kv_heads, "head_width": 4, "each": 4}
    with torch.no_grad():
        for step, new in enumerate([ids[:, :prompt], *ids[:, prompt:7].split(1, dim=1)], start=1):
            _, state = lm.step(new, state)
            cache = cache_growth.describe(8, prompt, step, cached=True, **sizes)
            assert cache["bytes"] == state.bytes and cache["kept"] == cache["length"] == state.length
            assert cache["through"] == new.shape[1]


def test_cached_scores_are_those_of_one_causal_mask():
    sizes = {"n_layers": 1, "n_kv_heads": 1, "head_width": 1, "each": 1}
    for step in range(1, 6):
        with_cache, again = (cache_growth.describe(9, 4, step, cached=c, **sizes) for c in (True, False))
        assert with_cache["scores_total"] == int(model.causal_mask(with_cache["length"]).sum()) == again["scores"]
        assert again["through_total"] == sum(range(4, 4 + step)) and with_cache["through_total"] == 4 + step - 1
        assert again["bytes"] == 0


def test_cache_growth_escapes_its_tokens():
    figure = CacheGrowth(["a", "<b>", "c"], 1)
    assert "<b>" not in figure.fallback
    assert re.findall(r"<td>(\d+)</td>", figure.fallback)[:3] == ["1", "1", "1"]
