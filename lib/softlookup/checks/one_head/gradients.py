"""Tasks that go backwards by hand, in numpy: through the softmax, and through one head."""

from typing import Any

import numpy as np

from softlookup.checks import draws
from softlookup.checks.draws import Rng, normal, softmax
from softlookup.checks.known import AUTOGRAD, known
from softlookup.checks.one_head.page import PAGE
from softlookup.checks.task import Case, Task


def _soft_cases(rng: Rng) -> list[Case]:
    def case(label: str, *shape: int) -> Case:
        a = softmax(normal(rng, *shape, dtype="float64"))
        return Case(label, (a, normal(rng, *shape, dtype="float64")), frame="numpy", tolerance=1e-6)

    return [
        case("three rows of five", 3, 5),
        case("four rows of four", 4, 4),
        case("two sequences", 2, 3, 4),
        case("one row", 1, 6),
        case("one axis", 5),
        case("four axes", 2, 2, 3, 4),
    ]


def _autograd_softmax(a: np.ndarray, da: np.ndarray) -> np.ndarray:
    """Torch's own derivative: log a are scores that give these weights."""
    import torch

    scores = torch.from_numpy(np.log(a)).requires_grad_(True)
    torch.softmax(scores, dim=-1).backward(torch.from_numpy(da))
    assert scores.grad is not None
    return scores.grad.numpy()


INNER = "inner = (a * da).sum(axis=-1, keepdims=True)"
RETURN = "return a * (da - inner)"

SOFTMAX_BACKWARD = Task(
    id="04.softmax-backward",
    name="softmax_backward",
    title="Back through the softmax",
    points=3,
    minutes=10,
    difficulty=3,
    page=PAGE,
    anchor="one-head-softmax-backward",
    returns=("gradient of the scores",),
    cases=_soft_cases,
    oracle=_autograd_softmax,
    frame="numpy",
    forbids=AUTOGRAD,
    mistakes=(
        known(
            "diagonal-only",
            (RETURN, "return a * (1 - a) * da"),
            says="Only the diagonal of the Jacobian is there: a score also moves the other weights of its row, "
            "through the sum.",
        ),
        known(
            "no-inner",
            (RETURN, "return a * da"),
            says="The second term is missing: from da the weighted mean of da over the row is subtracted.",
        ),
        known(
            "plain-sum",
            (INNER, "inner = da.sum(axis=-1, keepdims=True)"),
            says="The sum that is subtracted is weighted with a: it is the row's mean of da under the weights.",
        ),
        known(
            "inner-not-weighted",
            (RETURN, "return da - inner"),
            says="The whole bracket is multiplied by a: a weight near 0 hardly moves.",
        ),
        known(
            "over-queries",
            (INNER, "inner = (a * da).sum(axis=-2, keepdims=True)"),
            says="The sum runs over the queries (axis -2); each row of weights has its own softmax: axis -1.",
        ),
        known(
            "whole-matrix",
            (INNER, "inner = (a * da).sum()"),
            says="One sum is used for the whole table; each row of weights has its own.",
        ),
        known(
            "keepdim-forgotten",
            (INNER, "inner = (a * da).sum(axis=-1)"),
            says="The sums lost their axis (keepdims=True is missing), so each column gets another row's sum.",
        ),
        known(
            "sign-flipped",
            (RETURN, "return a * (inner - da)"),
            says="The sign is the wrong way round: it is da minus the mean.",
        ),
    ),
)


def _backward_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, s: int, h: int, hv: int) -> Case:
        qkv = draws.qkv(rng, (), t, s, h, hv, dtype="float64")
        return Case(label, (*qkv, normal(rng, t, hv, dtype="float64")), frame="numpy", tolerance=1e-6)

    big = tuple(a.astype("float64") for a in draws.large_logits(rng, 3, 4))
    outside = (normal(rng, 4, 2, dtype="float64"), normal(rng, 3, 2, dtype="float64"))
    return [
        case("three queries, five keys, H = 4", 3, 5, 4, 2),
        case("four tokens of width four", 4, 4, 4, 4),
        case("one query", 1, 3, 2, 5),
        Case("scores in the thousands", (*big, *outside), frame="numpy", part="large", tolerance=1e-6),
    ]


def _autograd_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, dz: np.ndarray) -> tuple[np.ndarray, ...]:
    import torch

    leaves: list[Any] = [torch.from_numpy(a).requires_grad_(True) for a in (q, k, v)]
    torch.nn.functional.scaled_dot_product_attention(*leaves).backward(torch.from_numpy(dz))
    return tuple(leaf.grad.numpy() for leaf in leaves)


DS = "ds = a * (da - (a * da).sum(axis=-1, keepdims=True))"

BACKWARD = Task(
    id="04.backward",
    name="attention_backward",
    title="One head backwards",
    points=4,
    minutes=15,
    difficulty=3,
    page=PAGE,
    anchor="one-head-gradient",
    returns=("dq", "dk", "dv"),
    cases=_backward_cases,
    oracle=_autograd_attention,
    frame="numpy",
    forbids=AUTOGRAD,
    parts={"core": 0.9, "large": 0.1},
    mistakes=(
        known(
            "dv-untransposed",
            ("a.T @ dz", "a @ dz"),
            says="dv needs the weights transposed: value s collects from every query t that listened to it.",
        ),
        known(
            "dk-untransposed",
            ("ds.T @ q", "ds @ q"),
            says="dk needs the gradient of the scores transposed: key s collects from every query t that asked it.",
        ),
        known(
            "scale-not-passed-back",
            ("ds @ k / root", "ds @ k"),
            ("ds.T @ q / root", "ds.T @ q"),
            says="The scale is missing on the way back: the scores were divided by sqrt(H), so their gradients are "
            "as well.",
            number=3,
        ),
        known("dq-unscaled", ("ds @ k / root", "ds @ k"), says="The scale is missing in dq: divide by sqrt(H)."),
        known("dk-unscaled", ("ds.T @ q / root", "ds.T @ q"), says="The scale is missing in dk: divide by sqrt(H)."),
        known(
            "plain-sum",
            (DS, "ds = a * (da - da.sum(axis=-1, keepdims=True))"),
            says="On the way back through the softmax, the sum that is subtracted from da is weighted with a.",
        ),
        known(
            "sign-flipped",
            (DS, DS.replace("a * (da -", "-a * (da -")),
            says="The gradient of the scores has the wrong sign: it is da minus the mean.",
        ),
        known("divided-by-width", ("math.sqrt(q.shape[-1])", "q.shape[-1]")),
        known("sqrt-of-tokens", ("math.sqrt(q.shape[-1])", "math.sqrt(k.shape[0])")),
        known(
            "keepdim-forgotten",
            ("(a * da).sum(axis=-1, keepdims=True)", "(a * da).sum(axis=-1)"),
            says="On the way back through the softmax the sum lost its axis (keepdims=True is missing), so each "
            "column gets another row's sum.",
        ),
        known("no-sqrt", ("root = math.sqrt(q.shape[-1])", "root = 1.0")),
        known(
            "softmax-skipped",
            (DS, "ds = da"),
            says="The softmax is skipped on the way back: the gradient of the scores is not da.",
        ),
        known(
            "diagonal-only",
            (DS, "ds = a * (1 - a) * da"),
            says="Only the diagonal of the softmax's Jacobian is there: a score also moves the other weights of its "
            "row.",
        ),
        known("no-inner", (DS, "ds = a * da"), says="From da the weighted mean of da over the row is missing."),
        known(
            "over-queries",
            ("(a * da).sum(axis=-1", "(a * da).sum(axis=-2"),
            says="On the way back through the softmax the sum runs over the queries; each row of weights has its "
            "own softmax: axis -1.",
        ),
        known("no-max", ("np.exp(s - s.max(axis=-1, keepdims=True))", "np.exp(s)")),
        known("order-swapped", ("return dq, dk, dv", "return dk, dq, dv"), says="dq and dk have changed places."),
    ),
)
