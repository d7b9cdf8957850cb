"""Chapter 8: answers that passed and were wrong, mistakes that had no name, and what earlier mistakes cost."""

import numpy as np
import pytest
import torch

from published import edited, everywhere, results, solutions, world
from softlookup_inside.asking.case import Case
from softlookup_judge import check, get_task
from softlookup_judge.data.compare import close

CROSS = """def cross_attention(x, memory, w_q, w_k, w_v, w_o, n, mask=None):
    q, k, v = split_heads(x @ w_q, n), split_heads(memory @ w_k, n), split_heads(memory @ w_v, n)
    s = q @ k.mT / q.shape[-1] ** 0.5
    a = s.softmax(-1) if mask is None else {}
    return merge_heads(a @ v) @ w_o
"""
ROWS = (
    "def inputs_and_labels(sentences, start, end, pad):\n    longest = max(map(len, sentences)) + 1\n"
    "    def filled(rows, n, fill=pad):\n        return torch.tensor([row + [fill] * (n - len(row)) for row in rows])\n"
    "    given = filled([[start] + one for one in sentences], longest)\n"
    "    told = filled([one + [end] for one in sentences], longest)\n    "
)


@pytest.mark.parametrize(
    ("task_id", "source"),
    [
        (
            "08.cross-attention",
            CROSS.format("(s.softmax(-1) * mask) / (s.softmax(-1) * mask).sum(-1, keepdim=True).clamp(min=1e-9)"),
        ),
        ("08.labels", solutions(8)["08-labels"].replace("return", "inputs = inputs.short().long()\n    return")),
        ("08.convert", "def to_additive(s, mask):\n    return s * 0 + torch.where(mask, -torch.inf, 0.0)"),
        ("08.leak", solutions(8)["08-leak"].replace("seen.triu(1).any()", "seen.diagonal(1).any() | seen[0, -1]")),
        ("08.labels", solutions(8)["08-labels"].replace("[[start_id", "[[end_id - 1")),
        ("08.labels", ROWS + "return given.squeeze(1), told.squeeze(1)"),
        ("08.labels", ROWS + "return given.float(), told"),
        *(
            ("08.cross-attention", CROSS.format(f"masked_softmax(s, {mask})"))
            for mask in (
                "mask.expand(len(x), 1, *s.shape[2:])",
                "mask[:, :1] if mask.ndim == 4 else mask",
                "mask[:, None] if mask.ndim == 3 else mask",
                "mask.reshape(-1, 1, mask.shape[-2], s.shape[-1]) if mask.ndim > 1 else mask",
                "mask if mask.ndim > 1 else mask[:, None]",
            )
        ),
    ],
)
@pytest.mark.usefixtures("verdicts_alone")
def test_answers_that_once_passed_do_not(task_id, source):
    for result in results(task_id, source, range(2)):
        assert result.verdict in ("partial", "wrong"), result.text()


@pytest.mark.one_in(8)
@pytest.mark.parametrize("mistake", get_task("08.cross-attention").mistakes, ids=lambda mistake: mistake.slug)
def test_wrong_cross_attention_does_not_sink_the_layer(mistake):
    wrong = mistake.applied_to(solutions(8)["08-cross-attention"])
    assert check("08.decoder-layer", world(8, {"08-cross-attention": wrong})["DecoderLayer"]).verdict == "pass"


def test_one_layer_repeated_is_told_from_layers_of_their_own():
    repeated = [("[DecoderLayer(*sizes) for _ in range(n_layers)]", "[DecoderLayer(*sizes)] * n_layers")]
    result = check("08.transformer", edited("08.transformer", repeated))
    assert result.verdict == "wrong" and "stands there twice" in result.text(), result.text()
    shared = [("self.cross = MultiHeadAttention(d_model, n_heads)", "self.cross = self.attention")]
    result = check("08.decoder-layer", edited("08.decoder-layer", shared))
    assert "`cross` has no weights of its own" in result.text()


def test_verdict_of_the_leak_is_not_called_a_number_of_leaks():
    counted = edited("08.leak", [("seen.triu(1).any()", "seen.triu(1).sum()")])
    assert "number of leaks" not in check("08.leak", counted).text()


@pytest.mark.usefixtures("verdicts_alone")
def test_a_table_of_positions_that_ends_is_not_enough():
    whole = "sinusoidal(ids.shape[1], self.embedding.shape[1])"
    ends = edited("08.transformer", [(whole, "sinusoidal(64, self.embedding.shape[1])[: ids.shape[1]]")])
    for result in everywhere("08.transformer", ends, range(2)):
        assert result.points == 0, result.text()


def test_a_wrong_softmax_does_not_sink_the_transformer():
    wrong = "def masked_softmax(s, mask):\n    return torch.softmax(s, -1) * mask"
    result = check("08.transformer", world(8, {"08-masked-softmax": wrong})["Transformer"])
    assert result.verdict == "pass", result.text()


def test_a_decoder_that_reads_its_prefix_both_ways_is_refused():
    """With one layer nothing tells it from the right one; with two, earlier tokens have seen later ones."""
    both_ways = edited("08.transformer", [("past = causal_mask(length, length)", "past = None")])
    result = check("08.transformer", both_ways)
    assert result.diagnosis == ("future-seen",), result.text()


def test_a_finite_number_is_never_near_to_infinity():
    got, expected = np.array([-1e9, -np.inf, np.inf]), np.array([-np.inf, -np.inf, -np.inf])
    case = Case("infinite", (np.zeros(1),))
    assert close(got, expected, 1e-5, case).tolist() == [False, True, False]


def test_gradients_of_a_layers_weights_are_called_by_their_names():
    cut = edited("08.decoder-layer", [("self.norm_2(x), memory", "self.norm_2(x), memory.detach()")])
    result = check("08.decoder-layer", cut)
    assert "gradient of" in result.text() and result.verdict == "partial", result.text()
    assert torch.is_grad_enabled()
