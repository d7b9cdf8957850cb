"""A link on every page to tell somebody of a mistake, with the page's name and the book's version filled in.

``softlookup_report`` in _config.yml is where it leads: a form of issues, or a mailto: address. Where it is empty, as
shipped, it leads to a page of this book that says what to send, and has the words ready to be copied.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from docutils import nodes
from page_needs import Project
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from softlookup_inside.installed import version_of

OWN_PAGE = "book/mistakes"
PLACES = {"title", "body"}


def template(address: str) -> str:
    """Complete an address of _config.yml so that it has a place for a title and one for a text.

    With ``{title}`` and ``{body}`` in it, it is left as it is. ExtensionError if it is neither a web address nor a
    mailto: address, or has places of another name.
    """
    kind = urlsplit(address).scheme
    if kind not in {"http", "https", "mailto"}:
        raise ExtensionError(f"_config.yml: softlookup_report is {address!r}, wanted https://… or mailto:…")
    places = set(re.findall(r"\{(\w*)\}", address))
    if not places <= PLACES:
        raise ExtensionError(f"_config.yml: softlookup_report has {{{'}, {'.join(sorted(places - PLACES))}}}")
    if places:
        return address
    heading = "subject" if kind == "mailto" else "title"
    return f"{address}{'&' if urlsplit(address).query else '?'}{heading}={{title}}&body={{body}}"


def body(page: str, path: str, build: str) -> str:
    """Write what a report on a page, by title, begins with: the page's file in the book, and the book's version.

    ``report.js`` writes the same, with the section and the words that are marked.
    """
    return f"Page: {page}\nFile: {path}\nBuild: {build}\n\nWhat it says:\n\nWhat it should say, and why:\n"


def filled(address: str, page: str, path: str, build: str) -> str:
    """Fill the places of an address, for readers without scripts; the other arguments are those of ``body``."""
    values = {"title": f"Mistake: {page}", "body": body(page, path, build)}
    for name, text in values.items():
        address = address.replace(f"{{{name}}}", quote(text, safe=""))
    return address


def build_of(config: Config, root: Path) -> str:
    """Name this build: the library's version, and the first digits of a hash of it and of the measured figures."""
    used = Project(root, getattr(config, "softlookup_package", "softlookup")).everything
    return f"{version_of('softlookup')}-{used[:12]}"


def add_link(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the template what it shows."""
    title = app.env.titles.get(pagename)
    page = nodes.unescape(title.astext()) if title is not None else str(context.get("title", "")) or pagename
    page = re.sub(r"<[^>]+>", "", page)
    path = app.builder.get_target_uri(pagename)
    build = app.softlookup_build  # type: ignore[attr-defined]
    address = template(app.config.softlookup_report) if app.config.softlookup_report else ""
    # The page on mistakes is a page like others: there, too, the link leads to it.
    href = filled(address, page, path, build) if address else app.builder.get_relative_uri(pagename, OWN_PAGE) or "#"
    context["report"] = {"href": href, "address": address, "page": page, "path": path, "build": build}


def name_build(app: Sphinx) -> None:
    """Name the build once for all pages."""
    app.softlookup_build = build_of(app.config, Path(app.srcdir))  # type: ignore[attr-defined]


def with_own_page(app: Sphinx, env: BuildEnvironment, *which: set[str]) -> list[str]:
    """Make the page on mistakes in every build: it shows the build, whose name the pages that lead to it have."""
    return [OWN_PAGE] if OWN_PAGE in env.found_docs else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.connect("builder-inited", name_build)
    app.connect("env-get-outdated", with_own_page)
    app.add_config_value("softlookup_report", "", "html")
    app.connect("config-inited", lambda app, config: config.softlookup_report and template(config.softlookup_report))
    app.connect("html-page-context", add_link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
