"""Packing: several examples in one row, with positions and a mask that keep them apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from softlookup.post_training.messages import IGNORED, answer_labels


@dataclass(frozen=True)
class PackedRows:
    """Examples packed into B rows of T tokens.

    Attributes:
        ids: The inputs; padding at the end of a row.
        labels: The token that follows each input in its example, IGNORED where the assistant did not write it.
        positions: The position of each token in its example; 0 in padding.
        examples: The number of the example that each token belongs to; -1 in padding.

    """

    ids: Int[Tensor, "B T"]
    labels: Int[Tensor, "B T"]
    positions: Int[Tensor, "B T"]
    examples: Int[Tensor, "B T"]

    def may_attend(self) -> Bool[Tensor, "B 1 T T"]:
        """Make the mask: a token attends to itself and to earlier tokens of its example.

        Padding attends to padding, so that no row of the mask is empty; no token of an example attends to it.

        Returns:
            True in row t and column s where token t may attend to token s, with an axis for the heads.

        Cost: B*T*T booleans in memory.
        """
        is_same_BTT = self.examples[:, :, None] == self.examples[:, None, :]
        return is_same_BTT.tril()[:, None]


def pack(
    examples: Sequence[tuple[Sequence[int], Sequence[bool]]],
    size: int,
    *,
    pad_id: int,
) -> PackedRows:
    """Pack examples into as few rows as first-fit decreasing finds.

    The longest example comes first, and each goes into the first row that has room for it. An example of n ids takes
    n - 1 tokens of a row, since its last id is a label alone.

    Args:
        examples: The ids of each, at least two, and for each id whether the assistant wrote it.
        size: T, the tokens of a row.
        pad_id: The id that fills up the rows.

    Returns:
        The rows, in the order in which they were begun.

    Raises:
        ValueError: If there is no example, size is below 1, an example has fewer than two ids or not as many answers
            as ids, or takes more than T tokens; the message gives its number.

    Cost: for n examples and B rows, n*B comparisons; at most 11/9 of the fewest rows possible, and one row more.

    Source: Johnson 1973 (first-fit decreasing); Krell et al. 2021 (packing with a mask for each example).
    """
    if not examples:
        raise ValueError("there are no examples to pack")
    if size < 1:
        raise ValueError(f"size is {size}; wanted at least 1 token in a row")
    pairs = []
    for index, (ids, is_answer) in enumerate(examples):
        try:
            inputs, labels = answer_labels(ids, is_answer)
        except ValueError as error:
            raise ValueError(f"example {index}: {error}") from None
        if len(inputs) > size:
            raise ValueError(f"example {index} takes {len(inputs)} tokens, a row has {size}: shorten or leave it out")
        pairs.append((inputs, labels))

    rows = _first_fit_decreasing([len(inputs) for inputs, _ in pairs], size)
    shape = (len(rows), size)
    ids_BT, labels_BT = torch.full(shape, pad_id), torch.full(shape, IGNORED)
    positions_BT, examples_BT = torch.zeros(shape, dtype=torch.long), torch.full(shape, -1)
    for row, numbers in enumerate(rows):
        begin = 0
        for index in numbers:
            inputs, labels = pairs[index]
            span = row, slice(begin, begin + len(inputs))
            ids_BT[span], labels_BT[span] = inputs, labels
            positions_BT[span], examples_BT[span] = torch.arange(len(inputs)), index
            begin += len(inputs)
    return PackedRows(ids_BT, labels_BT, positions_BT, examples_BT)


def _first_fit_decreasing(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Share items out to bins: the numbers of the items in each."""
    rows: list[list[int]] = []
    free: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        row = next((row for row, room in enumerate(free) if room >= lengths[index]), len(rows))
        if row == len(rows):
            rows.append([])
            free.append(size)
        rows[row].append(index)
        free[row] -= lengths[index]
    return rows
