"""Random numbers of ``tl``: Philox, which makes them of a seed and a position alone, with the numbers of Triton's.

Source: Salmon et al. (2011), "Parallel Random Numbers: As Easy as 1, 2, 3"; ``triton.language.random``, version 3.9.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup_inside.tiles.arithmetic import to_tensor
from softlookup_inside.tiles.shapes import cast
from softlookup_inside.tiles.tile import ChipTile, ElementType, operation
from softlookup_inside.tiles.values import KernelError

_INT32, _INT64 = ElementType(np.dtype(np.int32)), ElementType(np.dtype(np.int64))
_UINT32 = ElementType(np.dtype(np.uint32))

_KEYS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 0xD2511F53, 0xCD9E8D57

Tiles = tuple[ChipTile, ChipTile, ChipTile, ChipTile]


def philox_impl(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: int = 10) -> Tiles:
    """So many rounds of Philox on a counter of four uint32 and a key of two."""
    if any(not isinstance(value, ChipTile) or value.dtype != _UINT32 for value in (c0, c1, c2, c3, k0, k1)):
        raise KernelError("tl.philox_impl takes tiles of tl.uint32: write tl.philox, which casts them")
    for _ in range(n_rounds):
        high, low = _ROUNDS
        c0, c1, c2, c3 = (
            operation("umulhi", low, c2) ^ c1 ^ k0,
            c2 * low,
            operation("umulhi", high, c0) ^ c3 ^ k1,
            c0 * high,
        )
        k0, k1 = k0 + _KEYS[0], k1 + _KEYS[1]
    # These numbers wrap around on purpose: read anew as bits, they may say where to go in memory.
    first, second, third, fourth = (cast(c, _UINT32, bitcast=True) for c in (c0, c1, c2, c3))
    return first, second, third, fourth


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Tiles:
    """Four tiles of random uint32, of a seed and a counter of four numbers of 32 bits."""
    seed = to_tensor(seed)
    counter = [to_tensor(c) for c in (c0, c1, c2, c3)]
    if any(tile.value.dtype not in (np.int32, np.uint32) for tile in counter):
        raise KernelError("tl.philox counts with tl.int32 or tl.uint32 here: cast its counter")
    if seed.value.dtype.kind not in "iu":
        raise KernelError(f"a seed is a whole number, got {seed.dtype}")
    seed = seed.to(_INT64)
    k0, k1 = ((part & 0xFFFFFFFF).to(_UINT32) for part in (seed, seed >> 32))
    c0, c1, c2, c3 = (cast(tile, _UINT32, bitcast=True) for tile in counter)
    return philox_impl(c0, c1, c2, c3, k0, k1, n_rounds)


def randint4x(seed: Any, offset: Any, n_rounds: int = 10) -> Tiles:
    """Four tiles of random uint32, each number of which depends on the seed and its offset alone."""
    offset = to_tensor(offset)
    low = offset.to(_UINT32)
    none = low * 0
    high = (offset >> 32).to(_UINT32) if offset.value.dtype.itemsize > 4 else none
    return philox(seed, low, high, none, none, n_rounds)


def randint(seed: Any, offset: Any, n_rounds: int = 10) -> ChipTile:
    """A tile of random uint32."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x: Any) -> ChipTile:
    """Random whole numbers of 32 bits as float32 from 0 to 1."""
    if not isinstance(x, ChipTile) or x.value.dtype not in (np.int32, np.uint32):
        raise KernelError("tl.uint_to_uniform_float takes tl.uint32 or tl.int32 here: cast the tile")
    signed: Any = cast(x, _INT32, bitcast=True)
    return operation("multiply", operation("where", signed < 0, ~signed, signed), 4.6566127342e-10)


def rand4x(seed: Any, offsets: Any, n_rounds: int = 10) -> Tiles:
    """Four tiles of random float32, uniform from 0 to 1."""
    first, second, third, fourth = map(uint_to_uniform_float, randint4x(seed, offsets, n_rounds))
    return first, second, third, fourth


def rand(seed: Any, offset: Any, n_rounds: int = 10) -> ChipTile:
    """A tile of random float32, uniform from 0 to 1."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def pair_uniform_to_normal(u1: Any, u2: Any) -> tuple[ChipTile, ChipTile]:
    """Two tiles of normal numbers, of two of uniform ones, by Box and Muller."""
    logarithm: Any = operation("log", operation("maximum", 1.0e-7, u1))
    radius: Any = operation("sqrt", -2.0 * logarithm)
    angle = 6.283185307179586 * u2
    return radius * operation("cos", angle), radius * operation("sin", angle)


def randn(seed: Any, offset: Any, n_rounds: int = 10) -> ChipTile:
    """A tile of random float32, normal with mean 0 and variance 1."""
    first, second, _, _ = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(first), uint_to_uniform_float(second))[0]


def randn4x(seed: Any, offset: Any, n_rounds: int = 10) -> Tiles:
    """Four tiles of random float32, normal with mean 0 and variance 1."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    return *pair_uniform_to_normal(u1, u2), *pair_uniform_to_normal(u3, u4)


RANDOM: tuple[Callable[..., Any], ...] = (
    *(pair_uniform_to_normal, philox, philox_impl, rand, rand4x, randint, randint4x, randn, randn4x),
    uint_to_uniform_float,
)
"""The functions of this file."""
