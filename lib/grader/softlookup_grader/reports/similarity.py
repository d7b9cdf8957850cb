"""Which submissions' solution cells are near-identical beyond what the release gave: a hint, never a grade.

A cell's tokens, without comments, layout and chosen names, are cut into overlapping runs; a pair is judged by the runs
that it shares in near-identical cells, each weighed by how rare it is in the class. Nothing is executed. Source:
S. Schleimer, D. Wilkerson and A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting" (SIGMOD 2003).
"""

import builtins
import io
import keyword
import math
import re
import tokenize
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

from softlookup_grader.course.notebooks import grade_id, is_solution
from softlookup_grader.judging.rebuild import MAX_SOURCE

MAX_CHARACTERS = MAX_SOURCE
"""Of one cell; no longer cell is graded, so nothing that counts can be hidden behind the end."""

RUN = 12  # tokens in one run

FEW = 20  # a run that more than so many have is common knowledge, however large the class is

ENOUGH = 60.0
"""A pair is reported from so many common rare runs on: one long function that nobody else has so, or several short."""

NEAR = 0.5  # two cells are near-identical if so much of the shorter one is in the other: an edit changes a dozen runs

HINT = "This is a hint for a person, never a grade: two students may well write the same. Read both before you act."

_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_STARTS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT}
_WORD = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_BLANK = ("raise", "NotImplementedError", "(", ")")
_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins))

Tokens = tuple[str, ...]
Cells = Mapping[str, Tokens]
"""The tokens of a student's own in each solution cell, by its name; cells that hold none are left out."""


@dataclass(frozen=True)
class SimilarPair:
    """Two submissions that are alike."""

    first: str
    second: str
    cells: tuple[str, ...]  # the near-identical solution cells that not everybody has so, in the order of the notebook
    rare: float  # how many runs of tokens these share, each weighed by how rare it is in the class, 0 to 1
    fraction: float  # how much of what the one who wrote less has written is shared, 0 to 1

    def as_json(self) -> dict[str, Any]:
        """The pair for a JSON file."""
        return {
            "students": [self.first, self.second],
            "cells": list(self.cells),
            "rare": round(self.rare, 1),
            "share": round(self.fraction, 3),
        }


@lru_cache(maxsize=8_192)
def code_tokens(source: str) -> Tokens:
    """The tokens of Python code: no comments, layout or docstrings; names are numbered as they first appear.

    Names after a dot, keywords and built-in names stay. Code that is no Python is cut into words and signs.

    >>> code_tokens("def f(x):  # double" + chr(10) + "    return 2 * x.sum()")
    ('def', 'n0', '(', 'n1', ')', ':', 'return', '2', '*', 'n1', '.', 'sum', '(', ')')
    """
    source = source[:MAX_CHARACTERS]
    lexemes: list[tuple[int, str]] = []
    try:
        lexemes = [(t.type, t.string) for t in tokenize.generate_tokens(io.StringIO(source).readline)]
        words = _without_docstrings(lexemes)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        words = _WORD.findall(re.sub(r"#.*", "", source))
    numbers: dict[str, str] = {}
    tokens: list[str] = []
    for token in words:
        free = token.isidentifier() and token not in _KEPT and tokens[-1:] != ["."]
        tokens.append(numbers.setdefault(token, f"n{len(numbers)}") if free else token)
    return tuple(tokens)


def _without_docstrings(lexemes: Sequence[tuple[int, str]]) -> list[str]:
    """The words that count; a string that is a statement of its own does not."""
    words = []
    before = tokenize.NEWLINE
    for index, (token_type, token) in enumerate(lexemes):
        after = lexemes[index + 1][0] if index + 1 < len(lexemes) else tokenize.NEWLINE
        alone = before in _STARTS and after in (tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
        if token_type not in _LAYOUT and not (token_type == tokenize.STRING and alone):
            words.append(token)
        before = token_type
    return words


def prose_tokens(source: str) -> Tokens:
    """The words of a written answer, in small letters."""
    return tuple(re.findall(r"\w+", source[:MAX_CHARACTERS].casefold()))


def own_tokens(tokens: Tokens, released: Tokens) -> Tokens:
    """What is left of a cell without what the release gave: the same beginning, the same end, and the blank."""
    if tokens == released:
        return ()
    if released[-len(_BLANK) :] == _BLANK:
        released = released[: -len(_BLANK)]
    start = 0
    while start < min(len(tokens), len(released)) and tokens[start] == released[start]:
        start += 1
    end = 0
    while end < min(len(tokens), len(released)) - start and tokens[-1 - end] == released[-1 - end]:
        end += 1
    return tokens[start : len(tokens) - end]


def rarity(holders: int, submissions: int) -> float:
    """How much it says that two share something: 1 if nobody else has it, 0 if half of the class has.

    Where fewer than five handed in, nothing can be called rare.

    >>> [round(rarity(holders, 100), 2) for holders in (2, 5, 20, 50, 80)]
    [1.0, 0.72, 0.28, 0.0, 0.0]
    """
    if submissions < 5:
        return 0.0
    return max(0.0, math.log(submissions / (2 * holders)) / math.log(submissions / 4))


def alike(submissions: Mapping[str, Cells], enough: float = ENOUGH) -> list[SimilarPair]:
    """Find pairs that are alike beyond what is usual, the most alike first; only who shares a rare run is compared."""
    names = sorted(submissions)
    runs = [{cell: runs_of(tokens) for cell, tokens in submissions[name].items()} for name in names]
    common: dict[tuple[int, int], float] = defaultdict(float)
    weights: dict[str, dict[int, float]] = {}
    for cell in sorted({cell for submission_runs in runs for cell in submission_runs}):
        holders: dict[int, list[int]] = defaultdict(list)
        for index, submission_runs in enumerate(runs):
            for run in submission_runs.get(cell, ()):
                holders[run].append(index)
        weights[cell] = {run: rarity(len(who), len(names)) for run, who in holders.items() if 1 < len(who) <= FEW}
        together: dict[tuple[int, ...], float] = defaultdict(float)  # twenty may share a hundred thousand runs
        for run, weight in weights[cell].items():
            together[tuple(holders[run])] += weight
        for who, weight in together.items():
            if weight:
                for pair in combinations(who, 2):
                    common[pair] += weight
    pairs = []
    for (first, second), rare in common.items():
        if rare < enough:
            continue
        cell_weights: dict[str, float] = {}
        both = 0
        for cell in submissions[names[first]]:
            first_runs, second_runs = runs[first][cell], runs[second].get(cell, frozenset())
            shared = first_runs & second_runs
            both += len(shared)
            worth = sum(weights[cell].get(run, 0.0) for run in shared)
            if worth and len(shared) >= NEAR * min(len(first_runs), len(second_runs)):
                cell_weights[cell] = worth
        least = min(sum(map(len, runs[index].values())) for index in (first, second))
        if sum(cell_weights.values()) >= enough:
            pairs.append(
                SimilarPair(names[first], names[second], tuple(cell_weights), sum(cell_weights.values()), both / least)
            )
    return sorted(pairs, key=lambda pair: (-pair.rare, pair.first, pair.second))


def runs_of(tokens: Tokens) -> frozenset[int]:
    """Numbers of all runs of a few tokens, the same in every process; of a short answer, of the whole."""
    return frozenset(_number(tokens[start : start + RUN]) for start in range(max(1, len(tokens) - RUN + 1)))


@lru_cache(maxsize=100_000)
def _number(run: Tokens) -> int:
    """A run's number; names are counted anew in each run, so that a line put in before it changes nothing."""
    order: dict[str, str] = {}
    plain = [order.setdefault(token, f"n{len(order)}") if _is_free(token) else token for token in run]
    return zlib.crc32("\x1f".join(plain).encode("utf-8", "replace"))


def _is_free(token: str) -> bool:
    return token[0] == "n" and token[1:].isdigit()


def cells_of(notebook: Any, released: Mapping[str, Tokens]) -> dict[str, Tokens]:
    """A student's own tokens in each solution cell of a notebook that was handed in, from ``read_notebook``."""
    tokens: dict[str, Tokens] = {}
    for cell in notebook.cells:
        name = grade_id(cell)
        if name in released and name not in tokens:
            tokens[name] = own_tokens(_tokens(cell), released[name])
    return {name: tokens[name] for name in released if tokens.get(name)}


def given_by(release: Any) -> dict[str, Tokens]:
    """The tokens of a release's solution cells, by grade_id, in its order."""
    return {grade_id(cell): _tokens(cell) for cell in release.cells if is_solution(cell)}


def _tokens(cell: Any) -> Tokens:
    return (code_tokens if cell.cell_type == "code" else prose_tokens)(cell.source)
