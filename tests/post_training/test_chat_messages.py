"""Conversations as text and tokens: contents stay as they are, and answers begin where a model's tokens begin."""

import pytest
import torch

from softlookup.post_training import IGNORED, answer_labels, encode_chat, render_chat
from softlookup.text import ByteLevelTokenizer, Specials, Vocabulary
from softlookup.text.pieces import byte_characters

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Why?"},
    {"role": "assistant", "content": "So."},
]


def test_a_rendered_prompt_is_that_of_the_chat_model(tiny_chat):
    assert render_chat(TALK[:2], add_generation_prompt=True) == tiny_chat.prompt("Hi")


def test_without_a_generation_prompt_the_text_ends_behind_the_last_message():
    assert render_chat(TALK[1:3]) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
    assert render_chat([]) == ""
    assert render_chat([], add_generation_prompt=True) == "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"role": "user", "content": "Hi<|im_end|>"}, r"the text of the user holds <\|im_end\|>"),
        ({"role": "user"}, r"message 1 has the keys \['role'\]; it lacks 'content'"),
        ({"content": "Hi"}, r"message 1 has the keys \['content'\]; it lacks 'role'"),
        ({"role": "model", "content": "Hi"}, "message 1 has the role 'model'; wanted system, user, assistant"),
    ],
)
def test_messages_that_do_not_fit_are_refused_by_their_number(tiny_chat, message, sentence):
    with pytest.raises(ValueError, match=sentence):
        render_chat([TALK[0], message])
    with pytest.raises(ValueError, match=sentence):
        encode_chat([TALK[0], message], tiny_chat.tokenizer)


def test_special_tokens_of_the_tokenizer_are_refused_in_contents(tiny_chat):
    message = {"role": "assistant", "content": "<|endoftext|>"}
    assert "<|endoftext|>" in render_chat([message])  # ChatML has no such token
    with pytest.raises(ValueError, match=r"the text of the assistant holds <\|endoftext\|>"):
        encode_chat([message], tiny_chat.tokenizer)


def test_a_tokenizer_without_the_tokens_of_chatml_is_refused():
    names = ["<|endoftext|>", "<|im_start|>"]
    vocabulary = Vocabulary([*names, *byte_characters()], Specials(names[0], names[0], names[1], names[0]))
    with pytest.raises(ValueError, match=r"<\|endoftext\|>, <\|im_start\|>; it lacks <\|im_end\|>"):
        encode_chat(TALK, ByteLevelTokenizer(vocabulary, [], names))


def test_answers_and_their_end_tokens_are_the_assistants_and_nothing_else(tiny_chat):
    ids, is_answer = encode_chat(TALK, tiny_chat.tokenizer)
    written = [number for number, is_assistants in zip(ids, is_answer, strict=True) if is_assistants]
    assert tiny_chat.decode(written, skip_specials=False) == "Hello<|im_end|>So.<|im_end|>"
    assert tiny_chat.decode(ids, skip_specials=False) == render_chat(TALK)
    assert ids == tiny_chat.encode(render_chat(TALK))
    assert not is_answer[-1]  # the line end behind the end token


def test_a_conversation_without_an_answer_has_no_token_of_the_assistant(tiny_chat):
    ids, is_answer = encode_chat(TALK[:2], tiny_chat.tokenizer)
    assert ids == tiny_chat.encode(render_chat(TALK[:2])) and not any(is_answer) and len(is_answer) == len(ids)


@pytest.fixture
def merging_tokenizer():
    """A tokenizer that joins two line ends, as those of published models do."""
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*names, *byte_characters(), "ĊĊ"]
    return ByteLevelTokenizer(Vocabulary(tokens, Specials(names[2], names[0], names[1], names[2])), [("Ċ", "Ċ")], names)


def test_the_tokens_of_a_prompt_are_the_first_ones_of_the_prompt_with_its_answer(merging_tokenizer):
    talk = [*TALK[:2], {"role": "assistant", "content": "\n\nHello"}]
    prompt = merging_tokenizer.encode(render_chat(talk[:2], add_generation_prompt=True))
    ids, is_answer = encode_chat(talk, merging_tokenizer)
    assert ids[: len(prompt)] == prompt and is_answer.index(True) == len(prompt)
    whole = merging_tokenizer.encode(render_chat(talk))
    assert whole[: len(prompt)] != prompt  # cut as a whole, a token reaches over the beginning of the answer
    assert merging_tokenizer.decode(ids) == merging_tokenizer.decode(whole)


def test_labels_are_the_next_tokens_of_answers(tiny_chat):
    ids, is_answer = encode_chat(TALK, tiny_chat.tokenizer)
    inputs, labels = answer_labels(ids, is_answer)
    assert inputs.tolist() == ids[:-1] and len(labels) == len(inputs)
    for t, label in enumerate(labels.tolist()):
        assert label == (ids[t + 1] if is_answer[t + 1] else IGNORED)
    assert int((labels != IGNORED).sum()) == sum(is_answer)
    assert labels.dtype == inputs.dtype == torch.int64


def test_labels_of_uneven_lists_and_of_a_single_token_are_refused():
    with pytest.raises(ValueError, match="ids has 2 tokens and is_answer 3: they must be as many"):
        answer_labels([1, 2], [True, False, True])
    with pytest.raises(ValueError, match="the example has 1 tokens; wanted at least 2"):
        answer_labels([1], [True])
