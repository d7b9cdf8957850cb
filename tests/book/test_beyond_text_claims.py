"""What chapter 13 claims beside its records: the lines for the other library, and the tables."""

import json
import math
import re
from pathlib import Path

import pytest
import torch

from softlookup import model

ROOT = Path(__file__).resolve().parents[2]
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


def test_linear_attention_stays_flat_and_of_small_rank_where_softmax_becomes_hard():
    torch.manual_seed(0)
    q, k = torch.randn(2, 300, 8, dtype=torch.float64)
    f, g = torch.nn.functional.elu(25 * q) + 1, torch.nn.functional.elu(k) + 1
    flat = f @ g.T / (f @ g.T).sum(-1, keepdim=True)
    sharp = model.attention_weights(25 * q, k)
    assert flat.max() < 0.02 and sharp.amax(-1).mean() > 0.8
    assert torch.linalg.matrix_rank(flat) <= 8


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
