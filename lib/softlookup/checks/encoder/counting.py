"""The task that counts an encoder's parameters."""

from softlookup.checks.draws import Rng
from softlookup.checks.encoder.page import PAGE
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _parameter_cases(rng: Rng) -> list[Case]:
    sizes = (
        (512, 2048, 6, False, False, False),
        (512, 2048, 6, False, False, True),
        (768, 3072, 12, False, True, False),
        (4, 16, 1, True, False, True),
        (6, 10, 3, True, True, True),
        (int(rng.integers(5, 90)), int(rng.integers(91, 300)), 5, False, True, True),
    )
    return [Case(f"(D, F, L, gated, bias, pre_norm) = {args}", args, frame="plain") for args in sizes]


def _parameters(d_model: int, d_hidden: int, n_layers: int, gated: bool, bias: bool, pre_norm: bool) -> int:
    """Counted on torch's own modules, on the device that holds no numbers."""
    import torch
    from torch import nn

    with torch.device("meta"):
        layers = [
            nn.ModuleList(
                [
                    *(nn.Linear(d_model, d_model, bias=bias) for _ in range(4)),
                    *(nn.Linear(d_model, d_hidden, bias=bias) for _ in range(1 + gated)),
                    nn.Linear(d_hidden, d_model, bias=bias),
                    nn.LayerNorm(d_model),
                    nn.LayerNorm(d_model),
                ]
            )
            for _ in range(n_layers)
        ]
        last = [nn.LayerNorm(d_model)] if pre_norm else []
    return sum(p.numel() for p in nn.ModuleList([*layers, *last]).parameters())


WIDE = "wide = 2 if gated else 1"
ATTENTION = "attention = 4 * d_model**2"
HIDDEN = "hidden = (wide + 1) * d_model * d_hidden"
BIASES = "biases = 4 * d_model + wide * d_hidden + d_model if bias else 0"
NORM = "norm = 2 * d_model"
TOTAL = "return n_layers * (attention + hidden + biases + 2 * norm) + last"
LAST = "last = norm if pre_norm else 0"

PARAMETERS = Task(
    id="07.parameters",
    name="encoder_parameters",
    title="Count an encoder",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="encoder-parameters",
    returns=("parameters",),
    cases=_parameter_cases,
    oracle=_parameters,
    frame="plain",
    mistakes=(
        known(
            "output-forgotten",
            (ATTENTION, "attention = 3 * d_model**2"),
            (BIASES, BIASES.replace("4 *", "3 *")),
            says="Attention has four matrices: the output matrix W_O is missing.",
            number=23,
        ),
        known("gate-forgotten", (WIDE, "wide = 1"), says="A gated network has three matrices: the gate's is missing."),
        known(
            "hidden-counted-once",
            (HIDDEN, "hidden = wide * d_model * d_hidden"),
            (BIASES, "biases = 4 * d_model + wide * d_hidden if bias else 0"),
            says="The matrix that narrows again, (F, D), is missing.",
            number=79,
        ),
        known(
            "biases-forgotten",
            (BIASES, "biases = 0"),
            says="The biases are missing where bias is True: one number for each column of each matrix.",
        ),
        known(
            "biases-always",
            (BIASES, BIASES.replace(" if bias else 0", "")),
            says="Biases are counted whatever bias says: where it is False there are none.",
        ),
        known(
            "attention-biases-forgotten",
            (BIASES, BIASES.replace("4 * d_model + ", "")),
            says="The biases of attention's four matrices are missing: each of these has D columns.",
        ),
        known(
            "gate-bias-forgotten",
            (BIASES, BIASES.replace("wide * d_hidden", "d_hidden")),
            says="The gate's bias is missing: its matrix has F columns.",
        ),
        known(
            "one-number-biases",
            (BIASES, "biases = 4 + wide + 1 if bias else 0"),
            says="Each bias is counted as one number: it has one for each column of its matrix.",
        ),
        known(
            "biases-of-the-width",
            (BIASES, "biases = (4 + wide + 1) * d_model if bias else 0"),
            says="All biases have D numbers: where the token is widened, the matrix has F columns.",
        ),
        known(
            "gated-always",
            (WIDE, "wide = 2"),
            says="Three matrices are counted for every network: one without a gate has two.",
        ),
        known(
            "last-norm-in-every-layer",
            (TOTAL, "return n_layers * (attention + hidden + biases + 2 * norm + last)"),
            says="The last norm is counted in every layer: it stands once, after all of them.",
            number=43,
        ),
        known(
            "last-norm-of-post",
            (LAST, "last = 0 if pre_norm else norm"),
            says="The last norm is counted for post-LN: it is pre-LN that has one.",
            number=43,
        ),
        known(
            "norms-forgotten",
            (TOTAL, TOTAL.replace(" + 2 * norm", "")),
            says="The norms of the layers are missing: each of the two has a gain and a shift.",
        ),
        known(
            "one-norm-for-both",
            (TOTAL, TOTAL.replace("2 * norm", "norm")),
            says="One norm is counted for each layer: each of its two sublayers has one.",
        ),
        known(
            "gain-alone",
            (NORM, "norm = d_model"),
            says="A LayerNorm has a gain and a shift, D numbers each: only one of them is counted.",
            number=42,
        ),
        known(
            "last-norm-forgotten",
            (LAST, "last = 0"),
            says="With pre-LN one more norm follows the last layer: it is missing.",
            number=43,
        ),
        known(
            "last-norm-always",
            (LAST, "last = norm"),
            says="The norm after the last layer belongs to pre-LN alone: a post-LN layer ends with a norm already.",
            number=43,
        ),
        known(
            "one-layer",
            (TOTAL, TOTAL.replace("n_layers * ", "")),
            says="One layer is counted: there are L, each with numbers of its own.",
            number=47,
        ),
    ),
)
