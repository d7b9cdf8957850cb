"""The task that counts operations: those of a recurrent layer, of attention, and where the two are equal."""

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.motivation.page import PAGE
from softlookup.checks.task import Case, Mistake, Task


def _operations_cases(rng: Rng, gates: int, layer: str) -> list[Case]:
    # Even widths: what half a pair of matrices is worth is a whole number then, and can be named.
    sizes = [(5, 4), (3, 8), (1, 6), (512, 64), (64, 512)]
    sizes.append((int(rng.integers(20, 90)), 2 * int(rng.integers(50, 150))))
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


SOLVED = "-solved"
"""Ends the name of a mistake in a count after which the third number is derived from that count, as people do."""


def _with_solved(mistake: Mistake, equal_at: str) -> tuple[Mistake, Mistake]:
    """A mistake in a count: with the third number right, and with the one that follows from it."""
    says = f"{mistake.says} The third number follows from that count, and comes right with it."
    edits = (*mistake.edits, (EQUAL, f"equal_at = {equal_at}"))
    return mistake, Mistake(mistake.slug + SOLVED, says, mistake.number, edits)


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
    frame="plain",
    variants=(
        {"gates": 4, "layer": "an LSTM has 4"},
        {"gates": 9, "layer": "three GRUs, one on top of the other, have 9"},
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
        *_with_solved(
            known(
                "no-projections",
                ("attention = projections + table", "attention = table"),
                says="Only scores and mixing are counted in attention: queries, keys, values and the output each need "
                "a product with a D by D matrix as well.",
                number=79,
            ),
            "gates * width",
        ),
        *_with_solved(
            known(
                "three-projections",
                ("projections = 4 *", "projections = 3 *"),
                says="Attention has four D by D matrices, not three: one for the output stands after queries, keys and "
                "values.",
                number=79,
            ),
            "(2 * gates - 3) * width / 2",
        ),
        *_with_solved(
            known(
                "scores-alone",
                ("table = 2 *", "table = 1 *"),
                says="The square of tokens is paid for twice: once for the scores, once for mixing the values.",
            ),
            "2 * (gates - 2) * width",
        ),
        known(
            "no-square",
            ("n_tokens**2 * width", "n_tokens * width"),
            says="Every token meets every token: the scores grow with the square of their number.",
        ),
        *_with_solved(
            known(
                "gates-forgotten",
                ("recurrent = gates * 2 * one_matrix", "recurrent = 2 * one_matrix"),
                says="One pair of matrices is counted; the layer has several, one for each gate.",
            ),
            "-width",
        ),
        *_with_solved(
            known(
                "state-alone",
                ("recurrent = gates * 2 * one_matrix", "recurrent = gates * one_matrix"),
                says="This is half of the recurrent layer's operations: each pair has two matrices (one takes the "
                "token, one the state before), and a multiply-add is two operations. One of these twos is missing.",
            ),
            "(gates - 4) * width / 2",
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
