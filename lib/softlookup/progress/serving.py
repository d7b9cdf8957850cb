"""A part of the Jupyter server that ``softlookup lab`` starts: it shows the book of the checkout as it is.

Jupyter's own ``/files`` shows pages of a folder in a sandbox, in which neither styles nor scripts of their own arrive.
"""

from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

PLACE = "softlookup-book"
"""The address of the book, beneath the server's own."""


class BookPage(JupyterHandler, web.StaticFileHandler):
    """A file of the built book, for whoever is logged in."""

    @web.authenticated
    def head(self, path: str) -> Any:  # type: ignore[override]
        """Say that it is there."""
        return web.StaticFileHandler.get(self, path, include_body=False)

    @web.authenticated
    def get(self, path: str, include_body: bool = True) -> Any:  # type: ignore[override]
        """Give it."""
        return web.StaticFileHandler.get(self, path, include_body)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "softlookup.progress.serving"}]


def _load_jupyter_server_extension(server: Any) -> None:
    book = Path(server.root_dir) / "_build" / "html"
    place = url_path_join(server.web_app.settings["base_url"], PLACE, "(.*)")
    server.web_app.add_handlers(".*$", [(place, BookPage, {"path": str(book), "default_filename": "index.html"})])
