"""What the roof does not know, an example of each, measured: caches, the start of a call, slow functions."""

from collections.abc import Callable
from typing import Any

from benchmarks.clock import note
from benchmarks.ways import operands

LENGTHS = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
"""Numbers in each array of the sweep, from what fits beside the processor to what does not fit into any cache."""
FUNCTIONS = ("multiply", "sqrt", "exp", "tanh", "sin")


def left_out(clock: Callable[[Callable[[], object]], float], *, quick: bool = False) -> dict[str, Any]:
    """Measure one example of each thing that the roof leaves out.

    ``clock`` times a call in seconds. ``sweep``: for each length bytes of a numpy addition and bytes a second, which
    fall where a cache ends and rise where the call's own start is spread over more numbers. ``start_s``: time of an
    addition of one number, by numpy and by torch. ``functions``: numbers a second by numpy of elementwise functions of
    one long array, all with the same bytes.
    """
    import numpy as np
    import torch

    lengths = LENGTHS[:3] if quick else LENGTHS
    a, b, _, _, e, *_ = operands(lengths[-1])
    sweep = []
    for n in lengths:
        part = (a[:n], b[:n], e[:n])

        def add(part: tuple[np.ndarray, ...] = part) -> None:
            np.add(part[0], part[1], out=part[2])

        seconds = sorted(clock(add) for _ in range(3))[1]
        sweep.append(note(bytes=12 * n, bytes_per_s=12 * n / seconds, seconds=seconds))
    arrays = np.ones(1, np.float32), np.ones(1, np.float32), np.empty(1, np.float32)
    one_torch = torch.ones(1), torch.ones(1), torch.empty(1)

    def numpy_one() -> None:
        np.add(arrays[0], arrays[1], out=arrays[2])

    def torch_one() -> None:
        torch.add(one_torch[0], one_torch[1], out=one_torch[2])

    functions = {}
    for name in FUNCTIONS:
        call: Callable[..., object] = getattr(np, name)

        def apply(call: Callable[..., object] = call, name: str = name) -> None:
            call(*((a, a) if name == "multiply" else (a,)), out=e)

        functions[name] = float(f"{a.size / sorted(clock(apply) for _ in range(3))[1]:.4g}")
    return {
        "sweep": sweep,
        "start_s": note(numpy=clock(numpy_one), torch=clock(torch_one)),
        "functions": functions,
    }
