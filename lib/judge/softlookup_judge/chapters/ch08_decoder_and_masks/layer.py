"""Tasks on the decoder's parts: a masked softmax, cross-attention, and its pre-LN layer as a class."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case, LayerAnswer
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.cases import DTYPE, LARGE, backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS, dotted
from softlookup_judge.chapters.oracles import attended, from_heads, projected, torch


def _softmax_cases(rng: Rng) -> list[Case]:
    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    def scores(*shape: int, dtype: str = "float32") -> np.ndarray:
        return normal(rng, *shape, dtype=dtype, scale=2.0)

    blind = draws.blind_mask(rng, 4, 5)
    large = scores(2, 3, 4, 5) + 3000
    hidden = np.ones((4, 5), dtype=bool)
    large[..., 1, 0], large[..., 2, 3] = 0.0, 9000.0
    hidden[1, 1:], hidden[2, 3] = False, False
    large[..., 3, [0, 2]] = -9999.0  # "-1e4 hides it" is not so
    hidden[3, [1, 3, 4]] = False
    upstream = doubles(rng, 2, 3, 4, 5)
    double = scores(2, 3, 4, 5, dtype="float64")
    return [
        Case("B = 2, N = 3, T = 4, S = 5, one mask (T, S)", (scores(2, 3, 4, 5), mask(4, 5))),
        Case("padding: a mask (B, 1, 1, S)", (scores(2, 3, 4, 5), mask(2, 1, 1, 5))),
        Case("a mask for each sequence, all sizes 3", (scores(3, 3, 3, 3), mask(3, 1, 3, 3))),
        Case("T = S = 4, no batch", (scores(4, 4), mask(4, 4))),
        Case("a mask for each head, (N, T, S)", (scores(2, 3, 4, 5), mask(3, 4, 5))),
        Case("a mask of one axis, for all queries", (scores(2, 3, 4, 5), mask(5))),
        Case("everything may be looked at", (scores(2, 1, 3, 4), np.ones((3, 4), dtype=bool))),
        Case("a query that may attend to nothing", (scores(2, 3, 4, 5), blind), part="blind", exact_zeros=True),
        Case(
            "a sequence of nothing but padding",
            (scores(2, 1, 3, 4), np.array([True, False])[:, None, None, None] & np.ones((1, 1, 1, 4), bool)),
            part="blind",
        ),
        Case("scores in the thousands, the largest ones hidden", (large, hidden), **LARGE),
        Case("float64", (double, mask(4, 5)), **DTYPE),
        Case("float32", (scores(2, 1, 4, 4), mask(4, 4)), **DTYPE),
        Case("the gradient", (double, mask(4, 5)), **backward(upstream, 0)),
        Case("the gradient past a blind query", (double, blind), **backward(upstream, 0)),
    ]


@graded(
    "08.masked-softmax",
    _softmax_cases,
    parts={"core": 0.45, "blind": 0.2, "large": 0.1, "gradient": 0.15, "dtype": 0.1},
    forbids=ATTENTIONS,
)
def masked_softmax(s: Any, mask: Any) -> Any:
    """Weights as shares of exponentials, with the hidden ones left out of the sum: no -inf anywhere."""
    visible = mask.expand(s.shape)
    largest = torch.where(visible, s, torch.finfo(s.dtype).min).amax(-1, keepdim=True).detach()
    e = torch.where(visible, torch.exp(torch.where(visible, s - largest, 0.0)), 0.0)
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, 1.0, total)


def _cross_args(rng: Rng, b: int, t: int, s: int, d: int, n: int, h: int, dtype: str = "float32") -> tuple[Any, ...]:
    def weight(rows: int, columns: int) -> np.ndarray:
        return normal(rng, rows, columns, dtype=dtype, scale=rows**-0.5)

    return (
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, b, s, d, dtype=dtype),
        *(weight(d, n * h) for _ in range(3)),
        weight(n * h, d),
        n,
    )


def _far(rng: Rng) -> tuple[Any, ...]:
    """Arguments and a mask: hidden keys have by far the largest scores, or all that are seen lie far below 0."""
    args = _cross_args(rng, 2, 3, 4, 5, 2, 3, "float64")
    x, memory, w_q, w_k = args[:4]
    w_q[0] = w_k[0] = 2.0
    x[..., 0], memory[0, :, 0], memory[1, :2, 0], memory[1, 2:, 0] = 40.0, -100.0, 0.1, 30.0
    mask = np.array([[True, True, True, False], [True, True, False, False]])[:, None, None, :]
    return (*args, mask)


def _cross_cases(rng: Rng) -> list[Case]:
    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    double = _cross_args(rng, 2, 3, 4, 5, 2, 3, "float64")
    upstream = doubles(rng, 2, 3, 5)
    padding = np.array([[True, True, True, True], [True, True, False, False]])[:, None, None, :]
    blind = padding.copy()
    blind[1] = False
    self_args = _cross_args(rng, 2, 4, 4, 6, 3, 2)
    alone = self_args[0], self_args[0].copy(), *self_args[2:]
    return [
        Case("B = 2, T = 3, S = 5, D = 4, N = 2, H = 3", _cross_args(rng, 2, 3, 5, 4, 2, 3)),
        Case("small sizes: T = S = 8, D = 4, N = 2, H = 2", _cross_args(rng, 1, 8, 8, 4, 2, 2)),
        Case("B = T = S = N = H = 3, D = 9", _cross_args(rng, 3, 3, 3, 9, 3, 3)),
        Case("one query: a word is being written", _cross_args(rng, 2, 1, 6, 4, 2, 2)),
        Case("more written than read", _cross_args(rng, 1, 7, 2, 6, 1, 4)),
        Case("the source's padding, (B, 1, 1, S)", (*_cross_args(rng, 2, 3, 4, 5, 2, 3), padding), part="mask"),
        Case("B = N = 2, T = S, padding", (*_cross_args(rng, 2, 4, 4, 6, 2, 3), padding), part="mask"),
        Case("self-attention: memory is x, a causal mask", (*alone, np.tri(4, dtype=bool)), part="mask"),
        Case("a mask for each sequence", (*_cross_args(rng, 2, 3, 5, 4, 3, 2), mask(2, 1, 3, 5)), part="mask"),
        Case("a mask for each head of each", (*_cross_args(rng, 2, 3, 5, 4, 3, 2), mask(2, 3, 3, 5)), part="mask"),
        Case("a mask for each head, (N, T, S)", (*_cross_args(rng, 3, 4, 5, 4, 2, 2), mask(2, 4, 5)), part="mask"),
        Case("a mask of one axis, for all queries", (*_cross_args(rng, 2, 3, 5, 4, 3, 2), mask(5)), part="mask"),
        Case("scores far apart, the largest ones hidden", _far(rng), part="mask", tolerance=draws.LARGE_TOLERANCE),
        Case("a source of nothing but padding", (*_cross_args(rng, 2, 3, 4, 5, 2, 3), blind), part="mask"),
        Case("gradients of both sequences and the weights", (*double, padding), **backward(upstream, 0, 1, 2, 3, 4, 5)),
    ]


@graded("08.cross-attention", _cross_cases, parts={"core": 0.6, "mask": 0.3, "gradient": 0.1}, forbids=ATTENTIONS)
def cross(x: Any, memory: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, mask: Any = None) -> Any:
    """All heads at once, with torch's own attention."""
    q, k, v = projected(x, w_q, n_heads), projected(memory, w_k, n_heads), projected(memory, w_v, n_heads)
    return from_heads(attended(q, k, v, mask), w_o)


MATRICES = ("w_q", "w_k", "w_v", "w_o")
PARTS = (
    *ATTENTIONS,
    *dotted(
        "torch.nn", "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"
    ),
)
"""What must not be called where a layer or a whole model is to be written."""


def attention_shapes(part: str, d: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of one attention's matrices, N*H = D."""
    return {f"{part}.{name}": (d, d) for name in MATRICES}


def think_shapes(part: str, d: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a feed-forward network's weights."""
    sizes = {"0.weight": (hidden, d), "0.bias": (hidden,), "2.weight": (d, hidden), "2.bias": (d,)}
    return {f"{part}.{name}": shape for name, shape in sizes.items()}


def norm_shapes(part: str, d: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a norm's gain and bias."""
    return {f"{part}.weight": (d,), f"{part}.bias": (d,)}


def layer_shapes(d: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights of a decoder's layer."""
    shapes = attention_shapes("attention", d) | attention_shapes("cross", d) | think_shapes("feed_forward", d, hidden)
    for i in (1, 2, 3):
        shapes |= norm_shapes(f"norm_{i}", d)
    return shapes


WEIGHTS = tuple(layer_shapes(1, 1))


def random_weights(rng: Rng, shapes: dict[str, tuple[int, ...]], dtype: str = "float32") -> list[np.ndarray]:
    """Weights of these shapes: matrices that keep numbers in size, gains around 1, biases around 0."""
    weights = []
    for name, shape in shapes.items():
        if len(shape) == 2:
            weights.append(normal(rng, *shape, dtype=dtype, scale=shape[0] ** -0.5))
        else:
            weights.append(
                (("norm" in name and name.endswith("weight")) + 0.3 * rng.standard_normal(shape)).astype(dtype)
            )
    return weights


def _layer_args(
    rng: Rng, b: int, t: int, s: int, d: int, n: int, hidden: int, dtype: str = "float32"
) -> tuple[Any, ...]:
    return (
        d,
        n,
        hidden,
        *random_weights(rng, layer_shapes(d, hidden), dtype),
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, b, s, d, dtype=dtype),
    )


def _layer_cases(rng: Rng) -> list[Case]:
    def padding(*real: int, s: int) -> np.ndarray:
        return (np.arange(s) < np.array(real)[:, None])[:, None, None, :]

    def case(label: str, args: tuple[Any, ...], memory_mask: np.ndarray, **more: Any) -> Case:
        past = np.tri(args[-2].shape[1], dtype=bool)
        return Case(label, (*args, past, memory_mask), sizes=3, parameters=WEIGHTS, **more)

    double = _layer_args(rng, 2, 3, 4, 6, 2, 5, "float64")
    upstream = doubles(rng, 2, 3, 6)
    window = np.tri(4, dtype=bool) & ~np.tri(4, k=-2, dtype=bool)
    other = _layer_args(rng, 2, 4, 3, 4, 2, 6)
    masked: dict[str, Any] = {"sizes": 3, "parameters": WEIGHTS, "part": "mask"}
    return [
        case("B = 2, T = 3, S = 5, D = 6, N = 3, F = 8", _layer_args(rng, 2, 3, 5, 6, 3, 8), padding(5, 3, s=5)),
        case("small sizes: T = S = 8, D = 4", _layer_args(rng, 1, 8, 8, 4, 2, 16), padding(7, s=8)),
        case("B = T = S = N = 3, D = F = 9", _layer_args(rng, 3, 3, 3, 9, 3, 9), padding(3, 1, 2, s=3)),
        case("one word so far", _layer_args(rng, 2, 1, 4, 4, 1, 3), padding(4, 2, s=4)),
        case("vectors of tiny spread", _tiny(_layer_args(rng, 2, 3, 4, 6, 2, 5)), padding(4, 3, s=4)),
        Case("another mask for looking back", (*other, window, padding(3, 2, s=3)), **masked),
        Case(
            "the target's padding too: a mask (B, 1, T, T)",
            (*other, draws.seeing_mask(rng, 2, 1, 4, 4), padding(1, 3, s=3)),
            **masked,
        ),
        case(
            "gradients of all weights and both sequences",
            double,
            padding(4, 2, s=4),
            **backward(upstream, *range(3, 3 + len(WEIGHTS) + 2)),
        ),
    ]


def _tiny(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with tokens whose spread is of the size of the root of eps."""
    return (*args[:-2], (args[-2] * 3e-3).astype("float32"), args[-1])


def torch_attention(part: str, w: dict[str, Any], in_torch: str) -> dict[str, Any]:
    """Our four matrices as those of nn.MultiheadAttention."""
    q, k, v, o = (w[f"{part}.{name}"] for name in MATRICES)
    return {
        f"{in_torch}.in_proj_weight": torch.cat([q.T, k.T, v.T]),
        f"{in_torch}.out_proj.weight": o.T,
        f"{in_torch}.in_proj_bias": q.new_zeros(3 * len(q)),
        f"{in_torch}.out_proj.bias": q.new_zeros(len(q)),
    }


def torch_rest(w: dict[str, Any], norms: int) -> dict[str, Any]:
    """Feed-forward network and norms in torch's names."""
    torch_weights = {"linear1.weight": w["feed_forward.0.weight"], "linear1.bias": w["feed_forward.0.bias"]}
    torch_weights |= {"linear2.weight": w["feed_forward.2.weight"], "linear2.bias": w["feed_forward.2.bias"]}
    for i in range(1, norms + 1):
        torch_weights |= {f"norm{i}.{suffix}": w[f"norm_{i}.{suffix}"] for suffix in ("weight", "bias")}
    return torch_weights


def torch_decoder_layer(w: dict[str, Any]) -> dict[str, Any]:
    """All weights of a decoder's layer in torch's names."""
    return (
        torch_attention("attention", w, "self_attn") | torch_attention("cross", w, "multihead_attn") | torch_rest(w, 3)
    )


@graded(
    "08.decoder-layer",
    _layer_cases,
    called_with=("x", "memory", "mask", "memory_mask"),
    parts={"core": 0.6, "mask": 0.2, "gradient": 0.2},
    forbids=PARTS,
    layer=LayerAnswer(3, WEIGHTS),
)
def decoder_layer(d_model: int, n_heads: int, d_hidden: int, *tensors: Any) -> Any:
    """Torch's own decoder layer, with the norm first."""
    weights = dict(zip(WEIGHTS, tensors, strict=False))
    x, memory, mask, memory_mask = tensors[len(WEIGHTS) :]
    layer = torch.nn.TransformerDecoderLayer(
        d_model, n_heads, d_hidden, dropout=0.0, norm_first=True, batch_first=True, dtype=x.dtype
    )
    per_head = len(x), n_heads, x.shape[1]
    # Any mask that broadcasts is taken: a later answer may hand over one for all rows or all sentences.
    options = {
        "tgt_mask": ~mask.expand(*per_head, x.shape[1]).flatten(0, 1),
        "memory_mask": ~memory_mask.expand(*per_head, memory.shape[1]).flatten(0, 1),
    }
    return torch.func.functional_call(layer, torch_decoder_layer(weights), (x, memory), options)
