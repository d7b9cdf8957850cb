"""A submission's answers leave the sandbox as plain arrays and words, or end it; nothing else is believed."""

import json
import mmap
import time

import numpy as np
import pytest
from sandbox_tools import ABOUT, LIMITS, NEEDS_SANDBOX, SOUND, ask, hold

from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox.lending import NumberBounds, Own
from softlookup_grader.sandbox.session import Dead, OutOfTime
from softlookup_inside.asking import texts
from softlookup_inside.asking.case import Case
from softlookup_judge import get_task, tasks
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

pytestmark = NEEDS_SANDBOX
ROOMY = Limits(**{**vars(LIMITS), "memory_mb": 1000, "answer_s": 20, "cell_s": 20, "cpu_s": 30})
MISUSE = """
        import gc, numpy as np
        def f(a):
            from softlookup_inside.sandbox.submission import Inside
            mine = next(o for o in gc.get_objects() if isinstance(o, Inside))"""
"""How an answer that lays hands on what speaks to the judge begins."""


def test_answers_come_back_as_arrays(begin):
    session = begin()
    student_object = hold(session, "def f(a, n=2):\n    print('seen')\n    return a * n")
    assert student_object.there and student_object.callable and student_object.kind == "function"
    answer = ask(session, np.arange(6.0).reshape(2, 3), 3)
    np.testing.assert_array_equal(answer.arrays[0], [[0, 3, 6], [9, 12, 15]])
    assert answer.printed == "seen\n" and answer.failure is None


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ("raise ValueError('no <b>')", "raised", "ValueError: no <b>"),
        ("raise NotImplementedError", "blank", ""),
        ("return 'text'", "kind", "holds no plain numbers"),
        ("return np.array([1j])", "kind", "complex"),
        ("return np.array([object()])", "kind", "object"),
        ("return None", "kind", "None"),
        ("a[0] = 7; return a", "inputs-changed", "in place"),
        ("return np.zeros((4000, 4000))", "kind", "too large"),
        (
            "return np.broadcast_to(np.ones(1), (10**6, 10**6))",
            "kind",
            "of shape (1000000, 1000000), which is too large",
        ),
        ("exit()", "raised", "SystemExit"),
    ],
)
def test_failures_come_back_as_words(begin, body, kind, says):
    session = begin(ROOMY)
    hold(session, f"import numpy as np\ndef f(a):\n    {body}")
    answer = ask(session, np.ones(3))
    assert answer.arrays is None and answer.failure.kind == kind and says in answer.failure.message


def test_exception_is_explained_where_its_line_is(begin):
    session = begin()
    hold(session, "import numpy as np\ndef f(a):\n    b = np.zeros((2, 4))\n    return b @ a")
    failure = ask(session, np.ones(3)).failure
    assert failure.explained == "`b` has shape (2, 4) and `a` (3,): for `@` the second needs 4 entries, and it has 3."


def test_a_lost_dtype_is_seen_from_outside(begin):
    session = begin()
    hold(session, "import numpy as np\ndef f(a): return np.asarray(a, 'f8')")
    answer = ask(session, np.ones(3, "f4"), keeps_dtype=True)
    assert answer.failure.kind == "dtype"


def test_gradients_come_back(begin):
    session = begin()
    hold(session, "def f(a, b): return a * a * b")
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    answer = ask(session, a, b, frame="torch", gradients=(0, 1), upstream=np.ones(2))
    np.testing.assert_array_equal(answer.arrays[0], 2 * a * b)
    np.testing.assert_array_equal(answer.arrays[1], a * a)


def test_an_answer_that_takes_too_long_is_late_and_the_next_one_is_not(begin):
    session = begin()
    hold(session, "def f(a):\n    while a > 0: pass\n    return a")
    with pytest.raises(OutOfTime):
        ask(session, 1, seconds=0.5, frame="plain")
    assert ask(session, 0, frame="plain").arrays[0] == 0
    with pytest.raises(OutOfTime):
        ask(session, 0, seconds=-1)


LENT = {**ABOUT, "earlier": {"square": "04.a"}}


def squared(name, args, named, upstream):
    """What is lent for ``square``: its result, or the gradient."""
    return [2 * args[0] * upstream[0]] if upstream else args[0] ** 2


def test_a_lent_function_is_computed_outside(begin):
    session = begin()
    session.run("def square(x): raise NotImplementedError\ndef f(a):\n    return square(a) + 1")
    assert session.check("", LENT).there
    calls = mmap.mmap(-1, 1)  # shared with the process that computes

    def sound(name, args, named, upstream):
        assert (name, named) == ("04.a", {})
        calls[0] += 1
        return squared(name, args, named, upstream)

    a = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(ask(session, a, sound=sound, **SOUND).arrays[0], a**2 + 1)
    got = ask(session, a, sound=sound, gradients=(0,), upstream=np.ones(3), **SOUND)
    np.testing.assert_array_equal(got.arrays[0], 2 * a)
    assert calls[0] == 3
    assert ask(session, a, sound=sound, frame="torch").failure.kind == "raised"  # not lent this time
    assert "still blank" in ask(session, a, frame="torch").failure.message


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("square(torch.ones(100_000))", "larger than those of the question"),
        ("square(10**12)", "larger than those of the question"),
        ("square([1] * 20_000)", "larger than those of the question"),
        ("square('x')", "nothing for text"),
        ("square(object())", "something else than arrays and numbers"),
        ("square(torch.ones(1, 1, 1, 1, 1, 1, 1))", "larger"),
    ],
)
def test_a_lent_function_takes_no_more_than_the_question_needs(begin, call, says):
    session = begin()
    session.run(f"import torch\ndef square(x): pass\ndef f(a):\n    return {call}")
    session.check("", LENT)

    def sound(name, args, named, upstream):
        raise ZeroDivisionError("nothing for text")

    assert says in ask(session, np.ones(3), sound=sound, **SOUND).failure.message


@pytest.mark.parametrize(
    ("call", "args", "upstream", "says"),
    [
        ("04.b", {"list": []}, None, "was not lent"),
        ("04.a", {"list": [{"array": 0}]}, {"list": [{"array": 0}]}, "a gradient that was not lent"),
    ],
)
def test_whoever_calls_what_was_not_lent_is_stopped(begin, call, args, upstream, says):
    session = begin()
    frame = {"call": call, "args": args, "named": {"dict": {}}, "upstream": upstream}
    hold(session, f"{MISUSE}\n            return mine._sound({frame!r}, [a])\n        ")
    with pytest.raises(Dead, match=says):
        ask(session, np.ones(3), sound=lambda *_: 1, lent=("04.a",))


@pytest.mark.parametrize(
    "forged",
    [
        "mine.line.send({'token': mine.token, 'late': False, 'answers': [{'failure': None, 'there': True}]}, [a + 1])",
        "mine.line.send({'token': 'x', 'late': False}, [])",
        "mine.line.send({}, [])",
        "mine.line.link.send(b'SLK1' + b'\\xff' * 12)",
    ],
)
def test_answers_that_nobody_asked_for_end_the_submission(begin, forged):
    session = begin()
    hold(session, f"{MISUSE}\n            {forged}\n            return a + 1")
    with pytest.raises(Dead, match="rules"):
        for _ in range(3):
            assert ask(session, np.zeros(3)).arrays is not None


FAILURES = ("[[], '', '']", "[{}, '', '']", "[]", "['raised', '']", "'raised'", "7", "['won', 'a', 'b']")


@pytest.mark.parametrize(
    "header",
    [
        *(f"'answers': [{{'failure': {failure}, 'printed': '', 'there': False}}]" for failure in FAILURES),
        "'answers': [{'failure': ['raised', 'a', 'b'], 'printed': 3, 'there': False}]",
        "'answers': [{'failure': None, 'there': True}]",
        "'answers': [{'failure': None, 'there': 1}]",
        "'verdict': 'pass', 'points': 1000",
        "'answers': []",
        "'answers': [{'failure': None, 'there': True}] * 2",
        "'answers': ['pass']",
    ],
)
def test_answers_of_another_form_end_the_submission(begin, header):
    session = begin()
    sends = f"mine._ask = None; mine.line.send({{'late': False, {header}, 'token': mine.token}}, [])"
    hold(session, f"{MISUSE}\n            {sends}\n            import time; time.sleep(20)")
    with pytest.raises(Dead, match="in another way"):
        ask(session, np.zeros(3))


def test_an_answer_that_goes_down_a_gradient_is_lent_it(begin):
    session = begin()
    step = "w = w.clone().requires_grad_()\n    square(w).sum().backward()\n    return w.detach() - w.grad / 4"
    session.run(f"def square(x): raise NotImplementedError\ndef f(w):\n    {step}")
    session.check("", LENT)
    answer = ask(session, np.array([1.0, -2.0]), sound=squared, descends=True, **SOUND)
    np.testing.assert_array_equal(answer.arrays[0], [0.5, -1.0])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return text.split()", ["Zoë's", "café\ud83d"]),
        ("from collections import Counter; return Counter({(k, 1): 2 for k in text[:2]})", {("Z", 1): 2, ("o", 1): 2}),
        ("return (len(text), [3.0, True])", [12, [3, 1]]),
        ("import numpy as np; return {'é': np.array([[1, 2]])}", {"é": [[1, 2]]}),
    ],
)
def test_texts_come_back_as_bytes_that_equal_the_right_ones(begin, body, expected):
    session = begin()
    hold(session, f"def f(text):\n    {body}")
    answer = ask(session, "Zoë's  café\ud83d"[:11] + "\ud83d"[:1], frame="text")
    np.testing.assert_array_equal(answer.arrays[0], texts.to_bytes(expected))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return {'a'}", "a set, which has no order"),
        ("return 0.5", "the number 0.5"),
        ("return 'a' * 10**6", "more than"),
        ("return [[]] * 10**6", "more than"),
        ("a = []; a.append(a); return a", "deep"),
        ("return map(str, text)", "list("),
        ("return b'a'", "type bytes"),
        ("return 10**30", "18 digits"),
    ],
)
def test_texts_that_no_task_asks_for_come_back_as_words(begin, body, says):
    session = begin()
    hold(session, f"def f(text):\n    {body}")
    answer = ask(session, "ab", frame="text")
    assert answer.failure.kind == "kind" and says in answer.failure.message


@pytest.mark.parametrize(
    ("call", "fits"), [("power(2, 1e8)", True), ("power(2, 10**8)", True), ("power(10**8, 2.0)", False)]
)
def test_a_number_that_is_declared_as_no_size_may_be_any(begin, call, fits):
    session = begin()
    session.run(f"def power(width, base): pass\ndef f(a):\n    return a * {call}")
    session.check("", {**ABOUT, "earlier": {"power": "04.a"}})
    question = Case("", (np.ones(3),), frame="numpy")
    bounds = Own({"width": NumberBounds(), "base": NumberBounds(real=True)})
    lent = (SOUND["lent"], lambda name, args, named, up: args[1] ** -args[0])
    answer = session.ask([question], 1, *lent, time.monotonic() + 3, lambda name: bounds)[0]
    assert (answer.failure is None) == fits
    assert fits or "larger than those of the question" in answer.failure.message


def test_lists_that_a_submission_changes_are_seen(begin):
    session = begin()
    hold(session, "def f(words):\n    words[0][0].append('x')\n    return words")
    assert ask(session, [(["a"], 1)], frame="text").failure.kind == "inputs-changed"
    hold(session, "def f(words):\n    return words[0]")
    np.testing.assert_array_equal(ask(session, [(["a"], 1)], frame="text").arrays[0], texts.to_bytes([["a"], 1]))


def test_a_lent_function_takes_texts_but_not_large_ones(begin):
    session = begin()
    session.run("def count(words): raise NotImplementedError\n")
    about = {**ABOUT, "earlier": {"count": "03.a"}}
    lent = {"lent": ("03.a",), "frame": "text", "sound": lambda name, args, named, up: {("a", "b"): len(args[0])}}
    for argument, expected in (("[('a', 2)]", {("a", "b"): 1}), ("[['ab' * 50] * 30]", None)):
        session.run(f"def f(a):\n    return count({argument})")
        session.check("", about)
        answer = ask(session, "x", **lent)
        if expected is None:
            assert "larger than those of the question" in answer.failure.message
        else:
            np.testing.assert_array_equal(answer.arrays[0], texts.to_bytes(expected))


def test_a_dictionary_and_a_name_arrive_as_they_were_and_a_change_is_reported(begin):
    session, sheet = begin(), {"apple": 30, "pineapple": 250, "free": 0}
    hold(session, "def f(prices, name, otherwise): return prices.setdefault(name, otherwise)")
    prices = [ask(session, sheet, name, -7, frame="plain").arrays[0] for name in ("pineapple", "free")]
    assert [float(price) for price in prices] == [250, 0]
    assert ask(session, sheet, "orange", -7, frame="plain").failure.kind == "inputs-changed"
    assert "orange" not in sheet


def test_every_question_of_chapter_11_arrives_as_it_was_asked(begin):
    """Its sheets are dictionaries in dictionaries, its programs lists in lists."""
    session = begin()
    hold(session, "import json\ndef f(*args): return [ord(sign) for sign in json.dumps(args)]")
    for task in tasks(11):
        for case in draw(variant_of(task), 3)[:3]:
            answer = ask(session, *case.args, frame=case.frame)
            assert answer.failure is None, task.id
            assert "".join(map(chr, answer.arrays[0].astype(int))) == json.dumps(case.args), task.id


def test_candidates_are_made_beside_the_students_code(begin):
    session = begin(ROOMY)
    source = "import torch\ndef f(model, x):\n    model.eval()\n    return not torch.equal(model(x), model(x))"
    assert hold(session, source).callable
    task = get_task("09.find-dropout")
    for case in draw(variant_of(task), 2):
        expected = any(use > 0 for _, use in case.args[0]["shares"])
        answer = ask(session, *case.args, frame=case.frame, seconds=20.0)
        assert answer.failure is None and answer.arrays[0] == np.array(expected), case.label


def test_losses_and_models_can_be_called_in_the_sandbox(begin):
    session = begin(ROOMY)
    source = "def f(loss_of, n):\n    import torch\n    ids = torch.ones(2, 5).long()\n"
    hold(session, source + "    return loss_of(lambda inputs: torch.zeros(*inputs.shape, n), ids)")
    case = draw(variant_of(get_task("09.find-shift")), 2)[0]
    answer = ask(session, *case.args, frame=case.frame, seconds=20.0)
    assert abs(float(answer.arrays[0]) - np.log(case.args[1])) < 1e-6


LAYER_CLASS = """
import torch
from torch import nn

class f(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.w = MADE

    def forward(self, x):
        return x @ self.w
"""
PARAMETER = "nn.Parameter(torch.empty(rows, columns))"
WEIGHT, ROW = np.arange(6.0).reshape(2, 3), np.array([[1.0, -1.0]])
LAYER = {"frame": "torch", "sizes": 2, "parameters": ("w",), "seconds": 20.0}


def test_class_answers_with_given_weights_and_their_gradients(begin):
    session = begin(ROOMY)
    assert hold(session, LAYER_CLASS.replace("MADE", PARAMETER)).callable
    np.testing.assert_array_equal(ask(session, 2, 3, WEIGHT, ROW, **LAYER).arrays[0], ROW @ WEIGHT)
    back = ask(session, 2, 3, WEIGHT, ROW, results=2, gradients=(2, 3), upstream=np.ones((1, 3)), **LAYER).arrays
    np.testing.assert_array_equal(back[0], ROW.T @ np.ones((1, 3)))
    np.testing.assert_array_equal(back[1], np.ones((1, 3)) @ WEIGHT.T)


def test_lost_dtype_and_missing_parameter_of_a_class_come_back_as_words(begin):
    session = begin(ROOMY)
    hold(session, LAYER_CLASS.replace("MADE", "torch.ones(rows, columns)"))
    failure = ask(session, 2, 3, WEIGHT, ROW, **LAYER).failure
    assert failure.kind == "no-parameter" and "plain tensor" in failure.message
    session.run(LAYER_CLASS.replace("MADE", PARAMETER).replace("@ self.w", "@ self.w.float()"))
    session.run("def g(rows, columns, w, x): return (x @ w).float()")
    assert session.check("", {**ABOUT, "expression": "g"}).there
    assert ask(session, 2, 3, WEIGHT, ROW, keeps_dtype=True, **LAYER).failure.kind == "dtype"


FED = {
    "x @ w": "",
    "torch.einsum('td,de->te', x, w)": "",
    "torch.cat((x[:, :1] @ w[:1], x[:, :0]), 1) + x[:, 1:] @ w[1:]": "",
    "torch.stack([row @ w for row in x])": "fed-singly",
    "(torch.cat((x, x)) @ w)[:5]": "fed-again",
}


def test_rows_fed_again_and_rows_fed_singly_come_back_as_words(begin):
    session, x, w = begin(ROOMY), np.ones((5, 3)), np.arange(6.0).reshape(3, 2)
    for way, kind in FED.items():
        hold(session, f"import torch\n\ndef f(x, w):\n    return {way}")
        answer = ask(session, x, w, frame="torch", fed=(1, 5, 1), seconds=20.0)
        assert (answer.failure.kind if answer.failure else "") == kind, way
        if not kind:
            np.testing.assert_allclose(answer.arrays[0], x @ w)
