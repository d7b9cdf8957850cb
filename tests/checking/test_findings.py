"""Answers that once fooled a check, in either direction, and words that once were untrue."""

import logging
import math
import re
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from published import everywhere, world
from softlookup_judge import MIME, check, get_task

SCORES = "    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])\n"
HEADS = {
    "04.weights": ("def attention_weights(q, k, mask=None):\n", "    return a\n"),
    "04.attention": ("def attention(q, k, v, mask=None):\n", "    return a @ v\n"),
    "04.head": (
        "def one_head(x, w_q, w_k, w_v, mask=None):\n    q, k, v = x @ w_q, x @ w_k, x @ w_v\n",
        "    return a @ v\n",
    ),
}
ZERO = "    if mask is not None:\n        a = a.masked_fill(~mask, 0.0)\n"
WRONG_MASKS = {
    "fill -100": SCORES
    + "    if mask is not None:\n        s = s.masked_fill(~mask, -100.0)\n    a = torch.softmax(s, -1)\n"
    + ZERO,
    "one row of the mask for all queries": SCORES
    + "    if mask is not None:\n        if mask.dim() == 3:\n            mask = mask[:, :1, :]\n"
    "        s = s.masked_fill(~mask, -1e30)\n    a = torch.softmax(s, -1)\n" + ZERO,
    "a score of zero read as masked": SCORES
    + "    if mask is not None:\n        s = s * mask\n        s = s.masked_fill(s == 0, -1e30)\n    a = "
    "torch.softmax(s, -1)\n" + ZERO,
    "blind rows of whole sequences only": SCORES
    + "    if mask is not None:\n        s = s.masked_fill(~mask, -1e30)\n    a = torch.softmax(s, -1)\n"
    "    if mask is not None and mask.dim() == 2:\n        a = a * mask.any(-1)[:, None]\n"
    "    elif mask is not None:\n"
    "        a = a * torch.stack([m.any() for m in mask]).reshape(-1, *[1] * (a.dim() - 1))\n",
    "every mask of four axes taken for padding": SCORES
    + "    if mask is not None:\n        mask = mask[:, :1, :1] if mask.dim() == 4 else mask\n"
    "        s = s.masked_fill(~mask, -1e30)\n    a = torch.softmax(s, -1)\n" + ZERO,
    "float64 whatever comes in": "    q, k = q.double(), k.double()\n"
    + SCORES
    + "    if mask is not None:\n        s = s.masked_fill(~mask, -1e30)\n    a = torch.softmax(s, -1)\n"
    + ZERO,
}


@pytest.mark.parametrize(
    ("task_id", "name"),
    # The weights alone may have any float dtype.
    [(t, n) for t in HEADS for n in WRONG_MASKS if (t, n) != ("04.weights", "float64 whatever comes in")],
)
@pytest.mark.usefixtures("verdicts_alone")
def test_masks_and_dtypes_that_go_wrong_on_some_input_do_not_pass(task_id, name):
    head, tail = HEADS[task_id]
    if name.startswith("float64"):
        tail = tail.replace("a @ v", "a @ v.double()")
    obj = world(4, {get_task(task_id).slug: head + WRONG_MASKS[name] + tail})[get_task(task_id).name]
    for result in everywhere(task_id, obj):
        assert result.verdict in ("partial", "wrong"), result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(
    "constant",
    ["x.median(-1, keepdim=True).values", "x[..., -1:]", "torch.where(x.isinf(), 0.0, x).mean(-1, keepdim=True)"],
)
def test_softmax_needs_the_rows_own_maximum(constant):
    obj = world(
        4,
        {"04-softmax": f"def softmax(x):\n    e = torch.exp(x - {constant})\n    return e / e.sum(-1, keepdim=True)\n"},
    )
    for result in everywhere("04.softmax", obj["softmax"]):
        assert result.verdict == "partial", result.text()


def test_a_dictionary_is_no_tuple():
    result = check("04.project", lambda x, q, k, v: {"v": x @ q, "k": x @ k, "q": x @ v})
    assert result.verdict == "wrong"
    assert "one dict" in result.message


def test_a_wrong_helper_of_an_earlier_name_in_the_same_cell_is_not_replaced():
    source = (
        "def attention(q, k, v, mask=None):\n    return (q @ k.mT) @ v\n\n"
        "def one_head(x, w_q, w_k, w_v, mask=None):\n    return attention(x @ w_q, x @ w_k, x @ w_v, mask)\n"
    )
    assert check("04.head", world(4, {"04-head": source})["one_head"]).points == 0


BLANK = "def {}(*args):\n    raise NotImplementedError()\n"
ONE_TOKEN = "def one_token(q, k, v):\n    s = scale(scores(q[None], k), len(q))\n    return mix(softmax(s), v)[0]\n"
BACKWARD = (
    "def attention_backward(q, k, v, dz):\n    a = attention_weights(torch.from_numpy(q), "
    "torch.from_numpy(k)).numpy()\n"
    "    root = math.sqrt(q.shape[-1])\n    ds = softmax_backward(a, dz @ v.T)\n"
    "    return ds @ k / root, ds.T @ q / root, a.T @ dz\n"
)
WEIGHTS = (
    "def attention_weights(q, k, mask=None):\n    s = scale(scores(q, k), q.shape[-1])\n    if mask is None:\n"
    "        return softmax(s, dim=-1)\n    return softmax(s.masked_fill(~mask, -torch.inf), dim=-1).nan_to_num(0.0)\n"
)


@pytest.mark.parametrize(
    ("task_id", "source", "blank"),
    [
        ("04.column", ONE_TOKEN, "scores"),
        ("04.column", ONE_TOKEN, "scale"),
        ("04.column", ONE_TOKEN, "mix"),
        ("04.backward", BACKWARD, "softmax_backward"),
        ("04.backward", BACKWARD, "attention_weights"),
        # The extra argument is one that the student's own softmax, which is sound and is not replaced, does not take.
        ("04.weights", WEIGHTS.replace(", dim=-1", ""), "scale"),
        ("04.weights", WEIGHTS, "softmax"),
    ],
)
def test_any_earlier_function_may_be_blank(task_id, source, blank):
    slugs = {"softmax_backward": "04-softmax-backward", "attention_weights": "04-weights"}
    cells = {get_task(task_id).slug: source, slugs.get(blank, f"04-{blank}"): BLANK.format(blank)}
    result = check(task_id, world(4, cells)[get_task(task_id).name])
    assert result.verdict == "pass", result.text()
    assert "stood in" in result.message


def test_stand_ins_are_found_behind_partial_and_decorators():
    source = (
        "import functools\n\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a, **b):\n        return f(*a, "
        "**b)\n"
        "    return inner\n\ndef _head(x, w_q, w_k, w_v, mask=None, times=1):\n"
        "    return times * attention(*project(x, w_q, w_k, w_v), mask)\n\none_head = "
        "functools.partial(loud(_head), times=1)\n"
    )
    result = check("04.head", world(4, {"04-head": source, "04-project": BLANK.format("project")})["one_head"])
    assert result.verdict == "pass", result.text()
    assert "04.project" in result.message
    assert "04.attention" not in result.message


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("04.by-hand", lambda: [Decimal("0.74"), Decimal("0.84"), Fraction(73, 100), Fraction(83, 100), 0.81]),
        ("04.project", lambda x, q, k, v: torch.stack([x @ q, x @ k, x @ v])),
        ("04.project", lambda x, q, k, v: (x @ w for w in (q, k, v))),
        ("04.project", lambda x, q, k, v: map(x.matmul, (q, k, v))),
        ("04.spread", lambda h, a, b: torch.tensor(a * b * math.sqrt(h)).item()),
    ],
)
def test_right_answers_of_odd_kinds_pass(task_id, answer):
    for result in everywhere(task_id, answer):
        assert result.verdict == "pass", result.text()


@pytest.mark.parametrize(
    ("task_id", "answer", "untrue"),
    [
        ("04.attention", lambda q, k, v, mask=None: None, "numbers are right"),
        ("04.attention", lambda q, k, v, mask=None: (q @ k.mT @ v).detach().numpy(), "numbers are right"),
        ("04.head", lambda x, a, b, c, mask=None: {}, "numbers are right"),
        ("04.by-hand", lambda: [0.84, 1.25, 1.09, 0.91, 1.04], "another variant"),
        ("04.project", lambda x, a, b, c: None, "NoneType"),
        ("04.mix", lambda w, v: [None for _ in w], "ends without"),
    ],
)
def test_untrue_sentences_are_not_said(task_id, answer, untrue):
    result = check(task_id, answer)
    assert result.points == 0
    assert untrue not in result.text()


def test_a_mask_that_is_left_for_later_is_not_called_blank():
    source = "def attention_weights(q, k, mask=None):\n    if mask is not None:\n        raise NotImplementedError\n"
    source += "    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)\n"
    result = check("04.weights", world(4, {"04-weights": source})["attention_weights"])
    assert result.verdict == "partial"
    assert "still blank" not in result.text()


def test_an_error_of_torch_is_not_called_blank():
    result = check("00.cross-entropy", lambda logits, target: -torch.log_softmax(target, -1)[logits].mean())
    assert result.verdict == "error"
    assert "not implemented for" in result.text()


def test_wanted_numbers_stay_hidden_where_they_are_the_whole_answer():
    result = check("04.by-hand", lambda: [1.0, 2.0, 3.0, 4.0, 5.0])
    shown = result.text() + result._repr_mimebundle_()["text/html"]
    assert "0.7448" not in shown
    assert "wanted is" not in shown


class Odd(Exception):
    def __str__(self):
        raise ValueError("no words")


def _raises(error):
    def answer(weights, v):
        raise error

    return answer


def _closes_stdout(weights, v):
    sys.stdout.close()
    return weights @ v


async def _coroutine(weights, v):
    return weights @ v


@pytest.mark.parametrize(
    "answer",
    [
        _raises(Odd()),
        _raises(GeneratorExit()),
        _raises(BaseException("own")),
        _closes_stdout,
        _coroutine,
        lambda w, v: torch.zeros(0, 3, 4),
        lambda w, v: torch.full_like(w @ v, 3e38) * 10,
    ],
)
def test_odd_answers_give_one_result_and_nothing_on_stderr(answer, capfd):
    bundle = check("04.mix", answer)._repr_mimebundle_()
    assert bundle["text/plain"] and 0 <= bundle[MIME]["points"] <= 2
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("task_id", ["04.attention", "04.head", "04.softmax-backward", "04.backward"])
def test_gradients_switched_off_in_the_notebook_change_nothing(task_id):
    with torch.no_grad():
        assert check(task_id, world(4)[get_task(task_id).name]).verdict == "pass"


@pytest.mark.parametrize("variant", [1.0, "1", torch.ones(2), None, -1])
def test_odd_variants_are_refused(variant):
    assert check("04.scale", lambda s, h: s, variant=variant).verdict == "error"


@pytest.mark.parametrize("name", [None, "a student's"])
def test_what_the_code_logs_stays_away_from_stderr(capfd, name):
    logger, handler = logging.getLogger(name), logging.StreamHandler()
    logger.addHandler(handler)

    def answer(weights, v):
        logger.warning("mixing")
        return weights @ v

    try:
        assert check("04.mix", answer).verdict == "pass"
    finally:
        logger.removeHandler(handler)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(
    "line",
    [
        "a = torch.softmax(torch.where(mask, s, s.amin(-1, keepdim=True) - 20), -1)",
        "a = torch.softmax(s, -1) * mask + 1e-9",
    ],
)
def test_masked_weights_are_exactly_zero(line):
    source = (
        "def attention_weights(q, k, mask=None):\n"
        + SCORES
        + "    if mask is None:\n        return torch.softmax(s, -1)\n"
    )
    result = check("04.weights", world(4, {"04-weights": f"{source}    {line}\n    return a\n"})["attention_weights"])
    assert result.verdict == "partial"


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("fill", ["-1000.0", "-20.0"])
def test_softmax_gives_minus_infinity_exactly_nothing(fill):
    source = (
        f"def softmax(x):\n    x = torch.where(x.isinf(), {fill}, x)\n    e = torch.exp(x - x.amax(-1, keepdim=True))\n"
    )
    result = check(
        "04.softmax", world(4, {"04-softmax": source + "    return e / e.sum(-1, keepdim=True)\n"})["softmax"]
    )
    assert result.verdict in ("partial", "wrong")


def test_float32_on_the_way_of_a_gradient_by_hand_passes():
    def answer(a, da):
        a = a.astype("float32")
        return a * (da - (a * da).sum(axis=-1, keepdims=True))

    for result in everywhere("04.softmax-backward", answer):
        assert result.verdict == "pass", result.text()


def test_one_row_too_many_is_told_apart_from_two_results():
    def one_row(q, k, v):
        return torch.softmax(q[None] @ k.T / q.shape[-1] ** 0.5, -1) @ v

    assert "take `[0]`" in check("04.column", one_row).message


def test_a_dtype_lost_is_named_though_gradients_suffer_too():
    source = "def attention(q, k, v, mask=None):\n" + WRONG_MASKS["fill -100"].replace("-100.0", "-1e30")
    source += "    z = torch.zeros(*a.shape[:-1], v.shape[-1])\n    z[...] = a @ v\n    return z\n"
    assert check("04.attention", world(4, {"04-attention": source})["attention"]).diagnosis == ("dtype-lost",)


def test_a_coroutine_is_called_one(capfd):
    async def project(x, w_q, w_k, w_v):
        return x

    assert "coroutine" in check("04.project", project).message
    assert capfd.readouterr().err == ""


def test_an_exception_of_other_cases_is_told_where_nothing_is_named():
    def similarity(q, k):
        return np.dot(q, k) / (np.linalg.norm(q) * np.linalg.norm(k)) ** 0.75

    result = check("02.similarity", similarity)
    assert result.diagnosis == () and result.difference is not None
    assert "not aligned" in result.message, result.text()


def test_counts_are_told_in_full():
    """Six digits of two large counts look alike, and there is no tolerance to speak of."""
    result = check("05.parameters", lambda *sizes: 1_048_577)
    assert re.search(r"is 1,048,577, wanted is [\d,]+\.", result.message), result.text()
