"""Which variant of each task a course asks for, drawn from the course's own secret seed."""

import hashlib
import hmac
from collections.abc import Mapping

from softlookup_judge.checking.catalogue import STANDARD, Catalogue


def draw_variants(seed: str | None, student: str = "", catalogue: Catalogue = STANDARD) -> dict[str, int]:
    """Choose a variant, by number, for every task that has more than one.

    ``seed`` is the course's secret; None is the public course: variant 0 everywhere. ``student`` is whose variants;
    empty for those of the whole course. The same seed gives the same choice; without the seed it cannot be foretold. A
    course with a secret never gets variant 0, whose solution is published.
    """
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
