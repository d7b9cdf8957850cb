"""Lecture 003, its last part: cross-attention, the papers it shows, its summary, and a word on norms."""

from typing import Any

from softlookup.reference import scaled_dot_product_attention
from softlookup_course.slide_audit.operations import draw_normal


def who_asks_whom() -> dict[str, Any]:
    words, picture, audio, english = draw_normal((3, 4), (7, 4), (5, 4), (2, 4))
    sides = ((words, picture), (words, english))  # of a picture's question, and of a translation, both text
    two = [scaled_dot_product_attention(queries, memory, memory).shape for queries, memory in sides]
    try:
        scaled_dot_product_attention(words, picture, audio)
        three = True
    except (TypeError, ValueError):  # the first where types are checked, as in tests
        three = False
    return {"picture": picture, "sound": audio, "three": three, "two": two, "words": words}


def start_of_the_stack() -> dict[str, Any]:
    from softlookup.model import SinusoidalPositions, TokenEmbedding

    table, waves = TokenEmbedding(10, 4), SinusoidalPositions(4)
    learned, fixed = (sum(p.numel() for p in layer.parameters() if p.requires_grad) for layer in (table, waves))
    return {"fixed": fixed, "learned": learned}
