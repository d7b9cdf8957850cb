"""Outputs and attachments of cells, made fit to be kept and shown: text and pictures, nothing that a browser runs."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_command.plain_text import visible
from softlookup_grader.judging.pictures import JPEG, PNG, stripped

MAX_OUTPUTS = 200
MAX_TEXT = 100_000
MAX_PICTURE = 2_000_000
MAX_ATTACHED = 10
MAX_NAME = 200
MAX_TOGETHER = 4_000_000
"""Characters of base64 that the pictures of one text answer may have together."""

_PICTURES = {"image/png": PNG, "image/jpeg": JPEG}
BESIDES = 6_000
"""Characters of a cell that are kept besides: its exception, and the sentence that says what the sandbox cut."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def as_outputs(record: Iterable[Any], most: int = MAX_TEXT) -> list[NotebookNode]:
    """Take what a submission says its cell gave (see ``outputs_and_cut``)."""
    return outputs_and_cut(record, most)[0]


def outputs_and_cut(record: Iterable[Any], most: int) -> tuple[list[NotebookNode], int]:
    """Take what a submission says its cell gave, and count what is left out.

    The sandbox keeps no more than that either; but it is the submission's own process that counts there.

    Args:
        record: Anything.
        most: Characters of text and pictures that are kept of the cell. One exception is kept besides.

    Returns:
        Sound outputs of nbformat 4: printed text, exceptions, plain text and pictures. HTML, scripts and whatever else
        is left out, since these pages are opened by those who give grades. Where something was cut, the last one says
        so, and the second result how much.
    """
    outputs: list[NotebookNode] = []
    left, cut = most + BESIDES, 0
    for number, output in enumerate(record):
        if number >= MAX_OUTPUTS:
            cut += 1
            break
        made = _output(output) if isinstance(output, dict) else None
        if made is None:
            continue
        size = weight(made)
        if size > left and made.output_type == "stream":
            made.text, cut = made.text[:left], cut + size - left
        elif size > left:
            cut += size
            continue
        left -= weight(made)
        if weight(made):
            outputs.append(made)
    if cut:  # the last of them gives way where there is no room
        message = f"... and {cut:,} characters more, which are not kept\n"
        outputs[MAX_OUTPUTS - 1 :] = [nbformat.v4.new_output("stream", name="stdout", text=message)]
    return outputs, cut


def weight(output: NotebookNode) -> int:
    """How many characters an output holds."""
    if output.output_type == "stream":
        return len(output.text)
    if output.output_type == "error":
        return len(output.ename) + len(output.evalue) + sum(map(len, output.traceback))
    return sum(map(len, output.data.values()))


def _output(output: dict[str, Any]) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return nbformat.v4.new_output("stream", name=name, text=clean(output.get("text")))
    if kind == "error":
        lines = output.get("traceback")
        trace = [clean(line, 500) for line in lines[:100]] if isinstance(lines, list) else []
        return nbformat.v4.new_output(
            "error", ename=clean(output.get("ename"), 200), evalue=clean(output.get("evalue"), 1000), traceback=trace
        )
    if kind in ("execute_result", "display_data"):
        data = _data(output.get("data"))
        return nbformat.v4.new_output("display_data", data) if data else None
    return None


def _data(record: Any) -> dict[str, str]:
    if not isinstance(record, dict):
        return {}
    data = {}
    if isinstance(record.get("text/plain"), str):
        data["text/plain"] = clean(record["text/plain"])
    for kind in _PICTURES:
        image = picture(kind, record.get(kind))
        if image is not None:
            data[kind] = image
    return data


def picture(kind: Any, record: Any) -> str | None:
    """Take a picture in base64, if it is one of this kind and not too large, and leave out what is written into it.

    It comes encoded anew; None where it is refused, as are kinds other than "image/png" and "image/jpeg". ``record``
    may be anything.
    """
    mark = _PICTURES.get(kind) if isinstance(kind, str) else None
    if mark is None or not isinstance(record, str) or len(record) > MAX_PICTURE:
        return None
    try:
        raw = base64.b64decode(record.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return None
    sound = stripped(raw) if raw.startswith(mark) else None
    return base64.b64encode(sound).decode("ascii") if sound else None


def attached(cell: Mapping[str, Any], most: int = MAX_TOGETHER) -> tuple[dict[str, dict[str, str]], int]:
    """Take the pictures that a text answer brings along: what a notebook calls the attachments of a cell.

    Args:
        cell: A cell of a file that may hold anything.
        most: Characters of base64 that the pictures may have together.

    Returns:
        Name -> kind -> picture, of PNG and JPEG pictures that are what they say and not too large; and how many
        attachments were left out.
    """
    record = cell.get("attachments")
    if not isinstance(record, dict):
        return {}, 0
    pictures: dict[str, dict[str, str]] = {}
    left = most
    for name, kinds in list(record.items())[:MAX_ATTACHED]:
        if isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME and isinstance(kinds, dict):
            sound = {kind: image for kind, data in kinds.items() if (image := picture(kind, data)) is not None}
            size = sum(map(len, sound.values()))
            if sound and size <= left:
                pictures[name] = sound
                left -= size
    return pictures, len(record) - len(pictures)


def clean(text: Any, most: int = MAX_TEXT) -> str:
    """Text without control characters, cut; signs for the direction of writing are shown as such.

    What is no text becomes none.
    """
    return visible(_CONTROL.sub("", text[:most])) if isinstance(text, str) else ""
