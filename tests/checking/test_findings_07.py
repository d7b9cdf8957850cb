"""Chapter 7: norms and layers as students write them, and answers that were told nothing or passed on small numbers."""

import pytest
import torch

from published import edited, results, solutions, written
from softlookup_judge import check, get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

NORM = "    m, v = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)\n"
LAYER = (
    "def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):\n"
    "    keep = None if mask is None else mask[:, None, None, :]\n"
)
STEPS = (
    "    def look(x):\n        return self_attention(x, *attention, n_heads, keep)\n"
    "    def think(x):\n        return feed_forward(x, w_1, b_1, w_2, b_2)\n"
    "    def norm(x, i):\n        return layer_norm(x, norms[2 * i], norms[2 * i + 1], 1e-5)\n"
    "    if pre_norm:\n        x = x + look(norm(x, 0))\n        y = x + think(norm(x, 1))\n"
    "    else:\n        x = norm(x + look(x), 0)\n        y = norm(x + think(x), 1)\n"
)
DEF = {"07.layer-norm": "layer_norm(x, gain, shift, eps)", "07.swiglu": "swiglu(x, w_gate, w_1, w_2)"}
SQUARES = "((x * x).mean(-1, keepdim=True) - x.mean(-1, keepdim=True) ** 2)"
AFFINE = "    return (x - m) / (v + eps).sqrt() * gain + shift"


def test_layer_of_these_steps_is_right_without_a_slip():
    assert check("07.encoder-layer", written("07.encoder-layer", LAYER + STEPS + "    return y")).verdict == "pass"


@pytest.mark.usefixtures("verdicts_alone")
def test_a_bend_with_a_lid_does_not_pass():
    source = (
        "def feed_forward(x, w_1, b_1, w_2, b_2):\n    return torch.clamp(x @ w_1 + b_1, 0, {}) @ w_2 + b_2"  # ReLU6
    )
    for lid in (6, 20):
        assert {result.verdict for result in results("07.feed-forward", source.format(lid), range(2))} == {"wrong"}


@pytest.mark.parametrize(
    ("task_id", "body"),
    [
        ("07.layer-norm", NORM.replace("x.var(-1, correction=0, keepdim=True)", SQUARES) + AFFINE),
        ("07.layer-norm", NORM.replace("x.var(-1, correction=0, keepdim=True)", SQUARES + ".clamp(min=0)") + AFFINE),
        ("07.swiglu", "    z = x @ w_gate\n    return (z * z.exp() / (1 + z.exp()) * (x @ w_1)) @ w_2"),
    ],
)
@pytest.mark.usefixtures("verdicts_alone")
def test_what_large_numbers_spoil_does_not_pass(task_id, body):
    for result in results(task_id, f"def {DEF[task_id]}:\n{body}", range(2)):
        assert result.verdict in ("wrong", "partial"), result.text()


OWN_ATTENTION = (
    LAYER
    + STEPS.replace(
        "        return self_attention(x, *attention, n_heads, keep)\n",
        "        q, k, v = ((x @ w).unflatten(-1, (n_heads, -1)).transpose(1, 2) for w in attention[:3])\n"
        "        s = q @ k.mT / q.shape[-1] ** 0.5\n"
        "        s = s if keep is None else s.masked_fill(~keep, FILL)\n"
        "        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ attention[3]\n",
    )
    + "    return y"
)


@pytest.mark.parametrize(
    ("fill", "verdict"),
    [("float('-inf')", "pass"), ("torch.finfo(s.dtype).min", "pass"), ("-100.0", "partial"), ("-1e4", "partial")],
)
@pytest.mark.usefixtures("verdicts_alone")
def test_a_number_in_the_place_of_minus_infinity_has_to_be_below_every_score(fill, verdict):
    for result in results("07.encoder-layer", OWN_ATTENTION.replace("FILL", fill), range(2)):
        assert result.verdict == verdict, result.text()


def test_scores_of_the_loud_case_go_far_below_any_such_number():
    task = get_task("07.encoder-layer")
    for seed in range(5):
        case = next(case for case in draw(variant_of(task), seed) if "large" in case.label)
        x, attention = case.args[:2]
        q, k = ((x @ w).reshape(3, 5, 2, 3).swapaxes(1, 2) for w in attention[:2])
        scores = q @ k.swapaxes(-1, -2) / 3**0.5
        alone = scores[0, :, :, 0]  # a sentence of one real token
        assert alone.min() < -1e5


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return torch.stack([one[:n].mean(0) for one, n in zip(x, mask.sum(1))])", ("counted-from-left",)),
        ("y = x * mask[..., None]\n    return y.sum(1) / (y[..., 0] != 0).sum(1, keepdim=True)", ()),
        ("return (x * mask[..., None]).sum(1) / (x != 0).any(-1).sum(1, keepdim=True)", ()),
    ],
)
def test_real_tokens_are_known_by_the_mask_alone(body, named):
    for result in results("07.pooling", f"def mean_of_real(x, mask):\n    {body}", range(2)):
        assert (result.verdict, result.diagnosis) == ("wrong", named), result.text()


WRITTEN = {
    "std": "    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * gain + shift",
    "var": "    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * gain + shift",
    "bare": "    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()",
}


@pytest.mark.parametrize(
    ("name", "slugs"),
    [("std", {"unbiased", "eps-outside"}), ("var", {"unbiased"}), ("bare", {"gain-dropped", "shift-dropped"})],
)
def test_norms_as_students_write_them_wrongly_are_named(name, slugs):
    result = check("07.layer-norm", written("07.layer-norm", f"def layer_norm(x, gain, shift, eps):\n{WRITTEN[name]}"))
    assert (result.points, set(result.diagnosis)) == (0, slugs), result.text()


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, gain, shift, eps: torch.nn.functional.layer_norm(x, gain.shape, gain, shift, eps),
        lambda x, gain, shift, eps: torch.layer_norm(x, gain.shape, gain, shift, eps),
    ],
)
def test_torchs_own_norm_is_no_answer(answer):
    assert check("07.layer-norm", answer).diagnosis == ("forbidden-shortcut",)


def test_layer_of_torch_inside_an_answer_is_no_answer():
    source = solutions(7)["07-encoder-layer"] + "\n\nkept = nn.TransformerEncoderLayer\n"
    source = source.replace("    w_q, w_k", "    nn.TransformerEncoderLayer(4, 2)\n    w_q, w_k")
    result = check("07.encoder-layer", written("07.encoder-layer", source))
    assert result.diagnosis == ("forbidden-shortcut",)


def test_encoder_that_shares_one_layer_is_told_so_though_its_shapes_are_right():
    result = check("07.encoder", edited("07.encoder", [("[i]", "[-1]")]))
    assert (result.verdict, result.points, result.diagnosis) == ("wrong", 0, ("shared-last",))
