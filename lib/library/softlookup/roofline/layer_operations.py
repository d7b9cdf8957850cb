"""The operations of a transformer's layer, one kernel each, in the order in which they run.

Letters of its own: E, the encoder's length, which cross-attention looks at.
"""

from softlookup.roofline.operations import HALF_BYTES, Moved, Operation, product
from softlookup.roofline.sizes import TransformerSizes

ELEMENTWISE: dict[str, tuple[int, int]] = {
    # What is done to one number, forward and backward. Work done once for a whole row (a root, a division) is left out.
    "softmax": (6, 5),  # scale, maximum, subtract, exp, sum, divide; product, sum, subtract, product, scale
    "layer": (7, 11),  # mean, subtract, square, mean, by the root, gain, shift
    "rms": (4, 8),  # square, mean, by the root, gain
    "rotary": (3, 3),  # for each pair four products and two sums
    "relu": (1, 1),
    "gelu": (5, 11),  # by the root of 2, erf, plus 1, times x, halved
    "silu": (4, 8),  # exp, plus 1, divide, times x
    "gate": (1, 2),  # times the other half
    "add": (1, 1),
    "bias": (1, 1),
    "loss": (5, 2),  # maximum, subtract, exp, sum, divide; minus the label, by the number of labels
    "adam": (12, 0),  # two means of gradients (3 + 4), root, plus eps, divide, by the rate, subtract
}
"""Operations on each number, forward and backward, by kind. A transcendental function is one."""


class Kernels:
    """Writes down the operations of one layer.

    B sequences, T query positions, and so many bytes of a number in every tensor.
    """

    def __init__(self, sizes: TransformerSizes, batch: int, queries: int, number_bytes: int = HALF_BYTES) -> None:
        self.sizes, self.B, self.T, self.number_bytes = sizes, batch, queries, number_bytes

    def moved(self, name: str, *shape: int) -> Moved:
        """Name a tensor of this shape."""
        return Moved(name, shape, self.number_bytes)

    def dense(
        self, name: str, rows: int, wide: int, narrow: int, *, part: str, bias: bool = False, of: str = "x"
    ) -> Operation:
        """A product of B * rows vectors with a matrix (wide, narrow)."""
        x, y = self.moved(of, self.B, rows, wide), self.moved(name, self.B, rows, narrow)
        also = (self.moved(f"b_{name}", narrow),) if bias else ()
        return product(name, x, self.moved(f"w_{name}", wide, narrow), y, wide, part=part, also=also)

    def each(self, name: str, op: str, part: str, shape: tuple[int, ...], *more: Moved, of: str = "x") -> Operation:
        """Elementwise work on a tensor, ``more`` read beside it."""
        x, y = self.moved(of, *shape), self.moved(name, *shape)
        return Operation(name, 0, ELEMENTWISE[op][0] * y.elements, (x, *more), (y,), part=part)

    def norm(self, name: str) -> Operation:
        """A norm of the states."""
        d = self.sizes.D
        parameters = ("gain", "shift") if self.sizes.norm == "layer" else ("gain",)
        return self.each(name, self.sizes.norm, "norm", (self.B, self.T, d), *(self.moved(h, d) for h in parameters))

    def residual(self, name: str) -> Operation:
        """What a sublayer found is added to the states."""
        shape = self.B, self.T, self.sizes.D
        return self.each(name, "add", "residual", shape, self.moved("sublayer", *shape))

    def attention(
        self,
        keys: int,
        *,
        new_keys: int | None = None,
        part: str = "attention",
        pairs: int | None = None,
        fused: bool = False,
    ) -> list[Operation]:
        """Attention of T queries to ``keys`` positions.

        ``keys`` is S; ``new_keys`` of them are computed here with their values (None: T), the others are in the cache.
        ``part`` is "attention" or "cross-attention"; ``pairs`` of positions are computed (None: all T * S); ``fused``:
        one kernel does scores, softmax and mixing and keeps the scores to itself.
        """
        z, b, t = self.sizes, self.B, self.T
        new_keys = t if new_keys is None else new_keys
        n, k, h, pairs = z.N, z.kv_heads, z.head_width, t * keys if pairs is None else pairs
        bias = z.attention_bias
        steps = [self.dense("q", t, z.D, z.wide, part=part, bias=bias)]
        if new_keys:
            of = "memory" if part == "cross-attention" else "x"
            steps += [self.dense(name, new_keys, z.D, z.narrow, part=part, bias=bias, of=of) for name in ("k", "v")]
        if z.rotary and part == "attention":
            # A table of cosines and sines is read beside.
            steps += [
                self.each(f"rotary {name}", "rotary", part, (b, heads, t, h), self.moved("turns", t, h), of=name)
                for name, heads in (("q", n), ("k", k))
            ]
        q, kept_k, kept_v = self.moved("q", b, n, t, h), self.moved("k", b, k, keys, h), self.moved("v", b, k, keys, h)
        mixed = self.moved("mixed", b, n, t, h)
        score_flops = 2 * b * n * pairs * h
        soft_flops = ELEMENTWISE["softmax"][0] * b * n * pairs
        if fused:
            name = "fused attention"
            steps.append(Operation(name, 2 * score_flops, soft_flops, (q, kept_k, kept_v), (mixed,), part=part))
        else:
            scores, weights = self.moved("scores", b, n, pairs), self.moved("weights", b, n, pairs)
            steps += [
                Operation("scores", score_flops, 0, (q, kept_k), (scores,), part=part),
                Operation("softmax", 0, soft_flops, (scores,), (weights,), part=part),
                Operation("mix", score_flops, 0, (weights, kept_v), (mixed,), part=part),
            ]
        return [*steps, self.dense("output", t, z.wide, z.D, part=part, bias=bias, of="mixed")]

    def feed_forward(self) -> list[Operation]:
        """The feed-forward network: two matrices, or three where it has a gate."""
        z, part = self.sizes, "feed-forward"
        shape, into = (self.B, self.T, z.F), z.hidden_bias
        steps = [
            self.dense(name, self.T, z.D, z.F, part=part, bias=into) for name in ("gate", "up")[0 if z.gated else 1 :]
        ]
        steps.append(self.each(z.activation, z.activation, part, shape, of="gate" if z.gated else "up"))
        if z.gated:
            steps.append(self.each("gated", "gate", part, shape, self.moved("up", *shape), of=z.activation))
        return [*steps, self.dense("down", self.T, z.F, z.D, part=part, bias=into, of="hidden")]


def causal_pairs(queries: int, keys: int) -> int:
    """Count the pairs that a causal mask allows, where the queries are the newest tokens.

    Args:
        queries: T, how many tokens look.
        keys: S, how many tokens there are, at least T.

    Returns:
        T * (S - T) + T * (T + 1) / 2 pairs.

    >>> causal_pairs(4, 4), causal_pairs(1, 4)
    (10, 4)
    """
    return queries * (keys - queries) + queries * (queries + 1) // 2


def layer(
    sizes: TransformerSizes,
    batch: int,
    queries: int,
    *,
    cached: int = 0,
    memory: int = 0,
    memory_cached: bool = False,
    causal: bool = False,
    fused: bool = False,
    number_bytes: int = HALF_BYTES,
) -> list[Operation]:
    """Count one layer forward.

    Args:
        sizes: The model.
        batch: B, sequences.
        queries: T, tokens that pass through the layer.
        cached: Tokens before them whose keys and values are kept; S is T + cached.
        memory: E, the encoder's length; 0 for a layer without cross-attention.
        memory_cached: Whether the memory's keys and values are kept from an earlier step.
        causal: Whether pairs that the mask hides are skipped; by default the full square is computed.
        fused: Whether scores and weights stay inside one kernel.
        number_bytes: Bytes of a number, 2 for half precision.

    Returns:
        Its operations in order.

    Raises:
        ValueError: If a size is negative, or there are no sequences or queries: "batch is B; wanted at least 1".

    Source: Vaswani et al. 2017; the counts of bytes suppose that every kernel reads its inputs from memory and writes
    its result there, which is what a roofline asks.
    """
    for name, got, least in (
        ("batch", batch, 1),
        ("queries", queries, 1),
        ("cached", cached, 0),
        ("memory", memory, 0),
    ):
        if got < least:
            raise ValueError(f"{name} is {got}; wanted at least {least}")
    kernels, keys = Kernels(sizes, batch, queries, number_bytes), queries + cached
    pairs = causal_pairs(queries, keys) if causal else None
    steps = [kernels.norm("norm 1"), *kernels.attention(keys, pairs=pairs, fused=fused), kernels.residual("add 1")]
    if memory:
        new_keys = 0 if memory_cached else memory
        across = kernels.attention(memory, new_keys=new_keys, part="cross-attention", fused=fused)
        steps += [kernels.norm("norm across"), *across, kernels.residual("add across")]
    return [*steps, kernels.norm("norm 2"), *kernels.feed_forward(), kernels.residual("add 2")]
