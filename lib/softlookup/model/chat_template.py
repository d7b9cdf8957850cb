"""The chat template of a model's folder: whether it writes ChatML as ChatModel does, and the system message it adds."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

from softlookup.model.chat import END_TOKEN, TURN_TOKEN, begin_turn, write_turn
from softlookup.untrusted_files import decode_utf8, naming, read_bytes, read_json_object, shortened

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


def template_system(folder: Path) -> str | None:
    """Compare the chat template of a folder with what ChatModel writes, on conversations of all orders of roles.

    A conversation in an order that the template refuses, such as two questions in a row, is passed over.

    Args:
        folder: Where chat_template.jinja or tokenizer_config.json may be.

    Returns:
        The system message that the template puts before a conversation without one; None where it puts none; the
        empty text where there is no template.

    Raises:
        ValueError: If the template cannot be rendered, or writes something else; the message shows where.
    """
    settings = read_json_object(path) if (path := folder / "tokenizer_config.json").exists() else {}
    source: object = settings.get("chat_template")
    if (jinja := folder / "chat_template.jinja").exists():
        path, source = jinja, decode_utf8(read_bytes(jinja), jinja)
    if isinstance(source, list):  # several, by their names
        named = [entry for entry in source if isinstance(entry, dict) and entry.get("name") == "default"]
        source = named[0].get("template") if named else source
    if source is None:
        return ""
    with naming(path):
        if not isinstance(source, str):
            raise ValueError(f"chat_template is {shortened(source)}; wanted a text, or a list with one named default")
        return _system_of(_Template(source, settings))


class _Template:
    """Renders conversations as transformers' apply_chat_template does.

    Args:
        source: The template, in jinja's language.
        settings: What tokenizer_config.json holds: names of special tokens.
    """

    def __init__(self, source: str, settings: Mapping[str, Any]) -> None:
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        self._tokens = {}
        for name, token in settings.items():
            token = token.get("content") if isinstance(token, dict) else token
            if name.endswith("_token") and isinstance(token, str):
                self._tokens[name] = token
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _refuse_date}
        try:
            self._template = environment.from_string(source)
        except Exception as error:
            raise ValueError(_unrendered(error)) from error

    def render(self, messages: Sequence[Mapping[str, str]], *, begins: bool) -> str:
        """Render a conversation, with the beginning of an answer or without."""
        try:
            return self._template.render(
                messages=messages, add_generation_prompt=begins, tools=None, documents=None, **self._tokens
            )
        except Exception as error:  # a template can fail in any way that Python can
            raise ValueError(_unrendered(error)) from error


def _system_of(template: _Template) -> str | None:
    """Find the system message that is added, and compare all conversations."""
    question = {"role": "user", "content": _TEXTS[0]}
    text, bare = template.render([question], begins=True), _chatml([question], begins=True)
    system = None
    if text.endswith(bare) and text.startswith(begin_turn("system")):
        added = text.removesuffix(bare).removeprefix(begin_turn("system")).removesuffix(f"{END_TOKEN}\n")
        system = None if TURN_TOKEN in added else added
    orders: list[tuple[str, ...]] = [roles for n in (1, 2, 3) for roles in product(_ROLES, repeat=n)]
    orders += [("system", *_LONG), (*_LONG, "system", *_LONG)] * len(_TEXTS)
    for number, roles in enumerate(orders):
        messages = [
            {"role": role, "content": _TEXTS[(number + place) % len(_TEXTS)]} for place, role in enumerate(roles)
        ]
        first = [{"role": "system", "content": system}] if system is not None and roles[0] != "system" else []
        for begins in (False, True)[: 1 + (roles[-1] == "user")]:
            expected = _chatml([*first, *messages], begins=begins)
            try:
                text = template.render(messages, begins=begins)
            except ValueError:
                if _is_usual(roles):
                    raise
                continue
            if text != expected:
                raise ValueError(_difference(text, expected))
    return system


def _chatml(messages: Sequence[Mapping[str, str]], *, begins: bool) -> str:
    turns = "".join(write_turn(message["role"], message["content"], ()) for message in messages)
    return turns + (begin_turn("assistant") if begins else "")


def _is_usual(roles: Sequence[str]) -> bool:
    """Whether question and answer take turns, behind a system message or without."""
    turns = roles[1:] if roles[0] == "system" else roles
    return bool(turns) and all(role == _ROLES[1 + place % 2] for place, role in enumerate(turns))


def _difference(text: str, expected: str) -> str:
    place = next((i for i, pair in enumerate(zip(text, expected, strict=False)) if pair[0] != pair[1]), None)
    place = min(len(text), len(expected)) if place is None else place
    begin = max(0, place - 20)
    return (
        f"the chat template differs from ChatML, which is what this library writes, at character {place} of a "
        f"conversation: it writes {text[begin : place + 40]!r} for {expected[begin : place + 40]!r}. Use a program "
        "that reads the template, or take the template out of the folder to write in ChatML"
    )


def _unrendered(error: Exception) -> str:
    return f"the chat template cannot be rendered: {shortened(str(error) or type(error).__name__, 200)}"


def _refuse(message: object) -> NoReturn:
    raise ValueError(f"it says {shortened(message, 150)}")


def _refuse_date(format: object = None) -> NoReturn:
    raise ValueError("it writes the date, so that the same conversation has other tokens each day")
