"""Tries a task before students do: its answer against its oracle, and each known mistake against the judge."""

from collections.abc import Iterator

from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.case import SINGLE
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import NoEdit, answer
from softlookup_judge.data.task import Mistake, Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.judging.questions import HOME_SEED, TaskQuestions, questions

_SEEDS = (HOME_SEED, 11)


def problems(task: Task) -> list[str]:
    """What is wrong with a task, in all variants, in sentences: oracle against solution, and each mistake named."""
    with calm_torch():
        variants = [variant_of(task, index) for index in range(len(task.variants))]
        sentences = [sentence for variant in variants for seed in _SEEDS for sentence in _tried(variant, seed)]
    return list(dict.fromkeys(sentences))


def _tried(variant: Variant, seed: int) -> Iterator[str]:
    task = variant.task
    try:
        task_questions = questions(variant, seed)
    except Exception as error:
        yield f"its questions cannot be drawn and answered: {type(error).__name__}: {error}."
        return
    parts = {case.part for case in task_questions.cases} - {SINGLE}
    if parts != set(task.parts):
        yield f"its cases are in the parts {sorted(parts)}, and points are given for {sorted(task.parts)}."
    try:
        published = answer(variant)
    except Exception as error:
        yield f"the published answer does not run: {type(error).__name__}: {error}."
        return
    result = judge(variant, LocalStudent(variant, published), task_questions=task_questions)
    if result.verdict != "pass":
        yield f"the published answer does not give what the oracle gives: {result.message}"
        return
    for mistake in task.mistakes:
        if problem := _rejected(variant, mistake, task_questions):
            yield problem


def _rejected(variant: Variant, mistake: Mistake, task_questions: TaskQuestions) -> str:
    """What is wrong with a known mistake; empty if it is rejected and named."""
    try:
        wrong = answer(variant, (mistake.slug,))
    except NoEdit as error:
        return f"{error}."
    except Exception as error:
        return f"the answer with the mistake {mistake.slug} does not run: {type(error).__name__}: {error}."
    result = judge(variant, LocalStudent(variant, wrong), task_questions=task_questions)
    if result.verdict == "pass":
        return f"the mistake {mistake.slug} passes: add a case in which it gives another result."
    if result.diagnosis == (mistake.slug,):
        return ""
    if not result.diagnosis:
        return f"the mistake {mistake.slug} is rejected and not named: {result.message}"
    return (
        f"the mistake {mistake.slug} is taken for {' and '.join(result.diagnosis)}, which gives the same results in "
        "every case: add a case that tells them apart, or leave one out."
    )
