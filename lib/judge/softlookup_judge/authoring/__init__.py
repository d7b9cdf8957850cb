"""From the hand-written solutions to the exercises, by nbgrader's own preprocessors, the same bytes each time."""

from softlookup_judge.authoring.build import (
    assignments,
    build_exercises,
    find_root,
    make_release,
    notebook_text,
    read_solution,
    solution_cells,
    with_own,
)
from softlookup_judge.authoring.variants import draw_variants

__all__ = [
    "assignments",
    "build_exercises",
    "draw_variants",
    "find_root",
    "make_release",
    "notebook_text",
    "read_solution",
    "solution_cells",
    "with_own",
]
