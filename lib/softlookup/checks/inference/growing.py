"""Tasks on writing one token after the other: the last position's logits, and greedy writing that stops."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _next_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, v: int, lengths: list[int]) -> Case:
        return Case(label, (normal(rng, b, t, v, scale=2.0), np.array(lengths)))

    return [
        case("B = 3, T = 5, V = 7, lengths 2, 4, 3", 3, 5, 7, [2, 4, 3]),
        case("all sizes 4, lengths 3, 2, 1, 3", 4, 4, 4, [3, 2, 1, 3]),
        case("one text of full length", 1, 6, 9, [6]),
        case("texts of length 1", 2, 1, 5, [1, 1]),
        case("B = 2, T = 4, V = 12, one of them full", 2, 4, 12, [4, 2]),
    ]


def _next(logits: Any, lengths: Any) -> Any:
    import torch

    return torch.stack([row[: int(n)][-1].topk(1).indices[0] for row, n in zip(logits, lengths, strict=True)])


PLACE = "logits[torch.arange(len(logits)), lengths - 1]"

NEXT = Task(
    id="10.next",
    name="next_tokens",
    title="The next token",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="inference-growing",
    returns=("ids",),
    cases=_next_cases,
    oracle=_next,
    mistakes=(
        known(
            "first-position",
            (PLACE, "logits[:, 0]"),
            says="These are the logits of the FIRST position, which say what comes second: the next token comes out of "
            "the last one.",
            number=74,
        ),
        known(
            "last-column",
            (PLACE, "logits[:, -1]"),
            says="The last column is taken in every row: where a text is shorter, padding stands there. Row b ends at "
            "lengths[b] - 1.",
            number=74,
        ),
        known(
            "one-too-far",
            (PLACE, "logits[torch.arange(len(logits)), lengths]"),
            says="Position lengths[b] is the first one BEHIND the text: positions are counted from 0, so it ends at "
            "lengths[b] - 1.",
        ),
        known(
            "every-position",
            (PLACE, "logits"),
            says="A token comes back for every position, as in training: only what follows the last real one is asked.",
            number=74,
        ),
        known(
            "first-texts-length",
            (PLACE, "logits[torch.arange(len(logits)), lengths[0] - 1]"),
            says="Every row is read at the end of the first text: each has an end of its own.",
        ),
        known(
            "longest-for-all",
            (PLACE, "logits[torch.arange(len(logits)), lengths.max() - 1]"),
            says="Every row is read at the end of the longest text: each has an end of its own.",
            number=74,
        ),
        known(
            "every-length",
            (PLACE, "logits[:, lengths - 1]"),
            says="Every row is read at the ends of ALL texts: give rows and positions side by side, "
            "logits[torch.arange(B), lengths - 1].",
        ),
        known(
            "no-choice",
            (".argmax(dim=-1)", ""),
            says="These are the logits of the last token: the id of the likeliest token is asked for (argmax).",
        ),
        known(
            "likelihood-returned",
            (".argmax(dim=-1)", ".max(dim=-1).values"),
            says="This is the largest logit: asked for is the id of its token (argmax).",
        ),
    ),
)


def _chain(rng: Rng, v: int, path: list[int]) -> np.ndarray:
    """A table in which each token of a path is followed by the next one, if the likeliest is taken."""
    table = normal(rng, v, v)
    for one, other in zip(path, path[1:], strict=False):
        table[one, other] = table[one].max() + 1.5
    return table


def _greedy_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, path: list[int], given: int, limit: int) -> Case:
        return Case(label, (_chain(rng, v, path), np.array(path[:given]), path[-1], limit))

    def order(v: int) -> list[int]:
        return [int(i) for i in rng.permutation(v)]

    cycle = order(5)
    end = cycle[-1]
    endless = _chain(rng, 5, [*cycle[:4], cycle[0]])
    begins = order(6)
    return [
        case("the end comes after four tokens", 8, order(8)[:6], 2, 7),
        case("the end comes at once", 5, order(5)[:4], 3, 4),
        case("the limit comes first", 9, order(9)[:8], 1, 3),
        Case("a circle that never ends", (endless, np.array(cycle[:2]), end, 6)),
        case("a limit of one token", 4, order(4), 1, 1),
        Case(
            "what is given begins with the end token, as GPT-2's texts do",
            (_chain(rng, 6, [begins[0], begins[1], begins[2], begins[0]]), np.array([begins[0]]), begins[0], 5),
        ),
    ]


def _greedy(table: Any, ids: Any, end_id: int, limit: int) -> Any:
    """The same by following a row of successors, and cutting behind the first end."""
    import torch

    follows = table.topk(1, dim=1).indices[:, 0].tolist()
    walk = [follows[int(ids[-1])]]
    while len(walk) < limit:
        walk.append(follows[walk[-1]])
    cut = walk.index(end_id) + 1 if end_id in walk else limit
    return torch.tensor([*ids.tolist(), *walk[:cut]])


ENDS = "if token == end_id:\n            break"

GREEDY = Task(
    id="10.greedy",
    name="greedy",
    title="Greedy, and then stop",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="inference-greedy",
    returns=("ids",),
    cases=_greedy_cases,
    oracle=_greedy,
    mistakes=(
        known(
            "no-stop",
            (ENDS, "pass"),
            says="It writes on behind the end token: what comes there is nobody's text. Stop after it.",
            number=74,
        ),
        known(
            "first-position",
            ("table[written[-1]]", "table[written[0]]"),
            says="Every token is chosen by the FIRST one: the next token follows the newest.",
            number=74,
        ),
        known(
            "end-dropped",
            (f"written.append(token)\n        {ENDS}", f"{ENDS}\n        written.append(token)"),
            says="The end token is missing from what comes back: it was written, so it belongs to the text.",
            number=77,
        ),
        known(
            "one-too-many",
            ("range(limit)", "range(limit + 1)"),
            says="It writes one token more than the limit allows.",
            number=77,
        ),
        known(
            "one-too-few",
            ("range(limit)", "range(limit - 1)"),
            says="It writes one token less than the limit allows.",
            number=77,
        ),
        known(
            "last-given",
            ("table[written[-1]]", "table[ids[-1]]"),
            says="Every token is chosen by the last one that was GIVEN: what was written goes on from there.",
        ),
        known(
            "given-end-stops",
            ("if token == end_id:", "if end_id in written:"),
            says="It stops as soon as the end token stands anywhere, also in what is given: only one that was WRITTEN "
            "ends a text.",
        ),
        known(
            "filled-up",
            ("    return written", "    return written + [end_id] * (len(ids) + limit - len(written))"),
            says="The text is filled up to the limit behind its end: in a batch that is done, here it stops.",
        ),
        known(
            "limit-counts-prompt",
            ("range(limit)", "range(limit - len(ids))"),
            says="The tokens that were given count against the limit: it is for the new ones alone.",
            number=77,
        ),
        known(
            "ended-before-it-began",
            ("range(limit)", "range(limit if written[-1] != end_id else 0)"),
            says="It stops before it has begun where the end token is given: only one that was WRITTEN ends a text.",
        ),
        known(
            "prompt-dropped",
            ("return written", "return written[len(ids) :]"),
            says="Only the new tokens come back: those that were given stand before them.",
        ),
        known(
            "table-transposed",
            ("table[written[-1]]", "table[:, written[-1]]"),
            says="A column of the table is read: ROW i says what follows token i.",
        ),
        known("least-likely", ("argmax", "argmin"), says="It takes the least likely token: argmax, not argmin."),
    ),
)
