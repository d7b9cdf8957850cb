"""Functions of ``tl``: what they give, beside numpy and beside Triton's interpreter, and that Triton compiles them."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlookup.tiles import jit, tl
from tests.tiles.twice import COMPILED, INTERPRETED, compiled, import_triton, kernel_in, launched

COUNT = 16
BODY = """
@jit
def kernel(x, y, out, n, COUNT: tl.constexpr):
    at = tl.arange(0, COUNT)
    a = tl.load(x + at)
    b = tl.load(y + at)
    t = tl.reshape(a, (4, COUNT // 4))
    u = tl.reshape(b, (4, COUNT // 4))
{lines}
    tl.static_assert(r.dtype == tl.{dtype}, "a result has another dtype")
    tl.store(out + tl.arange(0, {count}), tl.reshape(r, ({count},)))
"""

_ERF = np.vectorize(math.erf, otypes=[float])


def _first(choose: Callable[..., Any], **named: Any) -> Callable[..., np.ndarray]:
    return lambda a, b, t, u: choose(t, **named).astype(np.int32)


def _softmax(t: np.ndarray, axis: int) -> np.ndarray:
    weights = np.exp(t - t.max(axis, keepdims=True))
    return weights / weights.sum(axis, keepdims=True)


Oracle = Callable[[Any, Any, Any, Any], Any]
WHOLE, FLOATS, EVERY = ("int8", "int32", "uint32", "int64"), ("float16", "float32", "float64"), ("int32", "float32")

FUNCTIONS: dict[str, tuple[Oracle, tuple[str, ...]]] = {
    "tl.sin(a)": (lambda a, b, t, u: np.sin(a), ("float32", "float64")),
    "tl.math.cos(a)": (lambda a, b, t, u: np.cos(a), ("float32", "float64")),
    "a.erf()": (lambda a, b, t, u: _ERF(a).astype(a.dtype), ("float32", "float64")),
    "tl.floor(a)": (lambda a, b, t, u: np.floor(a), ("float32", "float64")),
    "tl.math.ceil(a)": (lambda a, b, t, u: np.ceil(a), ("float32", "float64")),
    "tl.fma(a, b, 0.5)": (lambda a, b, t, u: (np.float64(1) * a * b + 0.5).astype(a.dtype), FLOATS),
    "tl.fdiv(a, b, ieee_rounding=True)": (lambda a, b, t, u: a / b, ("float32",)),
    "tl.fdiv(a, b)": (lambda a, b, t, u: a / b, ("float32", "float64")),
    "tl.div_rn(a, b)": (lambda a, b, t, u: a / b, ("float32",)),
    "tl.sqrt_rn(a * a)": (lambda a, b, t, u: np.abs(a), ("float32",)),
    "tl.umulhi(a, b)": (
        lambda a, b, t, u: ((a.astype("u4").astype("u8") * b.astype("u4").astype("u8")) >> 32).astype(a.dtype),
        ("int32", "uint32"),
    ),
    "tl.add(a, b, sanitize_overflow=False)": (lambda a, b, t, u: a + b, EVERY),
    "tl.mul(tl.sub(a, b), b)": (lambda a, b, t, u: (a - b) * b, EVERY),
    "tl.clamp(a, 1, 2)": (lambda a, b, t, u: np.clip(a, 1, 2), (*WHOLE, *FLOATS)),
    "tl.maximum(tl.where(a > 1, a, float('nan')), b)": (lambda a, b, t, u: np.fmax(np.where(a > 1, a, b), b), FLOATS),
    "tl.maximum(tl.where(a > 1, a, float('nan')), b, propagate_nan=tl.PropagateNan.ALL)": (
        lambda a, b, t, u: np.where(a > 1, np.fmax(a, b), np.nan).astype(a.dtype),
        FLOATS,
    ),
    "tl.sum(t, 1)": (lambda a, b, t, u: t.sum(1, dtype="int32" if t.dtype == "int8" else t.dtype), (*WHOLE, *FLOATS)),
    "tl.sum(t, 0, dtype=tl.int8)": (lambda a, b, t, u: t.astype("int8").sum(0, dtype="int8"), ("int32",)),
    "tl.max(t, 1, keep_dims=True)": (lambda a, b, t, u: t.max(1, keepdims=True), EVERY),
    "tl.max(t, 1, return_indices=True)[1]": (_first(np.argmax, axis=1), (*WHOLE, *FLOATS)),
    "tl.min(t, 0, return_indices=True)[0]": (lambda a, b, t, u: t.min(0), (*WHOLE, *FLOATS)),
    "tl.argmax(t, 0)": (_first(np.argmax, axis=0), (*WHOLE, *FLOATS)),
    "t.argmin(1, keep_dims=True)": (_first(np.argmin, axis=1), (*WHOLE, *FLOATS)),
    "tl.argmin(tl.where(t < 1, t, float('nan')), 1)": (_first(np.argmin, axis=1), FLOATS),
    "tl.cumsum(t, 1)": (
        lambda a, b, t, u: t.cumsum(1, dtype="int32" if t.dtype == "int8" else t.dtype),
        WHOLE + FLOATS,
    ),
    "tl.cumsum(t, axis=0, reverse=True)": (lambda a, b, t, u: t[::-1].cumsum(0, dtype=t.dtype)[::-1], EVERY),
    "tl.cumprod(t, 1)": (lambda a, b, t, u: t.cumprod(1, dtype=t.dtype), ("int32", "uint32", "float32", "float64")),
    "tl.softmax(t, 1)": (lambda a, b, t, u: _softmax(t, 1), ("float32", "float64")),
    "tl.softmax(t)": (lambda a, b, t, u: _softmax(t, 0), ("float32",)),
    "tl.flip(t)": (lambda a, b, t, u: t[:, ::-1], (*WHOLE, *FLOATS)),
    "tl.flip(a, 0)": (lambda a, b, t, u: a[::-1], EVERY),
    "tl.gather(t, u.to(tl.int32) & 3, 1)": (
        lambda a, b, t, u: np.take_along_axis(t, u.astype("int32") & 3, 1),
        ("int32", "float32"),
    ),
    "tl.join(a, b)": (lambda a, b, t, u: np.stack([a, b], -1), (*WHOLE, *FLOATS)),
    "tl.interleave(t, u)": (lambda a, b, t, u: np.stack([t, u], -1).reshape(4, -1), (*WHOLE, *FLOATS)),
    "tl.cat(t, u, dim=1)": (lambda a, b, t, u: np.concatenate([t, u], 1), EVERY),
    "tl.cat(a, b)": (lambda a, b, t, u: np.concatenate([a, b]), EVERY),
    "tl.split(tl.reshape(a, (2, 4, 2)))[1]": (lambda a, b, t, u: a.reshape(2, 4, 2)[..., 1], (*WHOLE, *FLOATS)),
    "tl.permute(tl.reshape(a, (2, 4, 2)), (2, 0, 1))": (
        lambda a, b, t, u: a.reshape(2, 4, 2).transpose(2, 0, 1),
        EVERY,
    ),
    "tl.trans(tl.reshape(a, (2, 4, 2)))": (lambda a, b, t, u: a.reshape(2, 4, 2).transpose(0, 2, 1), EVERY),
    "tl.trans(t, 1, 0)": (lambda a, b, t, u: t.T, EVERY),
    "tl.ravel(tl.view(t, (8, 2)))": (lambda a, b, t, u: a, EVERY),
    "tl.squeeze(tl.unsqueeze(t, 1), 1)": (lambda a, b, t, u: t, EVERY),
    "tl.expand_dims(a, (0, 2))": (lambda a, b, t, u: a[None, :, None], EVERY),
    "tl.broadcast(t, tl.arange(0, 4)[:, None])[1]": (
        lambda a, b, t, u: np.broadcast_to(np.arange(4, dtype="int32")[:, None], (4, 4)),
        EVERY,
    ),
    "a.to(tl.int32, bitcast=True)": (lambda a, b, t, u: a.view("int32"), ("float32", "uint32")),
    "tl.cast(a, tl.uint64, bitcast=True) >> 40": (lambda a, b, t, u: a.view("uint64") >> np.uint64(40), ("float64",)),
    "tl.randint(n, at)": (None, ("int32",)),  # type: ignore[dict-item]
    "tl.rand(1 << 40, at)": (None, ("int32",)),  # type: ignore[dict-item]
    "tl.randn(7, a)": (None, ("int32", "int64")),  # type: ignore[dict-item]
    "tl.randn4x(7, a, 4)[3]": (None, ("int32",)),  # type: ignore[dict-item]
    "tl.swizzle2d(a, b, 8, 8, 2)[0]": (None, ("int32",)),  # type: ignore[dict-item]
    "tl.to_tensor(2.5) * a": (lambda a, b, t, u: np.float32(2.5) * a, ("float32",)),
}
"""Expressions of tiles a and b, and t and u, the same with two axes; what numpy gives; and the dtypes of a and b."""

RANDOM = {"tl.randint(n, at)": "uint32", "tl.swizzle2d(a, b, 8, 8, 2)[0]": "int32"}
CASES = [(expression, dtype) for expression, (_, dtypes) in FUNCTIONS.items() for dtype in dtypes]


def _inputs(dtype: str) -> list[np.ndarray]:
    # Sums of these are exact in any order.
    a = np.array([3, -1, 2, 5, 0.5, 2, 7, -3, 1, 1, -2, 4, 0, 6, -0.5, 2])
    b = np.array([1, 2, 3, 1, 5, -2, 4, 2, 7, 1, 1, 6, 2, -3, 3, 1])
    return [(np.abs(values) if dtype.startswith("u") else values).astype(dtype) for values in (a, b)]


def _expected(expression: str, dtype: str) -> np.ndarray | None:
    oracle, (a, b) = FUNCTIONS[expression][0], _inputs(dtype)
    return np.asarray(oracle(a, b, a.reshape(4, 4), b.reshape(4, 4))) if oracle else None


def _text(expression: str, dtype: str) -> tuple[str, np.ndarray]:
    expected = _expected(expression, dtype)
    result = np.zeros(COUNT, RANDOM.get(expression, "float32")) if expected is None else np.zeros_like(expected)
    lines = f"    r = {expression}"
    if expression.endswith("]") and ")[" in expression:
        call, _, number = expression.rpartition(")[")
        count = {"randn4x": 4}.get(call.partition("(")[0].removeprefix("tl."), 2)
        names = [f"r{at}" for at in range(count)]
        lines = f"    {', '.join(names)} = {call})\n    r = r{number[:-1]}"
    return BODY.format(lines=lines, dtype=result.dtype.name, count=result.size), result.reshape(-1)


def _on_tiles(expression: str, dtype: str, path: Path) -> np.ndarray:
    text, out = _text(expression, dtype)
    with np.errstate(all="ignore"):
        kernel_in(path, text, jit, tl)[(1,)](*_inputs(dtype), out, 7, COUNT=COUNT)
    return out


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("expression", "dtype"), [case for case in CASES if FUNCTIONS[case[0]][0]])
def test_function_gives_dtype_and_numbers_of_numpy(expression: str, dtype: str, tmp_path: Path) -> None:
    expected = _expected(expression, dtype)
    assert expected is not None
    np.testing.assert_array_equal(_on_tiles(expression, dtype, tmp_path / "kernel.py"), expected.reshape(-1))


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "dtype"), CASES)
def test_function_gives_dtype_and_numbers_of_the_interpreter(expression: str, dtype: str, tmp_path: Path) -> None:
    triton = import_triton(INTERPRETED)
    text, out = _text(expression, dtype)
    kernel = kernel_in(tmp_path / "triton_kernel.py", text, triton.jit, triton.language)
    by_triton = launched(kernel, (1,), [*_inputs(dtype), out, 7], {"COUNT": COUNT}, "cpu")[2]
    np.testing.assert_array_equal(_on_tiles(expression, dtype, tmp_path / "kernel.py"), by_triton)


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "dtype"), CASES)
def test_function_is_compiled_for_a_gpu(expression: str, dtype: str, tmp_path: Path) -> None:
    triton = import_triton(COMPILED)
    text, out = _text(expression, dtype)
    kernel = kernel_in(tmp_path / "triton_kernel.py", text, triton.jit, triton.language)
    assert compiled(triton, kernel, [*_inputs(dtype), out, 7], {"COUNT": COUNT}, 90).asm["ptx"]
