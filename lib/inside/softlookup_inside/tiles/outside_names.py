"""Names from outside of a kernel: what Triton's compiler lets in, of globals, modules and Python's functions."""

import builtins
import types
from collections.abc import Callable
from typing import Any

from softlookup_inside.tiles.constants import is_constant, plain
from softlookup_inside.tiles.language import Language, cdiv
from softlookup_inside.tiles.tile import ChipTile, ElementType, operation
from softlookup_inside.tiles.values import KernelError

TILES = ("softlookup.tiles", "softlookup_inside.tiles")  # the package whose functions a kernel may call


def outer(name: str, value: Any) -> Any:
    """A name from outside of the kernel; KernelError if Triton's compiler does not let it in."""
    if is_constant(value):
        return plain(value)
    if value is None or isinstance(value, ElementType | Language | types.ModuleType) or _is_kernel(value):
        return value
    if value is cdiv:
        return _outside_cdiv
    if getattr(builtins, name, None) is value:
        if name in _BUILTINS:
            return _BUILTINS[name]
        advice = _INSTEAD.get(name, "compute it outside, or write it with tl")
        raise KernelError(f"Triton's compiler does not know Python's `{name}` in a kernel: {advice}")
    if callable(value):
        if _is_of_tiles(value):
            return value
        if not isinstance(value, types.FunctionType):
            raise KernelError(_not_called(name))
        raise KernelError(
            f"`{name}` is a plain function of Python, which Triton's compiler cannot call from a kernel: write @jit "
            f"above `def {name}`"
        )
    value_text = repr(value) if isinstance(value, int | float | str) and len(repr(value)) < 40 else "…"
    raise KernelError(
        f"`{name}` is a global variable, and Triton's compiler lets a kernel use those only as constants: write "
        f"`{name} = tl.constexpr({value_text})` outside, or hand it to the kernel as an argument"
    )


def attribute(of: Any, name: str, text: str) -> Any:
    """What a thing from outside has under a name; KernelError if Triton's compiler cannot call that function."""
    value = getattr(of, name)
    if not isinstance(of, types.ModuleType) or not callable(value) or _is_kernel(value):
        return value
    if isinstance(value, types.BuiltinFunctionType) or _is_of_tiles(value):
        return value
    raise KernelError(_not_called(text))


def _is_kernel(value: Any) -> bool:
    return bool(getattr(type(value), "is_kernel", False))


def _is_of_tiles(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith(TILES)


def _not_called(text: str) -> str:
    return (
        f"`{text}` is no function of a kernel to Triton's compiler: use those of tl, plain numbers, or compute it "
        "outside and hand it to the kernel as an argument"
    )


def _outside_cdiv(x: Any, div: Any) -> Any:
    """The ``cdiv`` that counts programs outside of kernels."""
    if isinstance(x, ChipTile) or isinstance(div, ChipTile):
        raise KernelError("`cdiv` is for grids, outside of kernels, as triton.cdiv is: in a kernel write tl.cdiv")
    return cdiv(x, div)


def _of_tiles(name: str) -> Callable[..., Any]:
    function = getattr(builtins, name[:3])

    def smallest_or_largest(*values: Any) -> Any:
        if not any(isinstance(value, ChipTile) for value in values):
            return function(*values)
        result = values[0]
        for value in values[1:]:
            result = operation(name, result, value)
        return result

    return smallest_or_largest


def _printed(*values: Any, hex: bool = False, **options: Any) -> None:
    is_text = [isinstance(value, str) for value in values]
    if is_text != [index == 0 for index in range(max(1, len(values)))] or options:
        raise KernelError('Triton\'s `print` takes one text first, then tiles and numbers, as in `print("x", x)`')
    print(*values)


_BUILTINS: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in ("len", "list", "range", "float", "int")},
    **{name: getattr(builtins, name) for name in ("isinstance", "getattr", "hasattr")},
    **{"print": _printed, "min": _of_tiles("minimum"), "max": _of_tiles("maximum")},
}
"""What Triton's compiler knows of Python's functions."""

_INSTEAD = {
    "abs": "write tl.abs",
    "sum": "write tl.sum, or add the parts",
    "reversed": "write `range(n - 1, -1, -1)`",
    "enumerate": "loop over range(…)",
    "zip": "loop over range(…)",
    "map": "write a loop",
    "round": "write `(x + 0.5).to(tl.int32)`, or round a constant outside",
    "pow": "write products, or tl.exp2",
    "bool": "write `!= 0`",
    "any": "write tl.max of a comparison",
    "all": "write tl.min of a comparison",
    "dict": "give each value a name",
    "set": "give each value a name",
    "tuple": "write the parts, as in `(a, b)`",
    "str": "leave it out",
    "slice": "move the pointer",
}
"""What to write instead of others."""
