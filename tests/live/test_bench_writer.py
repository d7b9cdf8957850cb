"""The benchmarks of the language model and of int8 weights: measures by other ways, and what kept records say."""

import json
import lzma
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from benchmarks import writer as bench
from benchmarks.harness import measured
from benchmarks.int8 import bench_int8
from softlookup.model import load_writer
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM
from softlookup.text.grammar import sample

KEPT, INT8 = (
    json.loads((Path(__file__).parents[2] / "book" / "measured" / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("writer", "int8")
)
SCENE = "ANNA:\nWho goes there?\n\nBEN:\nNobody, my lord, and nobody is here."


@pytest.mark.slow
def test_quick_run_gives_the_kept_records_fields(tmp_path):
    text = "\n\n".join(f"ANNA:\n{pair.english}" for pair in sample(200, 0))
    (tmp_path / "input.txt").write_text(text, encoding="utf-8")
    lines = []
    record = bench.bench_writer(quick=True, folder=tmp_path, say=lines.append)
    assert measured(record) == measured(KEPT) and len(lines) == 2
    assert record["bits_per_character"].keys() == KEPT["bits_per_character"].keys()
    assert record["samples"].keys() == KEPT["samples"].keys() and record["samples"]["texts"] == 2


def test_kept_record_shows_a_model_that_beats_all_else():
    bits = KEPT["bits_per_character"]
    others = [value for name, value in bits.items() if not name.startswith("model")]
    assert bits["model"] < min(others) and abs(bits["model, int8"] - bits["model"]) < 0.01
    assert KEPT["parameters"] == sum(parameter.numel() for parameter in load_writer().model.parameters())


def test_count_models_give_the_bits_of_their_formulas():
    # a: 3 of 4, b: 1 of 4; each count one higher, for the two characters that there are.
    assert bench._unigram_bits("aaab", "ab") == pytest.approx(-math.log2(4 / 6) - math.log2(2 / 6))
    # After b stands nothing: a has 1 of 1 + 2. After a: a twice, b once, of 3 + 2.
    assert bench._bigram_bits("aaab", "ab") == pytest.approx(-math.log2(1 / 3) - math.log2(2 / 5))


def test_a_compressor_pays_little_for_a_text_that_it_has_read():
    sizes = [bench._grown(lambda data: len(lzma.compress(data, preset=9)), SCENE * 20, text) for text in (SCENE, "q7#")]
    assert 0 <= sizes[0] <= 24 and sizes[1] < 24


@torch.no_grad()
def test_model_bits_count_every_token_once_with_half_a_context():
    torch.manual_seed(0)
    config = Config(vocab_size=20, d_model=16, n_heads=2, n_layers=1, d_hidden=32, max_length=24, tied=False)
    writer = SimpleNamespace(model=DecoderLM(config).eval(), tokenizer=range(20))
    ids = torch.randint(20, (70,)).tolist()
    most, nats = config.max_length, math.log(20)
    for place in range(1, len(ids)):
        begin = 0 if place <= most else (place - 1 - most // 2) // (most // 2) * (most // 2)
        assert place - begin <= most and (begin == 0 or place - begin > most // 2)
        nats -= float(writer.model(torch.tensor([ids[begin:place]]))[0, -1].log_softmax(-1)[ids[place]])
    assert bench._model_bits(writer, ids) == pytest.approx(nats / math.log(2), rel=1e-4)
    assert bench._model_bits(writer, ids[:5]) > 0


def test_longest_copy_counts_words_side_by_side():
    assert bench._longest_copy("my good lord of York".split(), " the good lord of all my York ") == 3
    assert bench._longest_copy(["lord"], " lordly ") == 0


def test_bench_without_its_text_is_refused(tmp_path):
    with pytest.raises(ValueError, match="--data FOLDER"):
        bench.bench_writer(quick=True, folder=None, say=print)
    with pytest.raises(FileNotFoundError, match=r"looked for input.txt and input.txt.gz"):
        bench.bench_writer(quick=True, folder=tmp_path, say=print)


PAIRS = [
    ("A dog sleeps.", "Un chien dort."),
    ("Two cats play.", "Deux chats jouent."),
    ("A man reads a book.", "Un homme lit un livre."),
]


def test_quick_run_of_int8_gives_the_kept_records_fields(tmp_path):
    for side, language in enumerate(("en", "fr")):
        (tmp_path / f"val.{language}").write_text("\n".join(pair[side] for pair in PAIRS) + "\n", encoding="utf-8")
    lines = []
    record = bench_int8(quick=True, folder=tmp_path, say=lines.append)
    assert measured(record) == measured(INT8)
    assert record["sets"]["val"].keys() == INT8["sets"]["val"].keys()
    assert record["sets"]["val"]["pairs"] == 3 and len(lines) == 1


def test_kept_record_of_int8_loses_less_than_a_fifth_of_a_point():
    assert INT8["least"] > -0.2
    assert INT8["parameters"] == 8_905_728


def test_bench_of_int8_without_a_folder_is_refused():
    with pytest.raises(ValueError, match="--data FOLDER"):
        bench_int8(quick=True, folder=None, say=print)
