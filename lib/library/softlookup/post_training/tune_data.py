"""Examples to tune a chat model on: JSON lines in, batches out whose labels are the assistant's tokens alone."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from softlookup.model.published.chat import ChatModel
from softlookup.post_training.messages import ASSISTANT, IGNORED, answer_labels, encode_chat, render_chat
from softlookup.training.data import Batch
from softlookup_inside.untrusted_files import MAX_BYTES, open_regular, parse_json

Message = dict[str, str]
_RENDERED = ("tools", "functions", "documents", "chat_template_kwargs")  # beside messages, they change the text
_SHAPE = '{"messages": [{"role": ..., "content": ...}, ...]}'


@dataclass(frozen=True)
class TuneExample:
    """A conversation to learn from.

    Attributes:
        messages: Each with its role and content; the first is the system's, where the model has one.
        ids: Its T tokens.
        is_answer: For each token whether the assistant wrote it.
    """

    messages: tuple[Message, ...]
    ids: tuple[int, ...]
    is_answer: tuple[bool, ...]


def read_examples(path: str | Path, chat: ChatModel) -> list[TuneExample]:
    """Read conversations, one JSON object to a line; every line has to be right.

    A conversation without a system message gets the model's, as a question to the model does. Empty lines are left out.

    Each line is {"messages": [{"role": ..., "content": ...}, ...]}, in UTF-8 with a byte order mark or without;
    ``chat`` brings tokenizer, system message and length. FileNotFoundError; ValueError if the file is not UTF-8, holds
    no example, or a line is wrong: which, what is wrong there and what was wanted.
    """
    examples = []
    with open_regular(path) as file:
        # A longer line is cut, and refused; parse_json lets one of MAX_BYTES pass.
        lines = iter(lambda: file.readline(MAX_BYTES + 2), b"")
        for line_number, line in enumerate(lines, start=1):
            if line_number == 1:
                line = line.removeprefix(BOM_UTF8)
            if line.strip():
                try:
                    examples.append(_example(line, chat))
                except ValueError as error:
                    raise ValueError(f"{path}, line {line_number}: {error}") from error
    if not examples:
        raise ValueError(f"{path} holds no example; wanted lines of the form {_SHAPE}")
    return examples


def hold_out(examples: Sequence[TuneExample], seed: int) -> tuple[list[TuneExample], list[TuneExample]]:
    """Set a tenth of the examples apart by chance, to measure the loss on; copies of them are not learned from either.

    Gives the examples to learn from, and at least 1 and at most 50 held out. ValueError if no example is left to learn
    from.
    """
    size = min(50, max(1, len(examples) // 10))
    order = np.random.default_rng(seed).permutation(len(examples))
    apart = [examples[row] for row in sorted(order[:size])]
    ids = {example.ids for example in apart}
    remaining = [example for example in examples if example.ids not in ids]
    if not remaining:
        raise ValueError(
            f"there are too few examples ({len(examples)}): none is left to learn from beside the held out"
        )
    return remaining, apart


@dataclass(frozen=True, eq=False)
class AnswerBatch(Batch):
    """Some examples as one rectangle, padded on the right.

    Attributes:
        labels: The next token of each position where the assistant wrote it, elsewhere -100.
    """

    labels: Int[Tensor, "B T"] = field(kw_only=True)

    @property
    def tokens(self) -> int:
        """How many labels count."""
        return int((self.labels != IGNORED).sum())

    def to(self, device: torch.device | str) -> "AnswerBatch":
        """Copy the batch to a device, as Batch.to does."""
        return AnswerBatch(self.target_ids.to(device), pad_id=self.pad_id, labels=self.labels.to(device))


class ExampleBatches:
    """Batches of a fixed number of examples, in an order that seed and epoch alone decide.

    At least 1 example; ``rows`` is how many a batch has, and the last of an epoch may have fewer.
    """

    def __init__(self, examples: Sequence[TuneExample], *, pad_id: int, rows: int, seed: int = 0) -> None:
        self.pairs = [answer_labels(example.ids, example.is_answer) for example in examples]
        self.pad_id, self.rows, self.seed = pad_id, rows, seed

    def epoch(self, epoch: int, start: int = 0) -> Iterator[AnswerBatch]:
        """Give the batches of an epoch from position ``start`` on, on the CPU."""
        order = np.random.default_rng((self.seed, epoch)).permutation(len(self.pairs))
        for cut in range(start * self.rows, len(order), self.rows):
            ids, labels = zip(*(self.pairs[row] for row in order[cut : cut + self.rows]), strict=True)
            pad = torch.nn.utils.rnn.pad_sequence
            yield AnswerBatch(
                pad(list(ids), batch_first=True, padding_value=self.pad_id),
                pad_id=self.pad_id,
                labels=pad(list(labels), batch_first=True, padding_value=IGNORED),
            )


def _example(line: bytes, chat: ChatModel) -> TuneExample:
    try:
        content = parse_json(line, "it")
    except ValueError as error:
        raise ValueError(f"{error}; wanted {_SHAPE}") from error
    messages = content.get("messages") if isinstance(content, dict) else None
    if not isinstance(messages, list) or not messages:
        raise ValueError(f"it has no list of messages; wanted {_SHAPE}")
    for name in _RENDERED:
        if content.get(name):
            raise ValueError(f"it has {name}, which a template would write and ChatML does not; take it out")
    for index, message in enumerate(messages):
        _check_message(index, message)
    if not any(message["role"] == ASSISTANT for message in messages):
        raise ValueError(f"no message has the role {ASSISTANT!r}: there is no answer to learn from")
    render_chat(messages, names=chat.tokenizer.names)  # refuses a message by its number in the file
    if messages[0]["role"] != "system" and chat.system is not None:
        messages = [{"role": "system", "content": chat.system}, *messages]
    ids, is_answer = encode_chat(messages, chat.tokenizer)
    longest = chat.model.config.max_length
    if len(ids) > longest:
        raise ValueError(f"the conversation has {len(ids)} tokens; the model takes at most {longest}")
    return TuneExample(tuple(messages), tuple(ids), tuple(is_answer))


def _check_message(index: int, message: Any) -> None:
    if not isinstance(message, dict) or not all(isinstance(message.get(key), str) for key in ("role", "content")):
        raise ValueError(f"message {index} is {json.dumps(message)[:60]}; wanted a role and a content, both texts")
