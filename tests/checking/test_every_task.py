"""What has to hold for every task: right answers pass, blanks are blank, known mistakes are rejected and named."""

import inspect
import itertools
import random
import re
from functools import cache, partial

import pytest

from published import ALL_TASKS, ROOT, constant_variants, right_answers, solutions, source_notebook, world
from softlookup_inside.asking.calling import called
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.case import SINGLE
from softlookup_inside.ranks.packing import pack_inbox
from softlookup_judge import check, get_task
from softlookup_judge.authoring import assignments, make_release, read_solution, solution_cells
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.compare import same
from softlookup_judge.data.published import NoEdit, answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.home import Checker
from softlookup_judge.judging.oracle import expected_results, mistaken
from softlookup_judge.judging.questions import draw, questions_at_home
from softlookup_judge.judging.ranks import rank_question
from softlookup_judge.mistakes.habits import HABIT, IGNORED
from softlookup_judge.naming.verdict import readings


def by_id(value):
    return getattr(value, "id", None) or getattr(value, "slug", None) or getattr(value, "__name__", None)


pytestmark = pytest.mark.usefixtures("earlier_answers_judged_once")

LONG_CHAPTERS = (18, 19, 90)
LONG = """
    04.attention 04.head 05.heads 05.multi-head 07.encoder-layer 08.decoder-layer 08.transformer 09.find-leak
    10.beam 10.write 16.split-sum 16.stream
""".split()
SHORT = ("18.add", "18.tile", "19.broadcast", "90.loss")
"""Tasks of these chapters, and some others, take seconds for all mistakes; in the quick run a few stand for them."""


def is_long(task):
    return task.id in LONG or (task.chapter in LONG_CHAPTERS and task.id not in SHORT)


BY_TASK = [pytest.param(task, marks=[pytest.mark.slow] * is_long(task)) for task in ALL_TASKS]


def graded(task, obj, seeds):
    """As in grading, with other inputs."""
    for seed in seeds:
        yield judge(variant_of(task), LocalStudent(variant_of(task), obj), seed=seed)


@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_solution_passes(task):
    solution = world(task.chapter)[task.name]
    for result in (check(task.id, solution), *graded(task, solution, (0,))):
        assert (result.verdict, result.points, result.diagnosis) == ("pass", task.points, ()), result.text()
    assert_cases_are_in_all_parts(variant_of(task))


def assert_cases_are_in_all_parts(variant):
    parts = {case.part for case in questions_at_home(variant).cases} - {SINGLE}
    assert parts == set(variant.task.parts), f"cases are in {parts}, points are for {set(variant.task.parts)}"


@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_task_has_its_section_and_a_sentence_of_its_own_for_each_mistake(task):
    assert not any(name.startswith("of ") for name in task.returns), "a sentence says: the shape of <name>"
    page, _ = page_and_labels(f"book/{task.page}")
    for slug in ("", *(mistake.slug for mistake in task.mistakes)):
        (section,) = readings(task, (slug,))
        file, anchor = re.fullmatch(r"(book/\w+)\.html#([a-z0-9-]+)", section).groups()
        assert anchor in page_and_labels(file)[1], section
    # The capstone's parts are read about where they come from.
    if task.page.startswith(f"{task.chapter:02d}_") or task.page.endswith("_capstone"):
        assert f"`{task.id}`" in page, f"book/{task.page}.md does not name the task {task.id}"
        # The short exercises of chapter 0 are timed together.
        assert f"minutes_{task.slug}" in page or task.chapter == 0, f"book/{task.page}.md shows no minutes_{task.slug}"
    sentences = [mistake.says for mistake in task.mistakes]
    assert all(len(sentence) > 20 for sentence in sentences) and len(set(sentences)) == len(sentences)
    assert solutions(task.chapter)[task.slug]


@cache
def page_and_labels(file):
    page = (ROOT / f"{file}.md").read_text(encoding="utf-8")
    return page, set(re.findall(r"^\(([a-z0-9-]+)\)=$", page, re.MULTILINE))


@cache
def blanks(chapter):
    """The blank cells of a chapter's release, by grade id."""
    cells = make_release(source_notebook(chapter)).cells
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in cells if "nbgrader" in cell.metadata}


@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_blank_fails_with_not_implemented_alone(task):
    obj = world(task.chapter, {task.slug: blanks(task.chapter)[task.slug]})[task.name]
    case = draw(variant_of(task), 0)[0]
    case = rank_question(case, 0, pack_inbox({})) if case.world else case
    with pytest.raises(NotImplementedError):
        called(obj, case, list(case.args))
    for result in (check(task.id, obj), *graded(task, obj, (0,))):
        assert (result.verdict, result.points, result.diagnosis) == ("blank", 0, ()), result.text()


@pytest.mark.one_in(16)
@pytest.mark.parametrize("task", BY_TASK, ids=by_id)
def test_each_known_mistake_is_rejected_and_named(task):
    """At home; in grading, with other inputs, those of some tasks below."""
    for mistake in task.mistakes:
        assert_named(task, mistake, lambda task, obj: [Checker().check(task.id, obj, 0)])


@pytest.mark.slow
@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_inputs_are_called_what_the_published_solution_calls_them(task):
    for variant in range(len(task.variants)):
        solution, parameters = answer(variant_of(task, variant), ()), variant_of(task, variant).parameters.values()
        names = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
        made_with = list(inspect.signature(solution).parameters)
        if draw(variant_of(task, variant), 0)[0].world:
            names.append("dist")
        if isinstance(solution, type):
            called_with = list(inspect.signature(solution.forward).parameters)
            assert called_with == ["self", *task.called_with], f"variant {variant}"
            names = names[: len(made_with)]
        assert names == made_with, f"variant {variant}"


@pytest.mark.one_in(40)
@pytest.mark.parametrize("task", BY_TASK, ids=by_id)
@pytest.mark.parametrize("seeds", [(0,), pytest.param((1, 2, 3, 4), marks=pytest.mark.slow)], ids=str)
def test_right_answers_pass_and_known_mistakes_are_named_on_more_seeds(task, seeds):
    for right in (world(task.chapter)[task.name], *right_answers(task.id)):
        for result in graded(task, right, seeds):
            assert (result.verdict, result.points) == ("pass", task.points), result.text()
    for mistake in task.mistakes:
        assert_named(task, mistake, partial(graded, seeds=seeds))


def assert_named(task, mistake, results):
    source = mistake.applied_to(solutions(task.chapter)[task.slug])
    obj = world(task.chapter, {task.slug: source})[task.name]
    for result in results(task, obj):
        assert result.verdict in ("wrong", "partial", "error"), f"{mistake.slug} passes: {result.text()}"
        assert result.points < task.points
        same = f"{mistake.slug} gives the results of {result.diagnosis}: add a case that tells them apart, or drop one"
        assert result.diagnosis == (mistake.slug,), f"{same}; {result.text()}"
        assert mistake.says in result.text()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("task", BY_TASK, ids=by_id)
def test_right_answers_written_otherwise_pass(task):
    right_here = f"right_answers_{task.chapter:02d}.py and benchmarks/strangers/"
    assert len(right_answers(task.id)) >= 2, f"there are no two for {task.id} in {right_here}"
    for right in right_answers(task.id):
        result = check(task.id, right)
        assert result.verdict == "pass", f"{right.__name__}: {result.text()}"


@pytest.mark.slow
@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_published_solution_gives_what_the_oracle_gives_with_other_inputs(task):
    """The oracle is torch's own functions, or another way to compute it."""
    with calm_torch():
        for variant in (variant_of(task, number) for number in constant_variants(task)):
            for case in (case for case in draw(variant, 11) if not case.gradients):
                got = mistaken(variant, (), case)
                assert got is not None and same(got, expected_results(variant, case), case), case.label


@pytest.mark.one_in(48)
@pytest.mark.parametrize("task", BY_TASK, ids=by_id)
def test_some_pairs_of_mistakes_are_named(task):
    pairs = list(itertools.combinations([m.slug for m in task.mistakes if m.symptom is None], 2))
    assert_pairs_are_named(task, random.Random(task.id).sample(pairs, min(4, len(pairs))))


@pytest.mark.slow
@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_all_pairs_of_mistakes_are_named(task):
    assert_pairs_are_named(task, itertools.combinations([m.slug for m in task.mistakes if m.symptom is None], 2))


def assert_pairs_are_named(task, chosen):
    """Two known mistakes in one answer: named as the pair, or as what gives the same tensors; never accepted.

    Those that change the same place need no name together, nor do all pairs in a kernel, or in what ranks do.
    """
    variant = variant_of(task)
    task_questions = questions_at_home(variant)
    is_recorded = any(case.is_recorded for case in task_questions.cases)
    unnamed = []
    for pair in chosen:
        try:
            student = answer(variant_of(task), pair)
        except NoEdit:
            continue  # both replace the same place
        with calm_torch():
            outcome = [task_questions.mistake_results.by(variant_of(task), pair, case) for case in task_questions.cases]
            rows = zip(task_questions.cases, outcome, task_questions.rights, strict=True)
            if all(case.gradients or got is None or same(got, right, case) for case, got, right in rows):
                continue  # no wrong result comes back: the two undo each other, or what they raise is all there is
            result = judge(variant_of(task), LocalStudent(variant_of(task), student), task_questions=task_questions)
        assert result.verdict != "pass", pair
        if is_recorded or task_questions.mistake_results.touch(variant, *pair):
            continue
        names = {slug for slug in result.diagnosis if not slug.startswith(HABIT + IGNORED)}  # which is seen by trying
        if not result.diagnosis or not names <= {m.slug for m in task.mistakes}:
            unnamed.append(pair)
    assert not unnamed


OTHER_VARIANTS = [
    pytest.param(task, number, id=f"{task.id}-{number}", marks=[pytest.mark.slow] * (at > 0 or is_long(task)))
    for task in ALL_TASKS
    for at, number in enumerate(constant_variants(task)[1:])
]
"""The variants that differ in constants from the published one; the first of each task in the quick run."""


def cells_of(task, number):
    """The solutions in a variant of a task, by cell."""
    name = next(name for name in assignments(ROOT) if name.startswith(f"{task.chapter:02d}_"))
    return solution_cells(read_solution(ROOT / "solutions" / f"{name}.py", {task.id: number}))


@pytest.mark.parametrize(("task", "number"), OTHER_VARIANTS)
def test_a_variants_solution_passes_and_the_published_one_is_recognised(task, number):
    solution = cells_of(task, number)[task.slug]
    result = check(task.id, world(task.chapter, {task.slug: solution})[task.name], variant=number)
    assert result.verdict == "pass", result.text()
    assert_cases_are_in_all_parts(variant_of(task, number))
    result = check(task.id, world(task.chapter)[task.name], variant=number)
    # A known mistake that is the other variant's right answer goes before.
    name = "other-gelu" if task.id == "13.published" else "other-variant"
    assert (result.verdict, result.diagnosis) == ("wrong", (name,)), result.text()


@pytest.mark.one_in(48)
@pytest.mark.parametrize(
    ("task", "number"),
    [pytest.param(*param.values, marks=[pytest.mark.slow] * is_long(param.values[0])) for param in OTHER_VARIANTS],
    ids=by_id,
)
def test_mistakes_in_a_variant_are_rejected_and_named(task, number):
    variant, solution = variant_of(task, number), cells_of(task, number)[task.slug]
    task_questions = questions_at_home(variant)
    for mistake in task.mistakes:
        if not (names := names_of(task, mistake, task_questions, number)):
            continue
        wrong = world(task.chapter, {task.slug: mistake.applied_to(solution)})[task.name]
        with calm_torch():
            result = judge(variant, LocalStudent(variant, wrong), task_questions=task_questions)
        assert result.verdict != "pass" and result.diagnosis, result.text()
        assert result.diagnosis == ("other-variant",) or set(result.diagnosis) <= names, result.text()


def given_by(task, slug, task_questions, variant):
    """What a mistake gives for the cases that ask for values, with the right answers."""
    both = [
        (case, right)
        for case, right in zip(task_questions.cases, task_questions.rights, strict=True)
        if not case.gradients
    ]
    return [
        (case, task_questions.mistake_results.by(variant_of(task, variant), (slug,), case), right)
        for case, right in both
    ]


def names_of(task, mistake, task_questions, variant):
    """The names that a mistake may be given in a variant: two may be one there, and where it is right it has none."""
    results = given_by(task, mistake.slug, task_questions, variant)
    if mistake.symptom is not None:
        return {mistake.slug}
    if all(got is None or same(got, right, case) for case, got, right in results):
        return set()  # where the last token is asked for, there is no next one
    names = {mistake.slug}
    for other in task.mistakes:
        other_results = [got for _, got, _ in given_by(task, other.slug, task_questions, variant)]
        alike = zip(results, other_results, strict=True)
        if all(
            first is not None and second is not None and same(first, second, case) for (case, first, _), second in alike
        ):
            names.add(other.slug)
    return names


FIRST = 99
"""A step so wide that the first mistake alone is taken."""


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("task_id", "step"),
    [
        ("04.head", 9),
        pytest.param("04.head", 1, marks=pytest.mark.slow),
        *((task_id, FIRST) for task_id in ("05.multi-head", "07.sublayer", "07.encoder-layer", "07.encoder")),
    ],
)
def test_a_wrong_earlier_answer_never_sinks_a_later_one(task_id, step):
    """Each function that the answer may call is wrong in known ways, or blank: the answer is right all the same."""
    task = get_task(task_id)
    for earlier in task.earlier:
        wrong = [m.applied_to(solutions(task.chapter)[earlier.slug]) for m in earlier.mistakes[::step]]
        for source in (*wrong, f"def {earlier.name}(*args):\n    raise NotImplementedError()\n"):
            result = check(task_id, world(task.chapter, {earlier.slug: source})[task.name])
            assert result.verdict == "pass", f"{earlier.id}: {result.text()}"


def test_stand_ins_leave_the_students_functions_as_they_were():
    namespace = world(4, {"04-attention": "def attention(*args):\n    return 0.0\n"})
    before = namespace["attention"]
    assert check("04.head", namespace["one_head"]).verdict == "pass"
    assert namespace["attention"] is before
