"""Which variant of each task a course asks for, drawn from the course's own secret seed."""

import hashlib
import hmac
from collections.abc import Mapping

from softlookup_judge.checking.catalogue import STANDARD, Catalogue


def draw_variants(seed: str | None, student: str = "", catalogue: Catalogue = STANDARD) -> dict[str, int]:
    """Choose a variant for every task from a course's secret, never 0; None is the public course, 0 everywhere."""
    chosen: dict[str, int] = {}
    for task in catalogue.tasks():
        if len(task.variants) > 1 and seed is not None:
            message = f"{student}\0{task.id}" if student else task.id
            digest = hmac.new(seed.encode(), message.encode(), hashlib.sha256).digest()
            chosen[task.id] = 1 + int.from_bytes(digest[:8], "big") % (len(task.variants) - 1)
        else:
            chosen[task.id] = 0
    return chosen


def constants(chosen: Mapping[str, int], catalogue: Catalogue) -> dict[str, dict[str, object]]:
    """The constants of the chosen variants, by task id."""
    return {task.id: dict(task.variants[chosen.get(task.id, 0)]) for task in catalogue.tasks()}
