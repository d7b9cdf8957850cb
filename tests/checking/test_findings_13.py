"""Chapter 13: answers that passed and are wrong, right ones that lost points, and mistakes that had no name."""

import pytest

from published import edited_source, results
from softlookup_judge import get_task

CLIP = (
    "def contrastive_loss(images, texts, log_scale):\n"
    "    i, t = F.normalize(images, dim={0}), F.normalize(texts, dim={0})\n"
    "    s, own = i @ t.T{1}, torch.arange(len(images))\n"
    "    return (F.cross_entropy(s, own) + F.cross_entropy(s.T, own)) / 2"
)
TILES = (
    "def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):\n    m = torch.maximum(m_a, m_b)\n    a, b = {}\n"
    "    total = l_a * a + l_b * b\n    return m, total, {}"
)
DOWN = "torch.exp(m_a - m).nan_to_num(), torch.exp(m_b - m).nan_to_num()"
MIXED = "z_a * a[..., None] + z_b * b[..., None]"
LABELS = (
    "def choose_label(images, labels, scale):\n    i, t = F.normalize(images, dim=-1), F.normalize(labels, dim=-1)\n"
    "    return {}"
)


NAMED = [
    (
        "13.frames",
        "def cut_frames(samples, width, hop):\n    count = (samples.shape[1] - width) // hop\n"
        "    return samples[:, torch.arange(count)[:, None] * hop + torch.arange(width)]",
        "one-short",
    ),
    (
        "13.linear",
        "def linear_attention(q, k, v):\n    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v",
        "softmax-attention",
    ),
]
RIGHT = [
    (
        "13.rollout",
        edited_source(
            "13.rollout",
            [
                ("0.5 * layer + 0.5 * itself", "layer + itself"),
                ("return total", "return total / total.sum(-1, keepdim=True)"),
            ],
        ),
    ),
    ("13.merge", TILES.format(DOWN, MIXED)),
    (
        "13.contrastive",
        CLIP.format("-1", " * math.e ** log_scale")
        .replace("torch.arange(len(images))", "torch.eye(len(s), dtype=s.dtype)")
        .replace("s, own = i @ t.T * math.e ** log_scale, ", "s = i @ t.T * math.e ** log_scale\n    own = "),
    ),
    (
        "13.zero-shot",
        LABELS.format("torch.softmax(F.cosine_similarity(i[:, None], t.mean(1)[None], dim=-1) * scale, -1)"),
    ),
    (
        "13.frames",
        "def cut_frames(samples, width, hop):\n    size = len(samples), (samples.shape[1] - width) // hop + 1, width\n"
        "    return torch.as_strided(samples.contiguous(), size, (samples.shape[1], hop, 1))",
    ),
]


@pytest.mark.parametrize(("task_id", "source", "slug"), NAMED, ids=lambda value: value[:24])
def test_answers_beyond_text_as_students_write_them_have_a_name(task_id, source, slug):
    for result in results(task_id, source):
        assert result.verdict in ("wrong", "partial") and result.diagnosis == (slug,), result.text()


@pytest.mark.parametrize(("task_id", "source"), RIGHT, ids=lambda value: value[:8])
def test_right_answers_beyond_text_written_otherwise_pass(task_id, source):
    for result in results(task_id, source):
        assert result.verdict == "pass", result.text()


def test_tiles_whose_scores_are_all_below_zero_tell_a_level_of_zero():
    """It passed while the largest score of every tile was above 0."""
    source = edited_source("13.merge", [('m.masked_fill(m == float("-inf"), 0.0)', "m.clamp(min=0)")])
    for result in results("13.merge", source):
        assert result.verdict != "pass" and result.diagnosis == ("never-below-zero",), result.text()


def test_two_slips_in_one_merge_are_both_named():
    source = TILES.format(DOWN, "(z_a * (l_a * a)[..., None] + z_b * (l_b * b)[..., None]) / total[..., None]")
    assert set(results("13.merge", source)[0].diagnosis) == {"weighted-by-sums", "divided-already"}


def test_sums_changed_in_place_are_told_as_that():
    edits = [("key_values = key_values +", "key_values +="), ("keys = keys + g", "keys += g")]
    for result in results("13.step", edited_source("13.step", edits)):
        assert result.verdict == "wrong" and "in place" in result.text()


SPECIAL = [
    ("13.contrastive", ("i = F.normalize(images, dim=-1)", "i = images / (images.norm(dim=-1, keepdim=True) + 1e-6)")),
    ("13.zero-shot", ("F.normalize(images, dim=-1)", "(images / (images.norm(dim=-1, keepdim=True) + 1e-6))")),
    ("13.merge", ('m.masked_fill(m == float("-inf"), 0.0)', "m.clamp(min=-1000)")),
    ("13.linear", ("F.elu(q) + 1", "F.elu(q.clamp(max=6)) + 1")),
    ("13.step", ("F.elu(k) + 1", "F.elu(k.clamp(max=6)) + 1")),
    ("13.zero-shot", ("F.normalize(labels, dim=-1)", "F.normalize(labels.squeeze(), dim=-1)")),
    ("13.rollout", ("a = maps.mean(dim=1)", "a = maps.mean(dim=1).squeeze()")),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "edit"), SPECIAL)
def test_answers_for_usual_numbers_and_sizes_alone_do_not_pass(task_id, edit):
    for result in results(task_id, edited_source(task_id, [edit])):
        assert result.points < get_task(task_id).points, result.text()


@pytest.mark.usefixtures("verdicts_alone")
def test_sums_of_nothing_stay_exactly_zero():
    source = edited_source("13.merge", [("return m, total", "return m, total.clamp(min=1e-6)")])
    for result in results("13.merge", source):
        assert result.verdict == "partial", result.text()


def test_attention_without_the_square_makes_no_square():
    source = (
        "def linear_attention(q, k, v):\n    a = (F.elu(q) + 1) @ (F.elu(k) + 1).mT\n"
        "    return a / a.sum(-1, keepdim=True) @ v"
    )
    for result in results("13.linear", source):
        assert result.verdict == "wrong" and result.diagnosis == ("square-made",), result.text()
