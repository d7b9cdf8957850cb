"""A kernel's own text on Triton itself: on its interpreter, or compiled where there is a GPU."""

import os
import types
from typing import Any

import numpy as np

from softlookup.tiles.kernel import Kernel, array_of, jit
from softlookup.tiles.replay import Step
from softlookup_inside.tiles.constants import is_constant, plain
from softlookup_inside.tiles.halves import BFLOAT16, as_dtype
from softlookup_inside.tiles.language import Language, cdiv
from softlookup_inside.tiles.tile import ElementType

MISSING = "Triton is not installed here. On Linux: pip install 'softlookup[kernels]'."

TOLERANCES = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}
"""How far numbers may differ and be called the same, by their dtype: as a part of the number, and of the largest."""

OF_PRODUCTS = 2e-3
"""The same where a kernel has products of tiles, which a GPU computes in TF32, with 11 bits."""

INTERPRETED_BITS = (
    " Triton's interpreter computes with the bits of bfloat16 in place of its numbers: cast tiles to tl.float32 before "
    "you compute, or run the kernel on a GPU."
)
"""What is said of a difference beside arrays in bfloat16, where there is no GPU."""


def on_triton(kernel: Kernel, grid: Any, *args: Any, **keywords: Any) -> str:
    """Launch a kernel here and on Triton, and compare what they write.

    Numbers are the same if they differ by no more than a tolerance, as a part of the number plus the same part of the
    largest number of its array: 1e-5 for float32 (2e-3 where the kernel has ``tl.dot``, which a GPU computes in TF32),
    2e-3 for float16, 2e-2 for bfloat16, 1e-12 for float64. Whole numbers and booleans have to be equal. NaN is the same
    as NaN alone.

    Args:
        kernel: Its text is taken from the cell or file that it stands in.
        grid: How many programs.
        *args: What it is called with: numpy arrays, or torch tensors on the CPU, and plain numbers. None is changed.
        **keywords: The same, by name.

    Returns:
        A sentence: how far the arrays differ, where they are not the same, or why there is no Triton.
    """
    steps: set[str] = set()

    def watch(step: Step) -> None:
        steps.add(step.name)

    names = [*kernel.function.__code__.co_varnames[: len(args)], *keywords]
    values = [array_of(name, value) for name, value in zip(names, (*args, *keywords.values()), strict=True)]
    here = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    named_here = dict(zip(keywords, here[len(args) :], strict=True))
    kernel[grid](*here[: len(args)], watch=watch, **named_here)
    try:
        there = launched(kernel, grid, *values[: len(args)], **dict(zip(keywords, values[len(args) :], strict=True)))
    except ImportError:
        return MISSING
    far = 0.0
    for name, a, b in zip(names, here, there, strict=True):
        if isinstance(a, np.ndarray) and a.size:
            difference, largest = _difference(a, b, "dot" in steps)
            if difference:
                is_short = any(isinstance(value, np.ndarray) and value.dtype == BFLOAT16 for value in here)
                hint = INTERPRETED_BITS if is_short and os.environ.get("TRITON_INTERPRET") == "1" else ""
                return f"Triton writes something else to `{name}`{difference}{hint}"
            far = max(far, largest)
    return f"Triton writes the same: no number differs by more than {far:.1g}."


def _difference(here: np.ndarray, there: np.ndarray, has_products: bool) -> tuple[str, float]:
    """What is to be said of two arrays that are not the same, and how far their numbers differ."""
    dtype = "bfloat16" if here.dtype == BFLOAT16 else here.dtype.name
    tolerance = TOLERANCES.get(dtype, 0.0)
    if has_products and dtype == "float32":
        tolerance = OF_PRODUCTS
    if not tolerance:
        same, far = here == there, np.zeros(here.shape)
    else:
        here, there = (as_dtype(array, np.dtype(np.float64)) for array in (here, there))
        size = float(np.max(np.abs(here), where=np.isfinite(here), initial=0))
        same = np.isclose(there, here, rtol=tolerance, atol=tolerance * size, equal_nan=True)
        with np.errstate(invalid="ignore"):
            far = np.where(np.isfinite(here) & np.isfinite(there), np.abs(here - there), 0)
    if same.all():
        return "", float(far.max())
    at = tuple(map(int, np.argwhere(~same)[0]))
    a, b = here[at], there[at]
    sentence = f" at {list(at)}: here {_number(a)}, there {_number(b)}. "
    if np.isnan(a) != np.isnan(b):
        return sentence + "What a masked load without `other` gives is anything: NaN here, another number there.", 0.0
    count = f"{int(np.sum(~same)):,} of {same.size:,} numbers differ"
    return sentence + (f"{count} by more than {tolerance:g} of their size." if tolerance else f"{count}."), 0.0


def _number(value: Any) -> str:
    return "NaN" if np.isnan(value) else f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def launched(kernel: Kernel, grid: Any, *args: Any, **keywords: Any) -> list[Any]:
    """The arguments after a launch on Triton, those by name behind the others.

    ImportError if Triton is not installed.
    """
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
    import triton

    def tensor(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return plain(value)
        if value.dtype == BFLOAT16:
            return torch.from_numpy(value.view(np.int16).copy()).view(torch.bfloat16).to(device)
        return torch.from_numpy(value.copy()).to(device)

    def array(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        is_bfloat16 = value.dtype == torch.bfloat16
        return value.view(torch.int16).cpu().numpy().view(BFLOAT16) if is_bfloat16 else value.cpu().numpy()

    values = [tensor(value) for value in (*args, *keywords.values())]
    by_triton(kernel, triton)[grid](*values[: len(args)], **dict(zip(keywords, values[len(args) :], strict=True)))
    return [array(value) for value in values]


def by_triton(kernel: Kernel, triton: Any, known: dict[Kernel, Any] | None = None) -> Any:
    """The same function as a kernel of Triton's, and so are the kernels that it calls.

    ``triton`` is the package, ``known`` those that were made so far, to which it is added.
    """
    known = {} if known is None else known
    if kernel in known:
        return known[kernel]
    function, tl = kernel.function, triton.language
    code, enclosing = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
    around = dict(zip(code.co_freevars, enclosing, strict=True))
    # The interpreter looks up an enclosing function's names among the globals, the compiler in the cells; and it wants
    # `tl` among the globals of each kernel, whether that uses it or not.
    names = {"tl": tl, **function.__globals__, **around}
    space = {name: _of_triton(value, triton) for name, value in names.items()}
    cells = {name: types.CellType() for name in around}
    twin = types.FunctionType(code, space, function.__name__, function.__defaults__, tuple(cells.values()))
    twin.__annotations__ = {name: tl.constexpr for name in function.__annotations__}
    known[kernel] = triton.jit(twin)
    for name in (*code.co_names, *cells):
        if isinstance(space.get(name), Kernel):
            space[name] = by_triton(space[name], triton, known)
    for name, cell in cells.items():
        cell.cell_contents = space[name]
    return known[kernel]


def _of_triton(value: Any, triton: Any) -> Any:
    """What Triton has in place of a name of the library; all else as it is."""
    if isinstance(value, Language):
        return triton.language
    if isinstance(value, ElementType):
        return getattr(triton.language, repr(value).removeprefix("tl."))
    if is_constant(value):
        return triton.language.constexpr(plain(value))
    return triton.jit if value is jit else triton.cdiv if value is cdiv else value
