"""Which chapter needs which, and why. Every edge is written here, and nowhere else."""

from dataclasses import dataclass

_CHAPTERS: dict[int, tuple[str, tuple[float, float]]] = {
    0: ("Before you start", (0, 4)),
    1: ("Why transformers", (1, 5)),
    2: ("A soft lookup", (1, 0)),
    3: ("Tokens", (1, 3)),
    4: ("One head", (2, 2)),
    5: ("Many heads", (3, 2)),
    6: ("Positions", (4, 1)),
    7: ("The encoder", (4, 2)),
    8: ("The decoder", (5, 2)),
    9: ("Training", (6, 4)),
    10: ("Inference", (6, 0)),
    11: ("The roofline", (4, 5)),
    12: ("Counting", (6, 5)),
    13: ("Beyond text", (6, 1)),
    14: ("The slides", (7, 4)),
    15: ("What changed", (7, 0)),
    16: ("Serving", (8, 3)),
    17: ("Looking inside", (7, 3)),
    18: ("Kernels", (8, 5)),
    19: ("Many devices", (9, 4)),
    20: ("After pre-training", (7, 5.6)),
    90: ("The capstone", (7, 2)),
}
"""Chapters by number: a short name, and the place in the picture."""

NAMES = {chapter: name for chapter, (name, _) in _CHAPTERS.items()}
"""Chapters by number, by a short name. Number 90 is the capstone."""


@dataclass(frozen=True)
class Edge:
    """One chapter needs another: ``why``, and ``strict`` if it cannot be followed without it."""

    chapter: int
    needs: int
    why: str
    strict: bool = True


EDGES: tuple[Edge, ...] = (
    Edge(1, 0, "products, the chain rule and cross-entropy", strict=False),
    Edge(2, 0, "softmax", strict=False),
    Edge(3, 0, "shapes of products", strict=False),
    Edge(4, 2, "attention is a soft lookup whose queries, keys and values are learned", strict=False),
    Edge(4, 3, "the rows that a head reads are embeddings", strict=False),
    Edge(5, 4, "a layer is several heads side by side"),
    Edge(6, 4, "without positions a head does not know the order"),
    Edge(6, 5, "positions act in each head"),
    Edge(7, 5, "attention is the first half of a layer"),
    Edge(7, 6, "positions are added before the first layer", strict=False),
    Edge(8, 4, "masks act on the scores of a head"),
    Edge(8, 5, "masks need an axis for the heads"),
    Edge(8, 7, "residual connections and norms"),
    Edge(8, 3, "padding, start and end tokens", strict=False),
    Edge(9, 8, "labels are shifted, and masks keep the future hidden"),
    Edge(9, 0, "gradients and cross-entropy"),
    Edge(10, 8, "a decoder is what writes"),
    Edge(10, 2, "softmax at a temperature"),
    Edge(10, 5, "key-value heads decide what a cache keeps"),
    Edge(10, 6, "a cached token's place", strict=False),
    Edge(11, 5, "how the operations of a product are counted"),
    Edge(12, 5, "the shapes of a layer's products"),
    Edge(12, 7, "the feed-forward network and its share"),
    Edge(12, 8, "cross-attention and causal pairs"),
    Edge(12, 11, "intensity and the ridge"),
    Edge(12, 10, "the cache, and a step of writing", strict=False),
    Edge(13, 4, "values, keys and what a map of weights shows"),
    Edge(13, 5, "heads, whose maps are looked at"),
    Edge(13, 7, "the encoder that reads patches"),
    Edge(13, 8, "cross-attention between two kinds of tokens"),
    Edge(14, 4, "weights, rows that sum to 1, and what a head computes"),
    Edge(14, 5, "heads, and the shapes of their projections"),
    Edge(14, 8, "masks and what they let through"),
    Edge(14, 11, "which division gives a ridge"),
    Edge(14, 12, "operations, multiply-adds and bytes"),
    Edge(15, 5, "key-value heads, which a latent cache replaces"),
    Edge(15, 6, "rotary positions, which are stretched"),
    Edge(15, 10, "sampling and the KV cache"),
    Edge(15, 9, "Adam and the learning rate", strict=False),
    Edge(15, 13, "linear attention, which forgets nothing", strict=False),
    Edge(16, 10, "the KV cache, and a step of writing"),
    Edge(16, 11, "the ridge, which says what limits a phase"),
    Edge(16, 15, "the paged cache and speculative sampling"),
    Edge(16, 12, "parameters and bytes of a model", strict=False),
    Edge(17, 5, "heads side by side, and the matrix behind them"),
    Edge(17, 7, "the residual stream and its norms"),
    Edge(17, 8, "causal masks and the decoder"),
    Edge(17, 13, "what attention maps show", strict=False),
    Edge(18, 11, "bytes, intensity and the ridge"),
    Edge(18, 4, "attention, whose scores stay on the chip"),
    Edge(18, 16, "sequences in pages of the cache", strict=False),
    Edge(18, 15, "pages, and weights of four bits", strict=False),
    Edge(19, 9, "gradients, batches and what Adam keeps"),
    Edge(19, 5, "heads, which ranks divide among them"),
    Edge(19, 11, "bytes, bandwidth, and who waits for whom"),
    Edge(19, 18, "the online softmax", strict=False),
    Edge(19, 15, "experts", strict=False),
    Edge(20, 9, "the loss, its mask and the steps"),
    Edge(20, 10, "answers that are sampled from a model"),
    Edge(90, 5, "your own splitting and merging"),
    Edge(90, 8, "your own masks and layers"),
    Edge(90, 9, "the loss and the steps", strict=False),
    Edge(90, 10, "greedy writing", strict=False),
)


def needed(chapter: int, *, strict: bool = True) -> frozenset[int]:
    """All chapters that come before one: what it cannot be followed without; unless ``strict``, also what helps."""
    if chapter not in NAMES:
        raise KeyError(f"no chapter {chapter}; there are {', '.join(map(str, NAMES))}")
    chapters: set[int] = set()
    waiting = [chapter]
    while waiting:
        current = waiting.pop()
        more = {edge.needs for edge in EDGES if edge.chapter == current and (edge.strict or not strict)} - chapters
        chapters |= more
        waiting += sorted(more)
    return frozenset(chapters)


def shortest_edges() -> tuple[Edge, ...]:
    """The edges without those that a longer way of strict edges says already: the ones that a picture needs."""
    edges = []
    for edge in EDGES:
        between = {e.needs for e in EDGES if e.chapter == edge.chapter and e.strict} - {edge.needs}
        if not any(edge.needs in needed(chapter) for chapter in between):
            edges.append(edge)
    return tuple(edges)


PLACES = {chapter: spot for chapter, (_, spot) in _CHAPTERS.items()}
"""Where each chapter stands in the picture: its level from above, and its lane. No arrow may cross a box."""
