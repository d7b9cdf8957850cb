"""Items as data: what a slide states in words, and what is true in a few lines of arithmetic.

A file beside each module, ``uniform_head.toml``, has a table for each item::

    [E022]
    slide = "Matrix operations: the scores"
    section = "04_one_head_practice#one-head-slide-3"
    states = "The table of the scores before the division, Q times the transpose of K."
    verdict = "wrong"
    tell = "Add up the keys first, which is easy: ..."
    steps = "must = Q @ K.sum(axis=0)"
    printed = "SCORES"
    true = "Q @ K.T"
    truth = "The rows must sum to {must:.2f}, and sum to {SCORES.sum(axis=1):.2f}."

The words are those of ``Item``; ``lecture`` at the head of a file holds for all of its items. What is computed:

- ``work`` names a function of the module that returns values by their names, where a few lines are not enough.
- ``steps`` are assignments, and assertions of what the words rely on.
- ``printed`` and ``true`` are a table and what it should be, to ``places`` decimal places (2 if not given). Instead,
  ``agrees`` says whether a statement holds. A publication that is only cited has neither.
- ``truth`` is the sentence, with computed numbers in braces; several values with a format are written with commas. For
  a table it follows how many cells are off, and ``off`` says which.

Expressions are Python's. They see what stands in the module (its tables and functions), `operations.operations`, the
values of ``work``, and earlier steps.
"""

import ast
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any

from softlookup_course.slide_audit.compare import table
from softlookup_course.slide_audit.item import Found, Item
from softlookup_course.slide_audit.operations import operations

WORDS = {field.name for field in fields(Item)} - {"id", "work"}
COMPUTED = {"work", "steps", "printed", "true", "places", "agrees", "truth"}


def read(name: str) -> list[Item]:
    """Read the items of a module, "uniform_head", from the file beside it; a ValueError names an item in error."""
    module = vars(import_module(f"softlookup_course.slide_audit.{name}"))
    whole = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    lecture = whole.pop("lecture")
    return [make_item(id, {"lecture": lecture, **row}, module) for id, row in whole.items()]


def make_item(id: str, row: Mapping[str, Any], module: Mapping[str, Any]) -> Item:
    """Make the item "E022" of its row, whose expressions find in ``module`` what they name; ValueError if it cannot."""
    needed = {"slide", "section", "states", "verdict"}
    if {"printed", "true"} & set(row):
        needed |= {"printed", "true"}
    else:
        needed |= {"truth"} if row.get("kind") == "cited" else {"truth", "agrees"}
    for key in sorted(set(row) - WORDS - COMPUTED):
        raise ValueError(f"{id}: {key!r} is no word of an item")
    for key in sorted(needed - set(row)):
        raise ValueError(f"{id}: {key!r} is missing")
    if "work" in row and not callable(module.get(row["work"])):
        raise ValueError(f"{id}: its module has no function {row['work']!r}")
    words = {key: value for key, value in row.items() if key in WORDS} | {"source": tuple(row.get("source", ()))}
    return Item(id=id, recompute=partial(_found, id, row, module), **words)


def _found(id: str, row: Mapping[str, Any], module: Mapping[str, Any]) -> Found:
    """Compute what an item says; if something cannot be computed, a ValueError names the item."""
    names = {**operations(), **module}
    try:
        if "work" in row:
            names |= module[row["work"]]()
        for step in ast.parse(row.get("steps", "")).body:
            _take(step, names)
        if "printed" in row:
            compared = table(eval(row["printed"], names), eval(row["true"], names), row.get("places", 2))
            sentence = _said(row.get("truth", ""), names | {"off": compared.off})
            return replace(compared, truth=f"{compared.truth} {sentence}".strip())
        agrees = bool(eval(row["agrees"], names)) if "agrees" in row else None
        return Found(_said(row["truth"], names), agrees)
    except NameError as error:
        raise ValueError(f"{id}: no operation, table or step is called {error.name!r}") from error
    except Exception as error:
        raise ValueError(f"{id}: {error}") from error


def _take(step: ast.stmt, names: dict[str, Any]) -> None:
    text = ast.unparse(step)
    if isinstance(step, ast.Assert):
        if not eval(ast.unparse(step.test), names):
            raise ValueError(f"{text!r} fails")
    elif isinstance(step, ast.Assign):
        exec(text, names)
    else:
        raise ValueError(f"{text!r} is neither an assignment nor an assertion")


def _said(truth: str, names: dict[str, Any]) -> str:
    """The sentence, with its numbers."""
    sentence = ""
    for text, expression, form, _ in Formatter().parse(truth):
        sentence += text
        if expression is not None:
            value, form = eval(expression, names), form or ""
            several = form and isinstance(value, Iterable) and not isinstance(value, str)
            sentence += ", ".join(format(entry, form) for entry in value) if several else format(value, form)
    return sentence
