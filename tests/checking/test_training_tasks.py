"""What chapter 9 promises of its tasks as a whole, and answers as students write them."""

import pytest

from published import world
from softlookup_judge import check, tasks

TESTS = ("09.find-leak", "09.find-shift", "09.find-padding", "09.find-dropout")


def test_every_listed_mistake_of_training_is_known_to_some_task():
    known = {mistake.number for task in tasks(9) for mistake in task.mistakes}
    assert set(range(61, 70)) <= known
    assert 52 in {mistake.number for task in tasks(8) for mistake in task.mistakes}  # half precision ends in chapter 8


def test_there_are_twelve_tasks_and_four_more_that_ask_for_a_test():
    ids = [task.id for task in tasks(9)]
    assert len(ids) >= 12 + len(TESTS) and ids[-4:] == list(TESTS)


def test_at_least_two_training_tasks_have_variants():
    assert sum(len(task.variants) > 1 for task in tasks(9)) >= 2


@pytest.mark.parametrize(
    ("slug", "source", "diagnosis"),
    [
        (
            "09-cross-entropy",
            "def cross_entropy(logits, labels, pad_id):\n    p = logits.softmax(-1).log_softmax(-1)\n"
            "    return -p.gather(2, labels[..., None])[..., 0][labels != pad_id].mean()",
            ("softmax-first",),
        ),
        (
            "09-warmup",
            "def learning_rate(i, d, w):\n    return d**-0.5 * min((i + 1) ** -1.5, (i + 1) * w**-0.5)",
            ("exponents-exchanged",),
        ),
        (
            "09-clip",
            "def clip(a, b, c, top):\n    n = (a.square().sum() + b.square().sum() + c.square().sum()).sqrt()\n"
            "    return (*(g * min(1.0, top / (g.norm().item() or 1.0)) for g in (a, b, c)), n)",
            ("each-alone",),
        ),
        ("09-dropout", "def dropout(x, u, p, training):\n    return x * (u >= p) / (1 - p)", ("always-on",)),
        (
            "09-find-leak",
            "def leaks(model, ids, n):\n    other = ids.clone()\n    other[:, -1] = (other[:, -1] + 1) % n\n"
            "    return not torch.equal(model(other)[:, :-1], model(ids)[:, :-1])",
            ("last-token-alone",),
        ),
        ("09-find-leak", "def leaks(model, ids, n_words):\n    return False", ("never-alarmed",)),
        (
            "09-find-padding",
            "def counts_padding(loss_of, n_words):\n    x, y = torch.randn(1, 6, n_words), torch.ones(1, 6).long()\n"
            "    y[:, 3:] = 0\n    return abs(loss_of(x, y, 0) - loss_of(x[:, :3], y[:, :3], 0)).item() > 1e-6",
            ("pad-zero-alone",),
        ),
        (
            "09-find-dropout",
            "def drops_in_use(model, x):\n    return not torch.equal(model(x), model(x))",
            ("left-as-it-is",),
        ),
    ],
)
def test_training_answers_as_students_write_them_wrongly_are_named(slug, source, diagnosis):
    task = next(task for task in tasks(9) if task.slug == slug)
    result = check(task.id, world(9, {slug: source})[task.name])
    assert result.verdict != "pass" and result.diagnosis == diagnosis, result.text()


def test_a_wrong_cross_entropy_does_not_sink_the_run():
    wrong = "def cross_entropy(logits, labels, pad_id):\n    return -logits.log_softmax(-1).mean()"
    result = check("09.train", world(9, {"09-cross-entropy": wrong})["train"])
    assert result.verdict == "pass" and "09.cross-entropy" in result.text(), result.text()
