"""What chapter 8 says in words holds: of masks that PyTorch takes, of a test for leaks, of the slides' masks."""

import re

import numpy as np
import pytest
import torch
from built_book import ROOT
from torch import nn

from softlookup import model, reference

PAGE, MORE = (
    (ROOT / "book" / f"08_decoder_and_masks{ending}.md").read_text(encoding="utf-8") for ending in ("", "_more")
)
BLIND = torch.zeros(1, 3, dtype=torch.bool)
Q, K, V = torch.randn(1, 1, 4), torch.randn(1, 3, 4), torch.eye(3)[None]


def test_blind_row_differs_within_pytorch_as_the_page_says():
    assert "even PyTorch is not consistent" in PAGE
    assert "PyTorch's layer, however, gives NaN." in MORE
    assert nn.functional.scaled_dot_product_attention(Q, K, V, BLIND).eq(0).all()
    weights = nn.MultiheadAttention(4, 1, batch_first=True)(Q, K, K, attn_mask=~BLIND)[1]
    assert weights.isnan().all()


def test_masks_of_floats_are_added_by_pytorch_and_refused_here():
    assert "| PyTorch's, where the mask holds floats |" in PAGE
    added = torch.tensor([[-torch.inf, 0.0, 0.0]])
    assert nn.functional.scaled_dot_product_attention(Q, K, V, added)[0, 0, 0] == 0
    assert nn.MultiheadAttention(4, 1, batch_first=True)(Q, K, K, attn_mask=added)[1][0, 0, 0] == 0
    with pytest.raises(TypeError):
        model.attention_weights(Q[0], K[0], added)


def test_leaks_by_a_mean_over_positions_are_found_and_labels_that_were_not_shifted_are_not():
    """A model that copies its input does not move at earlier places: only its loss gives it away."""
    assert "One mistake it cannot find: labels that were not shifted." in PAGE
    ids = torch.randint(8, (2, 6))
    other = ids.clone()
    other[:, 4] = (other[:, 4] + 1) % 8
    copied, copied_other = (nn.functional.one_hot(x, 8).float() for x in (ids, other))
    assert (copied == copied_other)[:, :4].all()
    assert (copied.mean(1, keepdim=True) != copied_other.mean(1, keepdim=True)).any()


def test_sentences_of_the_batch_are_translated_as_the_page_lays_them_out():
    translator = model.load_translator()
    for text, words in (
        ("A black dog is running through the snow.", "Un chien noir court dans la neige ."),
        ("Two men are talking.", "Deux hommes parlent ."),
    ):
        quoted = ", ".join(f'"{word}"' for word in words.split())
        assert f"[{quoted}]" in PAGE
        tokens = translator.translate(text, beams=1).tokens
        assert [token.strip("▁") for token in tokens] == [*words.split(), "</s>"]


def test_filled_rows_shifted_differ_from_the_slides_row_in_one_place():
    labels = ["J'", "aime", "l'", "apprentissage", "profond", "<EOS>", "<PAD>", "<PAD>"]
    slide = ["<BOS>", *labels[:5], "<PAD>", "<PAD>"]
    decoder_input = ["<BOS>", *labels[:-1]]
    assert [i for i in range(8) if decoder_input[i] != slide[i]] == [6]


def test_counts_of_the_slides_masks_are_the_audited_ones():
    past, words = reference.causal_mask(5), np.array([1, 1, 1, 0, 0], bool)[None]
    assert ((past & words).sum(), (past | words).sum()) == (12, 18)
    past, words = reference.causal_mask(8), np.arange(8)[None] < 6
    assert (past.sum(), (past & words).sum()) == (36, 33)


def test_no_number_of_half_precision_is_typed():
    prose = re.sub(r"```.*?```", "", PAGE + MORE, flags=re.DOTALL)
    assert "65504" not in prose
