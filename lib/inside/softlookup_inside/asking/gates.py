"""Gates in front of what a task forbids: while the task is asked, a call of it raises, however it was reached.

A Python function gets other code for that time, so that all its names and closures lead to the gate. Before torch's
operations in C stand gates of its dispatcher. A gate keeps in mind that it was called, whoever swallows the exception.
Imports of forbidden parts of this library are refused. Code that removes the gates themselves, or a process or thread
begun earlier, gets past them.
"""

import contextlib
import functools
import inspect
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from softlookup_inside import OURS
from softlookup_inside.asking.source import resolve
from softlookup_inside.torch_internals import GATES_PLACE, dispatcher

_WRITTEN_OUT = ("torch._refs", "torch._decomp")  # parts of torch where its functions in C stand in Python once more

_INSIDE_OF = {
    "torch.Tensor.backward": ("backward",),  # torch's own derivatives can be called without autograd, too
    "torch.optim": ("adam", "sgd"),
    "torch.nn.MultiheadAttention": ("multi_head_attention",),
    "torch.nn.TransformerEncoderLayer": ("transformer_encoder_layer",),
    "torch.autograd.forward_ad": ("make_dual",),
}
"""Functions in C that some Python classes and packages hand their work to: how their names begin."""


class NotAllowed(Exception):
    """An answer called what its task forbids."""


class ClosedGates:
    """Gates that are closed."""

    def __init__(self, stems: Mapping[str, str]) -> None:
        self.used = ""  # the forbidden name that was called first, empty if none was
        self.stems = stems  # how the name of each torch function that is forbidden begins, and its dotted name
        self.open = False  # whether the gates let everything through for the moment

    def refuse(self, dotted: str) -> NotAllowed:
        """Note that a forbidden function was called, and give the exception to raise."""
        self.used = self.used or dotted
        return NotAllowed(f"`{dotted}` is not allowed in this task: write it yourself")


_now: ClosedGates | None = None


@contextlib.contextmanager
def closed(forbids: tuple[str, ...]) -> Iterator[ClosedGates]:
    """Close the gates in front of dotted names that a task forbids; afterwards everything is as it was."""
    global _now
    if _now is not None or not forbids:  # closed already: for several questions, or by an answer that calls check
        yield _now or ClosedGates({})
        return
    stems = _stems(forbids)
    gates = _gates(forbids, len(sys.modules))
    imports = _ForbiddenImports(forbids)
    try:
        _now = here = ClosedGates(stems)
        for gate in gates:
            gate.function.__code__ = gate.stub
        sys.meta_path.insert(0, imports)
        with _watching(stems), _no_way_back(stems):
            yield here
    finally:
        _now = None
        if imports in sys.meta_path:
            sys.meta_path.remove(imports)
        for gate in gates:
            gate.function.__code__ = gate.code


def prepare(forbids: tuple[str, ...]) -> None:
    """Make the gates in front of some names beforehand: whoever closes them later, here or in a fork, finds them."""
    _gates(forbids, len(sys.modules))
    if stems := _stems(forbids):
        _put_in_front(tuple(stems))


@contextlib.contextmanager
def opened() -> Iterator[None]:
    """Let everything through, for code that is not the student's."""
    here, before = _now, _now is not None and _now.open
    try:
        if here is not None:
            here.open = True
        yield
    finally:
        if here is not None:
            here.open = before


class _ForbiddenImports:
    """Refuses to import forbidden parts of this library."""

    def __init__(self, forbids: tuple[str, ...]) -> None:
        self.forbids = forbids

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        for dotted in self.forbids:
            if dotted.startswith(OURS) and f"{name}.".startswith(f"{dotted}."):
                if _now is not None and not _now.open:
                    raise _now.refuse(dotted)


class _Gate:
    """A Python function, its own code, and the code that it has while it is forbidden."""

    def __init__(self, function: types.FunctionType, called: Callable[["_Gate", Any, Any], Any]) -> None:
        self.function, self.code, self.called = function, function.__code__, called
        self.stub = _template().replace(
            co_consts=tuple(self.enter if constant == "gate" else constant for constant in _template().co_consts),
            co_freevars=self.code.co_freevars,
            co_name=self.code.co_name,
            co_qualname=self.code.co_qualname,
            co_filename=self.code.co_filename,
        )

    def enter(self, *args: Any, **kwargs: Any) -> Any:
        return self.called(self, args, kwargs)

    def original(self) -> Callable[..., Any]:
        """The function with its own code."""
        function = self.function
        copy = types.FunctionType(
            self.code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy


@functools.cache
def _template() -> types.CodeType:
    """The code of a function that hands all its arguments to a constant, which is put in later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a text is called here
        module = compile("def f(*args, **named):\n    return 'gate'(*args, **named)\n", __file__, "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, types.CodeType))


@functools.lru_cache(maxsize=256)
def _gates(forbids: tuple[str, ...], modules: int) -> tuple[_Gate, ...]:
    """The gates in front of all Python functions that some names stand for, given what is imported so far."""
    gate_groups = [
        _gates_of(dotted, target, _parts(target)) for dotted, target in ((name, _target(name)) for name in forbids)
    ]
    gate_groups += [_gates_of(_stems(forbids)[stem], twin, 0) for stem, twin in _twins(_stems(forbids))]
    each = {gate.function: gate for gates in reversed(gate_groups) for gate in gates}
    return (*each.values(), _thread_gate())


def _target(dotted: str) -> Any:
    """What a name stands for; a package, or a part of this library, that is not imported yet stands for nothing."""
    return sys.modules.get(dotted) if "." not in dotted or dotted.startswith(OURS) else resolve(dotted)


def _twins(stems: Mapping[str, str]) -> list[tuple[str, types.FunctionType]]:
    """The Python functions in which torch has written out functions that it has in C, for forbidden names."""
    there = tuple(name for name in list(sys.modules) if name.startswith(_WRITTEN_OUT))
    return [(stem, function) for name, function in _written_out(there) for stem in stems if name.startswith(stem)]


@functools.lru_cache(maxsize=4)
def _written_out(modules: tuple[str, ...]) -> tuple[tuple[str, types.FunctionType], ...]:
    members = [(name, member) for name in modules for member in list(vars(sys.modules[name]).values())]
    functions = [
        member for name, member in members if isinstance(member, types.FunctionType) and member.__module__ == name
    ]
    return tuple((_stem(function.__name__), function) for function in functions)


def _parts(target: Any) -> int:
    """How many modules a package has that are imported so far; 0 for a function or a class."""
    if not isinstance(target, types.ModuleType):
        return 0
    return sum(name.startswith(target.__name__ + ".") for name in list(sys.modules))


@functools.lru_cache(maxsize=1024)
def _gates_of(dotted: str, target: Any, parts: int) -> tuple[_Gate, ...]:
    return tuple(
        _Gate(function, functools.partial(_refused, dotted)) for function in dict.fromkeys(_functions(target, dotted))
    )


@functools.cache
def _thread_gate() -> _Gate:
    return _Gate(threading.Thread.__dict__["_bootstrap_inner"], _watched_thread)


def _refused(dotted: str, gate: _Gate, args: Any, kwargs: Any) -> Any:
    if _now is None or _now.open:
        return gate.original()(*args, **kwargs)
    raise _now.refuse(dotted)


def _watched_thread(gate: _Gate, args: Any, kwargs: Any) -> Any:
    """A thread that begins while gates are closed: torch asks each thread which places its operations come past."""
    with _watching({} if _now is None else _now.stems):
        return gate.original()(*args, **kwargs)


def _functions(target: Any, dotted: str) -> Iterator[types.FunctionType]:
    """The Python functions that a name stands for: one, the methods of a class, or all of a package."""
    if isinstance(target, types.ModuleType):
        for name, module in list(sys.modules.items()):
            if name == dotted or name.startswith(dotted + "."):
                for value in list(vars(module).values()):
                    if isinstance(value, types.FunctionType | type) and getattr(value, "__module__", "") == name:
                        yield from _functions(value, dotted)
    elif isinstance(target, type):
        for member in list(vars(target).values()):
            inner = inspect.unwrap(getattr(member, "__func__", member))
            if isinstance(inner, types.FunctionType) and inner.__name__ not in ("__repr__", "extra_repr"):
                # A class may carry functions of Python's own: an Enum's are those of all Enums.
                if _top(inner.__module__) == _top(target.__module__):
                    yield inner
    elif isinstance(target, types.FunctionType):
        yield target
        if isinstance(inner := inspect.unwrap(target), types.FunctionType) and inner is not target:
            yield inner


def _top(module: str | None) -> str:
    """The name of the whole package that a module belongs to."""
    return (module or "").partition(".")[0]


@functools.cache
def _stems(forbids: tuple[str, ...]) -> dict[str, str]:
    """How the names of forbidden torch functions begin that torch has in C, each with its dotted name."""
    torch: Any = sys.modules.get("torch")
    stems: dict[str, str] = {}
    for dotted in forbids if torch is not None else ():
        leaf = dotted.rpartition(".")[2]
        modules = (dispatcher()._VariableFunctions, dispatcher()._nn)
        in_c = any(callable(getattr(module, leaf, None)) for module in modules)
        if dotted.startswith("torch.") and (in_c or dotted == f"torch.nn.functional.{leaf}"):
            stems.setdefault(leaf.removesuffix("_attention"), dotted)
        for stem in _INSIDE_OF.get(dotted, ()):
            stems.setdefault(stem, dotted)
    return stems


def _stem(name: str) -> str:
    """The name of a torch function without what says how it is computed; all that compute gradients are "backward"."""
    name = name.partition(".")[0].strip("_")
    for prefix in ("special_", "native_", "fused_", "safe_", "masked_", "sparse_", "feature_"):
        name = name.removeprefix(prefix)
    return "backward" if "backward" in name else name


@contextlib.contextmanager
def _watching(stems: Mapping[str, str]) -> Iterator[None]:
    """Lead each operation of torch in this thread past the gates in front of operations."""
    if not stems:
        yield
        return
    _C = dispatcher()
    _put_in_front(tuple(stems))
    key = getattr(_C.DispatchKey, GATES_PLACE)
    excluded, included = _C._dispatch_tls_is_dispatch_key_excluded(key), _C._dispatch_tls_is_dispatch_key_included(key)
    _C._dispatch_tls_set_dispatch_key_excluded(key, False)
    _C._dispatch_tls_set_dispatch_key_included(key, True)
    try:
        yield
    finally:
        _C._dispatch_tls_set_dispatch_key_included(key, included)
        _C._dispatch_tls_set_dispatch_key_excluded(key, excluded)


@contextlib.contextmanager
def _no_way_back(stems: Mapping[str, str]) -> Iterator[None]:
    """Where autograd is forbidden, refuse to hand it what it kept: its engine in C can be called by other names."""
    if "backward" not in stems:
        yield
        return
    from torch.autograd.graph import saved_tensors_hooks

    def unpack(saved: Any) -> Any:
        if _now is not None and not _now.open:
            raise _now.refuse(stems["backward"])
        return saved

    with saved_tensors_hooks(lambda tensor: tensor, unpack):
        yield


@functools.cache
def _operations() -> tuple[tuple[str, str], ...]:
    """The full names of all of torch's operations, and their stems."""
    from torch.library import fallthrough_kernel

    _library("_").fallback(fallthrough_kernel, GATES_PLACE)  # where no gate stands, nothing happens
    return tuple((name, _stem(name.partition("::")[2])) for name in dispatcher()._dispatch_get_all_op_names())


@functools.cache
def _put_in_front(stems: tuple[str, ...]) -> None:
    """Put a gate in front of each operation whose name begins like a forbidden one; it stays there for good."""
    for name, stem in _operations():
        if stem.startswith(stems):
            _gate_of_operation(name, stem)


@functools.cache
def _gate_of_operation(name: str, stem: str) -> None:
    import torch

    space, _, local_name = name.partition("::")
    base, _, overload = local_name.partition(".")
    operation = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
    behind = dispatcher()._dispatch_keyset_full_after(getattr(dispatcher().DispatchKey, GATES_PLACE))

    def gate(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if _now is not None and not _now.open:
            for begins, dotted in _now.stems.items():
                if stem.startswith(begins):
                    raise _now.refuse(dotted)
        return operation.redispatch(keys & behind, *args, **kwargs)

    _library(space).impl(operation, gate, GATES_PLACE, with_keyset=True)


@functools.cache
def _library(space: str) -> Any:
    from torch.library import Library

    return Library(space, "IMPL")
