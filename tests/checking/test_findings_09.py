"""Chapter 9: answers that passed and are wrong, right ones that lost points, and mistakes that had no name."""

import pytest

from published import edited, everywhere, world, written
from softlookup_judge import check, get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

DEF = {
    "09.shift": "inputs_and_labels(ids, pad_id)",
    "09.cross-entropy": "cross_entropy(logits, labels, pad_id)",
    "09.perplexity": "perplexity(losses, tokens)",
    "09.smoothed-loss": "smoothed_loss(logits, labels, pad_id)",
    "09.warmup": "learning_rate(done, d_model, warmup)",
    "09.adam": "adam_step(w, g, m, v, step, rate, beta_1, beta_2, eps)",
    "09.clip": "clip(g_1, g_2, g_3, max_norm)",
    "09.accumulate": "accumulate(w, gradients, tokens, every, rate)",
    "09.dropout": "dropout(x, u, p, training)",
    "09.initialise": "first_weights(z, after_relu)",
    "09.bytes": "training_bytes(parameters, activations, recipe)",
    "09.count": "transformer_parameters(vocab_size, d_model, d_hidden, n_layers)",
    "09.train": "train(w, ids, pad_id, rate, steps)",
    "09.find-leak": "leaks(model, ids, n_words)",
    "09.find-shift": "labels_are_wrong(loss_of, n_words)",
    "09.find-padding": "counts_padding(loss_of, n_words)",
    "09.find-dropout": "drops_in_use(model, x)",
}
EACH = (
    "for t in range(1, ids.shape[1]):\n    o = ids.clone()\n    o[:, t] = (o[:, t] + 1) % n_words\n"
    "    if {}:\n        return True\nreturn False"
)
PREFIX = "whole = model(ids)\nreturn any({} for t in range(1, ids.shape[1]))"
ROWS = "ids = torch.arange(n_words - 2) + torch.tensor([[0], [1]])\n"
SAYS = "F = torch.nn.functional\nreturn bool(loss_of(lambda x: {} * F.one_hot((x + {}) % n_words, n_words), ids) {})"
PADS = (
    "for pad in {}:\n    labels = torch.randint(1, n_words - 1, (2, 7))\n    labels[:, 4:] = pad\n"
    "    logits = torch.randn(2, 7, n_words)\n    if {}:\n        return True\nreturn False"
)
BOTH, CUT = "(0, n_words - 1)", "loss_of(logits[:, :4], labels[:, :4], pad)"
GROUPS = (
    "w, t, c, out = w.clone(), 0, 0, []\nfor i in range(len(gradients)):\n    t, c = t + gradients[i], c + tokens[i]\n"
    "    if {} or i + 1 == len(gradients):\n        {}\n        {}\n    out.append(w)\nreturn torch.stack(out)"
)
DUE, STEP, CLEAR = "(i + 1) % every == 0", "w = w - rate * t / c", "t, c = 0, 0"

ONE_MAX = (
    "z = logits - {}\nlp = z - z.exp().sum(-1, keepdim=True).log()\nr = lp.gather(-1, labels[..., None])[..., 0]\n"
)
RIGHT = [
    ("09.find-leak", PREFIX.format("(model(ids[:, :t]) - whole[:, :t]).abs().max() > 1e-6")),
    ("09.find-leak", PREFIX.format("not torch.allclose(model(ids[:, :t]), whole[:, :t])")),
    ("09.find-leak", EACH.format("(model(o) - model(ids))[:, :t].abs().max() > 1e-4")),
    ("09.find-shift", ROWS + SAYS.format(1e4, 1, "!= 0")),
    (
        "09.find-shift",
        "ids = torch.tensor([[0, 5, 2, 7, 3], [2, 7, 3, 1, 4]])\nt = torch.full((n_words, n_words), -200.0)\n"
        "t[ids[:, :-1], ids[:, 1:]] = 200.0\nreturn bool(loss_of(lambda x: t[x], ids) > 1e-3)",
    ),
    ("09.find-padding", PADS.format(BOTH, f"loss_of(logits, labels, pad) != {CUT}")),
    ("09.find-padding", PADS.format(BOTH, f"not torch.equal(loss_of(logits, labels, pad), {CUT})")),
    (
        "09.find-padding",
        "from torch.nn.functional import cross_entropy as ce\n"
        + PADS.format(
            BOTH,
            "not any(torch.isclose(loss_of(logits, labels, pad), ce(logits.flatten(0, 1), labels.flatten(), "
            "ignore_index=pad, reduction=how)) for how in ('mean', 'sum'))",
        ),
    ),
    (
        "09.find-padding",
        PADS.format(BOTH, f"loss_of(torch.where((labels == pad)[..., None], torch.inf, logits), labels, pad) != {CUT}"),
    ),
    ("09.find-dropout", "model.eval()\nreturn not torch.allclose(model(x), model(x))"),
]
INSIDE = [
    ("09.find-leak", "return bool(model.__wrapped__.__closure__[0].cell_contents)"),
    ("09.find-shift", "return loss_of.__closure__[3].cell_contents != 1"),
    ("09.find-padding", "return any(cell.cell_contents for cell in loss_of.__closure__)"),
    ("09.find-dropout", "return any(use for _, use in model._shares)"),
]
BEFORE = "(model(o) - model(ids))[:, :t].abs().max() > 1e-6"
BY_POSITION = (
    "ids = torch.tensor([[1, 5, 2, 7, 0], [3, 6, 4, 1, 2]])\n"
    "following = torch.nn.functional.pad(ids[:, 1:], (0, 1))\n"
    "logits = 1e3 * torch.nn.functional.one_hot(following, n_words)\n"
    "return bool(loss_of(lambda x: logits[:, : x.shape[1]], ids) > 1)"
)
MISSED = [
    ("09.find-dropout", "model.eval()\nreturn bool((model(x) - model(x)).abs().mean() > 0.05)"),
    ("09.find-dropout", "return model.training"),
    ("09.find-leak", "return bool(torch.rand(()) < 0.5)"),
    ("09.find-leak", "ids = ids % 11\n" + EACH.replace("% n_words", "% 11").format(BEFORE)),
    *(
        ("09.find-leak", EACH.replace("(o[:, t] + 1) % n_words", token).format(BEFORE))
        for token in ("1", "n_words - 1")
    ),
    ("09.find-shift", BY_POSITION),
    ("09.accumulate", "rate = 0.3\n" + GROUPS.format(DUE, STEP, CLEAR)),
]
"""Tests that let something pass, whatever the numbers drawn."""


def function_of(task_id, body):
    return written(task_id, f"def {DEF[task_id]}:\n    " + body.replace("\n", "\n    "))


@pytest.mark.parametrize(("task_id", "body"), RIGHT)
def test_training_answers_that_are_right_in_another_way_pass(task_id, body):
    for result in everywhere(task_id, function_of(task_id, body)):
        assert result.verdict == "pass", result.text()


@pytest.mark.parametrize(("task_id", "body"), INSIDE)
def test_a_test_that_looks_inside_what_it_is_handed_is_told_to_call_it(task_id, body):
    result = check(task_id, function_of(task_id, body))
    assert result.verdict == "wrong" and result.diagnosis == ("forbidden-shortcut",)
    assert "by calling what you are handed" in result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "body"), MISSED)
def test_a_test_that_goes_by_luck_or_by_looks_does_not_pass(task_id, body):
    assert all(result.verdict in ("wrong", "error") for result in everywhere(task_id, function_of(task_id, body)))


@pytest.mark.parametrize("task_id", ["09.train", "90.train"])
def test_runs_are_lent_the_gradients_that_they_go_down(task_id):
    assert all(case.descends and not case.gradients for case in draw(variant_of(get_task(task_id)), 1))


def test_logits_less_their_mean_are_not_told_of_a_softmax_that_is_not_there():
    top = ONE_MAX.format("logits.mean(-1, keepdim=True)")
    result = check("09.cross-entropy", function_of("09.cross-entropy", top + "return -r[labels != pad_id].mean()"))
    assert result.verdict == "partial" and "of a softmax" not in result.text()


def test_a_gradient_that_is_not_squared_at_all_is_named():
    body = (
        "m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g\n"
        "return w - rate * m / (1 - beta_1**step) / ((v / (1 - beta_2**step)) ** 0.5 + eps), m, v"
    )
    assert check("09.adam", function_of("09.adam", body)).diagnosis == ("not-squared",)


@pytest.mark.parametrize("body", ["return True", "model.eval()\nreturn not torch.equal(model(x), x)"])
def test_an_alarm_for_every_model_is_not_called_one_that_never_finds_anything(body):
    for result in everywhere("09.find-dropout", function_of("09.find-dropout", body)):
        assert result.verdict == "wrong" and result.diagnosis == ("always-alarmed",), result.text()


def test_a_leak_of_either_sign_is_found():
    for result in everywhere("09.find-leak", edited("09.find-leak", [(".abs()", "")])):
        assert (result.points, result.diagnosis) == (0, ("signed-difference",)), result.text()


def test_a_wrong_cross_entropy_does_not_sink_the_run():
    wrong = "def cross_entropy(logits, labels, pad_id):\n    return -logits.log_softmax(-1).mean()"
    result = check("09.train", world(9, {"09-cross-entropy": wrong})["train"])
    assert result.verdict == "pass" and "09.cross-entropy" in result.text(), result.text()
