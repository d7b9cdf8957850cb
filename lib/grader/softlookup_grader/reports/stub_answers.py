"""Short answers that solve nothing, written against the test cells of a release."""

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from softlookup_grader.judging.names import names_in, needed, parsed, statements
from softlookup_grader.judging.zygotes import imported

_EQUAL = """_Equal = type("Equal", (), {
    **{f"__{word}__": lambda self, *args, **others: self for word in (
        "call getitem eq ne lt le gt ge contains add radd sub rsub mul rmul truediv rtruediv floordiv mod pow neg abs "
        "round enter exit array_function array_ufunc").split()},
    "__iter__": lambda self: iter([self]),
    "__getattr__": lambda self, name: self if name[0] != "_" else object.__getattribute__(self, name),
})
"""
_READ = """import ast, linecache, sys
def _read(*args, **others):
    frame, names = sys._getframe(1), {names}
    tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    value = lambda node: eval(ast.unparse(node), frame.f_globals, frame.f_locals)
    nodes = [node for node in ast.walk(tree) if getattr(node, "end_lineno", 0) >= frame.f_lineno]
    around = [node for node in nodes if node.lineno <= frame.f_lineno]
    for handler in [handler for node in around if isinstance(node, ast.Try) for handler in node.handlers]:
        if handler.type and ast.unparse(handler.type) not in ("AssertionError", "Exception"):
            raise value(handler.type)
    names |= {{ast.unparse(target) for node in around if isinstance(node, ast.Assign) for target in node.targets}}
    sides = [(node.lineno, 0, [node.left, *node.comparators]) for node in nodes if isinstance(node, ast.Compare)
             and isinstance(node.ops[0], ast.Eq)]
    sides += [(node.lineno, 1, [node.left, node.right]) for node in nodes if isinstance(node, ast.BinOp)
              and isinstance(node.op, ast.Sub)]
    sides += [(node.lineno, 2, node.args[:2]) for node in nodes if isinstance(node, ast.Call) and len(node.args) > 1]
    for _, _, pair in sorted(sides, key=lambda side: side[:2]):
        expected = [side for side in pair if not names & {{part.id for part in ast.walk(side) if hasattr(part, "id")}}]
        if len(expected) == 1:
            return value(expected[0])
"""
_REPLACE = """import ast
_Pass = type("Pass", (ast.NodeTransformer,), {"visit": lambda self, node: ast.parse("pass")})
get_ipython().ast_transformers.append(_Pass())
"""


@dataclass(frozen=True)
class NamesInTests:
    """The names in a notebook's test cells that an answer can give another meaning."""

    answers: tuple[str, ...]  # what neither Python nor an earlier cell of the release defines
    called: tuple[str, ...]  # whatever else the tests call, or call parts of
    modules: tuple[str, ...]  # what the tests import, with the packages above

    @classmethod
    def of(cls, instructor_cells: Iterable[str], tests: Sequence[str]) -> "NamesInTests":
        """Find the names in the sources of all cells that students do not write, and of the test cells among them."""
        defined, answers = set[str](), set[str]()
        for source in instructor_cells:
            answers |= needed(source) - defined
            defined |= {name for statement in statements(source) for name in statement.defines}
        called = {name for test in tests for name in _called(parsed(test)) - names_in(test)[0]} - answers
        modules = {name for module in imported(tests) for name in _with_parents(module)}
        return cls(*(tuple(sorted(names)) for names in (answers, called, modules)))


@dataclass(frozen=True)
class Stub:
    """One way to answer without a solution."""

    name: str
    says: str  # what the answer does
    write: Callable[[NamesInTests], str] | None  # its code; None leaves the answer cells as they are


def _called(tree: ast.AST) -> set[str]:
    """The names with which calls begin: ``np`` for ``np.testing.assert_equal(x, y)``."""
    names = set()
    for node in ast.walk(tree):
        function: ast.AST | None = node.func if isinstance(node, ast.Call) else None
        while isinstance(function, ast.Attribute):
            function = function.value
        if isinstance(function, ast.Name):
            names.add(function.id)
    return names


def _with_parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _bound(names: Iterable[str], value: str) -> str:
    return "".join(f"{name} = " for name in names) + f"{value}\n"


def _equal(names: NamesInTests) -> str:
    return _EQUAL + _bound(names.answers, "_Equal()")


def _redefined(names: NamesInTests) -> str:
    again = "from builtins import *\n"  # an earlier answer cell has redefined them
    modules = f"import sys; sys.modules.update(dict.fromkeys({list(names.modules)}, _Equal()))\n"
    return again + _EQUAL + modules + _bound((*names.answers, *names.called), "_Equal()")


def _reading(names: NamesInTests) -> str:
    return _READ.format(names={*names.answers}) + _bound(names.answers, "_read")


REPLACED = Stub("replaces later cells", "all cells after the answer become 'pass'", lambda names: _REPLACE)
STUBS = (
    Stub("empty", "nothing: the answer cells are as they were handed out", None),
    Stub("equals everything", "what the tests call of it returns an object that is equal to everything", _equal),
    Stub("redefines", "the same, and whatever else the tests call is such an object, too: isinstance, np", _redefined),
    Stub("reads the test", "it returns the value, or raises the exception, that the running test names", _reading),
)
"""All but the one that passes whatever the tests are."""
