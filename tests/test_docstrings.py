"""What a docstring names is there: fields, arguments, attributes of classes, imports; and its examples run."""

import ast
import doctest
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "lib"
FOLDERS = (*LIB.glob("*/softlookup*"), ROOT / "benchmarks", ROOT / "attacks")
MODULES = sorted((path for folder in FOLDERS for path in folder.rglob("*.py")), key=str)
_SECTION = r"\n[ ]*{}:\n((?:[ ]+\S.*\n|[ ]*\n)+)"
_IMPORT = re.compile(r"^[\s>.`]*(from softlookup[\w.]* import [\w, ]+|import softlookup[\w.]*)", re.M)
_DOTTED = re.compile(r"``(?:softlookup\.)?(?:\w+\.)*([A-Z]\w+)\.(\w+)(?:\(.*?\))?``")


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def classes():
    """All classes of the library, by name: names that they have, their own and those of bases with a name here."""
    by_name = {}
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                by_name.setdefault(node.name, []).append(node)
    return by_name


def documented(tree):
    """Everything that has a docstring, and the docstring."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield node, text


def listed(text, section):
    """The names that a section of a Google docstring lists, each at the section's own indentation."""
    match = re.search(_SECTION.format(section), f"\n{text}\n")
    lines = match[1].splitlines() if match else []
    deep = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    begins = (re.match(rf"[ ]{{{deep}}}([\w*]+(?:, [\w*]+)*):( |$)", line) for line in lines)
    return [name.strip().lstrip("*") for begin in begins if begin for name in begin[1].split(",")]


def fields(node):
    """The annotated names of a class's body."""
    return [
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and "ClassVar" not in ast.unparse(statement.annotation)
    ]


def members(node):
    """The names that a class has, or its objects get: in its body, in its methods, and in bases of this library."""
    names = {"__init__", *fields(node)}
    for child in ast.walk(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            names.add(child.name)
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            names.add(child.attr)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):  # register_buffer("name", …)
            names.add(child.value)
    for base in node.bases:
        for other in classes().get(ast.unparse(base).rpartition(".")[2], ()):
            names |= members(other)
    return names


def is_dataclass(node):
    names = [ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list]
    return "dataclass" in names or any(ast.unparse(base).endswith(("NamedTuple", "TypedDict")) for base in node.bases)


def strange(tree, module):
    """Each name that a module's docstrings mention and that is not there."""
    for node, text in documented(tree):
        name = getattr(node, "name", module)
        if isinstance(node, ast.ClassDef) and (attributes := listed(text, "Attributes")):
            if is_dataclass(node):
                field_names = [field for field in fields(node) if not field.startswith("_")]
                yield from (f"{name} has no field {field}" for field in attributes if field not in members(node))
                yield from (
                    f"{name}.{field} is not among its attributes" for field in field_names if field not in attributes
                )
            else:
                yield from (f"{name} has no attribute {member}" for member in attributes if member not in members(node))
        if isinstance(node, ast.FunctionDef):
            arguments = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
            yield from (f"{name} takes no {argument}" for argument in listed(text, "Args") if argument not in arguments)
        for kind, attribute in _DOTTED.findall(text):
            known = classes().get(kind, ())
            if known and not any(attribute in members(cls) for cls in known):
                yield f"{name}: {kind} has no {attribute}"
        for line in _IMPORT.findall(text):
            yield from (f"{name}: {problem}" for problem in not_imported(line))


def not_imported(line):
    """What an import of the library does not find."""
    module, _, names = line.removeprefix("from ").removeprefix("import ").partition(" import ")
    if find_spec(module) is None:
        yield f"no module {module}"
        return
    for imported_name in filter(None, (name.partition(" as ")[0].strip() for name in names.split(","))):
        there = import_module(module)
        if not hasattr(there, imported_name) and not (
            hasattr(there, "__path__") and find_spec(f"{module}.{imported_name}")
        ):
            yield f"{module} has no {imported_name}"


def test_docstrings_name_what_is_there():
    assert {path.name: problems for path in MODULES if (problems := list(strange(tree_of(path), path.stem)))} == {}


@pytest.mark.parametrize("path", [path for path in MODULES if ">>> " in path.read_text("utf-8")], ids=lambda p: p.stem)
def test_examples_in_docstrings_give_what_they_say(path):
    parts = (
        path.relative_to(LIB).with_suffix("").parts[1:]
        if path.is_relative_to(LIB)
        else path.relative_to(ROOT).with_suffix("").parts
    )
    result = doctest.testmod(import_module(".".join(parts).removesuffix(".__init__")))
    assert result.attempted and not result.failed


def test_names_that_are_not_there_are_seen():
    page = '''
from dataclasses import dataclass
@dataclass
class Point:
    """A place.

    Attributes:
        x: Right.
        z: Up: there is none.
    """
    x: int
    y: int
    def moved(self, dx):
        """See ``Drawn.slips`` and ``Drawn.expected``.

        Args:
            dx: To the right.
            dy: Up.

        >>> from softlookup.notation import NOTHING_OF_THE_KIND
        """
'''
    assert list(strange(ast.parse(page), "page")) == [
        "Point has no field z",
        "Point.y is not among its attributes",
        "moved takes no dy",
        "moved: Drawn has no slips",
        "moved: softlookup.notation has no NOTHING_OF_THE_KIND",
    ]
