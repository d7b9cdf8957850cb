"""The reference of the library, from its docstrings, and the links between it and the sections that explain it.

A page says ``.. library-reference:: softlookup.model`` once; what stands below is read from the package: one heading
for each of its modules, one entry for each public name, with links to the sections that explain it. At the end of
each of those sections the line "In the library" leads back.
"""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from as_shown import differing, shown
from docutils import nodes
from docutils.statemachine import StringList
from page_needs import Project
from public_names import COVERAGE, doc_of, documented, find, forget, kind_of, names_at, places_of
from section_links import append_line, link, section_of
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

QUIET = {"extra_repr"}
"""Methods that say nothing of a class to somebody who uses it."""

LITERAL = re.compile(r"(``.+?``|:\w+:`.+?`|`[^`]+`_?)")
SPECIAL = re.compile(r"([*|\\])|(?<=\w)_(?!\w)")


class LibraryReference(SphinxDirective):
    """``.. library-reference:: softlookup.model``: every public name of a package, by module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the package and write a section for each of its modules."""
        package = self.arguments[0]
        self.env.note_dependency(str(COVERAGE))
        made: list[nodes.Node] = []
        for module, names in documented(package).items():
            self.env.note_dependency(inspect.getsourcefile(importlib.import_module(module)) or "")
            title = module.removeprefix("softlookup.")
            section = nodes.section(ids=[f"reference-{title.replace('.', '-').replace('_', '-')}"], names=[title])
            section += nodes.title("", title)
            about = (inspect.getdoc(importlib.import_module(module)) or "").partition("\n\n")[0]
            lines = [*tidy(about.splitlines()), ""]
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
    about = [*tidy(doc_of(name).splitlines()), "", sections_line(name)]
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
    """Escape, and end with links to the book."""
    lines[:] = tidy(lines)
    for at, line in enumerate(lines[:-1]):
        if line == "Returns:":  # or napoleon takes what stands before a colon for a type
            indent = len(lines[at + 1]) - len(lines[at + 1].lstrip())
            lines[at + 1] = f"{lines[at + 1][:indent]}: {lines[at + 1][indent:]}"
    if what == "property":
        lines.insert(0, "")  # for the same reason
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
        written = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
        for node in written.body if isinstance(written, ast.ClassDef) else ():
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
            links.append(link("py", "obj", name, nodes.literal("", name.removeprefix("softlookup."))))
        append_line(section, "in-the-library", "In the library:", links)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Node) -> nodes.Node | None:
    """Link the types and errors of a signature to the same package's entries; show those of others as they are.

    torch, numpy and jaxtyping have their references on the network, which the book does without. What a page names
    in full is still looked for, and missed.
    """
    page = node.get("refdoc", "")
    room = page.rpartition("/")[2]
    package = "softlookup_judge" if room == "checking" else f"softlookup.{room}"
    if not page.startswith("book/reference/") or node.get("refdomain") != "py" or node.get("reftype") == "obj":
        return None
    full = f"{package}.{node['reftarget'].rpartition('.')[2]}"
    domain: Any = env.get_domain("py")
    known = domain.objects.get(full)
    return text if known is None else make_refnode(app.builder, page, known.docname, known.node_id, text, full)


def name_fields(app: Sphinx, doctree: nodes.document) -> None:
    """Say "Attributes" as the docstrings do, not "Variables"."""
    if app.env.docname.startswith("book/reference/"):
        for name in doctree.findall(nodes.field_name):
            if name.astext() == "Variables":
                name[:] = [nodes.Text("Attributes")]


SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.S)
LINES = {"<dl>": '<span class="sig-lines">', "</dl>": "</span>", "<dd>": "<span>", "</dd>": "</span>"}
"""Sphinx writes a long signature's arguments as a list of descriptions without terms, which no list may be."""


def mend_signatures(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let each argument of a long signature be a line, and no item of a list."""
    if pagename.startswith("book/reference/"):

        def mended(signature: re.Match[str]) -> str:
            return re.sub("</?d[ld]>", lambda tag: LINES[tag[0]], signature[0])

        context["body"] = SIGNATURE.sub(mended, context.get("body", ""))


def read_anew(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Name the pages that show something else than when they were last written: the reference, and lines to it.

    Both are worked out again only where a file of the library or the table has changed.
    """
    forget()
    project = Project(Path(app.srcdir))
    now = {"": f"{project.everything} {project.hash(project.name(COVERAGE))}"}
    whole = differing(app, "library", now)
    lines = shown(app, "lines to the library")
    if whole:
        lines = {}
        for place, names in sorted(names_at().items()):
            page, _, label = place.partition(".html#")
            lines[f"book/{page}"] = f"{lines.get(f'book/{page}', '')}{label}: {', '.join(names)}; "
    other = differing(app, "lines to the library", lines)
    made = [name for name in env.found_docs if name.startswith("book/reference/")] if whole else []
    return sorted({*made, *other} & env.found_docs)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in. Before napoleon, which would not know an escaped star."""
    app.add_directive("library-reference", LibraryReference)
    app.connect("autodoc-process-docstring", process_docstring, priority=400)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("env-get-outdated", read_anew)
    app.connect("doctree-read", add_lines)
    app.connect("doctree-read", name_fields)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", mend_signatures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
