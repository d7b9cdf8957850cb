"""Tasks on what each kind of model is given and what it is to predict."""

from typing import Any

import numpy as np

from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _labels_cases(rng: Rng) -> list[Case]:
    def case(label: str, lengths: tuple[int, ...], start: int, end: int, pad: int) -> Case:
        free = [n for n in range(30) if n not in (start, end, pad)]
        return Case(
            label, ([[int(i) for i in rng.choice(free, size=n)] for n in lengths], start, end, pad), frame="plain"
        )

    return [
        Case("the French sentence", ([[10, 11, 12, 13, 14]], 2, 3, 0), frame="plain"),
        case("three sentences of different lengths", (4, 2, 3), 2, 3, 0),
        case("as many sentences as positions", (2, 1, 2), 1, 2, 0),
        case("the pad is not 0", (3, 5), 0, 1, 7),
        case("an empty sentence among them", (0, 2), 2, 3, 0),
        case("sentences of one length", (3, 3), 5, 6, 4),
    ]


def _labels(sentences: list[list[int]], start_id: int, end_id: int, pad_id: int) -> Any:
    longest = 1 + max(map(len, sentences))

    def filled(row: list[int]) -> list[int]:
        return row + [pad_id] * (longest - len(row))

    return (
        np.array([filled([start_id, *row]) for row in sentences]),
        np.array([filled([*row, end_id]) for row in sentences]),
    )


ROWS = "rows = [[start_id, *sentence, end_id] for sentence in sentences]"
LABELS_LINE = "labels[row, : len(ids) - 1] = torch.tensor(ids[1:])"

LABELS = Task(
    id="08.labels",
    name="inputs_and_labels",
    title="Inputs and labels",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="decoder-french",
    returns=("inputs", "labels"),
    cases=_labels_cases,
    oracle=_labels,
    frame="plain",
    mistakes=(
        known(
            "no-end",
            (ROWS, ROWS.replace(", end_id]", "]")),
            says="The end token is missing, as on the slide: nobody tells the model when to stop. It is the label of "
            "each sentence's last word.",
            number=61,
        ),
        known(
            "no-start",
            (ROWS, ROWS.replace("start_id, ", "")),
            says="The start token is missing: the first word has nothing to be predicted from, so it is never learned.",
        ),
        known(
            "end-fed-too",
            ("longest = max(map(len, rows)) - 1", "longest = max(map(len, rows))"),
            ("inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])", "inputs[row, : len(ids)] = torch.tensor(ids)"),
            says="The end token is fed in as well: behind it there is nothing to predict. The last input is the last "
            "word.",
        ),
        known(
            "end-still-given",
            (
                "inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])",
                "inputs[row, : len(ids)] = torch.tensor(ids)[:longest]",
            ),
            says="The end token is still among the inputs of the shorter sentences: the table was cut and not the "
            "sentences. No loss is taken there, but the last id of EACH sentence is to go.",
        ),
        known(
            "end-in-the-last-column",
            (
                LABELS_LINE,
                f"{LABELS_LINE[:-1]}[:-1] + [pad_id] * (longest + 1 - len(ids)) + [end_id])".replace(
                    ": len(ids) - 1", ":"
                ),
            ),
            says="All end tokens stand in the last column: each comes right behind its own sentence.",
        ),
        known(
            "labels-filled-with-minus-100",
            ("labels = torch.full((len(rows), longest), pad_id)", "labels = torch.full((len(rows), longest), -100)"),
            says="The labels are filled up with -100: here it is `pad_id` in both tables, and the loss is told to "
            "leave it out.",
        ),
        known(
            "labels-filled-with-the-end",
            ("labels = torch.full((len(rows), longest), pad_id)", "labels = torch.full((len(rows), longest), end_id)"),
            says="The labels are filled up with end tokens: a sentence ends once, and behind it stands `pad_id`.",
        ),
        known(
            "not-shifted",
            (LABELS_LINE, LABELS_LINE.replace("ids[1:]", "ids[:-1]")),
            says="The labels are the inputs: the model has only to copy. The label of a position is the NEXT id.",
            number=61,
        ),
        known(
            "shifted-twice",
            (LABELS_LINE, "labels[row, : len(ids) - 2] = torch.tensor(ids[2:], dtype=torch.long)"),
            says="The labels are shifted twice: each position is to predict the word after the next.",
            number=61,
        ),
        known(
            "exchanged",
            ("return inputs, labels", "return labels, inputs"),
            says="Inputs and labels have changed places: the inputs come first.",
        ),
        known(
            "filled-in-front",
            ("[row, : len(ids) - 1]", "[row, longest + 1 - len(ids) :]"),
            says="The rows are filled up in front: here the padding comes behind.",
        ),
        known("pad-is-zero", ("longest), pad_id)", "longest), 0)"), says="It is filled up with 0: use `pad_id`."),
    ),
)


def _hide_cases(rng: Rng, ignore: int) -> list[Case]:
    def case(label: str, b: int, t: int, share: float, mask_id: int) -> Case:
        ids = rng.integers(10, 99, size=(b, t))
        special = np.zeros((b, t), dtype=bool)
        special[:, 0] = special[:, -1] = True
        u = rng.random((b, t))
        # One of each kind for certain: masked, exchanged, kept, left alone, and a special place that would be chosen.
        u[0, 1:5] = share * np.array([0.4, 0.85, 0.95, 1.3])
        u[:, 0] = share * 0.3
        other = rng.integers(10, 99, size=(b, t))
        return Case(label, (ids, special, u, other, mask_id, share))

    first = case("two sequences of eight, a share of 0.25", 2, 8, 0.25, 4)
    first.args[2][1, 2] = 0.25
    nearly_all = case("nearly all", 2, 7, 0.96, 5)
    nearly_all.args[2][1, 1:4] = 0.78, 0.88, 0.91
    return [
        first,
        case("the paper's share, 0.15", 3, 12, 0.15, 1),
        case("as many rows as tokens, half of them", 6, 6, 0.5, 3),
        case("hardly any", 1, 9, 0.05, 7),
        nearly_all,
    ]


def _hide(ids: Any, special: Any, u: Any, other: Any, mask_id: int, share: float, ignore: int) -> Any:
    import torch

    kind = torch.bucketize(u / share, torch.tensor([0.8, 0.9, 1.0], dtype=u.dtype), right=True)
    kind = torch.where(special, 3, kind)
    inputs = torch.stack([torch.full_like(ids, mask_id), other, ids, ids]).gather(0, kind[None])[0]
    return inputs, torch.where(kind < 3, ids, torch.full_like(ids, ignore))


LABELLED = "labels = torch.where(chosen, ids, ignore)"

MASKED_TOKENS = Task(
    id="08.masked-tokens",
    name="hide_tokens",
    title="Masked tokens",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="decoder-families",
    returns=("inputs", "labels"),
    cases=_hide_cases,
    oracle=_hide,
    variants=({"ignore": -100}, {"ignore": -1}),
    mistakes=(
        known(
            "special-masked",
            (" & ~special", ""),
            says="Special tokens are chosen too: they stand at fixed places, so there is nothing to guess.",
        ),
        known(
            "share-inverted",
            ("(u < share)", "(u > share)"),
            says="A token is chosen where its number is above the share, so most are: it is to be below.",
        ),
        known(
            "boundary-chosen",
            ("(u < share)", "(u <= share)"),
            says="A token whose number equals the share is chosen too: it is to be below.",
        ),
        known(
            "mask-and-other-exchanged",
            (
                "torch.where(masked, mask_id, torch.where(exchanged, other, ids))",
                "torch.where(masked, other, torch.where(exchanged, mask_id, ids))",
            ),
            says="The mask and the other token have changed places: below 0.8 of the share comes the mask.",
        ),
        known(
            "kept-without-label",
            ("torch.where(chosen, ids", "torch.where(masked | exchanged, ids"),
            says="Tokens that were chosen and stay as they are have no label: they are predicted all the same.",
        ),
        known(
            "special-predicted",
            ("torch.where(chosen, ids", "torch.where(u < share, ids"),
            says="Special tokens have labels: they are never chosen, so there is nothing to predict.",
        ),
        known(
            "labels-of-the-others",
            (LABELLED, "labels = torch.where(chosen, ignore, ids)"),
            says="The labels are the wrong way round: the CHOSEN tokens have one, and no other.",
        ),
        known(
            "all-masked",
            ("u < 0.8 * share", "u < 2.0 * share"),
            says="Every chosen token becomes the mask: a fifth of them does not, or the model would never learn to "
            "say anything about real tokens, and those are all it sees when it is used.",
        ),
        known(
            "none-kept",
            ("u < 0.9 * share", "u < 2.0 * share"),
            says="No chosen token is kept: between 0.9 and 1 of the share it stays as it is, and is predicted all the "
            "same.",
        ),
        known(
            "none-exchanged",
            ("u < 0.9 * share", "u < 0.8 * share"),
            says="No chosen token is exchanged for another: between 0.8 and 0.9 of the share it is.",
        ),
        known(
            "share-forgotten",
            ("u < 0.8 * share", "u < 0.8"),
            ("u < 0.9 * share", "u < 0.9"),
            says="The 80 and 90 per cent are those of the CHOSEN tokens: compare u with 0.8 and 0.9 of the share.",
        ),
        known(
            "all-predicted",
            (LABELLED, "labels = ids.clone()"),
            says="Every token has a label: only the chosen ones are predicted. The others can be read off the input.",
        ),
        known(
            "kept-not-predicted",
            ("torch.where(chosen, ids", "torch.where(masked, ids"),
            says="Only masks have labels: exchanged and kept tokens are chosen too, and the model must not know which.",
        ),
        known(
            "labels-of-inputs",
            ("torch.where(chosen, ids", "torch.where(chosen, inputs"),
            says="The labels are taken from the changed inputs: what has stood there BEFORE is to be found.",
        ),
        known(
            "next-token",
            ("torch.where(chosen, ids", "torch.where(chosen, ids.roll(-1, dims=1)"),
            says="The labels are the next tokens: an encoder looks both ways and would read them off. It predicts the "
            "hidden token itself, at its own place.",
            number=61,
        ),
    ),
)
