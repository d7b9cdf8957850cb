"""What becomes of a token's vector, layer by layer, in a published encoder: ``softlookup bench refinement``.

The same word stands in two sentences. At the door its two vectors differ by their positions alone; how far they are
apart after each layer is measured, beside how far any two tokens are apart. Needs the files of load_minilm().
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.harness import benchmark
from softlookup.model.parts.layers import Layer
from softlookup.model.published.minilm import PACKAGE, SentenceEncoder, load_minilm

PAIRS = (
    ("bank", "They moored the boat and sat on the grassy bank.", "She opened an account at the bank."),
    ("bat", "The bat slept upside down in the cave.", "He swung the bat and hit the ball."),
    ("spring", "In spring the trees are full of blossom.", "The mattress has a broken spring."),
    ("match", "She lit the candle with a match.", "Our team won the match on Saturday."),
)
"""One word, two meanings."""

CONTROLS = (
    ("bank", "He borrowed money from the bank.", "She opened an account at the bank."),
    ("bat", "A bat flew out of the cave at dusk.", "The bat slept upside down in the cave."),
    ("spring", "In spring the trees are full of blossom.", "The birds come back every spring."),
    ("match", "Our team won the match on Saturday.", "They lost the last match of the season."),
)
"""The same words, one meaning, other sentences."""

NEAREST = 4
"""How many nearest tokens of the vocabulary are kept."""


@dataclass(frozen=True)
class PairCosines:
    """A word in two sentences: the cosine of its two vectors, for each state."""

    word: str
    sentences: tuple[str, str]
    cosines: list[float]


@dataclass(frozen=True)
class NearestTokens:
    """A word in a sentence: the nearest tokens of the vocabulary, for each state."""

    word: str
    sentence: str
    tokens: list[list[str]]


@dataclass(frozen=True)
class RefinementResult:
    """Cosines and lengths of vectors, each a list with one number for each state."""

    model: str
    layers: int
    width: int
    parameters: int
    sentences: int
    pairs: list[PairCosines]
    controls: list[PairCosines]
    start: list[float]
    step: list[float]
    others: list[float]
    lengths: list[float]
    attention: list[float]
    feed_forward: list[float]
    near: list[NearestTokens]


@benchmark("refinement")
def bench_refinement() -> RefinementResult:
    """Follow the vectors of some words through all layers of MiniLM.

    All cosines are lists with one number for each state, from the embedding to the last layer. ``pairs`` and
    ``controls`` hold for each word the cosine between its two vectors; ``start`` the mean cosine of a token to its own
    embedding; ``step`` to its state one layer before; ``others`` the mean cosine between two different tokens of one
    sentence; ``lengths`` the mean length of a vector; ``attention`` and ``feed_forward`` the length of what each
    sublayer adds; ``near`` the nearest rows of the embedding table to each word's state. If the model's files are not
    installed, a ModuleNotFoundError says how to install them.
    """
    model = load_minilm()
    sentences = sorted({sentence for _, *both in (*PAIRS, *CONTROLS) for sentence in both})
    seen = {sentence: model.states(sentence) for sentence in sentences}
    all_states = [states[:, 1:-1] for _, states in seen.values()]  # without the start and the end
    added = [_added(model, sentence) for sentence in sentences]

    def between(pairs: tuple[tuple[str, str, str], ...]) -> list[PairCosines]:
        rows = []
        for word, first, second in pairs:
            here, there = (_state(seen[sentence], word) for sentence in (first, second))
            cosines = F.cosine_similarity(here, there, dim=-1)
            rows.append(PairCosines(word, (first, second), _rounded(cosines)))
        return rows

    table = _table(model)
    near = [
        NearestTokens(word, sentence, [_nearest(model, table, state) for state in _state(seen[sentence], word)])
        for word, *both in PAIRS[:1]
        for sentence in both
    ]
    return RefinementResult(
        model=PACKAGE,
        layers=len(all_states[0]) - 1,
        width=all_states[0].shape[-1],
        parameters=sum(p.numel() for p in model.parameters()),
        sentences=len(sentences),
        pairs=between(PAIRS),
        controls=between(CONTROLS),
        start=_rounded(_mean([F.cosine_similarity(s, s[:1], dim=-1).mean(-1) for s in all_states])),
        step=_rounded(_mean([F.cosine_similarity(s[1:], s[:-1], dim=-1).mean(-1) for s in all_states])),
        others=_rounded(_mean([_others(s) for s in all_states])),
        lengths=_rounded(_mean([s.norm(dim=-1).mean(-1) for s in all_states])),
        attention=_rounded(_mean([lengths[0] for lengths in added])),
        feed_forward=_rounded(_mean([lengths[1] for lengths in added])),
        near=near,
    )


def _state(seen: tuple[tuple[str, ...], Tensor], word: str) -> Tensor:
    """A word's vector after no layer, one layer, and so on, (L + 1, D)."""
    tokens, states = seen
    return states[:, tokens.index(word)]


def _others(states: Tensor) -> Tensor:
    """The mean cosine of two different tokens, for each state."""
    unit = F.normalize(states, dim=-1)
    cosines = unit @ unit.mT
    t = cosines.shape[-1]
    return (cosines.sum((-1, -2)) - cosines.diagonal(dim1=-2, dim2=-1).sum(-1)) / (t * (t - 1))


@torch.no_grad()
def _added(model: SentenceEncoder, sentence: str) -> Tensor:
    """The mean length of what attention and the feed-forward network add in each layer, (2, L)."""
    lengths: tuple[list[Tensor], list[Tensor]] = ([], [])

    def keep(place: int) -> Any:
        def hook(module: Any, inputs: Any, result: Tensor | tuple) -> None:
            y = result if isinstance(result, Tensor) else result[0]
            lengths[place].append(y[0, 1:-1].norm(dim=-1).mean())

        return hook

    hooks = []
    for layer in model.modules():
        if isinstance(layer, Layer):
            hooks += [layer.attention.register_forward_hook(keep(0)), layer.feed_forward.register_forward_hook(keep(1))]
    model.states(sentence)
    for hook in hooks:
        hook.remove()
    return torch.stack([torch.stack(layers) for layers in lengths])


def _table(model: SentenceEncoder) -> Tensor:
    rows = model.get_parameter("encoder.embedder.tokens.table").detach()
    return F.normalize(rows, dim=-1)


def _nearest(model: SentenceEncoder, table: Tensor, state: Tensor) -> list[str]:
    ids = (table @ F.normalize(state, dim=-1)).topk(NEAREST).indices.tolist()
    return [model.tokenizer.vocabulary.token(i) for i in ids]


def _mean(curves: list[Tensor]) -> Tensor:
    return torch.stack(curves).mean(0)


def _rounded(curve: Tensor) -> list[float]:
    return [round(value, 4) for value in curve.tolist()]
