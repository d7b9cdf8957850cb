"""Only the student's code is on the student's clock: what the judge imports and computes is not."""

import json
import os
import subprocess
import sys
from functools import wraps
from pathlib import Path

import pytest
import torch

from published import solutions, world
from softlookup_inside.asking.probe import Clock, TimeIsUp
from softlookup_judge import get_task
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import mutant_source
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions_at_home

HERE = Path(__file__).parent


@pytest.mark.slow
def test_a_fresh_process_imports_and_judges_nothing_on_the_clock():
    """The first check of a task may import torch's compiler and draw its questions: seconds, on a busy machine."""
    paths = os.environ | {"PYTHONPATH": str(HERE.parents[1])}  # for the answers beside the benchmarks
    command = [sys.executable, HERE / "on_the_clock.py", *map(str, sorted(CHAPTERS))]
    run = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env=paths, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout.splitlines()[-1]) == {"imported": [], "judged": []}


def test_what_is_lent_is_computed_while_the_clock_stands():
    seen = []

    class Watching(LocalStudent):
        def reference_function(self, variant, case):
            function = super().reference_function(variant, case)

            @wraps(function)
            def computed(*args, **named):
                seen.append((variant.task, self.clock._runs))
                return function(*args, **named)

            return computed

    task = get_task("04.scores")
    calls = solutions(4)["04-attention"].replace("q @ k.transpose(-2, -1)", "scores(q, k)")
    space = world(4, {"04-scores": mutant_source(variant_of(task), ("no-transpose",)), "04-attention": calls})

    variant = variant_of(get_task("04.attention"))
    student = Watching(variant, space["attention"], clock=Clock(10.0))
    assert judge(variant, student, task_questions=questions_at_home(variant)).verdict == "pass"
    assert seen and set(seen) == {(task, False)}


def test_a_clock_counts_its_parts_together_and_no_pause():
    clock = Clock(3600.0)
    with clock.running(), clock.halted():
        assert not clock._runs
    before = clock.left
    with clock.halted():
        pass
    assert clock.left == before < 3600.0
    clock = Clock(0.0)
    with pytest.raises(TimeIsUp), clock.running():
        while True:
            pass
    with pytest.raises(TimeIsUp), clock.running():
        while True:
            pass


def test_gradients_are_kept_after_an_alarm_that_fell_where_they_were_not():
    """An alarm within the end of ``torch.no_grad()`` would leave them switched off for all that comes after."""

    def answer(scores, head_width):
        torch.set_grad_enabled(False)
        while True:
            pass

    variant = variant_of(get_task("04.scale"))
    with pytest.raises(TimeIsUp):
        LocalStudent(variant, answer, clock=Clock(0.05)).ask(questions_at_home(variant).cases[0], 1)
    assert torch.is_grad_enabled()
