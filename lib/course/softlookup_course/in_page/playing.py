"""A reader's parallel program, for the figure that plays it in the page."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from softlookup.ranks.records import WorldError
from softlookup_course.widgets.rank_recording import LINKS, readers_program
from softlookup_inside.asking.case import CORE, Case
from softlookup_inside.ranks.packing import pack_inbox
from softlookup_inside.ranks.recording import RankError
from softlookup_judge.judging.ranks import rank_question

_MOST_RANKS = 8
"""Ranks of the question that is played: the largest world that is drawn well."""


def figure_of(function: Callable[..., Any], cases: Sequence[Case]) -> dict[str, Any]:
    """What the figure shows of a program for one rank, on the inputs of one question of the task's check."""
    case = max((each for each in cases if is_playable(each)), key=lambda each: each.world)
    inputs = [rank_question(case, rank, pack_inbox({})).args for rank in range(case.world)]
    try:
        program = readers_program(function, inputs, LINKS, case.offers)
    except (WorldError, RankError, ValueError) as error:
        return {"says": f"There is nothing to play on the question “{case.label}”: {error}."}
    except Exception as error:  # an answer may raise anything
        return {"says": f"On the question “{case.label}” your program raises {type(error).__name__}: {error}."}
    texts = {name: _text(f"shared{suffix}") + _text(f"rank_player{suffix}") for name, suffix in _TEXTS.items()}
    return {"state": {"programs": [program], "links": [*LINKS], **texts}, "says": f"On the question “{case.label}”:"}


def is_playable(case: Case) -> bool:
    """Whether a question is one to ranks that send each other messages."""
    return case.part == CORE and 1 < case.world <= _MOST_RANKS


_TEXTS = {"_esm": ".js", "_css": ".css"}


def _text(name: str) -> str:
    """A script or stylesheet of the figures; in a page the library is an archive."""
    spec = find_spec("softlookup_course.widgets")
    path = Path(spec.origin).with_name(name)  # type: ignore[union-attr, arg-type]
    return spec.loader.get_data(str(path)).decode()  # type: ignore[union-attr]
