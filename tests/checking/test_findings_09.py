"""Chapter 9: answers that passed and are wrong, right ones that lost points, and mistakes that had no name."""

import pytest

from published import everywhere, solutions, world
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
LOG_P = "lp = {}.gather(-1, labels[..., None])[..., 0]\n"
ADAM = (
    "m_0, v_0 = m, v\nm, v = beta_1 * m + {0} * g, beta_2 * v + {1} * g * g\n"
    "m_hat, v_hat = {2} / (1 - beta_1**step), {3} / (1 - beta_2**step)\nreturn w - rate * m_hat / ({4}), m, v"
)
LONG = "n = {}\nf = {} if n > max_norm else 1.0\nreturn g_1 * f, g_2 * f, g_3 * f, n"
NORM = "torch.cat([g.flatten() for g in (g_1, g_2, g_3)]).norm()"
GROUPS = (
    "w, t, c, out = w.clone(), 0, 0, []\nfor i in range(len(gradients)):\n    t, c = t + gradients[i], c + tokens[i]\n"
    "    if {} or i + 1 == len(gradients):\n        {}\n        {}\n    out.append(w)\nreturn torch.stack(out)"
)
DUE, STEP, CLEAR = "(i + 1) % every == 0", "w = w - rate * t / c", "t, c = 0, 0"
COUNT = (
    "V, D, F, L = vocab_size, d_model, d_hidden, n_layers\n"
    "return {} * V * D + L * (3 * (4 * D * D + {}) + 2 * (2 * D * F + {} + D) + 5 * {})"
)
RUN = (
    "import torch.nn.functional as F\nw, losses = torch.nn.Parameter(w.clone()), []\no = torch.optim.SGD([w], lr={})\n"
    "for _ in range(steps):\n    loss = F.cross_entropy(w[ids[:, :-1]].transpose(1, 2), ids[:, 1:], {})\n"
    "    o.zero_grad(), loss.backward(), o.step(), losses.append(loss.item())\nreturn w, losses"
)

NAMED = [
    ("09.find-leak", EACH.format("not torch.equal(model(o)[:, 0], model(ids)[:, 0])"), "first-output-alone"),
    (
        "09.find-leak",
        "o = ids.clone()\no[:, 1:] = (o[:, 1:] + 1) % n_words\n"
        "return not torch.equal(model(o)[:, 0], model(ids)[:, 0])",
        "first-output-alone",
    ),
    (
        "09.find-leak",
        EACH.replace("shape[1])", "shape[1] - 1)").format("not torch.equal(model(o)[:, :t], model(ids)[:, :t])"),
        "last-token-forgotten",
    ),
    (
        "09.find-leak",
        "ids = torch.randint(n_words, (1, 5))\n" + EACH.format("not torch.equal(model(o)[:, :t], model(ids)[:, :t])"),
        "last-token-forgotten",
    ),
    (
        "09.find-leak",
        EACH.format("not torch.equal(model(o)[:, t + 1 :], model(ids)[:, t + 1 :])"),
        "later-compared",
    ),
    ("09.find-leak", EACH.format("(model(o) - model(ids))[:, :t].abs().max() > 1e-3"), "wide-tolerance"),
    ("09.find-leak", EACH.format("(model(o) - model(ids))[:, :t].abs().max() > 1e-2"), "wide-tolerance"),
    (
        "09.find-leak",
        EACH.format("(model(o).softmax(-1) - model(ids).softmax(-1))[:, :t].abs().max() > 1e-6"),
        "probabilities-compared",
    ),
    (
        "09.find-leak",
        EACH.replace("(o[:, t] + 1) % n_words", "0").format("(model(o) - model(ids))[:, :t].abs().max() > 1e-5"),
        "token-zero-written",
    ),
    *(
        ("09.find-shift", f"ids = torch.arange({n}).view(2, -1)\n" + SAYS.format(1e2, 1, "> 0.1"), "rows-in-succession")
        for n in ("8", "n_words // 2 * 2")
    ),
    ("09.find-shift", ROWS + SAYS.format(5.0, 1, "> 1.0"), "wide-bound"),
    ("09.find-shift", ROWS + SAYS.format(1.0, 1, "> 0.01"), "always-alarmed"),
    ("09.find-shift", "ids = torch.arange(6).repeat(2, 1)\n" + SAYS.format(30.0, 1, "> 0.01"), "equal-rows"),
    ("09.find-shift", "ids = torch.arange(6)[None]\n" + SAYS.format(30.0, 1, "> 0.01"), "one-row"),
    (
        "09.find-shift",
        ROWS + "seen = []\nloss_of(lambda x: seen.append(x) or torch.zeros(*x.shape, n_words), ids)\n"
        "return not torch.equal(seen[0], ids[:, :-1])",
        "inputs-alone",
    ),
    (
        "09.find-padding",
        PADS.format("(n_words - 1,)", f"abs(loss_of(logits, labels, pad) - {CUT}) > 1e-5"),
        "pad-last-alone",
    ),
    (
        "09.shift",
        "i, l = ids[:, :-1], ids[:, 1:]\nreturn torch.where(i == pad_id, -100, i), torch.where(l == pad_id, -100, l)",
        "inputs-too",
    ),
    ("09.cross-entropy", LOG_P.format("logits.log_softmax(-1)") + "return -lp[labels != 0].mean()", "zero-for-padding"),
    (
        "09.cross-entropy",
        LOG_P.format("logits.log_softmax(-1)") + "return -lp[labels == pad_id].mean()",
        "mask-inverted",
    ),
    (
        "09.cross-entropy",
        LOG_P.format("logits.log_softmax(-1)") + "return -(lp * (labels != pad_id)).sum(1).mean()",
        "by-sentences",
    ),
    ("09.cross-entropy", LOG_P.format("logits") + "return -lp[labels != pad_id].mean()", "no-softmax"),
    (
        "09.cross-entropy",
        LOG_P.format("logits.log_softmax(1)") + "return -lp[labels != pad_id].mean()",
        "over-positions",
    ),
    (
        "09.cross-entropy",
        LOG_P.format("logits.log_softmax(-1)") + "return -lp[labels != pad_id].mean() / math.log(2)",
        "bits",
    ),
    ("09.perplexity", "return (losses.exp() ** tokens).prod() ** (1 / tokens.sum())", "product-of-all"),
    ("09.perplexity", "return torch.exp(losses.sum() / tokens.sum())", "not-weighed"),
    ("09.perplexity", "return torch.exp((losses * tokens).sum() / len(losses))", "by-batches"),
    (
        "09.smoothed-loss",
        "lp = logits.log_softmax(-1)\nq = torch.full_like(lp, 0.1 / lp.shape[-1])\n"
        "q.scatter_(-1, labels[..., None], 0.9)\nreturn -(q * lp).sum(-1)[labels != pad_id].mean()",
        "right-without-share",
    ),
    ("09.smoothed-loss", "return 0.9 * cross_entropy(logits, labels, pad_id)", "nothing-spread"),
    ("09.warmup", "s = max(done, 1)\nreturn d_model**-0.5 * min(s**-0.5, s * warmup**-1.5)", "first-twice"),
    ("09.warmup", "return 0.0 if not done else d_model**-0.5 * min(done**-0.5, done * warmup**-1.5)", "first-rests"),
    ("09.warmup", "s = done + 1\nreturn d_model**-0.5 * min(s**-0.5, s / warmup)", "too-steep"),
    ("09.warmup", "s = done + 1\nreturn d_model**-0.5 * min(s**-0.5, s * 4000**-1.5)", "warmup-fixed"),
    ("09.adam", ADAM.format("(1 - beta_1)", "(1 - beta_2)", "m", "v", "v.sqrt() + eps"), "v-uncorrected"),
    ("09.adam", ADAM.format("(1 - beta_1)", "(1 - beta_2)", "m", "v", "v_hat.sqrt()"), "eps-forgotten"),
    ("09.adam", ADAM.format("(1 - beta_1)", "(1 - beta_2)", "m_0", "v_0", "v_hat.sqrt() + eps"), "old-averages"),
    ("09.adam", ADAM.format("1", "1", "m", "v", "v_hat.sqrt() + eps"), "shares-dropped"),
    (
        "09.adam",
        ADAM.format("(1 - beta_1)", "(1 - beta_2)", "m", "v", "(v.sqrt() + eps) / math.sqrt(1 - beta_2**step)"),
        "eps-uncorrected",
    ),
    ("09.clip", LONG.format("max(g.norm() for g in (g_1, g_2, g_3))", "max_norm / n"), "longest-alone"),
    ("09.clip", LONG.format(NORM, "1 / n"), "to-one"),
    ("09.clip", LONG.format(NORM, "max_norm / (n + 1e-6)"), "millionth-added"),
    ("09.accumulate", GROUPS.format("i % every == 0 and i > 0", STEP, CLEAR), "one-late"),
    ("09.accumulate", GROUPS.format(DUE, "w = w - rate * t / every", CLEAR), "by-every"),
    ("09.accumulate", GROUPS.format(DUE, "w = w - rate * t / tokens[i]", CLEAR), "last-count"),
    ("09.accumulate", GROUPS.format(DUE, STEP, "c = 0"), "sum-kept"),
    ("09.accumulate", GROUPS.format(DUE, STEP, "t = 0"), "count-kept"),
    ("09.accumulate", GROUPS.format(DUE, "w -= rate * t / c", CLEAR), "one-tensor"),
    ("09.dropout", "return x * (u > p) / (1 - p) if training else x", "bound-dropped"),
    ("09.dropout", "k = u >= p\nreturn x * k * (k.numel() / k.sum()) if training else x", "others-scaled"),
    ("09.initialise", "return z * math.sqrt(2 / len(z))", "always-he"),
    ("09.initialise", "return z * math.sqrt(2 / len(z) if after_relu else 1 / len(z))", "fan-in-alone"),
    ("09.initialise", "return z * math.sqrt(1 / len(z) if after_relu else 2 / sum(z.shape))", "he-halved"),
    ("09.initialise", "return z / math.sqrt(2 / len(z) if after_relu else 2 / sum(z.shape))", "divided"),
    ("09.bytes", "return 8 * parameters, (4 if recipe == 'float32' else 2) * activations", "adam-forgotten"),
    ("09.bytes", "return 16 * parameters, (2 if recipe == 'master' else 4) * activations", "autocast-activations"),
    ("09.count", COUNT.format(2, 0, "F", "2 * D"), "two-tables"),
    ("09.count", COUNT.format(1, "4 * D", "F", "2 * D"), "attention-biased"),
    ("09.count", COUNT.format(1, 0, 0, "2 * D"), "inner-bias-forgotten"),
    ("09.count", COUNT.format(1, 0, "F", 0), "norms-forgotten"),
    ("09.train", RUN.format("rate", "ignore_index=pad_id, reduction='sum'"), "summed"),
    ("09.train", RUN.format("rate", "ignore_index=0"), "zero-for-padding"),
    ("09.train", RUN.format("1.0", "ignore_index=pad_id"), "rate-forgotten"),
]
ONE_MAX = (
    "z = logits - {}\nlp = z - z.exp().sum(-1, keepdim=True).log()\nr = lp.gather(-1, labels[..., None])[..., 0]\n"
)
PADDED_COUNT = (
    "lp = logits.log_softmax(-1)\nr = lp.gather(-1, labels[..., None])[..., 0]\n"
    "return ((-0.9 * r - 0.1 * lp.mean(-1)) * (labels != pad_id)).mean()"
)
LEVELS = [
    *(
        ("09.cross-entropy", ONE_MAX.format(top) + "return -r[labels != pad_id].mean()")
        for top in ("logits.max()", "logits.amax((1, 2), keepdim=True)")
    ),
    (
        "09.smoothed-loss",
        ONE_MAX.format("logits.max()") + "return (-0.9 * r - 0.1 * lp.mean(-1))[labels != pad_id].mean()",
    ),
]
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
    ("09.clip", LONG.format(NORM, "max_norm / n")),
    ("09.perplexity", "share = tokens / tokens.sum()\nreturn torch.exp((losses * share).sum())"),
    ("09.initialise", "return z * torch.sqrt(torch.tensor(2 / len(z) if after_relu else 2 / sum(z.shape)))"),
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


def written(task_id, body):
    task = get_task(task_id)
    source = f"def {DEF[task_id]}:\n    " + body.replace("\n", "\n    ")
    return world(9, {task.slug: source})[task.name]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("task_id", "body", "slug"), NAMED)
def test_training_answers_that_are_wrong_as_students_write_them_have_a_name(task_id, body, slug):
    for result in everywhere(task_id, written(task_id, body)):
        assert result.verdict in ("wrong", "partial", "error") and result.diagnosis == (slug,), result.text()


@pytest.mark.parametrize(("task_id", "body"), RIGHT)
def test_training_answers_that_are_right_in_another_way_pass(task_id, body):
    for result in everywhere(task_id, written(task_id, body)):
        assert result.verdict == "pass", result.text()


@pytest.mark.parametrize(("task_id", "body"), INSIDE)
def test_a_test_that_looks_inside_what_it_is_handed_is_told_to_call_it(task_id, body):
    result = check(task_id, written(task_id, body))
    assert result.verdict == "wrong" and result.diagnosis == ("forbidden-shortcut",)
    assert "by calling what you are handed" in result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "body"), MISSED)
def test_a_test_that_goes_by_luck_or_by_looks_does_not_pass(task_id, body):
    assert all(result.verdict in ("wrong", "error") for result in everywhere(task_id, written(task_id, body)))


def test_mean_of_the_batches_perplexities_is_named():
    result = check("09.perplexity", written("09.perplexity", "return torch.exp(losses).mean()"))
    assert result.diagnosis == ("batch-perplexities",)


@pytest.mark.parametrize("task_id", ["09.train", "90.train"])
def test_runs_are_lent_the_gradients_that_they_go_down(task_id):
    assert all(case.descends and not case.gradients for case in draw(variant_of(get_task(task_id)), 1))


@pytest.mark.parametrize(("task_id", "body"), LEVELS)
def test_one_maximum_for_positions_hundreds_apart_does_not_pass(task_id, body):
    for result in everywhere(task_id, written(task_id, body)):
        assert result.verdict == "partial" and result.diagnosis == ("one-max-for-all",), result.text()


def test_logits_less_their_mean_are_not_told_of_a_softmax_that_is_not_there():
    top = ONE_MAX.format("logits.mean(-1, keepdim=True)")
    result = check("09.cross-entropy", written("09.cross-entropy", top + "return -r[labels != pad_id].mean()"))
    assert result.verdict == "partial" and "of a softmax" not in result.text()


def test_padding_in_the_count_of_a_smoothed_loss_is_named():
    for result in everywhere("09.smoothed-loss", written("09.smoothed-loss", PADDED_COUNT)):
        assert result.diagnosis == ("padding-in-the-count",), result.text()


def test_a_gradient_that_is_not_squared_at_all_is_named():
    body = (
        "m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g\n"
        "return w - rate * m / (1 - beta_1**step) / ((v / (1 - beta_2**step)) ** 0.5 + eps), m, v"
    )
    assert check("09.adam", written("09.adam", body)).diagnosis == ("not-squared",)


@pytest.mark.parametrize("body", ["return True", "model.eval()\nreturn not torch.equal(model(x), x)"])
def test_an_alarm_for_every_model_is_not_called_one_that_never_finds_anything(body):
    for result in everywhere("09.find-dropout", written("09.find-dropout", body)):
        assert result.verdict == "wrong" and result.diagnosis == ("always-alarmed",), result.text()


def test_a_leak_of_either_sign_is_found():
    source = solutions(9)["09-find-leak"].replace(".abs()", "")
    obj = world(9, {"09-find-leak": source})[get_task("09.find-leak").name]
    for result in everywhere("09.find-leak", obj):
        assert (result.points, result.diagnosis) == (0, ("signed-difference",)), result.text()
