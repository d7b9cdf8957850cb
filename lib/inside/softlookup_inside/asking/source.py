"""What a student's function refers to, read from its compiled code: shortcuts, and functions of earlier tasks."""

import contextlib
import dis
import functools
import hashlib
import inspect
import linecache
import os
import types
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from softlookup_inside import OURS

_MOST_BEHIND = 1000
"""Things that are looked through for functions: an object may make a new one whenever it is asked what it wraps."""


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def functions_behind(obj: Any) -> list[types.FunctionType]:
    """The plain functions of an answer, each once: itself, what it wraps or closes over, methods of its class."""
    functions: list[types.FunctionType] = []
    todo: list[Any] = [obj]
    visited: list[Any] = []
    while todo:
        current = todo.pop(0)
        if any(current is before for before in visited) or len(visited) > _MOST_BEHIND:
            continue
        visited.append(current)
        if isinstance(current, types.FunctionType) and current not in functions:
            functions.append(current)
        todo += _behind(current)
    return functions


def _behind(obj: Any) -> list[Any]:
    """What something hands its calls to, as far as it says so itself; all parts of a student's class or object."""
    if isinstance(obj, functools.partial):
        return [part for part in (obj.func, *obj.args, *obj.keywords.values()) if callable(part)]
    if isinstance(obj, types.MethodType):
        return [obj.__func__, obj.__self__]
    if isinstance(obj, types.FunctionType):
        contents = [_contents(cell) for cell in obj.__closure__ or ()]
        return _wrapped(obj) + [
            content for content in contents if isinstance(content, types.FunctionType) or _leads_on(content)
        ]
    if not isinstance(obj, type):
        attributes = [type(obj), *getattr(obj, "__dict__", {}).values()] if _is_own(type(obj)) else []
        return _wrapped(obj) + [
            attribute for attribute in attributes if isinstance(attribute, types.FunctionType) or _leads_on(attribute)
        ]
    members = [member for base in obj.__mro__ if _is_own(base) for member in vars(base).values()]
    return [getattr(member, name) for member in members for name in _HELD if hasattr(member, name)] + [
        member for member in members if isinstance(member, types.FunctionType) or _leads_on(member)
    ]


_HELD = ("__func__", "fget", "func")
"""Where a static or class method, a property, and a cached property or partial method keep their functions."""


def _leads_on(value: Any) -> bool:
    """Whether something is, or holds, a student's function without being one: a method, an object, a class."""
    value_type = value if isinstance(value, type) else type(value)
    return isinstance(value, functools.partial | types.MethodType) or _is_own(value_type) or bool(_wrapped(value))


def _is_own(value_type: type) -> bool:
    """Whether a class is one that the student wrote."""
    return value_type.__module__ == "__main__"


def _wrapped(obj: Any) -> list[Any]:
    """What something says that it wraps; a compiled module of torch's has another name for it."""
    return [getattr(obj, name) for name in ("__wrapped__", "_orig_mod") if hasattr(obj, name)]


def text_hash(text: str) -> str:
    """A cell's text as sixteen hexadecimal digits; blanks at the ends of lines and of the text do not count."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def cell_hash(obj: Any) -> str:
    """The hash of the notebook cell that an answer stands in, empty where it stands in none, or in several."""
    files = {function.__code__.co_filename for function in functions_behind(obj)}
    cells = [file for file in files if not os.path.exists(file)]
    if len(cells) != 1:
        return ""
    text = "".join(linecache.getlines(cells[0]))
    return text_hash(text) if text else ""


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a cell that is not filled yet
        return None


def reached(obj: Any, stop: frozenset[str] = frozenset()) -> list[types.FunctionType]:
    """The functions that an answer consists of, and those of its module that it calls, but for names in ``stop``."""
    functions: list[types.FunctionType] = []
    todo = functions_behind(obj)
    while todo:
        function = todo.pop()
        if function in functions:
            continue
        functions.append(function)
        for name in names_in(function) - stop:
            target = function.__globals__.get(name)
            inside = target if isinstance(target, list | tuple) else [target]
            inside = list(target.values()) if isinstance(target, dict) else inside
            for value in inside:
                home = getattr(value, "__module__", None)
                if isinstance(value, functools.partial) or home == function.__module__ or hasattr(value, "_orig_mod"):
                    todo += functions_behind(value)
    return functions


@contextlib.contextmanager
def standing_in(obj: Any, others: Mapping[str, Callable[[Any], Any]]) -> Iterator[None]:
    """Put what ``others`` makes, by global name, of what an answer calls in its place; afterwards all is as it was."""
    if not others:
        yield
        return
    functions = reached(obj)
    worlds = {id(f.__globals__): f.__globals__ for f in functions}.values()
    originals = [(world, {name: world[name] for name in others if name in world}) for world in worlds]
    defaults = [(f, f.__defaults__) for f in functions if f.__defaults__]
    stand_ins = {id(original): others[name](original) for _, before in originals for name, original in before.items()}
    try:
        for world, before in originals:
            world.update({n: stand_ins[id(before[n])] if n in before else make(None) for n, make in others.items()})
        for function, values in defaults:  # def weights(q, k, soft=softmax)
            function.__defaults__ = tuple(stand_ins.get(id(value), value) for value in values)
        yield
    finally:
        for world, before in originals:
            for name in others:
                world.pop(name, None)
            world.update(before)
        for function, values in defaults:
            function.__defaults__ = values


def names_in(function: types.FunctionType) -> set[str]:
    """All global and attribute names that its code mentions."""
    return {name for code in _codes(function.__code__) for name in code.co_names}


@functools.cache
def resolve(dotted: str) -> Any:
    """What a dotted name ("torch.nn.functional.softmax") stands for, None if there is no such thing."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            target: Any = import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        try:
            for part in parts[cut:]:
                target = getattr(target, part)
        except (AttributeError, ImportError):  # the library's own parts are imported when they are asked for
            return None
        return target
    return None


def screen(obj: Callable[..., Any], forbids: tuple[str, ...], stop: frozenset[str] = frozenset()) -> str | None:
    """Find a forbidden name in an answer, as an attribute by name, as a global by identity: a sign, no barrier."""
    if not forbids:
        return None
    # What is out of a part of this library says so itself: the part need not be imported.
    targets = {name: None if name.startswith(OURS) else resolve(name) for name in forbids}
    plain = obj
    while isinstance(plain, functools.partial):
        plain = plain.func
    for dotted, target in targets.items():
        if _is_it(plain, target, dotted):
            return dotted
    for function in reached(obj, stop):
        for name in names_in(function):
            value = function.__globals__.get(name)
            for dotted, target in targets.items():
                if name == dotted or _is_it(value, target, dotted):
                    return dotted
                if name == dotted.rsplit(".", 1)[-1] and _is_foreign_attribute(obj, function, name):
                    if not dotted.startswith(OURS):  # a whole package's last name is no shortcut
                        return dotted
    return None


def _is_it(value: Any, target: Any, dotted: str) -> bool:
    """Whether something is a forbidden thing, an instance of it, or out of a forbidden package."""
    if target is not None and (value is target or type(value) is target):
        return True
    return value is not None and _inside(value, dotted)


def _is_foreign_attribute(obj: Any, function: types.FunctionType, name: str) -> bool:
    """Whether a name is read from something foreign; a student's own objects with that attribute are likelier."""
    return _is_attribute(function, name) and name not in _own_attributes(obj, function)


def _own_attributes(obj: Any, function: types.FunctionType) -> set[str]:
    """Names of attributes that a student's own classes and functions set, declare or give as keywords."""
    module = function.__module__
    owners = [obj, type(getattr(obj, "__self__", obj)), function, *function.__globals__.values()]
    kinds = {owner_type for o in owners for owner_type in (o if isinstance(o, type) else type(o)).__mro__}
    student_classes = [owner_type for owner_type in kinds if owner_type.__module__ == module]
    functions = [o for o in owners if isinstance(o, types.FunctionType) and o.__module__ == module]
    functions += [f for owner in [*student_classes, obj] for f in functions_behind(owner)]
    names = {name for student_class in student_classes for name in (*vars(student_class), *_annotated(student_class))}
    for code in [code for f in functions for code in _codes(f.__code__)]:
        steps = dis.get_instructions(code)
        names |= {step.argval for step in steps if step.opname in ("STORE_ATTR", "STORE_NAME")}
        names |= {text for const in code.co_consts if isinstance(const, tuple) for text in const if type(text) is str}
    return names


def _annotated(student_class: type) -> tuple[str, ...]:
    """The names that a class annotates; none where Python 3.14 evaluates annotations only now, and one has no value."""
    try:
        return tuple(inspect.get_annotations(student_class))
    except Exception:
        return ()


def _inside(value: Any, dotted: str) -> bool:
    """Whether a global is something out of a forbidden package."""
    home = getattr(value, "__module__", None) or (value.__name__ if isinstance(value, types.ModuleType) else "")
    package = "." not in dotted or dotted.startswith("softlookup")
    return package and isinstance(home, str) and (home == dotted or home.startswith(dotted + "."))


def _is_attribute(function: types.FunctionType, name: str) -> bool:
    loads = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
    code_objects = _codes(function.__code__)
    return any(i.opname in loads and i.argval == name for code in code_objects for i in dis.get_instructions(code))
