"""Outputs and attachments of cells, made fit to be kept and shown: text and pictures, nothing that a browser runs."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nbformat import NotebookNode

from softlookup_command.plain_text import visible
from softlookup_grader.judging.pictures import JPEG, PNG, stripped

MAX_OUTPUTS = 200
MAX_TEXT = 100_000
MAX_PICTURE = 2_000_000
MAX_ATTACHED = 10
MAX_NAME = 200
MAX_TOGETHER = 4_000_000  # characters of base64 that the pictures of one text answer may have together

_PICTURES = {"image/png": PNG, "image/jpeg": JPEG}
BESIDES = 6_000
"""Characters of a cell that are kept besides: its exception, and the sentence that says what the sandbox cut."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def as_outputs(raw_outputs: Iterable[Any], most: int = MAX_TEXT) -> list[NotebookNode]:
    """Take what a submission says its cell gave (see ``outputs_and_cut``)."""
    return outputs_and_cut(raw_outputs, most)[0]


def outputs_and_cut(raw_outputs: Iterable[Any], most: int) -> tuple[list[NotebookNode], int]:
    """Take what a submission says its cell gave, and count what is left out; the count inside is its own."""
    outputs: list[NotebookNode] = []
    remaining, cut = most + BESIDES, 0
    for index, output in enumerate(raw_outputs):
        if index >= MAX_OUTPUTS:
            cut += 1
            break
        node = _output(output) if isinstance(output, dict) else None
        if node is None:
            continue
        size = weight(node)
        if size > remaining and node.output_type == "stream":
            node.text, cut = node.text[:remaining], cut + size - remaining
        elif size > remaining:
            cut += size
            continue
        remaining -= weight(node)
        if weight(node):
            outputs.append(node)
    if cut:  # the last of them gives way where there is no room
        message = f"... and {cut:,} characters more, which are not kept\n"
        outputs[MAX_OUTPUTS - 1 :] = [NotebookNode(output_type="stream", name="stdout", text=message)]
    return outputs, cut


def weight(output: NotebookNode) -> int:
    """How many characters an output holds."""
    if output.output_type == "stream":
        return len(output.text)
    if output.output_type == "error":
        return len(output.ename) + len(output.evalue) + sum(map(len, output.traceback))
    return sum(map(len, output.data.values()))


def _output(output: dict[str, Any]) -> NotebookNode | None:
    output_type = output.get("output_type")
    if output_type == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return NotebookNode(output_type="stream", name=name, text=clean(output.get("text")))
    if output_type == "error":
        lines = output.get("traceback")
        trace = [clean(line, 500) for line in lines[:100]] if isinstance(lines, list) else []
        ename, evalue = clean(output.get("ename"), 200), clean(output.get("evalue"), 1000)
        return NotebookNode(output_type="error", ename=ename, evalue=evalue, traceback=trace)
    if output_type in ("execute_result", "display_data"):
        data = _data(output.get("data"))
        return NotebookNode(output_type="display_data", data=data, metadata=NotebookNode()) if data else None
    return None


def _data(raw_data: Any) -> NotebookNode:
    data = NotebookNode()
    if not isinstance(raw_data, dict):
        return data
    if isinstance(raw_data.get("text/plain"), str):
        data["text/plain"] = clean(raw_data["text/plain"])
    for mime_type in _PICTURES:
        image = picture(mime_type, raw_data.get(mime_type))
        if image is not None:
            data[mime_type] = image
    return data


def picture(mime_type: Any, encoded: Any) -> str | None:
    """Take a PNG or JPEG picture in base64 of a fair size, encoded anew without its notes; None for anything else."""
    mark = _PICTURES.get(mime_type) if isinstance(mime_type, str) else None
    if mark is None or not isinstance(encoded, str) or len(encoded) > MAX_PICTURE:
        return None
    try:
        raw = base64.b64decode(encoded.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return None
    clean_bytes = stripped(raw) if raw.startswith(mark) else None
    return base64.b64encode(clean_bytes).decode("ascii") if clean_bytes else None


def attached(cell: Mapping[str, Any], most: int = MAX_TOGETHER) -> tuple[dict[str, dict[str, str]], int]:
    """Take the pictures that a text answer brings along: what a notebook calls the attachments of a cell."""
    attachments = cell.get("attachments")
    if not isinstance(attachments, dict):
        return {}, 0
    pictures: dict[str, dict[str, str]] = {}
    remaining = most
    for name, kinds in list(attachments.items())[:MAX_ATTACHED]:
        if isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME and isinstance(kinds, dict):
            images = {
                mime_type: image for mime_type, data in kinds.items() if (image := picture(mime_type, data)) is not None
            }
            size = sum(map(len, images.values()))
            if images and size <= remaining:
                pictures[name] = images
                remaining -= size
    return pictures, len(attachments) - len(pictures)


def clean(text: Any, most: int = MAX_TEXT) -> str:
    """Text without control characters, cut; signs for the direction of writing are shown as such."""
    return visible(_CONTROL.sub("", text[:most])) if isinstance(text, str) else ""
