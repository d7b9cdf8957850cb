"""Packed rows: nothing lost, little padding, and each example's logits as if it were alone."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softlookup.model import Config, DecoderLM
from softlookup.post_training import IGNORED, answer_labels, pack, packed_logits, sft_loss

PAD = 9


def drawn(*lengths, seed=0):
    """Examples of so many ids, of which the second half is an answer."""
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randint(PAD, (n,), generator=generator).tolist(), [t >= n // 2 for t in range(n)]) for n in lengths]


def test_first_fit_decreasing_puts_each_example_into_the_first_row_with_room():
    rows = pack(drawn(4, 8, 3, 6, 3), 10, pad_id=PAD)  # they take 3, 7, 2, 5 and 2 tokens
    assert [row.unique_consecutive().tolist() for row in rows.examples] == [[1, 0], [3, 2, 4, -1]]
    assert rows.positions.tolist() == [[*range(7), *range(3)], [*range(5), 0, 1, 0, 1, 0]]
    assert rows.padding_share == pytest.approx(1 / 20) and rows.cut == ()


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


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "rotary_halves", "alibi", "t5", "none"])
@pytest.mark.parametrize("window", [None, 3])
def test_packed_logits_are_those_of_each_example_alone(positions, window):
    torch.manual_seed(0)
    config = Config(
        12,
        d_model=16,
        n_heads=4,
        n_layers=2,
        d_hidden=24,
        max_length=16,
        positions=positions,
        window=window,
        dropout=0.0,
    )
    model = DecoderLM(config).double().eval()
    examples = drawn(9, 4, 6, 2, 5)
    rows = pack(examples, 13, pad_id=PAD)
    logits = packed_logits(model, rows)
    for number, (ids, _) in enumerate(examples):
        alone = model(torch.tensor([ids[:-1]]))[0]
        torch.testing.assert_close(logits[rows.examples == number], alone, rtol=1e-10, atol=1e-10)


def test_without_positions_and_mask_the_logits_are_others():
    """What packing would be without its mask: the test above sees the difference."""
    torch.manual_seed(0)
    model = DecoderLM(Config(12, d_model=16, n_heads=4, n_layers=2, d_hidden=24, max_length=16)).eval()
    rows = pack(drawn(9, 4), 13, pad_id=PAD)
    is_second = rows.examples == 1
    assert (model(rows.ids)[is_second] - packed_logits(model, rows)[is_second]).abs().max() > 0.1


def test_the_gradient_of_packed_rows_is_that_of_padded_ones():
    torch.manual_seed(0)
    config = Config(12, d_model=16, n_heads=4, n_layers=1, d_hidden=24, max_length=16, positions="rotary", dropout=0.0)
    model = DecoderLM(config).double()
    examples = drawn(9, 4, 6)
    packed, padded = pack(examples, 13, pad_id=PAD), [pack([example], 8, pad_id=PAD) for example in examples]
    gradients = []
    for logits, labels in (
        (packed_logits(model, packed), packed.labels),
        (torch.cat([model(row.ids) for row in padded]), torch.cat([row.labels for row in padded])),
    ):
        model.zero_grad()
        sft_loss(logits, labels).backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-12)


def test_an_example_that_is_too_long_is_refused_or_cut_and_listed():
    examples = drawn(4, 8, 5)
    with pytest.raises(ValueError, match="example 1 takes 7 tokens, a row has 5: cut it"):
        pack(examples, 5, pad_id=PAD)
    rows = pack(examples, 5, pad_id=PAD, too_long="cut")
    assert rows.cut == (1,) and rows.ids[rows.examples == 1].tolist() == examples[1][0][:5]
    inputs, labels = answer_labels(*examples[1])
    assert torch.equal(rows.labels[rows.examples == 1], labels[:5])


@pytest.mark.parametrize(
    ("examples", "size", "facts", "sentence"),
    [
        ([], 4, {}, "there are no examples"),
        (drawn(3), 0, {}, "size is 0; wanted at least 1"),
        ([([1], [True])], 4, {}, "example 0: the example has 1 tokens"),
        ([*drawn(3), ([1, 2], [True])], 4, {}, "example 1: ids has 2 tokens and is_answer 1"),
    ],
)
def test_what_cannot_be_packed_is_refused(examples, size, facts, sentence):
    with pytest.raises(ValueError, match=sentence):
        pack(examples, size, pad_id=PAD, **facts)


def test_an_unknown_way_with_long_examples_is_refused(unchecked):
    with pytest.raises(ValueError, match='too_long is \'drop\'; wanted "refuse" or "cut"'):
        pack(drawn(3), 4, pad_id=PAD, too_long="drop")
