"""The figure of activation patching: its arrays are the bench's own, and agree with what `inside` measured."""

import json
from pathlib import Path

import numpy as np
import pytest

from softlookup_course.widgets import PatchingGrid, patching_grid

MEASURED = Path(__file__).parents[2] / "book" / "measured"
RECORD, INSIDE = (
    json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8")) for name in ("patching", "inside")
)
ARRAYS = patching_grid.unpack(RECORD)
FRANCE, ITALY = (RECORD["prompts"].index(INSIDE["capital"][name]) for name in ("clean", "corrupted"))


def test_shares_of_the_pages_own_pair_are_those_of_inside():
    for name, of in (("shares", "states"), ("heads", "heads")):
        assert ARRAYS[name][ITALY, FRANCE] == pytest.approx(np.array(INSIDE["capital"][of]), abs=0.006)
    low, high = (ARRAYS["logits"][i, FRANCE] - ARRAYS["logits"][i, ITALY] for i in (ITALY, FRANCE))
    differences = [INSIDE["capital"][f"{which}_difference"] for which in ("corrupted", "clean")]
    assert [low, high] == pytest.approx(differences, abs=0.011)


def test_lens_and_direct_contributions_are_those_of_inside():
    lens, parts = INSIDE["lens"]["smollm2"]["prompt"], INSIDE["attribution"]
    # Before the first layer, softmax gives 0 for most tokens: `inside` ranks probabilities, this record logits.
    assert ARRAYS["ranks"][FRANCE, 1:, 1].tolist() == lens["rank_of_final"][1:]
    words = [RECORD["vocabulary"][i] for i in ARRAYS["lens_tokens"][FRANCE, :, 1]]
    assert words == lens["words"]
    direct = ARRAYS["direct"][FRANCE, ITALY]
    assert direct[:, :-1] == pytest.approx(np.array(parts["heads"]), abs=0.006)
    assert direct[:, -1] == pytest.approx(np.array(parts["feed_forward"]), abs=0.006)


def test_every_prompt_is_answered_and_a_vector_patched_into_itself_changes_nothing():
    tokens = ARRAYS["tokens"][0]
    for i, answer in enumerate(RECORD["answers"]):
        assert {RECORD["vocabulary"][j] for j in tokens[i, i].ravel()} == {answer}
        assert (ARRAYS["shares"][i, i] == 0).all() and (ARRAYS["heads"][i, i] == 0).all()
    assert len({*RECORD["answers"]}) == len(RECORD["prompts"]) == 12


def test_first_layer_carries_all_where_one_word_differs_and_the_last_state_carries_the_answer():
    same_frame = [(b, a) for b in range(6) for a in range(6) if a != b]
    for b, a in same_frame + [(b + 6, a + 6) for b, a in same_frame]:
        assert ARRAYS["shares"][b, a, 0, 3] == ARRAYS["shares"][b, a, 30, 4] == 1
        assert (ARRAYS["shares"][b, a, :, :3] == 0).all() and (ARRAYS["shares"][b, a, 30, :4] == 0).all()


def test_stand_in_has_the_shares_of_the_first_pair():
    figure = PatchingGrid(RECORD, (23, 4), (FRANCE, ITALY))
    assert figure.fallback.count("<tr>") == 1 + 31 and INSIDE["capital"]["corrupted"] in figure.fallback
    assert len(figure.packed) < 250_000


@pytest.mark.parametrize(("head", "first", "message"), [((30, 0), (0, 1), "30 layers of 9"), ((0, 0), (1, 1), "two")])
def test_heads_and_pairs_that_are_not_recorded_are_refused(head, first, message):
    with pytest.raises(ValueError, match=message):
        PatchingGrid(RECORD, head, first)
