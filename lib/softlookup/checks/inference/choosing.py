"""Tasks on making a distribution sharper or cutting it to the k likeliest."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import dtype_lost, known
from softlookup.checks.task import Case, Task


def _temperature_cases(rng: Rng) -> list[Case]:
    def logits(b: int, v: int, dtype: str = "float32", scale: float = 2.0) -> np.ndarray:
        return normal(rng, b, v, dtype=dtype, scale=scale)

    far = np.round(4 * logits(2, 6)) / 4 + 1000.0
    far[:, 0] += 20.0
    return [
        Case("B = 2, V = 5, a temperature of 0.7", (logits(2, 5), 0.7)),
        Case("B = V = 4, a temperature of 1.8", (logits(4, 4), 1.8)),
        Case("a temperature of 1 changes nothing", (logits(3, 6), 1.0)),
        Case("one text, nearly greedy", (logits(1, 7), 0.2)),
        Case("very hot", (logits(2, 3), 25.0)),
        Case("a temperature of 0", (logits(3, 6), 0), part="zero", exact_zeros=True, keeps_dtype=True),
        Case(
            "a temperature of 0.0, all logits below zero",
            (-5.0 - np.abs(logits(2, 5)), 0.0),
            part="zero",
        ),
        Case("logits near 1000", (far, 2.0), part="large", tolerance=1e-3),
        Case("float64", (logits(2, 4, "float64"), 0.5), part="dtype", keeps_dtype=True),
        Case("float32", (logits(2, 4), 0.5), part="dtype", keeps_dtype=True),
    ]


def _temperature(logits: Any, temperature: float) -> Any:
    """Shares of exponentials, by a log-sum-exp; at 0 by comparing with the largest."""
    import torch

    if not temperature:
        return logits.eq(logits.amax(1, keepdim=True)).to(logits.dtype)
    scaled = torch.mul(logits, 1 / temperature)
    return (scaled - scaled.logsumexp(1, keepdim=True)).exp()


SOFT = "torch.softmax(logits / temperature, dim=-1)"

TEMPERATURE = Task(
    id="10.temperature",
    name="with_temperature",
    title="Temperature",
    points=3,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="inference-temperature",
    returns=("probabilities",),
    cases=_temperature_cases,
    oracle=_temperature,
    parts={"core": 0.6, "zero": 0.2, "large": 0.1, "dtype": 0.1},
    mistakes=(
        known(
            "multiplied",
            ("logits / temperature", "logits * temperature"),
            says="The logits are multiplied by the temperature, so that heat makes the likely likelier: they are "
            "divided by it.",
            number=75,
        ),
        known(
            "divided-after",
            (SOFT, "torch.softmax(logits, dim=-1) / temperature"),
            says="The probabilities are divided, and no longer sum to 1: it is the logits that are divided, before the "
            "softmax.",
            number=75,
        ),
        known(
            "ignored",
            ("logits / temperature", "logits"),
            says="The temperature has no effect: it divides the logits.",
        ),
        known(
            "root",
            ("/ temperature", "/ temperature**0.5"),
            says="The logits are divided by the root of the temperature: it is the temperature itself.",
        ),
        known(
            "not-normalised",
            (SOFT, "torch.softmax(logits, dim=-1) ** (1 / temperature)"),
            says="Powers of probabilities have the right proportions, but they no longer sum to 1: divide by their "
            "sum, or divide the logits before the softmax.",
        ),
        known(
            "over-rows",
            (SOFT, "torch.softmax(logits / temperature, dim=0)"),
            says="The columns sum to 1: each text (row) has a distribution of its own, over the tokens.",
            number=8,
        ),
        known(
            "no-softmax",
            (SOFT, "logits / temperature"),
            says="These are logits: probabilities are asked for, so the softmax follows.",
        ),
        known(
            "softmax-between",
            (SOFT, "torch.softmax(torch.softmax(logits, dim=-1) / temperature, dim=-1)"),
            says="The probabilities are divided, and go through a second softmax: it is the logits that are divided, "
            "and one softmax follows.",
            number=75,
        ),
        known("softmax-twice", (SOFT, f"torch.softmax({SOFT}, dim=-1)")),
        known(
            "log-probabilities",
            (SOFT, "torch.log_softmax(logits / temperature, dim=-1)"),
            says="These are logarithms of probabilities: the probabilities themselves are asked for.",
        ),
        known(
            "whole-tensor",
            (SOFT, "torch.softmax((logits / temperature).flatten(), dim=0).view_as(logits)"),
            says="All rows together sum to 1: each text (row) has a distribution of its own.",
        ),
        known(
            "no-max",
            (SOFT, "torch.exp(logits / temperature) / torch.exp(logits / temperature).sum(dim=-1, keepdim=True)"),
        ),
        known(
            "as-one-at-zero",
            ("if temperature == 0:", "temperature = temperature or 1.0\n    if temperature == 0:"),
            says="A temperature of 0 is taken for 1: there the likeliest token alone is left.",
        ),
        known(
            "nan-at-zero",
            ("if temperature == 0:", "if temperature < 0:"),
            says="At a temperature of 0 the logits are divided by 0: there the likeliest token gets 1, and needs a "
            "line of its own.",
        ),
        known(
            "id-at-zero",
            ("return torch.zeros_like(logits).scatter(1, likeliest, 1.0)", "return likeliest[:, 0]"),
            says="At a temperature of 0 an id comes back: there, too, probabilities are asked for, 1 for the likeliest "
            "token and 0 for the others.",
        ),
        dtype_lost((SOFT, f"{SOFT}.to(torch.float64 if logits.dtype == torch.float32 else torch.float32)")),
    ),
)


def _top_k_cases(rng: Rng) -> list[Case]:
    def logits(b: int, v: int) -> np.ndarray:
        return normal(rng, b, v, scale=2.0)

    tied = logits(2, 6)
    tied[0] = [1.0, 2.0, 1.0, 0.5, 1.0, -1.0]
    tied[1] = [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    low = logits(2, 5) - 50.0
    return [
        Case("B = 2, V = 7, k = 3", (logits(2, 7), 3)),
        Case("B = V = 4, k = 2", (logits(4, 4), 2)),
        Case("k = 1: greedy", (logits(3, 5), 1), exact_zeros=True),
        Case("all logits far below zero", (low, 2)),
        Case("k = V", (logits(2, 4), 4)),
        Case("k larger than V", (logits(2, 3), 10)),
        Case("equal logits at the edge", (tied, 2), part="ties"),
    ]


def _top_k(logits: Any, k: int) -> Any:
    """By rank: how many tokens are likelier, or as likely with a lower id."""
    import torch

    ids = torch.arange(logits.shape[1])
    one, other = logits[:, :, None], logits[:, None, :]
    ahead = (other > one) | ((other == one) & (ids[None, :] < ids[:, None]))
    kept = ahead.sum(-1) < k
    e = torch.where(kept, torch.exp(logits - logits.amax(1, keepdim=True)), 0.0)
    return e / e.sum(1, keepdim=True)


KEPT = "torch.zeros_like(logits, dtype=torch.bool).scatter(1, order[:, :k], True)"
ORDER = "order = logits.sort(dim=-1, descending=True, stable=True).indices"
SIZES = 'logits.gather(1, order).masked_fill(torch.arange(logits.shape[1]) >= k, float("-inf"))'
CUT = 'torch.softmax(logits.masked_fill(~kept, float("-inf")), dim=-1)'

TOP_K = Task(
    id="10.top-k",
    name="top_k",
    title="The k likeliest",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="inference-top-k",
    returns=("probabilities",),
    cases=_top_k_cases,
    oracle=_top_k,
    parts={"core": 0.8, "ties": 0.2},
    mistakes=(
        known(
            "not-renormalised",
            (CUT, "torch.softmax(logits, dim=-1) * kept"),
            says="The probabilities of the kept tokens do not sum to 1: take the softmax over the kept ones alone.",
        ),
        known(
            "masked-to-zero",
            ('float("-inf")', "0.0"),
            says="The logits of the others are set to 0, and exp(0) is 1: it is -inf that gives the probability 0.",
            number=50,
        ),
        known(
            "ties-kept",
            (KEPT, "logits >= logits.gather(1, order[:, :k])[:, -1:]"),
            says="Everything as likely as the k-th token is kept, so there may be more than k: exactly k are asked "
            "for, of equal ones those with the lowest ids.",
        ),
        known(
            "topk-at-ties",
            (ORDER, "order = logits.topk(min(k, logits.shape[1]), dim=-1).indices"),
            says="Where tokens are equally likely the wrong ones are kept: `topk` does not say which of them it takes. "
            "Those with the lowest ids are asked for (a sort with stable=True keeps their order).",
        ),
        known(
            "edge-dropped",
            (KEPT, "logits > logits.gather(1, order[:, :k])[:, -1:]"),
            says="The k-th token itself is dropped: compare with >=, not with >, and mind equal ones.",
        ),
        known(
            "first-rows-choice",
            ("scatter(1, order[:, :k], True)", "scatter(1, order[:1, :k].expand(len(logits), -1), True)"),
            says="The first row's choice is used for every row: each text has k likeliest tokens of its own.",
        ),
        known(
            "equal-shares",
            (CUT, "kept.to(logits.dtype) / kept.sum(dim=-1, keepdim=True)"),
            says="All kept tokens get the same share: they keep the proportions that they had.",
        ),
        known(
            "no-softmax",
            (CUT, 'logits.masked_fill(~kept, float("-inf"))'),
            says="These are logits: probabilities are asked for, so the softmax follows.",
        ),
        known(
            "softmax-twice",
            (CUT, 'torch.softmax(torch.softmax(logits, dim=-1).masked_fill(~kept, float("-inf")), dim=-1)'),
        ),
        known(
            "in-order-of-size",
            (CUT, f"torch.softmax({SIZES}, dim=-1)"),
            says="The probabilities come back in order of size: each belongs at its own id.",
        ),
        known("one-fewer", ("order[:, :k]", "order[:, : k - 1]"), says="One token too few is kept: k of them are."),
        known("one-more", ("order[:, :k]", "order[:, : k + 1]"), says="One token too many is kept: k of them are."),
        known(
            "least-likely",
            ("descending=True", "descending=False"),
            says="The k LEAST likely tokens are kept: sort downwards.",
        ),
        known(
            "inverted",
            ("masked_fill(~kept", "masked_fill(kept"),
            says="The k likeliest tokens are ruled out, and the others kept.",
            number=48,
        ),
        known(
            "k-columns",
            (CUT, "torch.softmax(logits.gather(1, order[:, :k]), dim=-1)"),
            says="Only k columns come back, in order of size: there is a probability for every token, at its own id.",
        ),
    ),
)
