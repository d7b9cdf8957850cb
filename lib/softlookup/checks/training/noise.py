"""Tasks on chance: dropout, and first numbers for the weights. What is drawn comes as an argument."""

from typing import Any

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import dtype_lost, gradient_cut, known
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import PAGE


def _dropout_cases(rng: Rng) -> list[Case]:
    def args(shape: tuple[int, ...], p: float, training: bool, dtype: str = "float32") -> tuple[Any, ...]:
        u = rng.random(shape)
        u.flat[0], u.flat[1] = p, p / 2
        return normal(rng, *shape, dtype=dtype), u.astype(dtype), p, training

    return [
        Case("in training, p = 0.25", args((3, 5), 0.25, True)),
        Case("in use, p = 0.25", args((2, 5), 0.25, False)),
        Case("in training, p = 0.5, three axes", args((3, 1, 3), 0.5, True)),
        Case("in training, p = 0", args((2, 3), 0.0, True)),
        Case("half precision", args((3, 3), 0.25, True, "float16"), keeps_dtype=True, part="dtype"),
        Case(
            "the gradient of x",
            args((2, 4), 0.25, True, "float64"),
            gradients=(0,),
            upstream=normal(rng, 2, 4, dtype="float64"),
            part="gradient",
        ),
    ]


def _dropout(x: Any, u: Any, p: float, training: bool) -> Any:
    import torch

    return torch.where(u < p, torch.zeros_like(x), x / (1 - p)) if training else x


KEPT = "(u >= p)"
SCALED = "return x * (u >= p) / (1 - p)"
IN_USE = "if not training:\n        return x"

DROPOUT = Task(
    id="09.dropout",
    name="dropout",
    title="Dropout",
    points=3,
    minutes=8,
    difficulty=1,
    page=PAGE,
    anchor="training-dropout",
    returns=("y",),
    cases=_dropout_cases,
    oracle=_dropout,
    parts={"core": 0.6, "gradient": 0.2, "dtype": 0.2},
    forbids=("torch.nn.functional.dropout", "torch.nn.Dropout", "torch.dropout"),
    mistakes=(
        known(
            "always-on",
            ("if not training:", "if p == 2.0:"),
            says="It drops in use as well: then the same sentence gives another answer each time. Without training x "
            "comes back as it is.",
            number=69,
        ),
        known(
            "training-inverted",
            ("if not training:", "if training:"),
            says="It is the wrong way round: it drops in use, and rests in training.",
            number=69,
        ),
        known(
            "not-scaled",
            (SCALED, "return x * (u >= p)"),
            says="What is kept is not scaled: in use all numbers are there, so sums would be larger than in training. "
            "Divide by 1 - p while training.",
        ),
        known(
            "scaled-in-use",
            (IN_USE, "if not training:\n        return x * (1 - p)"),
            (SCALED, "return x * (u >= p)"),
            says="It is scaled in use instead of in training. The sums agree too, but here x comes back untouched in "
            "use.",
        ),
        known(
            "bound-dropped",
            (KEPT, "(u > p)"),
            says="Numbers whose u is p are dropped as well: only those BELOW p are. (With p = 0 nothing is.)",
        ),
        known(
            "others-scaled",
            (SCALED, "return x * (u >= p) * (u.numel() / (u >= p).sum())"),
            says="It is divided by the share that happened to be kept: divide by the chance, 1 - p.",
        ),
        known("share-inverted", (KEPT, "(u < p)"), says="The share p is kept: it is to be dropped."),
        known(
            "divided-by-p",
            (SCALED, "return x * (u >= p) / p"),
            says="It is divided by p: the share that is KEPT is 1 - p.",
        ),
        known("multiplied", (SCALED, "return x * (u >= p) * (1 - p)"), says="It is multiplied by 1 - p: divide."),
        dtype_lost((SCALED, "return (x * (u >= p) / (1 - p)).float()")),
        gradient_cut((SCALED, "return x.detach() * (u >= p) / (1 - p)")),
    ),
)


def _first_cases(rng: Rng) -> list[Case]:
    def case(n_in: int, n_out: int, after_relu: bool, dtype: str = "float32") -> Case:
        label = f"{n_in} in, {n_out} out, {'behind a ReLU' if after_relu else 'no ReLU'}"
        # A root taken in float32 costs nothing.
        tolerance = 1e-6 if dtype == "float64" else None
        return Case(label, (normal(rng, n_in, n_out, dtype=dtype), after_relu), tolerance=tolerance)

    return [case(3, 5, False), case(3, 5, True), case(4, 4, False), case(6, 2, True, "float64"), case(6, 2, False)]


def _first(z: Any, after_relu: bool) -> Any:
    n_in, n_out = z.shape
    return z * (2 / n_in) ** 0.5 if after_relu else z / ((n_in + n_out) / 2) ** 0.5


VARIANCE = "variance = 2 / n_in if after_relu else 2 / (n_in + n_out)"

FIRST_WEIGHTS = Task(
    id="09.initialise",
    name="first_weights",
    title="Xavier and He",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="training-initialise",
    returns=("w",),
    cases=_first_cases,
    oracle=_first,
    forbids=("torch.nn.init", "softlookup.model"),
    mistakes=(
        known(
            "variance-for-deviation",
            ("z * math.sqrt(variance)", "z * variance"),
            says="It is multiplied by the variance: what scales numbers is its root, the standard deviation.",
        ),
        known(
            "axes-exchanged",
            ("n_in, n_out = z.shape", "n_out, n_in = z.shape"),
            says="in and out have changed places: here a matrix is (in, out), and y = x @ w. (torch's own Linear holds "
            "it the other way round.)",
        ),
        known(
            "two-forgotten",
            (VARIANCE, "variance = 1 / n_in if after_relu else 1 / (n_in + n_out)"),
            says="The 2 is missing: a ReLU takes half of what comes (He), and Xavier takes the MEAN of in and out.",
        ),
        known(
            "names-exchanged",
            ("if after_relu", "if not after_relu"),
            says="The two have changed places: He, 2 / in, belongs behind a ReLU; Xavier is 2 / (in + out).",
        ),
        known(
            "always-xavier",
            (VARIANCE, "variance = 2 / (n_in + n_out)"),
            says="It is Xavier's variance everywhere: behind a ReLU it is He's, 2 / in.",
        ),
        known(
            "always-he",
            (VARIANCE, "variance = 2 / n_in"),
            says="It is He's variance everywhere: without a ReLU it is Xavier's, 2 / (in + out).",
        ),
        known(
            "he-halved",
            (VARIANCE, "variance = 1 / n_in if after_relu else 2 / (n_in + n_out)"),
            says="He's 2 is missing: a ReLU takes half of what comes, and the 2 puts it back.",
        ),
        known(
            "xavier-halved",
            (VARIANCE, "variance = 2 / n_in if after_relu else 1 / (n_in + n_out)"),
            says="Xavier's 2 is missing: it is one over the MEAN of in and out.",
        ),
        known(
            "fan-in-alone",
            (VARIANCE, "variance = 2 / n_in if after_relu else 1 / n_in"),
            says="Without a ReLU the variance is 1 / in: Xavier minds the way back too, and takes the mean of both.",
        ),
        known(
            "divided",
            ("z * math.sqrt(variance)", "z / math.sqrt(variance)"),
            says="It is divided by the standard deviation: numbers of variance 1 are multiplied by it.",
        ),
        known(
            "limit-for-deviation",
            ("2 / (n_in + n_out)", "6 / (n_in + n_out)"),
            says="6 / (in + out) is the square of the LIMIT of uniform numbers: their variance is a third of it.",
        ),
    ),
)
