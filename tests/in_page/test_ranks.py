"""Parallel programs as answers in a page: verdicts, what can be seen of a wrong answer, questions on a right one."""

import json
import sys
import zipfile
from io import BytesIO

import numpy as np
import pytest

from softlookup_course.in_page.packing import _in_numpy, library, why_not
from softlookup_course.in_page.why import EFFECTS, EFFECTS_OF_RANKS, OTHER, SAME, SHAPE, STOPS, WAITS, why_questions
from softlookup_course.widgets import RankPlayer
from softlookup_course.widgets.interactive import without_comments
from softlookup_judge.authoring import find_root
from softlookup_judge.checking.baked import bake
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.checking.judge import ask
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.facts import facts_of
from softlookup_judge.data.variant import variant_of
from softlookup_judge.home import Checker
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.naming.nudge import nudge

sys.path.insert(0, str(find_root() / "tests" / "checking"))
from rank_tasks import GATHERED, RIGHT, TASKS  # noqa: E402

TASK_ID = "99.all-reduce"
CATALOGUE = Catalogue(TASKS)
TASK = CATALOGUE.task(TASK_ID)
RETURN = "    return np.concatenate(parts)"
WAITING = RIGHT.replace("sent = dist.isend(parts[to]", "dist.send(parts[to]").replace("        sent.wait()\n", "")


@pytest.fixture(scope="module")
def rank_page(page):
    more = {**facts_of(TASK), "calls": [], "formula": "", "way": ""}  # a course's own task has no help
    file = bake([TASK], turned=_in_numpy, more=lambda task: more, variants=False, pairs=True)
    assert page.load(99, file) == [TASK_ID]
    return page


def at_home(source):
    space = {"np": np}
    exec(compile(source, "<ipython-input-1>", "exec"), space)
    return Checker(CATALOGUE).check(TASK_ID, space["all_reduce"]).record()


def rounds_of(source):
    space, variant = {"np": np}, variant_of(TASK)
    exec(compile(source, "<ipython-input-1>", "exec"), space)
    return variant, ask(variant, LocalStudent(variant, space["all_reduce"]), questions_at_home(variant))


ANSWERS = {
    "right": RIGHT,
    "gathered": GATHERED,
    "mean": RIGHT.replace(RETURN, RETURN + " / world"),
    "short": RIGHT.replace(RETURN, RETURN + "[:-1]"),
    "one round": RIGHT.replace("2 * (world - 1)", "world - 1"),
    "another shape received": RIGHT.replace("np.empty_like(parts[into])", "np.empty(9, np.float32)"),
    "waits for ever": WAITING,
    "raises": RIGHT.replace(RETURN, "    raise KeyError(rank)"),
    "blank": "def all_reduce(x, dist):\n    raise NotImplementedError",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_verdict_on_ranks_in_a_page_is_that_of_check(rank_page, name):
    record, home = rank_page.check(TASK_ID, ANSWERS[name])["record"], at_home(ANSWERS[name])
    for field in ("verdict", "points", "diagnosis"):
        assert record[field] == home[field], field
    assert (record["verdict"] == "pass") is (name in ("right", "gathered"))


def hint_of(page, source):
    hints = page.check(TASK_ID, source)["hints"]
    return next((hint["text"] for hint in hints if hint["title"] == "Hint"), "")


def test_page_says_what_a_wrong_result_has_in_common_with_the_right_one(rank_page):
    negated = RIGHT.replace(RETURN, RETURN.replace("np", "-np"))
    on_all = "On all ranks where your result is wrong, it "
    assert hint_of(rank_page, ANSWERS["mean"]) == on_all + "is the right one times 1/the number of ranks."
    assert hint_of(rank_page, negated) == on_all + "is the right one with the sign changed."
    words = "agrees with the right one where both have numbers, with some missing along axis -1 at the end."
    assert hint_of(rank_page, ANSWERS["short"]) == on_all + words
    third = RIGHT.replace(RETURN, RETURN + " * (1 + (rank == 2))")
    assert hint_of(rank_page, third) == on_all + "is the right one times 2."


@pytest.mark.parametrize("name", ["another shape received", "waits for ever", "raises"])
def test_page_sees_nothing_where_ranks_do_not_come_to_their_end(rank_page, name):
    assert hint_of(rank_page, ANSWERS[name]) == ""
    words = {
        "another": "receives float32 of shape (9,)",
        "waits": "ranks wait for each other for ever",
        "raises": "KeyError",
    }
    assert words[name.split()[0]] in rank_page.check(TASK_ID, ANSWERS[name])["text"]


def test_hint_at_home_bears_worlds_of_several_sizes():
    for name in ANSWERS:
        variant, rounds = rounds_of(ANSWERS[name])
        assert bool(nudge(variant, rounds)) is (name not in ("right", "gathered", "blank")), name


def changed_source(code):
    return "\n".join(row[5:] for row in code.split("\n") if row[3:4] != "-")


def effect_of(case, source):
    """What comes out when a program is run without the judge."""
    from softlookup.ranks import WorldError, run_here

    space = {"np": np}
    inputs = [(x,) for x in case.args[0]]
    exec(compile(RIGHT, "<right>", "exec"), space)
    before = run_here(space["all_reduce"], inputs, case.offers).results
    exec(compile(source, "<changed>", "exec"), space)
    try:
        after = run_here(space["all_reduce"], inputs, case.offers).results
    except WorldError as error:
        return STOPS if error.kind == "mismatch" else WAITS
    except Exception:
        return STOPS
    pairs = [(a[0], b[0]) for a, b in zip(before, after, strict=True)]
    if any(a.shape != b.shape for a, b in pairs):
        return SHAPE
    return SAME if all(np.allclose(a, b, 1e-5, 1e-6) for a, b in pairs) else OTHER


def test_questions_on_a_right_program_have_the_key_that_running_it_gives():
    variant = variant_of(TASK)
    cases = questions_at_home(variant).cases
    effects = set()
    for seed in range(4):
        space = {"np": np}
        exec(compile(RIGHT, "<submission>", "exec"), space)
        for question in why_questions(variant, RIGHT, space, cases, np.random.default_rng(seed)):
            assert sorted(question["options"]) == sorted(EFFECTS_OF_RANKS)
            case = next(case for case in cases if f"“{case.label}”" in question["asks"])
            effect = effect_of(case, changed_source(question["code"]))
            assert question["options"][question["key"]] == effect, question
            effects.add(effect)
            many = f"{case.world} ranks" if case.world > 1 else "1 rank"
            assert f"It is called on {many}, with x of shape {case.args[0][0].shape} (“" in question["asks"]
            assert "Before: rank 0: shape (" in question["right"]
    assert {STOPS, WAITS} <= effects and len(effects) > 2, effects
    assert WAITS not in EFFECTS


def test_page_gets_what_runs_ranks_and_kernels_in_it_and_nothing_of_torch_or_triton():
    assert why_not(TASK) == ""
    names = zipfile.ZipFile(BytesIO(library())).namelist()
    rooms = {name for name in names if name.startswith(("softlookup/ranks/", "softlookup/tiles/"))}
    rooms -= {name for name in rooms if "/inside/" in name}
    ranks = ("__init__.py", "__init__.pyi", "in_process.py", "links.py", "records.py", "rendezvous.py", "world.py")
    tiles = ("__init__.py", "__init__.pyi", "costs.py", "kernel.py", "memory.py", "replay.py")
    assert rooms == {f"softlookup/ranks/{name}" for name in ranks} | {f"softlookup/tiles/{name}" for name in tiles}


def test_program_runs_in_a_page_and_what_is_not_there_is_said(page):
    source = """
from softlookup.ranks import LinkSpeed, run_here
def swap(x, dist):
    other, part = 1 - dist.get_rank(), np.empty_like(x)
    sent = dist.isend(x, other)
    dist.recv(part, other)
    sent.wait()
    return part
outcome = run_here(swap, [(np.zeros(4),), (np.ones(4),)])
print(outcome.traffic.sent_bytes, LinkSpeed(1.0, 32.0).seconds(outcome.traffic))
"""
    assert page.ask({"do": "run", "cells": [source]})["printed"] == "[32, 32] 2.0"
    for name in ("softlookup.ranks import run_on_torch", "softlookup.tiles import on_triton"):
        error = page.ask({"do": "run", "cells": [f"from {name}"]})["error"]
        assert error.endswith("not in the page: run this cell in the notebook."), error


def test_page_plays_the_readers_own_program(rank_page):
    cells = [{"task": TASK_ID, "source": RIGHT}]
    assert rank_page.check(TASK_ID, RIGHT)["plays"]
    reply = rank_page.ask({"do": "play", "task_id": TASK_ID, "cells": cells})
    assert reply["says"] == "On the question “three ranks, seven numbers”:"
    state = reply["state"]
    space = {"np": np}
    exec(compile(RIGHT, "<right>", "exec"), space)
    case = next(case for case in questions_at_home(variant_of(TASK)).cases if case.world == 3)
    figure = RankPlayer.of(space["all_reduce"], [(x,) for x in case.args[0]], offers=case.offers)
    assert state["programs"] == json.loads(json.dumps(figure.programs)) and state["links"] == figure.links
    assert without_comments(state["_esm"]) == figure._esm and without_comments(state["_css"]) == figure._css


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "waits for ever",
            "There is nothing to play on the question “three ranks, seven numbers”: ranks wait for each",
        ),
        ("raises", "On the question “three ranks, seven numbers” your program raises KeyError: 0."),
    ],
)
def test_page_says_why_there_is_nothing_to_play(rank_page, name, words):
    cells = [{"task": TASK_ID, "source": ANSWERS[name]}]
    reply = rank_page.ask({"do": "play", "task_id": TASK_ID, "cells": cells})
    assert reply["says"].startswith(words) and "state" not in reply


@pytest.mark.slow
def test_nothing_is_played_of_a_blank_answer_or_of_another_task(rank_page):
    assert not rank_page.check(TASK_ID, ANSWERS["blank"])["plays"]
    cells = [{"task": TASK_ID, "source": "all_reduce = 3"}]
    reply = rank_page.ask({"do": "play", "task_id": TASK_ID, "cells": cells})
    assert reply == {"says": "There is no function `all_reduce` to play."}
    rank_page.load(4)
    scores = "def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)"
    assert rank_page.check("04.scores", scores)["plays"] is False
