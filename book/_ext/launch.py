"""Where a notebook can be opened: addresses that a lecturer sets in _config.yml, and what a page links to.

As shipped no address is set, and pages lead to nothing but the notebook itself and the reader's own machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

OWN_LAB = "http://localhost:8888/lab/tree/"
"""Where ``make lab`` serves the course's folder, if nothing else has taken the port."""

KEYS = {"jupyterlab", "jupyterhub", "colab", "install", "book"}


class BadAddress(ValueError):
    """A setting of ``softlookup_launch`` is of no use; the message names it."""


@dataclass(frozen=True)
class Places:
    """The addresses of a course.

    Attributes:
        jupyterlab: A JupyterLab that shows the course's folder; empty for the reader's own.
        jupyterhub: A hub; empty for none.
        colab: An address with ``{notebook}`` in it; empty for none.
        install: What pip installs the library from, where it is missing.
        book: The rendered book on the web.
        repository: Where the course's folder is kept; a hub pulls it from there.
        branch: The branch of it.
    """

    jupyterlab: str = ""
    jupyterhub: str = ""
    colab: str = ""
    install: str = ""
    book: str = ""
    repository: str = ""
    branch: str = ""

    @classmethod
    def of(cls, launch: Mapping[str, object], repository: str = "", branch: str = "") -> "Places":
        """Read the settings: ``softlookup_launch`` of _config.yml, its ``repository: url`` and ``repository: branch``.

        BadAddress if a key is unknown, or a value is no web address where one is wanted.
        """
        unknown = set(launch) - KEYS
        if unknown:
            raise BadAddress(f"softlookup_launch has {', '.join(sorted(unknown))}; it knows {', '.join(sorted(KEYS))}")
        settings = {key: str(value or "").strip() for key, value in launch.items()}
        for key in sorted(KEYS - {"install"}):
            if settings.get(key) and urlsplit(settings[key]).scheme not in {"http", "https"}:
                raise BadAddress(f"softlookup_launch: {key} is {settings[key]!r}, wanted an address with https://")
        if settings.get("colab") and "{notebook}" not in settings["colab"]:
            raise BadAddress(
                f"softlookup_launch: colab is {settings['colab']!r}, wanted an address with {{notebook}} in it"
            )
        return cls(**settings, repository=repository.strip(), branch=branch.strip())

    def lab(self, notebook: str) -> str:
        """The notebook, by its path in the checkout, in a JupyterLab: the course's, or the reader's own."""
        base = self.jupyterlab or OWN_LAB
        return _filled(base, notebook) or _joined(base, "lab/tree/", notebook)

    def hub(self, notebook: str) -> str:
        """The notebook on the hub, fetched by nbgitpuller where a repository is named; empty without a hub."""
        if not self.jupyterhub:
            return ""
        if filled := _filled(self.jupyterhub, notebook):
            return filled
        if not self.repository:
            return _joined(self.jupyterhub, "hub/user-redirect/lab/tree/", notebook)
        folder = self.repository.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
        query = {"repo": self.repository, "urlpath": f"lab/tree/{folder}/{notebook}"}
        if self.branch:
            query["branch"] = self.branch
        return _joined(self.jupyterhub, "hub/user-redirect/git-pull", "") + "?" + urlencode(query)

    def on_colab(self, notebook: str) -> str:
        """The notebook on Colab; empty where no address is set."""
        return _filled(self.colab, notebook)


def _filled(address: str, notebook: str) -> str:
    return address.replace("{notebook}", quote(notebook)) if "{notebook}" in address else ""


def _joined(base: str, way: str, notebook: str) -> str:
    """Join a server's address and a path in it, whether or not the address names the way already."""
    base = base.rstrip("/") + "/"
    return base + ("" if base.endswith(way) else way) + quote(notebook)
