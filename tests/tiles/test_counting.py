"""Bytes, operations and the most on chip, counted by hand for small kernels; and what a launch may not do."""

import numpy as np
import pytest

from softlookup.tiles import LaunchError, Traffic, jit, tl
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer
from softlookup_inside.tiles.tracing import record
from softlookup_judge.data.limits import excess_in_words
from softlookup_judge.judging.kernels import results, settled, without_numbers
from tests.tiles.bodies import kernel_of, launched

ADD = "tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)"


def test_add_moves_each_number_once() -> None:
    _, traffic = launched(ADD)
    # 100 numbers of 4 bytes of x and of y, 100 of out. The last of 4 programs has 4 numbers of its 32.
    assert (traffic.read_bytes, traffic.written_bytes) == (800, 400)
    assert (traffic.unique_read_bytes, traffic.unique_written_bytes) == (800, 400)
    assert traffic.program_bytes == [384, 384, 384, 48]
    # A tile is whole on chip whatever its mask says: two of 32 numbers, and the sum takes the place of one of them.
    assert traffic.chip_bytes == 256
    # One addition for each number of a tile, those behind the mask included.
    assert traffic.flops == 128
    assert traffic.intensity == 128 / 1200


def test_number_read_twice_counts_twice_and_once_among_unique() -> None:
    _, traffic = launched("tl.store(out + at, tl.load(x + at, mask=mask) * tl.load(x + at, mask=mask), mask=mask)")
    assert (traffic.read_bytes, traffic.unique_read_bytes) == (800, 400)


def test_number_that_many_programs_read_counts_for_each() -> None:
    _, traffic = launched("tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y), mask=mask)")
    # Each of 4 programs reads y[0], which is one number of 4 bytes.
    assert (traffic.read_bytes, traffic.unique_read_bytes) == (400 + 4 * 4, 404)


def test_one_load_of_the_same_place_again_and_again_reads_it_once() -> None:
    _, traffic = launched("tl.store(out + at, tl.load(x + at % 2, mask=mask), mask=mask)")
    assert traffic.read_bytes == 4 * 2 * 4


def test_masked_load_of_nothing_reads_nothing() -> None:
    out, traffic = launched("tl.store(out + at, tl.load(x + at, mask=at < 0, other=5.0), mask=mask)")
    assert traffic.read_bytes == 0
    assert (out == 5).all()


@jit
def _product(a, b, c, n, M: tl.constexpr, K: tl.constexpr):
    rows, inner = tl.arange(0, M), tl.arange(0, K)
    acc = tl.zeros((M, M), tl.float32)
    for start in range(0, n, K):
        left = tl.load(a + rows[:, None] * n + start + inner[None, :])
        acc += tl.dot(left, tl.load(b + (start + inner[:, None]) * M + rows[None, :]))
    tl.store(c + rows[:, None] * M + rows[None, :], acc)


def test_product_counts_two_operations_a_multiplication_and_holds_two_tiles_and_the_sum() -> None:
    a, b, c = np.ones((32, 64), np.float16), np.ones((64, 32), np.float16), np.zeros((32, 32), np.float32)
    traffic = _product[(1,)](a, b, c, 64, M=32, K=16)
    assert (c == 64).all()
    assert (traffic.read_bytes, traffic.written_bytes) == (a.nbytes + b.nbytes, c.nbytes) == (8192, 4096)
    # 2 M N K operations of the products, and M N to add each of 4 to the sum.
    assert traffic.flops == 2 * 32 * 32 * 64 + 4 * 32 * 32
    # A tile of a (32, 16) and one of b (16, 32) in float16; the sum (32, 32) in float32, to which a tensor core adds.
    assert traffic.chip_bytes == 2 * 32 * 16 * 2 + 32 * 32 * 4


def test_sum_of_a_row_is_one_number_and_takes_the_room_of_one() -> None:
    _, traffic = launched("tl.store(out, tl.sum(tl.load(x + at, mask=mask), axis=0))", grid=(1,))
    assert (traffic.read_bytes, traffic.written_bytes, traffic.chip_bytes, traffic.flops) == (128, 4, 132, 32)


_LATER = "\n".join(f"tl.store(out + {at} + tl.arange(0, 1), kept_{at})" for at in range(16))
SIXTEEN = {
    "scalars as they were loaded": "tl.load(x + {0})",
    "scalars that something is added to": "tl.load(x + {0}) + 0.0",
    "scalars in whole numbers": "tl.load(x + {0}).to(tl.int32)",
    "scalars chosen": "tl.where(tl.load(x + {0}) > 0, tl.load(x + {0}), 1.0)",
    "tiles of one": "tl.load(x + {0} + tl.arange(0, 1)) * 1.0",
    "sums of tiles of one": "tl.sum(tl.load(x + {0} + tl.arange(0, 1)), 0)",
    "repeated": "tl.broadcast_to(tl.load(x + {0}) + 0.0, (1,))",
    "filled in": "tl.full((1,), tl.load(x + {0}), tl.float32)",
}


@pytest.mark.parametrize("number", SIXTEEN.values(), ids=list(SIXTEEN))
def test_numbers_kept_one_by_one_take_room_like_a_tile(number: str) -> None:
    body = "\n".join(f"kept_{at} = {number.format(at)}" for at in range(16))
    _, traffic = launched(f"{body}\n{_LATER}", grid=(1,), n=16)
    assert traffic.chip_bytes >= 16 * 4


def test_scalars_that_no_memory_is_read_for_take_no_room() -> None:
    body = "\n".join(f"kept_{at} = tl.program_id(0) * 2.0 + {at}" for at in range(16))
    _, traffic = launched(f"{body}\n{_LATER}", grid=(1,), n=16)
    assert traffic.chip_bytes == 0


def test_places_and_masks_take_no_room_but_what_is_loaded_does() -> None:
    _, arithmetic = launched("many = (at * 7 + 3) % 100\ntl.store(out + at, tl.load(x + many), mask=mask)")
    assert arithmetic.chip_bytes == 32 * 4
    ids = np.zeros(32, np.int32)
    kernel = kernel_of("places = tl.load(y + at)\nnumbers = tl.load(x + places)\ntl.store(out + at, numbers + places)")
    traffic = kernel[(1,)](np.ones(32, np.float32), ids, np.zeros(32, np.float32), 32, BLOCK=32)
    # The places (int32) stay until they are added; with them lie the numbers, and the sum takes the place of one.
    assert traffic.chip_bytes == 2 * 32 * 4


def test_tile_kept_for_later_takes_room_until_then() -> None:
    _, traffic = launched(
        "a = tl.load(x + at, mask=mask)\nb = tl.load(y + at, mask=mask)\nc = b * 2\nd = c - b\n"
        "tl.store(out + at, d + a, mask=mask)"
    )
    # a, b and c lie there at once: c cannot take the place of b, which is needed after it.
    assert traffic.chip_bytes == 3 * 32 * 4


def test_arrays_on_the_same_memory_are_one() -> None:
    x = np.arange(100, dtype=np.float32)
    traffic = kernel_of("tl.store(out + at, tl.load(x + at, mask=mask) + 1, mask=mask)")[(4,)](x, x, x, 100, BLOCK=32)
    assert (x == np.arange(100) + 1).all()
    assert (traffic.unique_read_bytes, traffic.unique_written_bytes) == (400, 400)
    with pytest.raises(LaunchError, match="programs run in any order"):
        kernel_of("tl.store(out + at, tl.load(x + 0), mask=mask)")[(4,)](x, x, x, 100, BLOCK=32)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("tl.store(out + at, tl.load(x + at))", "outside", "program 3 reads `x` at 100, outside of its 100 numbers"),
        ("tl.store(out + at, 1.0)", "outside", "program 3 writes `out` at 100"),
        ("tl.load(x + at - 1, mask=mask)", "outside", "program 0 reads `x` at -1"),
        ("tl.load(x + 2**31 - 1)", "outside", "reads `x` at 2147483647"),
        ("tl.load(x + at + 2**31)", "outside", "reads `x` at 2147483648"),
        ("tl.load(x + tl.full((16,), 2**52, tl.int64) * 1000)", "outside", "reads `x` at 4503599627370496000, outside"),
        *(
            (access, "outside", "program [01] (reads|writes) `(x|out)` at a place that does not fit into the dtype")
            for access in (
                "tl.load(x + tl.full((16,), 2**52, tl.int64) * 4096)",
                "tl.load(x + (at + 1) * 2**30 * 4)",
                "tl.load(x + tl.full((16,), 2**30, tl.int32) + tl.full((16,), 2**30, tl.int32) + 2**30 + 2**30)",
                "tl.load(x + tl.program_id(0) * 65536 * 65536)",
                "tl.load(x + tl.full((16,), 0, tl.int32) + tl.program_id(0) * 65536 * 65536)",
                "tl.load(x + (tl.full((4,), 255, tl.uint8) + tl.full((4,), 1, tl.uint8)))",
                "tl.load(x + (tl.full((4,), 3, tl.uint32) - tl.full((4,), 4, tl.uint32)) % 2)",
                "tl.load(x + (tl.arange(0, 4) << 31 << 1))",
                "tl.load(x + tl.full((4,), 3e9, tl.float32).to(tl.int32) % 2)",
                "tl.load(x + (tl.full((4,), 2**40, tl.int64).to(tl.int32)))",
                "tl.load(x + tl.sum(tl.full((16,), 2**28, tl.int32), 0))",
                "tl.load(x + (at * 2**29)[None, :].T)",
                "tl.load(x + at * 2**29, mask=at * 2**29 < n)",
                "tl.load(x + tl.where(at < 9, at * 2**29, 0))",
                "tl.store(out + at * 2**29, 1.0)",
            )
        ),
        ("tl.store(out, 1.0)", "race", "program 1 writes `out` at 0, which program 0 writes"),
        ("tl.store(out + at, tl.load(out + 0), mask=mask)", "race", "reads `out` at 0, which program 0 writes"),
        ("tl.load(x)\ntl.store(x + at, 1.0, mask=mask)", "race", "program 1 reads `x` at 0, which program 0 writes"),
        ("tl.load(x + 99)\ntl.store(x + at, 1.0, mask=mask)", "race", "writes `x` at 99, which another program"),
        (
            "tl.store(out + at // 2, at * 1.0, mask=mask)",
            "overlap",
            "writes different numbers of one tile to one place of `out`",
        ),
    ],
)
def test_launch_error_names_program_array_and_place(body: str, kind: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message) as caught:
        launched(body)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "body",
    [
        "tl.store(out + at // 2, 7.0, mask=mask)",  # the same number each time
        "tl.store(out + at, 1.0, mask=mask)\ntl.store(out + at, tl.load(out + at, mask=mask) + 1, mask=mask)",
        "tl.store(out + at, tl.load(x), mask=mask)",  # all read one place that nobody writes
        # What wraps around is not reached, not chosen, or no place.
        "tl.load(x + at * 2**29, mask=at < 1)\ntl.store(out + at, 1.0, mask=mask)",
        "tl.load(x + tl.where(at < 1, at * 2**29, 0), mask=mask)\ntl.store(out + at, 1.0, mask=mask)",
        "tl.store(out + at, ((at + 1) * 2**30 * 4) * 1.0, mask=mask)",
        "ids = tl.load(x.__class__(0, np.dtype('float32')) + at, mask=at < 0).to(tl.int32) * 7\n"
        "tl.load(x + ids, mask=at < 0)\ntl.store(out + at, 1.0, mask=mask)",
    ],
)
def test_launch_without_a_race_is_none(body: str) -> None:
    out, _ = launched(body)
    assert not np.isnan(out[:50]).any()


def _case(limits: tuple[int, ...] | None = None, dtype: str = "float32") -> Case:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    args = (x, y, np.zeros(100, dtype), 100, 32)
    return Case("", args, grid=(4,), outputs=(2,), limits=limits)


def _answer(body: str, case: Case) -> Answer:
    return Answer(record(kernel_of(body), case.grid, without_numbers(case).args), None)


NAMES = ("x", "y", "out", "n", "BLOCK")


def test_kernel_within_its_limits_exceeds_them_by_nothing() -> None:
    case = _case((800, 400, 256))
    got = settled(case, _answer(ADD, case), NAMES).arrays
    assert got is not None
    np.testing.assert_array_equal(got[0], np.arange(100) + 1)
    np.testing.assert_array_equal(got[1], [0, 0, 0, 0])


@pytest.mark.parametrize(
    ("limits", "excess", "words"),
    [
        ((790, 400, 256), (10, 0, 0, 0), "kernel reads 800 bytes from main memory, 10 more than the 790"),
        ((400, 400, 256), (400, 0, 0, 0), "kernel reads 800 bytes from main memory, 2.0 times the 400"),
        ((800, 300, 256), (0, 100, 0, 0), "kernel writes 400 bytes to main memory, 1.3 times the 300"),
        ((800, 400, 128), (0, 0, 128, 0), "kernel holds 256 bytes on chip at a time, 2.0 times the 128"),
        ((800, 400, 256, 300), (0, 0, 0, 84), "busiest program moves 384 bytes, 1.3 times the 300"),
    ],
)
def test_kernel_over_a_limit_says_which(limits: tuple[int, ...], excess: tuple[int, ...], words: str) -> None:
    case = _case(limits)
    got = settled(case, _answer(ADD, case), NAMES).arrays
    assert got is not None
    np.testing.assert_array_equal(got[1], excess)
    reason = ": the work is not spread over the programs of the grid" if excess[3] else ""
    assert excess_in_words(case, got[1]) == f"{words} that are allowed{reason}"


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "bool"])
def test_output_that_is_never_written_looks_like_no_result(dtype: str) -> None:
    case = _case(dtype=dtype)
    first = kernel_of("if tl.program_id(0) == 0:\n    tl.store(out + at, 0, mask=mask)")
    got = results(case, record(first, case.grid, case.args), NAMES)
    assert not got[0][:32].any() and not (got[0][32:] == np.zeros(68, dtype)).any()


def test_kernel_that_stores_nothing_is_told_so() -> None:
    case = _case()
    failure = settled(case, _answer("pass", case), NAMES).failure
    assert failure is not None and (failure.kind, failure.message) == ("unwritten", "no program stores anything")


def test_store_to_an_input_is_refused() -> None:
    case = _case()
    failure = settled(case, _answer("tl.store(x + at, 0.0, mask=mask)", case), NAMES).failure
    assert failure is not None and failure.kind == "input-written"
    assert "writes to `x`, which is an input" in failure.message


def test_program_that_does_nothing_costs_nothing() -> None:
    out, traffic = launched("if tl.program_id(0) != 2:\n    return\ntl.store(out + at, 1.0)")
    assert out[64:96].sum() == 32 and traffic == Traffic(0, 128, 0, 128, 0, 0, [0, 0, 128, 0])
