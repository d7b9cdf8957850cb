"""Sizes and dtypes of ``tl.dot``: what is taken here Triton compiles, and what it refuses is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlookup.tiles import KernelError, jit, tl
from tests.tiles.twice import COMPILED, compiled, import_triton, kernel_in

SIZES = [
    *(("float16", 1, 1, 16, True), ("float16", 1, 64, 16, True), ("float16", 16, 16, 8, False)),
    *(("bfloat16", 2, 4, 16, True), ("bfloat16", 16, 16, 8, False)),
    *(("float32", 1, 1, 8, True), ("float32", 16, 16, 4, False), ("float32", 1, 16, 16, True)),
    *(("float64", 16, 8, 4, True), ("float64", 16, 16, 2, False)),
    *(("int8", 16, 16, 32, True), ("int8", 16, 16, 16, False), ("int8", 1, 1, 32, True)),
    *(("uint8", 16, 16, 32, False), ("int32", 16, 16, 16, False), ("int16", 16, 16, 16, False)),
]
"""A dtype, the sizes M, N and K, and whether there is such a product."""

OPTIONS = [
    *(("input_precision='ieee'", True), ("input_precision='tf32x3'", True), ("input_precision='fp32'", False)),
    *(("allow_tf32=False", True), ("input_precision='tf32', allow_tf32=True", False)),
    *(("max_num_imprecise_acc=0", True), ("out_dtype=tl.float32", True), ("out_dtype=tl.bfloat16", False)),
    *(("acc=tl.zeros((16, 16), tl.float32)", True), ("acc=tl.zeros((16, 16), tl.float16)", False)),
]
"""What stands beside two tiles of float32, and whether it may."""

BODY = """
@jit
def kernel(out):
    a = tl.full(({M}, {K}), 2, tl.{dtype})
    b = tl.full(({K}, {N}), 1, tl.{dtype})
    product = tl.dot(a, b{options})
    at = tl.arange(0, {M})[:, None] * {N} + tl.arange(0, {N})[None, :]
    tl.store(out + at, product.to(tl.float32))
"""
CASES = [(dtype, M, N, K, "", is_there) for dtype, M, N, K, is_there in SIZES]
CASES += [("float32", 16, 16, 16, f", {options}", is_there) for options, is_there in OPTIONS]


def _kernel(case: tuple[Any, ...], path: Path, names: Any) -> Any:
    dtype, M, N, K, options, _ = case
    return kernel_in(path, BODY.format(dtype=dtype, M=M, N=N, K=K, options=options), names.jit, names.tl)


class _Tiles:
    jit, tl = staticmethod(jit), tl


@pytest.mark.parametrize("case", CASES, ids=str)
def test_product_is_computed_or_refused_with_a_sentence(case: tuple[Any, ...], tmp_path: Path) -> None:
    _, M, N, K, _, is_there = case
    out = np.zeros((M, N), np.float32)
    kernel = _kernel(case, tmp_path / "kernel.py", _Tiles)
    if is_there:
        kernel[(1,)](out)
        assert (out == 2 * K).all()
    else:
        with pytest.raises(KernelError, match="tl.dot"):
            kernel[(1,)](out)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_product_is_compiled_or_refused_by_triton(case: tuple[Any, ...], architecture: int, tmp_path: Path) -> None:
    triton = import_triton(COMPILED)
    triton.tl = triton.language
    kernel = _kernel(case, tmp_path / "triton_kernel.py", triton)
    out = np.zeros((case[1], case[2]), np.float32)
    if case[-1]:
        assert compiled(triton, kernel, [out], {}, architecture).asm["ptx"]
    else:
        with pytest.raises((triton.CompilationError, RuntimeError)):
            compiled(triton, kernel, [out], {}, architecture)
