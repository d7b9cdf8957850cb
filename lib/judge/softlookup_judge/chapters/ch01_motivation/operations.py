"""The task that counts operations: those of a recurrent layer, of attention, and where the two are equal."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


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


OPERATIONS = described(
    "01.operations",
    cases=_operations_cases,
    oracle=_operations,
    frame="plain",
    variants=(
        {"gates": 4, "layer": "an LSTM has 4"},
        {"gates": 9, "layer": "three GRUs, one on top of the other, have 9"},
        {"gates": 6, "layer": "two GRUs, one for each direction, have 6"},
        {"gates": 3, "layer": "a GRU has 3"},
        {"gates": 24, "layer": "six LSTMs, one on top of the other, have 24"},
        {"gates": 12, "layer": "three LSTMs, one on top of the other, have 12"},
        {"gates": 15, "layer": "five GRUs, one on top of the other, have 15"},
        {"gates": 16, "layer": "four LSTMs, one on top of the other, have 16"},
        {"gates": 20, "layer": "five LSTMs, one on top of the other, have 20"},
    ),
    forbids=("softlookup.reference",),
)
