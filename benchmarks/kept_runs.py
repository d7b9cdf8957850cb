"""Runs of a long bench, kept as they are done: an interrupted bench goes on where it was."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import plain


class KeptRuns:
    """Does each run once: what a file already holds is read, what it does not is done and written at once.

    The file is written whole or not at all; without one nothing is kept. A file of another ``plan``, what the runs were
    started with, is not used, and is written over. ``show`` takes a line about each run that was done; None is silent.
    """

    def __init__(self, path: Path | None, plan: str, show: Callable[[str], None] | None = None) -> None:
        self._path, self._plan, self._show = path, plan, show
        self._runs: dict[str, Any] = {}
        if path is not None and path.is_file():
            try:
                stored = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                stored = {}  # not one of ours; it is written over
            if isinstance(stored, dict) and stored.get("plan") == plan:
                self._runs = dict(stored["runs"])
                self._say(f"{len(self._runs)} runs were done before: {path}")

    def do(self, key: str, run: Callable[[], Any]) -> Any:
        """Give the result of a run ("vit, seed 3") as plain JSON, whether it was done now or before.

        It is a dataclass, or what JSON can hold.
        """
        if key not in self._runs:
            begun_s = time.perf_counter()
            self._runs[key] = plain(run())
            if self._path is not None:
                beside = self._path.with_name(self._path.name + ".new")
                beside.write_text(json.dumps({"plan": self._plan, "runs": self._runs}), encoding="utf-8")
                os.replace(beside, self._path)
            self._say(f"{key}: {time.perf_counter() - begun_s:.1f} s")
        return self._runs[key]

    def done(self) -> None:
        """All is done and written elsewhere: the file can go."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _say(self, line: str) -> None:
        if self._show is not None:
            self._show(line)
