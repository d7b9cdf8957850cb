"""``tl.constexpr``: what is known before a kernel is built, and how Triton tells it from a plain global name."""

from collections.abc import Callable
from typing import Any

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor")


class constexpr:
    """Marks an argument that is known before the kernel is built, ``BLOCK: tl.constexpr``, and global constants."""

    def __new__(cls, value: Any) -> Any:
        """The value, marked if it is a number, a string or a tuple."""
        for value_type, marked in _MARKED.items():
            if isinstance(value, value_type):
                constant = marked(value)
                constant.value = plain(value)
                return constant
        return value


def plain(value: Any) -> Any:
    """The value of a constant that ``constexpr`` has marked; all else as it is."""
    return value.value if type(value) in _MARKED.values() else value


def is_constant(value: Any) -> bool:
    """Whether ``constexpr`` has marked a value."""
    return type(value) in _MARKED.values()


def _marked(value_type: type) -> type:
    """A class of values of this kind, whose sums and products are marked, too."""

    def method(name: str) -> Callable[..., Any]:
        def compute(self: Any, *others: Any) -> Any:
            result = getattr(value_type, name)(self, *others)
            return result if result is NotImplemented else constexpr(result)

        return compute

    names = [f"__{way}{name}__" for name in _OPERATORS for way in ("", "r")] + ["__neg__"]
    return type(
        "constexpr",
        (value_type,),
        {name: method(name) for name in names if value_type is not tuple and hasattr(value_type, name)},
    )


_MARKED = {value_type: _marked(value_type) for value_type in (int, float, str, tuple)}
