"""Naming the mistake: which known mistake, or pair of them, gives exactly the student's tensors."""

import ast
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, islice

import numpy as np

from softlookup_inside.asking.case import CORE, Arrays, Case
from softlookup_inside.asking.probe import FED, Answer
from softlookup_judge.data import prints
from softlookup_judge.data.compare import Asked, inputs_of, is_right, same
from softlookup_judge.data.published import with_earlier
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.mistake_results import MistakeResults, Pairs
from softlookup_judge.mistakes.habits import PAIRED, rule_of
from softlookup_judge.mistakes.mutations import slips
from softlookup_judge.naming.symptoms import by_symptom

OTHER_VARIANT = "other-variant"
SHORTCUT = "forbidden-shortcut"

MOST_PAIRS = 600
"""Pairs with a habit that are tried on an answer: each takes about a thousandth of a second."""

MOST_RECORDED = 100
"""Pairs of mistakes, and habits, that are tried on an answer which is recorded: each takes about a hundredth."""

_SLIP_NEEDS, _PAIR_NEEDS = 2, 4
"""Different wrong numbers that an answer has to have for a habit, or a pair with one, to be named."""

_MOST_NUMBERS = 100_000
"""Numbers of a result that are looked at for that."""

_LOOPS = (ast.For, ast.While, ast.comprehension)
_QUICK = {"abs", "bool", "float", "int", "len", "max", "min", "round", "sorted", "sum"}
_LARGE = 10_000
"""Loops, functions that end soon, and a number that a loop should not count to."""


def _valued(rounds: Asked) -> list[tuple[Case, Answer, Arrays]]:
    """The cases that tell mistakes apart: those that ask for values.

    Those of kernels and of ranks begin with the smallest inputs: most mistakes are ruled out there, before a long run.
    """
    valued = [answered for answered in rounds if not answered[0].gradients]
    return sorted(
        valued, key=lambda answered: sum(a.size for a in inputs_of(answered[0])) if answered[0].is_recorded else 0
    )


def _is_recorded(rounds: Asked) -> bool:
    """Whether an answer is a kernel, or what a rank does: hundreds of those would take a minute."""
    return any(case.is_recorded for case, _, _ in rounds)


def _is_mistaken(got: Arrays, wrong: Arrays, case: Case) -> bool:
    """Whether results are those of a mistake.

    torch computes what mistakes give, in float32 where whole numbers go in; an answer in numpy has float64 there.
    """
    if same(got, wrong, case):
        return True
    rough = any(w.dtype == np.float32 != g.dtype for g, w in zip(got, wrong, strict=False))
    return rough and same(wrong, got, case)


def _agrees(variant: Variant, slugs: tuple[str, ...], rounds: Asked, mistake_results: MistakeResults) -> bool:
    """Whether code with these mistakes would have answered every case as the student's did, and some case wrongly."""
    tells = False
    for case, answer, right in _valued(rounds):
        expected = mistake_results.by(variant, slugs, case)
        lost = case.keeps_dtype and answer.failure is not None and answer.failure.kind == "dtype"
        if expected is not None and lost:
            # The numbers are not there to compare; a mistake that keeps the dtype is not this one.
            if expected[0].dtype == case.dtype:
                return False
            continue
        if answer.failure is not None and answer.failure.kind in FED:
            continue  # here, too, the numbers are not there
        if expected is None or answer.arrays is None:
            if (expected is None) != (answer.arrays is None):
                return False
            # Both raise. That alone names nothing, since a dozen slips raise on sizes that do not fit.
            continue
        if not _is_mistaken(answer.arrays, expected, case):
            return False
        # A mistake may be wrong where the answer is right and near: a weight of exp(-50) in place of 0.
        tells = tells or not (same(expected, right, case) or same(answer.arrays, right, case))
    return tells


def _written_pair(pairs: Pairs, rounds: Asked) -> list[str]:
    """The first pair that is written down, agrees with every answer, and is wrong in two cases, if there are two."""
    valued = _valued(rounds)
    fits, tells = np.ones(len(pairs.named), bool), np.zeros(len(pairs.named), int)
    for case, answer, right in valued:
        if answer.failure is not None and answer.failure.kind in FED:
            continue
        numbers = pairs.numbers[:, pairs.columns[id(case)]]
        if answer.arrays is None:
            fits &= np.isnan(numbers)
            continue
        raised = np.isnan(numbers)
        fits &= prints.fits(answer.arrays, numbers, case)
        tells += ~raised & ~prints.fits(right, numbers, case)
    return next((list(pairs.named[at]) for at in np.flatnonzero(fits & (tells >= min(2, len(valued)))).tolist()), [])


def _second(
    variant: Variant, first: str, slugs: list[str], pair: list[str], rounds: Asked, mistake_results: MistakeResults
) -> list[str]:
    """The mistake that gives all wrong answers that a first one does not give, in a pair or alone; empty if none does.

    Where the first one gives them all, what else it would give is no second mistake: the answer is right there.
    """

    def gives(slug: str, case: Case, answer: Answer) -> bool:
        expected = mistake_results.by(variant, (slug,), case)
        return expected is not None and answer.arrays is not None and _is_mistaken(answer.arrays, expected, case)

    wrong = [(case, answer) for case, answer, right in _valued(rounds) if not is_right(case, answer, right)]
    left = [(case, answer) for case, answer in wrong if not gives(first, case, answer)]
    if not left:
        return []
    if first in pair:
        return [slug for slug in pair if slug != first]
    apart = (slug for slug in slugs if not mistake_results.touch(variant, first, slug))
    return [slug for slug in apart if all(gives(slug, *answered) for answered in left)][:1]


def _named(variant: Variant, slugs: list[str], size: int, rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """The first set of so many mistakes that agrees with every answer, in the task's own order; empty if none does.

    Mistakes that change the same place are no pair: what is said of one would be untrue beside the other.
    """
    if size == 2 and not mistake_results.computes:
        return _written_pair(mistake_results.pairs, rounds) if slugs and mistake_results.pairs is not None else []
    sets = list(combinations(slugs, size))
    if size == 2:
        sets = [pair for pair in sets if not mistake_results.touch(variant, *pair)]
        if _is_recorded(rounds):
            sets = _likely(variant, sets, rounds, mistake_results)[:MOST_RECORDED]
    return _first(variant, sets, rounds, mistake_results)


def _likely(
    variant: Variant, pairs: list[tuple[str, ...]], rounds: Asked, mistake_results: MistakeResults
) -> list[tuple[str, ...]]:
    """Pairs, first those that spoil the results which are wrong in the first question, one or the other alone."""
    case, answer, right = _valued(rounds)[0]

    def spoils(arrays: Arrays | None) -> set[int]:
        alike = zip(arrays or (), right, strict=False)
        return {at for at, (got, expected) in enumerate(alike) if not same((got,), (expected,), case)}

    wrong = spoils(answer.arrays)
    by_slug = {slug: spoils(mistake_results.by(variant, (slug,), case)) for slug in dict.fromkeys(chain(*pairs))}
    return sorted(pairs, key=lambda pair: by_slug[pair[0]] | by_slug[pair[1]] != wrong)


def _pair_in_core(variant: Variant, slugs: list[str], core: Asked, mistake_results: MistakeResults) -> list[str]:
    """A pair that agrees with the core cases, of mistakes that show there: bytes that a kernel reads do not."""

    def shows(slug: str) -> bool:
        results = ((case, mistake_results.by(variant, (slug,), case), right) for case, _, right in _valued(core))
        return any(wrong is None or not same(wrong, right, case) for case, wrong, right in results)

    pair = _named(variant, slugs, 2, core, mistake_results)
    if all(map(shows, pair)):
        return pair
    return (
        [] if mistake_results.pairs is not None else _named(variant, [*filter(shows, slugs)], 2, core, mistake_results)
    )


def _in_a_part(variant: Variant, slugs: list[str], rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """What agrees with the core cases and those of one other part, for an answer with further mistakes elsewhere."""
    wrong = dict.fromkeys(case.part for case, answer, right in _valued(rounds) if not is_right(case, answer, right))
    for part in [part for part in wrong if part != CORE]:
        some = [answered for answered in rounds if answered[0].part in (CORE, part)]
        for size in (1, 2):
            if mistakes := _named(variant, slugs, size, some, mistake_results):
                return mistakes
    return []


def _habit(variant: Variant, rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """A habit that agrees with every answer; empty if none does, or where what is not known is not computed."""
    if _wrong_numbers(rounds) < _SLIP_NEEDS:
        return []
    habits = _slips(variant, rounds, mistake_results)[: MOST_RECORDED if _is_recorded(rounds) else None]
    return _first(variant, ((slug,) for slug in habits), rounds, mistake_results)


def _beside_habit(variant: Variant, known: Sequence[str], rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """A known mistake and a common habit, or two common habits, that agree together with every answer."""
    if _wrong_numbers(rounds) < _PAIR_NEEDS or _is_recorded(rounds):
        return []
    common = [slug for slug in _slips(variant, rounds, mistake_results) if rule_of(slug) in PAIRED]
    pairs = chain(((other, slug) for slug in common for other in known), combinations(common, 2))
    most = MOST_PAIRS // 4 if any(case.parameters for case, _, _ in rounds) else MOST_PAIRS  # layers take longer
    return _first(variant, islice(pairs, most), rounds, mistake_results)


def _slips(variant: Variant, rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """The habits that can be tried on these questions, the most common ones first."""
    if not mistake_results.computes:
        return []
    source = with_earlier(variant)
    return [] if can_run_away(source, [arg for case, _, _ in rounds for arg in case.args]) else slips(source)


def can_run_away(source: str, inputs: Sequence[object]) -> bool:
    """Whether an edited solution might run for long: a ``while``, or anything that repeats beside large numbers.

    Args:
        source: The solution.
        inputs: The arguments of its questions.
    """
    nodes = list(ast.walk(ast.parse(source)))
    if any(isinstance(node, ast.While) for node in nodes):
        return True
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    repeats = any(isinstance(node, _LOOPS) for node in nodes) or any(
        callee.id not in _QUICK if isinstance(callee, ast.Name) else ast.unparse(callee).partition(".")[0] != "math"
        for callee in calls
    )
    return repeats and any(map(_is_large, inputs))


def _is_large(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_is_large, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_large, value))
    return isinstance(value, int | float) and abs(value) > _LARGE


def _wrong_numbers(rounds: Asked) -> float:
    """How many different numbers of an answer are wrong, and so tell habits from chance; four booleans count as one.

    Zeros, NaN and infinities tell nothing.
    """
    wrong, flipped = set[float](), 0
    for case, answer, right in _valued(rounds):
        for g, w in () if is_right(case, answer, right) else zip(answer.arrays or (), right, strict=False):
            if g.size > _MOST_NUMBERS:
                continue
            off = g[g != w] if g.shape == w.shape else g
            if g.dtype.kind == "b":
                flipped += off.size
            else:
                wrong |= {float(entry) for entry in np.unique(off)[: 2 * _PAIR_NEEDS] if np.isfinite(entry) and entry}
    return len(wrong) + flipped / 4


def _first(
    variant: Variant, every: Iterable[tuple[str, ...]], rounds: Asked, mistake_results: MistakeResults
) -> list[str]:
    """The first of several sets of mistakes that agrees with every answer; empty if none does."""
    return next((list(some) for some in every if _agrees(variant, some, rounds, mistake_results)), [])


def _is_other_variant(variant: Variant, rounds: Asked, mistake_results: MistakeResults) -> bool:
    return any(_fits(variant, other, rounds, mistake_results) for other in variant.others)


def _fits(variant: Variant, other: Variant, rounds: Asked, mistake_results: MistakeResults) -> bool:
    """Whether the right answer to another variant would have answered every case as the student's did, one wrongly."""
    tells = False
    for case, answer, right in rounds:
        expected = mistake_results.of_variant(variant, other, case)
        if expected is None or answer.arrays is None:
            if (expected is None) != (answer.arrays is None) and not case.gradients:
                return False
        elif case.gradients:
            continue  # a published solution is run for its values alone
        elif not is_right(case, answer, expected):
            return False
        else:
            tells = tells or not same(expected, right, case)
    return tells


def diagnose(variant: Variant, rounds: Asked, mistake_results: MistakeResults | None = None) -> list[str]:
    """Name what is wrong with a wrong answer.

    In this order: each known mistake alone, the right answers of other variants, pairs of known mistakes of which each
    shows by itself, and where no pair fits, habits, all on every case; then singles on the core cases only, for answers
    that hold a further slip elsewhere, which is named after it if it is known; then other pairs, on every case and on
    the core cases; then singles and pairs on the core cases and those of another part; then pairs with a habit on every
    case; then what shows as a kind of failure, or beside the right answer. It gives slugs: empty if nothing known fits,
    one, or two where a pair does; those of habits begin with ``habit:``. ``mistake_results`` is added to, and serves as
    long as the cases live.
    """
    mistake_results = mistake_results or MistakeResults()
    slugs = [m.slug for m in variant.task.mistakes if m.symptom is None]
    wrong = any(
        answer.arrays is not None and not is_right(case, answer, right) for case, answer, right in _valued(rounds)
    )
    if not wrong:
        # No wrong numbers, so no mistake that shows in numbers; hundreds of pairs need not be tried.
        slugs = []
    core = [answered for answered in rounds if answered[0].part == CORE]
    # Under a convention of its own, a verbatim copy of another variant's answer may give what a known mistake gives.
    if variant.convention is not None and _is_other_variant(variant, rounds, mistake_results):
        return [OTHER_VARIANT]
    single = _named(variant, slugs, 1, rounds, mistake_results)
    if not single and _is_other_variant(variant, rounds, mistake_results):
        return [OTHER_VARIANT]
    if single:
        return single
    pair = _named(variant, slugs, 2, rounds, mistake_results)
    if pair and each_shows(variant, pair, rounds, mistake_results):
        return pair
    if wrong and not pair and (habit := _habit(variant, rounds, mistake_results)):
        return habit
    first = _named(variant, slugs, 1, core, mistake_results)
    if first:
        return first + _second(variant, first[0], slugs, pair, rounds, mistake_results)
    return (
        pair
        or _pair_in_core(variant, slugs, core, mistake_results)
        or _in_a_part(variant, slugs, rounds, mistake_results)
        or (_beside_habit(variant, slugs, rounds, mistake_results) if wrong else [])
        or by_symptom(variant.task, [answered for answered in rounds if not is_right(*answered)])
    )


def each_shows(variant: Variant, slugs: Sequence[str], rounds: Asked, mistake_results: MistakeResults) -> bool:
    """Whether each of several mistakes is seen by itself: it alone would have given the same wrong answer to some case.

    Where it is not, the answer equals code with all of them, but what is said of one of them may not be true of it.
    """
    wrong = [(case, answer.arrays) for case, answer, right in _valued(rounds) if not is_right(case, answer, right)]

    def shows(slug: str) -> bool:
        alone = ((case, arrays, mistake_results.by(variant, (slug,), case)) for case, arrays in wrong)
        return any(a is not None and b is not None and _is_mistaken(a, b, case) for case, a, b in alone)

    return all(shows(slug) for slug in slugs)
