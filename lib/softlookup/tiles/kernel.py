"""A kernel as Triton spells it, ``kernel[grid](x, y, n, BLOCK=128)``, on numpy arrays, and what the launch cost."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup.tiles.inside.tracing import record
from softlookup.tiles.replay import Step, Traffic, replay


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

    Book: 18_kernels.html#kernels-launch.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __getitem__(self, grid: Any) -> Callable[..., Traffic]:
        """What launches the kernel with so many programs.

        Args:
            grid: One to three counts, or a function that gives them for the arguments by name.
        """
        return functools.partial(self.launch, grid)

    def launch(
        self, grid: Any, /, *args: Any, watch: Callable[[Step], None] | None = None, **named: Any
    ) -> Traffic:  # fmt: skip
        """Launch the kernel.

        Args:
            grid: How many programs run, along one to three axes.
            *args: What it is called with: numpy arrays or torch tensors on the CPU, in one piece, and plain numbers.
            watch: Is told each step.
            **named: The same, by name.

        Returns:
            What it cost. The arrays that it stores to have changed.

        Raises:
            KernelError: If the kernel does what the language does not know.
            LaunchError: If it reads or writes outside of an array, or two programs meet at one place.
        """
        bound = inspect.signature(self.function).bind(*args, **named)
        bound.apply_defaults()
        values = [value.numpy() if hasattr(value, "numpy") else value for value in bound.arguments.values()]
        grid = grid(dict(bound.arguments)) if callable(grid) else grid
        return replay(record(self.function, grid, values), values, list(bound.arguments), watch=watch)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Refuse: a kernel needs a grid.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"launch a kernel with a grid: {self.function.__name__}[grid](…)")


def jit(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function, as ``triton.jit`` does.

    Args:
        function: What one program does.

    Book: 18_kernels.html#kernels-launch.
    """
    return Kernel(function)


def bytes_of(*arrays: np.ndarray) -> int:
    """Bytes of some arrays together: the least that a kernel moves which needs each of their numbers.

    Book: 18_kernels.html#kernels-counting.
    """
    return sum(array.nbytes for array in arrays)
