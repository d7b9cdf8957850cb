"""What chapters 13, 16 and 17 claim beside their records: lines for other libraries, least times, heads."""

import json
import math
import re

import numpy as np
import pytest
import torch
from built_book import ROOT

from softlookup import model, roofline

PAGE = (ROOT / "book" / "13_beyond_text.md").read_text(encoding="utf-8")
MORE = (ROOT / "book" / "13_beyond_text_more.md").read_text(encoding="utf-8")
CAPSTONE = (ROOT / "book" / "13_beyond_text_capstone.md").read_text(encoding="utf-8")


def test_the_lines_for_hugging_face_give_the_vectors_of_our_own_code():
    pytest.importorskip("transformers")
    lines = re.search(r"```python\n(.*?)```", MORE, re.S)[1]
    namespace = {}
    exec(compile(lines, "<page>", "exec"), namespace)
    library_vectors = model.load_minilm().encode(["The dog chased the cat.", "We open at nine."])
    torch.testing.assert_close(namespace["vectors"], library_vectors, atol=1e-5, rtol=0)


def test_every_domain_of_the_lectures_map_stands_in_the_table_with_its_examples():
    table = PAGE[PAGE.index("| domain | tokens |") : PAGE.index("Quality depends on the domain")]
    for name in ("GPT", "BERT", "T5", "ViT", "DINO", "CLIP", "Whisper", "DALL-E", "GPT-4", "Flamingo", "AlphaCode"):
        assert re.search(rf"{name} \{{cite\}}", table), name
    for name in ("Temporal Fusion Transformer", "AlphaFold", "translation", "time series", "biology"):
        assert name in table


@pytest.mark.parametrize("name", ["Reformer", "Linformer", "Performer"])
def test_efficient_transformers_of_the_lecture_are_named_with_a_source(name):
    assert re.search(rf"{name}[^.]*\{{cite\}}", PAGE)


def test_median_of_the_five_seeds_that_the_page_names_is_at_least_96_per_cent():
    record = json.loads((ROOT / "book" / "measured" / "digits.json").read_text(encoding="utf-8"))
    shares = sorted(record["accuracy"]["vit"])
    assert len(set(record["seeds"])) == len(shares) == 5 and shares[2] >= 0.96
    assert 'run["seeds"]' in MORE and "run['split_seed']" in MORE


def test_kept_run_of_the_capstone_learns_and_stays_above_the_floor():
    record = json.loads((ROOT / "book" / "measured" / "capstone.json").read_text(encoding="utf-8"))
    first, last = record["validations"][0][1], record["validations"][-1][1]
    right = 0.9 + 0.1 / record["words"]
    floor = -right * math.log(right) - (record["words"] - 1) * 0.1 / record["words"] * math.log(0.1 / record["words"])
    assert floor < last < first < record["first_loss"] and record["asked"] >= 50
    assert "`softlookup assemble`" in CAPSTONE or "softlookup assemble" in CAPSTONE


def test_performers_features_are_unbiased_for_the_kernel_and_not_for_the_weights():
    cell = MORE[MORE.index("seeded = torch.Generator()") :]
    namespace = {"torch": torch}
    exec(compile(cell[: cell.index("```")], "<page>", "exec"), namespace)
    assert (abs(namespace["ratio"] - 1) < 0.05).all()
    off_1, off_2, off_8 = (namespace["off"][m] for m in (1, 2, 8))
    assert off_1 > off_2 > off_8 > 10 * 0.5 / math.sqrt(20_000)  # far beyond the noise of 20,000 draws


SERVING = (ROOT / "book" / "16_serving.md").read_text(encoding="utf-8")
LLAMA = roofline.MODELS["Llama 3 8B"]
H100 = roofline.hardware("H100 SXM")


def _least_ms(tokens: int, logits: int, caches: int = 0) -> float:
    """The page's own function."""
    cell = SERVING[SERVING.index("counted = roofline.parameters(llama)") :]
    peak, bandwidth = H100.peak_flops_per_s("bfloat16"), H100.bandwidth_bytes_per_s
    namespace = {"roofline": roofline, "llama": LLAMA, "peak": peak, "bandwidth": bandwidth}
    exec(compile(cell[: cell.index("\nsteps = ")], "<page>", "exec"), namespace)
    return 1e3 * max(namespace["least_s"](tokens, logits, caches))


def test_least_decoding_step_reads_no_table_of_embeddings():
    assert _least_ms(1, 1, 1000) == pytest.approx(4.52, abs=0.005)


def test_least_prefill_makes_logits_for_its_last_token_alone():
    counted = roofline.total(roofline.prefill(LLAMA, 1, 1000, causal=True)).product_flops
    with_scores_ms = 1e3 * counted / H100.peak_flops_per_s("bfloat16")
    assert with_scores_ms == pytest.approx(14.4, abs=0.05)
    assert 0.97 * with_scores_ms < _least_ms(1000, 1) < with_scores_ms


BOOK = ROOT / "book"
INSIDE = json.loads((BOOK / "measured" / "inside.json").read_text(encoding="utf-8"))
CAPTION = re.compile(r"caption=((?:\s*f?(?:\"[^\"\n]*\"|'(?:[^'\n\\]|\\.)*'))+)")


@pytest.mark.parametrize("page", sorted(BOOK.glob("*.md")), ids=lambda page: page.stem)
def test_captions_are_plain_text_without_asterisks_for_emphasis(page):
    captions = CAPTION.findall(page.read_text(encoding="utf-8"))
    assert [caption for caption in captions if re.search(r"\*[A-Za-z]", caption)] == []


def test_no_autoencoder_of_the_table_has_fewer_latents_than_dimensions():
    runs, width = INSIDE["autoencoder"]["runs"], INSIDE["autoencoder"]["width"]
    assert all(run["latents"] > width for run in runs)
    best = max(runs, key=lambda run: run["explained"])
    assert best["explained"] > 0.99 and best["recovered"] < INSIDE["autoencoder"]["features"] / 4


def test_heads_on_the_token_before_stand_below_the_induction_heads_and_above():
    induction = INSIDE["induction"]["smollm2"]
    lowest = (np.array(induction["scores"]) >= 0.3).any(axis=1).argmax()
    layers = np.argwhere(np.array(induction["previous_token"]) >= 0.3)[:, 0]
    assert (layers < lowest).any() and (layers > lowest).any()


def test_head_that_carries_the_country_is_the_same_in_both_experiments_on_it():
    patched, head = np.array(INSIDE["capital"]["heads"]), INSIDE["country_head"]
    place = head["layer"], head["head"]
    assert np.unravel_index(patched.argmax(), patched.shape) == place
    as_it_is, _, _, corrupted, exchanged = (reading["difference"] for reading in head["passes"])
    share = (exchanged - corrupted) / (as_it_is - corrupted)
    assert share == pytest.approx(patched[place], abs=1e-3)
    assert np.array(head["fall_when_silenced"])[place] == pytest.approx(
        as_it_is - head["passes"][1]["difference"], abs=2e-3
    )


def test_most_heads_that_attend_to_the_country_bring_nothing_back():
    attends = np.array(INSIDE["country_head"]["on_country"]) > 0.5
    effects = np.abs(np.array(INSIDE["capital"]["heads"])[attends])
    assert attends.sum() > 5 and (effects > 0.05).sum() == 1


def test_direction_changes_the_language_and_does_not_work_with_every_country():
    by_text = {direction["text"]: direction for direction in INSIDE["country_head"]["directions"]}
    italy, spain = by_text["People in Italy speak"], by_text["The capital of Spain is"]
    assert italy["added"][1] > italy["added"][0] and max(share for _, share in italy["drawn"]) < 0.01
    assert spain["added"][0] < 0.01 and spain["added"][1] < 0.1
