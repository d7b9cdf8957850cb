"""A submission's answers leave the sandbox as plain arrays and words, or end it; nothing else is believed."""

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

pytestmark = NEEDS_SANDBOX
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
    session = begin(Limits(**{**vars(LIMITS), "memory_mb": 1000}))
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


def test_a_lent_function_is_computed_outside(begin):
    session = begin()
    source = "def square(x): raise NotImplementedError\n"
    session.run(source)
    session.run("def f(a):\n    return square(a) + 1")
    about = {**ABOUT, "earlier": {"square": "04.a"}}
    assert session.check("", about).there
    calls = mmap.mmap(-1, 1)  # shared with the process that computes

    def sound(name, args, named, upstream):
        assert (name, named) == ("04.a", {})
        calls[0] += 1
        return [2 * args[0] * upstream[0]] if upstream else args[0] ** 2

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
    session.run("import torch\ndef square(x): pass")
    session.run(f"def f(a):\n    return {call}")
    session.check("", {**ABOUT, "earlier": {"square": "04.a"}})

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
        "one = {'failure': None, 'there': True}\n"
        "            mine.line.send({'token': mine.token, 'late': False, 'answers': [one]}, [np.ones(3)])",
        "mine.line.send({'token': 'x', 'late': False}, [])",
        "mine.line.send({}, [])",
        "mine.line.link.send(b'SLK1' + b'\\xff' * 12)",
    ],
)
def test_answers_that_nobody_asked_for_end_the_submission(begin, forged):
    session = begin()
    hold(
        session,
        MISUSE
        + f"""
            {forged}
            return a + 1
        """,
    )
    with pytest.raises(Dead, match="rules"):
        for _ in range(3):
            assert ask(session, np.zeros(3)).arrays is not None


@pytest.mark.parametrize(
    "header",
    [
        "{'late': False, 'answers': [{'failure': 'pass', 'printed': 3}]}",
        "{'late': False, 'answers': [{'failure': ['won', 'a', 'b'], 'printed': 3}]}",
        "{'late': False, 'answers': [{'failure': None, 'there': True}]}",
        "{'late': False, 'answers': [{'failure': None, 'there': 1}]}",
        "{'verdict': 'pass', 'points': 1000}",
        "{'late': False, 'answers': []}",
        "{'late': False, 'answers': [{'failure': None, 'there': True}] * 2}",
        "{'late': False, 'answers': ['pass']}",
    ],
)
def test_answers_of_another_form_end_the_submission(begin, header):
    session = begin()
    hold(
        session,
        MISUSE
        + f"""
            mine._ask = None
            mine.line.send({{**{header}, 'token': mine.token}}, [])
            import time; time.sleep(20)
        """,
    )
    with pytest.raises(Dead, match="in another way"):
        ask(session, np.zeros(3))


def test_an_answer_that_goes_down_a_gradient_is_lent_it(begin):
    session = begin()
    session.run("def square(x): raise NotImplementedError")
    step = "w = w.clone().requires_grad_()\n    square(w).sum().backward()\n    return w.detach() - w.grad / 4"
    session.run(f"def f(w):\n    {step}")
    session.check("", {**ABOUT, "earlier": {"square": "04.a"}})

    def sound(name, args, named, upstream):
        return [2 * args[0] * upstream[0]] if upstream else args[0] ** 2

    answer = ask(session, np.array([1.0, -2.0]), sound=sound, descends=True, **SOUND)
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
    session.run("def power(width, base): pass")
    session.run(f"def f(a):\n    return a * {call}")
    session.check("", {**ABOUT, "earlier": {"power": "04.a"}})
    lent = {**SOUND, "sound": lambda name, args, named, up: args[1] ** -args[0]}
    question = Case("", (np.ones(3),), frame="numpy")
    bounds = Own({"width": NumberBounds(), "base": NumberBounds(real=True)})
    answer = session.ask([question], 1, lent["lent"], lent["sound"], time.monotonic() + 3, lambda name: bounds)[0]
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
