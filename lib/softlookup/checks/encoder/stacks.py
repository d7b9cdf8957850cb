"""Tasks about the whole encoder: a sentence's vector without padding, and the stack."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.encoder.layer import ORDERS_EXCHANGED, layer_args, real_tokens, torch_layer
from softlookup.checks.encoder.page import PAGE
from softlookup.checks.encoder.residuals import WHOLE_LAYERS
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Case, Mistake, Task


def _pooling_cases(rng: Rng) -> list[Case]:
    def args(b: int, t: int, d: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
        return normal(rng, b, t, d, dtype=dtype) + np.dtype(dtype).type(0.5), real_tokens(rng, b, t)

    x, mask = args(3, 4, 5)
    loud = np.where(mask[..., None], x, np.float32(1e6))
    double = args(2, 5, 3, "float64")
    return [
        Case("B = 3, T = 5, D = 4", args(3, 5, 4)),
        Case("B = T = D = 4", args(4, 4, 4)),
        Case("padding with large numbers in it", (loud, mask)),
        Case("one sequence without padding", (normal(rng, 1, 3, 4), np.ones((1, 3), dtype=bool))),
        Case("float64", double),
        Case(
            "gradients of the tokens",
            double,
            gradients=(0,),
            upstream=normal(rng, 2, 3, dtype="float64"),
            part="gradient",
        ),
    ]


def _pooling(x: Any, mask: Any) -> Any:
    """Sequence by sequence, on its real tokens alone."""
    import torch

    return torch.stack([tokens[real].mean(dim=0) for tokens, real in zip(x, mask, strict=True)])


KEPT = "kept = x.masked_fill(~mask[..., None], 0.0)"
COUNT = "count = mask.sum(dim=1, keepdim=True)"
POOLED = "return kept.sum(dim=1) / count"

POOLING = Task(
    id="07.pooling",
    name="mean_of_real",
    title="One vector for a sentence, without its padding",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="encoder-padding",
    returns=("vectors",),
    cases=_pooling_cases,
    oracle=_pooling,
    parts={"core": 0.9, "gradient": 0.1},
    mistakes=(
        known(
            "padding-counted",
            (COUNT, "count = x.shape[1]"),
            says="The sum is divided by T: divide by the number of real tokens of each sequence.",
        ),
        known(
            "padding-added",
            (KEPT, "kept = x"),
            says="The padding's vectors are in the sum: an encoder gives some for padding too, and they mean nothing.",
        ),
        known(
            "one-count-for-all",
            (COUNT, "count = mask.sum(dim=1, dtype=x.dtype).mean()"),
            says="All sequences are divided by the same number: each has its own count of real tokens.",
        ),
        known(
            "all-counted-together",
            (COUNT, "count = mask.sum()"),
            says="The sum is divided by the real tokens of the whole batch: each sequence has its own count.",
        ),
        known(
            "over-the-batch",
            (KEPT, "return x[mask].mean(dim=0)"),
            says="This is one mean for the whole batch (x[mask] forgets which sequence a token is of): each sequence "
            "has its own.",
        ),
        known(
            "keepdim-forgotten",
            (COUNT, "count = mask.sum(dim=1)"),
            says="The counts lost their axis (keepdim=True is missing), so feature d is divided by the count of "
            "sequence d.",
        ),
        known("not-divided", (POOLED, "return kept.sum(dim=1)"), says="This is the sum: the mean is asked for."),
        known(
            "mask-inverted",
            (KEPT, "mask = ~mask\n    " + KEPT),
            says="The mask is read the wrong way round: True is a real token.",
        ),
        known(
            "first-token",
            (POOLED, "return x[:, 0]"),
            says="This is the first token's vector: the mean of all real ones is asked for.",
        ),
        gradient_cut((POOLED, POOLED.replace("return ", "return (") + ").detach()")),
    ),
)

STACKED = ("attention", "w_1", "b_1", "w_2", "b_2", "norms")


def _stack_args(
    rng: Rng, n_layers: int, b: int, t: int, d: int, f: int, n: int, pre_norm: bool, dtype: str = "float32"
) -> tuple[Any, ...]:
    """D, N, F, L, the order; the weights of all layers; with pre-LN the last norm's; tokens."""
    layers = [layer_args(rng, b, t, d, f, n, pre_norm, dtype) for _ in range(n_layers)]
    weights = tuple(np.stack(kind) for kind in zip(*(layer[1:7] for layer in layers), strict=True))
    gain = normal(rng, d, dtype=dtype, scale=0.5) + np.dtype(dtype).type(1.3)
    last = (gain, normal(rng, d, dtype=dtype)) if pre_norm else ()
    return (d, n, f, n_layers, pre_norm, *weights, *last, layers[0][0])


def _stack_cases(rng: Rng) -> list[Case]:
    def case(label: str, args: tuple[Any, ...], mask: np.ndarray | None = None, **more: Any) -> Case:
        names = (*STACKED, "gain", "shift") if args[4] else STACKED
        # Rounding adds up from layer to layer: in float32, right answers in another order need some room.
        tolerance = 1e-4 if args[5].dtype == np.float32 else None
        asked = args if mask is None else (*args, mask)
        return Case(label, asked, sizes=5, parameters=names, tolerance=tolerance, **more)

    double = _stack_args(rng, 2, 2, 3, 6, 5, 2, True, "float64")
    return [
        case("post-LN, L = 3, B = 2, T = 4, D = 6, F = 5, N = 2", _stack_args(rng, 3, 2, 4, 6, 5, 2, False)),
        case("pre-LN, L = 3, B = 2, T = 4, D = 6, F = 5, N = 3", _stack_args(rng, 3, 2, 4, 6, 5, 3, True)),
        case("one layer, post-LN, the slide's sizes", _stack_args(rng, 1, 1, 8, 4, 16, 2, False)),
        case("L = B = T = D = F = 4, pre-LN", _stack_args(rng, 4, 4, 4, 4, 4, 2, True)),
        case("padding, post-LN", _stack_args(rng, 2, 3, 5, 6, 7, 2, False), real_tokens(rng, 3, 5), part="mask"),
        case("padding, pre-LN", _stack_args(rng, 3, 2, 4, 4, 7, 2, True), real_tokens(rng, 2, 4), part="mask"),
        case(
            "gradients of the weights",
            double,
            gradients=(5, 6, 10),
            upstream=normal(rng, 2, 3, 6, dtype="float64"),
            part="gradient",
        ),
    ]


def _stack(
    d_model: int,
    n_heads: int,
    d_hidden: int,
    n_layers: int,
    pre_norm: bool,
    attention: Any,
    w_1: Any,
    b_1: Any,
    w_2: Any,
    b_2: Any,
    norms: Any,
    *rest: Any,
) -> Any:
    """One of torch's own encoder layers after the other."""
    import torch.nn.functional as F

    last: Any = rest[:2] if pre_norm else ()
    x, *mask = rest[2:] if pre_norm else rest
    for weights in zip(attention, w_1, b_1, w_2, b_2, norms, strict=True):
        of_layer: Any = (x, *weights, n_heads, pre_norm, *mask)
        x = torch_layer(*of_layer)
    return F.layer_norm(x, (d_model,), *last) if pre_norm else x


EACH = "for i in range(len(self.w_1)):"
FINAL = "if self.pre_norm:\n            x = layer_norm(x, self.gain, self.shift, 1e-5)"
LAYER_ENDS = "self.n_heads, self.pre_norm, mask)"

ENCODER = Task(
    id="07.encoder",
    name="Encoder",
    title="The stack",
    points=5,
    minutes=15,
    difficulty=3,
    page=PAGE,
    anchor="encoder-stack",
    returns=("y",),
    cases=_stack_cases,
    oracle=_stack,
    parts={"core": 0.6, "mask": 0.3, "gradient": 0.1},
    forbids=WHOLE_LAYERS,
    mistakes=(
        known("shared", ("[i]", "[0]"), says="All layers use the first one's weights: layer i has its own.", number=47),
        known(
            "shared-last",
            ("[i]", "[-1]"),
            says="All layers use the last one's weights: layer i has its own.",
            number=47,
        ),
        known(
            "norm-before-the-stack",
            (FINAL, "pass"),
            (EACH, f"{FINAL}\n        {EACH}"),
            says="The last norm comes before the first layer: it follows the last one.",
            number=43,
        ),
        known(
            "last-norm-of-the-last-layer",
            (FINAL, FINAL.replace("self.gain, self.shift", "self.norms[-1][2], self.norms[-1][3]")),
            says="The last norm takes gain and shift from the last layer: it has two of its own.",
            number=47,
        ),
        known(
            "road-around-each-layer",
            ("x = encoder_layer(", "x = x + encoder_layer("),
            says="Each layer's result is added to what came into it: the roads are inside the layer already.",
            number=45,
        ),
        known(
            "always-post",
            ("self.pre_norm, mask)", "False, mask)"),
            says="The layers always norm after the sum: hand pre_norm on to them.",
            number=43,
        ),
        known(
            "always-pre",
            ("self.pre_norm, mask)", "True, mask)"),
            says="The layers always norm before the sublayer: hand pre_norm on to them.",
            number=43,
        ),
        known(
            "last-norm-missing",
            (FINAL, "pass"),
            says="With pre-LN nothing has normalised the sum of all layers yet: a last norm follows the stack.",
            number=43,
        ),
        known(
            "last-norm-in-every-layer",
            (FINAL, "    " + FINAL.replace("\n", "\n    ")),
            says="The last norm is applied after every layer: it stands once, after the loop.",
        ),
        known(
            "orders-exchanged", ("self.pre_norm, mask)", "not self.pre_norm, mask)"), says=ORDERS_EXCHANGED, number=43
        ),
        known(
            "order-reversed",
            (EACH, "for i in reversed(range(len(self.w_1))):"),
            says="The layers run from the last to the first.",
        ),
        known("last-forgotten", (EACH, "for i in range(len(self.w_1) - 1):"), says="The last layer is missing."),
        known(
            "all-read-the-start",
            (EACH, "start = x\n        " + EACH),
            ("encoder_layer(x,", "encoder_layer(start,"),
            says="Every layer reads the encoder's input: each reads what the one before it has made.",
        ),
        known(
            "mask-ignored",
            (LAYER_ENDS, LAYER_ENDS.replace("mask", "None")),
            says="The mask is not handed to the layers.",
        ),
        known("mask-inverted", (LAYER_ENDS, LAYER_ENDS.replace("mask", "None if mask is None else ~mask"))),
        known(
            "result-set-to-zero",
            ("return x", "return x if mask is None else x.masked_fill(~mask[..., None], 0.0)"),
            says="The rows of padding are set to 0 at the end: they are computed as all others are, and whoever uses "
            "the result leaves them out.",
        ),
        known(
            "mask-in-the-first-alone",
            (LAYER_ENDS, LAYER_ENDS.replace("mask", "mask if i == 0 else None")),
            says="Only the first layer gets the mask: padding has vectors in every layer, and must be hidden in each.",
        ),
        Mistake(
            "other-parameters",
            "The encoder's parameters are not those that were asked for: attention, w_1, b_1, w_2, b_2, norms, each "
            "with an axis for the layers in front; gain and shift with pre-LN alone.",
            None,
            (("if pre_norm:\n            self.gain", "if True:\n            self.gain"),),
            symptom="no-parameter",
        ),
        gradient_cut(("return x", "return x.detach()")),
    ),
)
