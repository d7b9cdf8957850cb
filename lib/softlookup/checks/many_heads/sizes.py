"""Tasks about sizes: the shape table, the spread of first weights, the bytes of a cache."""

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.many_heads.counting import plain
from softlookup.checks.many_heads.page import PAGE
from softlookup.checks.task import Arrays, Case, Task


def _shapes_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(n) for n in rng.choice(np.arange(5, 40), size=4, replace=False))
    return plain("T, D, N, H", (2, 4, 5, 3), (8, 4, 2, 2), (10, 512, 8, 64), (7, 3, 1, 5), drawn)


def _shapes(n_tokens: int, d_model: int, n_heads: int, head_width: int) -> np.ndarray:
    """The shapes that numpy's own products have."""
    x, w, w_o = (
        np.zeros((n_tokens, d_model)),
        np.zeros((d_model, head_width)),
        np.zeros((n_heads * head_width, d_model)),
    )
    q = x @ w
    a = q @ q.T
    z = a @ q
    together = np.concatenate([z] * n_heads, axis=1)
    return np.array([one.shape for one in (w, w_o, x, q, a, z, together, together @ w_o)])


ROWS = (
    "the query matrix of one head",
    "the output matrix",
    "X",
    "one head's queries",
    "one head's attention weights",
    "one head's result",
    "the heads' results side by side",
    "the layer's output",
)


def _first_wrong(case: Case, arrays: Arrays) -> str | None:
    """Say in words what the first wrong cell of the table counts."""
    right = _shapes(*case.args)
    if arrays[0].shape != right.shape or not (arrays[0] != right).any():
        return None
    row, column = np.argwhere(arrays[0] != right)[0]
    return f"Cell [{row}, {column}] counts the {('rows', 'columns')[column]} of {ROWS[row]}."


ONE = "(d_model, head_width),"
TOGETHER = "(n_tokens, wide),"
OUT = "(wide, d_model),"

SHAPES = Task(
    id="05.shapes",
    name="shape_table",
    title="The shape table",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="many-heads-shapes",
    returns=("shapes",),
    cases=_shapes_cases,
    oracle=_shapes,
    frame="plain",
    properties=(_first_wrong,),
    mistakes=(
        known(
            "width-from-model",
            ("wide = n_heads * head_width", "head_width = d_model // n_heads\n    wide = n_heads * head_width"),
            says="The head width is taken to be D / N: it is given, and N*H need not be D.",
        ),
        known(
            "matrices-transposed",
            (ONE, "(head_width, d_model),"),
            (OUT, "(d_model, wide),"),
            says="The matrices are transposed, as torch's Linear keeps them: here x @ w, so W is (D, H), and W_O is "
            "(N*H, D).",
        ),
        known(
            "output-is-wide",
            (OUT, "(wide, wide),"),
            ("(n_tokens, d_model),  # the layer", "(n_tokens, wide),  # the layer"),
            says="The output has kept the width N*H: the output matrix brings it back to D.",
            number=23,
        ),
        known(
            "averaged",
            (OUT, "(head_width, d_model),"),
            (TOGETHER, "(n_tokens, head_width),"),
            says="The heads' results have the width of one head, as if they were averaged: they lie side by side, N*H "
            "wide.",
            number=24,
        ),
        known(
            "below-each-other",
            (TOGETHER, "(n_heads * n_tokens, head_width),"),
            says="The heads' results stand below each other: they lie side by side, one row for each token.",
        ),
        known(
            "weights-by-width",
            ("(n_tokens, n_tokens),", "(head_width, head_width),"),
            says="The attention weights have a row for each query and a column for each key: (T, T). The head width "
            "has been summed away.",
        ),
        known(
            "all-heads-in-one",
            (ONE, "(d_model, wide),"),
            ("(n_tokens, head_width),  # its queries", "(n_tokens, wide),  # its queries"),
            ("(n_tokens, head_width),  # its result", "(n_tokens, wide),  # its result"),
            says="These are all heads' matrices and results side by side: the table asks for those of one head.",
        ),
    ),
)


def _cache_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(n) for n in rng.integers(2, 30, size=3))
    return plain(
        "B, S, L, N, K, H, bytes",
        (1, 1000, 32, 32, 8, 128, 2),
        (1, 1000, 32, 32, 1, 128, 2),
        (4, 77, 6, 8, 8, 64, 4),
        (*drawn, 12, 3, 5, 2),
    )


def _cache(
    batch: int, n_keys: int, n_layers: int, n_heads: int, n_kv_heads: int, head_width: int, bytes_per_number: int
) -> int:
    return int(np.prod([2, batch, n_layers, n_kv_heads, n_keys, head_width, bytes_per_number], dtype=np.int64))


NUMBERS = "numbers = 2 * batch * n_layers * n_keys * n_kv_heads * head_width"

CACHE = Task(
    id="05.cache",
    name="cache_bytes",
    title="What a cache keeps",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="many-heads-grouped",
    returns=("bytes",),
    cases=_cache_cases,
    oracle=_cache,
    frame="plain",
    mistakes=(
        known(
            "query-heads",
            (NUMBERS, NUMBERS.replace("n_kv_heads", "n_heads")),
            says="The cache is sized by the query heads: it keeps keys and values, of which there are K heads.",
            number=83,
        ),
        known(
            "one-key-head",
            (NUMBERS, NUMBERS.replace(" * n_kv_heads", "")),
            says="One key-value head is counted: there are K of them.",
        ),
        known("keys-alone", ("2 * batch", "batch"), says="Only the keys are counted: the values are kept as well."),
        known(
            "layers-forgotten",
            (" * n_layers", ""),
            says="The layers are missing: each has keys and values of its own.",
        ),
        known(
            "batch-forgotten", ("2 * batch", "2"), says="The batch is missing: every sequence has a cache of its own."
        ),
        known(
            "elements-for-bytes",
            ("return numbers * bytes_per_number", "return numbers"),
            says="This counts numbers, not bytes: each takes bytes_per_number bytes.",
            number=80,
        ),
        known("bits", ("return numbers *", "return 8 * numbers *"), says="These are bits: bytes are asked for."),
        known(
            "square",
            ("n_keys *", "n_keys**2 *"),
            says="The cache does not grow with the square: each position adds one key and one value for each head.",
        ),
    ),
)


def _init_cases(rng: Rng, numerator: float, asked: str) -> list[Case]:
    sizes = ((4, 5, 3), (512, 8, 64), (512, 8, 96), (6, 1, 2), (int(rng.integers(5, 200)), 7, int(rng.integers(2, 50))))
    return [Case(f"(D, N, H) = {args}", args, frame="plain", tolerance=1e-6) for args in sizes]


def _init(d_model: int, n_heads: int, head_width: int, numerator: float, asked: str) -> float:
    """Variance 1 over the mean of both fans; a uniform number of limit a has variance a*a/3, a normal one its own."""
    variance = 1 / np.mean([d_model, n_heads * head_width])
    return float(np.sqrt(variance * (numerator / 2)))


LIMIT_NUMERATOR = 6.0
FANS = "fan_in, fan_out = d_model, n_heads * head_width"
LIMIT = "return math.sqrt(numerator / (fan_in + fan_out))"

INIT = Task(
    id="05.init",
    name="init_scale",
    title="First weights of the right size",
    points=2,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="many-heads-init",
    returns=("scale",),
    cases=_init_cases,
    oracle=_init,
    frame="plain",
    variants=(
        {"numerator": LIMIT_NUMERATOR, "asked": "the limit $a$ of a uniform distribution between $-a$ and $a$"},
        {"numerator": 2.0, "asked": "the standard deviation of a normal distribution"},
    ),
    mistakes=(
        known(
            "one-heads-columns",
            (FANS, "fan_in, fan_out = d_model, head_width"),
            says="The columns of one head are counted: the matrix has those of all N heads.",
            number=20,
        ),
        known(
            "stacked",
            (FANS, "fan_in, fan_out = d_model, 3 * n_heads * head_width"),
            says="This is for queries, keys and values stacked into one matrix, as in torch's own layer: here w_q is "
            "a matrix by itself.",
        ),
        known(
            "rows-alone",
            ("(fan_in + fan_out)", "fan_in"),
            says="Only the rows are counted: Xavier's rule looks both ways, forward and back, and divides by rows "
            "plus columns.",
        ),
        known(
            "columns-alone",
            ("(fan_in + fan_out)", "fan_out"),
            says="Only the columns are counted: Xavier's rule divides by rows plus columns.",
        ),
        known(
            "standard-deviation",
            ("numerator = 6.0", "numerator = 2.0"),
            says="This is the standard deviation; the limit is sqrt(3) times it, since a uniform number between -a and "
            "a has the variance a*a/3.",
        ),
        known(
            "variance-itself",
            (LIMIT, "return 2 / (fan_in + fan_out)"),
            says="This is the variance itself: the limit a has a*a/3 = variance, so a is the root of three times it.",
        ),
        known("variance", (LIMIT, LIMIT.replace("math.sqrt", "")), says="The square root is missing."),
        known(
            "mean-of-fans",
            (LIMIT, LIMIT.replace("(fan_in + fan_out)", "((fan_in + fan_out) / 2)")),
            says="This divides by the mean of rows and columns: the factor that is looked for has the mean's 2 in it "
            "already, so divide by the sum.",
        ),
        known(
            "half-the-numerator",
            ("math.sqrt(numerator /", "math.sqrt(numerator / 2 /"),
            says="The number above the line is half of what it should be: the variance is 2 / (rows + columns), and a "
            "uniform number between -a and a has the variance a*a/3.",
        ),
    ),
)
