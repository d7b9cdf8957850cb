"""What a run of the capstone may attend like, with the library's model: ``softlookup bench capstone``."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from benchmarks.harness import benchmark
from softlookup.model.parts.config import Config
from softlookup.model.whole.transformer import Transformer
from softlookup.text.grammar import english_words, french_words, sample
from softlookup.training.own_run import OwnPlan, train_own

PLAN = OwnPlan(steps=700, sentences=4000, keep_every=100)
_QUICK = OwnPlan(
    d_model=8, n_heads=2, d_hidden=8, n_layers=1, batch=4, steps=4, sentences=20, validation=5, keep_every=2
)
ASKED = 100
"""New sentences that are translated in the end."""


def library_model(vocab: int, d_model: int, n_heads: int, d_hidden: int, n_layers: int, pad_id: int) -> Transformer:
    """Make the library's encoder-decoder with the sizes of a student's."""
    sizes: dict[str, Any] = {"d_model": d_model, "n_heads": n_heads, "d_hidden": d_hidden, "n_layers": n_layers}
    return Transformer(Config(vocab, **sizes, pad_id=pad_id, start_id=1, end_id=2, pre_norm=True, dropout=0.0))


def smoothed(logits: Tensor, labels: Tensor, pad_id: int, eps: float) -> Tensor:
    """The capstone's loss by torch's own function."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=eps)


@dataclass(frozen=True)
class CapstoneResult:
    """Validation losses in nats a token by step, and new sentences with their translations: ``right`` of ``asked``."""

    ratio: float
    ratio_of: str
    validations: list[tuple[int, float]]
    first_loss: float
    words: int
    right: int
    asked: int
    written: list[tuple[str, str]]
    plan: OwnPlan


@benchmark("capstone", PLAN, quick=_QUICK)
def bench_own(plan: OwnPlan, *, say: Callable[[str], None] = lambda line: None) -> CapstoneResult:
    """Train the library's model as the capstone trains a student's, and translate new sentences.

    ``validations`` holds (step, loss) pairs, ``right`` how many of ``asked`` new sentences came out word for word,
    ``written`` some of them; ``ratio`` is the last validation loss over the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = train_own(library_model, smoothed, Path(folder), plan=plan, show=say)
    learnt = {pair.english for pair in sample(plan.sentences + plan.validation, plan.seed, unique=True)}
    n_new = 5 if plan is _QUICK else ASKED
    new = [pair for pair in sample(4 * n_new, plan.seed + 1, unique=True) if pair.english not in learnt][:n_new]
    written = [run.translate(pair.english) for pair in new]
    expected = [" ".join(french_words(pair.french)) for pair in new]
    sources = [" ".join(english_words(pair.english)) for pair in new[:4]]
    return CapstoneResult(
        ratio=run.validations[-1][1] / run.validations[0][1],
        ratio_of="validation loss, last / first kept",
        validations=[(step, round(loss, 4)) for step, loss in run.validations],
        first_loss=round(run.losses[0], 4),
        words=len(run.french),
        right=sum(got == want for got, want in zip(written, expected, strict=True)),
        asked=len(new),
        written=list(zip(sources, written, strict=False)),
        plan=plan,
    )
