"""The same text on softlookup.tiles and in Triton: whole kernels, and each operation on every pair of dtypes."""

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softlookup_inside.tiles.halves import BFLOAT16
from softlookup_inside.tiles.operations import compute
from softlookup_inside.tiles.values import DTYPES, KernelError, Literal, Value
from tests.tiles import kernels, more_kernels
from tests.tiles.twice import COMPILED, INTERPRETED, compiled, import_triton, kernels_for_triton, launched

FLOAT_ARGUMENTS = ("scaled",)
"""Cases in which the interpreter takes a float argument for a literal: compiled, it is float32, as on tiles."""

ROUNDED_SUMS = ("reductions of float16",)
"""Cases whose sums the interpreter rounds after every number; here they are rounded once."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in kernels.CASES if name not in FLOAT_ARGUMENTS])
def test_kernel_writes_what_the_interpreter_writes(name: str) -> None:
    _compare(name, INTERPRETED, "cpu", exact=name not in ROUNDED_SUMS)


@pytest.mark.slow
@pytest.mark.parametrize("name", more_kernels.CASES)
def test_public_kernel_writes_what_the_interpreter_writes(name: str) -> None:
    triton = import_triton(INTERPRETED)
    kernel, grid, args, named, written, _ = more_kernels.CASES[name]
    twin = kernels_for_triton(triton, "more_kernels.py").CASES[name][0]
    by_triton = launched(twin, grid, args, named, "cpu")
    on_tiles = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel[grid](*on_tiles, **named)
    for at in written:
        assert on_tiles[at].any()
        # A float argument is a literal to the interpreter, and float32 compiled and here.
        np.testing.assert_allclose(on_tiles[at], by_triton[at], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", more_kernels.CASES)
def test_public_kernel_writes_what_numpy_computes(name: str) -> None:
    kernel, grid, args, named, written, expected = more_kernels.CASES[name]
    arrays = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel[grid](*arrays, **named)
    result = arrays[written[0]]
    if expected is None:
        kept_numbers = result != 0
        assert 20 < kept_numbers.sum() < 50
        np.testing.assert_array_equal(result[kept_numbers], 2 * args[0][kept_numbers])
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize("name", more_kernels.CASES)
def test_public_kernel_is_compiled_for_a_gpu(name: str, architecture: int) -> None:
    triton = import_triton(COMPILED)
    _, _, args, named, _, _ = more_kernels.CASES[name]
    kernel = kernels_for_triton(triton, "more_kernels.py").CASES[name][0]
    assert compiled(triton, kernel, args, named, architecture).asm["ptx"]


@pytest.mark.gpu
@pytest.mark.parametrize("name", list(kernels.CASES))
def test_kernel_writes_what_the_compiled_kernel_writes(name: str) -> None:
    _compare(name, COMPILED, "cuda", exact=False)


def _compare(name: str, mode: str, device: str, exact: bool) -> None:
    triton = import_triton(mode)
    kernel, grid, args, named, written = kernels.CASES[name]
    by_triton = launched(kernels_for_triton(triton).CASES[name][0], grid, args, named, device)
    on_tiles = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel[grid](*on_tiles, **named)
    for at in written:
        assert on_tiles[at].any()
        if exact:
            np.testing.assert_array_equal(on_tiles[at], by_triton[at])
        else:
            np.testing.assert_allclose(on_tiles[at], by_triton[at], rtol=2e-3, atol=2e-3)


_NUMBERS = {"b": [True, False], "i": [-7, 3, 5, -2], "u": [7, 3, 5, 2], "f": [-1.5, 2.25, 0.3, 7.0]}
_COMPUTED = [dtype for dtype in DTYPES if dtype != BFLOAT16]
"""The interpreter adds up the bits of bfloat16; test_bfloat16.py compares with torch."""
_LITERALS: tuple[Literal, ...] = (True, 3, -2, 300, 70_000, 2**31, 0.3, -1.5, float("inf"), 1e-300, 1e300)

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    **{"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv},
    **{"floor_divide": operator.floordiv, "remainder": operator.mod, "left_shift": operator.lshift},
    **{"right_shift": operator.rshift, "and": operator.and_, "or": operator.or_, "xor": operator.xor},
    **{"less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge},
    **{"equal": operator.eq, "not_equal": operator.ne},
}


@st.composite
def _operands(draw: Any) -> tuple[Value, Value]:
    """Two tiles, scalars or literals, one of them no literal."""

    def operand() -> Value:
        if draw(st.integers(0, 3)) == 0:
            return draw(st.sampled_from(_LITERALS))
        dtype = draw(st.sampled_from(_COMPUTED))
        numbers = np.array(draw(st.lists(st.sampled_from(_NUMBERS[dtype.kind]), min_size=4, max_size=4))).astype(dtype)
        return np.asarray(numbers[0]) if draw(st.booleans()) else numbers

    a, b = operand(), operand()
    return (a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else (np.arange(4, dtype=np.float16), b)


@pytest.mark.slow
@settings(max_examples=1500)
@given(st.sampled_from(list(OPERATORS)), _operands())
@example("multiply", (np.ones(4, np.float16), 0.1))
@example("multiply", (np.ones(4, np.float16), np.array(0.1, np.float32)))
@example("floor_divide", (np.array([-7, 7], np.int32), 2))
@example("right_shift", (np.array([-8], np.int32), np.array([1], np.uint32)))
@example("add", (np.array([200], np.uint8), 100))
def test_operation_gives_dtype_and_numbers_of_the_interpreter(name: str, operands: tuple[Value, Value]) -> None:
    tl = import_triton(INTERPRETED).language
    a, b = operands
    if "shift" in name:
        b = np.asarray(np.abs(b) % 3).astype(b.dtype) if isinstance(b, np.ndarray) and b.dtype != bool else 1
        a = a if isinstance(a, np.ndarray) else np.arange(4, dtype=np.int32)
    expected: Any
    got: Any
    try:
        result = _by_triton(name, a, b)
        dtype = np.dtype(bool if result.dtype == tl.int1 else str(result.dtype).replace("fp", "float"))
        with np.errstate(all="ignore"):
            expected = np.asarray(result.handle.data).reshape(result.shape).astype(dtype)
    except Exception as error:  # it has many ways to refuse
        expected = error
    try:
        got = compute(name, [a, b], [])
    except KernelError as error:
        got = error
    if _interpreter_errs(name, a, b, expected):
        return
    assert isinstance(got, Exception) == isinstance(expected, Exception), (expected, got)
    if not isinstance(got, Exception):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


def _by_triton(name: str, a: Value, b: Value) -> Any:
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle, interpreter_semantic

    def tensor(value: Value) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        dtype = tl.int1 if value.dtype == bool else getattr(tl, value.dtype.name)
        shape = list(value.shape)
        return tl.tensor(
            TensorHandle(value.reshape(shape or 1), dtype), tl.block_type(dtype, shape) if shape else dtype
        )

    x, y = tensor(a), tensor(b)
    shifted = x if isinstance(a, np.ndarray) else y
    semantic = interpreter_semantic
    functions = {
        **{"add": lambda x, y: semantic.add(x, y, False), "subtract": lambda x, y: semantic.sub(x, y, False)},
        **{"multiply": lambda x, y: semantic.mul(x, y, False), "divide": semantic.truediv},
        **{"floor_divide": semantic.floordiv, "remainder": semantic.mod, "left_shift": semantic.shl},
        "right_shift": semantic.ashr if shifted.dtype.is_int_signed() else semantic.lshr,
        **{"and": semantic.and_, "or": semantic.or_, "xor": semantic.xor_, "less": semantic.less_than},
        **{"less_equal": semantic.less_equal, "greater": semantic.greater_than},
        **{"greater_equal": semantic.greater_equal, "equal": semantic.equal, "not_equal": semantic.not_equal},
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return functions[name](x, y)


def _interpreter_errs(name: str, a: Value, b: Value, expected: Any) -> bool:
    """Where the interpreter is not what is compiled, or does not get by."""
    kinds = {value.dtype.kind for value in (a, b) if isinstance(value, np.ndarray)}
    mixed = kinds == {"i", "u"}  # its numbers without a sign are compared as if they had one
    booleans = kinds == {"b"} and name in ("floor_divide", "remainder", "left_shift", "right_shift")  # refused here
    by_zero = name in ("floor_divide", "remainder") and not np.all(b)  # nowhere defined
    return (
        mixed
        and name in OPERATORS_THAT_ORDER
        or booleans
        or by_zero
        or any(word in str(expected) for word in ("itemsize", "ufunc"))
    )


OPERATORS_THAT_ORDER = ("less", "less_equal", "greater", "greater_equal")


def _attention(q: Any, k: Any, v: Any, out: Any, scale: float, length: int) -> Any:
    scores = q.astype(float) @ k.T.astype(float) * scale
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ v.astype(float)


def _norm(x: Any, y: Any, weight: Any, bias: Any, *rest: Any) -> Any:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("add", lambda x, y, *rest: x + y),
        # A float argument is float32, and so is what it is multiplied with; a literal is no wider than the tile.
        ("scaled", lambda x, y, *rest: np.float32(0.3) * x.astype("f") + (np.float16(0.1) * y).astype("f")),
        ("softmax", lambda out, x, *rest: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
        ("matmul", lambda a, b, *rest: a.astype(float) @ b.astype(float)),
        ("layer norm", _norm),
        ("attention", _attention),
        ("unpack", lambda packed, *rest: np.stack([packed & 15, packed >> 4], 1).reshape(-1) - 8.0),
        ("narrow places", lambda x, places, *rest: x[2 * places.astype(int)]),
        ("grids", lambda *rest: [[[3, 0, 7], [0, 15, 0]], [[103, 0, 107], [0, 115, 0]]]),
    ],
)  # fmt: skip
def test_kernel_writes_what_numpy_computes(name: str, oracle: Callable[..., Any]) -> None:
    kernel, grid, args, named, written = kernels.CASES[name]
    arrays = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel[grid](*arrays, **named)
    half = any(isinstance(arg, np.ndarray) and arg.dtype == np.float16 for arg in args) and name != "scaled"
    tolerance = 4e-3 if half else 1e-6
    np.testing.assert_allclose(arrays[written[0]], oracle(*args), rtol=tolerance, atol=tolerance)
