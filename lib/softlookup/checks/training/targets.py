"""Tasks on what a decoder is given, what it has to say, and how surprised it was."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import OWN_LOSSES, PAGE

PADDED = (
    "Padding counts: whoever says nothing is asked all the same, and what is learned is to write padding. Leave these "
    "places out of the sum and of the count."
)
ZERO = "The id 0 is taken for padding: use `pad_id`. With another one, real words are lost and padding counts."
BY_SENTENCES = (
    "It is a mean of means: a token of a short sentence weighs more than one of a long one. Add up all tokens, and "
    "divide once by their number."
)
SOFTMAX_TWICE = (
    "A softmax comes before the log-softmax, which has one of its own: the probabilities are nearly equal, and the "
    "loss can hardly fall. It wants logits."
)


def sentences(rng: Rng, lengths: tuple[int, ...], n_words: int, pad_id: int) -> np.ndarray:
    """Ids of sentences, filled up behind; no real token has the id of padding."""
    free = [n for n in range(n_words) if n != pad_id]
    ids = np.full((len(lengths), max(lengths)), pad_id)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = rng.choice(free, size=length)
    return ids


def _shift_cases(rng: Rng, ignore: int) -> list[Case]:
    def case(label: str, lengths: tuple[int, ...], pad_id: int) -> Case:
        ids = sentences(rng, lengths, 40, pad_id)
        ids[0, 1] = 0 if pad_id else 7  # a real token may have the id 0
        return Case(label, (ids, pad_id))

    return [
        case("three sentences, padded with 0", (6, 4, 3), 0),
        case("padded with 9; a word has the id 0", (3, 7), 9),
        case("as many sentences as tokens", (4, 2, 4, 3), 5),
        case("nothing is padded", (5, 5), 1),
        case("two tokens alone", (2,), 0),
    ]


def _shift(ids: Any, pad_id: int, ignore: int) -> Any:
    pairs = ids.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1].masked_fill(pairs[..., 1] == pad_id, ignore)


CUT = "inputs, labels = ids[:, :-1], ids[:, 1:]"

SHIFT = Task(
    id="09.shift",
    name="inputs_and_labels",
    title="Shifted by one",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="training-forcing",
    returns=("inputs", "labels"),
    cases=_shift_cases,
    oracle=_shift,
    variants=({"ignore": -100}, {"ignore": -1}),
    mistakes=(
        known(
            "not-shifted",
            ("ids[:, 1:]", "ids[:, :-1]"),
            says="The labels are the inputs: the model has only to copy, and its loss falls to nothing. The label of a "
            "place is the NEXT id.",
            number=61,
        ),
        known(
            "shifted-twice",
            ("ids[:, 1:]", "torch.nn.functional.pad(ids[:, 2:], (0, 1), value=pad_id)"),
            says="The labels are shifted twice: each place is to say the token after the next.",
            number=61,
        ),
        known(
            "shifted-back",
            (CUT, "inputs, labels = ids[:, 1:], ids[:, :-1]"),
            says="The shift goes the wrong way: each place is to say the token BEFORE it, which it has seen.",
            number=61,
        ),
        known("padding-counted", ("labels == pad_id", "labels == -7"), says=PADDED, number=62),
        known(
            "mask-of-inputs",
            ("torch.where(labels == pad_id", "torch.where(inputs == pad_id"),
            says="The labels are left out where the INPUT is padding: behind the end token the label is padding "
            "already, and counts here.",
            number=62,
        ),
        known("zero-for-padding", ("labels == pad_id", "labels == 0"), says=ZERO, number=62),
        known(
            "inputs-too",
            ("return inputs, torch", "return torch.where(inputs == pad_id, ignore, inputs), torch"),
            says="The inputs are marked too: these are looked up in a table, which has no such row. Only labels are "
            "left out.",
        ),
        known(
            "along-the-batch",
            (CUT, "inputs, labels = ids[:-1], ids[1:]"),
            says="It is cut along the batch: each sentence is to say the next SENTENCE. Positions are the second axis.",
            number=33,
        ),
    ),
)


def _loss_cases(rng: Rng, epsilon: float | None = None) -> list[Case]:
    def args(lengths: tuple[int, ...], n_words: int, pad_id: int, dtype: str = "float32", scale: float = 1.0) -> Any:
        labels = sentences(rng, lengths, n_words, pad_id)
        return normal(rng, *labels.shape, n_words, dtype=dtype, scale=scale), labels, pad_id

    far = args((3, 2), 5, 0, scale=1.0)
    far = (far[0] * 3 + 400 * rng.choice([-1.0, 1.0], size=far[0].shape).astype("float32"), *far[1:])
    return [
        Case("three sentences of different lengths", args((5, 2, 3), 7, 0)),
        Case("padded with the last id", args((2, 6), 9, 8)),
        Case("B = T = V", args((4, 1, 3, 2), 4, 2)),
        Case("nothing is padded, float64", args((3, 3), 6, 1, "float64")),
        Case("logits far apart", far, part="large", tolerance=1e-3),
        Case(
            "the gradient of the logits",
            args((4, 2), 5, 0, "float64"),
            gradients=(0,),
            upstream=np.array(float(rng.uniform(0.5, 2))),
            part="gradient",
        ),
    ]


def _cross_entropy(logits: Any, labels: Any, pad_id: int) -> Any:
    from torch.nn import functional as F

    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


def _smoothed(logits: Any, labels: Any, pad_id: int, epsilon: float) -> Any:
    from torch.nn import functional as F

    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=epsilon)


LOG_P = "log_p = torch.log_softmax(logits, dim=-1)"
ANSWER = "return -right[labels != pad_id].mean()"
PARTS = {"core": 0.6, "large": 0.2, "gradient": 0.2}
LOG_OF_SOFTMAX = (
    "The logarithm is taken of a softmax: where logits are far apart a probability is 0 in a float, and its logarithm "
    "minus infinity. `log_softmax` takes both at once."
)

CROSS_ENTROPY = Task(
    id="09.cross-entropy",
    name="cross_entropy",
    title="Cross-entropy without padding",
    points=4,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="training-loss",
    returns=("loss",),
    cases=_loss_cases,
    oracle=_cross_entropy,
    parts=PARTS,
    forbids=OWN_LOSSES,
    mistakes=(
        known("padding-counted", (ANSWER, "return -right.mean()"), says=PADDED, number=62),
        known(
            "padding-in-the-count",
            (ANSWER, "return -right[labels != pad_id].sum() / right.numel()"),
            says="Padding is left out of the sum, but not of the count: the more is padded, the smaller the loss.",
            number=62,
        ),
        known(
            "mean-of-means",
            (ANSWER, "real = labels != pad_id\n    return -((right * real).sum(1) / real.sum(1)).mean()"),
            says=BY_SENTENCES,
            number=63,
        ),
        known(
            "softmax-first", ("log_softmax(logits,", "log_softmax(logits.softmax(-1),"), says=SOFTMAX_TWICE, number=64
        ),
        known("log-of-softmax", (LOG_P, "log_p = torch.softmax(logits, dim=-1).log()"), says=LOG_OF_SOFTMAX),
        known(
            "summed",
            (ANSWER, ANSWER.replace("mean", "sum")),
            says="It is a sum: it grows with the batch. Divide by the number of tokens that count.",
        ),
        known("zero-for-padding", (ANSWER, ANSWER.replace("!= pad_id", "!= 0")), says=ZERO, number=62),
        known(
            "mask-inverted",
            (ANSWER, ANSWER.replace("!=", "==")),
            says="Padding alone is asked, and real words are left out: it is the wrong way round.",
            number=62,
        ),
        known(
            "by-sentences",
            (ANSWER, "return -right[labels != pad_id].sum() / len(labels)"),
            says="The sum is divided by the number of sentences: divide by the number of tokens that count.",
            number=63,
        ),
        known(
            "no-softmax",
            (LOG_P, "log_p = logits"),
            says="The logits themselves are taken for logarithms of probabilities: `log_softmax` makes them that.",
        ),
        known(
            "over-positions",
            (LOG_P, LOG_P.replace("dim=-1", "dim=1")),
            says="The softmax runs along the positions: at each position the WORDS share one, along the last axis.",
            number=33,
        ),
        known(
            "bits",
            (ANSWER, "return -right[labels != pad_id].mean() / math.log(2)"),
            says="This is in bits: here losses are in nats, with the natural logarithm.",
        ),
        known(
            "sign-forgotten",
            (ANSWER, ANSWER.replace("-right", "right")),
            says="The minus is missing: to make this small is to make the right words unlikely.",
        ),
        known(
            "no-logarithm",
            (LOG_P, "log_p = torch.softmax(logits, dim=-1)"),
            says="There is no logarithm: this is the mean probability of the right words, with a minus.",
        ),
        gradient_cut((LOG_P, LOG_P.replace("(logits,", "(logits.detach(),"))),
    ),
)

MIXED = "loss = -(1 - epsilon) * right - epsilon * every"
EVERY = "every = log_p.mean(dim=-1)"

SMOOTHED_LOSS = Task(
    id="09.smoothed-loss",
    name="smoothed_loss",
    title="Label smoothing",
    points=4,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="training-smoothing",
    returns=("loss",),
    cases=_loss_cases,
    oracle=_smoothed,
    parts=PARTS,
    forbids=OWN_LOSSES,
    variants=({"epsilon": 0.1}, {"epsilon": 0.2}),
    mistakes=(
        known(
            "others-alone",
            (EVERY, "every = (log_p.sum(dim=-1) - right) / (log_p.shape[-1] - 1)"),
            says="The share is spread over the V - 1 wrong words: here all V get their part of it, the right one too.",
            number=65,
        ),
        known(
            "padding-class-too",
            (EVERY, "every = (log_p.sum(dim=-1) - right - log_p[..., pad_id]) / (log_p.shape[-1] - 2)"),
            says="The share is spread over V - 2 words, the right one and padding left out: here all V get their part "
            "of it.",
            number=65,
        ),
        known(
            "not-shared-out",
            (EVERY, EVERY.replace("mean", "sum")),
            says="Each word gets the whole share: it is epsilon / V for each.",
            number=65,
        ),
        known(
            "right-without-share",
            (EVERY, "every = (log_p.sum(dim=-1) - right) / log_p.shape[-1]"),
            says="The right word gets 1 - epsilon alone, and the shares do not add up to 1: its own epsilon / V comes "
            "on top.",
            number=65,
        ),
        known(
            "nothing-spread",
            (MIXED, "loss = -(1 - epsilon) * right"),
            says="The share is taken from the right word, but not given to anybody: spread it over all V words.",
        ),
        known(
            "zero-for-padding",
            ("loss[labels != pad_id]", "loss[labels != 0]"),
            says=ZERO,
            number=62,
        ),
        known(
            "nothing-taken",
            (MIXED, MIXED.replace("-(1 - epsilon) * right", "-right")),
            says="The right word keeps all it had: what is spread out is taken from it, 1 - epsilon is left.",
        ),
        known(
            "shares-exchanged",
            (MIXED, "loss = -epsilon * right - (1 - epsilon) * every"),
            says="The shares have changed places: the right word gets 1 - epsilon, all words together epsilon.",
        ),
        known(
            "not-smoothed",
            (MIXED, "loss = -right"),
            says="This is the plain cross-entropy: nothing is spread out.",
        ),
        known("padding-counted", ("loss[labels != pad_id].mean()", "loss.mean()"), says=PADDED, number=62),
        known(
            "mean-of-means",
            (
                "return loss[labels != pad_id].mean()",
                "real = labels != pad_id\n    return ((loss * real).sum(1) / real.sum(1)).mean()",
            ),
            says=BY_SENTENCES,
            number=63,
        ),
        known(
            "softmax-first", ("log_softmax(logits,", "log_softmax(logits.softmax(-1),"), says=SOFTMAX_TWICE, number=64
        ),
        known("log-of-softmax", (LOG_P, "log_p = torch.softmax(logits, dim=-1).log()"), says=LOG_OF_SOFTMAX),
        gradient_cut((LOG_P, LOG_P.replace("(logits,", "(logits.detach(),"))),
    ),
)
