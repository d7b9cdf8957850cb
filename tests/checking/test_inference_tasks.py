"""Tasks of chapter 10: the published solutions agree with the library, and two sentences hold."""

import pytest
import torch

from published import solutions, world
from softlookup import model
from softlookup_judge import check, tasks


def test_a_set_without_the_token_that_crosses_is_named():
    source = (
        "def top_p(p, mass):\n    s, i = p.sort(descending=True)\n    s[s.cumsum(-1) > mass] = 0\n"
        "    q = torch.zeros_like(p).scatter(1, i, s)\n    return q / q.sum(-1, keepdim=True)"
    )
    result = check("10.top-p", world(10, {"10-top-p": source})["top_p"])
    assert result.verdict != "pass" and result.diagnosis == ("crossing-dropped",), result.text()


@pytest.mark.parametrize("slug", ["top-left", "no-mask", "newest-only"])
def test_a_wrong_attention_does_not_sink_the_model_that_writes(slug):
    attend = next(task for task in tasks(10) if task.id == "10.attend")
    wrong = attend.mistake(slug).applied_to(solutions(10)["10-attend"])
    assert check("10.write", world(10, {"10-attend": wrong})["write"]).verdict == "pass"


def test_solutions_agree_with_the_librarys_own_functions():
    there = world(10)
    rng = torch.Generator().manual_seed(3)
    logits = torch.randn(5, 40, generator=rng, dtype=torch.float64)
    tempered = there["with_temperature"](logits, 0.7)
    close = torch.testing.assert_close
    close(tempered, model.next_token_probabilities(logits, temperature=0.7))
    close(there["top_k"](logits, 6), model.next_token_probabilities(logits, top_k=6))
    close(there["top_p"](tempered, 0.6), model.next_token_probabilities(logits, temperature=0.7, top_p=0.6))
    luck = torch.rand(5, generator=rng, dtype=torch.float64)
    assert torch.equal(there["draw"](tempered, luck), model.pick(tempered, luck))


@pytest.mark.parametrize("beams", [1, 2, 5])
def test_beam_search_of_the_notebook_finds_what_the_library_finds(beams):
    there = world(10)
    for seed in range(6):
        table = torch.randn(7, 7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).log_softmax(-1)
        ids, score = there["beam_search"](table, 0, 1, beams, 5, 0.8)
        search = model.beam_search(
            lambda text, state, table=table: (table[text[:, -1]], None),
            torch.zeros(1, 1, dtype=torch.int64),
            beams=beams,
            max_new_tokens=5,
            end_id=1,
            length_penalty=0.8,
        )
        assert list(ids) == search.best.new_ids[0].tolist()
        assert float(score) == pytest.approx(float(search.scores[0, 0]))
