"""A probe finds what is there, and its control task tells learning by heart from finding."""

import pytest
import torch

from softlookup.looking_inside import Probe, Selectivity, control_labels, selectivity


def test_probe_finds_a_linear_code_and_nothing_in_noise():
    states = torch.randn(600, 8)
    labels = (states @ torch.randn(8, 3)).argmax(dim=1)
    coded = states + 4 * torch.eye(8)[labels]
    assert Probe(coded[:400], labels[:400]).accuracy(coded[400:], labels[400:]) > 0.95
    random = torch.randint(3, (600,))
    assert Probe(states[:400], random[:400]).accuracy(states[400:], random[400:]) < 0.45


def test_probe_is_ridge_regression_on_one_column_for_each_class():
    states, labels = torch.randn(50, 4).double(), torch.randint(2, (50,))
    with_ones = torch.cat((states - states.mean(0), torch.ones(50, 1)), dim=1)
    fitted = torch.linalg.lstsq(with_ones, torch.nn.functional.one_hot(labels).double()).solution
    assert torch.equal(Probe(states, labels, ridge=1e-12).predict(states), (with_ones @ fitted).argmax(dim=1))
    strong = Probe(states, labels, ridge=1e9)  # nothing but the class frequencies is left
    assert strong.predict(states).unique().tolist() == [int(labels.bincount().argmax())]


def test_control_labels_are_one_for_each_type_and_as_frequent_as_the_real_ones():
    types = torch.arange(4000).repeat(2)
    labels = (torch.arange(8000) % 10 == 0).long()
    control = control_labels(types, labels)
    assert torch.equal(control[:4000], control[4000:])
    assert control.double().mean().item() == pytest.approx(0.1, abs=0.02)
    assert not torch.equal(control, control_labels(types, labels, seed=1))


def test_selectivity_is_low_where_states_are_the_words_and_high_where_they_are_the_task():
    types = torch.randint(20, (2000,))
    by_type = (types % 2).long()
    words = torch.nn.functional.one_hot(types).float()
    heart = selectivity(words, by_type, types)  # 20 dimensions for 20 words: any labelling of words can be learned
    assert heart.accuracy == heart.control == 1.0 and heart.selectivity == 0.0
    by_place = torch.randint(2, (2000,))
    got = selectivity(torch.stack((by_place, 1 - by_place), dim=1).float(), by_place, types)
    assert got.accuracy == 1.0 and got.control < 0.75 and got.selectivity > 0.25
    assert got.majority == pytest.approx(0.5, abs=0.06)


def test_selectivity_is_the_difference():
    assert Selectivity(0.9, 0.7, 0.5).selectivity == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("states", "labels", "options", "message"),
    [
        (torch.zeros(4, 2), torch.zeros(3).long(), {}, r"shape \(4, 2\), labels \(3,\); wanted \(M, D\) and \(M,\)"),
        (torch.zeros(4, 2), torch.zeros(4).long(), {}, "all labels are the same"),
        (torch.zeros(4, 2), torch.tensor([0, 1, -1, 0]), {}, "a label is -1; wanted whole numbers from 0 on"),
        (torch.zeros(4, 2), torch.tensor([0, 1, 1, 0]), {"ridge": 0.0}, "ridge is 0.0; wanted a number above 0"),
    ],
)
def test_probe_refuses_what_it_cannot_learn(unchecked, states, labels, options, message):
    with pytest.raises(ValueError, match=message):
        Probe(states, labels, **options)


def test_selectivity_refuses_too_little_to_try(unchecked):
    with pytest.raises(ValueError, match="of 4 places, a held_out of 0.1 leaves 4 to fit and 0 to try; wanted"):
        selectivity(torch.zeros(4, 2), torch.tensor([0, 1, 1, 0]), torch.arange(4), held_out=0.1)
    for share in (0.0, 1.0, 1.5, -0.5, float("nan")):
        with pytest.raises(ValueError, match=f"held_out is {share}; wanted a share"):
            selectivity(torch.zeros(4, 2), torch.tensor([0, 1, 1, 0]), torch.arange(4), held_out=share)
    with pytest.raises(ValueError, match=r"types have shape \(3,\), labels \(4,\): give one type for each label"):
        control_labels(torch.arange(3), torch.arange(4))
