"""A run of train_translator that takes a second, alone in a process of its own where it is to be killed."""

import os
import signal
import sys
from pathlib import Path

import torch

from softlookup.text.grammar import sample
from softlookup.training import command_frame
from softlookup.training.recipe import Recipe
from softlookup.training.translation import train_translator

TINY = Recipe(
    vocab_size=120,
    d_model=16,
    n_heads=2,
    n_layers=1,
    d_hidden=24,
    max_length=60,
    dropout=0.1,
    tokens_per_batch=600,
    peak=5e-3,
    warmup=4,
    decay_from=12,
    steps=16,
    average=0.9,
)


def some_pairs(n=70, seed=0):
    """Sentences of the generated grammar."""
    return [(pair.english, pair.french) for pair in sample(n, seed)]


def run(folder, recipe=TINY, on_step=None, every=4, **options):
    """Train in a folder; the same arguments give the same run."""
    torch.set_num_threads(1)
    pairs, validation = some_pairs(), some_pairs(12, seed=1)
    return train_translator(pairs, validation, folder, recipe, on_step=on_step, every=every, **options)


def before_each_step(monkeypatch, call):
    """Let a command call this with its progress before it shows a step."""
    real = command_frame._watched

    def watched(shown, minutes):
        on_step = real(shown, minutes)
        return lambda progress: (call(progress), on_step(progress))

    monkeypatch.setattr(command_frame, "_watched", watched)


if __name__ == "__main__":

    def kill(progress):
        if progress.step == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

    run(Path(sys.argv[1]), on_step=kill)
