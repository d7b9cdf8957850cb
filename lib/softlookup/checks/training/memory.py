"""Tasks that count: bytes of a training run, parameters of an encoder-decoder."""

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import PAGE

RECIPES = ("float32", "autocast", "master")


def _bytes_cases(rng: Rng) -> list[Case]:
    sizes = [(1_000_000, 5_000_000), (65_000_000, 900_000_000), (3, 7)]
    sizes.append((int(rng.integers(10, 99)), int(rng.integers(100, 999))))
    return [
        Case(f"{p:,} parameters, {a:,} activations, {recipe}", (p, a, recipe), frame="plain")
        for p, a in sizes
        for recipe in RECIPES
    ]


SIZES = {"float32": ("float32",) * 4, "autocast": ("float32",) * 4, "master": ("float16",) * 2 + ("float32",) * 3}


def _bytes(parameters: int, activations: int, recipe: str) -> tuple[int, int]:
    """Sizes as numpy has them: weights, gradients, what the optimiser keeps."""
    each = sum(np.dtype(kind).itemsize for kind in SIZES[recipe])
    wide = np.dtype("float32" if recipe == "float32" else "float16").itemsize
    return each * parameters, wide * activations


MASTER = "2 + 2 + 4 + 4 + 4 if"
WHOLE = "else 4 + 4 + 4 + 4"
ACTIVATIONS = '(4 if recipe == "float32" else 2) * activations'

BYTES = Task(
    id="09.bytes",
    name="training_bytes",
    title="What half precision saves",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="training-precision",
    returns=("states", "activations"),
    cases=_bytes_cases,
    oracle=_bytes,
    frame="plain",
    mistakes=(
        known(
            "all-halved",
            (MASTER, "8 if"),
            (WHOLE, 'else 16 if recipe == "float32" else 8'),
            says="Everything is halved: weights and gradients may be, but Adam's averages and the weights that are "
            "changed stay in float32, or small changes would be lost.",
        ),
        known(
            "autocast-halves",
            (WHOLE, 'else 12 if recipe == "autocast" else 16'),
            says="Under autocast the parameters stay in float32, and so do their gradients: only what the products "
            "work on is half as wide.",
        ),
        known(
            "master-forgotten",
            (MASTER, "2 + 2 + 4 + 4 if"),
            says="The float32 copy of the weights is missing, four more bytes: it is what the optimiser changes.",
        ),
        known(
            "one-moment",
            (MASTER, "2 + 2 + 4 + 2 + 2 if"),
            (WHOLE, "else 4 + 4 + 4"),
            says="Adam keeps two numbers for each parameter: the average of its gradients and that of their squares.",
        ),
        known(
            "adam-forgotten",
            (MASTER, "2 + 2 + 4 if"),
            (WHOLE, "else 4 + 4"),
            says="Adam's two averages are missing: two float32 numbers for each parameter.",
        ),
        known(
            "copies-counted",
            (WHOLE, 'else 18 if recipe == "autocast" else 16'),
            says="Under autocast the halves are made for each product and gone again: they are left aside here.",
        ),
        known(
            "gradients-whole",
            (MASTER, "2 + 4 + 4 + 4 + 4 if"),
            says="With a master copy the gradients are in half precision, as the weights are.",
        ),
        known(
            "master-on-top",
            (MASTER, "20 if"),
            says="The master copy comes on top of float32 weights and gradients: in this recipe both are halves.",
        ),
        known(
            "gradients-forgotten",
            (MASTER, "2 + 4 + 4 + 4 if"),
            (WHOLE, "else 4 + 4 + 4"),
            says="The gradients are missing: one for each parameter.",
        ),
        known(
            "activations-whole",
            (ACTIVATIONS, "4 * activations"),
            says="The activations are not halved: they are what half precision makes smaller.",
        ),
        known(
            "autocast-activations",
            (ACTIVATIONS, '(2 if recipe == "master" else 4) * activations'),
            says="Under autocast too the activations are halves: what the products give is kept as it comes.",
        ),
        known(
            "elements",
            (MASTER, "5 if"),
            (WHOLE, "else 4"),
            (ACTIVATIONS, "activations"),
            says="These are numbers, not bytes: four bytes in float32, two in half precision.",
            number=80,
        ),
    ),
)


def _count_cases(rng: Rng) -> list[Case]:
    sizes = (
        (37_000, 512, 2048, 6),
        (37_000, 1024, 4096, 6),
        (7, 4, 10, 1),
        (11, 6, 9, 3),
        (int(rng.integers(20, 90)), 8, int(rng.integers(9, 30)), 2),
    )
    return [Case(f"(V, D, F, L) = {one}", one, frame="plain") for one in sizes]


def _count(vocab_size: int, d_model: int, d_hidden: int, n_layers: int) -> int:
    """Counted on torch's own modules, on the device that holds no numbers."""
    import torch
    from torch import nn

    def layer(attentions: int) -> nn.Module:
        products = [nn.Linear(d_model, d_model, bias=False) for _ in range(4 * attentions)]
        think = [nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)]
        return nn.ModuleList([*products, *think, *(nn.LayerNorm(d_model) for _ in range(attentions + 1))])

    with torch.device("meta"):
        parts = [nn.Embedding(vocab_size, d_model), *(layer(1 + i % 2) for i in range(2 * n_layers))]
    return sum(p.numel() for p in nn.ModuleList(parts).parameters())


ATTENTION = "attention = 4 * d_model**2"
HIDDEN = "hidden = 2 * d_model * d_hidden + d_hidden + d_model"
DECODER = "decoder = 2 * attention + hidden + 3 * norm"
TOTAL = "return vocab_size * d_model + n_layers * (encoder + decoder)"

COUNT = Task(
    id="09.count",
    name="transformer_parameters",
    title="Base and big, counted",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="training-sizes",
    returns=("parameters",),
    cases=_count_cases,
    oracle=_count,
    frame="plain",
    mistakes=(
        known(
            "cross-forgotten",
            (DECODER, DECODER.replace("2 * attention", "attention")),
            says="The decoder's layer has two attentions, one back and one across: four matrices each.",
            number=79,
        ),
        known(
            "output-forgotten",
            (ATTENTION, "attention = 3 * d_model**2"),
            says="The output's projection, W_O, is missing.",
            number=23,
        ),
        known(
            "three-tables",
            (TOTAL, TOTAL.replace("vocab_size *", "3 * vocab_size *")),
            says="Three tables are counted: source, target and output share ONE (tied weights).",
        ),
        known(
            "two-tables",
            (TOTAL, TOTAL.replace("vocab_size *", "2 * vocab_size *")),
            says="Two tables are counted: source, target and output share ONE (tied weights).",
        ),
        known(
            "attention-biased",
            (ATTENTION, "attention = 4 * d_model**2 + 4 * d_model"),
            says="Biases are counted in attention: here its four matrices have none.",
        ),
        known(
            "inner-bias-forgotten",
            (HIDDEN, "hidden = 2 * d_model * d_hidden + d_model"),
            says="The F biases inside the feed-forward network are missing: it has F + D of them.",
        ),
        known(
            "norms-forgotten",
            ("norm = 2 * d_model", "norm = 0"),
            says="The norms are missing: each has a gain and a shift, 2 D numbers.",
            number=42,
        ),
        known(
            "table-forgotten",
            (TOTAL, TOTAL.replace("vocab_size * d_model + ", "")),
            says="The table of embeddings is missing: V rows of D numbers.",
        ),
        known(
            "two-norms",
            (DECODER, DECODER.replace("3 * norm", "2 * norm")),
            says="2 L D numbers are missing: a norm in each pair of layers (an encoder's has two, a decoder's three, "
            "one for each part), or the D biases behind each of the two feed-forward networks.",
        ),
        known(
            "biases-forgotten",
            (HIDDEN, "hidden = 2 * d_model * d_hidden"),
            says="The biases of the feed-forward network are missing: F + D numbers.",
        ),
        known(
            "gain-alone",
            ("norm = 2 * d_model", "norm = d_model"),
            says="A norm has a gain and a shift: 2 D numbers.",
            number=42,
        ),
        known(
            "ends-normed",
            (TOTAL, TOTAL + " + 2 * norm"),
            says="A norm is counted behind each stack: that belongs to pre-LN. This is the paper's model, post-LN.",
            number=43,
        ),
    ),
)
