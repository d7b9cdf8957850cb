"""Tasks whose answer is a test: it is handed sound and broken pieces of a training run, and has to tell them apart.

What is handed over is made beside the student's code (``asking.candidates``) from numbers that the case draws. The
oracle reads from these numbers whether a piece is sound.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.candidates import INSIDES
from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal

NEVER, ALWAYS, TURNED = "never-alarmed", "always-alarmed", "verdict-inverted"


def _leak_cases(rng: Rng) -> list[Case]:
    t, d, n, layers = 7, 8, 2, 2
    past = np.tri(t, dtype=bool)

    def case(label: str, masks: np.ndarray, blend: float = 0.0, repeat_bonus: float = 0.0, rows: int = 2) -> Case:
        v = int(rng.integers(7, 14))
        whole = np.broadcast_to(masks, (layers, n, t, t)).copy()
        # In float64: whoever compares with a shorter sentence meets other rounding, and is right all the same.
        table = doubles(rng, v, d, scale=0.7)
        settings = {"masks": whole, "table": table, "blend": blend, "repeat_bonus": repeat_bonus}
        return Case(label, ({"candidate": "model", **settings}, rng.integers(0, v, size=(rows, t)), v))

    def also(*pairs: tuple[int, int]) -> np.ndarray:
        """Each sees itself alone; in the last layer some see one token more."""
        masks = np.stack([np.eye(t, dtype=bool)] * layers)
        for query, key in pairs:
            masks[-1, query, key] = True
        return masks[:, None]

    def of_one_sign(label: str, blend: float) -> Case:
        """Each word's vector is the one before, made longer: a later word moves all logits in one direction."""
        base = case(label, past, blend=blend)
        model, ids, v = base.args
        table = np.outer(np.linspace(0.2, 1.2, v), np.ones(d))
        return replace(base, args=({**model, "table": table}, ids % (v - 1), v))

    def of_one_token(label: str, token: int) -> Case:
        """Whoever writes this token at every place changes nothing."""
        base = case(label, np.ones((t, t), dtype=bool))
        model, ids, v = base.args
        return replace(base, args=(model, np.full_like(ids, token % v), v))

    one_head = np.stack([np.stack([past, past]), np.stack([past, np.tri(t, k=1, dtype=bool)])])
    return [
        case("sound: the causal mask", past),
        case("one head of one layer sees one token ahead", one_head),
        case("sound: a window of three", past & ~np.tri(t, k=-3, dtype=bool)),
        case("the first token sees the second", also((0, 1))),
        case("everybody sees the last token", also(*((i, t - 1) for i in range(t)))),
        case("sound: each sees itself alone", np.eye(t, dtype=bool)),
        case("the first token sees the last", also((0, t - 1))),
        case("the third token sees the fifth", also((2, 4))),
        case("a trace of the mean over all tokens", past, blend=6.5e-5),
        # With so many rows some winner moves for certain.
        case("everybody sees everything", np.ones((t, t), dtype=bool), rows=12),
        case("a leak that changes no winner", np.ones((t, t), dtype=bool), repeat_bonus=200.0),
        case("sound: every winner is the word itself", past, repeat_bonus=200.0),
        of_one_sign("a leak that lowers every logit", -3.0),
        of_one_sign("a leak that raises every logit", 3.0),
        *(
            of_one_token(f"everybody sees everything, and every token is the {ordinal} word", token)
            for ordinal, token in (("first", 0), ("second", 1), ("last", -1))
        ),
    ]


@graded("09.find-leak", _leak_cases, forbids=INSIDES, lends=False)
def _leaks(model: dict[str, Any], ids: Any, n_words: int) -> np.ndarray:
    """From the masks: what reaches what through both layers and all heads, and whether a mean was mixed in."""
    masks = model["masks"].any(axis=1).astype(int)
    reached = np.eye(masks.shape[-1], dtype=int)
    for mask in masks:
        reached = (mask + np.eye(len(mask), dtype=int)) @ reached
    return np.asarray(bool(np.triu(reached, 1).any()) or model["blend"] != 0)


def _shift_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, shift: int, before: int = 0, behind: int = 1, *, turned: int = 0, joined: bool = False
    ) -> Case:
        settings = {"shift": shift, "before": before, "behind": behind, "turned": turned, "joined": joined}
        n_words = int(rng.integers(4, 7)) * 2
        return Case(label, ({"candidate": "loss of a model", **settings}, n_words))

    return [
        case("sound: the next token", 1),
        case("the token itself", 0),
        case("the token after the next", 2, behind=2),
        case("sound: the next token, once more", 1),
        case("the token before", -1, 1, 0),
        case("the token itself, the first one cut", 0, 1, 0),
        case("the row's first token follows its last", 1, behind=0),
        case("the next token of another sentence", 1, turned=1),
        case("the token itself, nothing cut", 0, behind=0),
        case("the next row's first token follows a row's last", 1, behind=0, joined=True),
        case("sound: another size", 1),
    ]


@graded("09.find-shift", _shift_cases, forbids=INSIDES, lends=False)
def _labels_wrong(loss_of: dict[str, Any], n_words: int) -> np.ndarray:
    is_sound = loss_of["shift"] == 1 and loss_of["behind"] >= 1 and not loss_of["turned"]
    return np.asarray(not is_sound)


def _padding_cases(rng: Rng) -> list[Case]:
    def case(label: str, above: float, below: float, summed: bool = False, fixed: int | None = None) -> Case:
        n_words = int(rng.integers(5, 12))
        known_id = None if fixed is None else fixed % n_words
        settings = {"above": above, "below": below, "summed": summed, "known": known_id}
        return Case(label, ({"candidate": "loss of logits", **settings}, n_words))

    return [
        case("sound: a mean over real tokens", 0.0, 0.0),
        case("a mean over all places", 1.0, 1.0),
        case("left out of the sum, not of the count", 0.0, 1.0),
        case("sound: a sum over real tokens", 0.0, 0.0, summed=True),
        case("left out of the count, not of the sum", 1.0, 0.0),
        case("the id 0 is always taken for padding", 0.0, 0.0, fixed=0),
        case("a sum over all places", 1.0, 1.0, summed=True),
        case("the last id is always taken for padding", 0.0, 0.0, fixed=-1),
        case("padding counts a hundredth", 0.01, 0.01),
    ]


@graded("09.find-padding", _padding_cases, forbids=INSIDES, lends=False)
def _padding(loss_of: dict[str, Any], n_words: int) -> np.ndarray:
    counted = loss_of["above"] or (loss_of["below"] and not loss_of["summed"])
    return np.asarray(bool(counted) or loss_of["known"] is not None)


def _dropping_cases(rng: Rng) -> list[Case]:
    d = 12

    def case(label: str, *drop_rates: tuple[float, float], training: bool = True) -> Case:
        weights = normal(rng, len(drop_rates), d, d, scale=d**-0.5)
        settings = {"weights": weights, "shares": list(drop_rates), "training": training}
        return Case(label, ({"candidate": "layers", **settings}, normal(rng, 100, d)))

    return [
        case("sound: drops in training alone", (0.3, 0.0), (0.1, 0.0)),
        case("drops in use as well", (0.3, 0.3), (0.1, 0.1)),
        case("sound: never drops", (0.0, 0.0), (0.0, 0.0)),
        case("one layer of three stays in training", (0.2, 0.0), (0.2, 0.0), (0.2, 0.2)),
        case("drops one number in two hundred in use", (0.1, 0.005), training=False),
        case("sound: handed over in use", (0.4, 0.0), training=False),
        case("drops in use alone", (0.0, 0.4), (0.0, 0.0)),
    ]


@graded("09.find-dropout", _dropping_cases, forbids=INSIDES, lends=False)
def _drops(model: dict[str, Any], x: Any) -> np.ndarray:
    return np.asarray(any(use > 0 for _, use in model["shares"]))
