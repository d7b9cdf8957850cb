"""The bench of faults: equal beginnings, and what each fault changes."""

import torch

from benchmarks import faults as bench
from benchmarks.faults import FAULTS, HEALTHY


def test_faults_of_the_loss_change_it_as_they_are_called():
    ids, vocabulary = bench._data(bench._QUICK)

    class Knows(torch.nn.Module):
        """Is certain of the token that was just read."""

        def forward(self, inputs):
            return 50 * torch.nn.functional.one_hot(inputs, vocabulary).float()

    losses = {fault: bench.loss_of(Knows(), ids, fault).item() for fault in (HEALTHY, *FAULTS)}
    assert losses["not-shifted"] < 1e-6 < 10 < losses[HEALTHY]
    assert losses["padding-counted"] < losses[HEALTHY]
    assert losses["second-softmax"] < 10
    assert losses["no-mask"] == losses["never-zeroed"] == losses["dropout-on"] == losses[HEALTHY]
