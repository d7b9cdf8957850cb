"""What does not fit is refused: by the library's own sentences, and in tests by the annotations too."""

import pytest
import torch
from jaxtyping import TypeCheckError
from torch import nn, zeros

from softlookup import model
from softlookup.model import MultiHeadAttention

FORMS = [
    lambda q, k, v=None, mask=None: model.attend(q, k, k if v is None else v, mask),
    lambda q, k, v=None, mask=None: model.scaled_dot_product_attention(q, k, k if v is None else v, mask),
]


def yes(*shape):
    return torch.ones(shape, dtype=torch.bool)


ATTENTION = [
    ((zeros(3, 4), zeros(5, 6)), ["head width 6", "q has 4", "(3, 4)", "(5, 6)"]),
    ((zeros(2, 3, 4), zeros(3, 5, 4)), ["(3,)", "(2,)", "batch"]),
    ((zeros(4), zeros(5, 4)), ["q has shape (4,)", "(..., T, H)"]),
    ((zeros(5, 4), zeros(4)), ["k has shape (4,)", "(..., S, H)"]),
    ((zeros(3, 0), zeros(5, 0)), ["head width 0"]),
    ((zeros(3, 4), zeros(5, 4), zeros(6, 2)), ["v has shape (6, 2)", "(5, 4)"]),
    ((zeros(3, 4), zeros(5, 4), zeros(2)), ["v has shape (2,)"]),
    ((zeros(3, 4), zeros(5, 4), None, yes(3, 4)), ["(3, 4)", "(3, 5)"]),
    ((zeros(3, 4), zeros(5, 4), None, yes(5)), ["(5,)", "give (3, 5)"]),
    ((zeros(3, 3, 3, 4), zeros(3, 3, 5, 4), None, yes(3, 3, 5)), ["(3, 3, 5)", "(3, 3, 3, 5)", "all 4"]),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("form", FORMS, ids=["open", "fused"])
@pytest.mark.parametrize(("arguments", "pieces"), ATTENTION)
def test_sizes_that_do_not_fit_are_named(form, arguments, pieces):
    with pytest.raises(ValueError) as caught:
        form(*arguments)
    for piece in pieces:
        assert piece in str(caught.value)


@pytest.mark.parametrize("form", FORMS, ids=["open", "fused"])
@pytest.mark.parametrize("arguments", [arguments for arguments, _ in ATTENTION[:2]])
def test_annotations_refuse_wrong_shapes_while_tests_run(form, arguments):
    with pytest.raises(TypeCheckError):
        form(*arguments)


def test_annotations_of_the_layer_are_checked_too():
    with pytest.raises(TypeCheckError):
        MultiHeadAttention(8, 2)(zeros(2, 3, 8), zeros(1, 3, 8))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("form", FORMS, ids=["open", "fused"])
def test_a_float_mask_is_refused_and_told_what_true_means(form):
    with pytest.raises(TypeError, match="float32; wanted torch.bool, where True means: may attend"):
        form(zeros(3, 4), zeros(5, 4), None, zeros(3, 5))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("form", FORMS, ids=["open", "fused"])
def test_mixed_and_integer_dtypes_are_refused(form):
    with pytest.raises(TypeError, match=r"k has dtype torch.float64, beside torch.float32"):
        form(zeros(3, 4), zeros(5, 4).double())
    with pytest.raises(TypeError, match=r"v has dtype torch.float64, beside torch.float32"):
        form(zeros(3, 4), zeros(5, 4), zeros(5, 4).double())
    with pytest.raises(TypeError, match=r"torch.int64; wanted a floating-point"):
        form(zeros(3, 4).long(), zeros(5, 4).long())


LAYER = [
    (lambda: MultiHeadAttention(10, 4), ["d_model 10", "4 heads", "head_width"]),
    (lambda: MultiHeadAttention(8, 4, n_kv_heads=3), ["4 query heads", "3 key-value heads"]),
    (lambda: MultiHeadAttention(8, 0), ["n_heads 0"]),
    (lambda: MultiHeadAttention(8, 4, n_kv_heads=0), ["n_kv_heads 0"]),
    (lambda: MultiHeadAttention(8, 4, head_width=0), ["head_width", "got 0"]),
    (lambda: MultiHeadAttention(8, 2)(zeros(3, 8)), ["x has shape (3, 8)", "(B, T, D)"]),
    (lambda: MultiHeadAttention(8, 2)(zeros(2, 3, 6)), ["x has shape (2, 3, 6)", "D = 8"]),
    (lambda: MultiHeadAttention(8, 2)(zeros(2, 3, 8), zeros(2, 3, 6)), ["x_kv has shape (2, 3, 6)"]),
    (lambda: MultiHeadAttention(8, 2)(zeros(2, 3, 8), zeros(1, 3, 8)), ["2 sequences", "has 1"]),
    (lambda: MultiHeadAttention(8, 2)(zeros(2, 3, 8), mask=yes(2, 3, 3)), ["mask has shape (2, 3, 3)", "(2, 2, 3, 3)"]),
    (lambda: MultiHeadAttention(8, 2)(zeros(2, 3, 8), mask=yes(3, 4)), ["(3, 4)", "give (3, 3)"]),
    (lambda: model.split_heads(zeros(3, 7), 2), ["width 7", "2 heads"]),
    (lambda: model.split_heads(zeros(8), 2), ["(8,)"]),
    (lambda: model.merge_heads(zeros(3, 4)), ["(3, 4)", "(..., N, T, H)"]),
    (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, kdim=6)), ["kdim 6", "embed_dim 8"]),
    (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, add_zero_attn=True)), ["zero_attn"]),
    (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, add_bias_kv=True)), ["bias_kv"]),
    (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, dropout=0.1)), ["0.1", "eval()"]),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("case", range(len(LAYER)))
def test_layer_names_the_sizes_that_do_not_fit(case):
    call, pieces = LAYER[case]
    with pytest.raises(ValueError) as caught:
        call()
    for piece in pieces:
        assert piece in str(caught.value)


@pytest.mark.usefixtures("unchecked")
def test_layer_refuses_a_float_mask():
    with pytest.raises(TypeError, match="where True means"):
        MultiHeadAttention(8, 2)(zeros(2, 3, 8), mask=zeros(3, 3))
