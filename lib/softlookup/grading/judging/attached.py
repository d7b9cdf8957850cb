"""Pictures that stand in a text answer: what a notebook calls the attachments of a cell."""

from collections.abc import Mapping
from typing import Any

from softlookup.grading.judging.outputs import picture

MAX_ATTACHED = 10
MAX_NAME = 200
MAX_TOGETHER = 4_000_000
"""Characters of base64 that the pictures of one cell may have together."""


def attached(cell: Mapping[str, Any]) -> tuple[dict[str, dict[str, str]], int]:
    """Take the pictures that a cell brings along.

    Args:
        cell: A cell of a file that may hold anything.

    Returns:
        Name -> kind -> picture, of PNG and JPEG pictures that are what they say and not too large; and how many
        attachments were left out.
    """
    record = cell.get("attachments")
    if not isinstance(record, dict):
        return {}, 0
    pictures: dict[str, dict[str, str]] = {}
    left = MAX_TOGETHER
    for name, kinds in list(record.items())[:MAX_ATTACHED]:
        if isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME and isinstance(kinds, dict):
            sound = {kind: image for kind, data in kinds.items() if (image := picture(kind, data)) is not None}
            size = sum(map(len, sound.values()))
            if sound and size <= left:
                pictures[name] = sound
                left -= size
    return pictures, len(record) - len(pictures)
