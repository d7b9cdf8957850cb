"""Lecture 003, its last part: cross-attention, the papers it shows, its summary, and a word on norms."""

from typing import Any

import numpy as np

from softlookup.reference import scaled_dot_product_attention


def who_asks_whom() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    words, picture, sound = (rng.standard_normal((length, 4)) for length in (3, 7, 5))
    french, english = words, rng.standard_normal((2, 4))  # a translator's two sides, both text
    two = [
        scaled_dot_product_attention(one, other, other).shape for one, other in ((words, picture), (french, english))
    ]
    try:
        scaled_dot_product_attention(words, picture, sound)
        three = True
    except (TypeError, ValueError):  # the first where types are checked, as in tests
        three = False
    return {"picture": picture, "sound": sound, "three": three, "two": two, "words": words}


def start_of_the_stack() -> dict[str, Any]:
    from softlookup.model import SinusoidalPositions, TokenEmbedding

    table, waves = TokenEmbedding(10, 4), SinusoidalPositions(4)
    learned, fixed = (sum(p.numel() for p in one.parameters() if p.requires_grad) for one in (table, waves))
    return {"fixed": fixed, "learned": learned}
