"""A parallel program as a film: which messages cross the links at each step, and whose numbers they bring.

To see whose numbers a message brings, a program runs twice more on numbers that tell: in one run each number says which
rank it comes from, in the other at which place of the array it stands. A sum then says what it is the sum of.

Letters of its own: P ranks of a world.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from softlookup.ranks import LinkSpeed, LinkTraffic, WorldOutcome, run_here
from softlookup.ranks.records import RankProgram
from softlookup_course.widgets.played_programs import PlayedProgram

LINKS = {
    "fast link: 2 µs, 400 GB/s": LinkSpeed(2e-6, 400e9),
    "network: 5 µs, 50 GB/s": LinkSpeed(5e-6, 50e9),
    "slow network: 50 µs, 1 GB/s": LinkSpeed(50e-6, 1e9),
}
"""Links of round numbers, to compare."""
MOST_PLAYED_WORLD = 16
"""Ranks that fit into the figure."""
MOST_BLOCKS = 8
"""Blocks that an array is drawn in."""
MOST_MESSAGES = 2000
"""Messages of a program that is played."""
_DIGIT = 4
"""A rank's number is 4 to its power: a sum that has it up to three times says so, and no other rank's."""
_MOST_SEEN = 8
"""Ranks whose numbers can be told apart in float32."""

Coded = tuple[np.ndarray, np.ndarray]
"""Numbers that say which ranks they come from, and numbers that say at which places of the array they stand."""


def coded(begins: str, world: int, rank: int) -> Coded:
    """Make what a rank begins with (see ``PlayedProgram``), in numbers that tell origins and positions."""
    if begins == "block":
        return np.ones(2), np.full(2, rank + 1.0)
    positions = np.arange(1.0, world + 1)
    if begins == "root":
        return np.full(world, float(rank == 0)), positions * (rank == 0)
    return np.full(world, float(_DIGIT**rank)), positions


def decoded(origins: np.ndarray, positions: np.ndarray, size: int, ranks: int) -> dict[int, int] | None:
    """Find whose numbers an array holds: the ranks as bits by position, or None where it cannot be told."""
    sets: dict[int, int] = {}
    for origin, position in zip(np.ravel(origins).tolist(), np.ravel(positions).tolist(), strict=True):
        if not (0 <= origin < _DIGIT**ranks and origin == int(origin)):
            return None
        digits = [int(origin) // _DIGIT**rank % _DIGIT for rank in range(ranks)]
        count = sum(digits)
        if not count:
            if position:
                return None
            continue
        at = position / count - 1
        if at != int(at) or not 0 <= at < size:
            return None
        sets[int(at)] = sets.get(int(at), 0) | sum(1 << rank for rank, digit in enumerate(digits) if digit)
    return sets


def film(traffic: LinkTraffic) -> dict[str, Any]:
    """Write what a figure shows of a program's traffic; a message is "step from to bytes"."""
    if not 0 < len(traffic.messages) <= MOST_MESSAGES:
        raise ValueError(
            f"a program of 1 to {MOST_MESSAGES:,} messages can be played, and this one sends {len(traffic.messages):,}"
        )
    return {
        "world": traffic.world,
        "steps": traffic.steps,
        "busiest": traffic.busiest_link_bytes,
        "most": max(traffic.sent_bytes),
        "messages": [f"{each.step} {each.src} {each.dst} {each.n_bytes}" for each in traffic.messages],
    }


def times(traffic: LinkTraffic, links: Mapping[str, LinkSpeed], scale: float = 1.0) -> dict[str, list[float]]:
    """Compute when the messages of each step, and of all before it, have ended: seconds by link."""
    seconds = {}
    for name, link in links.items():
        ends = LinkSpeed(link.latency_s, link.bytes_per_s / scale).ends_s(traffic)
        steps = [
            max(end for end, message in zip(ends, traffic.messages, strict=True) if message.step <= step)
            for step in range(1, traffic.steps + 1)
        ]
        seconds[name] = [float(f"{time:.5g}") for time in steps]
    return seconds


def timed(
    traffic: LinkTraffic, links: Mapping[str, LinkSpeed], sizes: Sequence[int], unit: int
) -> dict[str, Any]:  # fmt: skip
    """The times of a program whose array, of ``unit`` bytes when it was played, stands for some sizes in bytes."""
    return {"unit": unit, "sizes": list(sizes), "times": [times(traffic, links, size / unit) for size in sizes]}


def readers_program(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], links: Mapping[str, LinkSpeed], offers: Sequence[str]
) -> dict[str, Any]:
    """Run a reader's program, and give what ``RankPlayer`` shows of it; arguments are as for ``RankPlayer.of``."""
    if len(inputs) > MOST_PLAYED_WORLD:
        raise ValueError(f"the figure has room for {MOST_PLAYED_WORLD} ranks, got the inputs of {len(inputs)}")
    recording = with_contents(function, inputs, offers)
    arrays = [arg for args in inputs for arg in args if isinstance(arg, np.ndarray)]
    size = max((array.nbytes for array in arrays), default=0) or recording["film"]["busiest"] or 1
    name = function.__name__
    film = recording["film"] | timed(recording["traffic"], links, [size], size)
    words = {"title": f"program {name}", "array": "the largest input of a rank"}
    return {"name": name, **words, "films": [film]}


def played(program: PlayedProgram, world: int) -> tuple[LinkTraffic, int, dict[str, Any]]:
    """Run one of the figure's own programs: its traffic, the bytes of its array, and its film.

    The film has ``rows`` (ranks told apart), ``start`` (by rank and block the ranks, as bits, whose numbers it begins
    with) and ``arrivals`` (for each step the sets that grow: "rank block set", parted by semicolons).
    """
    codes = [coded(program.begins, world, rank) for rank in range(world)]
    runs = [
        run_here(program.function, [program.arguments(code[which].astype(np.float32)) for code in codes])
        for which in (0, 1)
    ]
    known = _contents(runs[0], runs[1], codes, world, world if program.begins == "all" else 1)
    assert known is not None, f"what {program.title} sends cannot be told"
    return runs[0].traffic, codes[0][0].size * 4, film(runs[0].traffic) | known


def with_contents(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], offers: Sequence[str]
) -> dict[str, Any]:
    """Run a reader's program, and see whose numbers its messages bring, where it can be seen.

    It can where each rank has one array of floats, all of one shape, and at most 8 ranks; ``rows`` is 0 where nothing
    is known.
    """
    traffic = run_here(function, inputs, offers).traffic
    known = _seen_contents(function, inputs, offers, traffic)
    return {"traffic": traffic, "film": film(traffic) | (known or {"rows": 0, "start": [], "arrivals": []})}


def _seen_contents(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], offers: Sequence[str], traffic: LinkTraffic
) -> dict[str, Any] | None:
    argument_indices = [[at for at, arg in enumerate(args) if isinstance(arg, np.ndarray)] for args in inputs]
    arrays = [args[at[0]] for args, at in zip(inputs, argument_indices, strict=True) if len(at) == 1]
    is_alike = len(arrays) == len(inputs) <= _MOST_SEEN and len({(each.shape, each.dtype) for each in arrays}) == 1
    if not is_alike or arrays[0].dtype.kind != "f" or not arrays[0].size:
        return None
    shape, dtype = arrays[0].shape, arrays[0].dtype
    positions = np.arange(1.0, arrays[0].size + 1)
    codes = [(np.full(positions.size, float(_DIGIT**rank)), positions) for rank in range(len(inputs))]
    try:
        runs = []
        for which in (0, 1):
            others = [
                [code[which].reshape(shape).astype(dtype) if at in coded_at else arg for at, arg in enumerate(args)]
                for code, args, coded_at in zip(codes, inputs, argument_indices, strict=True)
            ]
            runs.append(run_here(function, others, offers))
    except Exception:  # it may do anything with numbers that it was not meant for
        return None
    if any(each.traffic.messages != traffic.messages for each in runs):
        return None
    return _contents(runs[0], runs[1], codes, positions.size, len(inputs))


def _contents(
    origins: WorldOutcome, positions: WorldOutcome, codes: Sequence[Coded], size: int, rows: int
) -> dict[str, Any] | None:
    """Whose numbers have reached each rank, step by step; None where it cannot be told."""
    pairs = [*codes, *zip(_sent_arrays(origins), _sent_arrays(positions), strict=True)]
    sets = [decoded(a, b, size, rows) for a, b in pairs]
    if any(each is None for each in sets):
        return None
    begin, brought = sets[: len(codes)], sets[len(codes) :]
    blocks = np.array_split(np.arange(size), size if size <= MOST_BLOCKS else min(size, len(codes)))
    reached = np.zeros((len(codes), size), np.int64)
    for rank, known in enumerate(begin):
        _add(reached[rank], known)
    start = before = _of_blocks(reached, blocks)
    arrivals = []
    for step in range(1, origins.traffic.steps + 1):
        for message, known in zip(origins.traffic.messages, brought, strict=True):
            if message.step == step:
                _add(reached[message.dst], known)
        after = _of_blocks(reached, blocks)
        grown = np.argwhere(after != before).tolist()
        arrivals.append(";".join(f"{rank} {block} {after[rank, block]}" for rank, block in grown))
        before = after
    return {"rows": rows, "start": start.tolist(), "arrivals": arrivals}


def _add(reached: np.ndarray, sets: Mapping[int, int] | None) -> None:
    for position, ranks in (sets or {}).items():
        reached[position] |= ranks


def _of_blocks(reached: np.ndarray, blocks: Sequence[np.ndarray]) -> np.ndarray:
    """The ranks of which a block has all numbers: (P, blocks) from (P, places)."""
    return np.stack([np.bitwise_and.reduce(reached[:, block], axis=1) for block in blocks], axis=1)


def _sent_arrays(outcome: WorldOutcome) -> list[np.ndarray]:
    """The array of each message, in the order of the traffic."""
    world = len(outcome.records)
    sends: dict[tuple[int, int], list[np.ndarray]] = defaultdict(list)
    for rank, operations in enumerate(outcome.records):
        for operation in RankProgram(rank, world).read(operations):
            if operation.sends and operation.array is not None:
                sends[rank, operation.peer].append(operation.array)
    # Messages of one link go one after the other, in its traffic too.
    following = {link: iter(arrays) for link, arrays in sends.items()}
    return [next(following[message.src, message.dst]) for message in outcome.traffic.messages]
