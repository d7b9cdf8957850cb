"""Tasks on attention for long texts: another attention without the square, and the same one without holding it."""

from typing import Any

import numpy as np

from softlookup.checks.beyond_text.page import PAGE
from softlookup.checks.draws import Rng, normal, qkv
from softlookup.checks.known import ATTENTIONS, gradient_cut, known
from softlookup.checks.task import Case, Task


def _linear_cases(rng: Rng) -> list[Case]:
    def ask(lead: tuple[int, ...], t: int, s: int, h: int, hv: int) -> tuple[np.ndarray, ...]:
        # float64: with mistakes the sum of the weights may come near 0, and rounding would hide which mistake it is.
        return qkv(rng, lead, t, s, h, hv, "float64")

    double = ask((2,), 3, 4, 3, 2)
    return [
        Case("B = 2, N = 3, T = 4, S = 5, H = 3, H' = 2", ask((2, 3), 4, 5, 3, 2)),
        Case("more keys than queries, one head", ask((2, 1), 2, 7, 4, 3)),
        Case("everything 4", ask((4, 4), 4, 4, 4, 4)),
        Case("no batch, T = S = 3, H = H' = 5", ask((), 3, 3, 5, 5)),
        Case("one key: its value", ask((2,), 3, 1, 4, 2)),
        Case(
            "gradients of q, k and v",
            double,
            gradients=(0, 1, 2),
            upstream=normal(rng, 2, 3, 2, dtype="float64"),
            part="gradient",
        ),
    ]


def _positive(x: Any) -> Any:
    """As in equation 7 of the paper, by cases."""
    import torch

    return torch.where(x > 0, x + 1, torch.exp(torch.clamp(x, max=0)))


def _linear(q: Any, k: Any, v: Any) -> Any:
    """The slow way, with all weights written out."""
    a = (_positive(q)[..., :, None, :] * _positive(k)[..., None, :, :]).sum(-1)
    return (a / a.sum(-1, keepdim=True)) @ v


TOTAL = "total = f @ g.sum(dim=-2)[..., None]"
OUT = "return f @ summed / total"
ONE_INSIDE = "The 1 is added inside, elu(x + 1), which may be negative: it is elu(x) + 1."
FEATURE_Q, FEATURE_K = "f = F.elu(q) + 1", "g = F.elu(k) + 1"

LINEAR = Task(
    id="13.linear",
    name="linear_attention",
    title="Without the square",
    points=4,
    minutes=12,
    difficulty=2,
    page=PAGE,
    anchor="beyond-text-linear",
    returns=("y",),
    cases=_linear_cases,
    oracle=_linear,
    parts={"core": 0.8, "gradient": 0.2},
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "not-divided",
            (OUT, "return f @ summed"),
            says="The mixture is not divided by the sum of its weights, so that more keys give larger outputs.",
            number=2,
        ),
        known(
            "divided-by-count",
            (OUT, "return f @ summed / k.shape[-2]"),
            says="The mixture is divided by the number of keys: it is divided by the sum of the weights, which is "
            "another for each query.",
            number=2,
        ),
        known(
            "keys-not-summed",
            (TOTAL, "total = f.sum(dim=-1, keepdim=True)"),
            says="The divisor has no keys in it: it is the query's feature times the SUM of the keys' features.",
            number=2,
        ),
        known(
            "no-feature",
            (FEATURE_Q, "f = q"),
            (FEATURE_K, "g = k"),
            says="Queries and keys are used as they are: weights may be negative then, and their sum near 0. Each goes "
            "through elu(x) + 1 first.",
        ),
        known(
            "keys-plain",
            (FEATURE_K, "g = k"),
            says="Only the queries go through elu(x) + 1: the keys do too.",
        ),
        known(
            "without-one",
            (FEATURE_Q, "f = F.elu(q)"),
            (FEATURE_K, "g = F.elu(k)"),
            says="elu alone is negative below 0: add 1 to it.",
        ),
        known(
            "exp-feature",
            (FEATURE_Q, "f = torch.exp(q)"),
            (FEATURE_K, "g = torch.exp(k)"),
            says="The feature is exp(x): this task asks for elu(x) + 1. (With exp it would be another attention, and "
            "still not softmax.)",
        ),
        known(
            "one-inside",
            (FEATURE_Q, "f = F.elu(q + 1)"),
            (FEATURE_K, "g = F.elu(k + 1)"),
            says=ONE_INSIDE,
        ),
        known(
            "scaled",
            (FEATURE_Q, "f = F.elu(q / math.sqrt(q.shape[-1])) + 1"),
            says="The queries are divided by sqrt(H): there is no root in linear attention.",
        ),
        known(
            "softmax-attention",
            (OUT, "return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v"),
            says="This is softmax attention, with a table of T by S: here elu(x) + 1 stands in place of the "
            "exponential, and the keys are summed up first.",
        ),
        gradient_cut((OUT, "return (f @ summed / total).detach()")),
    ),
)


def _step_cases(rng: Rng) -> list[Case]:
    def state(*lead: int, h: int, hv: int) -> tuple[np.ndarray, np.ndarray]:
        # float64 here too: what stands below the line may come near 0.
        return normal(rng, *lead, h, hv, dtype="float64"), 1 + rng.random((*lead, h))

    def ask(*lead: int, h: int, hv: int, empty: bool = False) -> tuple[np.ndarray, ...]:
        sums = state(*lead, h=h, hv=hv)
        if empty:
            sums = np.zeros_like(sums[0]), np.zeros_like(sums[1])
        return *sums, *(normal(rng, *lead, width, dtype="float64") for width in (h, h, hv))

    return [
        Case("B = 2, N = 3, H = 4, H' = 2", ask(2, 3, h=4, hv=2)),
        Case("one head, H = 2, H' = 5", ask(3, h=2, hv=5)),
        Case("everything 3", ask(3, 3, h=3, hv=3)),
        Case("no axes in front, H = H' = 4", ask(h=4, hv=4)),
        Case("the first position: nothing is known yet", ask(2, 2, h=3, hv=4, empty=True)),
    ]


def _step(key_values: Any, keys: Any, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
    """Sums cell by cell; the division last."""
    import torch

    g = _positive(k)
    key_values = key_values + torch.einsum("...h,...v->...hv", g, v)
    keys = torch.add(keys, g)
    f = _positive(q)
    return torch.einsum("...h,...hv->...v", f, key_values) / (f * keys).sum(-1, keepdim=True), key_values, keys


STEP_VALUES = "key_values = key_values + g[..., :, None] * v[..., None, :]"
STEP_KEYS = "keys = keys + g"
STEP_OUT = "y = (f[..., None, :] @ key_values)[..., 0, :] / (f * keys).sum(dim=-1, keepdim=True)"

STEP = Task(
    id="13.step",
    name="linear_step",
    title="A memory that does not grow",
    points=3,
    minutes=10,
    difficulty=3,
    page=PAGE,
    anchor="beyond-text-recurrent",
    returns=("y", "key_values", "keys"),
    cases=_step_cases,
    oracle=_step,
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "itself-unseen",
            (STEP_VALUES, "pass"),
            (STEP_KEYS, "pass"),
            (
                STEP_OUT,
                f"{STEP_OUT}\n    {STEP_VALUES}\n    {STEP_KEYS}",
            ),
            says="The position does not see itself: take its key and value in first, then answer its query.",
            number=53,
        ),
        known(
            "past-forgotten",
            (STEP_VALUES, "key_values = g[..., :, None] * v[..., None, :]"),
            (STEP_KEYS, "keys = g"),
            says="The sums are replaced: what is new is ADDED to them.",
            number=72,
        ),
        known(
            "keys-not-added",
            (STEP_KEYS, "pass"),
            says="The sum of the keys stays as it was: the divisor has to grow with the mixture.",
            number=72,
        ),
        known(
            "product-turned",
            (STEP_VALUES, "key_values = key_values + v[..., :, None] * g[..., None, :]"),
            says="The product of key and value is turned round: it has a row for each number of the key, a column for "
            "each of the value.",
        ),
        known(
            "not-divided",
            (STEP_OUT, "y = (f[..., None, :] @ key_values)[..., 0, :]"),
            says="The output is not divided by the sum of the weights, f(q) times the sum of the keys.",
            number=2,
        ),
        known(
            "no-feature",
            (FEATURE_Q, "f = q"),
            (FEATURE_K, "g = k"),
            says="Query and key are used as they are: each goes through elu(x) + 1 first.",
        ),
        known(
            "without-one",
            (FEATURE_Q, "f = F.elu(q)"),
            (FEATURE_K, "g = F.elu(k)"),
            says="elu alone is negative below 0: add 1 to it.",
        ),
        known(
            "one-inside",
            (FEATURE_Q, "f = F.elu(q + 1)"),
            (FEATURE_K, "g = F.elu(k + 1)"),
            says=ONE_INSIDE,
        ),
    ),
)
