"""Renders conversations with a chat template, as a program: a template can ask for any time and any memory.

chat_template.py starts it. It imports jinja2 and nothing of this library, so that it starts at once.
"""

import contextlib
import json
import signal
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

_MOST_CHARACTERS = 100_000


def main() -> None:
    """Read a request from the standard input, and write what became of each conversation to the standard output.

    The request has source, tokens (special tokens by their names), conversations (pairs of messages and of whether an
    answer begins), and the limits seconds (of processor time) and bytes (of memory); where the system has no such
    limits, whoever starts the program has to end it. Each conversation becomes [text, ""] or ["", problem].
    """
    request: Mapping[str, Any] = json.load(sys.stdin)
    # By jinja's own account its sandbox bounds neither time nor memory.
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    _limit(request["seconds"], request["bytes"])
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    environment.globals |= {"raise_exception": _refuse, "strftime_now": _refuse_date}
    try:
        template = environment.from_string(request["source"])
        results = [_result(template, request["tokens"], *conversation) for conversation in request["conversations"]]
    except Exception as error:  # a template can fail in any way that Python can
        results = [("", _problem(error)) for _ in request["conversations"]]
    json.dump(results, sys.stdout)


def _result(template: Any, tokens: Mapping[str, str], messages: object, begins: bool) -> tuple[str, str]:
    try:
        text = template.render(messages=messages, add_generation_prompt=begins, tools=None, documents=None, **tokens)
    except Exception as error:
        return "", _problem(error)
    if len(text) > _MOST_CHARACTERS:  # a problem of the whole template
        raise ValueError(f"it writes {len(text):,} characters; more than {_MOST_CHARACTERS:,} are not read")
    return text, ""


def _problem(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:1000]


def _limit(seconds: float, n_bytes: int) -> None:
    """End this process when its time is over, and refuse it further memory, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    if sys.platform != "win32":
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _refuse(message: object) -> NoReturn:
    raise ValueError(f"it says {message}")


def _refuse_date(format: object = None) -> NoReturn:
    raise ValueError("it writes the date, so that the same conversation has other tokens each day")


if __name__ == "__main__":
    main()
