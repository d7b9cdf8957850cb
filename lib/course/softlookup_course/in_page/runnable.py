"""Which cells of the book's pages run in a page: what they need is numpy and the part of the library that is there."""

import ast
import json
import sys
from collections.abc import Sequence
from typing import Any

from softlookup_course.in_page.missing import Absent
from softlookup_course.in_page.session import answer, run_what_runs


def runnable(cells: Sequence[str]) -> list[int]:
    """Run a page's cells one after the other, as a page does.

    It gives the numbers of those that run, and use nothing that is not there.
    """
    world: dict[str, Any] = {"__name__": "__main__"}
    numbers = []
    for index, source in enumerate(cells):
        all_ran = run_what_runs(source, f"<submission {index}>", world)
        if all_ran and not any(isinstance(world.get(name), Absent) for name in _names(source)):
            numbers.append(index)
    return numbers


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def main() -> None:
    """Read pages' cells as JSON, by page, and write the numbers of those that run."""
    pages = json.load(sys.stdin)
    sys.modules["ctypes"] = None  # type: ignore[assignment]  # a page has none
    answer(json.dumps({"do": "begin", "book": ""}))
    print(json.dumps({page: runnable(cells) for page, cells in pages.items()}))
