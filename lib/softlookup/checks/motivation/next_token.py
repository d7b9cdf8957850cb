"""Tasks on learning from plain text: the pairs that it holds, and one step that makes a label likelier."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import AUTOGRAD, dtype_lost, known
from softlookup.checks.motivation.page import PAGE
from softlookup.checks.task import Case, Mistake, Task


def _pairs_cases(rng: Rng, pad: int) -> list[Case]:
    def ids(n: int) -> np.ndarray:
        # All different, none of them a pad: a pair cannot be right by chance.
        return rng.permutation(np.arange(100, 160))[:n].astype(np.int64)

    repeated = np.array([104, 107, 104, 104, 131, 107], dtype=np.int64)
    return [
        Case("seven tokens", (ids(7),)),
        Case("four tokens", (ids(4),)),
        Case("a text of eleven tokens", (ids(11),)),
        Case("two tokens", (ids(2),)),
        Case("tokens that come again", (repeated,)),
        Case("the features' dtype", (ids(3),), part="dtype", keeps_dtype=True),
    ]


def _pairs(ids: Any, pad: int) -> tuple[Any, Any]:
    """A lower triangle of the tokens, and the tokens rolled round by one."""
    import torch

    seen = torch.ones(len(ids) - 1, len(ids) - 1, dtype=torch.bool).tril()
    features = torch.where(seen, ids[None, :-1], torch.tensor(pad))
    return features, torch.roll(ids, -1)[:-1]


FILL = "features[t, : t + 1] = ids[: t + 1]"

PAIRS = Task(
    id="01.pairs",
    name="next_token_pairs",
    title="Labels out of plain text",
    points=3,
    minutes=8,
    difficulty=1,
    page=PAGE,
    anchor="motivation-next-token",
    returns=("features", "labels"),
    cases=_pairs_cases,
    oracle=_pairs,
    variants=({"pad": 0}, {"pad": 9}, {"pad": 1}),
    parts={"core": 0.9, "dtype": 0.1},
    mistakes=(
        known(
            "not-shifted",
            ("labels = ids[1:]", "labels = ids[:-1]"),
            says="The label is the last token of the feature itself, so the answer stands in the question: it is the "
            "token after it.",
            number=61,
        ),
        known(
            "shifted-twice",
            ("labels = ids[1:]", "labels = ids[2:]"),
            says="The labels are shifted by two: the label is the very next token.",
            number=61,
        ),
        known(
            "label-in-features",
            ("(n - 1, n - 1)", "(n - 1, n)"),
            (FILL, "features[t, : t + 2] = ids[: t + 2]"),
            says="The feature holds its own label: row t ends with token t, and its label comes after that.",
            number=61,
        ),
        known(
            "whole-text",
            (FILL, "features[t] = ids[:-1]"),
            says="Every feature shows the whole text, with the label and what comes after it: row t shows tokens 0 to "
            "t alone.",
        ),
        known(
            "one-token",
            (FILL, "features[t, 0] = ids[t]"),
            says="A feature holds one token alone; it holds all tokens up to and with token t.",
        ),
        known(
            "padded-in-front",
            (FILL, "features[t, n - 2 - t :] = ids[: t + 1]"),
            says="The pads stand in front; here each row begins with the text, and is filled up at its end.",
        ),
        known(
            "upper-half",
            (FILL, "features[t, t:] = ids[t:-1]"),
            says="Row t shows token t and what comes after it; it shows tokens 0 to t. (`triu` keeps the upper half, "
            "`tril` the lower.)",
        ),
        known(
            "one-column-more",
            ("(n - 1, n - 1)", "(n - 1, n)"),
            says="The features have a last column that holds pads alone: the longest of them has n - 1 tokens.",
        ),
        known(
            "newest-first",
            (FILL, "features[t, : t + 1] = ids[: t + 1].flip(0)"),
            says="The tokens of a feature stand in reversed order.",
        ),
        known(
            "always-last",
            ("labels = ids[1:]", "labels = ids[-1].repeat(n - 1)"),
            says="Every label is the last token of the text: each row has a label of its own, the token after it.",
        ),
        known(
            "last-pair-missing",
            ("return features, labels", "return features[:-1], labels[:-1]"),
            says="The last pair is missing: a text of n tokens has n - 1 pairs.",
        ),
        known(
            "swapped",
            ("return features, labels", "return labels, features"),
            says="Features and labels have changed places: features first.",
        ),
        Mistake(
            "dtype-lost",
            "The features are right, but not whole numbers: they are to look up rows of a table, and only whole "
            "numbers can. Make them in the dtype of ids (`ids.new_full(...)`, `dtype=ids.dtype`).",
            None,
            (("torch.full((n - 1, n - 1), pad)", "torch.full((n - 1, n - 1), float(pad))"),),
            symptom="dtype",
        ),
    ),
)


def _push_cases(rng: Rng, rate: float) -> list[Case]:
    def case(label: str, t: int, v: int, part: str = "core", dtype: str = "float32", size: float = 1.5) -> Case:
        labels = rng.integers(1, v - 1, size=t)  # neither the first nor the last, so that a slip by one shows
        labels[0] = v - 2
        keeps = part == "dtype"
        logits = normal(rng, t, v, dtype=dtype, scale=size)
        if part == "large":  # a row whose powers overflow even in float64, one whose powers are all 0, one in between
            logits += np.linspace(950, -950, t, dtype=dtype)[:, None] - logits.max(axis=1, keepdims=True)
        return Case(label, (logits, labels), part=part, keeps_dtype=keeps)

    return [
        case("three positions, five words", 3, 5),
        case("four positions, four words", 4, 4),
        case("six positions, four words", 6, 4),
        case("one position", 1, 7),
        case("logits near a thousand", 3, 6, "large", size=20.0),
        case("float64 logits", 2, 5, "dtype", "float64"),
        case("float32 logits", 2, 5, "dtype"),
    ]


def _push(logits: Any, labels: Any, rate: float) -> Any:
    """Torch's own loss and its own derivative."""
    import torch

    leaf = logits.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(torch.nn.functional.cross_entropy(leaf, labels), leaf)
    return torch.add(logits, slope, alpha=-rate)


INDEX = "onehot[torch.arange(len(labels)), labels]"
GRADIENT = "gradient = (p - onehot) / len(labels)"
SOFTMAX = "torch.softmax(logits, dim=-1)"
STEP = "return logits - rate * gradient"

PUSH_UP = Task(
    id="01.push-up",
    name="push_up",
    title="Push the label up",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="motivation-push-up",
    returns=("logits",),
    cases=_push_cases,
    oracle=_push,
    parts={"core": 0.8, "large": 0.1, "dtype": 0.1},
    variants=({"rate": 0.5}, {"rate": 0.25}, {"rate": 2.0}),
    forbids=AUTOGRAD,
    mistakes=(
        known(
            "pushed-down",
            (STEP, "return logits + rate * gradient"),
            says="The step goes up the loss, so the label becomes less likely: the gradient is subtracted.",
        ),
        known(
            "label-ignored",
            (GRADIENT, "gradient = p / len(labels)"),
            says="The label plays no part, and all logits are pushed down: the gradient is p minus 1 at the label.",
        ),
        known(
            "label-alone",
            (GRADIENT, "gradient = -onehot / len(labels)"),
            says="The label's logit is raised by the same amount whatever the model said, and no other is lowered: "
            "the gradient is p minus 1 at the label, and p elsewhere.",
        ),
        known(
            "others-left",
            (GRADIENT, "gradient = (p - onehot) * onehot / len(labels)"),
            says="Only the label's logit moves: the others go down as well, each by its own probability.",
        ),
        known(
            "no-softmax",
            (SOFTMAX, "logits"),
            says="The logits themselves are used as probabilities: they go through a softmax first.",
        ),
        known(
            "softmax-twice",
            (SOFTMAX, "torch.softmax(torch.softmax(logits, dim=-1), dim=-1)"),
            says="The softmax runs twice, so the probabilities are nearly equal.",
            number=64,
        ),
        known(
            "over-positions",
            (SOFTMAX, "torch.softmax(logits, dim=0)"),
            says="The softmax runs over the positions: each position has a distribution of its own over the "
            "vocabulary, the last axis.",
        ),
        known(
            "whole-table",
            (SOFTMAX, "torch.softmax(logits.flatten(), dim=0).reshape(logits.shape)"),
            says="All positions share one distribution: each has its own, over the last axis.",
        ),
        known(
            "summed",
            (GRADIENT, "gradient = p - onehot"),
            says="This is the step of the summed loss: the loss is the mean over the positions, so divide by their "
            "number.",
        ),
        known(
            "mean-of-all",
            (GRADIENT, "gradient = (p - onehot) / logits.numel()"),
            says="The mean is taken over all logits: it runs over the positions alone.",
            number=63,
        ),
        known(
            "over-words",
            (GRADIENT, "gradient = (p - onehot) / logits.shape[-1]"),
            says="The sum is divided by the number of words: it is the mean over the positions, so divide by their "
            "number.",
            number=63,
        ),
        known(
            "labels-of-all",
            (INDEX, "onehot[:, labels]"),
            says="Each row gets a 1 at the labels of all positions: `[:, labels]` takes these columns in every row. "
            "Row t has its own label alone, `[torch.arange(len(labels)), labels]`.",
        ),
        known(
            "no-max",
            (SOFTMAX, "logits.exp() / logits.exp().sum(dim=-1, keepdim=True)"),
            says="exp of a large logit overflows to inf, and inf / inf is NaN (0 / 0 where all are far below zero): "
            "subtract each row's largest logit first. The probabilities stay the same, since a common factor cancels.",
            number=14,
        ),
        known(
            "one-max-for-all",
            (SOFTMAX, "(e := (logits - logits.max()).exp()) / e.sum(dim=-1, keepdim=True)"),
            says="The largest logit of the whole table is subtracted: in a row that lies far below it every exp is 0, "
            "and 0 / 0 is NaN. Each row has its own largest.",
            number=14,
        ),
        known("no-rate", (STEP, "return logits - gradient"), says="The learning rate is missing in the step."),
        known(
            "gradient-alone",
            (STEP, "return gradient"),
            says="This is the gradient: the logits after the step are asked for.",
        ),
        known(
            "probabilities-moved",
            (STEP, "return p - rate * gradient"),
            says="The probabilities are moved by the step: it is the logits that change.",
        ),
        known(
            "counted-from-one",
            ("labels] = 1.0", "labels - 1] = 1.0"),
            says="The word before the label is pushed up: labels count from 0.",
        ),
        dtype_lost((STEP, "return (logits - rate * gradient).double()")),
    ),
)
