"""The sparse indexer: equal to DeepSeek-V3.2's in `transformers`; with all keys chosen, attention is dense."""

import pytest
import torch
from torch import zeros

from softlookup.model.attention import scaled_dot_product_attention
from softlookup.model.masks import causal_mask
from softlookup.model.positions import RotaryPositions
from softlookup.model.sparse_indexer import choose_keys, index_scores, sparse_attention

T = 9


def seeded(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def as_sets(chosen):
    return [[set(row) - {-1} for row in rows] for rows in chosen.tolist()]


def test_choice_equals_that_of_transformers_and_known_mistakes_choose_others():
    deepseek = pytest.importorskip("transformers.models.deepseek_v32.modeling_deepseek_v32")
    config = deepseek.DeepseekV32Config(
        hidden_size=16, q_lora_rank=8, index_n_heads=3, index_head_dim=6, qk_rope_head_dim=4, index_topk=3
    )
    indexer = deepseek.DeepseekV32Indexer(config, 0)
    for i, weight in enumerate(indexer.parameters()):
        weight.data = seeded(i, *weight.shape)
    x, latent, see = seeded(20, 2, T, 16), seeded(21, 2, T, 8), torch.ones(T, T).bool().tril()
    turns = deepseek.DeepseekV32RotaryEmbedding(config)(x, torch.arange(T)[None])
    wanted = indexer(x, latent, turns, see[None], None)
    wanted = wanted.masked_fill(wanted > torch.arange(T)[:, None], -1)

    def ours(pairing="halves"):
        turn = RotaryPositions(4, pairing=pairing)
        q = indexer.wq_b(latent).view(2, T, 3, 6).transpose(1, 2)
        k = indexer.k_norm(indexer.wk(x))[:, None]
        q, k = (torch.cat((turn(y[..., :4]), y[..., 4:]), dim=-1) for y in (q, k))
        return q, k[:, 0], indexer.weights_proj(x)

    q, k, weights = ours()
    scores = index_scores(q, k, weights)
    assert as_sets(choose_keys(scores, 3, see)) == as_sets(wanted)
    without_relu = torch.einsum("bnth,bsh,btn->bts", q, k, weights)
    for mistake in (without_relu, index_scores(*ours("neighbours"))):
        assert as_sets(choose_keys(mistake, 3, see)) != as_sets(wanted)
    late = choose_keys(scores, 3)
    assert as_sets(late.masked_fill(late > torch.arange(T)[:, None], -1)) != as_sets(wanted)


@pytest.mark.parametrize("top_k", [1, 4, T, 3 * T])
def test_attention_to_the_chosen_equals_attention_under_their_mask(top_k):
    q, k, v = seeded(1, 2, 3, T, 4), seeded(2, 2, 3, T, 4), seeded(3, 2, 3, T, 5)
    see = torch.ones(T, T).bool().tril()
    chosen = choose_keys(seeded(4, 2, T, T), top_k, see)
    kept = (torch.arange(T) == chosen[..., None]).any(dim=-2)
    assert (kept.sum(-1) == torch.arange(1, T + 1).clamp_max(top_k)).all() and not (kept & ~see).any()
    got = sparse_attention(q, k, v, chosen)
    torch.testing.assert_close(got, scaled_dot_product_attention(q, k, v, kept[:, None]))
    dense = scaled_dot_product_attention(q, k, v, causal_mask(T))
    assert torch.allclose(got, dense, atol=1e-5) == (top_k >= T)


def test_a_query_that_may_see_nothing_gets_zeros():
    chosen = choose_keys(zeros(1, 2, 3), 2, torch.tensor([[[False] * 3, [True] * 3]]))
    assert (chosen[0, 0] == -1).all()
    out = sparse_attention(seeded(1, 1, 1, 2, 4), seeded(2, 1, 1, 3, 4), seeded(3, 1, 1, 3, 4), chosen)
    assert (out[0, 0, 0] == 0).all() and out[0, 0, 1].all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: index_scores(zeros(1, 2, 3, 4), zeros(1, 3, 5), zeros(1, 3, 2)), r"k has shape \(1, 3, 5\)"),
        (lambda: index_scores(zeros(1, 2, 3, 4), zeros(1, 3, 4), zeros(1, 2, 3)), r"weights have shape \(1, 2, 3\)"),
        (lambda: choose_keys(zeros(1, 3, 3), 0), "top_k 0"),
        (lambda: choose_keys(zeros(1, 3, 3), 1, zeros(2, 2) > 0), r"mask has shape \(2, 2\)"),
        (lambda: sparse_attention(*[zeros(1, 2, 3, 4)] * 3, torch.zeros(1, 2, 1).long()), r"chosen has shape \(1, 2"),
        (lambda: sparse_attention(*[zeros(1, 2, 3, 4)] * 3, torch.full((1, 3, 1), 3)), "names key 3; there are 3"),
    ],
)
def test_what_does_not_fit_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
