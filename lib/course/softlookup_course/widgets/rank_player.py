"""A parallel program, played: messages between ranks step by step, whose numbers have reached whom, bytes and time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import traitlets

from softlookup.ranks import LinkSpeed
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table
from softlookup_course.widgets.played_programs import PROGRAMS, WORLDS, PlayedProgram
from softlookup_course.widgets.rank_recording import LINKS, played, readers_program, timed
from softlookup_inside.ranks.names import EVERYTHING

SIZES = (4_000, 256_000, 16_000_000, 1_000_000_000)
"""Bytes of the array that programs of the figure's own are played with."""


def describe(
    program: PlayedProgram,
    links: Mapping[str, LinkSpeed] = LINKS,
    sizes: Sequence[int] = SIZES,
    worlds: Sequence[int] = WORLDS,
) -> list[dict[str, Any]]:
    """Run a program with each number of ranks, and film it; ``times`` are seconds after each step, by size and link."""
    films = []
    for world in worlds:
        traffic, unit, film = played(program, world)
        films.append(film | timed(traffic, links, sizes, unit))
    return films


def static_table(programs: Sequence[Mapping[str, Any]]) -> str:
    """Write what each program sends as HTML, for readers whose browser runs no script."""
    head = ("program", "ranks", "steps", "messages", "busiest link, in arrays", "most that a rank sends, in arrays")
    rows = (
        (
            *(program["title"], film["world"], film["steps"], len(film["messages"])),
            *(f"{film[name] / film['unit']:.2f}" for name in ("busiest", "most")),
        )
        for program in programs
        for film in program["films"]
    )
    sentence = (
        "<p>What parallel programs send, by the number of ranks, in sizes of the array that they are called with. With "
        "scripts switched on, you can play each of them step by step.</p>"
    )
    return sentence + plain_table(head, rows)


class RankPlayer(InteractiveFigure):
    """Play a parallel program: messages cross the links between ranks, and bytes and time are counted."""

    programs = traitlets.List(traitlets.Dict(), help="name, title, array and films of each").tag(sync=True)
    links = traitlets.List(traitlets.Unicode(), help="names of the links").tag(sync=True)

    def __init__(
        self,
        programs: Sequence[str] | Sequence[Mapping[str, Any]] = tuple(PROGRAMS),
        links: Mapping[str, LinkSpeed] = LINKS,
    ) -> None:
        program_facts = [_described(each, links) if isinstance(each, str) else dict(each) for each in programs]
        super().__init__(programs=program_facts, links=list(links), fallback=static_table(program_facts))

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        inputs: Sequence[Sequence[Any]],
        links: Mapping[str, LinkSpeed] = LINKS,
        offers: Sequence[str] = EVERYTHING,
    ) -> "RankPlayer":
        """Play a program of the reader's, on copies of its inputs.

        ``function`` is what one rank does: it takes the rank's inputs, of which ``inputs`` has those of each, then
        ``dist``, which has the names in ``offers``. WorldError if the ranks cannot go on, or their messages do not
        meet; RankError if a rank does what no program may do; ValueError if there are too many ranks, or no messages.
        """
        return cls([readers_program(function, inputs, links, offers)], links)


def _described(name: str, links: Mapping[str, LinkSpeed]) -> dict[str, Any]:
    program = PROGRAMS[name]
    facts = {"name": name, "title": program.title, "array": program.array}
    return facts | {"films": describe(program, links)}
