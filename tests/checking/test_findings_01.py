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


def one_token_back(x, w_x, w_h, b):
    alone = torch.tanh(x @ w_x + b)
    before = torch.cat([torch.zeros_like(alone[:1]), alone[:-1]])
    return torch.tanh(x @ w_x + before @ w_h + b)


def sweeps(times):
    def finish_times(needs):
        done = np.zeros(len(needs), dtype=int)
        for _ in range(times):
            done = np.array([max((1 + done[j] for j in np.flatnonzero(row)), default=0) for row in needs])
        return done

    return finish_times


def heights(needs):
    done = [0] * len(needs)
    for i in reversed(range(len(needs))):
        for j in range(i):
            if needs[i, j]:
                done[j] = max(done[j], done[i] + 1)
    return done


def added_in_the_loop(needs):
    done = [0] * len(needs)
    for i in range(len(needs)):
        for j in range(i):
            if needs[i, j]:
                done[i] += done[j] + 1
    return done


def first_need(needs):
    done = [0] * len(needs)
    for i in range(len(needs)):
        for j in range(i):
            if needs[i, j]:
                done[i] = done[j] + 1
                break
    return done


def rows(ids):
    return ids[:-1].expand(len(ids) - 1, -1)


def last_row_blank(ids):
    features = rows(ids).tril()
    features[-1] = 0
    return features, ids[1:]


def pushed(p, logits, labels, share=None):
    return logits - 0.5 / (share or len(labels)) * (p - one_hot(labels, logits.shape[1]))


def exp_after_the_mean(logits, labels):
    e = (logits - logits.mean(1, keepdim=True)).exp()
    return pushed(e / e.sum(1, keepdim=True), logits, labels)


def all_columns(logits, labels):
    p = logits.softmax(1)
    p[:, labels] -= 1
    return logits - 0.5 / len(labels) * p


def exp_alone(logits, labels):
    return pushed(logits.exp() / logits.exp().sum(1, keepdim=True), logits, labels)


def exp_after_one_maximum(logits, labels):
    e = (logits - logits.max()).exp()
    return pushed(e / e.sum(1, keepdim=True), logits, labels)


def good(t, d):
    return 16 * t * d * d, 8 * t * d * d + 4 * t * t * d, 2 * d


NAMED = {
    "one token back": ("01.recurrent", one_token_back, "one-token-back"),
    "sigmoid": ("01.recurrent", lambda *args: recurrent(*args, squash=torch.sigmoid), "sigmoid"),
    "two biases": ("01.recurrent", lambda x, w_x, w_h, b: recurrent(x, w_x, w_h, 2 * b), "bias-twice"),
    "the first state too": (
        "01.recurrent",
        lambda x, *w: torch.cat([x.new_zeros(1, len(w[2])), recurrent(x, *w)]),
        "start-returned",
    ),
    "from the end": ("01.depth", heights, "heights"),
    "added in the loop": ("01.depth", added_in_the_loop, "steps-added-up"),
    "first need": ("01.depth", first_need, "first-need"),
    "number of the last need": (
        "01.depth",
        lambda needs: [max(np.flatnonzero(row), default=-1) + 1 for row in needs],
        "number-for-time",
    ),
    "no projections": ("01.operations", lambda t, d: (good(t, d)[0], 4 * t * t * d, 4 * d), "no-projections-solved"),
    "scores alone": (
        "01.operations",
        lambda t, d: (good(t, d)[0], 8 * t * d * d + 2 * t * t * d, 4 * d),
        "scores-alone-solved",
    ),
    "three projections": (
        "01.operations",
        lambda t, d: (good(t, d)[0], 6 * t * d * d + 4 * t * t * d, 5 * d / 2),
        "three-projections-solved",
    ),
    "half of the layer": ("01.operations", lambda t, d: (8 * t * d * d, good(t, d)[1], 0), "state-alone-solved"),
    "half, third number right": ("01.operations", lambda t, d: (8 * t * d * d, *good(t, d)[1:]), "state-alone"),
    "sought up to n_tokens": (
        "01.operations",
        lambda t, d: (*good(t, d)[:2], 2 * d if 2 * d <= t else t),
        "sought-up-to-n-tokens",
    ),
    "one gate": ("01.operations", lambda t, d: (4 * t * d * d, good(t, d)[1], -d), "gates-forgotten-solved"),
    "one token too few": ("01.pairs", lambda ids: (rows(ids).tril(-1), ids[1:]), "one-too-few"),
    "no last row": ("01.pairs", last_row_blank, "last-row-blank"),
    "labels that are not whole": ("01.pairs", lambda ids: (rows(ids).tril(), ids[1:].float()), "dtype-lost"),
    "int32 features": ("01.pairs", lambda ids: (rows(ids).tril().int(), ids[1:]), "dtype-lost"),
    "int64 features": ("01.pairs", lambda ids: (rows(ids).tril().long(), ids[1:]), "dtype-lost"),
    "upper half": ("01.pairs", lambda ids: (rows(ids).triu(), ids[1:]), "upper-half"),
    "a column of pads": (
        "01.pairs",
        lambda ids: (torch.nn.functional.pad(rows(ids).tril(), (0, 1)), ids[1:]),
        "one-column-more",
    ),
    "features that are not whole": ("01.pairs", lambda ids: (rows(ids).tril().float(), ids[1:]), "dtype-lost"),
    "exp alone": ("01.push-up", exp_alone, "no-max"),
    "one maximum": ("01.push-up", exp_after_one_maximum, "one-max-for-all"),
    "over words": ("01.push-up", lambda x, y: pushed(x.softmax(1), x, y, x.shape[1]), "over-words"),
    "all columns": ("01.push-up", all_columns, "labels-of-all"),
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
    "exp alone, float64": (
        "01.push-up",
        lambda x, y: pushed((x.double().exp() / x.double().exp().sum(1, keepdim=True)).to(x.dtype), x, y),
    ),
    "the mean subtracted": ("01.push-up", exp_after_the_mean),
    "float32 whatever comes in": ("01.recurrent", lambda *args: recurrent(*(a.float() for a in args))),
    "clamped": ("01.push-up", lambda x, y: pushed(x.clamp(-80, 80).softmax(1), x, y)),
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
