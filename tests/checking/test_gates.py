"""What a task forbids is out of reach while it is asked, and as it was before and afterwards."""

import importlib
import inspect
import signal
import sys
import threading

import pytest
import torch

from attacks.shortcuts import HIDDEN
from published import RIGHT, world
from softlookup_inside.asking.gates import NotAllowed, _gates, closed, opened, prepare
from softlookup_inside.torch_internals import dispatcher
from softlookup_judge import check, get_task
from softlookup_judge.checking.catalogue import tasks
from softlookup_judge.data.variant import variant_of

SOFTMAX = get_task("04.softmax").barred


@pytest.mark.parametrize("way", [way for way in HIDDEN if way not in ("held", "thread", "unseen")])
def test_a_hidden_shortcut_is_one_at_home(way):
    result = check("04.softmax", world(4, {"04-softmax": HIDDEN[way]})["softmax"])
    assert (result.points, result.diagnosis) == (0, ("forbidden-shortcut",))
    assert "write it yourself: `torch." in result.message


def test_gate_stands_before_every_alias():
    x, functional = torch.randn(2, 3), torch.nn.functional
    calls = [functional.softmax, torch.special.softmax, torch.Tensor.softmax, torch._C.TensorBase.softmax]
    calls += [torch.ops.aten.softmax, lambda x, dim: torch.nn.Softmax(dim)(x), lambda x, dim: x.logsumexp(dim)]
    for call in calls:
        with closed(SOFTMAX) as gates, pytest.raises(NotAllowed, match="is not allowed in this task"):
            call(x, -1)
        assert gates.used in SOFTMAX


def test_gates_leave_pythons_own_functions_open():
    """Classes of torch carry some: torch.nn.utils has an Enum, and a clock that is set looks one up."""
    import torch.nn.utils.parametrizations  # noqa: F401

    with closed(("torch.nn.utils",)) as gates:
        assert signal.Signals(2) is signal.SIGINT and inspect.Parameter.VAR_KEYWORD.description
    assert gates.used == ""


def test_gates_leave_torch_as_it_was():
    function = torch.nn.functional.softmax
    before = function, function.__code__, threading.Thread._bootstrap_inner.__code__, torch.nn.Softmax.forward.__code__
    with pytest.raises(NotAllowed), closed(SOFTMAX):
        function(torch.ones(3), -1)
    function = torch.nn.functional.softmax
    after = function, function.__code__, threading.Thread._bootstrap_inner.__code__, torch.nn.Softmax.forward.__code__
    assert before == after
    assert function(torch.zeros(2), -1).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("gone", ["_dispatch_keyset_full_after", "_dispatch_tls_set_dispatch_key_included"])
def test_a_torch_without_what_the_gates_are_made_with_is_refused_with_a_sentence(gone, monkeypatch):
    dispatcher.cache_clear()
    with monkeypatch.context() as patch:
        patch.delattr(torch._C, gone)
        with pytest.raises(RuntimeError, match=f"has no torch._C.{gone}, .* install the torch"), closed(SOFTMAX):
            pass
    with pytest.raises(NotAllowed), closed(SOFTMAX):  # nothing stays closed or open by mistake
        torch.softmax(torch.ones(3), -1)
    assert torch.softmax(torch.zeros(2), -1).tolist() == [0.5, 0.5]


def test_gates_let_through_what_is_not_the_students():
    with closed(SOFTMAX) as gates, opened():
        assert torch.softmax(torch.zeros(2), -1).tolist() == torch.nn.functional.softmax(torch.zeros(2), -1).tolist()
    assert gates.used == ""


@pytest.mark.parametrize(
    ("task_id", "call"),
    [
        ("04.attention", lambda x, w, b: torch._native_multi_head_attention(x, x, x, 4, 2, w, b, w[:4], b[:4])),
        ("05.dropout", lambda x, w, b: torch.feature_dropout(x[0], 0.5, True)),
    ],
)
def test_gate_stands_before_what_torch_has_in_c_under_another_name(task_id, call):
    with closed(get_task(task_id).barred) as gates, pytest.raises(NotAllowed):
        call(torch.ones(2, 3, 4), torch.ones(12, 4), torch.zeros(12))
    assert gates.used in get_task(task_id).barred


def test_gates_that_were_made_beforehand_are_found_again():
    forbidden = get_task("05.dropout").barred
    prepare(forbidden)
    before = _gates.cache_info().misses
    with closed(forbidden), pytest.raises(NotAllowed):
        torch.nn.functional.dropout(torch.ones(2))
    assert _gates.cache_info().misses == before


def test_gates_look_inside_of_what_is_allowed():
    compiled = torch.jit.CompilationUnit("def f(x):\n    return torch.softmax(x, -1)\n")
    with closed(SOFTMAX) as gates, pytest.raises(RuntimeError):
        compiled.f(torch.ones(3))
    assert gates.used == "torch.softmax"


def test_no_task_asks_for_gradients_by_what_it_forbids():
    """The probe goes down the gradient behind the gates."""
    from softlookup_judge.judging.questions import draw

    for task in tasks():
        if "torch.Tensor.backward" in task.forbids:
            assert not any(case.gradients for case in draw(variant_of(task), 0)), task.id


@pytest.mark.parametrize("task_id", ["04.softmax", "04.backward", "05.dropout", "07.layer-norm", "09.adam"])
def test_right_answers_call_nothing_that_is_forbidden(task_id):
    task = get_task(task_id)
    for answer in [world(task.chapter)[task.name], *RIGHT[task_id]]:
        assert check(task_id, answer).verdict == "pass"


WRONG_SCORES = "def scores(q, k):\n    return q @ k.transpose(-2, -1){}\n"
WEIGHTS = """
_own = scores


def attention_weights(q, k, mask=None):
    s = {} / q.shape[-1] ** 0.5
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
"""


@pytest.mark.parametrize(
    ("scores", "weights", "points"),
    [
        ("", "scores(q, k) * (scores is not _own)", 0),
        (" * 2", "scores(q, k)", 4),
        (" if q.ndim == 2 else q.sum()", "(scores(q[:0], k[:0]), q @ k.mT)[1] * (scores is not _own)", 0),
    ],
    ids=["what is sound is not lent", "a slip is paid for once", "what gives the same accounts for nothing"],
)
def test_an_answer_turns_right_by_what_is_lent_alone(scores, weights, points):
    if scores == " if q.ndim == 2 else q.sum()":
        weights = weights.replace("q[:0], k[:0]", "q.flatten(0, -2)[:1], k.flatten(0, -2)[:1]")
    cells = {"04-scores": WRONG_SCORES.format(scores), "04-weights": WEIGHTS.format(weights)}
    assert check("04.weights", world(4, cells)["attention_weights"]).points == points


def test_functions_whose_values_are_the_answer_are_never_lent():
    assert not [earlier.id for task in tasks() for earlier in task.earlier if not earlier.reveals]


def test_a_forbidden_part_of_the_library_is_not_imported_meanwhile(monkeypatch):
    name = "softlookup.ranks.schedules"
    monkeypatch.delitem(sys.modules, name, raising=False)
    with closed((name,)) as gates, pytest.raises(NotAllowed, match="is not allowed in this task"):
        importlib.import_module(name)
    assert gates.used == name and name not in sys.modules
    with closed((name,)) as gates, opened():
        importlib.import_module(name)
    assert not gates.used and name in sys.modules
