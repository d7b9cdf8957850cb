"""The paged cache: attention over its blocks is dense attention, and what is shared is copied before it is written."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from softlookup.model import PagedCache


def rows(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def cache(n_blocks=8, block_size=3):
    return PagedCache(n_blocks, block_size, 2, 4, value_width=5, dtype=torch.float64)


def filled(store, sequence, seed, length):
    k, v = rows(seed, 2, length, 4), rows(seed + 1, 2, length, 5)
    for t in range(length):
        store.append(sequence, k[:, t], v[:, t])
    return k, v


def assert_attends(store, sequence, k, v):
    q = rows(99, 2, 1, 4)
    found = scaled_dot_product_attention(q, *store.gather(sequence))
    torch.testing.assert_close(found, scaled_dot_product_attention(q, k, v))


def test_attention_over_interleaved_sequences_equals_dense_attention():
    store = cache()
    one, other = store.start(), store.start()
    k, v = rows(1, 2, 7, 4), rows(2, 2, 7, 5)
    for t in range(7):
        store.append(one, k[:, t], v[:, t])
        store.append(other, v[:, t, :4], k[:, t].new_ones(2, 5) * t)
    assert (store.table(one), store.table(other), store.length(one)) == ([0, 2, 4], [1, 3, 5], 7)
    assert_attends(store, one, k, v)
    assert_attends(store, other, v[..., :4], torch.arange(7.0).double()[None, :, None].expand(2, 7, 5))


def test_fork_shares_blocks_and_the_first_to_write_copies_the_last_alone():
    store = cache()
    parent = store.start()
    k, v = filled(store, parent, 3, 5)
    child = store.fork(parent)
    assert store.owners[:3] == [2, 2, 0]
    new_k, new_v = rows(7, 2, 1, 4), rows(8, 2, 1, 5)
    store.append(child, new_k[:, 0], new_v[:, 0])
    assert (store.table(parent), store.table(child), store.owners[:3]) == ([0, 1], [0, 2], [2, 1, 1])
    assert_attends(store, parent, k, v)
    assert_attends(store, child, torch.cat((k, new_k), 1), torch.cat((v, new_v), 1))
    store.append(parent, -new_k[:, 0], new_v[:, 0])  # its last block is its own again
    assert store.table(parent) == [0, 1]
    assert_attends(store, child, torch.cat((k, new_k), 1), torch.cat((v, new_v), 1))


def test_full_shared_block_is_not_copied():
    store = cache()
    parent = store.start()
    filled(store, parent, 3, 3)
    child = store.fork(parent)
    filled(store, child, 5, 1)
    assert (store.table(parent), store.table(child), store.owners[:3]) == ([0], [0, 1], [2, 1, 0])


def test_released_blocks_are_used_again_and_shared_ones_stay():
    store = cache(n_blocks=3)
    parent = store.start()
    k, v = filled(store, parent, 3, 5)
    child = store.fork(parent)
    store.release(parent)
    assert store.n_free == 1
    assert_attends(store, child, k, v)
    store.release(child)
    assert store.n_free == 3
    with pytest.raises(KeyError, match="no sequence 1"):
        store.gather(child)


def test_append_without_a_free_block_changes_nothing():
    store = cache(n_blocks=1)
    parent = store.start()
    k, v = filled(store, parent, 3, 2)
    child = store.fork(parent)
    with pytest.raises(MemoryError, match="0 of 1 blocks are free, 1 needed"):
        store.append(child, k[:, 0], v[:, 0])
    assert (store.owners, store.table(child), store.length(child)) == ([2], [0], 2)
    assert_attends(store, child, k, v)


def test_wrong_sizes_are_refused():
    store = cache()
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 5\); wanted \(2, 4\) and \(2, 5\)"):
        store.append(store.start(), rows(1, 2, 3), rows(1, 2, 5))
    with pytest.raises(ValueError, match="block_size 0"):
        PagedCache(4, 0, 2, 4)
    assert PagedCache(4, 2, 2, 4).v.shape == (4, 2, 2, 4)
