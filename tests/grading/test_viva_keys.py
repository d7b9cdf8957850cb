"""Keys of vivas by another route: the code that a question shows is run as text, in this process, with its inputs."""

import re

import nbformat
import numpy as np
import pytest
import torch
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_course.viva.questions import EDIT, RESULT, VALUE, questions_on
from softlookup_course.viva.running import VivaExaminer
from softlookup_course.viva.shown import STOPS
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_judge.authoring import read_solution
from softlookup_judge.checking.catalogue import get_task

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=20, answer_s=20, total_s=500)
HANDED_IN = {
    "04_one_head": "scores softmax weights attention",
    "05_many_heads": "split merge project-heads heads output shares grouped dropout multi-head",
    "08_decoder_and_masks": "masked-softmax cross-attention",
}
"""What a student has right, the largest last; the rest is blank, and gives no question."""

NUMBERS = re.compile(r"ln (\d+)")


def read(text):
    """A value as it stands on paper."""
    names = {"nan": np.nan, "inf": np.inf, "True": True, "False": False}
    return eval(NUMBERS.sub(lambda match: str(float(np.log(int(match[1])))), text), {"__builtins__": {}}, names)


def inputs_of(question):
    """The inputs of a question by name, as tensors."""
    inputs = {}
    for text in question.call:
        name, value = text.split(" = ", 1)
        value = read(value)
        if isinstance(value, list):
            value = torch.tensor(value)
            value = value if value.dtype == torch.bool else value.float()
        inputs[name] = value
    return inputs


def program(code):
    """The shown function as it is after the change, line by line."""
    rows = code.split("\n")
    is_replaced = any(row[3:4] == "+" for row in rows)
    lines = []
    for row in rows:
        if row[3:4] != "-":
            lines.append(row[5:])
        elif not is_replaced:
            lines.append(row[5 : 5 + len(row[5:]) - len(row[5:].lstrip())] + "pass")
    return lines


def with_option(code, option):
    """The shown function with the change that an option names."""
    lines = program(code)
    number = int(re.search(r"\d+", option)[0]) - 1
    indent = " " * (len(lines[number]) - len(lines[number].lstrip()))
    if option.endswith("is taken out"):
        lines[number] = indent + "pass"
    elif " is moved behind line " in option:
        lines.insert(int(option.rpartition(" ")[2]) - 1, lines.pop(number))
    else:
        lines[number] = indent + option.partition(":")[2].strip()
    return lines


def result(space, name, lines, inputs):
    """What a function or a layer gives; None for an exception."""
    try:
        exec("\n".join(lines), space)
        made = space[name]
        if isinstance(made, type):
            names = {"d_model", "n_heads", "n_kv_heads", "head_width", "d_hidden"} & set(inputs)
            layer = made(**{key: inputs.pop(key) for key in names})
            for key in ("w_q", "w_k", "w_v", "w_o"):
                getattr(layer, key).data = inputs.pop(key)
            made = layer
        with torch.no_grad():
            return torch.as_tensor(made(*inputs.values())).double().numpy()
    except Exception:
        return None


def reads_as(value, text):
    """Whether a result is what an option says, rounded to two decimals."""
    if value is None or text == STOPS:
        return value is None and text == STOPS
    array = np.array(read(text), dtype=float)
    return array.shape == value.shape and np.allclose(array, value, rtol=0, atol=0.0052, equal_nan=True)


def agreeing(question, space):
    """The options that are right by this route."""

    def gives(lines):
        return result(dict(space), get_task(question.task).name, lines, inputs_of(question))

    if question.question_type == EDIT:
        return [reads_as(gives(with_option(question.code, each)), question.gives) for each in question.options]
    lines = program(question.code)
    if question.question_type == VALUE:
        variable, index, line = re.search(r"`(\w+)\[(.*)\]` after line (\d+)", question.after).groups()
        at = lines[int(line) - 1]
        lines.insert(int(line), " " * (len(at) - len(at.lstrip())) + f"return {variable}")
        value = gives(lines)[tuple(map(int, index.split(", ")))]
        return [abs(float(option) - value) < 0.0052 for option in question.options]
    assert question.question_type == RESULT
    return [reads_as(gives(lines), option) for option in question.options]


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", HANDED_IN)
def test_the_keys_are_those_that_the_shown_code_gives(name):
    release = nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)
    every = answers(read_solution(ROOT / "solutions" / f"{name}.py"))
    slugs = [f"{name[:2]}-{word}" for word in HANDED_IN[name].split()]
    notebook = filled(release, {slug: every[slug] for slug in slugs})
    settings = RunSettings.single(name, nbformat.writes(release), 7, limits=LIMITS)
    with VivaExaminer(settings) as examiner:
        trials = examiner.trials("ada", nbformat.writes(notebook).encode(), 12)
    space = {"__name__": "__main__"}
    for cell in notebook.cells:
        slug = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if cell.cell_type == "code" and not slug.startswith("check"):
            try:
                exec(cell.source, space)
            except Exception:  # a blank answer, or a cell that shows one
                continue
    kinds = set()
    for trial in trials:
        questions = questions_on(trial, np.random.default_rng(5))
        for kind in (RESULT, EDIT, VALUE):
            for question in [question for question in questions if question.question_type == kind][:12]:
                right = agreeing(question, space)
                says = (kind, question.code, question.options)
                assert right == [at == question.key for at in range(4)], says
                kinds.add((question.task, kind))
    assert len(kinds) >= 3 and slugs[-1].replace("-", ".", 1) in {task for task, _ in kinds}
