"""A cache in few bits: what is read back, what it takes, and how a model writes with it."""

import pytest
import torch
from modern_twins import made, rows, step_by_step

from softlookup.model.decoding.quantised_cache import QuantisedCache
from softlookup.model.parts.cache import LayerCache


def seeded(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def nearest(x, bits, dim):
    """Every number's nearest step, looked up in the list of all steps of its group."""
    x = x.movedim(dim, -1)
    shares = torch.linspace(0, 1, 2**bits, dtype=x.dtype)
    steps = x.amin(-1, keepdim=True) + shares * (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True))
    chosen = (x[..., None] - steps[..., None, :]).abs().argmin(-1)
    return steps.gather(-1, chosen).movedim(-1, dim)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_complete_groups_are_rounded_and_the_newest_are_not(bits):
    k, v = seeded(0, 2, 3, 11, 5), seeded(1, 2, 3, 11, 7)
    k[:, :, 4:8, 2], v[:, :, 3] = 0.5, -1.0  # groups of equal numbers stay as they are
    cache = QuantisedCache(bits, group=4)
    first = cache.append(k[:, :, :6], v[:, :, :6])
    torch.testing.assert_close(first, (k[:, :, :6], v[:, :, :6]), rtol=0, atol=0)
    for t in range(6, 11):
        cache.append(k[:, :, t : t + 1], v[:, :, t : t + 1])
    assert cache.length == cache.carried == 11
    expected_k = torch.cat([nearest(k[:, :, at : at + 4], bits, 2) for at in (0, 4)] + [k[:, :, 8:]], dim=2)
    expected_v = torch.cat([nearest(v[:, :, :8], bits, 3), v[:, :, 8:]], dim=2)
    torch.testing.assert_close(cache.k, expected_k)
    torch.testing.assert_close(cache.v, expected_v)


def test_bytes_are_those_of_codes_scales_and_newest():
    cache, whole = QuantisedCache(4, group=32), LayerCache()
    for layer_cache in (cache, whole):
        layer_cache.append(torch.randn(1, 2, 70, 64), torch.randn(1, 2, 70, 64))
    codes, newest = 2 * 2 * 64 * 64 // 2, 2 * 2 * 6 * 64 * 4
    scales = 2 * (2 * 2 * 64 + 64 * 2) * 4  # least and step: keys by group and channel, values by position
    assert cache.bytes == codes + newest + scales < whole.bytes / 4
    assert whole.bytes == 2 * 2 * 70 * 64 * 4 and LayerCache().bytes == QuantisedCache(2).bytes == 0


def test_a_model_writes_with_it_and_more_bits_are_nearer():
    model = made()
    ids, _ = rows()
    exact, _ = step_by_step(model, ids)
    gaps = []
    for bits in (8, 4, 2):
        state = model.start()
        state.layers = [QuantisedCache(bits, group=4) for _ in state.layers]
        all_logits, state = [model.step(ids[:, :7], state)[0]], state
        all_logits += [model.step(ids[:, t : t + 1], state)[0] for t in range(7, ids.shape[1])]
        gaps.append((torch.stack(all_logits, dim=1) - exact).abs().max().item())
    assert 0 < gaps[0] < gaps[1] < gaps[2] and gaps[0] < 0.1 * exact.abs().max()


def test_rows_are_chosen_and_the_end_is_cut():
    cache = QuantisedCache(8, group=4)
    cache.append(seeded(2, 3, 1, 10, 4), seeded(3, 3, 1, 10, 4))
    chosen = cache.select(torch.tensor([2, 0]))
    torch.testing.assert_close(chosen.k, cache.k[[2, 0]], rtol=0, atol=0)
    chosen.cut(9)
    assert chosen.length == 9 and chosen.v.shape == (2, 1, 9, 4) and cache.length == 10
    with pytest.raises(ValueError, match="length is 7; wanted 8, which are rounded already, to 9"):
        chosen.cut(7)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: QuantisedCache(3), "bits is 3, group is 32"),
        (lambda: QuantisedCache(4, group=1), "group is 1"),
        (lambda: QuantisedCache(4).k, "the cache is empty"),
    ],
)
def test_what_does_not_fit_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_keys_of_other_sizes_are_refused():
    cache = QuantisedCache(4)
    cache.append(torch.zeros(1, 2, 3, 4), torch.zeros(1, 2, 3, 4))
    with pytest.raises(ValueError, match=r"keys have shape \(1, 2, 1, 5\), beside kept ones of \(1, 2, 3, 4\)"):
        cache.append(torch.zeros(1, 2, 1, 5), torch.zeros(1, 2, 1, 4))
