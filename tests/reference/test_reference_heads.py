"""Projections and heads of the reference, against heads worked one by one; torch's own layer: test_model_multihead."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from softlookup import reference

T, S, D, N, H = 3, 5, 8, 4, 2


def draw(seed, batch=(2,), n=N, kv=N, h=H):
    rng = np.random.default_rng(seed)
    x, x_kv = rng.normal(size=(*batch, T, D)), rng.normal(size=(*batch, S, D))
    weights = [rng.normal(size=s) for s in ((D, n * h), (D, kv * h), (D, kv * h), (n * h, D))]
    return x, x_kv, weights


def test_project_equals_torch_linear_with_the_transpose():
    x, _, (w, *_) = draw(1, (2, 3))
    b = np.random.default_rng(0).normal(size=w.shape[1])
    expected = F.linear(torch.from_numpy(x), torch.from_numpy(w.T.copy()), torch.from_numpy(b))
    np.testing.assert_allclose(reference.project(x, w, b), expected.numpy(), rtol=1e-12)
    np.testing.assert_allclose(reference.project(x[0, 0, 0], w), w.T @ x[0, 0, 0], rtol=1e-12)


def test_one_head_is_multi_head_attention_with_one_and_no_output_matrix():
    x, _, (w_q, w_k, w_v, _) = draw(2, n=1, kv=1, h=D)
    expected = reference.multi_head_attention(x, w_q, w_k, w_v, np.eye(D), 1)
    np.testing.assert_allclose(reference.one_head(x, w_q, w_k, w_v), expected, rtol=1e-12)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("kv", [1, 2, 4])
def test_grouped_heads_equal_heads_worked_one_by_one(batch, kv):
    """Also holds N*H != D: each head by its own slices, the output matrix in slices too."""
    h = 3
    x, x_kv, (w_q, w_k, w_v, w_o) = draw(4, batch, kv=kv, h=h)
    expected = 0
    for i in range(N):
        head = slice(i * h, (i + 1) * h)
        shared = slice(i // (N // kv) * h, (i // (N // kv) + 1) * h)
        z = reference.scaled_dot_product_attention(x @ w_q[:, head], x_kv @ w_k[:, shared], x_kv @ w_v[:, shared])
        expected = expected + z @ w_o[head]
    got = reference.multi_head_attention(x, w_q, w_k, w_v, w_o, N, kv, x_kv)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-12)


def test_a_mask_of_each_head_reaches_that_head_alone():
    x, x_kv, weights = draw(5)
    mask = np.ones((2, N, T, S), dtype=bool)
    mask[:, 1] = False
    weights[-1] = np.eye(D)  # head i's output then stands in columns i*H : (i+1)*H
    free = reference.multi_head_attention(x, *weights, N, x_kv=x_kv)
    got = reference.multi_head_attention(x, *weights, N, x_kv=x_kv, mask=mask)
    assert (got[..., H : 2 * H] == 0).all()
    np.testing.assert_array_equal(np.delete(got, [2, 3], axis=-1), np.delete(free, [2, 3], axis=-1))


def test_split_heads_gives_head_i_its_own_columns_and_merge_undoes_it():
    x = np.arange(2 * T * N * H).reshape(2, T, N * H)
    split = reference.split_heads(x, N)
    assert split.shape == (2, N, T, H)
    for i in range(N):
        np.testing.assert_array_equal(split[:, i], x[..., i * H : (i + 1) * H])
    np.testing.assert_array_equal(reference.merge_heads(split), x)
