"""A folder with a chat model: its template is compared with ChatML; its weights may lie in several files."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from softlookup.model import DecoderLM
from softlookup.model.published.chat_folder import load_chat
from softlookup.model.published.families import gpt2_config, gpt2_weights
from softlookup.post_training.tune_data import read_examples
from tests.post_training.tiny_folder import NAMES, write_tiny_folder

TURN = "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
BEGIN = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
PLAIN = "{% for message in messages %}" + TURN + "{% endfor %}" + BEGIN
DEFAULT = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe nice.<|im_end|>\n' }}{% endif %}" + TURN + "{% endfor %}" + BEGIN
)
# A system message in its own place, blocks on lines of their own, and question and answer in turn or nothing.
STRICT = """
{%- set turns = messages %}
{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- set turns = messages[1:] %}
{%- endif %}
{%- for message in turns %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Take turns.') }}{% endif %}
    {{- '<|im_start|>' + message.role + '\\n' + message.content + eos_token + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}"""
CONTENT = "message['content']"
REFUSED = {
    "strips thoughts": (
        PLAIN.replace(CONTENT, f"({CONTENT}.split('</think>')[-1] if message.role == 'assistant' else {CONTENT})"),
        r"it writes .* for '.*<think>",
    ),
    "strips earlier thoughts": (
        PLAIN.replace(
            CONTENT,
            f"({CONTENT}.split('</think>')[-1] if message.role == 'assistant' and not loop.last else {CONTENT})",
        ),
        r"it writes .* for '.*<think>",
    ),
    "thoughts late": (
        PLAIN.replace(CONTENT, f"({CONTENT}.split('</think>')[-1] if loop.index0 > 4 else {CONTENT})"),
        r"it writes .* for '.*<think>",
    ),
    "joins spaces": (PLAIN.replace(CONTENT, f"({CONTENT} | replace('  ', ' '))"), "differs from ChatML"),
    "trims": (PLAIN.replace(CONTENT, f"{CONTENT} | trim"), "differs from ChatML"),
    "escapes": (PLAIN.replace(CONTENT, f"{CONTENT} | e"), "differs from ChatML"),
    "another format": ("{% for m in messages %}[INST] {{ m.content }}{% endfor %}", r"at character 0 .*\[INST\]"),
    "a start": ("{{ bos_token }}" + PLAIN, r"at character 2 of a conversation: it writes '<\|endoftext\|><\|im_start"),
    "no line end": (PLAIN.replace(" + '\n' }}{% endfor", " }}{% endfor"), "differs from ChatML"),
    "empty thoughts": (PLAIN + "{% if add_generation_prompt %}<think>\n{% endif %}", "differs"),
    "another role": (PLAIN.replace("message['role']", "message['role'] | replace('assistant', 'model')"), "model"),
    "two default turns": (DEFAULT.replace("Be nice.", "Be<|im_end|>\n<|im_start|>user\nnice."), "differs"),
    "the date": ("{{ strftime_now('%d') }}" + PLAIN, "cannot be rendered: it writes the date"),
    "no system": (
        PLAIN.replace(TURN, "{% if message.role == 'system' %}{{ raise_exception('No.') }}{% endif %}" + TURN),
        "cannot be rendered: it says No.",
    ),
    "no template": ("{% for %}", "cannot be rendered"),
    "fails": ("{{ 1 / 0 }}", "cannot be rendered: division by zero"),
    "is unsafe": ("{{ ''.__class__.__mro__ }}", "cannot be rendered: .*unsafe"),
    "an unknown tag": ("{% generation %}{% endgeneration %}", "cannot be rendered: .*unknown tag"),
    "loops without an end": (
        "{% set x = range(99999) %}{% for i in x %}{% for j in x %}{% endfor %}{% endfor %}",
        "cannot be rendered: its process was ended: a template may take a second",
    ),
    "calls itself": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "cannot be rendered: maximum recursion"),
    "a long range": ("{% for i in range(10**9) %}{% endfor %}", "cannot be rendered: Range too big"),
    "a long text": ("{{ 'x' * 10**10 }}", "cannot be rendered: "),
    "a text that doubles": ("{% set x = 'x' * 10**6 %}" + "{% set x = x ~ x %}" * 15, "cannot be rendered: "),
    "a text that is written": ("{{ 'x' * 10**6 }}", "cannot be rendered: it writes 1,000,000 characters"),
    "long in an order": (
        PLAIN + "{% if messages | length > 1 and messages[0].role == messages[1].role %}{{ 'x' * 10**6 }}{% endif %}",
        "cannot be rendered: it writes 1,000,",
    ),
    "a number": (3, "chat_template is 3; wanted a text"),
    "none by default": ([{"name": "tool_use", "template": PLAIN}], "wanted a text, or a list with one named default"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("tiny"))


def set_template(folder: Path, template: object) -> None:
    settings = {"chat_template": template, "bos_token": NAMES[0], "eos_token": {"content": NAMES[2]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


@pytest.mark.parametrize(
    ("template", "system"),
    [
        (None, ""),
        (PLAIN, None),
        (DEFAULT, "Be nice."),
        (STRICT, None),
        ([{"name": "tool_use", "template": "x"}, {"name": "default", "template": DEFAULT}], "Be nice."),
    ],
)
def test_a_template_of_chatml_is_read_to_what_transformers_renders(folder, tmp_path, template, system) -> None:
    set_template(folder, template)
    chat = load_chat(folder)
    assert chat.system == system
    file, messages = tmp_path / "examples.jsonl", [{"role": "user", "content": "Hi"}]
    answered = [*messages, {"role": "assistant", "content": "Ho"}]
    file.write_text(json.dumps({"messages": answered}))
    learned = chat.decode(list(read_examples(file, chat)[0].ids), skip_specials=False)
    first = "" if system is None else f"<|im_start|>system\n{system}<|im_end|>\n"
    assert chat.prompt("Hi") == f"{first}<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert learned == chat.prompt("Hi") + "Ho<|im_end|>\n"
    assert chat.prompt("Hi", system="S").startswith("<|im_start|>system\nS<|im_end|>\n<|im_start|>user")
    peer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), eos_token="<|im_end|>")
    if template is not None:
        peer.chat_template = template if isinstance(template, str) else template[1]["template"]
        rendered = peer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        assert rendered == chat.prompt("Hi") and peer.apply_chat_template(answered, tokenize=False) == learned


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", REFUSED)
def test_a_template_that_writes_anything_else_is_refused(folder, name) -> None:
    template, message = REFUSED[name]
    set_template(folder, template)
    with pytest.raises(ValueError, match=message) as caught:
        load_chat(folder)
    assert str(folder) in str(caught.value) and "\n" not in str(caught.value)


def test_the_template_in_a_file_comes_before_the_one_in_the_settings(folder) -> None:
    set_template(folder, REFUSED["trims"][0])
    (folder / "chat_template.jinja").write_text(DEFAULT)
    assert load_chat(folder).system == "Be nice."
    (folder / "chat_template.jinja").write_text(REFUSED["trims"][0])
    set_template(folder, DEFAULT)
    with pytest.raises(ValueError, match=r"chat_template.jinja: the chat template differs"):
        load_chat(folder)


def special(content: str, **flags: bool) -> dict[str, object]:
    plain = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    return {"content": content} | plain | flags


def other_ids(folder: Path) -> bool:
    """Whether transformers cuts a text of the folder otherwise than its tokenizer.json says."""
    text = f"{NAMES[1]}user\nHi <new> zz  \n{NAMES[2]}\n {NAMES[1]}"
    peer = transformers.AutoTokenizer.from_pretrained(folder)
    file = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    return peer(text, add_special_tokens=False).input_ids != file(text, add_special_tokens=False).input_ids


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("added_tokens_decoder", {"1": special(NAMES[1], lstrip=True)}),
        ("added_tokens_decoder", {"2": special(NAMES[2], rstrip=True)}),
        ("added_tokens_decoder", {"259": special("<new>")}),
        ("additional_special_tokens", ["<new>"]),
        ("extra_special_tokens", {"image_token": "<new>"}),
        ("eos_token", "zz"),
        ("pad_token", special("zz") | {"__type": "AddedToken"}),
        ("split_special_tokens", True),
        ("add_prefix_space", True),
    ],
)
def test_settings_with_which_a_text_has_other_ids_are_refused_by_their_name(tmp_path, name, value) -> None:
    settings = {"tokenizer_class": "GPT2Tokenizer", "eos_token": NAMES[2], name: value}
    (write_tiny_folder(tmp_path) / "tokenizer_config.json").write_text(json.dumps(settings))
    assert other_ids(tmp_path)
    with pytest.raises(ValueError, match=r"tokenizer_config\.json: it has ") as caught:
        load_chat(tmp_path)
    assert name.removesuffix("s_decoder").replace("_", " ") in str(caught.value).replace("_", " ")


def test_settings_that_transformers_has_written_are_read(tmp_path) -> None:
    settings = {
        "added_tokens_decoder": {str(number): special(name) for number, name in enumerate(NAMES)},
        "additional_special_tokens": NAMES[1:],
        "chat_template": PLAIN,
        "bos_token": NAMES[1],
        "eos_token": special(NAMES[2]) | {"__type": "AddedToken"},
        "unk_token": None,
        "add_bos_token": False,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 160,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    (write_tiny_folder(tmp_path) / "tokenizer_config.json").write_text(json.dumps(settings))
    assert load_chat(tmp_path).system is None and not other_ids(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)
    assert load_chat(tmp_path).system is None and not other_ids(tmp_path)


def shards(folder: Path) -> tuple[Path, dict[str, str]]:
    """Divide the weights of a tiny folder between two files, and give the index and what it says."""
    write_tiny_folder(folder)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names, weight_map = sorted(tensors), {}
    for number, part in enumerate((names[::2], names[1::2]), start=1):
        file = f"model-0000{number}-of-00002.safetensors"
        save_file({name: tensors[name] for name in part}, folder / file)
        weight_map |= dict.fromkeys(part, file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))
    return index, weight_map


def test_weights_in_several_files_are_those_of_one(folder, tmp_path) -> None:
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    (folder / "tokenizer_config.json").unlink(missing_ok=True)
    shards(tmp_path)
    whole, parts = load_chat(folder).model.state_dict(), load_chat(tmp_path).model.state_dict()
    assert whole.keys() == parts.keys() and all(torch.equal(tensor, parts[name]) for name, tensor in whole.items())


def test_an_index_that_does_not_fit_is_refused(tmp_path) -> None:
    inside = tmp_path / "inside"
    index, weight_map = shards(inside)
    first, *_ = weight_map
    (tmp_path / "x.safetensors").write_bytes((inside / weight_map[first]).read_bytes())
    for changed, message in (
        ({first: "../x.safetensors"}, "wanted an object with the name of a file of this folder"),
        ({first: str(tmp_path / "x.safetensors")}, "wanted an object with the name of a file of this folder"),
        ({first: "..\\x.safetensors"}, "wanted an object with the name of a file of this folder"),
        ({first: "config.json"}, "wanted an object with the name of a file of this folder"),
        ({first: 3}, "wanted an object with the name of a file of this folder"),
        ({first: "absent.safetensors"}, "stands in one of them alone|there is no file"),
        ({"further": weight_map[first]}, "further stands in one of them alone"),
    ):
        index.write_text(json.dumps({"weight_map": weight_map | changed}))
        with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
            load_chat(inside)
        assert str(inside) in str(caught.value)
    del weight_map[first]
    for content in ({"weight_map": weight_map}, {"weight_map": {}}, {"weight_map": []}, {}):
        index.write_text(json.dumps(content))
        with pytest.raises(ValueError, match=r"index.json"):
            load_chat(inside)
    index.unlink()
    with pytest.raises(FileNotFoundError, match=r"there is no file .*model.safetensors$"):
        load_chat(inside)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_weights_that_are_no_floating_point_numbers_are_refused(tmp_path, dtype) -> None:
    path = write_tiny_folder(tmp_path) / "model.safetensors"
    tensors, name = load_file(path), "model.layers.1.mlp.up_proj.weight"
    save_file(tensors | {name: tensors[name].to(dtype)}, path)
    with pytest.raises(ValueError, match=f"{name} has dtype {dtype}; wanted floating-point numbers"):
        load_chat(tmp_path)
    sizes = {"vocab_size": 9, "n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 8, "eos_token_id": 0}
    config = gpt2_config({"model_type": "gpt2"} | sizes)
    weights = {f"h.0.{name}": torch.zeros(shape) for name, shape in GPT2_LAYER.items()}
    weights |= {"wte.weight": torch.zeros(9, 8, dtype=dtype), "wpe.weight": torch.zeros(8, 8)}
    weights |= {"ln_f.weight": torch.ones(8), "ln_f.bias": torch.zeros(8)}
    with pytest.raises(ValueError, match=f"wte.weight has dtype {dtype}"):
        gpt2_weights(weights, config)
    weights["wte.weight"] = torch.zeros(9, 8, dtype=torch.float16)
    DecoderLM(config).load_state_dict(gpt2_weights(weights, config))


GPT2_LAYER = {
    "ln_1.weight": (8,), "ln_1.bias": (8,), "ln_2.weight": (8,), "ln_2.bias": (8,),
    "attn.c_attn.weight": (8, 24), "attn.c_attn.bias": (24,), "attn.c_proj.weight": (8, 8), "attn.c_proj.bias": (8,),
    "mlp.c_fc.weight": (8, 32), "mlp.c_fc.bias": (32,), "mlp.c_proj.weight": (32, 8), "mlp.c_proj.bias": (8,),
}  # fmt: skip
