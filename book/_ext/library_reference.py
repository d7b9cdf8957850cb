"""The reference of the library, from its docstrings, and the links between it and the sections that explain it.

A page says ``.. library-reference:: softlookup.model`` once; what stands below is read from the package: one heading
for each of its modules, one entry for each public name. Which section explains a name is said in
``book/coverage.yml`` (a row's ``library`` beside its ``anchor``) and in the docstring's own line ``Book:``. From the
same two come the links at each name and the line "In the library" at the end of each of those sections.
"""

import ast
import importlib
import inspect
import re
import sys
import textwrap
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from section_links import append_line, section_of
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

PACKAGES = ("softlookup.model", "softlookup.reference", "softlookup.roofline", "softlookup.checks")
COVERAGE = Path(__file__).resolve().parents[1] / "coverage.yml"

BOOK = re.compile(r"\bBook: (?P<places>[\w.]+\.html#[\w-]+(?:, [\w.]+\.html#[\w-]+)*)\.")
"""The line of a docstring that says where the book explains it: "Book: 04_one_head.html#one-head-weights."."""

QUIET = {"extra_repr"}
"""Methods that say nothing of a class to somebody who uses it."""

LITERAL = re.compile(r"(``.+?``|:\w+:`.+?`|`[^`]+`_?)")
SPECIAL = re.compile(r"([*|\\])|(?<=\w)_(?!\w)")


@cache
def rows() -> dict[str, dict[str, Any]]:
    """Read book/coverage.yml."""
    return yaml.safe_load(COVERAGE.read_text(encoding="utf-8"))


@cache
def find(dotted: str) -> Any:
    """Import a dotted name: as much of it as is a module, the rest as attributes."""
    module, *rest = dotted.split(".")
    found = importlib.import_module(module)
    for name in rest:
        module = f"{module}.{name}"
        found = getattr(found, name) if hasattr(found, name) else importlib.import_module(module)
    return found


@cache
def documented(package: str) -> dict[str, list[str]]:
    """List what the reference shows of a package: dotted names by the module that they come from.

    Public are the names in the package's ``__all__``, under the package's own name, and those of its modules that
    ``book/coverage.yml`` names. Modules stand in the order in which the package imports them.
    """
    whole = importlib.import_module(package)
    names = [f"{package}.{name}" for name in whole.__all__]
    named = {name for row in rows().values() for name in row["library"] if name.startswith(f"{package}.")}
    names += sorted(name for name in named - {*names} if inspect.ismodule(find(name.rpartition(".")[0])))
    order = [node.module for node in ast.walk(ast.parse(inspect.getsource(whole))) if isinstance(node, ast.ImportFrom)]
    found: dict[str, list[str]] = {module: [] for module in order if module and module != package}
    for name in names:
        if not isinstance(find(name), ModuleType):
            found.setdefault(home_of(name), []).append(name)
    return {module: sorted(inside, key=str.lower) for module, inside in found.items() if inside}


def home_of(name: str) -> str:
    """Say which module a name is written in: a class or function knows it, a constant is looked for."""
    package, _, last = name.rpartition(".")
    if kind_of(name) != "data":
        return inspect.unwrap(find(name)).__module__
    loaded = [module for module in sys.modules if module.startswith(f"{package}.")]
    return next(module for module in sorted(loaded) if constant_doc(last, module))


def kind_of(name: str) -> str:
    """Say which of autodoc's kinds a name is of; a function that keeps its results is one too."""
    if inspect.isclass(find(name)):
        return "class"
    return "function" if inspect.isfunction(inspect.unwrap(find(name))) else "data"


@cache
def places_of(name: str) -> tuple[str, ...]:
    """Name the sections that explain a name: "04_one_head.html#one-head-weights", the docstring's own first."""
    said = BOOK.findall(doc_of(name))
    first = [place for places in said for place in places.split(", ")]
    rest = [row["anchor"] for row in rows().values() if name in row["library"]]
    return tuple(dict.fromkeys(first + rest))


@cache
def names_at() -> dict[str, list[str]]:
    """Turn ``places_of`` round: for each section, the names that it explains."""
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for names in documented(package).values():
            for name in names:
                for place in places_of(name):
                    found.setdefault(place, []).append(name)
    for row in rows().values():  # names of a class's parts, which have no entry of their own in the list
        for name in row["library"]:
            if name.startswith(PACKAGES) and name not in found.get(row["anchor"], []):
                found.setdefault(row["anchor"], []).append(name)
    return found


def link(reftype: str, domain: str, target: str, child: nodes.Node, **more: Any) -> pending_xref:
    """Make a link that Sphinx resolves, or complains of."""
    made = pending_xref("", child, refdomain=domain, reftype=reftype, reftarget=target, refwarn=True, **more)
    return made


def constant_doc(constant: str, module: str) -> str:
    """Fetch the string below a constant in a module's source; empty where the module has no such constant."""
    return "\n".join(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", constant), []))


def doc_of(name: str) -> str:
    """Fetch a docstring, or the string below a constant."""
    if kind_of(name) != "data":
        return inspect.getdoc(find(name)) or ""
    return constant_doc(name.rpartition(".")[2], home_of(name))


class LibraryReference(SphinxDirective):
    """``.. library-reference:: softlookup.model``: every public name of a package, by module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the package and write a section for each of its modules."""
        package = self.arguments[0]
        self.env.note_dependency(str(COVERAGE))
        made: list[nodes.Node] = []
        for module, names in documented(package).items():
            self.env.note_dependency(inspect.getsourcefile(importlib.import_module(module)))
            title = module.removeprefix("softlookup.")
            section = nodes.section(ids=[f"reference-{title.replace('.', '-').replace('_', '-')}"], names=[title])
            section += nodes.title("", title)
            about = (inspect.getdoc(importlib.import_module(module)) or "").partition("\n\n")[0]
            lines = [f".. py:module:: {module}", "   :no-index:", "", *tidy(about.splitlines()), ""]
            for name in names:
                lines += entry(name)
            self.state.nested_parse(StringList(lines, source=f"<{module}>"), self.content_offset, section)
            made.append(section)
        return made


def entry(name: str) -> list[str]:
    """Write the lines of reStructuredText that document one name."""
    kind = kind_of(name)
    if kind == "class":
        return [f".. autoclass:: {name}", "   :members:", f"   :exclude-members: {', '.join(sorted(QUIET))}", ""]
    if kind == "function":
        return [f".. autofunction:: {name}", ""]
    value = find(name)
    head = [f".. py:data:: {name}"] + ([f"   :value: {value!r}"] if isinstance(value, int | str) else [])
    about = [*tidy(BOOK.sub("", doc_of(name)).splitlines()), "", sections_line(name)]
    return [*head, "", *(f"   {line}" for line in about), ""]


def tidy(lines: list[str]) -> list[str]:
    """Let a docstring that was written for reading be reStructuredText too: stars are products, not emphasis."""
    made, example = [], False
    for line in lines:
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if example:
            made.append(line)
            continue
        parts = LITERAL.split(line)
        parts[::2] = [SPECIAL.sub(r"\\\g<0>", part) for part in parts[::2]]
        line = "".join(parts)
        made.append(re.sub(r"^(Cost|Source):", r"**\1:**", line))
    return made


def sections_line(name: str) -> str:
    """Write the line that leads from a name to the book."""
    places: dict[str, list[str]] = {}
    for place in places_of(name):
        page, _, label = place.partition("#")
        number = re.match(r"\d\d(?=_)", page)
        places.setdefault(f"chapter {int(number[0])}, " if number else "", []).append(f":ref:`{label}`")
    return f"**In the book:** {'; '.join(lead + ', '.join(links) for lead, links in places.items())}."


def process_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape, and put links in the place of the line "Book:"."""
    whole = BOOK.sub("", "\n".join(lines)).rstrip().splitlines()
    lines[:] = tidy(whole)
    if what == "property":
        lines.insert(0, "")  # or napoleon takes what stands before a colon for a type
    if what in {"class", "function"}:
        lines += ["", sections_line(name), ""]


def process_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Show the signature as it is written, with the shapes: what jaxtyping makes of it cannot be read."""
    if inspect.isclass(thing) and "__dataclass_fields__" in vars(thing):
        return fields_of(thing), None
    call = inspect.unwrap(thing.__init__ if inspect.isclass(thing) else thing)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(call))).body[0]
    except (OSError, TypeError):
        return signature, returned
    if not isinstance(tree, ast.FunctionDef):
        return signature, returned
    if what in {"class", "method"} and not isinstance(inspect.getattr_static(thing, name, None), staticmethod):
        first = tree.args.posonlyargs or tree.args.args
        if first and first[0].arg in {"self", "cls"}:
            first.pop(0)
    result = ast.unparse(tree.returns) if tree.returns is not None and what != "class" else None
    return f"({ast.unparse(tree.args)})", result


def fields_of(record: type) -> str:
    """Write the arguments of a class without a written ``__init__``: a dataclass has its fields."""
    made = []
    for kind in reversed(record.__mro__):
        if "__dataclass_fields__" not in vars(kind):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
        for node in body.body:
            if isinstance(node, ast.AnnAssign):
                default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
                made.append(f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}{default}")
    return f"({', '.join(made)})"


def add_lines(app: Sphinx, doctree: nodes.document) -> None:
    """At the end of each section that explains names of the library, link them."""
    docname = app.env.docname
    page = f"{Path(docname).name}.html"
    for place, names in names_at().items():
        if place.partition("#")[0] != page:
            continue
        app.env.note_dependency(str(COVERAGE))
        section = section_of(doctree, place.partition("#")[2])
        if section is None:
            continue  # the test of the coverage table says so
        links = []
        for name in names:
            short = name.rpartition(".")[2]
            links.append(link("obj", "py", name, nodes.literal("", short, classes=["xref"]), refspecific=False))
        append_line(section, "in-the-library", "In the library:", links)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Node) -> nodes.Node | None:
    """Link the types and errors of a signature to the same package's entries; show those of others as they are.

    torch, numpy and jaxtyping have their references on the network, which the book does without. What a page names
    in full is still looked for, and missed.
    """
    page = node.get("refdoc", "")
    package = f"softlookup.{page.rpartition('/')[2]}"
    if not page.startswith("book/reference/") or node.get("refdomain") != "py" or node.get("reftype") == "obj":
        return None
    full = f"{package}.{node['reftarget'].rpartition('.')[2]}"
    known = env.get_domain("py").objects.get(full)
    return text if known is None else make_refnode(app.builder, page, known.docname, known.node_id, text, full)


def name_fields(app: Sphinx, doctree: nodes.document) -> None:
    """Say "Attributes" as the docstrings do, not "Variables"."""
    if app.env.docname.startswith("book/reference/"):
        for name in doctree.findall(nodes.field_name):
            if name.astext() == "Variables":
                name[:] = [nodes.Text("Attributes")]


def forget(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Read the table anew at every build, in a process that builds twice."""
    for kept in (rows, documented, places_of, names_at):
        kept.cache_clear()
    return []


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in. Before napoleon, which would not know an escaped star."""
    app.add_directive("library-reference", LibraryReference)
    app.connect("autodoc-process-docstring", process_docstring, priority=400)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("env-get-outdated", forget)
    app.connect("doctree-read", add_lines)
    app.connect("doctree-read", name_fields)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
