"""One long text to batches: windows of a fixed length, cut elsewhere in every epoch."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from softlookup.training.data import Batch


class WindowBatches:
    """Batches of windows of one text, for a model that predicts the next token.

    A window holds length + 1 tokens: all but the last are read, all but the first are labels. The windows of an epoch
    follow each other, so that each token is a label once; where the first begins, and their order, is drawn from the
    seed and the epoch's number alone. So a run can be taken up again anywhere.

    ``length`` is the labels of a window, ``rows`` the windows of a batch, the last of an epoch with fewer; the text
    does not hold pad_id; seed None keeps the order and begins at the first token, for measuring. ValueError if a number
    is below 1, or the text is shorter than two windows.
    """

    def __init__(self, ids: Sequence[int], *, length: int, rows: int, pad_id: int = 0, seed: int | None = 0) -> None:
        if min(length, rows) < 1:
            raise ValueError(f"length is {length}, rows {rows}; wanted at least 1 of each")
        if len(ids) < 2 * length + 1:
            raise ValueError(f"the text has {len(ids)} tokens; wanted at least {2 * length + 1}, two windows and one")
        self.ids = torch.from_numpy(np.asarray(ids, dtype=np.int64))
        self.length, self.rows, self.pad_id, self.seed = length, rows, pad_id, seed

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Give the batches of an epoch from position ``start`` on, on the CPU."""
        first, rng = 0, None if self.seed is None else np.random.default_rng((self.seed, epoch))
        if rng is not None:
            first = int(rng.integers(self.length))
        begins = np.arange(first, len(self.ids) - self.length, self.length)
        if rng is not None:
            rng.shuffle(begins)
        for row in range(start * self.rows, len(begins), self.rows):
            windows = [self.ids[begin : begin + self.length + 1] for begin in begins[row : row + self.rows].tolist()]
            yield Batch(torch.stack(windows), pad_id=self.pad_id)
