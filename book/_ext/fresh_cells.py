"""Keep the numbers in the book true, and run no page in vain.

A page's cells run when their text has changed, or when anything has changed that they used the last time
(`page_needs.py` says how that is known). All that has to run is run before Sphinx reads the first page, several pages
at a time, in kernels forked from one process (`forked_kernels.py`); what Sphinx then reads comes from the kept outputs.
A page that fails is left to myst-nb, which runs it once more and says what is wrong.
"""

import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from as_shown import differing, remember
from forked_kernels import forking
from jupyter_client.manager import AsyncKernelManager
from myst_nb.core.read import create_nb_reader
from page_needs import WATCH, Kept, Project
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

log = logging.getLogger(__name__)

RUNS = "runs"
MOST_KEPT = 200
"""Executed pages; those that no build has asked for longest go first."""

CLOCK_S = 0.1
"""How far the times of files may lag behind the clock."""

AT_ONCE = 4
"""Kernels, or readers and writers of pages, at a time at most: each holds a torch in memory. There are as many as
processors, and one kernel more, since one that begins or ends does nothing but wait for half a second."""

UNDECLARED = ("sphinx_jupyterbook_latex", "sphinx_multitoc_numbering")
"""Jupyter Book's extensions that do not say whether pages may be read side by side: each changes the page at hand, or
works when all pages are read."""


@dataclass
class Page:
    """A page whose cells are to run, and why."""

    name: str
    path: Path
    notebook: Any
    key: str
    why: str


@dataclass
class Run:
    """How a page ran; what its kernel has seen, or None where a cell failed."""

    began: float
    seconds: float
    seen: dict[str, Any] | None


def keep_in_one_place(app: Sphinx, config: Config) -> None:
    """Point myst-nb at the kept outputs, and drop the folders in which they were kept before, one for each library."""
    folder = Path(app.outdir).parent / ".jupyter_cache"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*/global.db"):
        shutil.rmtree(old.parent, ignore_errors=True)
    config.nb_execution_cache_path = str(folder)
    config.softlookup_extensions = Project(Path(app.srcdir), config.softlookup_package).extensions


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(app: Sphinx, config: Config) -> None:
    """Have Sphinx read and write pages in several processes; on Linux, where a fork of one with threads is sound."""
    for name in UNDECLARED:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True
    app.parallel = min(AT_ONCE, processors()) if sys.platform == "linux" else 1


def kept_outputs(app: Sphinx) -> Kept:
    """Open the kept outputs, with the project as it is now."""
    project = Project(Path(app.srcdir), app.config.softlookup_package)
    store = Kept(Path(app.config.nb_execution_cache_path), project)
    store.cache.change_cache_limit(MOST_KEPT)
    return store


def pages_out_of_date(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Name the pages that Sphinx has to read again: what their cells need has changed, or other outputs are kept."""
    store = kept_outputs(app)
    cells = {name: key for name, key in getattr(env, "softlookup_cells", {}).items() if name in env.found_docs}
    stale = {name for name, key in cells.items() if store.stale(key)}
    other = {*differing(app, RUNS, {name: store.stamp(key) for name, key in cells.items()})}
    return sorted((stale | other) & env.found_docs)


def run_pages(app: Sphinx, env: Any, names: list[str]) -> None:
    """Run the cells of the pages that will be read and have no outputs that hold."""
    store = kept_outputs(app)
    cells = env.softlookup_cells = getattr(env, "softlookup_cells", {})
    if chosen := choose(store, env, names):
        run_all(app, store, chosen)
    remember(app, RUNS, {name: store.stamp(key) for name, key in cells.items() if name in env.found_docs})


def choose(store: Kept, env: Any, names: list[str]) -> list[Page]:
    """Choose the pages whose cells have to run: what they hold or use has changed since."""
    cells, waiting = env.softlookup_cells, dict[str, Page]()
    for name in names:
        notebook = notebook_of(env, name)
        cells.pop(name, None)
        if notebook is None or not any(cell.cell_type == "code" for cell in notebook.cells):
            continue
        key = cells[name] = store.key(notebook)
        why = store.stale(key)
        if why and key not in waiting:
            store.forget(key)
            waiting[key] = Page(name, Path(env.doc2path(name)), notebook, key, why)
    return list(waiting.values())


def run_all(app: Sphinx, store: Kept, pages: list[Page]) -> None:
    """Run pages, some at a time, and keep what comes out."""
    computing = min(AT_ONCE, processors())
    at_once = min(AT_ONCE, computing + 1, len(pages))
    log.info("running the cells of %d pages, %d at a time", len(pages), at_once)
    # What pages are forked from has to import everything first: that pays where it is done for several.
    several = forking(pages[0].path.parent) if len(pages) > computing else nullcontext(AsyncKernelManager)
    with several as kernels, ThreadPoolExecutor(at_once) as pool:
        runs = [(page, pool.submit(execute, store, page, app.config, kernels)) for page in pages]
        for page, run in runs:
            done = run.result()
            if done.seen is None:
                log.info("%s: failed after %.1f s (%s)", page.name, done.seconds, page.why)
                continue
            store.keep(page.notebook, page.path, done.seconds, done.seen, done.began)
            log.info("%s: %.1f s (%s)", page.name, done.seconds, page.why)


def notebook_of(env: Any, name: str) -> Any | None:
    """Read a page as myst-nb will, which keeps its settings in Sphinx's environment; None where no cells are to run."""
    config = env.mystnb_config
    path = Path(env.doc2path(name))
    if path.suffix not in {".md", ".ipynb"} or config.execution_mode != "cache":
        return None
    if any(path.match(pattern) for pattern in config.execution_excludepatterns):
        return None
    text = path.read_text(encoding="utf-8-sig")
    reader = create_nb_reader(str(path), env.myst_config, config, text)
    return None if reader is None else reader.read(text)


def execute(store: Kept, page: Page, config: Config, kernels: type[AsyncKernelManager] = AsyncKernelManager) -> Run:
    """Run a page in a kernel that is watched."""
    from jupyter_cache.executors.utils import single_nb_execution

    with TemporaryDirectory() as folder:
        seen = Path(folder) / "seen.json"
        scope = {"__name__": "kernel_watch", "ASKED": store.project.watch_arguments(seen)}
        line = f"exec(compile(open({str(WATCH)!r}, encoding='utf-8').read(), {str(WATCH)!r}, 'exec'), {scope!r})"
        began = time.time()
        done = single_nb_execution(
            page.notebook,
            cwd=str(page.path.parent),
            timeout=config.nb_execution_timeout,
            allow_errors=config.nb_execution_allow_errors,
            extra_arguments=[f"--IPKernelApp.exec_lines={line}", "--log-level=ERROR"],
            kernel_manager_class=kernels,
        )
        report = None if done.err is not None else json.loads(seen.read_text(encoding="utf-8"))
    return Run(began - CLOCK_S, done.time, report)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in. A changed extension makes Sphinx read all pages again; their outputs stay."""
    app.add_config_value("softlookup_package", "softlookup", "env")
    app.add_config_value("softlookup_extensions", "", "env")
    app.connect("config-inited", keep_in_one_place, priority=100)
    app.connect("config-inited", side_by_side)
    app.connect("env-get-outdated", pages_out_of_date)
    app.connect("env-before-read-docs", run_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
