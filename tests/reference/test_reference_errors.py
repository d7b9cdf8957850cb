"""What does not fit is refused: by the library's own sentences, and in tests by the annotations too."""

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from softlookup import reference as ref
from tests.refusing import refused


def z(*shape):
    return np.zeros(shape)


SIZES = [
    (lambda: ref.attention_weights(z(3, 4), z(5, 6)), ["head width 6", "q has 4", "(3, 4)", "(5, 6)"]),
    (lambda: ref.attention_weights(z(2, 3, 4), z(3, 5, 4)), ["(3,)", "(2,)", "batch"]),
    (lambda: ref.attention_weights(z(4), z(5, 4)), ["q has shape (4,)", "(..., T, H)"]),
    (lambda: ref.attention_weights(z(5, 4), z(4)), ["k has shape (4,)", "(..., S, H)"]),
    (lambda: ref.attention_weights(z(3, 0), z(5, 0)), ["head width 0"]),
    (lambda: ref.scaled_dot_product_attention(z(3, 4), z(5, 4), z(6, 2)), ["v has shape (6, 2)", "(5, 4)"]),
    (lambda: ref.scaled_dot_product_attention(z(3, 4), z(5, 4), z(2)), ["v has shape (2,)"]),
    (lambda: ref.attention_weights(z(3, 4), z(5, 4), np.ones((3, 4), bool)), ["(3, 4)", "(3, 5)"]),
    (lambda: ref.attention_weights(z(3, 4), z(5, 4), np.ones(5, bool)), ["(5,)", "give (3, 5)"]),
    (
        lambda: ref.attention_weights(z(3, 3, 3, 4), z(3, 3, 5, 4), np.ones((3, 3, 5), bool)),
        ["(3, 3, 5)", "(3, 3, 3, 5)", "all 4 axes"],
    ),
    (lambda: ref.project(z(3, 4), z(5, 2)), ["(3, 4)", "(5, 2)"]),
    (lambda: ref.project(z(3, 4), z(4, 2), z(3)), ["b has shape (3,)", "wanted (2,)"]),
    (lambda: ref.split_heads(z(3, 7), 2), ["width 7", "2 heads"]),
    (lambda: ref.split_heads(z(3, 8), 0), ["0 heads"]),
    (lambda: ref.split_heads(z(8), 2), ["(8,)"]),
    (lambda: ref.merge_heads(z(3, 4)), ["(3, 4)", "(..., N, T, H)"]),
    (
        lambda: ref.multi_head_attention(z(3, 4), z(4, 6), z(4, 4), z(4, 4), z(6, 4), 3, 2),
        ["3 query heads", "2 key-value heads"],
    ),
    (lambda: ref.multi_head_attention(z(3, 4), z(4, 6), z(4, 4), z(4, 6), z(6, 4), 2), ["width 2", "3"]),
    (
        lambda: ref.multi_head_attention(*[z(2, 2, 4), *[z(4, 4)] * 4], 2, mask=np.ones((2, 2, 2), bool)),
        ["(2, 2, 2)", "(2, 2, 2, 2)"],
    ),
    (lambda: ref.softmax_backward(z(3, 4), z(4)), ["(3, 4)", "(4,)"]),
    (lambda: ref.attention_backward(z(3, 4), z(5, 4), z(5, 2), z(3, 4)), ["(3, 4)", "(3, 2)"]),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("case", range(len(SIZES)))
def test_sizes_that_do_not_fit_are_named(case):
    call, pieces = SIZES[case]
    with pytest.raises(ValueError) as caught:
        call()
    for piece in pieces:
        assert piece in str(caught.value)


@pytest.mark.parametrize("call", [call for call, _ in SIZES[:3]])
def test_annotations_refuse_wrong_shapes_while_tests_run(call):
    with pytest.raises(TypeCheckError):
        call()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_mask_that_is_not_boolean_is_refused_and_told_what_true_means(dtype):
    with pytest.raises(TypeError, match="wanted bool, where True means: may attend"):
        ref.attention_weights(z(3, 4), z(5, 4), np.ones((3, 5), dtype))


@pytest.mark.usefixtures("unchecked")
def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="complex128"):
        ref.softmax(np.array([1j, 2.0]))


def yes(*shape):
    return np.ones(shape, dtype=bool)


test_masks_that_do_not_fit_are_named = refused(
    (lambda: ref.causal_mask(0), "length 0"),
    (lambda: ref.causal_mask(2, keys=0), "keys 0"),
    (lambda: ref.causal_mask(2, offset=-1, keys=3), "offset must be at least 0; got -1"),
    (lambda: ref.window_mask(2, 0), "width must be at least 1, the position itself; got 0"),
    (lambda: ref.padding_mask(np.zeros((1, 2)), 0), TypeError, "ids has dtype float64; wanted integers"),
    (lambda: ref.padding_mask(np.zeros(2, dtype=int), 0), r"ids has shape \(2,\)"),
    (lambda: ref.combine_masks(np.zeros((2, 2))), TypeError, "float64; wanted bool, where True means"),
    (lambda: ref.combine_masks(yes(2, 3), yes(2, 4)), r"\(2, 3\), \(2, 4\).* must be equal, or 1"),
    (lambda: ref.combine_masks(yes(2, 3, 3), yes(2, 1, 1, 3)), "or all 4"),
    (lambda: ref.combine_masks(yes(3)), "each needs 2 axes"),
)
