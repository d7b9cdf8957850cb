"""What `softlookup bench roofline` measures: streams and matrix products on a fixed grid of shapes.

Letters of its own: in a product (T, D) @ (D, F), T rows meet a matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import compiled
from benchmarks.ways import operands
from softlookup.roofline.streams import ADD, MUL, Stream

STREAM = "stream"
PRODUCT = "product"

SHAPES: tuple[tuple[int, int, int], ...] = (
    (1, 8192, 8192),
    (2, 8192, 8192),
    (4, 8192, 8192),
    (16, 4096, 8192),
    (64, 2048, 4096),
    (128, 1024, 4096),
    (256, 1024, 1024),
    (512, 512, 512),
    (512, 768, 3072),
    (768, 768, 768),
    (1024, 1024, 1024),
    (1024, 512, 2048),
    (1024, 2048, 1024),
    (2048, 2048, 512),
    (2048, 1024, 2048),
)
"""(T, D, F) of the products."""
QUICK_SHAPES = ((1, 64, 96), (32, 32, 32))

DOT = Stream("dot", 2, 0, 2)
SCALE = Stream("scale", 1, 1, 1)
TRIAD = Stream("triad", 2, 1, 2)
SUM_OF_FOUR = Stream("sum of four", 4, 1, 3)


@dataclass(frozen=True)
class Point:
    """One computation to be predicted and measured.

    Attributes:
        name: As the record calls it.
        kind: STREAM or PRODUCT.
        dtype: Of its numbers.
        n_flops: Operations; a multiply-add is two.
        n_bytes: Operands read once, results written once.
        touched_bytes: The same, and a read for each store, where a cache fetches what it overwrites.
        call: Carries it out.
    """

    name: str
    kind: str
    dtype: str
    n_flops: int
    n_bytes: int
    touched_bytes: int
    call: Callable[[], object]


def _stream(who: str, stream: Stream, n: int, call: Callable[[], object]) -> Point:
    return Point(
        f"{who} {stream.name}, {4 * n >> 20} MiB" if n >= 1 << 18 else f"{who} {stream.name}, {4 * n} B",
        STREAM,
        "float32",
        stream.n_flops(n),
        stream.n_bytes(n),
        stream.n_bytes(n, write_allocate=True),
        call,
    )


def stream_points(n: int, longer: int) -> tuple[Point, list[Point]]:
    """The streams on a CPU, the roof's own first; without a compiler both are numpy's.

    ``n`` and ``longer`` are numbers in an array, ``longer`` for some once more; the caller sees to it that a stream is
    at least four times the last cache.
    """
    import numpy as np
    import torch

    a, b, c, d, e, *_ = operands(n)
    la, lb, _lc, _ld, le, *_ = operands(longer)
    ta, tb, te = (torch.from_numpy(array) for array in (a, b, e))
    points = [
        _stream("numpy", ADD, n, lambda: np.add(a, b, out=e)),
        _stream("numpy", MUL, longer, lambda: np.multiply(la, lb, out=le)),
        _stream("torch", ADD, n, lambda: torch.add(ta, tb, out=te)),
        _stream("torch", SCALE, n, lambda: torch.mul(ta, 3.0, out=te)),
    ]
    try:
        compiled.loops()
    except compiled.NoCompiler:
        return _stream("numpy", ADD, n, lambda: np.add(a, b, out=e)), points[1:]
    four = Stream("fused", 4, 1, 3)
    run = compiled.run
    points += [
        _stream("C", ADD, n, lambda: run("add", a, b, e)),
        _stream("C", ADD, longer, lambda: run("add", la, lb, le)),
        _stream("C", SCALE, n, lambda: run("scale", a, e)),
        _stream("C", SCALE, longer, lambda: run("scale", la, le)),
        _stream("C", SUM_OF_FOUR, n, lambda: run("sum_of_four", a, b, c, d, e)),
        _stream("C", four, n, lambda: run("fused", a, b, c, d, e)),
        _stream("C", DOT, n, lambda: run("dot", a, b)),
        _stream("C", DOT, longer, lambda: run("dot", la, lb)),
    ]
    return _stream("C", TRIAD, n, lambda: run("triad", a, b, e)), points


def gpu_stream_points(n: int, device: str) -> tuple[Point, list[Point]]:
    """The streams on a GPU, the roof's own first; a GPU's stores fetch nothing when whole lines are written."""
    import torch

    made = [torch.rand(n, device=device) for _ in range(4)]
    a, b, c, out = made
    rows = [
        (TRIAD, lambda: torch.add(a, b, alpha=3.0, out=out)),
        (ADD, lambda: torch.add(a, b, out=out)),
        (SCALE, lambda: torch.mul(a, 3.0, out=out)),
        (Stream("addcmul", 3, 1, 2), lambda: torch.addcmul(c, a, b, out=out)),
    ]
    points = [
        Point(f"torch {s.name}", STREAM, "float32", s.n_flops(n), s.n_bytes(n), s.n_bytes(n), call) for s, call in rows
    ]
    return points[0], points[1:]


def product_point(shape: tuple[int, int, int], dtype: str, device: str = "cpu") -> Point:
    """A matrix product (T, D) @ (D, F), by torch; "tf32" is float32 that a GPU may round to TensorFloat-32."""
    import torch

    t, d, f = shape
    kind: Any = torch.float32 if dtype == "tf32" else getattr(torch, dtype)
    left, right = (torch.randn(rows, columns, device=device).to(kind) for rows, columns in ((t, d), (d, f)))
    out = torch.empty(t, f, device=device, dtype=kind)
    width = out.element_size()
    moved = (t * d + d * f + t * f) * width

    def call() -> None:
        torch.mm(left, right, out=out)

    def call_tf32() -> None:
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.mm(left, right, out=out)
        torch.backends.cuda.matmul.allow_tf32 = before

    touched = moved + (t * f * width if device == "cpu" else 0)
    name = f"{dtype} {t} x {d} x {f}"
    return Point(name, PRODUCT, dtype, 2 * t * d * f, moved, touched, call_tf32 if dtype == "tf32" else call)
