"""Attention by hand over short sentences: torch's attention and its gradients, in rows, with filling rows left out."""

import pytest
import torch
import torch.nn.functional as F

from softlookup.training.short_attention import ShortAttention


def case(kv_heads, group, across, seed=0, b=3, t=4, s=5, h=2, filling=3):
    """Rows, what is unseen, and sizes; some keys of every sentence are hidden."""
    rng = torch.Generator().manual_seed(seed)
    s = s if across else t
    sizes = (b, t, s, kv_heads, group, h)

    def rows(n, heads):
        return torch.randn(n + filling, heads * h, generator=rng, dtype=torch.float64, requires_grad=True)

    projected = rows(b * t, kv_heads * group + (0 if across else 2 * kv_heads))
    memory = rows(b * s, 2 * kv_heads) if across else None
    hidden_BS = torch.arange(s) >= torch.tensor([s, s - 1, 1])[:, None]
    unseen = torch.zeros(kv_heads, b, group * t, s, dtype=torch.float64)
    unseen = unseen.masked_fill(hidden_BS[:, None], torch.finfo(torch.float64).min).flatten(0, 1)
    return projected, memory, unseen, sizes, hidden_BS


def by_torch(projected, memory, sizes, hidden_BS, scale):
    b, t, s, kv_heads, group, h = sizes
    n_heads = kv_heads * group
    heads = projected[: b * t].view(b, t, -1, h).transpose(1, 2)
    kv = heads[:, n_heads:] if memory is None else memory[: b * s].view(b, s, -1, h).transpose(1, 2)
    mask = ~hidden_BS[:, None, None]
    z = F.scaled_dot_product_attention(heads[:, :n_heads], *kv.chunk(2, dim=1), mask, scale=scale, enable_gqa=True)
    return z.transpose(1, 2).reshape(b * t, -1)


@pytest.mark.parametrize("across", [False, True], ids=["self", "cross"])
@pytest.mark.parametrize(("kv_heads", "group"), [(2, 1), (2, 3), (1, 2)])
def test_short_attention_gives_torchs_output_and_gradients(kv_heads, group, across):
    projected, memory, unseen, sizes, hidden_BS = case(kv_heads, group, across)
    leaves = [projected] if memory is None else [projected, memory]
    out = ShortAttention.apply(projected, memory, unseen, sizes, 0.7)
    n = sizes[0] * sizes[1]
    expected = by_torch(projected, memory, sizes, hidden_BS, 0.7)
    torch.testing.assert_close(out[:n], expected)
    assert out[n:].shape == (3, kv_heads * group * 2) and (out[n:] == 0).all()
    weight = torch.randn_like(expected)
    got = torch.autograd.grad((out[:n] * weight).sum(), leaves)
    for gradient, expected_gradient in zip(got, torch.autograd.grad((expected * weight).sum(), leaves), strict=True):
        torch.testing.assert_close(gradient, expected_gradient)


def test_short_attention_stays_on_the_device_of_its_rows():
    projected, memory, unseen, sizes, _ = case(2, 3, True)
    projected, memory = (rows.detach().to("meta").requires_grad_() for rows in (projected, memory))
    out = ShortAttention.apply(projected, memory, unseen.to("meta"), sizes, 0.5)
    out.sum().backward()
    assert {tensor.device.type for tensor in (out, projected.grad, memory.grad)} == {"meta"}
