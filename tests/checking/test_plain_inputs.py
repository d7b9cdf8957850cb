"""Questions that hold dictionaries, lists and text: handed over as copies, and looked at afterwards."""

import pytest

from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import run


class Touchy(dict):
    def __eq__(self, other):
        raise RuntimeError("do not compare me")

    __hash__ = None


def question(*args, frame="plain"):
    return Case("a question", args, frame=frame)


@pytest.mark.parametrize("frame", ["plain", "numpy", "torch"])
def test_what_a_student_does_to_a_dictionary_stays_with_the_student(frame):
    case = question({"a": [1, 2]}, "b", frame=frame)

    def student(store, name):
        store["a"].append(3)
        store[name] = 4
        return len(store)

    answer = run(student, case)
    assert answer.failure is not None and answer.failure.kind == "inputs-changed"
    assert case.args == ({"a": [1, 2]}, "b")


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], "text", (1, "two"), None, 3])
def test_plain_inputs_that_are_left_alone_are_no_failure(value):
    answer = run(lambda arg: 5, question(value))
    assert answer.failure is None and answer.arrays[0] == 5


def test_dictionary_that_cannot_be_compared_any_more_was_changed():
    answer = run(lambda store: store.update(a=Touchy()) or 1, question({"a": 1}))
    assert answer.failure is not None and answer.failure.kind == "inputs-changed"
