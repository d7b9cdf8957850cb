"""A question to the reader, as the page shows it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from softlookup_course.quiz.kinds import Answer, Cell, Guess, Kind, Number, Row
from softlookup_inside.asking.case import Case
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results, mistaken


@dataclass(frozen=True)
class Question:
    """A question with its right answer and the answers of known mistakes."""

    task_id: str  # the task whose description it comes from
    text: str  # the question; ``$formulas$``, ``**stress**`` and backticks are understood
    kind: Kind  # what is asked for
    right: Answer  # the right answer
    wrong: tuple[tuple[Answer, tuple[str, ...]], ...]  # answers of known mistakes, with the sentences that name them
    given: Mapping[str, Any]  # small matrices that are shown with it, by name

    @property
    def key(self) -> str:
        """A short name; another question, or the same with another answer, has another one."""
        written = json.dumps([self.task_id, self.text, self.right])
        return hashlib.sha256(written.encode()).hexdigest()[:10]

    def _repr_html_(self) -> str:
        written = {
            "key": self.key,
            "kind": self.kind.kind,
            "right": self.right,
            "tolerance": self.kind.tolerance,
            "alike": _alike(self.kind),
            "wrong": [{"answer": answer, "says": says} for answer, says in self.wrong],
        }
        tables = "".join(_table(name, value) for name, value in self.given.items())
        invitation = "Guess first." if isinstance(self.kind, Guess) else "Try it."
        tables = f'<div class="slq-given">{tables}</div>' if tables else ""
        return (
            f'<form class="slq" autocomplete="off" data-quick="{escape(json.dumps(written))}">'
            f'<p class="slq-ask"><strong>{invitation}</strong> {marked_up(self.text)}</p>'
            f'{tables}<div class="slq-fields">{self._fields()}</div>'
            '<div class="slq-told" role="status"></div>'
            f"<details><summary>Answer</summary><p>{escape(self.kind.written(self.right))}</p></details></form>"
        )

    def __repr__(self) -> str:
        return f"{self.text} [{self.kind.written(self.right)}]"

    def _fields(self) -> str:
        if isinstance(self.kind, Cell):
            return _map(self.kind)
        check = '<button type="submit">Check</button>'
        if isinstance(self.kind, Row):
            fields = "".join(_field(f"number {i + 1} of {len(self.right)}", "decimal") for i in range(len(self.right)))
            return f"<span>(</span>{fields}<span>)</span>{check}"
        if isinstance(self.kind, Number | Guess):
            unit = f"<span>{escape(self.kind.unit)}</span>" if self.kind.unit else ""
            return f"{_field(f'your {self.kind.kind}', 'decimal')}{unit}{check}"
        return f"{_field('your shape', 'text', '(2, 3)')}{check}"


def ask(task_id: str, text: str, given: tuple[Any, ...], want: Kind, show: Mapping[str, Any] | None = None) -> Question:
    """A question about one input to a task ("04.scale"); its text is complete in itself."""
    task = STANDARD.task(task_id)
    numbers = task.frame in ("torch", "numpy")
    args = tuple(np.asarray(a, dtype=float) if numbers and isinstance(a, list) else a for a in given)
    case = Case("in the page", args, frame=task.frame)
    variant = variant_of(task)
    expected = want.answer(expected_results(variant, case))
    says_by_answer: dict[tuple[float, ...], list[str]] = {}
    for mistake in task.mistakes:
        results = mistaken(variant, (mistake.slug,), case) if mistake.symptom is None else None
        if results is None:
            continue
        try:
            answer = want.answer(results)
        except (ValueError, LookupError):
            continue  # such an answer has no number at that place
        if not np.isfinite(answer).all() or near(answer, expected, want.tolerance + _alike(want)):
            continue
        same = next((other for other in says_by_answer if near(list(other), answer, _alike(want))), tuple(answer))
        says = says_by_answer.setdefault(same, [])
        if mistake.says not in says:
            says.append(mistake.says)
    if not says_by_answer:
        raise ValueError(f"{task_id}: no known mistake gives another answer to {text!r}")
    wrong = tuple((list(answer), tuple(says)) for answer, says in says_by_answer.items())
    return Question(task_id, text, want, expected, wrong, dict(show or {}))


def near(first: Answer, second: Answer, tolerance: float) -> bool:
    """Whether two answers count as the same."""
    return len(first) == len(second) and all(abs(a - b) <= tolerance for a, b in zip(first, second, strict=True))


def _alike(question_type: Kind) -> float:
    """How near an answer has to be to a known mistake's to be called by its name; for a guess, nearer than good."""
    return question_type.alike if isinstance(question_type, Guess) else question_type.tolerance


def marked_up(text: str) -> str:
    """A sentence as HTML: ``$formula$``, ``**stress**`` and ```code```."""
    parts = re.split(r"(\$[^$]+\$|`[^`]+`|\*\*[^*]+\*\*)", text)
    return "".join(_part(part) for part in parts)


def _part(part: str) -> str:
    if part.startswith("$"):
        return f'<span class="math notranslate nohighlight">\\({escape(part[1:-1])}\\)</span>'
    if part.startswith("`"):
        return f"<code>{escape(part[1:-1])}</code>"
    if part.startswith("**"):
        return f"<strong>{escape(part[2:-2])}</strong>"
    return escape(part)


def _field(label: str, mode: str, example: str = "") -> str:
    hint = f' placeholder="{example}"' if example else ""
    return f'<input type="text" inputmode="{mode}" aria-label="{label}" size="7"{hint}>'


def _table(name: str, value: Any) -> str:
    rows = np.atleast_2d(np.asarray(value))
    body = "".join("<tr>" + "".join(f"<td>{_written(entry)}</td>" for entry in row) + "</tr>" for row in rows)
    return f'<div><p>{marked_up(name)}</p><table class="slq-matrix"><tbody>{body}</tbody></table></div>'


def _written(value: Any) -> str:
    if np.asarray(value).dtype.kind == "b":
        return "1" if value else "0"
    return f"{float(value):.4g}".replace("-", "\u2212")


def _map(question_type: Cell) -> str:
    values = np.asarray(question_type.map, dtype=float)
    low, span = values.min(), float(np.ptp(values)) or 1.0
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in question_type.columns)
    lines = []
    for i, name in enumerate(question_type.rows):
        cells = "".join(
            f'<td><button type="button" data-cell="{i},{j}" style="--slq-share:{(value - low) / span:.2f}" '
            f'aria-label="row {escape(name)}, column {escape(question_type.columns[j])}: {_written(value)}">'
            f"{_written(value)}</button></td>"
            for j, value in enumerate(values[i])
        )
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return f'<table class="slq-map"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
