"""Positions in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Angles are worked out in float64, as a careful student would; results keep the inputs' dtype.
Letters of its own: P pairs of numbers.
"""

import numpy as np

Flags = frozenset[str]
Array = np.ndarray


def speeds(flags: Flags, width: int, base: float) -> Array:
    """How far each pair turns at one step."""
    base = 10000.0 if "base-ignored" in flags else base
    i = np.arange(width // 2 if "half-pair-dropped" in flags else (width + 1) // 2, dtype=np.float64)
    i = i + ("pairs-from-one" in flags)
    if "column-by-column" in flags:
        return base ** (-np.arange(width, dtype=np.float64) / width)
    doubled = i if "exponent-halved" in flags else 4 * i if "exponent-doubled" in flags else 2 * i
    width_used = width + width % 2 if "odd-width-rounded" in flags else width
    exponent = doubled / (len(i) if "width-of-pairs" in flags else width_used)
    if "divided-upwards" in flags:
        return base**exponent
    if "linear-speeds" in flags:
        return 1 / np.where(i == 0, 1.0, base * exponent)
    turned = base**-exponent
    return np.repeat(turned, 2)[:width] if "hands-twice" in flags else turned


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
    if "whole-turns" in flags:
        turned = turned * 2 * np.pi
    if "sines" in flags:
        turned = np.sin(turned)
    return turned.T if "transposed" in flags else turned


def table(flags: Flags, length: int, width: int, base: float = 10000.0) -> Array:
    """Sines and cosines, side by side; where the width is odd the last sine has no cosine."""
    if "transposed" in flags:
        return table(flags - {"transposed"}, length, width, base).T
    if flags & {"column-by-column", "columns-doubled"}:
        column = np.arange(width)
        exponent = (2 if "columns-doubled" in flags else 1) * column / width
        turned = (np.arange(length) + ("starts-at-one" in flags))[:, None] * base**-exponent
        return np.where((column % 2 == 0) != ("swapped" in flags), np.sin(turned), np.cos(turned))
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
    pe = np.stack([first, second], axis=-1).reshape(length, -1)[:, :kept]
    if "last-sine-missing" in flags:
        pe[:, width // 2 * 2 :] = 0.0
    return pe


def add(flags: Flags, x: Array, rows: Array, start: int) -> Array:
    """Embeddings times sqrt(D), plus the rows of their positions."""
    begin = 0 if "start-ignored" in flags else start + ("one-late" in flags)
    root = x.dtype.type(np.sqrt(x.shape[1 if "sqrt-of-tokens" in flags else -1]))
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
    steps = 1 if "one-step" in flags else abs(steps) if "size-of-steps" in flags else steps
    turned = speeds(flags, width, base) * steps
    if "one-speed" in flags:
        turned = np.full_like(turned, float(steps))
    sin, cos = np.sin(turned), np.cos(turned)
    if "swapped" in flags:
        sin, cos = cos, sin
    if "backwards" in flags:
        sin = -sin
    matrix = np.zeros((width, width))
    pairs = np.arange(width // 2)
    first, second = (pairs, pairs + width // 2) if "halves" in flags else (2 * pairs, 2 * pairs + 1)
    matrix[first, first] = matrix[second, second] = cos
    matrix[second, first] = sin
    matrix[first, second] = 0.0 if "one-sine" in flags else sin if "no-minus" in flags else -sin
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
    first, second = _turned(flags, a, b, sin, cos)
    return np.stack([first, second], axis=0 if "stacked-in-front" in flags else -1)


def _turned(flags: Flags, a: Array, b: Array, sin: Array, cos: Array) -> tuple[Array, Array]:
    """Both numbers of each pair; a mistake reads one of them after it was written."""
    if "second-overwritten" in flags:
        b = a * sin + b * cos
    first = a * cos + b * sin if "no-minus" in flags else a * cos - b * sin
    second = b if "second-overwritten" in flags else (first if "overwritten" in flags else a) * sin + b * cos
    return first, second


def rotary(flags: Flags, x: Array, start: int, base: float = 10000.0) -> Array:
    """Queries or keys (B, N, T, H), each pair turned by its position's angle."""
    width = x.shape[-1]
    begin = 0 if "start-ignored" in flags else start + ("one-late" in flags)
    axis = 0 if "along-the-batch" in flags else 1 if "along-the-heads" in flags else 2
    where = np.arange(begin, begin + x.shape[axis])
    if "one-for-all" in flags:
        where = np.full_like(where, begin)
    turned = angles(flags, where, width, base)
    if "one-speed" in flags:
        turned = np.repeat(where[:, None].astype(np.float64), turned.shape[1], axis=1)
    turned = turned.reshape(*turned.shape[:1], *(1,) * (2 - axis), -1)
    sin, cos = np.sin(turned).astype(x.dtype), np.cos(turned).astype(x.dtype)
    if "sign" in flags:
        sin = -sin
    if "added" in flags:
        return x + np.stack([sin, cos], axis=-1).reshape(*sin.shape[:-1], -1)
    if "mixed-halves" in flags:
        across = np.concatenate([-x[..., width // 2 :], x[..., : width // 2]], axis=-1)
        return x * np.repeat(cos, 2, axis=-1) + across * np.repeat(sin, 2, axis=-1)
    if "mixed-neighbours" in flags:
        across = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
        return x * np.concatenate([cos, cos], axis=-1) + across * np.concatenate([sin, sin], axis=-1)
    if "halves" in flags:
        a, b = x[..., : width // 2], x[..., width // 2 :]
    else:
        a, b = x[..., 0::2], x[..., 1::2]
    first, second = _turned(flags, a, b, sin, cos)
    if "halves" in flags or "not-woven" in flags:
        return np.concatenate([first, second], axis=-1)
    return np.stack([first, second], axis=-1).reshape(x.shape)


def places(flags: Flags, n_queries: int, n_keys: int, start: int, clip: int) -> Array:
    """Rows of a table of 2 * clip + 1 distances: j - i, cut off on both sides, from 0 on."""
    i = np.arange(n_queries)[:, None] + (0 if "start-ignored" in flags else start)
    i = i - 2 * start if "start-on-keys" in flags else i
    j = np.arange(n_keys)[None, :]
    apart = i - j if "sign" in flags else j - i
    if "absolute" in flags:
        apart = np.abs(apart)
    far = np.abs(apart) > clip
    if "not-clipped" not in flags:
        if "other-side-clipped" not in flags:
            apart = np.minimum(apart, 0 if "ahead-together" in flags else clip)
        if "one-side-clipped" not in flags:
            apart = np.maximum(apart, 0 if "behind-together" in flags else -clip)
    moved = 0 if "not-moved" in flags else clip + ("one-late" in flags) - ("one-short" in flags)
    row = np.where(far, 0, apart + moved) if "far-in-the-first" in flags else apart + moved
    return row.T if "transposed" in flags else row
