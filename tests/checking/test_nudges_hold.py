"""What a nudge computes of a wrong answer holds for every wrong result: a second reading of its sentences."""

import re

import numpy as np
import pytest

from published import ALL_TASKS
from softlookup_inside.asking.probe import Answer
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.data.compare import same, tolerance
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import mistaken
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.naming.nudge import relation

NUMERIC = [task for task in ALL_TASKS if task.reveals and task.frame != "text"]
SENTENCE = re.compile(
    r'(?:In the question "(?P<label>.*?)", (?P<name>.+?)'
    r"|In all questions where (?P<names>.+?) is wrong, it|On all ranks where (?P<ranks>.+?) is wrong, it)"
    r" (?P<claim>(?:is|has|agrees) .*)\."
)


def near(a, b, tol, slack=5e-6):
    """Whether numbers agree within a tolerance, and the six digits of a sentence."""
    if a.shape != b.shape:
        return False
    room = tol + (tol + slack) * np.maximum(np.abs(a), np.abs(b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return bool((same | ((np.abs(a - b) <= 2 * room) & np.isfinite(a) & np.isfinite(b))).all())


def along(array, axis, part):
    return np.moveaxis(np.moveaxis(array, axis, 0)[part], 0, axis)


def of_input(says, names, case):
    """The number that a sentence names, such as 1/√`k.shape[-1]`."""
    name = re.sub(r"^1/|√|`", "", says)
    known = {"the number of ranks": case.world}
    for key, arg in zip(names, case.args, strict=False):
        known |= {f"{key}.shape[{a - arg.ndim}]": n for a, n in enumerate(arg.shape)} if hasattr(arg, "shape") else {}
        known |= {key: arg} if isinstance(arg, int | float) else {}
    value = known[name] ** (0.5 if "√" in says else 1)
    return 1 / value if says.startswith("1/") else value


FUNCTIONS = {
    "the logarithm of the right one": np.log,
    "the exponential of the right one": np.exp,
    "the square of the right one": lambda w: w * w,
    "the square root of the right one": np.sqrt,
    "one over the right one": lambda w: 1 / w,
    "one minus the right one": lambda w: 1 - w,
    "the right one without its signs": np.abs,
}


def holds(claim, got, right, others, names, case):
    """Whether a claim is true of a wrong result, by another computation than the nudge's."""
    tol = tolerance(got, case)
    if got.dtype.kind == "b" or right.dtype.kind == "b":
        if "True where it should" in claim:
            return np.array_equal(got, np.logical_not(right))
    g, w = got.astype(np.float64), right.astype(np.float64)
    match = re.match
    if m := match(r"is what `(.+)` should be$", claim):
        return near(g, others[m[1]].astype(np.float64), tol)
    if m := match(r"is the input `(.+)` unchanged$", claim):
        return near(g, np.asarray(case.args[list(names).index(m[1])], np.float64), tol)
    if "last two axes exchanged" in claim:
        return near(np.moveaxis(g, -1, -2), w, tol)
    if "in another shape" in claim:
        return g.shape != w.shape and near(g.ravel(), w.ravel(), tol)
    if m := match(r"agrees .* with (too many|some missing) along axis (-\d+) (at the end|at the beginning)$", claim):
        long, short = (g, w) if m[1] == "too many" else (w, g)
        n = short.shape[int(m[2])]
        part = slice(0, n) if m[3] == "at the end" else slice(long.shape[int(m[2])] - n, None)
        return long.shape != short.shape and near(along(long, int(m[2]), part), short, tol)
    if claim == "has the right numbers in another order":
        return near(np.sort(g.ravel()), np.sort(w.ravel()), tol)
    if g.shape != w.shape:
        return False
    off = np.array([not near(a, b, tol / 4, 0) for a, b in zip(g.ravel(), w.ravel(), strict=True)]).reshape(g.shape)
    surely_off = np.array([not near(a, b, tol, 0) for a, b in zip(g.ravel(), w.ravel(), strict=True)]).reshape(g.shape)
    if "NaN or infinite" in claim:
        return near(g[np.isfinite(g)], w[np.isfinite(g)], tol)
    if "sign changed" in claim:
        return near(-g, w, tol)
    if m := match(r"is the right one times ([-\d.e+]+)$", claim):
        return m[1] != "1" and near(g, float(m[1]) * w, tol)
    if m := match(r"is the right one times (.+)$", claim):
        return near(g, of_input(m[1], names, case) * w, tol)
    if m := match(r"is the right one (plus|minus) ([-\d.e+]+) everywhere$", claim):
        return float(m[2]) > 2 * tol and near(g, w + float(m[2]) * (1 if m[1] == "plus" else -1), tol)
    if m := match(r"is (.+)$", claim):
        if m[1] in FUNCTIONS:
            # Where the function is steep, the right number's own tolerance is worth more.
            image, least, most = (FUNCTIONS[m[1]](w + step) for step in (0, -tol, tol))
            room = 2 * (tol + tol * np.abs(image) + np.fmax(np.abs(least - image), np.abs(most - image)))
            return bool((~np.isfinite(image) | (np.abs(g - image) <= np.maximum(room, 0.03))).all())
    if m := match(r"is the right one in reverse order along axis (-\d+)$", claim):
        return near(along(g, int(m[1]), slice(None, None, -1)), w, tol)
    if m := match(r"is the right one moved by one along axis (-\d+), (forwards|backwards)$", claim):
        ends = [along(array, int(m[1]), part) for array, part in ((g, slice(1, None)), (w, slice(0, -1)))]
        if m[2] == "backwards":
            ends = [along(array, int(m[1]), part) for array, part in ((g, slice(0, -1)), (w, slice(1, None)))]
        return ends[0].size > 0 and near(*ends, tol)
    if m := match(r"is wrong only where `(.+)` is (True|False)$", claim):
        mask = np.broadcast_to(case.args[list(names).index(m[1])], g.shape)
        return not surely_off[mask != (m[2] == "True")].any()
    if m := match(r"is (wrong|right throughout) only at index (-?\d+) of axis (-\d+)$", claim):
        axis, at = int(m[3]), int(m[2]) % g.shape[int(m[3])]
        rest = [n for n in range(g.shape[axis]) if n != at]
        if m[1] == "wrong":
            return along(off, axis, [at]).any() and not along(surely_off, axis, rest).any()
        return not along(surely_off, axis, [at]).any() and all(along(off, axis, [n]).any() for n in rest)
    if m := match(r"has (rows|numbers|columns) that (do not )?sum to 1", claim):
        sums = g.sum(-2 if m[1] == "columns" else -1)
        return not np.allclose(sums, 1, atol=tol) if m[2] else np.allclose(sums, 1, atol=1e-3)
    raise AssertionError(f"no second reading of: {claim}")


@np.errstate(all="ignore")
def check_claim(variant, rounds):
    """Hold a nudge's sentence against all wrong results; give it."""
    says = relation(variant, rounds)
    if not says:
        return ""
    parts = SENTENCE.fullmatch(says)
    assert parts, says
    wrong = 0
    questions = set()
    values = set()
    for case, answer, right in rounds:
        all_names = variant.result_names(case)
        for at, name in enumerate(all_names[:-1] if case.is_recorded else all_names):
            plain = name.partition(" of rank ")[0]
            subject = parts["name"] or parts["names"] or parts["ranks"]
            count = (len(all_names) - 1) // case.world if case.world else len(all_names)
            if subject.strip("`") not in (plain, "your result") or (subject == "your result" and case.gradients):
                continue
            if answer.arrays is None or same((answer.arrays[at],), (right[at],), case):
                continue
            first = at - at % count
            others = {
                all_names[first + n].partition(" of rank ")[0]: right[first + n]
                for n in range(count)
                if first + n != at
            }
            got = answer.arrays[at]
            wrong += 1
            questions.add(case.label)
            values |= {f"{number:.6g}" for number in got.ravel()[:500]} | (
                {1, 2, 3} if got.dtype.kind == "b" or not np.isfinite(got).all() else set()
            )
            names = variant.input_names(case)
            assert holds(parts["claim"], got, right[at], others, names, case), f"{says} {case.label}: {got} {right[at]}"
    assert wrong and (parts["label"] is None or questions == {parts["label"]}), says
    is_of_values = re.search("right one|should be|input|numbers in", parts["claim"])
    assert len(values) > 2 or not is_of_values or "axes" in says, says
    return says


def noise(rng, got, case, by):
    tol = tolerance(got, case)
    return (got + by * rng.uniform(-1, 1, got.shape) * tol * (1 + np.abs(got))).astype(got.dtype)


def changed(rng):
    """Ways in which a right result may be wrong: each takes a result, its question and all right ones."""
    somewhere = rng.integers(0, 3)
    return {
        "plus": lambda g, c, all_of: g + 3,
        "barely plus": lambda g, c, all_of: g + 1.5 * tolerance(g, c),
        "times": lambda g, c, all_of: g * 2.5,
        "barely times": lambda g, c, all_of: g * (1 + 2.5 * tolerance(g, c)),
        "negative": lambda g, c, all_of: -g,
        "nearly times": lambda g, c, all_of: noise(rng, g * 2, c, 3),
        "nearly plus": lambda g, c, all_of: noise(rng, g + 1, c, 3),
        "noise": lambda g, c, all_of: noise(rng, g, c, 3),
        "zero": lambda g, c, all_of: g * 0,
        "ones": lambda g, c, all_of: g * 0 + 1,
        "by length": lambda g, c, all_of: g * (g.shape[-1] if g.ndim else 2),
        "rolled": lambda g, c, all_of: np.roll(g, 1, -1) if g.ndim else g + 1,
        "rolled in front": lambda g, c, all_of: np.roll(g, -1, 0) if g.ndim else g + 1,
        "reversed": lambda g, c, all_of: g[::-1] if g.ndim else -g,
        "exchanged": lambda g, c, all_of: g.mT if g.ndim > 1 else -g,
        "next result": lambda g, c, all_of: all_of[1] if len(all_of) > 1 else g + 1,
        "first": lambda g, c, all_of: g[:1] if g.ndim else g + 1,
        "shorter": lambda g, c, all_of: g[..., :-1] if g.ndim else g + 1,
        "in another shape": lambda g, c, all_of: g[None],
        "one cell": lambda g, c, all_of: np.where(np.arange(g.size).reshape(g.shape) == somewhere, g + 1, g),
        "first row": lambda g, c, all_of: np.concatenate([g[:1] + 1, g[1:]]) if g.ndim else g + 1,
        "NaN": lambda g, c, all_of: np.where(np.arange(g.size).reshape(g.shape) % 3 == 1, np.nan, g),
        "sorted": lambda g, c, all_of: np.sort(g, axis=-1) if g.ndim else g + 1,
        "square": lambda g, c, all_of: g * g,
        "logarithm": lambda g, c, all_of: np.log(np.abs(g) + 1e-3),
        "inverse": lambda g, c, all_of: 1 / (g + 1e-3),
        "inverted": lambda g, c, all_of: 1 - g,
        "normalised": lambda g, c, all_of: g / np.abs(g).sum(-1, keepdims=True) if g.ndim else g + 1,
        "an input": lambda g, c, all_of: next(
            (a for a in c.args if isinstance(a, np.ndarray) and a.shape == g.shape), g + 1
        ),
    }


def rounds_of(variant, change, where):
    """Questions answered right but for a change of the first result of some of them."""
    questions = questions_at_home(variant)
    rounds = []
    for n, (case, right) in enumerate(zip(questions.cases, questions.rights, strict=True)):
        got = list(right)
        if where(n, case):
            try:
                got[0] = np.asarray(change(right[0], case, right))
            except TypeError:  # numpy does not compute with booleans
                got[0] = np.asarray(change(right[0] * 1.0, case, right))
        rounds.append((case, Answer(tuple(got)), right))
    return rounds


WHERE = {
    "everywhere": lambda n, case: True,
    "in one": lambda n, case: n == 1,
    "in some": lambda n, case: n % 3 == 0,
    "beside others": None,
}


@np.errstate(all="ignore")
def sentences_on(task):
    """The sentences on changed right answers, and on known mistakes, each held against all questions."""
    variant, rng = variant_of(task), np.random.default_rng(0)
    questions = questions_at_home(variant)
    says = []
    for name, change in changed(rng).items():
        for where, chosen in WHERE.items():
            # Elsewhere the answer is wrong in another way.
            rounds = rounds_of(variant, change, chosen or (lambda n, case: n % 2 == 0))
            if chosen is None:
                other = rounds_of(variant, lambda g, c, all_of: g * 0 + 7, lambda n, case: n % 2 == 1)
                rounds = [pair[n % 2] for n, pair in enumerate(zip(rounds, other, strict=True))]
            try:
                says.append(check_claim(variant, rounds))
            except AssertionError as error:
                raise AssertionError(f"{task.id}, {name} {where}: {error}") from None
    for mistake in task.mistakes if not task.prepared else ():
        results = [mistaken(variant, (mistake.slug,), case) for case in questions.cases if not case.gradients]
        valued = [pair for pair in zip(questions.cases, questions.rights, strict=True) if not pair[0].gradients]
        rounds = [(case, Answer(got), right) for (case, right), got in zip(valued, results, strict=True)]
        says.append(check_claim(variant, rounds))
    return [sentence for sentence in says if sentence]


@pytest.mark.one_in(72)
@pytest.mark.parametrize("task", NUMERIC, ids=lambda task: task.id)
def test_sentences_on_wrong_answers_hold(task):
    says, rights = sentences_on(task), questions_at_home(variant_of(task)).rights
    assert says or all(right[0].dtype.kind == "b" for right in rights)


@pytest.mark.parametrize(("last", "says"), [(-9e-4, False), (9e-4, True)])
def test_an_addend_is_said_where_all_numbers_have_it_those_with_much_room_too(last, says):
    variant = variant_of(get_task("04.scores"))
    case = next(case for case in questions_at_home(variant).cases if not case.gradients)
    right = np.array([[0.1, 0.2, 0.3, 900.0]], np.float32)
    got = right + np.array([[9e-4, 9e-4, 9e-4, last]], np.float32)
    assert ("plus 0.0009 everywhere" in relation(variant, [(case, Answer((got,)), (right,))])) is says
