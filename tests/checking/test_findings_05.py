"""Chapter 5: answers that were told the wrong thing, or nothing, and points that were lost twice or not at all."""

import pytest

from published import results, world, written
from softlookup_judge import check, get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

ONE_BATCH_AXIS = {
    "05.project-heads": "def project_heads(x, w, n):\n    B, T, D = x.shape\n"
    "    return (x @ w).view(B, T, n, -1).transpose(1, 2)",
    "05.packed": "def unpack_heads(x, w, n):\n    B, T, D = x.shape\n"
    "    return [p.reshape(B, T, n, -1).transpose(1, 2) for p in (x @ w).chunk(3, -1)]",
    "05.dropout": "def mix_with_dropout(a, v, u, p, training):\n    if training:\n        a = (u >= p) * a / (1 - p)\n"
    "    return torch.bmm(a, v)",
}
UP_TO_ONE_BATCH_AXIS = {
    "05.project-heads": "def project_heads(x, w, n):\n    y = x @ w\n    if x.dim() == 2:\n"
    "        return y.view(len(x), n, -1).transpose(0, 1)\n"
    "    return y.view(len(x), x.shape[1], n, -1).transpose(1, 2)",
    "05.packed": "def unpack_heads(x, w, n):\n    y = (x @ w).chunk(3, -1)\n    if x.dim() == 2:\n"
    "        return [p.reshape(len(x), n, -1).transpose(0, 1) for p in y]\n"
    "    return [p.reshape(len(x), x.shape[1], n, -1).transpose(1, 2) for p in y]",
}

WRONG = [
    ("05.output", "def blend_heads(z, w_o):\n    return (merge_heads(z) @ w_o).squeeze(0)"),
    ("05.output", "def blend_heads(z, w_o):\n    return merge_heads(z.squeeze(0)) @ w_o"),
    ("05.shares", "def head_shares(z, w_o):\n    return (z @ w_o.reshape(z.shape[-3], z.shape[-1], -1)).squeeze(0)"),
    ("05.init", "def init_scale(d, n, h):\n    return math.sqrt(6 / (d + n * h)) if h > 1 else 0.0"),
    (
        "05.heads",
        "def attend_heads(q, k, v, mask=None):\n    s = q @ k.mT / math.sqrt(q.shape[-1])\n"
        "    if mask is None:\n        return s.softmax(-1) @ v\n    mask = mask[:, None] if mask.ndim == 3 else mask\n"
        "    top = s.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()\n"
        "    e = torch.where(mask, (s - top.nan_to_num(neginf=0.0)).exp(), 0.0)\n"
        "    return e / e.sum(-1, keepdim=True).clamp(min=1e-30) @ v",
    ),
    (
        "05.heads",  # the gradients of an added -inf are NaN in rows that see nothing
        "def attend_heads(q, k, v, mask=None):\n    s = q @ k.mT / math.sqrt(q.shape[-1])\n"
        "    if mask is not None:\n        mask = mask[:, None] if mask.ndim == 3 else mask\n"
        "        s = s + torch.where(mask, 0.0, -torch.inf)\n    return s.softmax(-1).nan_to_num(0.0) @ v",
    ),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("task_id", ONE_BATCH_AXIS)
def test_an_answer_for_one_batch_axis_alone_earns_most_of_the_points(task_id):
    result = check(task_id, written(task_id, ONE_BATCH_AXIS[task_id]))
    assert result.verdict == "partial" and result.points > result.max_points / 2, result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("task_id", UP_TO_ONE_BATCH_AXIS)
def test_an_answer_for_at_most_one_batch_axis_does_not_pass(task_id):
    for result in results(task_id, UP_TO_ONE_BATCH_AXIS[task_id], range(3)):
        assert result.verdict == "partial", result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "source"), WRONG)
def test_answers_of_chapter_5_that_are_wrong_somewhere_do_not_pass(task_id, source):
    for result in results(task_id, source, range(3)):
        assert result.verdict != "pass", result.text()


def test_mask_axis_behind_the_queries_has_a_name():
    obj = world(5)["attend_heads"]

    def attend_heads(q, k, v, mask=None):
        if mask is None or mask.ndim == 2:
            return obj(q, k, v, mask)
        return torch_attend(q, k, v, mask.unsqueeze(2))

    def torch_attend(q, k, v, mask):
        s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
        return s.softmax(-1).masked_fill(~mask, 0.0) @ v

    assert check("05.heads", attend_heads).diagnosis == ("mask-axis-behind",)


@pytest.mark.usefixtures("verdicts_alone")
def test_boundary_of_dropout_costs_little():
    source = "def mix_with_dropout(a, v, u, p, t):\n    return torch.where(u <= p, 0, a / (1 - p)) @ v if t else a @ v"
    result = check("05.dropout", written("05.dropout", source))
    assert result.points == pytest.approx(0.9 * result.max_points)


def test_core_cases_of_tasks_with_axes_in_front_have_one_batch_axis():
    for task_id, first_axes in (("05.split", 3), ("05.project-heads", 3), ("05.packed", 3), ("05.dropout", 3)):
        axes = [case.args[0].ndim for case in draw(variant_of(get_task(task_id)), 0) if case.part == "core"]
        assert set(axes) == {first_axes}, task_id


def test_table_of_shapes_says_in_words_which_cell_is_wrong():
    def shape_table(t, d, n, h):
        table = [[d, h], [n * h, d], [t, d], [t, h], [t, t], [t, h], [t, n * h], [t, d]]
        table[4][1] += 1
        return table

    assert "counts the columns of one head's attention weights" in check("05.shapes", shape_table).text()


def test_right_split_of_one_batch_axis_alone_keeps_most_of_its_points():
    source = "    b, t, m = x.shape\n    return x.view(b, t, n_heads, m // n_heads).transpose(1, 2)"
    result = check("05.split", written("05.split", f"def split_heads(x, n_heads):\n{source}"))
    assert (result.verdict, result.points) == ("partial", pytest.approx(0.7 * 3)), result.text()


def test_reshaping_alone_is_named():
    source = "    b, t, m = x.shape\n    return x.view(b, n_heads, t, m // n_heads)"
    result = check("05.split", written("05.split", f"def split_heads(x, n_heads):\n{source}"))
    assert (result.points, result.diagnosis) == (0, ("reshape-alone",)), result.text()
