"""Tasks on training: how long it takes, and what it keeps in memory."""

from softlookup.checks.counting.page import PAGE, meta, plain
from softlookup.checks.counting.products import shared
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task

DAY_S = 86400.0


def _days_cases(rng: Rng, unit: str, unit_s: float) -> list[Case]:
    a100 = {"dense": 312.0, "sparse": 624.0}
    odd = {"sparse": float(rng.integers(300, 900)), "dense": float(rng.integers(20, 200))}  # no order is promised
    return plain(
        "parameters, tokens, devices, sheet, share",
        (6_738_415_616, 2_000_000_000_000, 1024, a100, 0.4),
        (124_439_808, 10_000_000_000, 1, a100, 0.3),
        (10**9, 2 * 10**10, 8, odd, 1.0),
        (int(rng.integers(10**7, 10**9)), int(rng.integers(10**9, 10**11)), 3, odd, 0.25),
    )


def _days(
    n_parameters: int, n_tokens: int, n_devices: int, sheet: dict[str, float], share: float, unit: str, unit_s: float
) -> float:
    """Token for token: a multiply-add forward and two back for each parameter, so much a second."""
    multiply_adds = n_parameters + 2 * n_parameters
    tokens_per_s = n_devices * share * (sheet["dense"] * 1e12 / (2 * multiply_adds))
    return n_tokens / tokens_per_s / unit_s


DAYS = Task(
    id="12.days",
    name="training_time",
    title="How long a training takes",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="counting-training",
    returns=("time",),
    cases=_days_cases,
    oracle=_days,
    frame="plain",
    variants=(
        {"unit": "days", "unit_s": DAY_S},
        {"unit": "hours", "unit_s": 3600.0},
        {"unit": "weeks", "unit_s": 604800.0},
    ),
    mistakes=(
        known(
            "sparse-peak",
            ('sheet["dense"]', 'sheet["sparse"]'),
            says="The peak with sparsity is taken: it holds where half of the weights are zeros in a fixed pattern. "
            "Ordinary weights reach the dense peak at most.",
            number=81,
        ),
        known(
            "forward-alone",
            ("6 * n_parameters", "2 * n_parameters"),
            says="Two operations for each parameter and token are the way forward: with the way back they are six.",
        ),
        known(
            "first-of-sheet",
            ('sheet["dense"]', "next(iter(sheet.values()))"),
            says="The first number of the sheet is taken, whatever it says: the dense peak stands under its name.",
            number=81,
        ),
        known(
            "back-alone",
            ("6 * n_parameters", "4 * n_parameters"),
            says="Four operations for each parameter and token are the way back: with the way forward they are six.",
        ),
        known(
            "share-turned",
            ("* 1e12 * share", "* 1e12 / share"),
            says="The share of the peak makes the training shorter here: who reaches half of it takes twice as long.",
        ),
        known(
            "one-operation",
            ("6 * n_parameters", "3 * n_parameters"),
            says="A multiply-add is counted once: three multiply-adds, one forward and two back, are six operations.",
            number=78,
        ),
        known(
            "giga",
            ("1e12", "1e9"),
            says="The sheet's numbers are read as GFLOP/s: a TFLOP/s is 10^12 operations a second.",
        ),
        known("one-device", ("n_devices * ", ""), says="One device is counted: they share the work."),
        known(
            "peak-reached", (" * share", ""), says="The whole peak is taken as reached: share says how much of it is."
        ),
        known("seconds", (" / unit_s", ""), says="These are seconds: another unit is asked for."),
    ),
)


def _states_cases(rng: Rng) -> list[Case]:
    n = int(rng.integers(1000, 10**6))
    return plain(
        "parameters, recipe",
        (1, "master"),
        (6_738_415_616, "master"),
        (124_439_808, "float32"),
        (n, "autocast"),
        (n + 1, "master"),
        (n + 2, "float32"),
    )


def _states(n_parameters: int, recipe: str) -> tuple[int, ...]:
    """The bytes of tensors as torch would hold them."""
    half = recipe == "master"
    weights, gradients = (meta(n_parameters, size=2 if half else 4).nbytes for _ in range(2))
    master = meta(n_parameters, size=4).nbytes if half else 0
    return weights, gradients, master, sum(meta(n_parameters, size=4).nbytes for _ in ("mean", "mean of squares"))


SIZE = 'size = 2 if recipe == "master" else 4'
MASTER = 'master = 4 * n_parameters if recipe == "master" else 0'
ADAM = "adam = 2 * 4 * n_parameters"
RETURNED = "return weights, gradients, master, adam"
WEIGHTS = "weights = gradients = size * n_parameters"

STATES = Task(
    id="12.states",
    name="state_bytes",
    title="What training keeps",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="counting-memory",
    returns=("weights", "gradients", "master copy", "optimizer"),
    cases=_states_cases,
    oracle=_states,
    frame="plain",
    mistakes=(
        shared(
            "elements-for-bytes",
            (WEIGHTS, "weights = gradients = n_parameters"),
            (MASTER, MASTER.replace("4 * ", "")),
            (ADAM, "adam = 2 * n_parameters"),
            says="This counts numbers, not bytes: a float32 takes four, a half-precision number two.",
        ),
        known(
            "one-state", (ADAM, "adam = 4 * n_parameters"), says="Adam keeps two numbers for each parameter, not one."
        ),
        known(
            "half-states",
            (ADAM, "adam = 2 * size * n_parameters"),
            says="Adam's states follow the precision of the weights: here they stay in float32, whatever those are.",
        ),
        known(
            "master-forgotten",
            (MASTER, "master = 0"),
            says="The float32 master copy is missing: it is what small steps are added to, since half precision would "
            "lose them.",
        ),
        known(
            "master-always",
            (MASTER, "master = 4 * n_parameters"),
            says="A master copy is counted where there is none: weights in float32 are updated themselves.",
        ),
        known(
            "gradients-float32",
            (WEIGHTS, "weights, gradients = size * n_parameters, 4 * n_parameters"),
            says="The gradients are counted in float32: with half-precision weights they are half precision, too.",
        ),
        known(
            "all-float32",
            (SIZE, "size = 4"),
            says="Weights and gradients are counted in float32 in every recipe: in the one with a master copy they are "
            "half precision.",
        ),
        known(
            "master-half",
            (MASTER, MASTER.replace("4 *", "2 *")),
            says="The master copy is counted in half precision: it is there because half precision is too coarse.",
        ),
        known(
            "master-with-adam",
            (RETURNED, "return weights, gradients, 0, master + adam"),
            says="The master copy is counted with Adam's states, as some papers do: it has a place of its own here.",
        ),
        known(
            "master-twice",
            (RETURNED, "return weights, gradients, master, master + adam"),
            says="The master copy is counted twice, once with Adam's states.",
        ),
        known(
            "copies-counted",
            (MASTER, 'master = {"master": 4, "autocast": 2, "float32": 0}[recipe] * n_parameters'),
            says="Autocast's half-precision copies are counted as a master copy: they come and go, and there is none.",
        ),
        known(
            "autocast-gradients",
            (RETURNED, RETURNED.replace("gradients,", '(2 * n_parameters if recipe == "autocast" else gradients),')),
            says="Autocast's gradients are counted in half precision: a gradient has its weight's precision, which "
            "is float32 there.",
        ),
        known(
            "autocast-halves",
            (SIZE, 'size = 4 if recipe == "float32" else 2'),
            (MASTER, 'master = 0 if recipe == "float32" else 4 * n_parameters'),
            says="Autocast is taken for the recipe with a master copy: it keeps weights and gradients in float32, and "
            "its half-precision copies come and go.",
        ),
    ),
)


def _activation_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 9)) for low in (2, 11))
    return plain(
        "B, T, D, N, F, fused",
        (1, 2, 4, 2, 8, False),
        (2, 2048, 4096, 32, 16384, False),
        (2, 2048, 4096, 32, 16384, True),
        (3, 5, 12, 4, 30, False),
        (*drawn, 24, 6, 50, True),
        (*drawn, 40, 8, 100, False),
    )


def _activation(b: int, t: int, d: int, n: int, f: int, fused: bool) -> int:
    """The tensors one by one, as torch would hold them."""
    states = ["norm 1", "q, k and v", "output", "norm 2", "up"]
    heads = [meta(b, n, t, d // n) for _ in "qkv"]
    kept = [*(meta(b, t, d) for _ in states), *heads, meta(b, t, f), meta(b, t, f)]
    return sum(one.nbytes for one in kept) + (0 if fused else meta(b, n, t, t).nbytes)


MAPS = "weights = 0 if fused else batch * n_heads * n_tokens**2"
KEPT = "return 2 * (narrow + wide + weights)"
NARROW = "narrow = 8 * tokens * d_model"
WIDE = "wide = 2 * tokens * d_hidden"

ACTIVATIONS = Task(
    id="12.activations",
    name="activation_bytes",
    title="What a layer keeps for the way back",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="counting-activations",
    returns=("bytes",),
    cases=_activation_cases,
    oracle=_activation,
    frame="plain",
    mistakes=(
        shared(
            "elements-for-bytes",
            (KEPT, "return narrow + wide + weights"),
            says="This counts numbers, not bytes: each is half precision and takes two.",
        ),
        known(
            "float32-numbers",
            (KEPT, KEPT.replace("2 *", "4 *")),
            says="Each number is counted with four bytes: in half precision it takes two.",
        ),
        known(
            "paper-formula",
            (KEPT, "return batch * n_tokens * d_model * (34 + 5 * n_heads * n_tokens / d_model)"),
            says="This is the published formula: it holds with dropout, a hidden width of 4*D and no fused kernel. Add "
            "up the tensors of the list.",
        ),
        known(
            "fused-turned",
            ("0 if fused else batch * n_heads * n_tokens**2", "batch * n_heads * n_tokens**2 if fused else 0"),
            says="It is the other way round: the fused kernel is the one that keeps no weights.",
        ),
        known(
            "one-sequence",
            ("batch * n_heads * n_tokens**2", "n_heads * n_tokens**2"),
            says="The weights of one sequence are counted: each of the B has squares of its own.",
        ),
        known(
            "causal-halved",
            ("batch * n_heads * n_tokens**2", "batch * n_heads * n_tokens**2 // 2"),
            says="Half of the square is kept here, as if a causal mask left pairs out: the full square is computed.",
            number=82,
        ),
        known(
            "one-forgotten",
            (NARROW, "narrow = 7 * tokens * d_model"),
            says="One of the tensors of width D is missing: go through the list once more, queries, keys and values "
            "are three.",
        ),
        known(
            "one-too-many",
            (NARROW, "narrow = 9 * tokens * d_model"),
            says="There is one tensor of width D too many: the layer's output, say, is the next layer's to keep.",
        ),
        known(
            "fused-ignored",
            ("0 if fused else ", ""),
            says="The weights are counted where the kernel is fused: it keeps none, and makes them again.",
        ),
        known(
            "weights-forgotten",
            (MAPS, "weights = 0"),
            says="The weights of attention are missing where the kernel is not fused: B*N squares of T*T.",
        ),
        known(
            "one-head",
            ("batch * n_heads * n_tokens**2", "batch * n_tokens**2"),
            says="The weights of one head are counted: each of the N heads has a square of its own.",
        ),
        known(
            "scores-too",
            ("batch * n_heads * n_tokens**2", "2 * batch * n_heads * n_tokens**2"),
            says="Two squares are counted for each head: the softmax's result is kept, and the scores before it are "
            "not needed any more.",
        ),
        known(
            "input-thrice",
            (NARROW, "narrow = 10 * tokens * d_model"),
            says="The input of queries, keys and values is counted three times: it is one tensor, which all three use.",
        ),
        known(
            "norm-inputs-forgotten",
            (NARROW, "narrow = 6 * tokens * d_model"),
            says="Two of the tensors of width D are missing. There are as many norms, each of which keeps its input "
            "(what follows keeps the norm's result); and as many are left out if queries, keys and values are one.",
        ),
        known(
            "hidden-once",
            (WIDE, "wide = tokens * d_hidden"),
            says="One hidden tensor is counted: the activation keeps its input, and the second matrix keeps what comes "
            "out of the activation.",
            number=79,
        ),
    ),
)
