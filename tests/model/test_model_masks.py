"""Masks: each entry against the sentence that defines it, by loops."""

import itertools

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from softlookup.model.parts.masks import causal_mask, combine_masks, padding_mask, window_mask
from softlookup.reference import masks as reference
from tests.refusing import refused

SMALL = st.integers(1, 6)


@given(SMALL, st.none() | SMALL, st.integers(0, 4))
def test_causal_mask_lets_see_nothing_later(device, length, keys, offset):
    mask = causal_mask(length, keys=keys, offset=offset, device=device)
    assert mask.dtype == torch.bool and mask.device.type == device.type
    assert mask.shape == (length, offset + length if keys is None else keys)
    for t, s in itertools.product(*map(range, mask.shape)):
        assert mask[t, s].item() == (s <= t + offset)
    np.testing.assert_array_equal(mask.cpu(), reference.causal_mask(length, keys=keys, offset=offset))


@given(SMALL, SMALL, st.booleans(), st.none() | SMALL, st.integers(0, 4))
def test_window_mask_lets_see_the_nearest_alone(device, length, width, causal, keys, offset):
    mask = window_mask(length, width, causal=causal, offset=offset, keys=keys, device=device)
    assert mask.dtype == torch.bool and mask.device.type == device.type
    assert mask.shape == (length, offset + length if keys is None else keys)
    for t, s in itertools.product(*map(range, mask.shape)):
        back = t + offset - s
        assert mask[t, s].item() == (0 <= back < width if causal else abs(back) < width)
    expected = reference.window_mask(length, width, causal=causal, offset=offset, keys=keys)
    np.testing.assert_array_equal(mask.cpu(), expected)


def test_default_masks_are_the_ones_everybody_draws():
    assert torch.equal(causal_mask(4), torch.ones(4, 4, dtype=torch.bool).tril())
    assert torch.equal(window_mask(5, 9), causal_mask(5))
    assert torch.equal(window_mask(3, 1), torch.eye(3, dtype=torch.bool))


def test_padding_mask_hides_the_pad_id_for_all_heads_and_queries(device):
    ids = torch.tensor([[4, 7, 0, 0], [0, 7, 7, 4]], device=device)
    mask = padding_mask(ids, 0)
    assert mask.shape == (2, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[True, True, False, False], [False, True, True, True]]
    assert padding_mask(ids.int(), 7)[1, 0, 0].tolist() == [True, False, False, True]
    np.testing.assert_array_equal(mask.cpu(), reference.padding_mask(ids.cpu().numpy(), 0))


@given(st.integers(0, 10**6))
def test_combined_mask_lets_see_only_what_every_mask_does(device, seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(3, 4), (1, 4), (2, 1, 1, 4), (2, 5, 3, 1), (1, 1, 3, 4)]
    masks = [(torch.rand(shape, generator=generator) < 0.7) for shape in shapes]
    copies = [mask.clone() for mask in masks]
    got = combine_masks(None, *(mask.to(device) for mask in masks), None)
    assert got.shape == (2, 5, 3, 4)
    for b, n, t, s in itertools.product(range(2), range(5), range(3), range(4)):
        expected = masks[0][t, s] & masks[1][0, s] & masks[2][b, 0, 0, s] & masks[3][b, n, t, 0] & masks[4][0, 0, t, s]
        assert got[b, n, t, s].item() == expected.item()
    assert all(torch.equal(mask, copy) for mask, copy in zip(masks, copies, strict=True))
    np.testing.assert_array_equal(got.cpu(), reference.combine_masks(*(mask.numpy() for mask in masks)))


def test_nothing_to_combine_is_no_restriction():
    assert combine_masks() is None and combine_masks(None, None) is None
    causal = causal_mask(3)
    assert torch.equal(combine_masks(None, causal), causal)
    three_axes = torch.zeros(2, 3, 3, dtype=torch.bool)
    assert torch.equal(combine_masks(causal, three_axes), three_axes)


def yes(*shape, device="cpu"):
    return torch.ones(shape, dtype=torch.bool, device=device)


test_what_does_not_fit_is_named = refused(
    (lambda: causal_mask(0), "length 0"),
    (lambda: causal_mask(2, keys=0), "length 2, keys 0"),
    (lambda: causal_mask(2, offset=-1), "offset must be at least 0; got -1"),
    (lambda: window_mask(3, 0), "width must be at least 1, the position itself; got 0"),
    (lambda: window_mask(0, 1), "length 0"),
    (lambda: window_mask(2, 1, offset=-2, keys=2), "offset must be at least 0; got -2"),
    (lambda: padding_mask(torch.zeros(2, 3), 0), TypeError, "ids has dtype torch.float32; wanted integers"),
    (lambda: padding_mask(yes(2, 3), 0), TypeError, "ids has dtype torch.bool; wanted integers"),
    (lambda: padding_mask(torch.zeros(3).long(), 0), r"ids has shape \(3,\); wanted two axes, \(B, S\)"),
    (lambda: combine_masks(yes(2, 3), torch.zeros(2, 3)), TypeError, "float32; wanted torch.bool, where True means"),
    (lambda: combine_masks(yes(2, 3), yes(2, 4)), r"\(2, 3\), \(2, 4\).* must be equal, or 1"),
    (lambda: combine_masks(yes(2, 3, 3), yes(2, 1, 1, 3)), r"\(2, 3, 3\), .* or all 4"),
    (lambda: combine_masks(yes(3)), r"masks have shapes \(3,\): each needs 2 axes"),
    (lambda: combine_masks(yes(2, 3), yes(2, 3, device="meta")), "masks are on cpu and meta"),
)
