"""A part of the Jupyter server that ``softlookup lab`` starts: the first address, the book, and *Validate*.

Jupyter's own ``/files`` shows pages of a folder in a sandbox, in which neither styles nor scripts of their own arrive.
"""

import asyncio
from html import escape
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from softlookup_course.at_home.validate import Rehearsal, rehearse
from softlookup_course.progress.workplace import START, WELCOME, WORK
from softlookup_grader.course.notebooks import BadNotebook
from softlookup_judge.data.result import HEADLINES

PLACE = "softlookup-book"
"""The address of the book, beneath the server's own."""


NOT_BUILT = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>The book is not built</title>
<body style="font: 1.1rem/1.6 sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>The book is not built yet</h1>
<p>Build it with <code>make book</code> in this folder, which takes some minutes, and reload this page:</p>
<pre>{root}</pre>
"""


class Welcome(JupyterHandler):
    """Leads to the welcome notebook, since the address that Jupyter prints cannot have a query of its own."""

    @web.authenticated
    def get(self) -> None:
        """Open it, with the student's folder beside it."""
        self.redirect(url_path_join(self.base_url, f"lab/tree/{WELCOME}?file-browser-path=/{WORK}"))


class BookPage(JupyterHandler, web.StaticFileHandler):
    """A file of the built book, for whoever is logged in."""

    def write_error(self, status_code: int, **more: Any) -> None:
        """Say how to build the book where there is none."""
        if status_code == 404 and not Path(self.root, "index.html").exists():
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.finish(NOT_BUILT.format(root=escape(str(Path(self.root).parents[1]))))
        else:
            super().write_error(status_code, **more)

    @web.authenticated
    def head(self, path: str) -> Any:  # type: ignore[override]
        """Say that it is there."""
        return web.StaticFileHandler.get(self, path, include_body=False)

    @web.authenticated
    def get(self, path: str, include_body: bool = True) -> Any:  # type: ignore[override]
        """Give it."""
        return web.StaticFileHandler.get(self, path, include_body)


class Validation(APIHandler):
    """Runs a notebook of the checkout in a fresh kernel and gives its verdicts in words."""

    @web.authenticated
    async def post(self) -> None:
        """Take ``{"path": ...}``, seen from the server's root; give lines and a row for each task."""
        root = Path(self.settings["server_root_dir"]).expanduser().resolve()
        path = (root / str((self.get_json_body() or {}).get("path", ""))).resolve()
        if not path.is_relative_to(root):
            raise web.HTTPError(404)
        try:
            rehearsal = await asyncio.to_thread(rehearse, path)
        except BadNotebook as problem:
            self.finish({"lines": [f"{str(problem)[:1].upper()}{str(problem)[1:]}."]})
            return
        self.finish(_in_words(rehearsal))


def _in_words(rehearsal: Rehearsal) -> dict[str, list[Any]]:
    """The verdicts on a notebook, in the words of its checks, and what of it does not count."""
    outcomes = rehearsal.outcomes
    if not outcomes:
        return {"lines": ["This notebook ran, but it holds no checks: it is none of the course's."]}
    blank = sum(outcome.verdict == "blank" for outcome in outcomes)
    lines = [
        f"{rehearsal.pass_count} of {len(outcomes)} tasks are right: {rehearsal.points:g} of {rehearsal.max:g} points."
    ]
    lines += [f"{blank} still blank."] * bool(blank)
    lines += rehearsal.remarks
    rows = [
        [outcome.task, f"{HEADLINES[outcome.verdict]}, {outcome.points:g} of {outcome.max:g}", outcome.message]
        for outcome in outcomes
        if outcome.verdict not in ("pass", "blank")
    ]
    return {"lines": lines, "rows": rows}


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "softlookup_course.progress.serving"}]


def _load_jupyter_server_extension(server: Any) -> None:
    book = Path(server.root_dir) / "_build" / "html"
    book_address = url_path_join(server.web_app.settings["base_url"], PLACE, "(.*)")
    validation = url_path_join(server.web_app.settings["base_url"], "softlookup-validate")
    start = url_path_join(server.web_app.settings["base_url"], START)
    pages = {"path": str(book), "default_filename": "index.html"}
    handlers = [(book_address, BookPage, pages), (validation, Validation), (start, Welcome)]
    server.web_app.add_handlers(".*$", handlers)
