"""Packed rows: nothing lost, little padding, and a mask that keeps examples apart."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softlookup.post_training import IGNORED, answer_labels, pack

PAD = 9


def drawn(*lengths, seed=0):
    """Examples of so many ids, of which the second half is an answer."""
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randint(PAD, (n,), generator=generator).tolist(), [t >= n // 2 for t in range(n)]) for n in lengths]


def test_first_fit_decreasing_puts_each_example_into_the_first_row_with_room():
    rows = pack(drawn(4, 8, 3, 6, 3), 10, pad_id=PAD)  # they take 3, 7, 2, 5 and 2 tokens
    assert [row.unique_consecutive().tolist() for row in rows.examples] == [[1, 0], [3, 2, 4, -1]]
    assert rows.positions.tolist() == [[*range(7), *range(3)], [*range(5), 0, 1, 0, 1, 0]]


@given(st.lists(st.integers(2, 12), min_size=1, max_size=20))
def test_every_example_stands_once_in_the_rows_with_its_labels(lengths):
    examples = drawn(*lengths)
    rows = pack(examples, 11, pad_id=PAD)
    for number, (ids, is_answer) in enumerate(examples):
        is_example = rows.examples == number
        inputs, labels = answer_labels(ids, is_answer)
        assert is_example.any(dim=1).sum() == 1
        assert torch.equal(rows.ids[is_example], inputs) and torch.equal(rows.labels[is_example], labels)
        assert rows.positions[is_example].tolist() == list(range(len(inputs)))
    is_padding = rows.examples < 0
    assert (rows.ids[is_padding] == PAD).all() and (rows.labels[is_padding] == IGNORED).all()
    assert int((~is_padding).sum()) == sum(lengths) - len(lengths)
    assert not is_padding.all(dim=1).any() and not is_padding[:, 0].any()


def test_the_mask_has_a_triangle_for_each_example_and_no_empty_row():
    rows = pack(drawn(4, 3), 7, pad_id=PAD)
    expected = torch.zeros(7, 7, dtype=torch.bool)
    for begin, end in ((0, 3), (3, 5), (5, 7)):
        expected[begin:end, begin:end] = torch.ones(end - begin, end - begin).tril().bool()
    assert torch.equal(rows.may_attend(), expected[None, None])


def test_an_example_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="example 1 takes 7 tokens, a row has 5: shorten or"):
        pack(drawn(4, 8, 5), 5, pad_id=PAD)


@pytest.mark.parametrize(
    ("examples", "size", "sentence"),
    [
        ([], 4, "there are no examples"),
        (drawn(3), 0, "size is 0; wanted at least 1"),
        ([([1], [True])], 4, "example 0: the example has 1 tokens"),
        ([*drawn(3), ([1, 2], [True])], 4, "example 1: ids has 2 tokens and is_answer 1"),
    ],
)
def test_what_cannot_be_packed_is_refused(examples, size, sentence):
    with pytest.raises(ValueError, match=sentence):
        pack(examples, size, pad_id=PAD)
