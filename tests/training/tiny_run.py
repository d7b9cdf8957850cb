"""A run small enough for tests, with all that makes going on hard: dropout, momenta, tied weights, an average.

As a program: `python tiny_run.py FOLDER KILL_AT` begins the run and kills itself, without warning, after that step.
"""

import os
import random
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from softlookup.training.averaging import MovingAverage
from softlookup.training.checkpoint import Checkpoints
from softlookup.training.data import BucketedBatches
from softlookup.training.loop import train, validation_loss

PAD, START, END, VOCABULARY = 0, 2, 3, 20
STEPS = 23


@dataclass(frozen=True)
class Special:
    pad_id: int = PAD


class Toy(nn.Module):
    """Guesses the next word from the word before and the mean of the source."""

    def __init__(self, d_model=8, dropout=0.3):
        super().__init__()
        self.config = Special()
        self.table = nn.Embedding(VOCABULARY, d_model)
        self.output = nn.Linear(d_model, VOCABULARY)
        self.output.weight = self.table.weight
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scratch", torch.zeros(3), persistent=False)

    def forward(self, source_ids, target_ids):
        self.calls += 1
        heard = source_ids != PAD
        mean = (self.table(source_ids) * heard.unsqueeze(-1)).sum(1) / heard.sum(1, keepdim=True)
        return self.output(self.dropout(self.table(target_ids) + mean.unsqueeze(1)))


def some_pairs(n=60, seed=0, longest=9):
    """Draw pairs whose target repeats the source."""
    rng = random.Random(seed)
    words = [[rng.randrange(4, VOCABULARY) for _ in range(rng.randint(1, longest))] for _ in range(n)]
    return [(row + [END], [START, *row, END]) for row in words]


def recut(epoch):
    """Give the pairs of an epoch: other words in each."""
    return some_pairs(seed=100 + epoch)


def draw_at_random(model):
    """Measure, and use up random numbers of every kind: a sample shown to somebody would."""
    torch.rand(1), np.random.rand(), random.random()
    return validation_loss(model, BucketedBatches(some_pairs(20, seed=1), pad_id=PAD, tokens_per_batch=60))


def begin(seed=0, resegment=recut):
    """Make a model, its optimizer, its average and its data, always the same."""
    torch.manual_seed(seed)
    model = Toy()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98))
    batches = BucketedBatches(some_pairs(), pad_id=PAD, tokens_per_batch=80, seed=5, resegment=resegment)
    return model, optimizer, MovingAverage(model, 0.9), batches


def run(folder, on_step=None, steps=STEPS, every=4):
    """Run, or go on with, the same training in a folder; None keeps nothing."""
    torch.set_num_threads(1)
    model, optimizer, average, batches = begin()
    random.seed(0)
    np.random.seed(0)
    state = train(
        model,
        batches,
        optimizer=optimizer,
        schedule=lambda step: 0.02 / step**0.5,
        steps=steps,
        accumulate=2,
        average=average,
        evaluate=draw_at_random,
        on_step=on_step,
        checkpoint=None if folder is None else Checkpoints(folder, every=every, keep=2, settings={"seed": 5}),
    )
    return state, model, average


if __name__ == "__main__":

    def kill(progress):
        if progress.step == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

    run(Path(sys.argv[1]), kill)
