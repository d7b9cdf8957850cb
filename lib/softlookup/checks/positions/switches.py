"""Positions in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Angles are worked out in float64, as a careful student would; results keep the inputs' dtype.
Letters of its own: P pairs of numbers.
"""

import numpy as np

Flags = frozenset[str]
Array = np.ndarray


def speeds(flags: Flags, width: int, base: float) -> Array:
    """How far each pair turns at one step."""
    i = np.arange((width + 1) // 2, dtype=np.float64)
    doubled = i if "exponent-halved" in flags else 4 * i if "exponent-doubled" in flags else 2 * i
    exponent = doubled / (len(i) if "width-of-pairs" in flags else width)
    if "divided-upwards" in flags:
        return base**exponent
    if "linear-speeds" in flags:
        return 1 / np.where(i == 0, 1.0, base * exponent)
    return base**-exponent


def angles(flags: Flags, positions: Array, width: int, base: float) -> Array:
    """One angle for each position and pair."""
    where = np.asarray(positions, dtype=np.float64)
    if "starts-at-one" in flags:
        where = where + 1
    if "counted-anew" in flags:
        where = np.arange(len(where), dtype=np.float64)
    turned = where[:, None] * speeds(flags, width, base)
    if "degrees" in flags:
        turned = np.radians(turned)
    return turned.T if "transposed" in flags else turned


def table(flags: Flags, length: int, width: int, base: float = 10000.0) -> Array:
    """Sines and cosines, side by side; where the width is odd the last sine has no cosine."""
    pairs = width + 1 if width % 2 and "odd-width-rounded" in flags else width
    turned = angles(flags, np.arange(length), pairs, base)
    own = turned
    if "cosine-next" in flags:  # the cosine takes the exponent of i + 1
        i = np.arange((pairs + 1) // 2) + 1
        own = (np.arange(length) + ("starts-at-one" in flags))[:, None] * base ** (-2.0 * i / pairs)
    first, second = np.sin(turned), np.cos(own)
    if "swapped" in flags:
        first, second = second, first
    if "sine-alone" in flags:
        second = first
    kept = width + width % 2 if "one-too-many" in flags else width
    if "halves" in flags:
        return np.concatenate([first, second], axis=-1)[:, :kept]
    return np.stack([first, second], axis=-1).reshape(length, -1)[:, :kept]


def add(flags: Flags, x: Array, rows: Array, start: int) -> Array:
    """Embeddings times sqrt(D), plus the rows of their positions."""
    begin = 0 if "start-ignored" in flags else start + ("one-late" in flags)
    root = x.dtype.type(np.sqrt(x.shape[-1]))
    if "along-the-batch" in flags:
        own = rows[begin : begin + x.shape[0], None]
    elif "rows-of-the-batch" in flags:
        own = rows[begin : begin + x.shape[0]]
    elif "one-for-all" in flags:
        own = rows[begin]
    else:
        own = rows[begin : begin + x.shape[1]]
    if "scaled-sum" in flags:
        return (x + own) * root
    scaled = x if "no-scale" in flags else x / root if "divided" in flags else x * root
    if "width-for-root" in flags:
        scaled = x * x.dtype.type(x.shape[-1])
    if "concatenated" in flags:
        return np.concatenate([scaled, np.broadcast_to(own, scaled.shape)], axis=-1)
    return scaled * own if "multiplied" in flags else scaled + own


def shift(flags: Flags, steps: int, width: int, base: float = 10000.0) -> Array:
    """The matrix that moves a row of sinusoids on by some steps, row times matrix."""
    turned = speeds(flags, width, base) * steps
    if "one-speed" in flags:
        turned = np.full_like(turned, float(steps))
    sin, cos = np.sin(turned), np.cos(turned)
    if "backwards" in flags:
        sin = -sin
    matrix = np.zeros((width, width))
    pairs = np.arange(width // 2)
    first, second = (pairs, pairs + width // 2) if "halves" in flags else (2 * pairs, 2 * pairs + 1)
    matrix[first, first] = matrix[second, second] = cos
    matrix[second, first] = sin
    matrix[first, second] = sin if "no-minus" in flags else -sin
    return matrix


def turn(flags: Flags, x: Array, angle: float) -> Array:
    """Points of the plane, turned."""
    turned = np.radians(angle) if "degrees" in flags else angle
    cos, sin = x.dtype.type(np.cos(turned)), x.dtype.type(np.sin(turned))
    a, b = x[..., 0], x[..., 1]
    if "sign" in flags:
        sin = -sin
    if "swapped" in flags:
        cos, sin = sin, cos
    first = a * cos + b * sin if "no-minus" in flags else a * cos - b * sin
    second = (first if "overwritten" in flags else a) * sin + b * cos
    return np.stack([first, second], axis=-1)


def rotary(flags: Flags, x: Array, start: int, base: float = 10000.0) -> Array:
    """Queries or keys (B, N, T, H), each pair turned by its position's angle."""
    width = x.shape[-1]
    begin = 0 if "start-ignored" in flags else start + ("one-late" in flags)
    along = x.shape[1] if "along-the-heads" in flags else x.shape[2]
    turned = angles(flags, np.arange(begin, begin + along), width, base)
    turned = turned[:, None] if "along-the-heads" in flags else turned
    sin, cos = np.sin(turned).astype(x.dtype), np.cos(turned).astype(x.dtype)
    if "sign" in flags:
        sin = -sin
    if "halves" in flags:
        a, b = x[..., : width // 2], x[..., width // 2 :]
    else:
        a, b = x[..., 0::2], x[..., 1::2]
    first = a * cos + b * sin if "no-minus" in flags else a * cos - b * sin
    second = (first if "overwritten" in flags else a) * sin + b * cos
    if "halves" in flags or "not-woven" in flags:
        return np.concatenate([first, second], axis=-1)
    return np.stack([first, second], axis=-1).reshape(x.shape)


def places(flags: Flags, n_queries: int, n_keys: int, start: int, clip: int) -> Array:
    """Rows of a table of 2 * clip + 1 distances: j - i, cut off on both sides, from 0 on."""
    i = np.arange(n_queries)[:, None] + (0 if "start-ignored" in flags else start)
    j = np.arange(n_keys)[None, :]
    apart = i - j if "sign" in flags else j - i
    if "absolute" in flags:
        apart = np.abs(apart)
    if "not-clipped" not in flags:
        apart = np.minimum(apart, clip)
        apart = np.maximum(apart, -clip) if "one-side-clipped" not in flags else apart
    return apart + (0 if "not-moved" in flags else clip - 1 if "one-short" in flags else clip)
