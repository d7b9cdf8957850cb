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
from softlookup_judge.mistakes.mutations import fitting_habits
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
    """The cases that ask for values; those of kernels and ranks begin with the smallest, since each run is long."""
    valued = [answered for answered in rounds if not answered[0].gradients]
    return sorted(
        valued, key=lambda answered: sum(a.size for a in inputs_of(answered[0])) if answered[0].is_recorded else 0
    )


def _is_recorded(rounds: Asked) -> bool:
    """Whether an answer is a kernel, or what a rank does: hundreds of those would take a minute."""
    return any(case.is_recorded for case, _, _ in rounds)


def _is_mistaken(got: Arrays, wrong: Arrays, case: Case) -> bool:
    """Whether results are those of a mistake, which torch computes in float32 where whole numbers go in."""
    if same(got, wrong, case):
        return True
    rough = any(w.dtype == np.float32 != g.dtype for g, w in zip(got, wrong, strict=False))
    return rough and same(wrong, got, case)


def _agrees(variant: Variant, names: tuple[str, ...], rounds: Asked, mistake_results: MistakeResults) -> bool:
    """Whether code with these mistakes would have answered every case as the student's did, and some case wrongly."""
    tells = False
    for case, answer, expected in _valued(rounds):
        mistake_arrays = mistake_results.by(variant, names, case)
        lost = case.keeps_dtype and answer.failure is not None and answer.failure.kind == "dtype"
        if mistake_arrays is not None and lost:
            # The numbers are not there to compare; a mistake that keeps the dtype is not this one.
            if mistake_arrays[0].dtype == case.dtype:
                return False
            continue
        if answer.failure is not None and answer.failure.kind in FED:
            continue  # here, too, the numbers are not there
        if mistake_arrays is None or answer.arrays is None:
            if (mistake_arrays is None) != (answer.arrays is None):
                return False
            # Both raise. That alone names nothing, since a dozen slips raise on sizes that do not fit.
            continue
        if not _is_mistaken(answer.arrays, mistake_arrays, case):
            return False
        # A mistake may be wrong where the answer is right and near: a weight of exp(-50) in place of 0.
        tells = tells or not (same(mistake_arrays, expected, case) or same(answer.arrays, expected, case))
    return tells


def _written_pair(pairs: Pairs, rounds: Asked) -> list[str]:
    """The first pair that is written down, agrees with every answer, and is wrong in two cases, if there are two."""
    valued = _valued(rounds)
    fits, tells = np.ones(len(pairs.mistake_names), bool), np.zeros(len(pairs.mistake_names), int)
    for case, answer, expected in valued:
        if answer.failure is not None and answer.failure.kind in FED:
            continue
        numbers = pairs.numbers[:, pairs.columns[id(case)]]
        if answer.arrays is None:
            fits &= np.isnan(numbers)
            continue
        raised = np.isnan(numbers)
        fits &= prints.fits(answer.arrays, numbers, case)
        tells += ~raised & ~prints.fits(expected, numbers, case)
    agreeing = np.flatnonzero(fits & (tells >= min(2, len(valued)))).tolist()
    return list(pairs.mistake_names[agreeing[0]]) if agreeing else []


def _second(
    variant: Variant, first: str, names: list[str], pair: list[str], rounds: Asked, mistake_results: MistakeResults
) -> list[str]:
    """The mistake that gives all wrong answers that a first one does not give, in a pair or alone; else empty."""

    def gives(name: str, case: Case, answer: Answer) -> bool:
        expected = mistake_results.by(variant, (name,), case)
        return expected is not None and answer.arrays is not None and _is_mistaken(answer.arrays, expected, case)

    wrong = [(case, answer) for case, answer, expected in _valued(rounds) if not is_right(case, answer, expected)]
    unexplained = [(case, answer) for case, answer in wrong if not gives(first, case, answer)]
    if not unexplained:
        return []
    if first in pair:
        return [name for name in pair if name != first]
    apart = (name for name in names if not mistake_results.touch(variant, first, name))
    return [name for name in apart if all(gives(name, *answered) for answered in unexplained)][:1]


def _named(variant: Variant, names: list[str], size: int, rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """The first set of so many mistakes, which touch no common place, that agrees with every answer."""
    if size == 2 and not mistake_results.computes:
        return _written_pair(mistake_results.pairs, rounds) if names and mistake_results.pairs is not None else []
    sets = list(combinations(names, size))
    if size == 2:
        sets = [pair for pair in sets if not mistake_results.touch(variant, *pair)]
        if _is_recorded(rounds):
            sets = _likely(variant, sets, rounds, mistake_results)[:MOST_RECORDED]
    return _first(variant, sets, rounds, mistake_results)


def _likely(
    variant: Variant, pairs: list[tuple[str, ...]], rounds: Asked, mistake_results: MistakeResults
) -> list[tuple[str, ...]]:
    """Pairs, first those that spoil the results which are wrong in the first question, one or the other alone."""
    case, answer, expected_arrays = _valued(rounds)[0]

    def spoils(arrays: Arrays | None) -> set[int]:
        alike = zip(arrays or (), expected_arrays, strict=False)
        return {at for at, (got, expected) in enumerate(alike) if not same((got,), (expected,), case)}

    wrong = spoils(answer.arrays)
    by_name = {name: spoils(mistake_results.by(variant, (name,), case)) for name in dict.fromkeys(chain(*pairs))}
    return sorted(pairs, key=lambda pair: by_name[pair[0]] | by_name[pair[1]] != wrong)


def _pair_in_core(variant: Variant, names: list[str], core: Asked, mistake_results: MistakeResults) -> list[str]:
    """A pair that agrees with the core cases, of mistakes that show there: bytes that a kernel reads do not."""

    def shows(name: str) -> bool:
        results = ((case, mistake_results.by(variant, (name,), case), expected) for case, _, expected in _valued(core))
        return any(wrong is None or not same(wrong, expected, case) for case, wrong, expected in results)

    pair = _named(variant, names, 2, core, mistake_results)
    if all(map(shows, pair)):
        return pair
    return (
        [] if mistake_results.pairs is not None else _named(variant, [*filter(shows, names)], 2, core, mistake_results)
    )


def _in_a_part(variant: Variant, names: list[str], rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """What agrees with the core cases and those of one other part, for an answer with further mistakes elsewhere."""
    wrong = dict.fromkeys(
        case.part for case, answer, expected in _valued(rounds) if not is_right(case, answer, expected)
    )
    for part in [part for part in wrong if part != CORE]:
        some = [answered for answered in rounds if answered[0].part in (CORE, part)]
        for size in (1, 2):
            if mistakes := _named(variant, names, size, some, mistake_results):
                return mistakes
    return []


def _habit(variant: Variant, rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """A habit that agrees with every answer; empty if none does, or where what is not known is not computed."""
    if _wrong_numbers(rounds) < _SLIP_NEEDS:
        return []
    habits = _slips(variant, rounds, mistake_results)[: MOST_RECORDED if _is_recorded(rounds) else None]
    return _first(variant, ((habit,) for habit in habits), rounds, mistake_results)


def _beside_habit(variant: Variant, known: Sequence[str], rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """A known mistake and a common habit, or two common habits, that agree together with every answer."""
    if _wrong_numbers(rounds) < _PAIR_NEEDS or _is_recorded(rounds):
        return []
    common = [habit for habit in _slips(variant, rounds, mistake_results) if rule_of(habit) in PAIRED]
    pairs = chain(((other, habit) for habit in common for other in known), combinations(common, 2))
    most = MOST_PAIRS // 4 if any(case.parameters for case, _, _ in rounds) else MOST_PAIRS  # layers take longer
    return _first(variant, islice(pairs, most), rounds, mistake_results)


def _slips(variant: Variant, rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """The habits that can be tried on these questions, the most common ones first."""
    if not mistake_results.computes:
        return []
    source = with_earlier(variant)
    return [] if can_run_away(source, [arg for case, _, _ in rounds for arg in case.args]) else fitting_habits(source)


def can_run_away(source: str, inputs: Sequence[object]) -> bool:
    """Whether an edited solution might run for long: a ``while``, or anything that repeats beside large numbers."""
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
    """How many different finite numbers of an answer are wrong; four booleans count as one."""
    wrong, flipped = set[float](), 0
    for case, answer, expected in _valued(rounds):
        for g, w in () if is_right(case, answer, expected) else zip(answer.arrays or (), expected, strict=False):
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
    for case, answer, expected in rounds:
        variant_arrays = mistake_results.of_variant(variant, other, case)
        if variant_arrays is None or answer.arrays is None:
            if (variant_arrays is None) != (answer.arrays is None) and not case.gradients:
                return False
        elif case.gradients:
            continue  # a published solution is run for its values alone
        elif not is_right(case, answer, variant_arrays):
            return False
        else:
            tells = tells or not same(variant_arrays, expected, case)
    return tells


def diagnose(variant: Variant, rounds: Asked, mistake_results: MistakeResults | None = None) -> list[str]:
    """Name what is wrong with a wrong answer.

    In this order: each known mistake alone, the right answers of other variants, pairs of known mistakes of which each
    shows by itself, and where no pair fits, habits, all on every case; then singles on the core cases only, with what
    explains the rest; then other pairs, on every case and on the core cases; then singles and pairs on the core cases
    and those of another part; then pairs with a habit on every case; then what shows as a kind of failure, or beside
    the right answer. Names of habits begin with ``habit:``; ``mistake_results`` is added to.
    """
    mistake_results = mistake_results or MistakeResults()
    names = [m.slug for m in variant.task.mistakes if m.symptom is None]
    wrong = any(
        answer.arrays is not None and not is_right(case, answer, expected) for case, answer, expected in _valued(rounds)
    )
    if not wrong:
        # No wrong numbers, so no mistake that shows in numbers; hundreds of pairs need not be tried.
        names = []
    core = [answered for answered in rounds if answered[0].part == CORE]
    # Under a convention of its own, a verbatim copy of another variant's answer may give what a known mistake gives.
    if variant.convention is not None and _is_other_variant(variant, rounds, mistake_results):
        return [OTHER_VARIANT]
    single = _named(variant, names, 1, rounds, mistake_results)
    if not single and _is_other_variant(variant, rounds, mistake_results):
        return [OTHER_VARIANT]
    if single:
        return single
    pair = _named(variant, names, 2, rounds, mistake_results)
    if pair and each_shows(variant, pair, rounds, mistake_results):
        return pair
    if wrong and not pair and (habit := _habit(variant, rounds, mistake_results)):
        return habit
    first = _named(variant, names, 1, core, mistake_results)
    if first:
        return first + _second(variant, first[0], names, pair, rounds, mistake_results)
    return (
        pair
        or _pair_in_core(variant, names, core, mistake_results)
        or _in_a_part(variant, names, rounds, mistake_results)
        or (_beside_habit(variant, names, rounds, mistake_results) if wrong else [])
        or by_symptom(variant.task, [answered for answered in rounds if not is_right(*answered)])
    )


def each_shows(variant: Variant, names: Sequence[str], rounds: Asked, mistake_results: MistakeResults) -> bool:
    """Whether each mistake alone would have given the same wrong answer to some case: else it may not be said of it."""
    wrong = [
        (case, answer.arrays) for case, answer, expected in _valued(rounds) if not is_right(case, answer, expected)
    ]

    def shows(name: str) -> bool:
        alone = ((case, arrays, mistake_results.by(variant, (name,), case)) for case, arrays in wrong)
        return any(a is not None and b is not None and _is_mistaken(a, b, case) for case, a, b in alone)

    return all(shows(name) for name in names)
