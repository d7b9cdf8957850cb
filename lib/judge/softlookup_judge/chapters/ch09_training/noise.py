"""Tasks on chance: dropout, and first numbers for the weights. What is drawn comes as an argument."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _dropout_cases(rng: Rng) -> list[Case]:
    def args(shape: tuple[int, ...], p: float, training: bool, dtype: str = "float32") -> tuple[Any, ...]:
        u = rng.random(shape)
        u.flat[0], u.flat[1] = p, p / 2
        return normal(rng, *shape, dtype=dtype), u.astype(dtype), p, training

    x, u, *rest = args((3, 4), 0.5, True, "float16")

    return [
        Case("in training, p = 0.25", args((3, 5), 0.25, True)),
        Case("in use, p = 0.25", args((2, 5), 0.25, False)),
        Case("in training, p = 0.5, three axes", args((3, 1, 3), 0.5, True)),
        Case("in training, p = 0", args((2, 3), 0.0, True)),
        Case("half precision", args((3, 3), 0.25, True, "float16"), keeps_dtype=True, part="dtype"),
        Case("x in half precision, u in float32", (x, u.astype("float32"), *rest), keeps_dtype=True, part="dtype"),
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


DROPOUT = described(
    "09.dropout",
    cases=_dropout_cases,
    oracle=_dropout,
    parts={"core": 0.6, "gradient": 0.2, "dtype": 0.2},
    forbids=("torch.nn.functional.dropout", "torch.nn.Dropout", "torch.dropout"),
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


FIRST_WEIGHTS = described(
    "09.initialise", cases=_first_cases, oracle=_first, forbids=("torch.nn.init", "softlookup.model")
)
