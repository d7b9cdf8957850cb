"""What the shipped language model has learned: ``softlookup bench writer --data FOLDER``.

Bits for each character of the held-out text, beside counts of characters and two compressors that have read the same
training text; and what of the texts that it writes is known from its training text.
"""

import lzma
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch

from benchmarks.harness import benchmark, plain
from softlookup.live import rounded
from softlookup.model.published.writer import Writer, load_writer
from softlookup.text.corpus import read_text
from softlookup.text.lines import mark_lines, restore_lines
from softlookup.text.pieces import normalise
from softlookup.training.writing import hold_out

_TEXTS = ("input.txt", "input.txt.gz")
_SPEAKER = re.compile(r"(?:^|\n\n)([A-Z][^\n:.,;!?]*):\n")


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    characters: int | None = None  # of the held-out text: all of them
    samples: int = 20
    tokens: int = 200


@dataclass(frozen=True)
class HeldOutText:
    """The length of the held-out text."""

    characters: int
    tokens: int


@dataclass(frozen=True)
class WrittenSamples:
    """What the model writes: shares of known words and speakers, and the longest copy in words."""

    texts: int
    words: int
    known_words: float
    speakers: int
    known_speakers: float
    longest_copy: int
    first: str


@dataclass(frozen=True)
class WriterResult:
    """Bits a character of the held-out text by way of predicting it, and counts of what the model writes."""

    ratio: float
    ratio_of: str
    bits_per_character: dict[str, float]
    held_out: HeldOutText
    training_characters: int
    parameters: int
    samples: WrittenSamples


@benchmark("writer", _Plan(), quick=_Plan(characters=2000, samples=2, tokens=40))
def bench_writer(plan: _Plan, folder: Path | None, *, say: Callable[[str], None]) -> WriterResult:
    """Measure the held-out text, and what the model writes.

    ``folder`` has input.txt or input.txt.gz, the text that the model was trained on; ValueError if there is none,
    FileNotFoundError if the text is missing in it. ``bits_per_character`` holds one number for each way to predict the
    held-out text. ``ratio`` is the model's over that of LZMA. ``samples`` counts what it writes at temperature 0.8 with
    top-p 0.9.
    """
    if folder is None:
        raise ValueError("bench writer needs the folder of the training text: add --data FOLDER")
    files = [folder / name for name in _TEXTS if (folder / name).is_file()]
    if not files:
        raise FileNotFoundError(f"looked for {' and '.join(_TEXTS)} in {folder}; found neither")
    training, held_out = (restore_lines(normalise(mark_lines(part))) for part in hold_out(read_text(files[0])))
    held_out = held_out[: plan.characters]
    writer = load_writer()
    ids = writer.encode(held_out)
    bits = {
        "characters alone": _unigram_bits(training, held_out),
        "pairs of characters": _bigram_bits(training, held_out),
        "zlib, level 9": 8 * _grown(lambda data: len(zlib.compress(data, 9)), training, held_out),
        "LZMA, preset 9": 8 * _grown(lambda data: len(lzma.compress(data, preset=9)), training, held_out),
        "model": _model_bits(writer, ids),
        "model, int8": _model_bits(rounded(writer), ids),
    }
    per_character = {name: round(n_bits / len(held_out), 4) for name, n_bits in bits.items()}
    say(f"bits per character: {per_character}")
    samples = _samples(writer, training, plan)
    say(f"samples: {plain(samples)}")
    return WriterResult(
        ratio=per_character["model"] / per_character["LZMA, preset 9"],
        ratio_of="bits per character of the held-out text, model / LZMA that has read the training text",
        bits_per_character=per_character,
        held_out=HeldOutText(len(held_out), len(ids)),
        training_characters=len(training),
        parameters=sum(weight.numel() for weight in writer.model.parameters()),
        samples=samples,
    )


def _unigram_bits(training: str, text: str) -> float:
    counts, size = Counter(training), len({*training, *text})
    return sum(-math.log2((counts[character] + 1) / (len(training) + size)) for character in text)


def _bigram_bits(training: str, text: str) -> float:
    pairs, counts, size = Counter(pairwise(training)), Counter(training), len({*training, *text})
    # The first character of the held-out text follows the last of the training text.
    follows = pairwise(training[-1] + text)
    return sum(-math.log2((pairs[pair] + 1) / (counts[pair[0]] + size)) for pair in follows)


def _grown(size_of: Callable[[bytes], int], training: str, text: str) -> int:
    """By how many bytes a compressed file grows when the text is put behind the training text."""
    whole, before = (f"{training}\n\n{text}".encode(), training.encode())
    return size_of(whole) - size_of(before)


@torch.no_grad()
def _model_bits(writer: Writer, ids: Sequence[int]) -> float:
    """The bits of a text; each token has at least half a context before it, where the text has."""
    most = writer.model.config.max_length
    half = most // 2
    nats = math.log(len(writer.tokenizer))  # the first token, which nothing predicts
    for start in range(0, max(1, len(ids) - half - 1), half):
        window = torch.tensor(ids[start : start + most + 1])
        log_p = writer.model(window[None, :-1])[0].log_softmax(-1)
        token_nats = -log_p.gather(1, window[1:, None])[:, 0]
        nats += float((token_nats if start == 0 else token_nats[half:]).sum())
    return nats / math.log(2)


def _samples(writer: Writer, training: str, plan: _Plan) -> WrittenSamples:
    words_of = re.compile(r"[A-Za-z']+").findall
    known_words, known_speakers = set(words_of(training)), set(_SPEAKER.findall(training))
    texts = [
        writer.write("\n\n", max_new_tokens=plan.tokens, temperature=0.8, top_p=0.9, seed=seed).strip()
        for seed in range(plan.samples)
    ]
    whole_words = [word for text in texts for word in words_of(text)[:-1]]  # the last one may be cut short
    speakers = [name for text in texts for name in _SPEAKER.findall(text)]
    return WrittenSamples(
        texts=len(texts),
        words=len(whole_words),
        known_words=round(sum(word in known_words for word in whole_words) / len(whole_words), 4),
        speakers=len(speakers),
        known_speakers=round(sum(name in known_speakers for name in speakers) / max(1, len(speakers)), 4),
        longest_copy=max(_longest_copy(words_of(text), f" {' '.join(words_of(training))} ") for text in texts),
        first=texts[0],
    )


def _longest_copy(words: Sequence[str], training: str) -> int:
    """How many words at most stand side by side in the training text, too."""
    longest = 0
    for start in range(len(words)):
        while f" {' '.join(words[start : start + longest + 1])} " in training and start + longest < len(words):
            longest += 1
    return longest
