"""Tasks that count what a layer of many heads costs: parameters and operations."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.many_heads.page import PAGE
from softlookup.checks.task import Case, Task


def plain(name: str, *sizes: tuple[Any, ...]) -> list[Case]:
    """One case of plain numbers for each tuple of sizes, labelled by them."""
    return [Case(f"({name}) = {args}", args, frame="plain") for args in sizes]


def _parameter_cases(rng: Rng) -> list[Case]:
    return plain(
        "D, N, K, H, bias",
        (4, 5, 5, 3, False),
        (512, 8, 8, 64, False),
        (512, 8, 8, 64, True),
        (4096, 32, 8, 128, False),
        (6, 4, 1, 5, True),
        (int(rng.integers(5, 90)), 6, 3, int(rng.integers(2, 40)), True),
    )


def _parameters(d_model: int, n_heads: int, n_kv_heads: int, head_width: int, bias: bool) -> int:
    """Counted matrix by matrix, as torch's Linear would hold them, on the device that holds no numbers."""
    import torch

    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    pairs = ((d_model, wide), (d_model, narrow), (d_model, narrow), (wide, d_model))
    layers = [torch.nn.Linear(*pair, bias=bias, device="meta") for pair in pairs]
    return sum(p.numel() for layer in layers for p in layer.parameters())


MATRICES = "weights = 2 * d_model * wide + 2 * d_model * narrow"
BIASES = "biases = wide + 2 * narrow + d_model if bias else 0"

PARAMETERS = Task(
    id="05.parameters",
    name="count_parameters",
    title="Count the parameters",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="many-heads-cost",
    returns=("parameters",),
    cases=_parameter_cases,
    oracle=_parameters,
    frame="plain",
    mistakes=(
        known(
            "biases-ignored",
            (BIASES, "biases = 0"),
            says="The biases are missing where bias is True: one number for each column.",
        ),
        known(
            "output-bias-wide",
            (BIASES, "biases = 2 * wide + 2 * narrow if bias else 0"),
            says="The output matrix has D columns, so its bias has D numbers, not N*H.",
        ),
        known(
            "biases-of-the-model",
            (BIASES, "biases = 4 * d_model if bias else 0"),
            says="Each of the four biases is counted with D numbers: a bias has one for each of its columns: "
            "N*H, K*H, K*H and D.",
        ),
        known(
            "one-number-biases",
            (BIASES, "biases = 4 if bias else 0"),
            says="A bias is counted as a single number: each matrix has one for each of its columns.",
        ),
        known(
            "own-keys",
            ("n_kv_heads * head_width", "n_heads * head_width"),
            says="Keys and values are counted for N heads: there are K of them, which query heads share.",
        ),
        known(
            "one-of-three",
            (MATRICES, "weights = 2 * d_model * wide"),
            says="Queries, keys and values each have a matrix: only one of the three is counted.",
            number=79,
        ),
        known(
            "output-forgotten",
            (MATRICES, "weights = d_model * wide + 2 * d_model * narrow"),
            (BIASES, "biases = wide + 2 * narrow if bias else 0"),
            says="The output matrix is missing: N*H rows, D columns, and its bias where there is one.",
            number=23,
        ),
        known(
            "width-from-model",
            ("wide, narrow =", "head_width = d_model // n_heads\n    wide, narrow ="),
            says="The head width is taken to be D / N: it is given, and N*H need not be D.",
        ),
        known(
            "four-squares",
            (MATRICES, "weights = 4 * d_model**2"),
            (BIASES, "biases = 4 * d_model if bias else 0"),
            says="This is 4*D*D: right where N*H = D and K = N, as in the first transformer, and nowhere else.",
        ),
        known(
            "heads-forgotten",
            (MATRICES, "weights = 3 * d_model * head_width + d_model * wide"),
            says="The matrices of one head are counted: each head has its own.",
            number=20,
        ),
        known(
            "heads-twice",
            (MATRICES, "weights = n_heads * (d_model * wide + 2 * d_model * narrow) + d_model * wide"),
            says="The heads are counted twice: N*H columns hold all of them already.",
        ),
    ),
)


def _cost_cases(rng: Rng) -> list[Case]:
    return plain(
        "B, T, D, N, K, H",
        (1, 2, 4, 5, 5, 3),
        (1, 100, 512, 8, 8, 64),
        (3, 7, 10, 4, 2, 5),
        (2, 64, 96, 6, 1, 8),
        (
            int(rng.integers(2, 9)),
            int(rng.integers(11, 40)),
            int(rng.integers(41, 80)),
            6,
            3,
            int(rng.integers(12, 30)),
        ),
    )


def _cost(
    batch: int, n_tokens: int, d_model: int, n_heads: int, n_kv_heads: int, head_width: int
) -> tuple[np.ndarray, np.ndarray]:
    """What torch's own counter finds in the products, on the device that holds no numbers."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    def counted(*pairs: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
        with FlopCounterMode(display=False) as counter:
            for left, right in pairs:
                torch.empty(left, device="meta") @ torch.empty(right, device="meta")
        return counter.get_total_flops()

    rows, wide, narrow = batch * n_tokens, n_heads * head_width, n_kv_heads * head_width
    into = [((rows, d_model), (d_model, width)) for width in (wide, narrow, narrow)]
    maps = (batch * n_heads, n_tokens, n_tokens)
    heads = (batch * n_heads, n_tokens, head_width)
    return (
        np.array(counted(*into, ((rows, wide), (wide, d_model)))),
        np.array(counted((heads, (heads[0], head_width, n_tokens)), (maps, heads))),
    )


ATTENTION = "attention = 4 * tokens * n_tokens * wide"

COST = Task(
    id="05.cost",
    name="attention_flops",
    title="Count the operations",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="many-heads-cost",
    returns=("projections", "attention"),
    cases=_cost_cases,
    oracle=_cost,
    frame="plain",
    mistakes=(
        known(
            "one-operation",
            ("projections = 2 *", "projections ="),
            ("attention = 4 *", "attention = 2 *"),
            says="A multiply-add is counted once: it is two operations, a product and a sum.",
            number=78,
        ),
        known(
            "qkv-once",
            ("(2 * wide + 2 * narrow)", "(2 * wide)"),
            says="Queries, keys and values are counted once: each is a product of its own.",
            number=79,
        ),
        known(
            "output-forgotten",
            ("(2 * wide + 2 * narrow)", "(wide + 2 * narrow)"),
            says="The product with the output matrix is missing among the projections.",
            number=23,
        ),
        known(
            "own-keys",
            ("n_kv_heads * head_width", "n_heads * head_width"),
            says="Keys and values are projected for N heads: there are K of them, which query heads share.",
        ),
        known(
            "grouped-scores",
            (ATTENTION, "attention = 4 * tokens * n_tokens * narrow"),
            says="Scores and mixing are counted for K heads: every query head has scores of its own, whoever shares "
            "its keys.",
        ),
        known(
            "full-width-heads",
            (ATTENTION, "attention = 4 * tokens * n_tokens * n_heads * d_model"),
            says="Each head is counted with the model width: its dot products run over H numbers, so N heads make N*H.",
        ),
        known(
            "mixing-forgotten",
            (ATTENTION, "attention = 2 * tokens * n_tokens * wide"),
            says="Half of the attention is missing. Either one of two products is not counted (the scores cost T*T*H "
            "multiply-adds a head, and mixing the values as many), or the square is halved for a causal mask, which "
            "nobody asked for.",
            number=82,
        ),
        known(
            "pair-swapped",
            ("return projections, attention", "return attention, projections"),
            says="The two numbers have changed places: the projections come first, then scores and mixing.",
        ),
        known(
            "linear",
            (ATTENTION, "attention = 4 * tokens * wide"),
            says="Each query meets every key: T*T pairs for each sequence and head, not T.",
        ),
        known(
            "batch-forgotten",
            ("tokens = batch * n_tokens", "tokens = n_tokens"),
            says="The batch is missing: every sequence costs as much.",
        ),
    ),
)
