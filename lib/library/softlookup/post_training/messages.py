"""Conversations: their text in ChatML, their tokens, and the labels of what the assistant wrote."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from softlookup.model.published.chat import END_TOKEN, TURN_TOKEN, begin_turn, write_turn
from softlookup.text.byte_level import ByteLevelTokenizer

IGNORED = -100
"""The label of a position that has none, as torch's cross_entropy takes it by default."""

ASSISTANT = "assistant"
_ROLES = ("system", "user", ASSISTANT)


def render_chat(
    messages: Sequence[Mapping[str, str]],
    *,
    add_generation_prompt: bool = False,
    names: Sequence[str] = (TURN_TOKEN, END_TOKEN),
) -> str:
    r"""Write a conversation as the text that a chat model reads: ChatML.

    Args:
        messages: Each with its "role" (system, user or assistant) and its "content", in their order.
        add_generation_prompt: Whether the text goes on with how an answer begins.
        names: Special tokens that no content may hold.

    Returns:
        The text. Contents stand in it exactly as they are.

    Raises:
        ValueError: If a message lacks its role or content or has anything else that is not None, a role is unknown, or
            a content is no text or holds the name of a special token; the message says which.

    Source: OpenAI 2023 (ChatML).

    >>> render_chat([{"role": "user", "content": "Hi"}], add_generation_prompt=True)
    '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n'
    """
    turns = [write_turn(*_turn(index, message), names) for index, message in enumerate(messages)]
    return "".join([*turns, *([begin_turn(ASSISTANT)] if add_generation_prompt else [])])


def encode_chat(messages: Sequence[Mapping[str, str]], tokenizer: ByteLevelTokenizer) -> tuple[list[int], list[bool]]:
    """Turn a conversation into tokens, and say which of them the assistant wrote.

    The text of an answer is cut into tokens by itself, as the model writes it: no token reaches over its beginning, so
    that the ids of a prompt are always the first ids of the prompt with its answer. An answer that begins with a line
    end or a space may have other tokens here than in the rendered text cut as a whole.

    Args:
        messages: Each with its "role" (system, user or assistant) and its "content", in their order.
        tokenizer: The model's tokenizer, which has the special tokens of ChatML.

    Returns:
        The T ids, and for each whether the assistant wrote it: the text of its turns and their end token, but not the
        line end behind, which no model writes.

    Raises:
        ValueError: As render_chat does; and if the tokenizer lacks a token of ChatML.
    """
    for name in (TURN_TOKEN, END_TOKEN):
        if name not in tokenizer.names:
            raise ValueError(f"the tokenizer has the special tokens {', '.join(tokenizer.names)}; it lacks {name}")
    ids: list[int] = []
    is_answer: list[bool] = []
    context = ""  # what stands between two answers, cut into tokens as a whole
    for index, message in enumerate(messages):
        role, content = _turn(index, message)
        turn = write_turn(role, content, tokenizer.names)
        if role != ASSISTANT:
            context += turn
            continue
        context_ids = tokenizer.encode(context + begin_turn(role))
        answer_ids = [*tokenizer.encode(content, specials=False), *tokenizer.encode(END_TOKEN)]
        ids += context_ids + answer_ids
        is_answer += [False] * len(context_ids) + [True] * len(answer_ids)
        context = "\n"
    context_ids = tokenizer.encode(context)
    return ids + context_ids, is_answer + [False] * len(context_ids)


def answer_labels(ids: Sequence[int], is_answer: Sequence[bool]) -> tuple[Int[Tensor, " t"], Int[Tensor, " t"]]:
    """Make the inputs and the labels of an example: the next token, where the assistant wrote it.

    Args:
        ids: The T tokens of an example, at least two.
        is_answer: For each token whether the assistant wrote it.

    Returns:
        The first T - 1 tokens, and for each of them the token that follows it, or IGNORED where that token is not the
        assistant's.

    Raises:
        ValueError: If there are not as many ids as answers to whether they are the assistant's, or fewer than two.

    Source: Ouyang et al. 2022, section 3.5 (supervised fine-tuning on demonstrations).

    >>> answer_labels([7, 8, 5, 2], [False, False, True, True])
    (tensor([7, 8, 5]), tensor([-100,    5,    2]))
    """
    if len(ids) != len(is_answer):
        raise ValueError(f"ids has {len(ids)} tokens and is_answer {len(is_answer)}: they must be as many")
    if len(ids) < 2:
        raise ValueError(f"the example has {len(ids)} tokens; wanted at least 2, of which the second can be predicted")
    labels = [token_id if is_label else IGNORED for token_id, is_label in zip(ids, is_answer, strict=True)]
    return torch.tensor(list(ids[:-1])), torch.tensor(labels[1:])


def _turn(index: int, message: Mapping[str, str]) -> tuple[str, str]:
    """Read the role and the content of a message."""
    if missing := [key for key in ("role", "content") if key not in message]:
        raise ValueError(f"message {index} has the keys {sorted(message)}; it lacks {missing[0]!r}")
    if further := [key for key, value in message.items() if key not in ("role", "content") and value is not None]:
        raise ValueError(
            f"message {index} has {further[0]!r}, for which ChatML has no place; wanted a role and a content alone: "
            "write it into the content, or take it out"
        )
    role, content = message["role"], message["content"]
    if not isinstance(content, str):
        raise ValueError(f"message {index} has the content {content!r:.60}; wanted a text")
    if role not in _ROLES:
        raise ValueError(f"message {index} has the role {role!r}; wanted {', '.join(_ROLES)}")
    return role, content
