"""Sentence pairs from two files, and batches of pairs of like length."""

import gzip
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64


class Corpus(NamedTuple):
    """Sentence pairs, and what was left out of them.

    Attributes:
        pairs: (source, target), in the order of the files.
        n_skipped: How many lines were left out because one side or both were empty.
    """

    pairs: list[tuple[str, str]]
    n_skipped: int


def read_pairs(folder: str | Path, split: str, languages: tuple[str, str] = ("en", "fr")) -> Corpus:
    """Read sentence pairs from two files with one sentence to a line.

    ``split`` is the files' first name, ``languages`` their endings, source first: "train" reads train.en and train.fr,
    or train.en.gz and train.fr.gz. White space at the ends is taken off, and lines skipped for being empty are counted.
    FileNotFoundError; ValueError, with the files' names, for different numbers of lines, no pair, or no UTF-8.
    """
    paths = [_find(Path(folder), f"{split}.{language}") for language in languages]
    sides = [_read_lines(path) for path in paths]
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"{paths[0]} has {len(sides[0])} lines, {paths[1]} has {len(sides[1])}: line i of one must be the "
            "translation of line i of the other"
        )
    pairs = [(source, target) for source, target in zip(*sides, strict=True) if source and target]
    if not pairs:
        raise ValueError(f"{paths[0]} and {paths[1]} hold no pair of sentences in their {len(sides[0])} lines")
    return Corpus(pairs, len(sides[0]) - len(pairs))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileNotFoundError(f"looked for {name} and {name}.gz in {folder}; found neither")


def read_text(path: str | Path) -> str:
    """Read a text file, or one that is compressed by gzip.

    It is compressed where its name ends in .gz; a byte order mark is left out. FileNotFoundError; ValueError, which
    names the file, if it is not UTF-8.
    """
    path = Path(path)
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error


def _read_lines(path: Path) -> list[str]:
    # Only a line feed ends a line: str.splitlines would also cut at characters that stand within sentences.
    return [line.strip() for line in read_text(path).removesuffix("\n").split("\n")]


def length_buckets(
    lengths_source: Sequence[int] | Int64[np.ndarray, " P"],
    lengths_target: Sequence[int] | Int64[np.ndarray, " P"],
    tokens_per_batch: int,
    rng: np.random.Generator,
) -> list[Int64[np.ndarray, " B"]]:
    """Put pairs of like length into batches, so that little is spent on padding.

    Pairs of equal length are shuffled, and so is the order of the batches: call it anew for every epoch.

    A batch is places in the corpus, and every pair is in one; its size, (longest source + longest target) * B, is
    ``tokens_per_batch`` at most. ValueError if there are no pairs, the numbers of lengths differ, a length is below 1,
    or a pair, which is named, is larger than a batch; TypeError if a length is not a whole number.
    """
    source, target = _whole(lengths_source, "lengths_source"), _whole(lengths_target, "lengths_target")
    if len(source) != len(target):
        raise ValueError(f"got {len(source)} source lengths and {len(target)} target lengths; wanted as many of each")
    if len(source) == 0:
        raise ValueError("there are no pairs to put into batches; got no lengths")
    shortest, largest = int(np.minimum(source, target).argmin()), int((source + target).argmax())
    if min(source[shortest], target[shortest]) < 1:
        raise ValueError(f"pair {shortest} has lengths {source[shortest]} and {target[shortest]}; wanted at least 1")
    if source[largest] + target[largest] > tokens_per_batch:
        raise ValueError(
            f"pair {largest} has {source[largest]} + {target[largest]} tokens, a batch only {tokens_per_batch}: "
            "raise tokens_per_batch or leave the pair out"
        )
    shuffled = rng.permutation(len(source))
    order = shuffled[np.lexsort((source[shuffled], target[shuffled]))]
    batches, first, longest_source, longest_target = [], 0, 0, 0
    for position, (n_source, n_target) in enumerate(zip(source[order].tolist(), target[order].tolist(), strict=True)):
        wider_source, wider_target = max(longest_source, n_source), max(longest_target, n_target)
        if (wider_source + wider_target) * (position + 1 - first) > tokens_per_batch:
            batches.append(order[first:position])
            first, wider_source, wider_target = position, n_source, n_target
        longest_source, longest_target = wider_source, wider_target
    batches.append(order[first:])
    return [batches[index] for index in rng.permutation(len(batches))]


def pad(sequences: Sequence[Sequence[int] | Int64[np.ndarray, " _"]], pad_id: int) -> Int64[np.ndarray, "B T"]:
    """Lay sequences of different lengths into one array.

    Rows are filled up on the right, to the longest of the B lists. ValueError if there are no sequences, or nothing in
    them; TypeError if an id is not a whole number.

    >>> pad([[5, 6], [7]], pad_id=0)
    array([[5, 6],
           [7, 0]])
    """
    longest = max((len(sequence) for sequence in sequences), default=0)
    if longest == 0:
        raise ValueError(f"there is nothing to pad: got {len(sequences)} sequences, none with a token")
    padded_BT = np.full((len(sequences), longest), pad_id, dtype=np.int64)
    is_token_BT = np.arange(padded_BT.shape[1]) < np.array([len(sequence) for sequence in sequences])[:, None]
    arrays = all(isinstance(sequence, np.ndarray) for sequence in sequences)
    ids = np.concatenate([s for s in sequences if len(s)]) if arrays else list(chain.from_iterable(sequences))
    padded_BT[is_token_BT] = _whole(ids, "a sequence")
    return padded_BT


def _whole(numbers: Sequence[int] | np.ndarray, name: str) -> Int64[np.ndarray, " _"]:
    array = np.asarray(numbers)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}; wanted whole numbers")
    return array.astype(np.int64)
