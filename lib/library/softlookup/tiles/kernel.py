"""A kernel as Triton spells it, ``kernel[grid](x, y, n, BLOCK=128)``, on numpy arrays, and what the launch cost."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from softlookup.tiles.replay import Step, Traffic, replay
from softlookup_inside.tiles.halves import BFLOAT16
from softlookup_inside.tiles.recording import is_recording
from softlookup_inside.tiles.text import watched
from softlookup_inside.tiles.tracing import record
from softlookup_inside.tiles.values import KernelError


class Kernel:
    """A function that is launched for every program of a grid.

    Args:
        function: What one program does, written with ``tl``.

    Example:
        >>> import numpy as np
        >>> from softlookup.tiles import jit, tl
        >>> @jit
        ... def double(x, y, n, BLOCK: tl.constexpr):
        ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        ...     tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
        >>> x = np.arange(100, dtype=np.float32)
        >>> y = np.empty_like(x)
        >>> double[(4,)](x, y, 100, BLOCK=32).read_bytes
        400
    """

    is_kernel = True
    """What ``checks.py`` knows kernels by, which other kernels may call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __getitem__(self, grid: Any) -> Callable[..., Traffic]:
        """What launches the kernel with so many programs.

        The grid is one to three counts, or a function that gives them for the arguments by name.
        """
        return functools.partial(self.launch, grid)

    def launch(
        self, grid: Any, /, *args: Any, watch: Callable[[Step], None] | None = None, **keywords: Any
    ) -> Traffic:  # fmt: skip
        """Launch the kernel.

        Args:
            grid: How many programs run, along one to three axes.
            *args: What it is called with: numpy arrays or torch tensors on the CPU, in one piece, and plain numbers.
            watch: Is told each step.
            **keywords: The same, by name.

        Returns:
            What it cost. The arrays that it stores to have changed.

        Raises:
            KernelError: If the kernel does what the language does not know.
            LaunchError: If it reads or writes outside of an array, or two programs meet at one place.
        """
        signature = inspect.signature(self.function)
        known = {name for name in keywords if name in signature.parameters or name not in _COMPILER_OPTIONS}
        bound = signature.bind(*args, **{name: arg for name, arg in keywords.items() if name in known})
        bound.apply_defaults()
        values = [array_of(name, value) for name, value in bound.arguments.items()]
        grid = grid(dict(bound.arguments)) if callable(grid) else grid
        return replay(record(self.function, grid, values), values, list(bound.arguments), watch=watch)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call it from within a kernel, as a function of that one.

        TypeError outside of kernels, since a kernel needs a grid.
        """
        if is_recording():
            return watched(self.function)(*args, **keywords)
        raise TypeError(f"launch a kernel with a grid: {self.function.__name__}[grid](…)")


_COMPILER_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
"""What a launch may say to Triton's compiler; here it changes nothing."""


def array_of(name: str, value: Any) -> Any:
    """A torch tensor as an array on the same memory, all else as it is."""
    if not hasattr(value, "numpy"):
        return value
    try:
        tensor = value.detach()
        if str(tensor.dtype) != "torch.bfloat16":
            return tensor.numpy()
        import torch

        return tensor.view(torch.int16).numpy().view(BFLOAT16)
    except (TypeError, RuntimeError) as error:
        raise KernelError(f"`{name}` cannot be used as an array: {error}") from None


def jit(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function, as ``triton.jit`` does.

    Args:
        function: What one program does.
    """
    return Kernel(function)
