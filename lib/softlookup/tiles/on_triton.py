"""A kernel's own text on Triton itself: on its interpreter, or compiled where there is a GPU."""

import os
import types
from typing import Any

import numpy as np

from softlookup.tiles.kernel import Kernel

MISSING = "Triton is not installed here. On Linux: pip install 'softlookup[kernels]'."


def on_triton(kernel: Kernel, grid: Any, *args: Any, **named: Any) -> str:
    """Launch a kernel here and on Triton, and compare what they write.

    Args:
        kernel: Its text is taken from the cell or file that it stands in.
        grid: How many programs.
        *args: What it is called with: numpy arrays and plain numbers.
        **named: The same, by name.

    Returns:
        A sentence: how far the arrays differ, or why there is no Triton.

    Book: 18_kernels.html#kernels-launch.
    """
    compared = [value.copy() if isinstance(value, np.ndarray) else value for value in args]
    kernel[grid](*compared, **named)
    try:
        written = launched(kernel, grid, *args, **named)
    except ImportError:
        return MISSING
    pairs = [(a, b) for a, b in zip(compared, written, strict=True) if isinstance(a, np.ndarray)]
    far = max(float(np.nanmax(np.abs(a.astype(float) - b.astype(float)), initial=0)) for a, b in pairs)
    return f"Triton writes the same: no number differs by more than {far:.1g}."


def launched(kernel: Kernel, grid: Any, *args: Any, **named: Any) -> list[Any]:
    """The arguments after a launch on Triton.

    Raises:
        ImportError: If Triton is not installed.
    """
    import torch

    has_gpu = torch.cuda.is_available()
    if not has_gpu:
        os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
    import triton
    import triton.language as tl

    function = kernel.function
    space = {**function.__globals__, "tl": tl, "jit": triton.jit, "cdiv": triton.cdiv}
    twin = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__)
    twin.__annotations__ = {name: tl.constexpr for name in function.__annotations__}
    tensors = [torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value for value in args]
    if has_gpu:
        tensors = [value.cuda() if isinstance(value, torch.Tensor) else value for value in tensors]
    triton.jit(twin)[grid](*tensors, **named)
    return [value.cpu().numpy() if isinstance(value, torch.Tensor) else value for value in tensors]
