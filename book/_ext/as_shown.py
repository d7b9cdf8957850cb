"""Remember with what each page was last written, so that a page is read again when it would be written otherwise.

Sphinx looks at a page's own file. Some pages also show what stands elsewhere (numbers of the library, its docstrings),
and what counts is not what an earlier build has read but what it has written: a build that was stopped half-way must
not leave old pages behind. So the memory is written last of all, and by whole builds alone.
"""

import json
from pathlib import Path
from weakref import WeakKeyDictionary

from sphinx.application import Sphinx

_REMEMBERED: WeakKeyDictionary[Sphinx, dict[str, dict[str, str]]] = WeakKeyDictionary()
"""By build, and whose memory it is: what pages are written with."""


def _file(app: Sphinx) -> Path:
    return Path(app.doctreedir) / "as_shown.json"


def shown(app: Sphinx, kind: str) -> dict[str, str]:
    """Look up what the pages were last written with, by page; ``kind`` is whose memory it is."""
    try:
        return dict(json.loads(_file(app).read_text(encoding="utf-8")).get(kind, {}))
    except FileNotFoundError:
        return {}


def remember(app: Sphinx, kind: str, values: dict[str, str]) -> None:
    """Set what this build writes its pages with, by page; it is kept when the build has come to its end."""
    if app not in _REMEMBERED:
        _REMEMBERED[app] = {}
        app.connect("build-finished", _keep, priority=950)
    _REMEMBERED[app][kind] = values


def differing(app: Sphinx, kind: str, values: dict[str, str]) -> list[str]:
    """Name the pages that were last written with something else, or never, and remember the new values.

    A page that is missing in ``values`` and was not before differs too.
    """
    before = shown(app, kind)
    remember(app, kind, values)
    return sorted(page for page in {*before, *values} if before.get(page) != values.get(page))


def _keep(app: Sphinx, exception: Exception | None) -> None:
    """Write the memory, if all pages have been written."""
    if exception is None:
        _file(app).write_text(json.dumps(_REMEMBERED[app], indent=1), encoding="utf-8")
