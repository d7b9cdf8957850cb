"""What judges a notebook's tasks in a page: the file of the built book where it is of today, else made here."""

import base64
import gzip
from functools import cache

from pack_python import OUT, key_of_questions

from softlookup_course.in_page.packing import pack


@cache
def packed(chapter):
    """The safetensors file of a notebook, as ``packing.pack`` gives it."""
    script = OUT / f"tasks_{chapter}.js"
    stamp = script.with_suffix(".js.key")
    if stamp.exists() and stamp.read_text() == key_of_questions():
        return gzip.decompress(base64.b64decode(script.read_text(encoding="utf-8").split('"')[1]))
    return pack(chapter)
