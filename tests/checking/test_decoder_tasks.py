"""What chapter 8 promises of its tasks as a whole, and answers as students write them."""

import numpy as np
import pytest
import torch

from published import constants_of, solutions, world
from softlookup_inside.asking.case import Case
from softlookup_judge import check, tasks
from softlookup_judge.data.compare import close


def test_every_listed_mistake_of_masks_and_decoder_is_known_to_some_task():
    known = {mistake.number for task in tasks(8) for mistake in task.mistakes}
    assert set(range(48, 61)) <= known


def test_at_least_two_decoder_tasks_have_variants_and_say_what_they_ask():
    varied = [task for task in tasks(8) if len(constants_of(task)) > 1]
    assert len(varied) >= 2
    for task in varied:
        texts = [str(constants.get("named", constants.get("ignore"))) for constants in constants_of(task)]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("slug", "source", "diagnosis"),
    [
        ("08-causal", "def causal_mask(t, s):\n    return torch.ones(t, s).tril().bool()", ("top-left",)),
        ("08-causal", "def causal_mask(t, s):\n    return torch.ones(t, s).triu(s - t + 1).bool()", ("mask-inverted",)),
        ("08-causal", "def causal_mask(t, s):\n    return torch.ones(t, s).triu(s - t + 2) == 0", ("one-ahead",)),
        (
            "08-combine",
            "def decoder_mask(ids, pad):\n    n = len(ids[0])\n    return causal_mask(n, n) | padding_mask(ids, pad)",
            ("or-of-keeps",),
        ),
        (
            "08-convert",
            "def to_additive(s, m):\n    return torch.full_like(s, 0).masked_fill(m, -1e9)",
            ("minus-billion",),
        ),
        (
            "08-masked-softmax",
            "def masked_softmax(s, mask):\n    return torch.softmax(s, -1) * mask",
            ("mask-after-softmax",),
        ),
        (
            "08-masked-softmax",
            "def masked_softmax(s, mask):\n    return torch.softmax(torch.where(mask, s, -torch.inf), -1)",
            ("nan-rows",),
        ),
    ],
)
def test_decoder_answers_as_students_write_them_wrongly_are_named(slug, source, diagnosis):
    task = next(task for task in tasks(8) if task.slug == slug)
    result = check(task.id, world(8, {slug: source})[task.name])
    assert result.verdict != "pass" and result.diagnosis == diagnosis, result.text()


def test_a_wrong_softmax_does_not_sink_the_transformer():
    wrong = "def masked_softmax(s, mask):\n    return torch.softmax(s, -1) * mask"
    result = check("08.transformer", world(8, {"08-masked-softmax": wrong})["Transformer"])
    assert result.verdict == "pass", result.text()


def test_a_decoder_that_reads_its_prefix_both_ways_is_refused():
    """With one layer nothing tells it from the right one; with two, earlier tokens have seen later ones."""
    source = solutions(8)["08-transformer"].replace("past = causal_mask(length, length)", "past = None")
    result = check("08.transformer", world(8, {"08-transformer": source})["Transformer"])
    assert result.diagnosis == ("future-seen",), result.text()


def test_a_finite_number_is_never_near_to_infinity():
    got, expected = np.array([-1e9, -np.inf, np.inf]), np.array([-np.inf, -np.inf, -np.inf])
    case = Case("infinite", (np.zeros(1),))
    assert close(got, expected, 1e-5, case).tolist() == [False, True, False]


def test_gradients_of_a_layers_weights_are_called_by_their_names():
    source = solutions(8)["08-decoder-layer"].replace(
        "x = x + self.cross(self.norm_2(x), memory", "x = x + self.cross(self.norm_2(x), memory.detach()"
    )
    result = check("08.decoder-layer", world(8, {"08-decoder-layer": source})["DecoderLayer"])
    assert "gradient of" in result.text() and result.verdict == "partial", result.text()
    assert torch.is_grad_enabled()
