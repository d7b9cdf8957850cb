"""Tasks that count: how deep a graph of steps is, and how many operations two layers take."""

from collections.abc import Callable, Set

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.motivation.page import PAGE
from softlookup.checks.task import Case, Task


def _chain(n: int) -> np.ndarray:
    """A recurrent layer: n tokens, then n states."""
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = np.eye(n)
    needs[n:, n:] = np.eye(n, k=-1)
    return needs


def _all_at_once(n: int) -> np.ndarray:
    """An attention layer: n tokens, then n outputs."""
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = True
    return needs


def _tree(n: int) -> np.ndarray:
    """A sum of n numbers, two at a time: n - 1 steps after the numbers."""
    needs = np.zeros((2 * n - 1, 2 * n - 1), dtype=bool)
    for i in range(n - 1):
        needs[n + i, [2 * i, 2 * i + 1]] = True
    return needs


def _random(rng: Rng, n: int) -> np.ndarray:
    needs = np.tril(rng.random((n, n)) < 0.35, k=-1)
    needs[n // 2] = False  # one in the middle that needs nothing
    needs[-1, [0, n - 2]] = True, False  # and one whose last need is not its latest
    return needs


def _depth_cases(rng: Rng) -> list[Case]:
    # A chain of four beside a step that is ready at once: what step 5 needs last is done long before its first need.
    long_then_short = np.zeros((6, 6), dtype=bool)
    long_then_short[[1, 2, 3], [0, 1, 2]] = True
    long_then_short[5, [3, 4]] = True
    graphs = (
        ("a recurrent layer of four tokens", _chain(4)),
        ("an attention layer of four tokens", _all_at_once(4)),
        ("a sum of eight numbers, two at a time", _tree(8)),
        ("a long chain and a short one", long_then_short),
        ("nine steps drawn at random", _random(rng, 9)),
        ("twelve steps drawn at random", _random(rng, 12)),
        ("three steps that need nothing", np.zeros((3, 3), dtype=bool)),
    )
    return [Case(label, (needs,), frame="numpy") for label, needs in graphs]


def _depth(needs: np.ndarray) -> np.ndarray:
    """The longest chain that ends at each step: the last power of the matrix in which its row is not empty."""
    power, longest = np.eye(len(needs), dtype=np.int64), np.zeros(len(needs), dtype=np.int64)
    for length in range(1, len(needs) + 1):
        power = np.minimum(power @ needs.astype(np.int64), 1)
        longest[power.any(axis=1)] = length
    return longest


def _depth_mistaken(flags: Set[str], needs: np.ndarray) -> np.ndarray:
    n = len(needs)
    if "in-a-row" in flags:
        done = np.arange(n)
    elif "counts-needs" in flags:
        done = needs.sum(axis=1)
    elif "whole-past" in flags:
        past = np.zeros((n, n), dtype=bool)
        for i in range(n):
            past[i] = needs[i] | past[needs[i]].any(axis=0)
        done = past.sum(axis=1)
    else:
        done = np.zeros(n, dtype=np.int64)
        choose: Callable[[np.ndarray], int] = np.max
        if "earliest" in flags:
            choose = np.min
        elif "added-up" in flags:
            choose = np.sum
        elif "last-need" in flags:
            choose = lambda before: before[-1]  # noqa: E731
        for i in range(n):
            before = done[needs[:, i] if "columns" in flags else needs[i]]
            if len(before):
                done[i] = (0 if "no-step" in flags else 1) + choose(before)
    return done + ("starts-at-one" in flags)


DONE = "done[i] = 1 + max(before)"
PAST = """    def past(needs, i):
        direct = [j for j in range(i) if needs[i, j]]
        return set(direct).union(*(past(needs, j) for j in direct))

"""

DEPTH = Task(
    id="01.depth",
    name="finish_times",
    title="How early can it be done?",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="motivation-depth",
    returns=("times",),
    cases=_depth_cases,
    oracle=_depth,
    mistaken=_depth_mistaken,
    frame="numpy",
    forbids=("softlookup.reference",),
    mistakes=(
        known(
            "earliest",
            (DONE, "done[i] = 1 + min(before)"),
            says="A step starts when the first of what it needs is there: it has to wait for the last of them, the "
            "largest time.",
        ),
        known(
            "in-a-row",
            ("return done", "return list(range(len(needs)))"),
            says="The steps are done one after the other, as by one pair of hands: steps that do not need each other "
            "are done at the same time.",
        ),
        known(
            "counts-needs",
            (DONE, "done[i] = len(before)"),
            says="This counts what a step needs; it is asked when all of that is done.",
        ),
        known(
            "whole-past",
            (DONE, "done[i] = len(past(needs, i))"),
            ("    done = [0]", f"{PAST}    done = [0]"),
            says="This counts all steps that come before, the work; with many hands only the longest chain counts.",
        ),
        known(
            "added-up",
            (DONE, "done[i] = 1 + sum(before)"),
            says="The times of what a step needs are added up, as if it waited for one after the other: it waits for "
            "the latest alone.",
        ),
        known(
            "last-need",
            (DONE, "done[i] = 1 + before[-1]"),
            says="Only the last step in the row is waited for; an earlier one in the list may be done later.",
        ),
        known(
            "starts-at-one",
            ("done = [0] * len(needs)", "done = [1] * len(needs)"),
            says="All times are one too large: what needs nothing is there at time 0.",
        ),
        known(
            "no-step",
            (DONE, "done[i] = max(before)"),
            says="The step itself takes no time: add one to the latest of what it needs.",
        ),
        known(
            "columns",
            ("range(i) if needs[i, j]", "range(len(needs)) if needs[j, i]"),
            says="The matrix is read by columns: row i says what step i needs, needs[i, j].",
        ),
    ),
)


def _operations_cases(rng: Rng, gates: int, layer: str) -> list[Case]:
    sizes = [(5, 3), (3, 8), (1, 6), (512, 64), (64, 512)]
    sizes.append((int(rng.integers(20, 90)), int(rng.integers(100, 300))))
    return [Case(f"T = {tokens}, D = {width}", (tokens, width), frame="plain") for tokens, width in sizes]


def _cost(products: list[tuple[int, int, int]]) -> int:
    """Operations of matrix products (rows, summed over, columns)."""
    return sum(2 * rows * inner * columns for rows, inner, columns in products)


def _operations(n_tokens: int, width: int, gates: int, layer: str) -> tuple[int, int, int]:
    def recurrent(tokens: int) -> int:
        return tokens * _cost([(1, width, width), (1, width, width)] * gates)

    def attention(tokens: int) -> int:
        return _cost([(tokens, width, width)] * 4 + [(tokens, width, tokens), (tokens, tokens, width)])

    # What one token costs is a straight line in the number of tokens for both: two points give it.
    lead_1 = recurrent(1) - attention(1)
    lead_2 = recurrent(2) / 2 - attention(2) / 2
    equal_at = 1 + lead_1 / (lead_1 - lead_2)
    return recurrent(n_tokens), attention(n_tokens), round(equal_at)


def _operations_mistaken(flags: Set[str], n_tokens: int, width: int, gates: int, layer: str) -> tuple[np.ndarray, ...]:
    pair = 1 if "one-for-two" in flags else 2
    matrices = 1 if "state-alone" in flags else 2
    squared = n_tokens**2 * width if "square-of-tokens" in flags else n_tokens * width**2
    recurrent = (1 if "gates-forgotten" in flags else gates) * matrices * pair * squared
    n_projections = 0 if "no-projections" in flags else 3 if "three-projections" in flags else 4
    table = n_tokens * width if "no-square" in flags else n_tokens**2 * width
    attention = n_projections * pair * n_tokens * width**2 + (1 if "scores-alone" in flags else 2) * pair * table
    equal_at = (gates - 2) * width
    if "leading-terms" in flags:
        recurrent, attention, equal_at = 2 * pair * n_tokens * width**2, 2 * pair * table, width
    if "bare-orders" in flags:
        recurrent, attention, equal_at = n_tokens * width**2, n_tokens**2 * width, width
    if "orders-alone" in flags:
        equal_at = width
    if "without-projections" in flags:
        equal_at = gates * width
    both = (attention, recurrent) if "swapped" in flags else (recurrent, attention)
    return tuple(np.array(number) for number in (*both, equal_at))


EQUAL = "equal_at = (gates - 2) * width"

OPERATIONS = Task(
    id="01.operations",
    name="operations",
    title="Who computes more?",
    points=3,
    minutes=12,
    difficulty=2,
    page=PAGE,
    anchor="motivation-operations",
    returns=("recurrent", "attention", "equal_at"),
    cases=_operations_cases,
    oracle=_operations,
    mistaken=_operations_mistaken,
    frame="plain",
    variants=(
        {"gates": 4, "layer": "an LSTM has 4"},
        {"gates": 8, "layer": "two LSTMs, one for each direction, have 8"},
        {"gates": 6, "layer": "two GRUs, one for each direction, have 6"},
    ),
    forbids=("softlookup.reference",),
    mistakes=(
        known(
            "one-for-two",
            ("multiply_add = 2", "multiply_add = 1"),
            says="A multiply-add is counted as one operation: here it is two, a product and a sum.",
            number=78,
        ),
        known(
            "no-projections",
            ("attention = projections + table", "attention = table"),
            says="Only scores and mixing are counted in attention: queries, keys, values and the output each need a "
            "product with a D by D matrix as well.",
            number=79,
        ),
        known(
            "three-projections",
            ("projections = 4 *", "projections = 3 *"),
            says="Attention has four D by D matrices, not three: one for the output stands after queries, keys and "
            "values.",
            number=79,
        ),
        known(
            "scores-alone",
            ("table = 2 *", "table = 1 *"),
            says="The square of tokens is paid for twice: once for the scores, once for mixing the values.",
        ),
        known(
            "no-square",
            ("n_tokens**2 * width", "n_tokens * width"),
            says="Every token meets every token: the scores grow with the square of their number.",
        ),
        known(
            "gates-forgotten",
            ("recurrent = gates * 2 * one_matrix", "recurrent = 2 * one_matrix"),
            says="One pair of matrices is counted; the layer has several, one for each gate.",
        ),
        known(
            "state-alone",
            ("recurrent = gates * 2 * one_matrix", "recurrent = gates * one_matrix"),
            says="Each pair has two matrices: one takes the token, one the state before. Only one of them is counted.",
        ),
        known(
            "square-of-tokens",
            ("recurrent = gates * 2 * one_matrix", "recurrent = gates * 2 * multiply_add * n_tokens**2 * width"),
            says="The recurrent layer grows with the square of the width, and with the tokens themselves: T and D "
            "have changed places.",
        ),
        known(
            "orders-alone",
            (EQUAL, "equal_at = width"),
            says="T = D is where the leading terms T*T*D and T*D*D are equal; set the two full counts equal, with "
            "their factors and the projections.",
        ),
        known(
            "without-projections",
            (EQUAL, "equal_at = gates * width"),
            says="The projections are left out where the two counts are set equal: they cost as much as two pairs of "
            "matrices.",
        ),
        known(
            "leading-terms",
            ("recurrent = gates * 2 * one_matrix", "recurrent = 2 * one_matrix"),
            ("attention = projections + table", "attention = table"),
            (EQUAL, "equal_at = width"),
            says="This is the paper's comparison: one pair of matrices against scores and mixing alone, equal at "
            "T = D. Here the layer has more pairs, and attention has four projections as well.",
        ),
        known(
            "bare-orders",
            ("recurrent = gates * 2 * one_matrix", "recurrent = n_tokens * width**2"),
            ("attention = projections + table", "attention = n_tokens**2 * width"),
            (EQUAL, "equal_at = width"),
            says="These are orders of growth, without their factors: count each product's multiply-adds, two "
            "operations each.",
        ),
        known(
            "swapped",
            ("return recurrent, attention, equal_at", "return attention, recurrent, equal_at"),
            says="The two counts have changed places: recurrent first, then attention.",
        ),
    ),
)
