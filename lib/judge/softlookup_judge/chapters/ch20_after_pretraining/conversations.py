"""Supervised fine-tuning: the text of a conversation, its labels, the loss, and examples packed into one row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.forbidden import SOFTMAXES
from softlookup_judge.chapters.oracles import torch

_WORDS = "river boats moon {start} naïve 42 élan {} tea 'll %s".split()


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _template_cases(rng: Rng, start: str, end: str) -> list[Case]:
    def sentence(length: int) -> str:
        return " ".join(_WORDS[i] for i in rng.integers(len(_WORDS), size=length))

    brief = _message("system", "Be brief.")
    question, answer = _message("user", "What is 2 + 2?"), _message("assistant", "4")
    random_messages = [_message(role, sentence(int(rng.integers(2, 6)))) for role in ("user", "assistant", "user")]
    marked = [
        _message("user", f"What do {end} and {start}assistant mark?"),
        _message("assistant", '{"a": 1}, 100 %, \\n'),
    ]
    spaced = [_message("user", "  two\n\nlines \n"), _message("assistant", "\n    return 4\n"), _message("user", " ")]
    returns = [
        _message("user", "one\r\ntwo\rthree\tfour\x0cfive"),
        _message("assistant", "nai\u0308ve\u2028six\r\n\r\n"),
    ]
    two_questions = [_message("user", "Wait."), _message("user", "Who?"), _message("assistant", "I.")]
    long = [_message(role, sentence(9)) for _ in range(35) for role in ("user", "assistant")]
    long[41] = _message("assistant", sentence(400))
    rows: list[tuple[str, list[dict[str, str]], bool]] = [
        ("a system message, a question and an answer", [brief, question, answer], False),
        ("a question that waits for its answer", [brief, question], True),
        ("no system message", [question], True),
        ("a question, and no answer asked for", [question], False),
        ("an answer, and a further answer asked for", [question, answer], True),
        ("two questions in a row, two answers in a row", [*two_questions, _message("assistant", "You.")], False),
        ("contents that begin and end with spaces and line ends", spaced, True),
        ("line ends of several kinds, a tab, and an accent by itself", returns, False),
        ("contents that hold marks, braces and a backslash", marked, False),
        ("contents without a character", [_message("system", ""), question, _message("assistant", "")], False),
        ("a system message later on", [question, answer, _message("system", "Be kind."), question], True),
        ("a drawn conversation", [brief, *random_messages], bool(rng.integers(2))),
        ("seventy messages, one of 400 words", long, True),
        ("no message", [], False),
        ("no message, and an answer asked for", [], True),
    ]
    return [Case(label, (messages, is_asked)) for label, messages, is_asked in rows]


@graded(
    "20.template",
    _template_cases,
    frame="text",
    variants=(
        {"start": "<|im_start|>", "end": "<|im_end|>"},
        {"start": "<start_of_turn>", "end": "<end_of_turn>"},
        {"start": "<|turn|>", "end": "<|end|>"},
        {"start": "[turn]", "end": "[/turn]"},
    ),
)
def _chat_text(messages: list[dict[str, str]], add_generation_prompt: bool, start: str, end: str) -> str:
    """The lines of the text, each closed by a line end, as the pieces between them come."""
    lines = [line for message in messages for line in (start + message["role"], message["content"] + end)]
    return "\n".join([*lines, *[start + "assistant"] * add_generation_prompt, ""])


def _turns(*lengths: int) -> list[bool]:
    """Whether tokens are the assistant's: turns of so many tokens, that of somebody else first."""
    return [bool(turn % 2) for turn, length in enumerate(lengths) for _ in range(length)]


def _mask_cases(rng: Rng, ignored: int) -> list[Case]:
    def case(label: str, *lengths: int, v: int = 90) -> Case:
        is_answer = np.array(_turns(*lengths))
        ids = rng.integers(3, v, size=len(is_answer))
        # A few tokens that have the id 0, asked and answered, and ids that are met on both sides.
        ids[0], ids[-1] = 0, ids[len(ids) // 2]
        if is_answer.any():
            ids[np.flatnonzero(is_answer)[-1]] = 0
        return Case(label, (ids, is_answer))

    return [
        case("a question of four tokens, an answer of three", 4, 3),
        case("two questions and two answers", 3, 2, 4, 3),
        case("an answer that is followed by a question", 2, 4, 3),
        case("three answers, of one token to four", 2, 1, 3, 4, 1, 2, 2),
        case("no answer", 6),
        case("the assistant begins", 0, 3, 2, 2),
        case("nothing but an answer", 0, 5),
        case("one token and an answer of one token", 1, 1),
        case("drawn turns", *(int(n) for n in rng.integers(1, 6, size=6))),
        case("seven hundred tokens, a large vocabulary", 301, 40, 9, 350, v=200_000),
    ]


@graded("20.loss-mask", _mask_cases, frame="numpy", variants=({"ignored": -100}, {"ignored": -1}))
def _targets(ids: Any, is_answer: Any, ignored: int) -> Any:
    """Token by token, in the words of the task."""
    steps = range(1, len(ids))
    labels = [int(ids[t]) if is_answer[t] else ignored for t in steps]
    return np.array([int(ids[t - 1]) for t in steps]), np.array(labels)


def _labelled(rng: Rng, v: int, *counts: Sequence[int]) -> np.ndarray:
    """Labels (B, T): in each row those at the positions that are named, and -100 at all others."""
    length = max(max(row, default=0) for row in counts) + 2
    labels = np.full((len(counts), length), -100)
    for row, at in enumerate(counts):
        labels[row, list(at)] = rng.integers(1, v - 1, size=len(at))
    return labels


def _loss_cases(rng: Rng) -> list[Case]:
    def case(label: str, labels: np.ndarray, v: int, scale: float = 2.0, **facts: Any) -> Case:
        return Case(label, (doubles(rng, *labels.shape, v, scale=scale), labels), **facts)

    uneven = _labelled(rng, 7, (1, 2, 3), (2,), (0, 4))
    ends = _labelled(rng, 5, (0, 1, 2, 3), (1,))
    ends[0, :2] = 0, 4  # the first id and the last one are right somewhere
    full = rng.integers(0, 6, size=(2, 4))
    apart = _labelled(rng, 6, (0, 1, 4), (2, 3), (1,))
    apart_logits = doubles(rng, *apart.shape, 6, scale=2.0)
    apart_logits += rng.permutation([-4000.0, -900.0, 0.0, 900.0, 2500.0, 4000.0])[None, :, None]
    certain = doubles(rng, 2, 4, 5)
    certain[0, 1, 3] += 1000.0
    certain_labels = np.array([[-100, 3, 0, -100], [1, -100, -100, 4]])
    thousands = doubles(rng, 3, 5, 4, scale=1500.0)
    near_labels = _labelled(rng, 5, (0, 1), (1,))
    near = 5000 + doubles(rng, *near_labels.shape, 5)
    last_alone = _labelled(rng, 9, (3,), (3,), ())
    return [
        case("three rows with three labels, one label and two", uneven, 7),
        case("a row without a label", _labelled(rng, 6, (2, 3), (), (1, 4, 5)), 6),
        case("the first and the last token of the vocabulary", ends, 5),
        case("a label everywhere", full, 6),
        case("one label in the batch", _labelled(rng, 5, (), (2,), ()), 5),
        case("as many rows, tokens and ids", np.array([[-100, 1, 2], [0, -100, -100], [-100, 2, -100]]), 3),
        case("one row", _labelled(rng, 8, (1, 2, 5)), 8),
        case("labels at one position alone", last_alone, 9),
        case("a vocabulary of more than 1,000 ids", _labelled(rng, 1031, (0, 1)), int(rng.integers(1031, 1100)), 1.0),
        case("almost four hundred labels", _labelled(rng, 4, range(300), range(1, 98)), 4),
        Case("rows that lie thousands apart", (apart_logits, apart), part="large", tolerance=1e-8),
        Case(
            "logits in the thousands",
            (thousands, _labelled(rng, 4, (1, 2), (0, 3), (3,))),
            part="large",
            tolerance=1e-8,
        ),
        Case("logits near 5,000", (near, near_labels), part="large", tolerance=1e-8),
        Case("a label that is certain, with a loss of 0", (certain, certain_labels), part="large"),
        Case("float32", (normal(rng, *uneven.shape, 7), uneven)),
    ]


@graded(
    "20.sft-loss",
    _loss_cases,
    frame="numpy",
    parts={"core": 0.7, "large": 0.3},
    forbids=(*SOFTMAXES, "torch.nn.functional.nll_loss", "torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss"),
)
def _sft_loss(logits: Any, labels: Any) -> Any:
    ids = torch.from_numpy(np.asarray(labels).astype(np.int64)).flatten()
    rows = torch.from_numpy(np.ascontiguousarray(logits)).flatten(0, 1)
    return torch.nn.functional.cross_entropy(rows, ids, ignore_index=-100).numpy()


def _packed_cases(rng: Rng) -> list[Case]:
    rows = {
        "three examples, of four, two and three tokens": [4, 2, 3],
        "two examples": [2, 5],
        "one example": [4],
        "examples of one token": [1, 1, 1],
        "a token alone between two longer examples": [3, 1, 2, 1],
        "four examples of equal length": [2, 2, 2, 2],
        "drawn lengths": [int(n) for n in rng.integers(1, 6, size=4)],
        # Numbers that 8 bits do not hold.
        "more than 256 examples": [1 + int(i % 64 == 3) for i in range(int(rng.integers(258, 300)))],
        "an example of more than 256 tokens": [2, int(rng.integers(258, 300)), 3],
    }
    return [Case(label, (np.array(lengths),)) for label, lengths in rows.items()]


@graded("20.packed", _packed_cases, frame="numpy", cuts=False)
def _packed(lengths: Any) -> Any:
    """The triangle of each example on the diagonal of a larger matrix."""
    sizes = [int(n) for n in lengths]
    may_attend = np.zeros((sum(sizes), sum(sizes)), dtype=bool)
    begin = 0
    for n in sizes:
        may_attend[begin : begin + n, begin : begin + n] = np.tri(n, dtype=bool)
        begin += n
    return np.concatenate([np.arange(n) for n in sizes]), may_attend
