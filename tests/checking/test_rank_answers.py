"""One rank of a parallel program as an answer, checked at home: values, messages, and what is said of them."""

import re
from pathlib import Path

import numpy as np
import pytest

from rank_tasks import GATHERED, RIGHT, TASKS, TEXTS
from softlookup_inside.asking.case import Case
from softlookup_inside.ranks.packing import pack_inbox
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.data.own import OwnTasks
from softlookup_judge.data.result import panel
from softlookup_judge.home import Checker
from softlookup_judge.judging.ranks import on_all_ranks, rank_question


def checked(source, own_tasks=TASKS, file="<ipython-input-1>"):
    space = {"np": np}
    exec(compile(source, file, "exec"), space)
    return Checker(Catalogue(own_tasks)).check("99.all-reduce", space["all_reduce"])


def test_a_right_program_earns_all_points():
    result = checked(RIGHT)
    assert (result.verdict, result.points) == ("pass", 4), result.text()


SUM = "parts[into] = parts[into] + received if step < world - 1 else received"
IN_PLACE = "parts[into][:] = parts[into] + received if step < world - 1 else received"
VIEWS = ("part.copy() for part in np.array_split(x, world)", "*np.array_split(x, world)")


def test_a_sum_in_place_is_allowed_in_a_copy_and_not_in_an_input():
    assert checked(RIGHT.replace(SUM, IN_PLACE)).points == 4
    assert checked(RIGHT.replace(*VIEWS)).points == 4
    result = checked(RIGHT.replace(SUM, IN_PLACE).replace(*VIEWS))
    assert (result.verdict, result.points, result.diagnosis) == ("wrong", 0, ("habit:inputs-changed",))
    assert "(parts of `np.split` are views" in result.text()


def test_an_input_that_is_put_right_again_is_as_it_was():
    again = RIGHT.replace("    return np", "    x *= -1\n    return np").replace(
        "    parts =", "    x *= -1\n    parts ="
    )
    assert checked(again.replace("np.array_split(x, world)", "np.array_split(-x, world)")).points == 4


def test_what_a_call_returns_is_no_value_and_the_verdict_says_what_to_write():
    source = """def all_reduce(x, dist):
    total = dist.isend(x, 1 - dist.get_rank()) if dist.get_rank() else dist.send(x, 1)
    return total / 2
"""
    words = (
        "RankError: send returns nothing: write dist.send(…) as a line of its own, and use your array (rank 0, line 3"
    )
    assert words in checked(source).text()


def test_a_blank_function_that_a_rank_calls_is_named():
    source = "def halves(x):\n    raise NotImplementedError()\n\ndef all_reduce(x, dist):\n    return halves(x)\n"
    for file in ("<ipython-input-1>", "<string>"):
        assert "It calls `halves`, which is still blank (rank 0)." in checked(source, file=file).text()


def test_a_long_sentence_of_an_exception_ends_with_a_whole_word():
    source = "def all_reduce(x, dist):\n    raise ValueError('collective ' * 40)\n"
    assert "collective collective … (rank 0" in checked(source).text()


def test_right_values_with_too_much_traffic_earn_a_part_and_say_how_much():
    result = checked(GATHERED.replace("isend(x, other)", "isend(np.concatenate([x, x])[: x.size], other)"))
    assert (result.verdict, result.points) == ("pass", 4)  # 64 bytes on each link, where 96 are allowed
    twice = """def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    total, passed = x.copy(), x.copy()
    for _ in range(world - 1):
        received = np.empty_like(x)
        sent = dist.isend(passed, (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        total, passed = total + received, received
    return total
"""
    result = checked(twice)
    assert (result.verdict, result.points) == ("partial", pytest.approx(0.7 * 4))
    words = "every value is right, and the busiest link carries 192 bytes, 2.0 times the 96 that are allowed."
    assert words in result.text()
    html = panel(result)
    assert html.count("<table") == 1 and "<caption>traffic beyond the limits</caption>" in html
    columns = re.findall(r'<th scope="row">([^<]*)</th>', html)
    assert columns == ["bytes on the busiest link", "messages", "steps", "bytes of the busiest rank"]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html) == ["96", "0", "0", "0"]
    # A page of the book shows these elements alone.
    script = Path(__file__).parents[2].joinpath("book", "_python", "box.js").read_text(encoding="utf-8")
    shown = set(re.search(r'ELEMENTS = new Set\("([^"]*)"', script)[1].lower().split())
    assert set(re.findall(r"<([a-z]+)", html)) <= shown


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [("parts[into] + received if", "received if", "own-part-lost"), ("2 * (world - 1)", "world - 1", "one-round")],
)
def test_a_known_mistake_is_named(old, new, mistake):
    result = checked(RIGHT.replace(old, new))
    assert (result.points, result.diagnosis) == (0, (mistake,))


def test_the_first_rank_that_is_wrong_is_named():
    result = checked(RIGHT.replace("return np.concatenate(parts)", "return np.concatenate(parts) + (rank == 1)"))
    assert result.points == 0 and "of sum of rank 1 is" in result.text()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "sent = dist.isend(parts[to], (rank + 1) % world)",
            "dist.send(parts[to], (rank + 1) % world)",
            "ranks wait for each other for ever: rank 0 waits for rank 1, 1 for",
        ),
        ("sent.wait()", "pass", r"rank 0 calls isend to rank 1 and never wait() on it."),
        ("np.empty_like(parts[into])", "np.empty(9, np.float32)", "sends float32 of shape (2,) to rank 0, which rec"),
        ("dist.recv", "dist.receive", "(rank 0, line 9 of"),
        (
            "    return np.concatenate(parts)",
            "    pass",
            "Your function returned None, as every function does that ends without `return` (rank 0).",
        ),
        (
            "    return np",
            "    dist.all_reduce(x)\n    return np",
            "dist has no 'all_reduce' here: it has get_rank, get_",
        ),
        (
            "    return np",
            "    if rank == 1:\n        raise KeyError('x')\n    return np",
            "KeyError: 'x' (rank 1, line 13 of",
        ),
        ("(rank + 1) % world)", "rank + 1)", "send names rank 2: in a world of 2"),
        ("parts[to], (", "parts[to] + np.float32(np.random.random()), (", "rank 0 does something else when it is"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence(old, new, words):
    source = RIGHT.replace(old, new).replace("sent.wait()", "sent.wait()" if "dist.send(" not in new else "pass")
    result = checked(source)
    assert result.points == 0 and words.lower() in result.text().lower(), result.text()


def test_a_blank_answer_is_blank():
    assert checked("def all_reduce(x, dist):\n    raise NotImplementedError").verdict == "blank"


@pytest.mark.parametrize(
    "call",
    [
        "from softlookup_inside.ranks.collectives import all_reduce as f; f(dist._recorder, x, None)",
        "dist._operations.all_reduce(x)",
        "type(dist)(dist._recorder).all_reduce(x)",
    ],
)
def test_a_finished_collective_that_is_not_offered_is_a_shortcut(call):
    result = checked(f"def all_reduce(x, dist):\n    x = x.copy()\n    {call}\n    return x\n")
    assert result.points == 0 and "`softlookup_inside.ranks.collectives`" in result.text()


def test_honest_globals_do_not_matter():
    counting = "calls = 0\n" + RIGHT.replace("    rank, world", "    global calls\n    calls += 1\n    rank, world", 1)
    assert checked(counting).points == 4


def test_a_list_of_inputs_has_one_entry_for_each_rank():
    case = Case("", ([np.ones(2)] * 3, 7), frame="numpy", world=3)
    assert rank_question(case, 2, pack_inbox({})).args[1] == 7
    with pytest.raises(ValueError, match="has 3 ranks, and a list of 2 inputs"):
        rank_question(Case("", ([1, 2],), world=3), 0, pack_inbox({}))
    arrays = on_all_ranks([np.zeros(1), np.zeros(2)], [np.ones(3), np.ones(4)])
    assert [array.size for array in arrays] == [1, 3, 2, 4, 4]


def test_ranks_that_all_send_to_all_load_no_link_too_much_but_each_rank():
    source = TEXTS["99_ranks_tasks.py"].replace("24, 6))", "None, None, 2 * 3 * 16 * 4 // 4))")
    tasks = OwnTasks(tuple({**TEXTS, "99_ranks_tasks.py": source}.items()))
    result = checked(GATHERED, tasks)
    assert (result.verdict, result.points) == ("partial", pytest.approx(0.7 * 4))
    words = "every value is right, and the busiest rank sends or receives 192 bytes, 2.0 times the 96 that are allowed."
    assert words in result.text()
    assert checked(RIGHT, tasks).points == 4
