"""Mutants of the capstone that are right: those of the parts' own chapters, and those of what is new."""

import equal_mutants_05
import equal_mutants_08
from softlookup.checks.capstone import FROM_EARLIER

HERE = {task.id: f"90.{task.id.split('.')[1]}" for task in FROM_EARLIER}

COMMUTES = "sum and product do not depend on the order of their operands"

EQUAL: list[tuple[str, str, str]] = [
    (HERE[task_id], line, why)
    for task_id, line, why in equal_mutants_05.EQUAL + equal_mutants_08.EQUAL
    if task_id in HERE
] + [
    ("90.loss", "own = log_p.gather(-1, labels[..., None])[..., -1]", "the axis has one entry, the first and the last"),
    ("90.loss", "losses = own * -(1 - eps) - eps * log_p.mean(dim=-1)", COMMUTES),
    ("90.loss", "losses = -(1 - eps) * own - log_p.mean(dim=-1) * eps", COMMUTES),
]
