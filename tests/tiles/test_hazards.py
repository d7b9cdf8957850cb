"""What depends on the order of programs or of threads is reported, through whatever arrays they meet."""

import numpy as np
import pytest

from softlookup.tiles import LaunchError, jit, tl


@jit
def copied(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@jit
def written(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(x + at, at)
    else:
        tl.store(y + at, at)


@jit
def reversed_through_memory(x, y, n, BLOCK: tl.constexpr, WAITS: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at))
    if WAITS:
        tl.debug_barrier()
    tl.store(x + at, tl.load(y + (n - 1 - at)))


@jit
def added_in_place(x, y, n, BLOCK: tl.constexpr):
    """A row in two passes, as the softmax of long rows has them."""
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n, other=0.0), mask=at < n)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(y + at, mask=at < n, other=0.0) + 1, mask=at < n)


def _numbers(count):
    return np.arange(count, dtype=np.float32)


def _views(m):
    return {
        "moved by one": (m[:8], m[1:9]),
        "another dtype": (m[:8], m.view(np.int32)[1:9]),
        "bytes": (m.view(np.int8)[:8], m.view(np.int16)[1:9]),
        "bytes, in the other order": (m.view(np.int16)[1:9], m.view(np.int8)[:8]),
    }


@pytest.mark.parametrize("name", list(_views(_numbers(9))))
def test_programs_that_meet_through_views_are_reported(name):
    x, y = _views(_numbers(9))[name]
    with pytest.raises(LaunchError, match=r"program 1 (reads|writes) `[xy]` at \d, which program 0") as error:
        copied[(2,)](x, y, 8, BLOCK=4)
    assert error.value.kind == "race"
    assert "shares memory with `" in str(error.value)


def test_programs_that_write_one_place_through_two_views_are_reported():
    m = _numbers(9)
    with pytest.raises(LaunchError, match="program 1 writes `y` at 0, which program 0 writes") as error:
        written[(2,)](m[:8], m[1:], BLOCK=8)
    assert error.value.kind == "race"


def test_halves_of_one_array_are_apart():
    m = _numbers(16)
    cost = copied[(2,)](m[:8], m[8:], 8, BLOCK=4)
    np.testing.assert_array_equal(m[8:], m[:8])
    assert (cost.unique_read_bytes, cost.unique_written_bytes) == (32, 32)


def test_bytes_of_views_are_counted_once():
    m = _numbers(9)
    cost = copied[(1,)](m[:8], m[1:].view(np.int32), 8, BLOCK=8)
    assert (cost.read_bytes, cost.unique_read_bytes, cost.unique_written_bytes) == (32, 32, 32)
    assert copied[(2,)](m, m, 9, BLOCK=8).unique_read_bytes == 36


def test_arrays_without_numbers_lie_nowhere():
    assert copied[(1,)](np.empty(0, np.float32), np.empty(0, np.float32), 0, BLOCK=8).read_bytes == 0


def test_a_tile_loaded_back_elsewhere_needs_a_barrier():
    x = _numbers(16)
    with pytest.raises(LaunchError, match=r"reads `y` at 15, which it has stored itself .* tl.debug_barrier") as error:
        reversed_through_memory[(1,)](x, x.copy(), 16, BLOCK=16, WAITS=False)
    assert error.value.kind == "barrier"
    reversed_through_memory[(1,)](x, x.copy(), 16, BLOCK=16, WAITS=True)
    np.testing.assert_array_equal(x, _numbers(16)[::-1])


def test_a_tile_loaded_back_where_it_was_stored_needs_none():
    x, y = _numbers(20), _numbers(20)
    added_in_place[(1,)](x, y, 20, BLOCK=8)
    np.testing.assert_array_equal(y, x + 1)
