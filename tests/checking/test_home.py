"""``check`` at home: bad input, interruption, endless loops, shortcuts, noise; each gives one clear result."""

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc

import numpy as np
import pytest
import torch

from published import world
from softlookup_judge import MIME, check, get_task
from softlookup_judge.checking.catalogue import UnknownTask, tasks
from softlookup_judge.home import Checker


def test_text_plain_is_exactly_the_points_in_a_kernel_and_the_words_in_a_terminal(monkeypatch):
    right = check("04.mix", lambda w, v: w @ v)
    assert repr(right) == "2.0" and str(right) == right.text()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert float(right._repr_mimebundle_()["text/plain"]) == 2.0
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert right._repr_mimebundle_()["text/plain"] == right.text()
    wrong = check("04.mix", lambda w, v: v)
    assert repr(wrong) == "0.0"


def test_partial_credit_is_a_number_between():
    result = check("04.softmax", lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True))
    assert result.verdict == "partial"
    assert float(repr(result)) == pytest.approx(0.7 * 3)
    assert result.diagnosis == ("no-max",)


def test_record_is_json_and_names_everything():
    bundle = check("04.scale", lambda s, h: s)._repr_mimebundle_()
    record = json.loads(json.dumps(bundle[MIME]))
    assert record["task"] == "04.scale"
    assert record["diagnosis"] == ["no-sqrt"]
    shown = {"title", "cases", "inputs", "read"}
    assert set(record) - shown == {"task", "variant", "points", "max", "verdict", "diagnosis", "message"}
    assert shown <= set(record) and not shown & set(check("04.scale", lambda s, h: s).record())


def test_unknown_task_names_the_nearest():
    result = check("04.scael", lambda: None)
    assert (result.verdict, result.points, result.max_points) == ("unknown", 0, 0)
    assert result.text().startswith("Unknown task '04.scael'.\n  Did you mean 04.scale or ")
    assert "points" not in result._repr_mimebundle_()["text/html"].partition("</style>")[2]
    with pytest.raises(UnknownTask, match=r"04\.scale"):
        get_task("04.scael")
    for odd in ("", "scale", "99.scale", None, 4, "²²."):
        assert check(odd, lambda: None).headline == f"Unknown task {str(odd)!r}."


def test_unknown_chapter_is_named():
    with pytest.raises(KeyError, match="chapter 77"):
        tasks(77)


def test_unknown_variant_is_refused():
    result = check("04.scale", lambda s, h: s, variant=17)
    assert result.verdict == "error"
    assert "variant 17" in result.message


@pytest.mark.parametrize("obj", [3.0, None, "scale", torch.ones(3), [1, 2]], ids=repr)
def test_an_object_that_is_no_function_is_said_to_be(obj):
    result = check("04.scale", obj)
    assert result.verdict == "wrong"
    assert type(obj).__name__ in result.message
    assert "`scale`" in result.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda w, v: None, "return"),
        (lambda w, v: "two", "str"),
        (lambda w, v: (w @ v).to(torch.complex64), "complex"),
        (lambda w, v: object(), "object"),
        (lambda w, v: {"z": w @ v}, "dict"),
        (lambda w, v: [[1.0], [1.0, 2.0]], "unequal lengths"),
        (lambda w, v: (w @ v)[0], "shape"),
        (lambda w, v: float("nan") * (w @ v), "NaN"),
        (lambda w, v: w @ v + float("inf"), "+inf"),
        (lambda w: w, "TypeError"),
        (lambda w, v: w @ torch.ones(99, 2), "RuntimeError"),
        (lambda w, v: np.array(["a"]), "dtype"),
    ],
)
def test_wrong_kinds_shapes_and_values_are_named(answer, words):
    result = check("04.mix", answer)
    assert result.verdict in ("wrong", "error")
    assert result.points == 0
    assert words in result.message, result.text()
    assert "<div" in result._repr_mimebundle_()["text/html"]


def _list_of_lists():
    level = [0.0]
    for _ in range(40):
        level = [level, level]
    return level


@pytest.mark.parametrize(
    "large",
    [
        lambda: torch.ones(1).expand(10**6, 10**6),
        lambda: torch.ones(1, dtype=torch.int8).expand(4000, 4000),
        lambda: torch.ones(1).expand(2**31, 2**31),
        lambda: np.broadcast_to(np.ones(1), (10**9, 10**9)),
        lambda: torch.sparse_coo_tensor(size=(20_000, 20_000)),
        lambda: torch.empty(10**5, 10**5, device="meta"),
        lambda: [torch.ones(1).expand(10**4, 10**4)] * 4,
        lambda: range(10**9),
        lambda: memoryview(bytes(10**6)),
        _list_of_lists,
    ],
)
@pytest.mark.parametrize("task_id", ["04.mix", "03.bpe", "04.project"])
def test_size_of_a_result_is_judged_before_its_numbers_are_read(task_id, large):
    tracemalloc.start()
    result = check(task_id, lambda *inputs: (large(),) * 3 if task_id == "04.project" else large())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.verdict == "wrong" and "Your function returned" in result.message
    assert "too large" in result.message or get_task(task_id).frame == "text"
    assert most < 8_000_000


def test_an_input_that_was_made_large_is_not_read():
    def scale(scores, head_width):
        scaled = scores / head_width**0.5
        scores.set_(torch.ones(1).expand(9**9, 9**9))
        return scaled

    assert "in place" in check("04.scale", scale).message


@pytest.mark.parametrize(("kind", "words"), [("to_sparse()", "a sparse tensor"), ("to('meta')", "the device meta")])
def test_tensors_without_plain_numbers_are_named(kind, words):
    assert words in check("04.mix", lambda w, v: eval(f"(w @ v).{kind}")).message


def test_results_without_end_are_not_counted_to_the_end():
    assert "1000 results or more" in check("04.project", lambda *inputs: itertools.repeat(inputs[0])).message


def test_wrong_number_of_results_is_counted():
    assert "3 results are returned together" in check("04.project", lambda x, q, k, v: x @ q).message
    assert "2 results" in check("04.project", lambda x, q, k, v: (x @ q, x @ k)).message


def test_an_answer_that_depends_on_what_came_before_fails():
    state = {"calls": 0}

    def first_time_only(weights, v):
        state["calls"] += 1
        return weights @ v if state["calls"] <= 4 else weights @ v + 1

    assert check("04.mix", first_time_only).verdict == "wrong"


def test_a_deep_traceback_becomes_one_line_of_the_students_code():
    namespace = world(4, {"04-mix": "def mix(weights, v):\n    return deeper(weights, 60)\n\ndef deeper(x, n):\n"
                             "    return deeper(x, n - 1) if n else x.no_such_attribute\n"})  # fmt: skip
    result = check("04.mix", namespace["mix"])
    assert result.verdict == "error"
    assert "no_such_attribute" in result.message
    assert "line 5 of `deeper`" in result.message
    assert len(result.message) < 400


def test_endless_recursion_is_one_message():
    def again(weights, v):
        return again(weights, v)

    result = check("04.mix", again)
    assert result.verdict == "error"
    assert "RecursionError" in result.message


def test_sys_exit_is_an_exception_like_any_other():
    result = check("04.mix", lambda w, v: sys.exit("bye"))
    assert result.verdict == "error"
    assert "SystemExit" in result.message


def test_what_the_code_prints_is_kept_short_and_away_from_stderr(capfd):
    def loud(weights, v):
        print("x" * 100_000)
        print("warning!", file=sys.stderr)
        return v

    result = check("04.mix", loud)
    assert capfd.readouterr() == ("", "")
    assert len(result.printed) < 2100
    assert "characters more" in result.printed
    assert "what your code printed" in result._repr_mimebundle_()["text/html"]


def test_an_endless_loop_is_stopped():
    checker = Checker(seconds=0.3)

    def forever(weights, v):
        while True:
            pass

    result = checker.check("04.mix", forever)
    assert (result.verdict, result.points) == ("timeout", 0)
    assert "loop that never ends" in result.message
    assert checker.check("04.mix", lambda w, v: w @ v).verdict == "pass"


def test_an_interrupt_gives_a_verdict_and_leaves_the_rest_going():
    def forever(weights, v):
        # Set off in here, so that it cannot come before the answer is called.
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        while True:
            pass

    # A shell's background job ignores interrupts, and what it starts does so too: a notebook's kernel does not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = check("04.mix", forever)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.verdict, result.points) == ("stopped", 0)
    assert "interrupted" in result.message
    assert check("04.mix", lambda w, v: w @ v).verdict == "pass"


def test_panel_says_got_wanted_difference_in_words_and_cells():
    result = check("04.mix", lambda w, v: w @ v + 1)
    html = result._repr_mimebundle_()["text/html"]
    for words in ("got", "wanted", "difference", "aria-label", "cells differ", "one-head-mix"):
        assert words in html
    assert "<script" not in html


def test_panel_escapes_what_students_write():
    def bad(weights, v):
        raise ValueError("<script>alert(1)</script>")

    assert "<script" not in check("04.mix", bad)._repr_mimebundle_()["text/html"]


def test_a_panel_of_a_large_tensor_stays_small():
    def large(weights, v):
        return torch.zeros(400, 400)

    assert len(check("04.mix", large)._repr_mimebundle_()["text/html"]) < 12_000


def test_importing_softlookup_checks_does_not_load_torch():
    code = """
        import sys
        from softlookup import check
        from softlookup_judge import tasks
        assert len(tasks()) >= 10
        assert "torch" not in sys.modules, "torch"
        assert "matplotlib" not in sys.modules, "matplotlib"
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_a_failure_of_the_judges_own_names_the_stage(monkeypatch):
    def score(task, rounds):
        raise IndexError("out of range")

    monkeypatch.setattr("softlookup_judge.checking.judge.score", score)
    result = check("04.mix", lambda w, v: w @ v)
    assert result.verdict == "error" and "It ended with IndexError in the stage score." in result.text()
