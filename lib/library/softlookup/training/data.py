"""Sentence pairs to batches: ids, then rows of like length together, the same again for the same seed and epoch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int, Int64
from torch import Tensor

from softlookup.text.corpus import length_buckets, pad

Ids = Sequence[int] | Int64[np.ndarray, " _"]
IdPair = tuple[Ids, Ids]


@runtime_checkable
class EncodesText(Protocol):
    """What is asked of a tokenizer here; every one of softlookup.text fits."""

    def encode(self, text: str, *, start: bool = False, end: bool = False) -> list[int]:
        """Turn a sentence into ids, with the start and end tokens asked for."""
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Some sentence pairs as one rectangle of ids for each side, padded on the right.

    Attributes:
        target_ids: The sentences to be said, start and end tokens included.
        source_ids: The sentences to be read; None for a model that only goes on writing.
        pad_id: The id of padding, on both sides.

    ValueError if a side is empty or no rectangle, or the sides differ in their number of rows; TypeError if ids are not
    integers.
    """

    target_ids: Int[Tensor, "B T"]
    source_ids: Int[Tensor, "B S"] | None = None
    pad_id: int = 0

    def __post_init__(self) -> None:
        for name, ids in (("target_ids", self.target_ids), ("source_ids", self.source_ids)):
            if ids is None:
                continue
            if ids.ndim != 2 or ids.numel() == 0:
                raise ValueError(f"{name} have shape {tuple(ids.shape)}; wanted two axes, with at least one id")
            if ids.is_floating_point() or ids.dtype == torch.bool:
                raise TypeError(f"{name} have dtype {ids.dtype}; wanted an integer dtype")
        if self.source_ids is not None and self.source_ids.shape[0] != self.target_ids.shape[0]:
            raise ValueError(
                f"{self.source_ids.shape[0]} source rows, {self.target_ids.shape[0]} target rows: they must be equal"
            )

    @property
    def tokens(self) -> int:
        """How many labels count: all target tokens but the start tokens and padding."""
        return int((self.target_ids[:, 1:] != self.pad_id).sum())

    def to(self, device: torch.device | str) -> "Batch":
        """Copy the batch to a device, where it is not there already.

        Args:
            device: Where the model is.

        Returns:
            A batch with the same ids.
        """
        source = None if self.source_ids is None else self.source_ids.to(device)
        return Batch(self.target_ids.to(device), source, self.pad_id)


@runtime_checkable
class SegmentationSource(Protocol):
    """What is asked of a pool of segmentations; softlookup.text.segmentations.SegmentationPool fits."""

    def draw(self, rng: np.random.Generator) -> Sequence[Ids]:
        """Give the ids of all its sentences, cut as chance has it."""
        ...


@runtime_checkable
class Batches(Protocol):
    """What the loop asks of its data: an epoch at a time, the same whenever it is asked for again."""

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Give the batches of an epoch in their order.

        The first epoch is 0; ``start`` batches, which have been used already, are left out.
        """
        ...


def encode_pairs(
    pairs: Sequence[tuple[str, str]], source_tokenizer: EncodesText, target_tokenizer: EncodesText | None = None
) -> list[IdPair]:
    """Turn sentence pairs into ids: an end token on the source, start and end on the target.

    Target tokenizer None is the source's, with a vocabulary shared by both languages. ValueError if there are no pairs.
    """
    if not pairs:
        raise ValueError("there are no sentence pairs; wanted at least one")
    target_tokenizer = source_tokenizer if target_tokenizer is None else target_tokenizer
    return [
        (source_tokenizer.encode(source, end=True), target_tokenizer.encode(target, start=True, end=True))
        for source, target in pairs
    ]


def redrawn(
    source_pool: SegmentationSource, target_pool: SegmentationSource, seed: int = 0
) -> Callable[[int], list[IdPair]]:
    """Cut the sentences into other pieces in every epoch: what BucketedBatches takes as resegment.

    An end token is behind each source sentence, start and end tokens are around each target, in the same order. The
    function gives the same ids whenever it is called for the same epoch; they come from it and the seed. It raises
    ValueError if the pools differ in their number of sentences.

    Source: Provilkov et al. 2020.
    """

    def pairs_of(epoch: int) -> list[IdPair]:
        rng = np.random.default_rng((seed, epoch))
        sources, targets = source_pool.draw(rng), target_pool.draw(rng)
        if len(sources) != len(targets):
            raise ValueError(f"the pools hold {len(sources)} sources and {len(targets)} targets: give one for each")
        return list(zip(sources, targets, strict=True))

    return pairs_of


def make_batch(pairs: Sequence[IdPair], pad_id: int) -> Batch:
    """Lay pairs side by side as one batch, each side padded to its longest sentence.

    The batch is on the CPU. ValueError if there are no pairs.
    """
    sources, targets = zip(*pairs, strict=True) if pairs else ((), ())
    return Batch(torch.from_numpy(pad(targets, pad_id)), torch.from_numpy(pad(sources, pad_id)), pad_id)


class BucketedBatches:
    """Batches of pairs of like length, each as large as a number of padded tokens allows.

    A batch costs what its padded rectangle costs. Rows of like length leave little padding, and short sentences
    come many to a batch. Which pairs meet, and the order of the batches, are drawn anew each epoch, from the seed
    and the epoch's number alone: so a run can be taken up again anywhere, and sees what it would have seen.

    Start and end tokens are included in the pairs; ``tokens_per_batch`` counts padding, both sides together.
    ``resegment`` cuts the same pairs into other pieces for each epoch (byte-pair dropout), always the same for the same
    epoch; None: the same ids. ValueError if there are no pairs, or the longest does not fit into a batch by itself.

    Source: Vaswani et al. 2017, section 5.1 (batches by approximate length); Provilkov et al. 2020 (dropout).
    """

    def __init__(
        self,
        pairs: Sequence[IdPair],
        *,
        pad_id: int,
        tokens_per_batch: int,
        seed: int = 0,
        resegment: Callable[[int], Sequence[IdPair]] | None = None,
    ) -> None:
        _check_pairs(pairs)
        self.pairs, self.pad_id, self.tokens_per_batch, self.seed = pairs, pad_id, tokens_per_batch, seed
        self.resegment = resegment
        longest = max(len(source) + len(target) for source, target in pairs)
        if longest > tokens_per_batch:
            raise ValueError(
                f"a pair has {longest} ids, tokens_per_batch is {tokens_per_batch}: give more, or leave long pairs out"
            )

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Give the batches of an epoch, on the CPU.

        ValueError if epoch or start is negative, start is beyond the last batch, or resegment gives another number of
        pairs, or one that does not fit into a batch.
        """
        pairs = self.pairs
        if self.resegment is not None:
            pairs = self.resegment(epoch)
            if len(pairs) != len(self.pairs):
                raise ValueError(f"resegment gave {len(pairs)} pairs for epoch {epoch}; wanted {len(self.pairs)}")
        rng = _order_of(self.seed, epoch)
        sources, targets = ([len(pair[side]) for pair in pairs] for side in (0, 1))
        buckets = length_buckets(sources, targets, self.tokens_per_batch, rng)
        for rows in _from(buckets, start):
            yield make_batch([pairs[row] for row in rows], self.pad_id)


class PlainBatches:
    """Batches of a fixed number of pairs in a shuffled order, whatever their lengths: for comparison.

    Each batch is padded to its own longest sentence, which with sentences of all lengths is much padding.

    Start and end tokens are included in the pairs; the last batch of an epoch may have fewer ``rows``; shuffle False
    keeps the order, for measuring. ValueError if there are no pairs, or rows is below 1.
    """

    def __init__(self, pairs: Sequence[IdPair], *, pad_id: int, rows: int, seed: int = 0, shuffle: bool = True) -> None:
        _check_pairs(pairs)
        if rows < 1:
            raise ValueError(f"rows is {rows}; wanted at least 1 pair in a batch")
        self.pairs, self.pad_id, self.rows, self.seed, self.shuffle = pairs, pad_id, rows, seed, shuffle

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Give the batches of an epoch, on the CPU.

        ValueError if epoch or start is negative, or start is beyond the last batch.
        """
        order = np.arange(len(self.pairs))
        if self.shuffle:
            _order_of(self.seed, epoch).shuffle(order)
        cuts = range(0, len(order), self.rows)
        for cut in _from(cuts, start):
            yield make_batch([self.pairs[row] for row in order[cut : cut + self.rows]], self.pad_id)


def _check_pairs(pairs: Sequence[IdPair]) -> None:
    if not pairs:
        raise ValueError("there are no sentence pairs; wanted at least one")
    for index, (source, target) in enumerate(pairs):
        if len(source) < 1 or len(target) < 2:
            raise ValueError(
                f"pair {index} has {len(source)} source and {len(target)} target ids; wanted at least 1 and 2: "
                "the target begins with the start token and closes with the end token"
            )


def _order_of(seed: int, epoch: int) -> np.random.Generator:
    if epoch < 0:
        raise ValueError(f"epoch is {epoch}; epochs count from 0")
    return np.random.default_rng((seed, epoch))


def _from(items: Sequence, start: int) -> Sequence:
    if not 0 <= start <= len(items):
        raise ValueError(f"start is {start}; the epoch has {len(items)} batches")
    return items[start:]
