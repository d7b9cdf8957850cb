"""A tokenizer.json is read so that ids and texts are those of the tokenizers library, or is refused by its entry."""

import copy
import json
import random
import re

import pytest
import tokenizers

from softlookup.text.tokenizer_json import published_tokenizer
from tests.text.other_tokenizers import byte_level_json
from tests.text.test_text_byte_level import NAMES, TEXTS, fuzz

IDS = {"eos_token_id": 0}
DIGITS = {"type": "Digits", "individual_digits": True}
PIECES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
ADDED = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
THINK = {"id": 0, "content": "<think>"} | ADDED
ROBERTA = {"type": "RobertaProcessing", "sep": ["a", 5], "cls": ["a", 5], "trim_offsets": True}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}},
}
TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
PADDING = {
    "strategy": {"Fixed": 50},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "a",
}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}| ?\p{L}+"}, "behavior": "Isolated", "invert": False}


def steps(*items: dict) -> dict:
    return {"type": "Sequence", "pretokenizers": list(items)}


# Each entry of the file with values that give other ids or other texts: every one has to be refused by its name.
REFUSED = {
    "normalizer": [
        {"type": "NFC"},
        {"type": "NFKC"},
        {"type": "Lowercase"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Prepend", "prepend": "_"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
        {"type": "Sequence", "normalizers": [{"type": "NFD"}]},
    ],
    "post_processor": [TEMPLATE, ROBERTA],
    "version": ["2.0", 1],
    "truncation": [TRUNCATION],
    "padding": [PADDING],
    "decoder": [
        None,
        {"type": "Fuse"},
        {"type": "Sequence", "decoders": [PIECES, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    ],
    "pre_tokenizer": [
        None,
        PIECES,
        steps(PIECES),
        steps(DIGITS),
        steps(PIECES, DIGITS),
        steps(DIGITS, PIECES | {"add_prefix_space": True}),
        steps(DIGITS, PIECES | {"use_regex": False}),
        steps({"type": "Digits", "individual_digits": False}, PIECES),
        steps(SPLIT, PIECES | {"use_regex": False}),
        steps(DIGITS, {"type": "Whitespace"}, PIECES),
    ],
    "dropout": [0.5],
    "unk_token": ["<|endoftext|>"],
    "byte_fallback": [True],
    "ignore_merges": [True],
    "continuing_subword_prefix": ["##"],
    "end_of_word_suffix": ["</w>"],
    "lstrip": [True],
    "rstrip": [True],
    "single_word": [True],
    "normalized": [True],
    "special": [False],
    "a_part_of_a_later_version": [{"a": 1}, True],
}
# Values that change nothing.
READ = {
    "post_processor": [
        TEMPLATE | {"single": TEMPLATE["single"][1:], "special_tokens": {}},
        PIECES,
        PIECES | {"trim_offsets": False, "add_prefix_space": True},
    ],
    "decoder": [PIECES | {"add_prefix_space": True}],
    "pre_tokenizer": [steps(DIGITS, PIECES | {"trim_offsets": False})],
    "dropout": [0.0],
    "continuing_subword_prefix": [""],
    "end_of_word_suffix": [""],
    "fuse_unk": [True],
}


@pytest.fixture(scope="module")
def content() -> dict:
    return byte_level_json(TEXTS * 3, NAMES)


def changed(content: dict, name: str, value: object) -> dict:
    """Set an entry of the file, of its model or of all its added tokens, whichever has it."""
    content = copy.deepcopy(content)
    if name in ADDED:
        for entry in content["added_tokens"]:
            entry[name] = value
    else:
        (content["model"] if name in content["model"] else content)[name] = value
    if name in ("unk_token", "byte_fallback"):  # they matter where a byte has no token
        content = without(content, "Ã")
    return content


def without(content: dict, character: str) -> dict:
    """Take all tokens with a character out of the file."""
    tokens = [token for token in content["model"]["vocab"] if character not in token]
    content["model"]["vocab"] = {token: number for number, token in enumerate(tokens)}
    content["model"]["merges"] = [pair for pair in content["model"]["merges"] if character not in "".join(pair)]
    return content


def assert_same(content: dict, texts: list[str]) -> None:
    peer, tokenizer = tokenizers.Tokenizer.from_str(json.dumps(content)), published_tokenizer(content, IDS)
    assert len(tokenizer) == peer.get_vocab_size()
    for text in texts:
        ids = tokenizer.encode(text)
        assert ids == peer.encode(text).ids, text
        for cut in (ids, ids[:-1], ids[1::2]):
            for skips in (True, False):
                assert tokenizer.decode(cut, skip_specials=skips) == peer.decode(cut, skip_special_tokens=skips), text


def test_a_file_of_the_kind_is_read_to_the_same_ids_and_texts(content):
    assert_same(content, [*TEXTS, *fuzz()])
    assert_same(without(copy.deepcopy(content), "Ã"), TEXTS)
    for name, value in [(name, value) for name, values in READ.items() for value in values]:
        assert_same(changed(content, name, value), TEXTS)
    for name, value in (("unk_token", NAMES[0]), ("byte_fallback", True)):  # each byte has a token
        entry = copy.deepcopy(content)
        entry["model"][name] = value
        assert_same(entry, TEXTS)


@pytest.mark.parametrize("name", REFUSED)
def test_an_entry_that_gives_other_ids_is_refused_by_its_name_and_its_value(content, name):
    for value in REFUSED[name]:
        with pytest.raises(ValueError, match=re.escape(name)) as caught:
            published_tokenizer(changed(content, name, value), IDS)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize("change", [{"special": False}, {"normalized": True}, {"lstrip": True}, {"content": ""}])
def test_an_added_token_is_refused_alone(content, change):
    content = copy.deepcopy(content)
    content["added_tokens"].append(THINK | {"id": len(content["model"]["vocab"])} | change)
    with pytest.raises(ValueError, match="the added token"):
        published_tokenizer(content, IDS)


def test_added_tokens_get_their_place_as_in_the_library(content):
    n_tokens = len(content["model"]["vocab"])
    added = [THINK | {"content": text} for text in ("<think>", "<think>\n", "é日", "hiya", " the")]
    texts = [*TEXTS, "hi<think>the the<think>\n", "é日 the hiya", "<thi<think>nk>"]
    grown = copy.deepcopy(content)
    grown["added_tokens"] += [entry | {"id": n_tokens + place} for place, entry in enumerate(added)]
    assert_same(grown, texts)
    for ids in ([n_tokens + 1, n_tokens], [n_tokens, n_tokens], [n_tokens, n_tokens + 2], [0, n_tokens]):
        moved = copy.deepcopy(content)
        moved["added_tokens"] += [entry | {"id": number} for entry, number in zip(added, ids, strict=False)]
        with pytest.raises(ValueError, match="leaves ids out, or gives some of them twice"):
            published_tokenizer(moved, IDS)


def test_a_token_that_the_decoder_would_read_otherwise_is_refused(content):
    n_tokens = len(content["model"]["vocab"])
    for name in ("<é>", "é", "Ġ<s>", "Ã©"):  # the library decodes them to U+FFFD, to a space, to "é"
        named = copy.deepcopy(content)
        number = named["model"]["vocab"].get(name, n_tokens)
        named["added_tokens"].append(THINK | {"id": number, "content": name})
        peer = tokenizers.Tokenizer.from_str(json.dumps(named))
        assert peer.decode([number], skip_special_tokens=False) != name
        with pytest.raises(ValueError, match=f"added token '{name}', which its decoder writes as other characters"):
            published_tokenizer(named, IDS)
    for token in ("日", "a b"):
        odd = copy.deepcopy(content)
        odd["model"]["vocab"][token] = n_tokens
        with pytest.raises(ValueError, match=f"the token '{token}' in its vocab, which stands for no bytes"):
            published_tokenizer(odd, IDS)


def test_merges_in_any_order_give_the_same_ids_or_are_refused():
    chance, read = random.Random(0), 0
    texts = ["".join(chance.choices("ab", k=chance.randrange(1, 12))) for _ in range(30)]
    bare = byte_level_json(["x"], NAMES, vocab_size=0)
    for _ in range(150):
        content, tokens = copy.deepcopy(bare), ["a", "b"]
        merges = []
        for _ in range(chance.randrange(1, 7)):
            pair = [chance.choice(tokens), chance.choice(tokens)]
            merges += [pair]
            tokens.append("".join(pair))
        if chance.random() < 0.5:
            chance.shuffle(merges)
        vocab = content["model"]["vocab"]
        vocab |= {token: len(vocab) + n for n, token in enumerate(dict.fromkeys(tokens[2:]))}
        content["model"]["merges"] = merges
        try:
            published_tokenizer(content, IDS)
        except ValueError as error:
            assert re.search("in the order in which they were learned|stands in the list twice", str(error))
        else:
            assert_same(content, texts)
            read += 1
    assert 50 < read < 150
