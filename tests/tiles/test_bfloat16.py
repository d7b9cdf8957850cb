"""bfloat16, which numpy does not have: its numbers are torch's, its dtypes Triton's, and it takes two bytes."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from softlookup.tiles import KernelError, jit, tl
from softlookup_inside.tiles.halves import BFLOAT16, as_dtype
from softlookup_inside.tiles.operations import compute
from softlookup_inside.tiles.values import DTYPES, Literal, Value, common_dtype, name_of
from tests.tiles.bodies import launched
from tests.tiles.twice import INTERPRETED, import_triton

EVERY = np.arange(2**16, dtype=np.uint16).view(BFLOAT16)
RNG = np.random.default_rng(6)


def _torch(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)


def _assert_same(got: np.ndarray, expected: torch.Tensor) -> None:
    if got.dtype == BFLOAT16:
        assert expected.dtype == torch.bfloat16
        got, expected = as_dtype(got, np.dtype(np.float32)), expected.float()
    np.testing.assert_array_equal(got, expected.numpy())


def _maximum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.fmax(a.float().numpy(), b.float().numpy())).to(torch.bfloat16)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bool"])
def test_every_number_is_converted_as_torch_does(dtype: str) -> None:
    with np.errstate(all="ignore"):
        _assert_same(as_dtype(EVERY, np.dtype(dtype)), _torch(EVERY).to(getattr(torch, dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int32", "uint8", "bool"])
def test_numbers_are_rounded_as_torch_does(dtype: str) -> None:
    bits = RNG.integers(0, 2**32, 100_000, np.uint32)
    ties = (np.arange(2**15, dtype=np.uint32) << np.uint32(17)) + np.uint32(0x8000)
    floats = np.concatenate([bits, ties, ties + np.uint32(1), ties - np.uint32(1)]).view(np.float32)
    with np.errstate(all="ignore"):
        numbers = floats if dtype == "float32" else bits.astype(dtype)
    _assert_same(as_dtype(numbers, BFLOAT16), torch.from_numpy(numbers).to(torch.bfloat16))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *(("add", operator.add), ("subtract", operator.sub), ("multiply", operator.mul), ("maximum", _maximum)),
        *(("less", operator.lt), ("equal", operator.eq), ("negative", operator.neg), ("abs", torch.abs)),
    ],
)
def test_operation_gives_what_torch_gives(name: str, function: Callable[..., Any]) -> None:
    operands = [RNG.permutation(EVERY) for _ in range(1 if name in ("negative", "abs") else 2)]
    _assert_same(compute(name, operands, []), function(*map(_torch, operands)))


def test_product_is_computed_in_float32_and_sums_are_rounded_once() -> None:
    a, b = (as_dtype(RNG.standard_normal((16, 16)), BFLOAT16) for _ in range(2))
    singles = [as_dtype(tile, np.dtype(np.float32)) for tile in (a, b)]
    product = compute("dot", [a, b], [0])
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, singles[0] @ singles[1], rtol=1e-6)
    _assert_same(compute("sum", [a], [1, 0]), torch.from_numpy(singles[0].sum(1)).to(torch.bfloat16))
    assert compute("max", [a], [1, 0]).dtype == np.float32


@pytest.mark.slow
def test_dtypes_of_pairs_are_those_of_triton() -> None:
    import_triton(INTERPRETED)
    import triton.language as triton_language
    from triton.runtime.interpreter import interpreter_semantic

    literals: tuple[Literal, ...] = (True, 3, 0.5)
    tile = as_dtype(np.ones(4), BFLOAT16)

    def of_triton(value: Value) -> tuple[Any, bool]:
        if isinstance(value, np.ndarray):
            name = name_of(value.dtype)
            return triton_language.int1 if name == "bool" else getattr(triton_language, name), False
        return interpreter_semantic.to_tensor_type(value), True

    for other in (*(np.zeros(4, dtype) for dtype in DTYPES), *literals):
        for pair in ((tile, other), (other, tile)):
            for sign in ("", "/"):
                (x, x_scalar), (y, y_scalar) = map(of_triton, pair)
                expected = interpreter_semantic.computation_type_impl(x, x_scalar, y, y_scalar, bool(sign))
                name = name_of(common_dtype(*pair, sign))
                assert {"bool": "int1"}.get(name, name) == str(expected).replace("fp", "float").replace("bf", "bfloat")


@jit
def _halved(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + at, mask=at < n, other=0.0)
    half = tile * 0.5
    tl.static_assert(half.dtype == tl.bfloat16)
    tl.store(out + at, half, mask=at < n)


def test_tensors_of_torch_are_read_and_written_where_they_lie() -> None:
    x, out = torch.arange(100).to(torch.bfloat16), torch.zeros(100, dtype=torch.bfloat16)
    traffic = _halved[(4,)](x, out, 100, BLOCK=32)
    assert torch.equal(out, x / 2)
    assert (traffic.read_bytes, traffic.written_bytes) == (200, 200)
    assert traffic.chip_bytes == 64


def test_undefined_numbers_are_nan_and_scalars_are_constants() -> None:
    out, _ = launched("tl.store(out + at, tl.load(x + at, mask=at < 4).to(tl.bfloat16) + n.to(tl.bfloat16))", grid=(1,))
    assert np.isfinite(out[:4]).all() and np.isnan(out[4:32]).all()


def test_messages_call_it_by_its_name() -> None:
    with pytest.raises(KernelError, match=r"tl.exp takes float32, got bfloat16: write `.to\(tl.float32\)`"):
        launched("tl.exp(at.to(tl.bfloat16))")
    with pytest.raises(KernelError, match="got bfloat16 and float16: cast one of them"):
        launched("tl.dot(tl.zeros((16, 16), tl.bfloat16), tl.zeros((16, 16), tl.float16))")
    with pytest.raises(KernelError, match="`&` takes whole numbers or booleans, got bfloat16"):
        launched("at.to(tl.bfloat16) & 1")
