"""The task that asks how many rows have to meet a matrix before operations are the limit."""

from fractions import Fraction

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.roofline.page import PAGE
from softlookup.checks.task import Case, Task


def _cases(rng: Rng) -> list[Case]:
    width = int(rng.integers(40, 90)) * 64
    rows = (
        (8, 8, 4, 1.0),
        (4096, 4096, 2, 161.25),
        (4096, 16384, 2, 153.0),
        (512, 2048, 2, 153.0),
        (256, 128, 4, 9.5),
        (64, 64, 2, 161.25),
        (width, 3 * width, 1, 300.5),
        (1024, 1024, 2, 509.5),
        (2, 2, 1, 1.89),
        (2, 2, 1, 2.0),
        (2, 2, 1, 2.125),
    )
    return [Case(f"(D, F, bytes, ridge) = {row}", row, frame="plain") for row in rows]


def _oracle(d: int, f: int, width: int, ridge: float) -> int:
    """Found by trying, in exact fractions: doubling until it is enough, then halving the distance."""
    edge = Fraction(ridge)

    def enough(t: int) -> bool:
        return Fraction(2 * t * d * f, (t * d + d * f + t * f) * width) >= edge

    high = 1
    while not enough(high):
        high *= 2
        if high > 1 << 60:
            return 0
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


GAIN = "gain = 2 * d * f - ridge * bytes_per_number * (d + f)"
NEVER = "if gain <= 0:\n        return 0"
LAST = "return math.ceil(ridge * bytes_per_number * d * f / gain)"

ROWS = Task(
    id="11.rows",
    name="fewest_rows",
    title="How many rows are enough?",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="roofline-product",
    returns=("rows",),
    cases=_cases,
    oracle=_oracle,
    frame="plain",
    mistakes=(
        known(
            "matrix-alone",
            (GAIN, "gain = 2 * d * f"),
            says="Only the matrix is counted among the bytes: the rows that go in and come out grow with T.",
        ),
        known(
            "rows-forgotten",
            (GAIN, "gain = 2 * d * f - ridge * bytes_per_number * f"),
            says="The rows that go in, T*D numbers, are missing among the bytes.",
        ),
        known(
            "result-forgotten",
            (GAIN, "gain = 2 * d * f - ridge * bytes_per_number * d"),
            says="The rows that come out, T*F numbers, are missing among the bytes.",
        ),
        known(
            "elements-for-bytes",
            (GAIN, GAIN.replace(" * bytes_per_number", "")),
            (LAST, LAST.replace(" * bytes_per_number", "")),
            says="Numbers are counted, not bytes: the ridge is in operations for each byte.",
            number=80,
        ),
        known(
            "one-operation",
            (GAIN, GAIN.replace("2 * d * f", "d * f")),
            says="A multiply-add is counted once: it is two operations, a product and a sum.",
            number=78,
        ),
        known(
            "rounded-down",
            (LAST, LAST.replace("math.ceil", "int")),
            says="The number of rows is rounded down, and is not enough: round up.",
        ),
        known(
            "rounded-to-nearest",
            (LAST, LAST.replace("math.ceil", "round")),
            says="The number of rows is rounded to the nearest one, which may be below it and not enough: round up.",
        ),
        known(
            "not-rounded",
            (LAST, LAST.replace("math.ceil", "")),
            says="This is where the intensity meets the ridge, between two whole numbers: round up to the next one.",
        ),
        known(
            "one-too-many",
            (LAST, LAST.replace("math.ceil(", "1 + int(")),
            says="Where the intensity meets the ridge exactly, that is enough: one row too many.",
        ),
        known(
            "never-infinite",
            (NEVER, NEVER.replace("return 0", 'return float("inf")')),
            says="Where no number of rows is enough, infinity is returned: the task asks for 0 there.",
        ),
        known(
            "never-minus-one",
            (NEVER, NEVER.replace("return 0", "return -1")),
            says="Where no number of rows is enough, -1 is returned: the task asks for 0 there.",
        ),
        known(
            "never-overlooked",
            ("if gain <= 0", "if gain == 0"),
            says="A narrow matrix never gets there, however many rows it meets: the answer is then 0, not a negative "
            "number.",
        ),
    ),
)
