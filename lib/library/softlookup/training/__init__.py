"""Training: sentence pairs to batches, batches to steps, and a run that can be killed and goes on."""

from softlookup.model.whole.weights import CheckpointError, load_weights, save_weights
from softlookup.training.averaging import MovingAverage
from softlookup.training.bleu import Bleu, corpus_bleu
from softlookup.training.checkpoint import Checkpoints, TrainingState, load_checkpoint, save_checkpoint
from softlookup.training.data import (
    Batch,
    Batches,
    BucketedBatches,
    PlainBatches,
    encode_pairs,
    make_batch,
    redrawn,
)
from softlookup.training.loop import DivergedError, Progress, summed_loss, train, validation_loss
from softlookup.training.plain_loss import PlainLoss
from softlookup.training.progress import show_progress
from softlookup.training.vocabulary_loss import vocabulary_loss

__all__ = [
    "Batch",
    "Batches",
    "Bleu",
    "BucketedBatches",
    "CheckpointError",
    "Checkpoints",
    "DivergedError",
    "MovingAverage",
    "PlainBatches",
    "PlainLoss",
    "Progress",
    "TrainingState",
    "corpus_bleu",
    "encode_pairs",
    "load_checkpoint",
    "load_weights",
    "make_batch",
    "redrawn",
    "save_checkpoint",
    "save_weights",
    "show_progress",
    "summed_loss",
    "train",
    "validation_loss",
    "vocabulary_loss",
]
