"""What a kernel's second version (``text.py``) asks as it runs: whether Triton's compiler would take what it does."""

import builtins
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup_inside.tiles.constants import plain
from softlookup_inside.tiles.outside_names import TILES, attribute, outer
from softlookup_inside.tiles.tile import ChipTile, ElementType, KnownScalar, Pointer
from softlookup_inside.tiles.values import KernelError, literal_dtype

Type = tuple[Any, ...]  # what must be the same of a name before and after a turn of a loop


@dataclass(frozen=True)
class Branch:
    """A statement `if` that is run."""

    is_taken: bool  # whether its condition holds
    # the names before it, if the condition is a number of the launch: Triton then builds both branches
    before: Mapping[str, Any] | None
    index: int  # which `if` of the kernel it is


class Checks:
    """The checks of one kernel."""

    locals = staticmethod(builtins.locals)

    def __init__(self, name: str) -> None:
        self.name = name
        self.lost: dict[str, str] = {}  # what is said of names that are unknown behind a loop or a branch
        self.is_begun = False  # whether the kernel's text has been entered; for ``text.py``
        self._is_dynamic: dict[int, bool] = {}
        self._signature: tuple[Type, ...] = ()
        self._first: dict[Any, tuple[Type, str]] = {}

    def begin(self, args: Sequence[Any]) -> None:
        """Begin a call with these arguments: Triton builds a kernel for their types and constants."""
        self._signature = tuple(map(type_of, args))

    def refuse(self, sentence: str) -> None:
        """Stop, by a KernelError, where the text has what Triton's compiler does not know."""
        raise KernelError(sentence)

    outer = staticmethod(outer)
    attribute = staticmethod(attribute)

    def assigned(self, name: str, value: Any) -> Any:
        """What a name stands for once it is assigned, as in Triton; KernelError if there are no such variables."""
        value_type = type(value)
        if value_type is ChipTile or value_type is KnownScalar or value_type is Pointer or value is None:
            return value
        value = plain(value)
        if isinstance(value, bool | int | float):
            return scalar(value)
        if isinstance(value, tuple):
            return type(value)(self.assigned(name, part) for part in value)
        if isinstance(value, ElementType | ChipTile) or not callable(value) and value_type.__module__.startswith(TILES):
            return value
        kind_name = "function" if callable(value) else value_type.__name__
        raise KernelError(
            f"`{name}` is assigned a {kind_name}, and a variable of a kernel is a tile, a number, a pointer, a dtype "
            f"or a tuple of them to Triton's compiler: mark a constant, as in `{name}: tl.constexpr = …`, or do without"
        )

    def negated(self, value: Any) -> Any:
        """``not value``."""
        if not isinstance(value, ChipTile):
            return not value
        _check_boolean(value, "not")
        return ~value

    def settles(self, value: Any, way: str) -> bool:
        """Whether what stands before `and` or `or` is a constant that settles it."""
        return not isinstance(value, ChipTile) and bool(value) == (way == "either")

    def both(self, a: Any, b: Any) -> Any:
        """``a and b``, where ``a`` is no constant that is false."""
        return self._joined(a, b, "and")

    def either(self, a: Any, b: Any) -> Any:
        """``a or b``, where ``a`` is no constant that is true."""
        return self._joined(a, b, "or")

    def _joined(self, a: Any, b: Any, connective: str) -> Any:
        if not isinstance(a, ChipTile):
            return b
        if not isinstance(b, ChipTile):
            return b if bool(b) == (connective == "or") else a
        _check_boolean(a, connective)
        _check_boolean(b, connective)
        return operator.and_(a, b) if connective == "and" else operator.or_(a, b)

    def formatted(self, value: Any) -> Any:
        """What is put into a text, as in ``f"{BLOCK}"``; KernelError if it is not known before the kernel is built."""
        if isinstance(value, ChipTile):
            raise KernelError("Triton's compiler puts constants alone into a text: print arrays after the launch")
        return value

    def list_of_tiles(self, *values: Any) -> tuple[Any, ...]:
        """A list, which is a tuple to Triton's compiler."""
        return ListOfTiles(values)

    def tupled(self, values: Any) -> Any:
        """What a list is made of; KernelError if it is no tuple."""
        if not isinstance(values, tuple):
            raise KernelError("Triton's compiler makes lists from tuples alone: write a loop with tl.static_range")
        return values

    def known(self, value: Any) -> Any:
        """A bound of ``tl.static_range``; KernelError if it is not known before the kernel is built."""
        if isinstance(value, ChipTile):
            raise KernelError(
                "tl.static_range takes numbers that stand in the kernel, or arguments marked as in `BLOCK: "
                "tl.constexpr`: write `range` where a number is known at the launch alone"
            )
        return value

    def whole(self, *args: Any) -> int:
        """``int(x)``; KernelError if it is not known before the kernel is built."""
        if any(isinstance(arg, ChipTile) for arg in args):
            raise KernelError("`int` takes constants alone in Triton: cast a tile or a scalar with `.to(tl.int32)`")
        return int(*args)

    def constant(self, name: str, value: Any, names: Mapping[str, Any]) -> Any:
        """What is assigned to a name that is marked as ``tl.constexpr``; KernelError if the name has a value."""
        if name in names:
            raise KernelError(
                f"`{name}: tl.constexpr` is assigned a second time, which Triton's compiler refuses: take another name"
            )
        return value

    def turns(self, numbers: Any) -> Iterator[KnownScalar]:
        """The turns of a loop; KernelError if it is no range."""
        if not isinstance(numbers, range):
            raise KernelError(
                f"a loop runs over range(…), tl.range(…) or tl.static_range(…), not over a {type(numbers).__name__}"
            )
        return map(scalar, numbers)

    def condition(self, value: Any) -> bool:
        """The condition of `while`; KernelError if it is known before the kernel is built."""
        if not isinstance(value, ChipTile):
            raise KernelError(
                f"the condition of `while` is always {value!r}, which Triton's compiler refuses: compare a variable, "
                "as in `while start < n`"
            )
        return bool(value)

    def before(self, names: Mapping[str, Any], sentence: str) -> Mapping[str, Any]:
        """The names before a loop begins, and their values; KernelError with ``sentence``, if there is one."""
        if sentence:
            raise KernelError(sentence)
        return dict(names)

    def turn(self, before: Mapping[str, Any], after: Mapping[str, Any], names: Sequence[str]) -> Sequence[str]:
        """Compare names with what they were before a loop's turn, and give those that are unknown outside of it."""
        lost = []
        for name in names:
            if name not in after:
                continue
            if name not in before:
                lost.append(name)
                self.lost[name] = (
                    f"`{name}` is assigned in a loop and used outside of that turn, where Triton's compiler does not "
                    f"know it: assign `{name}` before the loop, too"
                )
            elif (old := before[name]) is not (new := after[name]) and type_of(old) != type_of(new):
                raise KernelError(
                    f"`{name}` is {_described(old)} before a loop and {_described(new)} after a turn of it, and "
                    f"Triton's compiler refuses a loop that changes a variable's type: {_advice(name, old, new)}"
                )
        return lost

    def branch(self, test: Any, names: Mapping[str, Any], index: int, sentence: str) -> Branch:
        """Begin the `if` of a number, with the names before it; ``sentence`` is for when both branches are built."""
        if isinstance(test, ChipTile):
            is_taken = bool(test)
            if sentence:
                raise KernelError(sentence)
            return Branch(is_taken, dict(names), index)
        return Branch(_constant_condition(test), None, index)

    def joined(
        self, branch: Branch, after: Mapping[str, Any], names: Sequence[str], both: Sequence[str]
    ) -> Sequence[str]:
        """Compare names behind an `if` with those before it and of its other branch; gives those unknown behind it."""
        if branch.before is None:
            return ()
        lost = []
        for name in names:
            if name not in branch.before and name not in both:
                lost += [name] * (name in after)
                self.lost[name] = (
                    f"`{name}` is assigned in one branch of an `if` on a number of the launch and used behind it, "
                    f"where Triton's compiler does not know it: assign `{name}` before the `if`, or in both branches"
                )
                continue
            if name not in after:
                continue
            new = after[name]
            if name in branch.before and (branch.before[name] is not None or name not in both):
                old = branch.before[name]
                if old is not new and type_of(old) != type_of(new):
                    raise KernelError(
                        f"`{name}` is {_described(old)} before an `if` on a number of the launch and {_described(new)} "
                        f"after it, and Triton's compiler refuses a branch that changes a variable's type: "
                        f"{_advice(name, old, new)}"
                    )
            else:
                self._compare((branch.index, name), new, f"`{name}`", "in one branch of an `if`", "in the other")
        return lost

    def tested(self, test: Any, index: int) -> bool:
        """The condition of `a if test else b`."""
        self._is_dynamic[index] = isinstance(test, ChipTile)
        return bool(test) if isinstance(test, ChipTile) else _constant_condition(test)

    def chosen(self, value: Any, index: int, literals: Sequence[Any]) -> Any:
        """What `a if test else b` gives; KernelError if the launch decides and the types of both differ."""
        if not self._is_dynamic[index]:
            return value
        value = self.assigned("a if … else b", value)
        for other in (*literals, value):
            self._compare((index, ""), self.assigned("", other), "`a if … else b`", "in one case", "in the other")
        return value

    def returned(self, value: Any) -> Any:
        """What a function with several `return` gives; all have one type, else a KernelError."""
        scalar_value = self.assigned("return", value) if isinstance(value, bool | int | float) else value
        self._compare(("return",), scalar_value, f"what `{self.name}` returns", "at one `return`", "at another")
        return value

    def _compare(self, key: tuple[Any, ...], value: Any, what: str, here: str, there: str) -> None:
        """Compare a type with the one that another program or launch had at the same place."""
        first, first_text = self._first.setdefault((self._signature, *key), (type_of(value), _described(value)))
        if first != type_of(value):
            raise KernelError(
                f"{what} is {first_text} {here} and {_described(value)} {there}, and Triton's compiler takes "
                "the same type alone: write both in the same dtype and shape, as in `0.0` beside floats"
            )


class ListOfTiles(tuple[Any, ...]):
    """A list in a kernel: to Triton's compiler a tuple, which cannot grow."""

    def __getattr__(self, name: str) -> Any:
        if hasattr(list, name):
            raise KernelError(f"a list is a tuple to Triton's compiler, which cannot `{name}`: write out its parts")
        raise AttributeError(name)


def scalar(value: bool | int | float) -> KnownScalar:
    """A number with the dtype that it has by itself."""
    return KnownScalar(np.array(value, literal_dtype(value)))


def type_of(value: Any) -> Type:
    """What Triton calls the type of a variable."""
    if isinstance(value, ChipTile):
        return "tile", value.value.dtype, value.value.shape
    if isinstance(value, Pointer):
        offset = value.offset
        return "pointer", value.element, offset.value.shape if isinstance(offset, ChipTile) else ()
    if isinstance(value, tuple):
        return "tuple", *map(type_of, value)
    return "constant", value


def _described(value: Any) -> str:
    if isinstance(value, Pointer):
        shape, of = type_of(value)[2], value.dtype.element_ty
        return f"a pointer to {of}" if not shape else f"a tile of pointers to {of} of shape {shape}"
    if isinstance(value, ChipTile):
        return f"a {value.dtype} tile of shape {value.shape}" if value.shape else f"a {value.dtype} scalar"
    return "a tuple" if isinstance(value, tuple) else f"the constant {value!r}"


def _advice(name: str, old: Any, new: Any) -> str:
    """How a variable begins with the type that it gets."""
    if isinstance(new, ChipTile) and new.shape:
        is_known = isinstance(old, KnownScalar) and old.value.dtype.kind == "f"
        value = _literal(float(old.value)) if is_known else "0"
        return (
            f"begin with a tile of shape {new.shape}, written with the constants of the kernel, as in "
            f"`{name} = tl.full((BLOCK,), {value}, {new.dtype})`, and keep shape and dtype"
        )
    if isinstance(new, ChipTile) and new.dtype.dtype == np.float32:
        return f"begin with a float, as in `{name} = 0.0`"
    return f"give `{name}` one shape and dtype, with `.to(…)`, or take another name"


def _literal(value: float) -> str:
    """A float as a kernel writes it."""
    return f"{value!r}" if np.isfinite(value) else f'{"-" * (value < 0)}float("{abs(value)}")'


def _constant_condition(value: Any) -> bool:
    """A condition known before the kernel is built; KernelError if Triton's compiler takes it for none."""
    value = plain(value)
    if type(value) not in (bool, int, type(None)):
        raise KernelError(f"the condition {value!r} is a {type(value).__name__}: Triton's compiler takes a comparison")
    return bool(value)


def _check_boolean(value: ChipTile, connective: str) -> None:
    if value.dtype.dtype != np.bool_:
        raise KernelError(f"Triton's `{connective}` takes comparisons, got {value.dtype}: write `!= 0` or `== 0`")
