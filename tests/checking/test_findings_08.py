"""Chapter 8: answers that once passed and were wrong, and mistakes that once had no name."""

import pytest

from published import solutions, world
from softlookup_judge import check, get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of

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


def written(task_id, source):
    return world(8, {get_task(task_id).slug: source})[get_task(task_id).name]


def everywhere(task_id, source):
    task, obj = get_task(task_id), written(task_id, source)
    yield check(task_id, obj)
    for seed in range(2):
        yield judge(variant_of(task), LocalStudent(variant_of(task), obj), seed=seed)


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
    for result in everywhere(task_id, source):
        assert result.verdict in ("partial", "wrong"), result.text()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("mistake", get_task("08.cross-attention").mistakes, ids=lambda mistake: mistake.slug)
def test_wrong_cross_attention_does_not_sink_the_layer(mistake):
    wrong = mistake.applied_to(solutions(8)["08-cross-attention"])
    assert check("08.decoder-layer", world(8, {"08-cross-attention": wrong})["DecoderLayer"]).verdict == "pass"


def test_one_layer_repeated_is_told_from_layers_of_their_own():
    source = solutions(8)["08-transformer"].replace(
        "[DecoderLayer(*sizes) for _ in range(n_layers)]", "[DecoderLayer(*sizes)] * n_layers"
    )
    result = check("08.transformer", written("08.transformer", source))
    assert result.verdict == "wrong" and "stands there twice" in result.text(), result.text()
    layer_source = solutions(8)["08-decoder-layer"].replace(
        "self.cross = MultiHeadAttention(d_model, n_heads)", "self.cross = self.attention"
    )
    assert (
        "`cross` has no weights of its own"
        in check("08.decoder-layer", written("08.decoder-layer", layer_source)).text()
    )


def test_verdict_of_the_leak_is_not_called_a_number_of_leaks():
    source = solutions(8)["08-leak"].replace("seen.triu(1).any()", "seen.triu(1).sum()")
    assert "number of leaks" not in check("08.leak", written("08.leak", source)).text()


@pytest.mark.usefixtures("verdicts_alone")
def test_a_table_of_positions_that_ends_is_not_enough():
    whole = "sinusoidal(ids.shape[1], self.embedding.shape[1])"
    source = solutions(8)["08-transformer"].replace(whole, "sinusoidal(64, self.embedding.shape[1])[: ids.shape[1]]")
    assert source != solutions(8)["08-transformer"]
    for result in everywhere("08.transformer", source):
        assert result.points == 0, result.text()
