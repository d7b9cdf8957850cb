"""Chapter 8: answers that once passed and were wrong, and mistakes that once had no name."""

import pytest

from published import solutions, world
from softlookup_judge import check, get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of

SOFT = "def masked_softmax(s, mask):\n    "
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
HIDE = (
    "def hide_tokens(ids, special, u, other, mask_id, share):\n    chosen = (u < share) & ~special\n"
    "    masked = chosen & (u < 0.8 * share)\n    exchanged = chosen & ~masked & (u < 0.9 * share)\n"
    "    new = torch.where(masked, mask_id, torch.where(exchanged, other, ids))\n    "
)
REACH = (
    "def what_reaches(masks):\n    own = torch.eye(masks.shape[-1])\n    seen = own\n"
    "    for mask in masks.float():\n        seen = torch.maximum(mask, own) @ seen\n    "
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
        *(
            ("08.masked-softmax", f"{SOFT}return s.masked_fill(~mask, {fill}).softmax(-1).masked_fill(~mask, 0)")
            for fill in ("-5e3", "-1e4")
        ),
        ("08.masked-softmax", f"{SOFT}return (s + ~mask * -1e4).softmax(-1) * mask"),
        (
            "08.cross-attention",
            CROSS.format("(s.softmax(-1) * mask) / (s.softmax(-1) * mask).sum(-1, keepdim=True).clamp(min=1e-9)"),
        ),
        *(
            ("08.cross-attention", CROSS.format(f"s.masked_fill(~mask, {fill}).softmax(-1) * mask"))
            for fill in ("-1e3", "-1e4")
        ),
        ("08.labels", solutions(8)["08-labels"].replace("return", "inputs = inputs.short().long()\n    return")),
        (
            "08.leak",
            "def what_reaches(masks):\n    own = torch.eye(masks.shape[-1], dtype=torch.bool)\n"
            "    seen = own.byte()\n    for mask in masks:\n        seen = (mask | own).byte() @ seen\n"
            "    return seen > 0, (seen > 0).triu(1).any()",
        ),
        (
            "08.leak",
            "def what_reaches(masks):\n    own = torch.eye(masks.shape[-1], dtype=torch.uint8)\n    paths = own\n"
            "    for mask in masks:\n        paths = (mask.byte() + own) @ paths\n"
            "    return paths > 0, (paths > 0).triu(1).any()",
        ),
        (
            "08.convert",
            "def to_additive(s, mask):\n    return torch.zeros_like(s).masked_fill(mask, -torch.inf).squeeze()",
        ),
        ("08.convert", "def to_additive(s, mask):\n    return s * 0 + torch.where(mask, -torch.inf, 0.0)"),
        ("08.causal", "def causal_mask(t, s):\n    return torch.ones(t, s).tril(s - t).bool().squeeze()"),
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


NAMED = [
    ("08.causal", "def causal_mask(t, s):\n    return torch.full((t, s), -1e9).triu(s - t + 1)", "additive-billion"),
    ("08.causal", "def causal_mask(t, s):\n    return torch.ones(t, s).tril(s - t).bool()[None, None]", "four-axes"),
    ("08.causal", "def causal_mask(t, s):\n    return torch.ones(t, t).tril().bool()", "newest-keys-alone"),
    ("08.causal", "def causal_mask(t, s):\n    return torch.ones(t, s).tril(t - s).bool()", "offset-negative"),
    ("08.causal", "def causal_mask(t, s):\n    return torch.ones(t, s, dtype=torch.bool)", "everything"),
    ("08.padding", "def padding_mask(ids, pad):\n    return (ids != pad)[None, None]", "batch-on-queries"),
    ("08.padding", "def padding_mask(ids, pad):\n    return (ids != pad)[:, :, None, None]", "positions-on-heads"),
    ("08.padding", "def padding_mask(ids, pad):\n    return (ids > pad)[:, None, None]", "greater"),
    (
        "08.padding",
        "def padding_mask(ids, pad):\n    b, s = ids.shape\n    return (ids != pad)[:, None, None].expand(b, 1, s, s)",
        "spread-out",
    ),
    ("08.combine", "def decoder_mask(ids, pad):\n    return causal_mask(len(ids[0]), len(ids[0]))", "causal-as-it-is"),
    ("08.combine", "def decoder_mask(ids, pad):\n    return padding_mask(ids, pad)", "padding-as-it-is"),
    (
        "08.combine",
        "def decoder_mask(ids, pad):\n    t = ids.shape[1]\n    return causal_mask(t, t) & ~padding_mask(ids, pad)",
        "padding-inverted",
    ),
    (
        "08.combine",
        "def decoder_mask(ids, pad):\n    t = ids.shape[1]\n"
        "    return torch.ones(t, t).tril(-1).bool() & padding_mask(ids, pad)",
        "diagonal-hidden",
    ),
    (
        "08.convert",
        "def to_additive(scores, mask):\n    return torch.zeros_like(scores).masked_fill(mask, -1e4)",
        "minus-ten-thousand",
    ),
    (
        "08.convert",
        "def to_additive(s, m):\n    return torch.zeros_like(s).masked_fill(m, torch.finfo(s.dtype).min)",
        "lowest-number",
    ),
    ("08.masked-softmax", f"{SOFT}return s.masked_fill(~mask, -torch.inf).softmax(1).nan_to_num(0)", "fixed-axis"),
    (
        "08.masked-softmax",
        f"{SOFT}e = s.masked_fill(~mask, -torch.inf).exp()\n"
        "    return (e / e.sum(-1, keepdim=True)).masked_fill(~mask, 0)",
        "no-max",
    ),
    ("08.leak", REACH + "return seen, seen.triu(1).any()", "paths-counted"),
    (
        "08.leak",
        "def what_reaches(masks):\n    n = masks.shape[-1]\n    one = (masks.any(0) | torch.eye(n).bool()).float()\n"
        "    seen = torch.linalg.matrix_power(one, len(masks)) > 0\n    return seen, seen.triu(1).any()",
        "order-forgotten",
    ),
    ("08.leak", REACH + "return seen > 0, masks[-1].triu(1).any()", "verdict-of-one-layer"),
    (
        "08.labels",
        ROWS + "table = filled([[start] + one + [end] for one in sentences], longest + 1)\n"
        "    return table[:, :-1], table[:, 1:]",
        "end-still-given",
    ),
    ("08.labels", ROWS + "return torch.cat([given[:, :1], told[:, :-1]], 1), told", "end-still-given"),
    ("08.labels", ROWS + "return given, told.masked_fill(told == pad, -100)", "labels-filled-with-minus-100"),
    (
        "08.labels",
        ROWS + "last = torch.full((len(given), 1), end)\n"
        "    return given, torch.cat([filled(sentences, longest - 1), last], 1)",
        "end-in-the-last-column",
    ),
    (
        "08.masked-tokens",
        HIDE.replace("(u < share)", "(u <= share)") + "return new, torch.where(chosen, ids, -100)",
        "boundary-chosen",
    ),
    (
        "08.masked-tokens",
        HIDE.replace("(u < 0.8", "(u <= 0.8") + "return new, torch.where(chosen, ids, -100)",
        "eight-tenths-masked",
    ),
    (
        "08.masked-tokens",
        HIDE.replace("(u < 0.9", "(u <= 0.9") + "return new, torch.where(chosen, ids, -100)",
        "nine-tenths-exchanged",
    ),
    (
        "08.masked-tokens",
        HIDE + "new = torch.where(u < 0.8 * share, mask_id, torch.where(u < 0.9 * share, other, ids))\n"
        "    return new, torch.where(chosen, ids, -100)",
        "special-changed",
    ),
    ("08.masked-tokens", HIDE + "return new, torch.where(new != ids, ids, -100)", "kept-without-label"),
    ("08.masked-tokens", HIDE + "return new, torch.where(u < share, ids, -100)", "special-predicted"),
    (
        "08.masked-tokens",
        HIDE + "new = torch.where(masked, other, torch.where(exchanged, mask_id, ids))\n"
        "    return new, torch.where(chosen, ids, -100)",
        "mask-and-other-exchanged",
    ),
    (
        "08.labels",
        ROWS + "empty = torch.tensor([not one for one in sentences])[:, None]\n"
        "    return given.masked_fill(empty, pad), told.masked_fill(empty, pad)",
        "empty-as-padding",
    ),
    (
        "08.logits",
        "def log_probabilities(x, table):\n    return (x @ table.T).softmax(-1).clamp(min=1e-37).log()",
        "log-guarded",
    ),
    ("08.logits", "def log_probabilities(x, table):\n    return (x @ table.T).log_softmax(0)", "first-axis"),
    (
        "08.logits",
        "def log_probabilities(x, table):\n    z = x @ table.T\n    return z - z.exp().sum(-1, keepdim=True).log()",
        "no-max",
    ),
    (
        "08.logits",
        "def log_probabilities(x, table):\n    z = x @ table.T\n    z = z - z.max()\n"
        "    return z - z.exp().sum(-1, keepdim=True).log()",
        "one-max-for-all",
    ),
    (
        "08.masked-softmax",
        f"{SOFT}z = s.masked_fill(~mask, -torch.inf)\n    e = (z - z.max()).exp()\n"
        "    return (e / e.sum(-1, keepdim=True)).masked_fill(~mask, 0)",
        "one-max-for-all",
    ),
    ("08.cross-attention", CROSS.format("s.softmax(-1) * mask"), "mask-after-softmax"),
    ("08.cross-attention", CROSS.format("s.masked_fill(~mask, 0).softmax(-1)"), "masked-to-zero"),
    ("08.cross-attention", CROSS.format("s.masked_fill(~mask, -torch.inf).softmax(-1)"), "nan-rows"),
    ("08.cross-attention", CROSS.format("s.masked_fill(~mask, -1e9).softmax(-1)"), "uniform-where-blind"),
    ("08.cross-attention", CROSS.replace("** 0.5", "").format("masked_softmax(s, mask)"), "divided-by-width"),
    (
        "08.cross-attention",
        CROSS.replace("q.shape[-1]", "k.shape[-2]").format("masked_softmax(s, mask)"),
        "sqrt-of-tokens",
    ),
    (
        "08.cross-attention",
        CROSS.replace("merge_heads(a @ v)", "(a @ v).reshape(x.shape[0], x.shape[1], -1)").format(
            "masked_softmax(s, mask)"
        ),
        "merged-without-transpose",
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("task_id", "source", "slug"), NAMED)
def test_answers_as_students_write_them_wrongly_have_a_name(task_id, source, slug):
    for result in everywhere(task_id, source):
        assert result.verdict in ("wrong", "partial") and result.diagnosis == (slug,), result.text()


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
