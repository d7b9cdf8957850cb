"""Arrays in another dtype, with float16 as numpy rounds it, in a time that does not depend on the numbers.

numpy takes up to a thousand times as long below the smallest normal number. bfloat16 is the upper half of a float32.
"""

from typing import Any

import numpy as np

_HALF = np.dtype(np.float16)

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
"""bfloat16 as numpy can hold it: two bytes that are copied, and computed with nowhere."""

with np.errstate(all="ignore"):
    _SINGLES = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
"""What each float16 is in float32, by its bits."""


def as_dtype(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array in a dtype of tiles; the array itself if it has that dtype."""
    if array.dtype == dtype:
        return array
    if array.dtype == BFLOAT16:
        upper: Any = np.ascontiguousarray(array).view(np.uint16).reshape(array.shape)
        return as_dtype(np.asarray(upper.astype(np.uint32) << np.uint32(16)).view(np.float32), dtype)
    if dtype == BFLOAT16:
        return _upper_halves(as_dtype(array, np.dtype(np.float32)))
    if array.dtype == _HALF and dtype.kind != "b":
        array = _SINGLES[array.view(np.uint16)]
    if dtype != _HALF:
        return array.astype(dtype, copy=False)
    if array.dtype.kind != "f":
        # 32 bits say which float16 is nearest to a whole number up to the largest of them.
        array = array.astype(np.float64 if array.dtype.itemsize == 8 else np.float32)
    return _rounded(array)


def _upper_halves(array: np.ndarray) -> np.ndarray:
    """The nearest bfloat16 of each float32, the even one of two."""
    bits: Any = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape)
    # As below: half of what is cut off, less one where the last bit that stays is 0.
    cut = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    result = np.where(np.isnan(array), np.uint32(0x7FC0), cut).astype(np.uint16)
    return result.view(BFLOAT16).reshape(array.shape)


def _rounded(array: np.ndarray) -> np.ndarray:
    """The nearest float16 of each float32 or float64, the even one of two."""
    uint_type: Any
    uint_type, mantissa, bias = (np.uint32, 23, 127) if array.dtype == np.float32 else (np.uint64, 52, 1023)
    bits: Any = np.ascontiguousarray(array).view(uint_type).reshape(array.shape)
    sign = (bits >> uint_type(8 * bits.itemsize - 16)).astype(np.uint16) & np.uint16(0x8000)
    size = bits & uint_type(2 ** (8 * bits.itemsize - 1) - 1)
    shift, unit = uint_type(mantissa - 10), uint_type(1)
    # Half of what is cut off, less one where the last bit that stays is 0: so ties go to even. A carry into the
    # exponent is right, up to infinity.
    cut = (size + (unit << (shift - unit)) - unit + ((size >> shift) & unit)) >> shift
    result = (cut - uint_type((bias - 15) << 10)).astype(np.uint16)
    small = size < uint_type((bias - 14) << mantissa)
    if small.any():
        # Added to a half, or what is as much larger in float64, a number is rounded by the processor at the place of
        # float16's last bit. What is below a quarter of that is 0 beforehand: processors are slow with the smallest.
        size = np.where(size < uint_type((bias - 26) << mantissa), uint_type(0), size)
        half = array.dtype.type(2.0 ** (mantissa - 24))
        sums = np.where(small, size, uint_type(0)).view(array.dtype) + half
        result = np.where(small, (sums.view(uint_type) - half.view(uint_type)).astype(np.uint16), result)
    large = size >= uint_type((bias + 16) << mantissa)
    if large.any():
        is_nan = size > uint_type((2 * bias + 1) << mantissa)
        result = np.where(large, np.where(is_nan, np.uint16(0x7E00), np.uint16(0x7C00)), result)
    return np.asarray(result | sign).view(np.float16)
