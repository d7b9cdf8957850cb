"""The chat template of a model's folder: whether it writes ChatML as ChatModel does, and the system message it adds."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from softlookup.model.published.chat import END_TOKEN, TURN_TOKEN, begin_turn, write_turn
from softlookup_inside.untrusted_files import decode_utf8, naming, read_bytes, read_json_object, shortened

_ROLES = ("system", "user", "assistant")
# What templates strip, trim, escape or read: thoughts, calls of tools, white space, nothing at all.
_LONG = ("user", "assistant") * 3
_TEXTS = (
    "Hi",
    "<think>\nWhy?\n</think>\n\nBecause.",
    " \n<a  href='b'>\t& \"c\" {{ d }} é\r\n\n",
    "",
    '<tool_call>\n{"name": "f"}\n</tool_call>\n<tool_response>\n7\n</tool_response>',
)

_Conversation = tuple[list[dict[str, str]], bool]
_PROGRAM = Path(__file__).with_name("template_process.py")
_MOST_SECONDS, _MOST_BYTES, _MOST_WAIT_S = 1, 2**30, 60
_ENDED = "its process was ended: a template may take a second of computing and 1 GiB of memory"


def template_system(folder: Path) -> str | None:
    """Compare the chat template of a folder with what ChatModel writes, on conversations of all orders of roles.

    A conversation in an order that the template refuses, such as two questions in a row, is passed over.

    The template is in chat_template.jinja or tokenizer_config.json. Gives the system message that it puts before a
    conversation without one, None where it puts none, "" where there is no template. ValueError, which shows where, if
    it cannot be rendered or writes something else.
    """
    settings = read_json_object(path) if (path := folder / "tokenizer_config.json").exists() else {}
    source: object = settings.get("chat_template")
    if (jinja := folder / "chat_template.jinja").exists():
        path, source = jinja, decode_utf8(read_bytes(jinja), jinja)
    if isinstance(source, list):  # several, by their names
        defaults = [entry for entry in source if isinstance(entry, dict) and entry.get("name") == "default"]
        source = defaults[0].get("template") if defaults else source
    if source is None:
        return ""
    with naming(path):
        if not isinstance(source, str):
            raise ValueError(f"chat_template is {shortened(source)}; wanted a text, or a list with one named default")
        return _system_of(source, _special_tokens(settings))


def _special_tokens(settings: Mapping[str, Any]) -> dict[str, str]:
    contents = {name: token.get("content") if isinstance(token, dict) else token for name, token in settings.items()}
    return {name: content for name, content in contents.items() if name.endswith("_token") and isinstance(content, str)}


def _system_of(source: str, tokens: Mapping[str, str]) -> str | None:
    """Find the system message that is added, and compare all conversations."""
    question = [{"role": "user", "content": _TEXTS[0]}]
    orders: list[tuple[str, ...]] = [roles for n in (1, 2, 3) for roles in product(_ROLES, repeat=n)]
    orders += [("system", *_LONG), (*_LONG, "system", *_LONG)] * len(_TEXTS)
    conversations: list[_Conversation] = [(question, True)]
    for index, roles in enumerate(orders):
        messages = [
            {"role": role, "content": _TEXTS[(index + position) % len(_TEXTS)]} for position, role in enumerate(roles)
        ]
        conversations += [(messages, begins) for begins in (False, True)[: 1 + (roles[-1] == "user")]]
    results = _render(source, tokens, conversations)
    text, bare = results[0][0], _chatml(question, begins=True)
    system = None
    if text.endswith(bare) and text.startswith(begin_turn("system")):
        added = text.removesuffix(bare).removeprefix(begin_turn("system")).removesuffix(f"{END_TOKEN}\n")
        system = None if TURN_TOKEN in added else added
    for (messages, begins), (text, problem) in zip(conversations, results, strict=True):
        roles = tuple(message["role"] for message in messages)
        if problem and _is_usual(roles):
            raise ValueError(_unrendered(problem))
        first = [{"role": "system", "content": system}] if system is not None and roles[0] != "system" else []
        expected = _chatml([*first, *messages], begins=begins)
        if not problem and text != expected:
            raise ValueError(_difference(text, expected))
    return system


def _render(source: str, tokens: Mapping[str, str], conversations: Sequence[_Conversation]) -> list[tuple[str, str]]:
    """Render conversations as transformers' apply_chat_template does, in a process that is bounded.

    ``source`` is in jinja's language; ``tokens`` go by their names in tokenizer_config.json; a conversation is its
    messages, and whether an answer begins behind them. For each it gives the text and no problem, or no text and the
    problem.
    """
    request = {
        "source": source,
        "tokens": tokens,
        "conversations": conversations,
        "seconds": _MOST_SECONDS,
        "bytes": _MOST_BYTES,
    }
    words = [sys.executable, "-P", str(_PROGRAM)]
    try:
        done = subprocess.run(
            words, input=json.dumps(request), capture_output=True, text=True, errors="replace", timeout=_MOST_WAIT_S
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(_unrendered(_ENDED)) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise ValueError(_unrendered(lines[-1] if lines else _ENDED))
    return [(text, problem) for text, problem in json.loads(done.stdout)]


def _chatml(messages: Sequence[Mapping[str, str]], *, begins: bool) -> str:
    turns = "".join(write_turn(message["role"], message["content"], ()) for message in messages)
    return turns + (begin_turn("assistant") if begins else "")


def _is_usual(roles: Sequence[str]) -> bool:
    """Whether question and answer take turns, behind a system message or without."""
    turns = roles[1:] if roles[0] == "system" else roles
    return bool(turns) and all(role == _ROLES[1 + position % 2] for position, role in enumerate(turns))


def _difference(text: str, expected: str) -> str:
    position = next((i for i, pair in enumerate(zip(text, expected, strict=False)) if pair[0] != pair[1]), None)
    position = min(len(text), len(expected)) if position is None else position
    begin = max(0, position - 20)
    return (
        f"the chat template differs from ChatML, which is what this library writes, at character {position} of a "
        f"conversation: it writes {text[begin : position + 40]!r} for {expected[begin : position + 40]!r}. Use a "
        "program that reads the template, or take the template out of the folder to write in ChatML"
    )


def _unrendered(problem: str) -> str:
    return f"the chat template cannot be rendered: {shortened(problem, 200)}"
