"""Tasks of chapter 8: what earlier mistakes cost, and what is said of gradients."""

import numpy as np
import torch

from published import solutions, world
from softlookup_inside.asking.case import Case
from softlookup_judge import check
from softlookup_judge.data.compare import close


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
