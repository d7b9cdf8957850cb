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

    tensors = [torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value for value in args]
    if has_gpu:
        tensors = [value.cuda() if isinstance(value, torch.Tensor) else value for value in tensors]
    _by_triton(kernel, triton, {})[grid](*tensors, **named)
    return [value.cpu().numpy() if isinstance(value, torch.Tensor) else value for value in tensors]


def _by_triton(kernel: Kernel, triton: Any, known: dict[Kernel, Any]) -> Any:
    """The same function as a kernel of Triton's, and so are the kernels that it calls.

    Args:
        kernel: The kernel.
        triton: The package.
        known: Those that were made so far; is added to.
    """
    if kernel in known:
        return known[kernel]
    function, tl = kernel.function, triton.language
    code, enclosing = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
    around = dict(zip(code.co_freevars, enclosing, strict=True))
    # The interpreter looks up an enclosing function's names among the globals, the compiler in the cells.
    space = {**function.__globals__, **around, "tl": tl, "jit": triton.jit, "cdiv": triton.cdiv}
    cells = {name: types.CellType() for name in around}
    twin = types.FunctionType(code, space, function.__name__, function.__defaults__, tuple(cells.values()))
    twin.__annotations__ = {name: tl.constexpr for name in function.__annotations__}
    known[kernel] = triton.jit(twin)
    for name in (*code.co_names, *cells):
        if isinstance(space.get(name), Kernel):
            space[name] = _by_triton(space[name], triton, known)
    for name, cell in cells.items():
        cell.cell_contents = space[name]
    return known[kernel]
