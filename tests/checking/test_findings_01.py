"""Chapter 1: answers that a reader found passing, unnamed or misnamed, and shortcuts under other names."""

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from published import everywhere
from softlookup_judge import check, get_task


def recurrent(x, w_x, w_h, b, carry=lambda state: state, squash=torch.tanh):
    state, states = x.new_zeros(len(b)), []
    for x_t in x:
        state = squash(x_t @ w_x + carry(state) @ w_h + b)
        states.append(state)
    return torch.stack(states)


def sweeps(times):
    def finish_times(needs):
        done = np.zeros(len(needs), dtype=int)
        for _ in range(times):
            done = np.array([max((1 + done[j] for j in np.flatnonzero(row)), default=0) for row in needs])
        return done

    return finish_times


def rows(ids):
    return ids[:-1].expand(len(ids) - 1, -1)


def pushed(p, logits, labels, share=None):
    return logits - 0.5 / (share or len(labels)) * (p - one_hot(labels, logits.shape[1]))


def exp_after_the_mean(logits, labels):
    e = (logits - logits.mean(1, keepdim=True)).exp()
    return pushed(e / e.sum(1, keepdim=True), logits, labels)


def good(t, d):
    return 16 * t * d * d, 8 * t * d * d + 4 * t * t * d, 2 * d


NAMED = {
    "labels that are not whole": ("01.pairs", lambda ids: (rows(ids).tril(), ids[1:].float()), "dtype-lost"),
    "int32 features": ("01.pairs", lambda ids: (rows(ids).tril().int(), ids[1:]), "dtype-lost"),
    "int64 features": ("01.pairs", lambda ids: (rows(ids).tril().long(), ids[1:]), "dtype-lost"),
    "features that are not whole": ("01.pairs", lambda ids: (rows(ids).tril().float(), ids[1:]), "dtype-lost"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_readers_wrong_answer_of_chapter_1_is_named(name):
    task_id, obj, slug = NAMED[name]
    for result in everywhere(task_id, obj):
        assert result.points < result.max_points
        assert result.diagnosis == (slug,), result.text()


WRONG = {
    "six tokens": ("01.recurrent", lambda x, *weights: recurrent(x[:6], *weights)),
    "five sweeps": ("01.depth", sweeps(5)),
    "twenty sweeps": ("01.depth", sweeps(20)),
    "the mean subtracted": ("01.push-up", exp_after_the_mean),
    "float32 whatever comes in": ("01.recurrent", lambda *args: recurrent(*(a.float() for a in args))),
}


def test_a_lost_dtype_is_not_said_of_features_alone():
    result = check("01.pairs", lambda ids: (rows(ids).tril(), ids[1:].float()))
    assert "dtype of the features or labels differs" in result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("name", WRONG)
def test_answers_of_chapter_1_that_are_wrong_somewhere_do_not_pass(name):
    for result in everywhere(*WRONG[name]):
        assert result.verdict != "pass", result.text()


def test_a_state_cut_from_the_graph_at_every_step_is_told():
    for result in everywhere("01.recurrent", lambda *args: recurrent(*args, carry=torch.Tensor.detach)):
        assert result.verdict == "partial"
        assert "cut from the graph between two steps" in result.text()


def test_a_scaled_answer_is_not_told_that_its_state_is_cut():
    result = check("01.recurrent", lambda *args: 2 * recurrent(*args))
    assert "cut from the graph" not in result.text()


def test_counts_of_operations_are_exact_as_floating_point_numbers_wherever_they_may_be_asked():
    most_tokens, widest = (int(get_task("01.operations").ranges[name][1]) for name in ("n_tokens", "width"))
    for t in range(most_tokens - 9, most_tokens + 1):
        for d in range(widest - 9, widest + 1):
            assert good(float(t), float(d)) == good(t, d)


HEAD = "def recurrent(x, w_x, w_h, b):\n    weights = (w_x.mT, w_h.mT, b, torch.zeros_like(b))\n"
TAIL = "(x[:, None], x.new_zeros(1, 1, len(b)), weights, True, 1, 0.0, False, False, False)[0][:, 0]\n"


@pytest.mark.parametrize(
    ("first", "call"),
    [
        ("", "torch.rnn_tanh"),
        ("from torch import rnn_tanh\n", "rnn_tanh"),
        ("from torch import rnn_tanh as read\n", "read"),
        ("rnn_tanh = torch.rnn_tanh\n", "rnn_tanh"),
        ("rnn_tanh = 3\n", "torch.rnn_tanh"),
        ("", "torch._VF.rnn_tanh"),
        ("", "torch.ops.aten.rnn_tanh.input"),
    ],
)
def test_torchs_recurrent_kernel_is_a_shortcut_under_any_name(first, call):
    world = {"__name__": "__main__", "torch": torch}
    exec(f"{first}{HEAD}    return {call}{TAIL}", world)
    assert check("01.recurrent", world["recurrent"]).diagnosis == ("forbidden-shortcut",)
