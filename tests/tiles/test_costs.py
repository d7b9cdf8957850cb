"""What the judge's own work takes: every operation and dtype has an entry, and takes no longer than that says."""

import contextlib
import itertools
import time
from collections.abc import Iterator

import numpy as np
import pytest

from softlookup.tiles import LaunchError, costs, replay
from softlookup_inside.tiles.halves import BFLOAT16, as_dtype
from softlookup_inside.tiles.operations import OPERATIONS, compute
from softlookup_inside.tiles.overflow import carried, wrapped
from softlookup_inside.tiles.tracing import record
from softlookup_inside.tiles.values import DTYPES, KernelError
from tests.tiles.bodies import kernel_of

SIDE = 128
REDUCTIONS = [(-1, 0), (0, 0), (1, 0)]
SIZES = [
    name for name, operation in OPERATIONS.items() if operation.operands == 0 or operation.is_view or name == "full"
]
"""Operations that compute nothing with numbers."""


def test_every_operation_has_a_cost_in_every_dtype() -> None:
    assert set(costs.COST_NS) == set(OPERATIONS)
    assert all(set(entries) == set(DTYPES) and min(entries.values()) > 0 for entries in costs.COST_NS.values())


def _slow_numbers(dtype: np.dtype) -> Iterator[np.ndarray]:
    """Numbers that processors and numpy are slow with."""
    rng = np.random.default_rng(3)
    shape = (SIDE, SIDE)
    if dtype == BFLOAT16:
        with np.errstate(all="ignore"):
            yield from (as_dtype(numbers, BFLOAT16) for numbers in _slow_numbers(np.dtype(np.float32)))
    elif dtype.kind == "f":
        info = np.finfo(dtype)
        tiny, largest = float(info.tiny), float(info.max)
        yield from (
            numbers.astype(dtype)
            for numbers in (
                rng.standard_normal(shape),
                rng.random(shape) * tiny,
                np.sqrt(tiny) * (0.3 + rng.random(shape) / 2),
                np.full(shape, np.nan),
                np.full(shape, np.inf),
                largest * (0.5 + rng.random(shape) / 2),
            )
        )
    elif dtype.kind == "b":
        yield rng.random(shape) > 0.5
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        yield rng.integers(low, high, shape, dtype, endpoint=True)
        some = (low, high, 1, -1050, -(2**30))
        yield from (np.full(shape, number, dtype) for number in some if low <= number <= high)


def _calls(name: str, dtype: np.dtype) -> Iterator[tuple[list[np.ndarray], tuple[int, ...]]]:
    numbers = list(_slow_numbers(dtype))
    known = OPERATIONS[name]
    for first, second in itertools.product(numbers, numbers):
        if name == "cast":
            yield from (([first], (at,)) for at in range(len(DTYPES)))
        elif name in ("max", "min", "sum"):
            yield from (([first], reduction) for reduction in REDUCTIONS)
        elif name == "where":
            yield [as_dtype(numbers[0], np.dtype(bool)), first, second], ()
        elif name == "bitcast":
            yield [first], (DTYPES.index(dtype),)
        elif name == "gather":
            yield [first, np.random.default_rng(3).permuted(np.mgrid[:SIDE, :SIDE][0], axis=0)], (0,)
        else:
            yield [first, second, first][: known.operands or 2], (0,) * known.numbers


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in SIZES])
def test_no_operation_takes_longer_than_its_cost(name: str) -> None:
    for dtype in DTYPES:
        for operands, numbers in _calls(name, dtype):
            try:
                took = min(_seconds(name, operands, numbers) for _ in range(2))
            except KernelError:
                break
            # A slow machine takes three times as long.
            assert took < 3e-9 * costs.work_of(name, operands, numbers), (dtype, operands, numbers)
            took = min(_seconds(name, operands, numbers, is_place=True) for _ in range(2))
            assert took < 3e-9 * costs.work_of(name, operands, numbers, is_place=True), (dtype, operands, numbers)


def _seconds(name: str, operands: list[np.ndarray], numbers: tuple[int, ...], is_place: bool = False) -> float:
    begin = time.process_time()
    result = compute(name, operands, numbers)
    if is_place:
        flags = [np.ones(np.shape(operand), bool) for operand in operands]
        carried(name, operands, numbers, flags, result.shape)
        wrapped(name, operands, numbers, result)
    return time.process_time() - begin


HEAVY = {
    "products of the smallest float16": ("t = tl.full((65536,), 1e-3, tl.float16)", "t * t"),
    "sums of float16": ("t = tl.full((65536,), 1e-7, tl.float16)", "tl.sum(t, 0)"),
    "quotients of whole numbers": ("t = tl.full((65536,), 7, tl.int64)", "t // t"),
    "remainders of whole numbers": ("t = tl.full((65536,), 7, tl.int64)", "t % t"),
    "remainders of floats": ("t = tl.full((65536,), 1e300, tl.float64)", "t % 1e-300"),
    "exponentials": ("t = tl.full((65536,), 1e-42, tl.float32)", "tl.exp(t)"),
    "casts": ("t = tl.full((65536,), 1e-7, tl.float32)", "t.to(tl.float16)"),
    "products of matrices": ("t = tl.full((256, 256), 1e-42, tl.float32)", "tl.dot(t, t)"),
    "loads": ("t = tl.arange(0, 65536) % 64", "tl.load(x + t)"),
    "masked loads": ("t = tl.arange(0, 65536)", "tl.load(x + t, mask=t < 0)"),
    "shifts of places": ("t = tl.full((65536,), -1050, tl.int32)\nz = t", "z = z << t\n    tl.load(x + z, mask=z > 0)"),
    "sums of places": ("t = tl.full((256, 256), 1, tl.int64)", "tl.load(x + tl.sum(t * t, 1), mask=tl.sum(t, 1) < 0)"),
    "products of bfloat16": ("t = tl.full((65536,), 1e-38, tl.bfloat16)", "t * t"),
    "remainders of bfloat16": ("t = tl.full((65536,), 1e38, tl.bfloat16)", "t % 1e-38"),
    "error functions": ("t = tl.full((65536,), 0.5, tl.float64)", "tl.erf(t)"),
    "sines": ("t = tl.full((65536,), 1e300, tl.float64)", "tl.sin(t)"),
    "sums up to each": ("t = tl.full((65536,), 1e-7, tl.float16)", "tl.cumsum(t, 0)"),
    "positions": ("t = tl.arange(0, 65536)", "tl.gather(t, t, 0)"),
    "small rows": ("t = tl.load(x)", "t + 1.0"),
}


def _heavy(name: str, most_work_ns: int, rows: int = 9000) -> None:
    begin, step = HEAVY[name]
    times = rows // (6 if "tl.load(" in step else 1)  # an access has rows for its place and its mask
    kernel = kernel_of(f"{begin}\nfor i in range({times}):\n    {step}\ntl.store(out + at, 1.0, mask=mask)")
    args = (np.ones(64, np.float32), np.ones(64, np.float32), np.zeros(64, np.float32), 64, 64)
    rows = record(kernel, (1,), args)
    replay.replay(rows, args, ("x", "y", "out", "n", "BLOCK"), most_work_ns=most_work_ns)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", HEAVY)
def test_work_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(LaunchError, match="counted as more than 0.01 s of work") as caught:
        _heavy(name, 10**7)
    assert caught.value.kind == "work"


def test_work_is_counted_before_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def watched(name: str, *args: object) -> np.ndarray:
        computed.append(name)
        return compute(name, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(replay, "compute", watched)
    with pytest.raises(LaunchError, match="of work"):
        _heavy("remainders of floats", 10**9)
    assert "full" in computed and "remainder" not in computed


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_largest_work_that_is_allowed_takes_seconds_at_most(name: str) -> None:
    begin = time.process_time()
    with contextlib.suppress(LaunchError):
        _heavy(name, costs.JUDGED_WORK_NS)
    assert time.process_time() - begin < 3 * costs.JUDGED_WORK_NS / 1e9
