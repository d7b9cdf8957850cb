"""Parameters, cache, state and operations of one part of a layer: each mechanism has its formulas here, once.

The formulas count weights that a token is multiplied by, learned numbers besides, rows of caches, and recurrent states.
"""

from dataclasses import dataclass, replace
from functools import singledispatch

from softlookup.describing.layer_sizes import (
    AttentionSizes,
    CompressedSizes,
    ConvolutionSizes,
    DeltaSizes,
    DenseSizes,
    ExpertsSizes,
    IndexerSizes,
    LatentSizes,
    LightningSizes,
    Mamba1Sizes,
    Mamba2Sizes,
    PartSizes,
    PlainSizes,
    RecurrenceSizes,
)


@dataclass(frozen=True)
class CacheRows:
    """A cache that grows with the text.

    Attributes:
        numbers: Of a row.
        mixed: Multiply-adds for each row that is attended to.
        window: Rows at most; None where there is no limit.
        every: Positions that have one row together.
        chosen: Rows that are attended to at most; None for all.
    """

    numbers: int
    mixed: int
    window: int | None = None
    every: int = 1
    chosen: int | None = None

    def rows(self, length: int) -> int:
        """How many rows there are after so many tokens."""
        rows = length // self.every
        return rows if self.window is None else min(self.window, rows)

    def attended(self, length: int) -> int:
        """How many of them the newest token attends to at most."""
        return self.rows(length) if self.chosen is None else min(self.chosen, self.rows(length))


@dataclass(frozen=True)
class PartCounts:
    """What a part of a layer has and does.

    Attributes:
        products: Weights that a token is multiplied by.
        added: Other learned numbers that it meets.
        unchosen: Learned numbers that it does not meet: experts that are not chosen for it.
        caches: What grows with the text.
        state: Numbers of the recurrent state, with that of a short convolution.
        state_products: Multiply-adds with the state for each token, and others without weights.
    """

    products: int
    added: int = 0
    unchosen: int = 0
    caches: tuple[CacheRows, ...] = ()
    state: int = 0
    state_products: int = 0

    @property
    def parameters(self) -> int:
        """All learned numbers."""
        return self.products + self.added + self.unchosen


@singledispatch
def part_counts(part: PartSizes, d_model: int) -> PartCounts:
    """Count parameters, cache, state and operations of one part of a layer.

    ``part`` is one of the classes of ``softlookup.describing.layer_sizes``, or else a TypeError; ``d_model`` is D.

    >>> from softlookup.describing.layer_sizes import DenseSizes
    >>> part_counts(DenseSizes(hidden=12), 5).parameters
    180
    """
    raise TypeError(f"part is a {type(part).__name__}; wanted a class of softlookup.describing.layer_sizes")


@part_counts.register
def _attention(part: AttentionSizes, d_model: int) -> PartCounts:
    queries, keys = part.heads * part.width, part.kv_heads * part.width
    values, mixed = part.kv_heads * part.value_width, part.heads * part.value_width
    kv_width = 0 if not part.own_cache else keys + (values if part.own_values else 0)
    products = d_model * (queries + kv_width + mixed + part.gate)
    added = part.gains + (part.heads if part.sinks else 0) + (d_model if part.output_bias else 0)
    added += queries + kv_width + (part.gate if part.gate_bias else 0) if part.qkv_bias else 0
    cache = CacheRows(keys + values if part.own_cache else 0, queries + mixed, part.window)
    if (indexer := part.indexer) is None:
        return PartCounts(products, added, caches=(cache,))
    small = indexer.heads * indexer.width
    caches = replace(cache, chosen=indexer.chosen), CacheRows(indexer.width, small)
    return PartCounts(products + d_model * (small + indexer.width), added + 2 * indexer.width, caches=caches)


def _indexer(part: IndexerSizes, d_model: int, query: int) -> tuple[int, int, tuple[CacheRows, ...]]:
    """Weights in products, other numbers and the cache of an indexer whose queries come from a latent vector."""
    if not part.chooses:
        return 0, 0, ()
    products = query * part.heads * part.width + d_model * (part.width + part.heads)
    mixed = part.heads * part.width + part.heads
    return products, 2 * part.width, (CacheRows(part.width, mixed),)


@part_counts.register
def _latent(part: LatentSizes, d_model: int) -> PartCounts:
    n, cached = part.heads, part.width + part.rotary
    queries = n * (part.plain + part.rotary)
    products = d_model * (cached + part.gate) + part.width * n * (part.plain + part.value) + n * part.value * d_model
    products += d_model * queries if part.query is None else part.query * (d_model + queries)
    added = part.width + (part.query or 0) + (n if part.sinks else 0)
    added += cached + (part.query or 0) + d_model if part.bias else 0
    # The latent vectors are attended to as they are, with the matrices on the side of the query and of the output.
    mixed = n * (2 * part.width + part.rotary)
    if (indexer := part.indexer) is None:
        return PartCounts(products, added, caches=(CacheRows(cached, mixed),))
    more, norms, caches = _indexer(indexer, d_model, part.query or 0)
    return PartCounts(products + more, added + norms, caches=(CacheRows(cached, mixed, chosen=indexer.chosen), *caches))


@part_counts.register
def _compressed(part: CompressedSizes, d_model: int) -> PartCounts:
    n, width, grouped = part.heads, part.width, part.groups * part.group_width
    products = part.query * (d_model + n * width) + d_model * width
    products += n * width * part.group_width + grouped * d_model
    added = n + part.query + width
    caches = [CacheRows(width, 2 * n * width, part.window)]
    if part.rate is not None:
        # With an indexer neighbouring blocks overlap: each has two vectors.
        wide = 2 if part.indexer is not None else 1
        products += 2 * d_model * wide * width
        added += part.rate * wide * width + width
        chosen = None if part.indexer is None else part.indexer.chosen
        caches.append(CacheRows(width, 2 * n * width, every=part.rate, chosen=chosen))
        if (indexer := part.indexer) is not None:
            small = wide * indexer.width
            products += 2 * d_model * small + part.query * indexer.heads * indexer.width + d_model * indexer.heads
            added += part.rate * small + indexer.width
            caches.append(CacheRows(indexer.width, indexer.heads * (indexer.width + 1), every=part.rate))
    return PartCounts(products, added, caches=tuple(caches))


@part_counts.register
def _mamba2(part: Mamba2Sizes, d_model: int) -> PartCounts:
    inner = part.heads * part.width
    convolved = inner + 2 * part.groups * part.state
    wide = inner + convolved + part.heads
    products = d_model * (wide + inner) + convolved * part.kernel
    added = 3 * part.heads + (convolved if part.convolution_bias else 0) + (inner if part.norm else 0)
    added += wide + d_model if part.bias else 0
    entries = inner * part.state
    return PartCounts(products, added, state=entries + convolved * part.kernel, state_products=2 * entries)


@part_counts.register
def _mamba1(part: Mamba1Sizes, d_model: int) -> PartCounts:
    inner, steps = part.channels, part.rank + 2 * part.state
    products = inner * (3 * d_model + part.kernel + steps + part.rank)
    added = inner * part.state + 2 * inner + (inner if part.convolution_bias else 0) + (steps if part.norms else 0)
    added += 2 * inner + d_model if part.bias else 0
    entries = inner * part.state
    return PartCounts(products, added, state=entries + inner * part.kernel, state_products=2 * entries)


@part_counts.register
def _delta(part: DeltaSizes, d_model: int) -> PartCounts:
    n, keys, values = part.heads, part.key_heads * part.key_width, part.heads * part.value_width
    convolved = 2 * keys + values
    products = d_model * (convolved + n + values) + convolved * part.kernel  # and how much is written, for each head
    if part.gates == "head":
        products += d_model * (n + values)
        added = 2 * n
    else:
        narrow = part.key_width
        products += 2 * (d_model * narrow + narrow * values if part.gates == "low rank" else d_model * values)
        added = n + n * part.key_width
    entries = n * part.key_width * part.value_width
    # The state is read for the key, written, and read for the query.
    return PartCounts(
        products,
        added + part.value_width,
        state=entries + convolved * part.kernel,
        state_products=3 * entries,
    )


@part_counts.register
def _lightning(part: LightningSizes, d_model: int) -> PartCounts:
    wide = part.heads * part.width
    entries = wide * part.width
    return PartCounts(5 * d_model * wide, wide, state=entries, state_products=2 * entries)


@part_counts.register
def _convolution(part: ConvolutionSizes, d_model: int) -> PartCounts:
    return PartCounts(
        4 * d_model * d_model + d_model * part.kernel,
        5 * d_model if part.bias else 0,
        state=d_model * part.kernel,
    )


@part_counts.register
def _recurrence(part: RecurrenceSizes, d_model: int) -> PartCounts:
    width = part.width
    products = 3 * d_model * width + width * part.kernel + 2 * width * width // part.blocks
    return PartCounts(products, 6 * width + d_model, state=width + width * (part.kernel - 1))


def _network(d_model: int, hidden: int, gated: bool, bias: bool) -> tuple[int, int]:
    """Weights and biases of a feed-forward network."""
    into = 2 if gated else 1
    return (into + 1) * d_model * hidden, into * hidden + d_model if bias else 0


@part_counts.register
def _dense(part: DenseSizes, d_model: int) -> PartCounts:
    products, biases = _network(d_model, part.hidden, part.gated, part.bias)
    return PartCounts(products, biases + part.added)


@part_counts.register
def _experts(part: ExpertsSizes, d_model: int) -> PartCounts:
    inside = part.latent or d_model
    expert, bias = _network(inside, part.hidden, part.gated, part.bias)
    shared, _ = _network(d_model, part.shared, part.gated, False)
    products = part.chosen * expert + shared + part.total * d_model + (d_model if part.shared_gate else 0)
    products += 2 * d_model * part.latent if part.latent else 0
    added = part.chosen * bias + part.router_added + (part.total if part.bias else 0)
    return PartCounts(products, added, unchosen=(part.total - part.chosen) * (expert + bias))


@part_counts.register
def _plain(part: PlainSizes, d_model: int) -> PartCounts:
    return PartCounts(part.products, part.added, state_products=part.mixed)
