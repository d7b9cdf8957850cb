"""Tasks on batches: who gains from one, and from which size on."""

from fractions import Fraction

from softlookup.checks.counting.page import PAGE, meta, plain, product_flops
from softlookup.checks.counting.products import shared
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _decode_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 20)) for low in (2, 30, 60, 90))
    return plain(
        "B, S, D, F, N, K, H, bytes_per_number",
        (1, 1000, 4096, 11008, 32, 32, 128, 2),
        (64, 1000, 4096, 11008, 32, 32, 128, 2),
        (64, 1000, 4096, 14336, 32, 8, 128, 2),
        (3, 7, 5, 11, 6, 2, 4, 4),
        (*drawn, 6, 3, 8, 4),
    )


def _decode(b: int, s: int, d: int, f: int, n: int, k: int, h: int, size: int) -> tuple[float, float]:
    """One sequence and one shared head after the other: from the shapes of tensors."""

    def intensity(count: int, left: tuple[int, ...], right: tuple[int, ...], out: tuple[int, ...]) -> float:
        moved = sum(meta(*shape, size=size).nbytes for shape in (left, right, out))
        return count * product_flops((left, right)) / (count * moved)

    group = n // k
    return intensity(1, (b, d), (d, f), (b, f)), intensity(b * k, (group, h), (h, s), (group, s))


KEYS = "keys = batch * n_kv_heads * context * head_width"

DECODE = Task(
    id="12.decode",
    name="decode_intensities",
    title="Who gains from a batch?",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="counting-decode",
    returns=("dense", "scores"),
    cases=_decode_cases,
    oracle=_decode,
    frame="plain",
    mistakes=(
        known(
            "keys-shared-by-all",
            (KEYS, "keys = n_kv_heads * context * head_width"),
            says="The keys are read once for the whole batch, as if batching raised attention's intensity: each "
            "sequence has keys of its own, so bytes grow with the batch as operations do.",
            number=84,
        ),
        known(
            "matrix-for-each",
            (" + d_model * d_hidden +", " + batch * d_model * d_hidden +"),
            says="The matrix is read once for each sequence: it is read once for the whole batch, and that is what "
            "batching gains.",
            number=84,
        ),
        shared("own-keys", (KEYS, "keys = batch * n_heads * context * head_width")),
        known(
            "grouped-scores",
            ("score_flops = 2 * batch * n_heads", "score_flops = 2 * batch * n_kv_heads"),
            says="The operations are counted for K heads: every query head has scores of its own, whoever shares its "
            "keys.",
        ),
        shared("one-operation", ("_flops = 2 * batch", "_flops = batch")),
        shared("elements-for-bytes", (" * bytes_per_number", "")),
        known(
            "vectors-unread",
            ("batch * d_model + d_model * d_hidden", "d_model * d_hidden"),
            says="The tokens' vectors are missing among what the dense product moves: they are read.",
        ),
        known(
            "dense-result-unwritten",
            (" + batch * d_hidden", ""),
            says="The result of the dense product is missing among what is moved: it is written.",
        ),
        known(
            "queries-unread",
            ("queries + keys", "keys"),
            says="The queries are missing among what the scores move: they are read.",
        ),
        known(
            "values-too",
            (KEYS, KEYS.replace("= batch", "= 2 * batch")),
            says="Keys and values are counted as read: the scores need the keys alone, the values are for the mixing.",
        ),
        shared(
            "intensity-inverted",
            (
                "return dense, score_flops / (score_numbers * bytes_per_number)",
                "return 1 / dense, (score_numbers * bytes_per_number) / score_flops",
            ),
        ),
        known(
            "scores-unwritten",
            ("queries + keys + scores", "queries + keys"),
            says="The scores are missing among what is moved: they are written.",
        ),
        shared(
            "pair-swapped",
            (
                "return dense, score_flops / (score_numbers * bytes_per_number)",
                "return score_flops / (score_numbers * bytes_per_number), dense",
            ),
            says="The two numbers have changed places: the dense product comes first.",
        ),
    ),
)


def _ridge_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(2, 9))
    return plain(
        "T, D, F, bytes_per_number, ridge",
        (1, 4096, 4096, 2, 153.01),
        (50, 4096, 4096, 2, 153.01),
        (100, 4096, 11008, 2, 161.24),
        (1, 4096, 11008, 4, 20.13),
        (1, 128, 128, 2, 161.24),
        (t, int(rng.integers(500, 900)), 1000, 2, 30.07),
        (3, 40, 50, 4, 9.63),
        (4, 64, 64, 2, 16.0),  # 8 sequences lie on the ridge itself
        (1, 64, 64, 2, 32.0),  # which no batch reaches, though every larger one comes nearer
        (1, 64, 64, 2, 31.87),
    )


def _ridge(t: int, d: int, f: int, size: int, ridge: float) -> int:
    """Doubled until it is enough, then closed in from both sides; in fractions, since ties count."""
    exact = Fraction(ridge)

    def enough(batch: int) -> bool:
        rows = batch * t
        return 2 * rows * d * f >= exact * size * (rows * d + d * f + rows * f)

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


STOP = "if gained <= 0:"
ENDING = "return math.ceil(needed / gained / n_tokens)"
GAINED = "gained = 2 * d_model * d_hidden - ridge * bytes_per_number * (d_model + d_hidden)"

RIDGE = Task(
    id="12.ridge",
    name="smallest_batch",
    title="From which batch on",
    points=3,
    minutes=10,
    difficulty=3,
    page=PAGE,
    anchor="counting-batching",
    returns=("sequences",),
    cases=_ridge_cases,
    oracle=_ridge,
    frame="plain",
    mistakes=(
        shared("one-operation", ("gained = 2 *", "gained =")),
        shared("elements-for-bytes", ("ridge * bytes_per_number", "ridge")),
        known(
            "weights-alone",
            (GAINED, "gained = 2 * d_model * d_hidden"),
            says="Only the matrix is counted as moved: tokens are read and results written, too, and they grow with "
            "the batch.",
        ),
        known(
            "inputs-unread",
            ("(d_model + d_hidden)", "d_hidden"),
            says="The tokens are not counted as read: their bytes grow with the batch.",
        ),
        known(
            "results-unwritten",
            ("(d_model + d_hidden)", "d_model"),
            says="The results are not counted as written: their bytes grow with the batch.",
        ),
        known(
            "intensity-is-batch",
            (ENDING, "return math.ceil(ridge / n_tokens)"),
            (STOP, "if False:"),
            says="The intensity is taken to be the number of rows: in half precision it is nearly that for few rows, "
            "and always a little less.",
        ),
        known(
            "above-the-ridge",
            (ENDING, "return math.floor(needed / gained / n_tokens) + 1"),
            says="Where a batch lies on the ridge itself, the next one is taken: not below it is enough.",
        ),
        known(
            "search-ends",
            (ENDING, "found = math.ceil(needed / gained / n_tokens)\n    return found if found <= 1000 else 0"),
            says="The search ends too early: close to the largest intensity that a matrix can have, it takes "
            "thousands of sequences. Solve for the number of rows instead.",
        ),
        known(
            "fraction",
            (ENDING, "return needed / gained / n_tokens"),
            says="This is no whole number: part of a sequence is none.",
        ),
        known(
            "tokens-for-sequences",
            (" / n_tokens", ""),
            says="This is the number of tokens: each sequence brings T of them.",
        ),
        known(
            "rounded-down",
            ("math.ceil", "math.floor"),
            says="The number is rounded down, and stays below the ridge: the smallest whole number that reaches it is "
            "asked for.",
        ),
        known(
            "never-unseen",
            (STOP, "if gained == 0:"),
            says="Where no batch is large enough, 0 is asked for: with narrow matrices the tokens' own bytes keep the "
            "intensity below the ridge for ever.",
        ),
    ),
)
