"""What is public in the library, and which sections explain it: read once, for every page that shows it.

``book/coverage.yml`` alone says where a name is explained: a row has its ``library`` beside its ``anchor``, and the
list ``sections`` at the end has the names that no row of a section names.
"""

import ast
import importlib
import inspect
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from sphinx.pycode import ModuleAnalyzer

PACKAGES = (
    "softlookup.model",
    "softlookup.looking_inside",
    "softlookup.reference",
    "softlookup.roofline",
    "softlookup_judge",
)
COVERAGE = Path(__file__).resolve().parents[1] / "coverage.yml"


@cache
def table() -> dict[str, dict[str, Any]]:
    """Read book/coverage.yml."""
    return yaml.safe_load(COVERAGE.read_text(encoding="utf-8"))


def rows() -> dict[str, dict[str, Any]]:
    """Take the rows of the list of contents from the table, by number."""
    return {number: row for number, row in table().items() if number != "sections"}


def sections() -> dict[str, list[str]]:
    """Take the names that sections explain beyond those of the rows: by place, "04_one_head.html#one-head-weights"."""
    return table()["sections"]


@cache
def find(dotted: str) -> Any:
    """Import a dotted name: as much of it as is a module, the rest as attributes."""
    module, *rest = dotted.split(".")
    target = importlib.import_module(module)
    for name in rest:
        module = f"{module}.{name}"
        target = getattr(target, name) if hasattr(target, name) else importlib.import_module(module)
    return target


@cache
def documented(package: str) -> dict[str, list[str]]:
    """List what the reference shows of a package: dotted names by the module that they come from.

    Public are the names in the package's ``__all__``, under the package's own name, and those of its modules that
    ``book/coverage.yml`` names. Modules stand in the order in which the package imports them.
    """
    whole = importlib.import_module(package)
    names = [f"{package}.{name}" for name in whole.__all__]
    named = {name for row in rows().values() for name in row.get("library", []) if name.startswith(f"{package}.")}
    names += sorted(name for name in named - {*names} if inspect.ismodule(find(name.rpartition(".")[0])))
    order = [node.module for node in ast.walk(ast.parse(inspect.getsource(whole))) if isinstance(node, ast.ImportFrom)]
    by_module: dict[str, list[str]] = {module: [] for module in order if module and module != package}
    for name in names:
        if not isinstance(find(name), ModuleType):
            by_module.setdefault(home_of(name), []).append(name)
    return {module: sorted(inside, key=str.lower) for module, inside in by_module.items() if inside}


def home_of(name: str) -> str:
    """Say which module a name is written in: a class or function knows it, a constant is looked for."""
    package, _, last = name.rpartition(".")
    if kind_of(name) != "data":
        return inspect.unwrap(find(name)).__module__
    rooms = (f"{package}.", "softlookup_inside.")
    having = [name for name, module in sys.modules.items() if name.startswith(rooms) and hasattr(module, last)]
    return next(module for module in sorted(having) if constant_doc(last, module))


def kind_of(name: str) -> str:
    """Say which of autodoc's kinds a name is of; a function that keeps its results is one too."""
    if inspect.isclass(find(name)):
        return "class"
    return "function" if inspect.isfunction(inspect.unwrap(find(name))) else "data"


@cache
def places_of(name: str) -> tuple[str, ...]:
    """Name the sections that explain a name: "04_one_head.html#one-head-weights"; those of no row first."""
    first = [place for place, names in sections().items() if name in names]
    rest = [row["anchor"] for row in rows().values() if name in row.get("library", [])]
    return tuple(dict.fromkeys(first + rest))


@cache
def names_at() -> dict[str, list[str]]:
    """Turn ``places_of`` round: for each section, the names that it explains."""
    by_place: dict[str, list[str]] = {}
    for package in PACKAGES:
        for names in documented(package).values():
            for name in names:
                for place in places_of(name):
                    by_place.setdefault(place, []).append(name)
    for row in rows().values():  # names of a class's parts, which have no entry of their own in the list
        for name in row.get("library", []):
            if name.startswith(PACKAGES) and name not in by_place.get(row["anchor"], []):
                by_place.setdefault(row["anchor"], []).append(name)
    return by_place


def constant_doc(constant: str, module: str) -> str:
    """Fetch the string below a constant in a module's source; empty where the module has no such constant."""
    return "\n".join(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", constant), []))


def doc_of(name: str) -> str:
    """Fetch a docstring, or the string below a constant."""
    if kind_of(name) != "data":
        return inspect.getdoc(find(name)) or ""
    return constant_doc(name.rpartition(".")[2], home_of(name))


def forget() -> None:
    """Read everything anew, in a process that builds twice."""
    for function in (table, documented, places_of, names_at):
        function.cache_clear()
