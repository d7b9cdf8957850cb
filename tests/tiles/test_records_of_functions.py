"""What the judge makes of the rows of functions beyond chapter 18: places that wrap around, rows that nobody wrote."""

import itertools

import numpy as np
import pytest

from softlookup.tiles import LaunchError
from softlookup.tiles.costs import JUDGED_WORK_NS
from softlookup.tiles.replay import replay
from softlookup_inside.tiles.operations import NAMES, OPERATIONS
from softlookup_inside.tiles.recording import CONSTANT_TYPES
from softlookup_inside.tiles.values import DTYPES
from tests.tiles.bodies import launched

WRAPPED = {
    "sums up to each": "tl.cumsum(tl.full((32,), 2**30, tl.int32), 0)",
    "products up to each": "tl.cumprod(tl.full((32,), 8, tl.int32), 0)",
    "numbers at positions": "tl.gather(at * 2**30, at, 0)",
    "the reverse order": "tl.flip(at * 2**30)",
    "two halves": "tl.split(tl.reshape(at * 2**30, (16, 2)))[1]",
    "the largest": "tl.argmax((at * 2**30)[None, :], 1)",
    "one after the other": "tl.ravel(tl.interleave(at * 2**30, at))",
}


@pytest.mark.parametrize("place", WRAPPED.values(), ids=list(WRAPPED))
def test_place_that_wraps_around_is_nowhere(place: str) -> None:
    with pytest.raises(LaunchError, match="wraps around|outside of its") as caught:
        launched(f"place = {place}\ntl.load(x + place)", grid=(1,))
    assert caught.value.kind == "outside"


SOUND = {
    "random places": "tl.load(x + (tl.randint(7, at) >> 8).to(tl.int32) % n)",
    "places behind those before them": "tl.load(x + tl.cumsum(tl.where(at < 3, 1, 0), 0))",
    "the best of each row": "tl.load(x + tl.argmax(tl.load(x + at)[None, :] + tl.zeros((4, 32), tl.float32), 1))",
    "wrapped numbers that are masked": "tl.load(x + tl.flip(tl.where(at < 4, at * 2**30, at)), mask=at < 28)",
    "wrapped numbers at other positions": "tl.load(x + tl.gather(tl.where(at > 1, at * 2**30, at), at & 1, 0))",
    "bits": "tl.load(x + (at.to(tl.uint32, bitcast=True) & 7))",
}


@pytest.mark.parametrize("body", SOUND.values(), ids=list(SOUND))
def test_place_that_does_not_wrap_around_is_read(body: str) -> None:
    launched(body, grid=(1,))


def test_moving_numbers_is_no_operation_on_floats() -> None:
    for body in (
        "tl.flip(tl.load(x + at))",
        "tl.load(x + at).to(tl.int32, bitcast=True)",
        "tl.trans(tl.load(x + at)[None, :])",
    ):
        assert launched(body, grid=(1,))[1].flops == 0
    assert launched("tl.argmax(tl.load(x + at), 0)", grid=(1,))[1].flops == 32
    assert launched("tl.cumsum(tl.load(x + at), 0)", grid=(1,))[1].flops == 32


def test_softmax_is_counted_as_if_it_were_written_out() -> None:
    tile = "a = tl.load(x + at, mask=mask, other=-float('inf'))\n"
    written_out = "e = tl.exp(a - tl.max(a, 0, keep_dims=True))\nwrite(e / tl.sum(e, 0, keep_dims=True))"
    (out, traffic), (expected, counted) = (launched(tile + body) for body in ("write(tl.softmax(a))", written_out))
    np.testing.assert_array_equal(out, expected)
    assert traffic == counted


def test_random_numbers_take_no_room_before_they_are_floats() -> None:
    assert launched("tl.randint(7, at)", grid=(1,))[1].chip_bytes == 0
    assert launched("write(tl.rand(7, at))", grid=(1,))[1].chip_bytes == 4 * 32


NUMBERS = (-1, 0, 0, 1, 1, 2, 3, 4, 8, 11, 12, 13, 16, 2**31, -(2**31), 2**62, -(2**63))


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_nobody_wrote_are_refused_with_a_launch_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    constants = np.array([1.0, 0.0, 3.0, 2.0])
    refused, computed = 0, set()
    for _ in range(60):
        rows = [
            (0, NAMES.index("constant"), -1, -1, -1, at, int(kind), 0, 0)
            for at, kind in enumerate([1, *rng.integers(0, len(CONSTANT_TYPES), 3)])
        ]
        for dtype, length in itertools.product(rng.integers(0, len(DTYPES), 2), (2, 16)):
            rows += [(0, NAMES.index("full"), 0, -1, -1, int(dtype), length, length, 0)]
            rows += [(0, NAMES.index("arange"), -1, -1, -1, 0, length, 0, 0)]
        for name in rng.choice(list(OPERATIONS), 8):
            operands, numbers = rng.integers(0, len(rows), 3).tolist(), rng.choice(NUMBERS, 4).tolist()
            rows.append((0, NAMES.index(name), *operands, *numbers))
            try:
                replay(
                    *((np.array(rows, np.int64), constants), [np.zeros(4, np.float32)], ["x"]),
                    most_work_ns=JUDGED_WORK_NS,
                )
                computed.add(name)
            except LaunchError:
                refused += 1
                rows.pop()
    assert refused and len(computed) > 20
