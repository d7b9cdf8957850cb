"""What chapter 13 promises of its tasks as a whole, and answers as students write them."""

import pytest

from published import constants_of, world
from softlookup_judge import check, tasks


def test_the_listed_mistake_of_published_weights_is_known_to_more_than_one_task():
    known = [task.id for task in tasks(13) if any(mistake.number == 85 for mistake in task.mistakes)]
    assert {"13.kernel", "13.published"} <= set(known)


def test_at_least_two_tasks_beyond_text_have_variants_and_say_what_they_ask():
    varied = [task for task in tasks(13) if len(constants_of(task)) > 1]
    assert len(varied) >= 2
    for task in varied:
        texts = [str(constants["named"]) for constants in constants_of(task)]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("slug", "source", "diagnosis"),
    [
        (
            "13-patches",
            "def patchify(images, p):\n    return images.reshape(len(images), -1, images.shape[1] * p * p)",
            ("reshape-alone",),
        ),
        ("13-kernel", "def as_kernel(w, c, p):\n    return w.reshape(w.shape[1], c, p, p)", ("untransposed",)),
        ("13-frames", "def cut_frames(x, width, hop):\n    return x.unfold(1, width, width)", ("no-overlap",)),
        (
            "13-contrastive",
            "def contrastive_loss(i, t, s):\n    i, t = F.normalize(i), F.normalize(t)\n"
            "    return F.cross_entropy(i @ t.T * s.exp(), torch.arange(len(i)))",
            ("pictures-alone",),
        ),
        (
            "13-merge",
            "def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):\n    return torch.maximum(m_a, m_b), l_a + l_b, z_a + z_b",
            ("not-brought-down",),
        ),
        (
            "13-published",
            "def published_feed_forward(x, w_in, b_in, w_out, b_out, gain, bias):\n"
            "    y = x + F.linear(F.gelu(F.linear(x, w_in, b_in), approximate='tanh'), w_out, b_out)\n"
            "    return F.layer_norm(y, y.shape[-1:], gain, bias, 1e-12)",
            ("other-gelu",),
        ),
    ],
)
def test_answers_beyond_text_as_students_write_them_wrongly_are_named(slug, source, diagnosis):
    task = next(task for task in tasks(13) if task.slug == slug)
    result = check(task.id, world(13, {slug: source})[task.name])
    assert result.verdict != "pass" and result.diagnosis == diagnosis, result.text()


def test_softmax_attention_is_no_linear_attention():
    source = "def linear_attention(q, k, v):\n    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v"
    result = check("13.linear", world(13, {"13-linear": source})["linear_attention"])
    assert result.verdict == "wrong" and result.points == 0
