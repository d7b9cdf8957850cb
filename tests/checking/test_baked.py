"""What is written down is enough for a verdict where torch cannot be imported, and the verdict is that of ``check``."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from softlookup_inside.asking.calm import calm_torch
from softlookup_judge import check, tasks
from softlookup_judge.checking.baked import bake, read
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of

WITHOUT_TORCH = """
import json, sys
import numpy as np

class NoTorch:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "torch":
            raise ImportError("torch cannot be imported here")

sys.meta_path.insert(0, NoTorch())
from softlookup_judge import get_task
from softlookup_judge.checking.baked import read
from softlookup_judge.checking.judge import judge
from softlookup_judge.data.variant import variant_of
from softlookup_judge.data.result import panel
from softlookup_inside.asking.probe import Answer, Failure

class Kept:
    def __init__(self, answers):
        self.kept = answers
    def answers(self, cases, results, lent=()):
        return iter(self.kept)
    def lendable(self, sound_too=False):
        return ()
    def differed(self, at):
        return False

folder = sys.argv[1]
asked = read(open(f"{folder}/baked.safetensors", "rb").read()).questions
arrays = np.load(f"{folder}/answers.npz")
for line in open(f"{folder}/answers.jsonl"):
    told = json.loads(line)
    answers = [
        Answer(
            None if names is None else tuple(arrays[name] for name in names), failure and Failure(*failure), printed
        )
        for names, failure, printed in told["answers"]
    ]
    result = judge(variant_of(get_task(told["task"])), Kept(answers), task_questions=asked[told["task"], 0])
    print(json.dumps([result.text(), panel(result)]))
assert "torch" not in sys.modules
"""


@pytest.mark.one_in(10)
@pytest.mark.parametrize("chapter", [0, 4, 8, 10, 13])
def test_verdict_without_torch_is_that_of_check(chapter, tmp_path):
    file = bake(tasks(chapter), variants=False)
    (tmp_path / "baked.safetensors").write_bytes(file)
    baked_questions, arrays, lines, expected = read(file).questions, {}, [], []
    with calm_torch():
        for task in tasks(chapter):
            cases = baked_questions[task.id, 0].cases
            for slugs in ((), *((mistake.slug,) for mistake in task.mistakes[::4])):
                function, answers = answer(variant_of(task), slugs), []
                student = LocalStudent(variant_of(task), function)
                for reply in student.answers((*cases, cases[0]), len(task.returns)):
                    names = None if reply.arrays is None else [f"{len(arrays) + i}" for i in range(len(reply.arrays))]
                    arrays |= dict(zip(names or (), reply.arrays or (), strict=True))
                    failure = reply.failure and [reply.failure.kind, reply.failure.message, reply.failure.where]
                    answers.append([names, failure, reply.printed])
                lines.append(json.dumps({"task": task.id, "answers": answers}))
                result = replace(check(task.id, function), ways=(), nudge="")  # help stands beside the verdict
                expected.append([result.text(), result._repr_mimebundle_()["text/html"]])
    np.savez(tmp_path / "answers.npz", **arrays)
    (tmp_path / "answers.jsonl").write_text("\n".join(lines) + "\n")
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected
