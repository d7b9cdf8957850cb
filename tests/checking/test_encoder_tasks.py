"""Tasks of chapter 7: norms and layers as students write them, and torch's own."""

import pytest
import torch

from published import solutions, world
from softlookup_judge import check, get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of

WRITTEN = {
    "std": "    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * gain + shift",
    "var": "    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * gain + shift",
    "bare": "    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()",
}


@pytest.mark.parametrize(
    ("written", "slugs"),
    [("std", {"unbiased", "eps-outside"}), ("var", {"unbiased"}), ("bare", {"gain-dropped", "shift-dropped"})],
)
def test_norms_as_students_write_them_wrongly_are_named(written, slugs):
    source = f"def layer_norm(x, gain, shift, eps):\n{WRITTEN[written]}"
    result = check("07.layer-norm", world(7, {"07-layer-norm": source})["layer_norm"])
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
    result = check("07.encoder-layer", world(7, {"07-encoder-layer": source})["encoder_layer"])
    assert result.diagnosis == ("forbidden-shortcut",)


@pytest.mark.parametrize("name", ["07.encoder-layer", "07.encoder", "07.sublayer"])
def test_wrong_or_blank_earlier_answers_never_sink_what_is_built_of_them(name):
    task = get_task(name)
    for earlier in task.earlier:
        blank = f"def {earlier.name}(*args):\n    raise NotImplementedError()\n"
        for source in (earlier.mistakes[0].applied_to(solutions(7)[earlier.slug]), blank):
            result = judge(
                variant_of(task), LocalStudent(variant_of(task), world(7, {earlier.slug: source})[task.name]), seed=3
            )
            assert result.verdict == "pass", f"{earlier.id}: {result.text()}"


def test_encoder_that_shares_one_layer_is_told_so_though_its_shapes_are_right():
    source = solutions(7)["07-encoder"].replace("[i]", "[-1]")
    result = check("07.encoder", world(7, {"07-encoder": source})["Encoder"])
    assert (result.verdict, result.points, result.diagnosis) == ("wrong", 0, ("shared-last",))


def test_published_encoder_equals_torchs_own_stack():
    world_ = world(7)
    torch.manual_seed(0)
    torch_encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True, norm_first=True),
        num_layers=3,
        norm=torch.nn.LayerNorm(8),
        enable_nested_tensor=False,
    )
    encoder = world_["Encoder"](8, 2, 12, 3, True)
    with torch.no_grad():
        for i, layer in enumerate(torch_encoder.layers):
            for p in layer.parameters():
                p.normal_(std=0.3)
            layer.self_attn.in_proj_bias.zero_()
            layer.self_attn.out_proj.bias.zero_()
            rows = (*(w.T for w in layer.self_attn.in_proj_weight.chunk(3)), layer.self_attn.out_proj.weight.T)
            encoder.attention[i] = torch.stack(rows)
            encoder.w_1[i], encoder.b_1[i] = layer.linear1.weight.T, layer.linear1.bias
            encoder.w_2[i], encoder.b_2[i] = layer.linear2.weight.T, layer.linear2.bias
            norms = layer.norm1.weight, layer.norm1.bias, layer.norm2.weight, layer.norm2.bias
            encoder.norms[i] = torch.stack(norms)
        encoder.gain.copy_(torch_encoder.norm.weight)
        encoder.shift.copy_(torch_encoder.norm.bias)
        x = torch.randn(2, 5, 8)
        real = torch.tensor([[True] * 5, [True, True, False, False, False]])
        expected = torch_encoder(x, src_key_padding_mask=~real)
        torch.testing.assert_close(encoder(x, real)[real], expected[real], atol=1e-5, rtol=1e-5)
