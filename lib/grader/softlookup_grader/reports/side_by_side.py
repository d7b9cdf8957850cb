"""A page that shows answers which are alike side by side, for the person who decides. Nothing of it is executed."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from softlookup_command.plain_text import one_line, visible
from softlookup_grader.data.disk import write_whole
from softlookup_grader.reports.similarity import HINT, MAX_CHARACTERS

_NAMED = re.compile(r'<meta name="students" content="([^"]*)">')
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
.two { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; }
pre { border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 4px; font-size: 14px;
      overflow-x: auto; padding: 0.75rem; }
"""


@dataclass(frozen=True)
class Likeness:
    """Two sources of answers that are alike."""

    students: tuple[str, ...]  # the ids of the students whose answers are shown
    names: tuple[str, str]  # what stands above the left and the right column
    answers: tuple[tuple[str, str, str], ...]  # task, left text and right text of each answer


def page_of(assignment: str, likenesses: Sequence[Likeness]) -> str:
    """The page, complete in itself: no script, nothing from elsewhere."""
    students = json.dumps(sorted({student for each in likenesses for student in each.students}))
    parts = [_part(each) for each in likenesses]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="students" content="{escape(students)}">'
        f"<title>{escape(assignment)}: answers that are alike</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{escape(assignment)}: answers that are alike</h1>\n<p>{escape(HINT)}</p>\n"
        f"{''.join(parts)}</body></html>\n"
    )


def write_page(path: Path, assignment: str, likenesses: Sequence[Likeness]) -> bool:
    """Write the page, or remove an earlier one where there is nothing to show; whether there is a page now."""
    if not likenesses:
        path.unlink(missing_ok=True)
        return False
    write_whole(path, page_of(assignment, likenesses).encode("utf-8", "replace"))
    return True


def students_on(path: Path) -> list[str]:
    """Ids of the students whose answers a page shows."""
    match = _NAMED.search(path.read_text(encoding="utf-8", errors="replace"))
    return list(json.loads(unescape(match[1]))) if match else []


def pages_naming(folder: Path, student: str) -> Iterable[Path]:
    """The pages in a folder that show a student's answers."""
    return [path for path in sorted(folder.glob("*-alike.html")) if student in students_on(path)]


def _part(each: Likeness) -> str:
    left, right = (f"<bdi>{escape(one_line(name, 300))}</bdi>" for name in each.names)
    fragments = [f"<h2>{left} and {right}</h2>\n"]
    for task, first, second in each.answers:
        columns = "".join(
            f"<figure><figcaption>{name}</figcaption><pre>{escape(visible(text[:MAX_CHARACTERS]))}</pre></figure>"
            for name, text in ((left, first), (right, second))
        )
        fragments.append(f'<h3>{escape(task)}</h3>\n<div class="two">{columns}</div>\n')
    return "".join(fragments)
