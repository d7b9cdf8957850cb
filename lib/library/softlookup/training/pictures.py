"""Pictures made on the spot, with a caption each: a coloured shape, large or small, on a dark and noisy ground."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from softlookup.model.parts.config import Config
from softlookup.model.whole.contrastive import ImageTextPair
from softlookup.model.whole.text_encoder import TextEncoder
from softlookup.model.whole.vision import ViT

SIDE = 16
"""Pixels of a side."""
SHAPES = ("circle", "square", "triangle", "cross", "ring", "bar")
COLOURS = {
    "red": (0.9, 0.15, 0.15),
    "green": (0.15, 0.7, 0.2),
    "blue": (0.15, 0.3, 0.9),
    "yellow": (0.9, 0.85, 0.15),
    "white": (0.95, 0.95, 0.95),
    "orange": (0.95, 0.55, 0.1),
    "purple": (0.6, 0.2, 0.7),
}
NEW_COLOUR = "purple"
"""The colour that no picture and no caption of the training has."""
TEMPLATES = (
    "a {colour} {shape}",
    "this is a {colour} {shape}",
    "one {shape} , and it is {colour}",
)
PAD, START, END = 0, 1, 2
WORDS = ("<pad>", "<start>", "<end>", *sorted({w for t in TEMPLATES for w in t.split() if "{" not in w}))
VOCABULARY = (*WORDS, *COLOURS, *SHAPES)
LONGEST = 10
"""Tokens of the longest caption, start and end counted."""


@dataclass(frozen=True, order=True)
class Thing:
    """What a picture shows.

    Attributes:
        colour: One of COLOURS.
        shape: One of SHAPES.
    """

    colour: str
    shape: str

    def caption(self, template: int = 0) -> str:
        """Say it in words, by one of TEMPLATES."""
        return TEMPLATES[template].format(colour=self.colour, shape=self.shape)


def known_colours() -> tuple[str, ...]:
    """The colours of the training."""
    return tuple(colour for colour in COLOURS if colour != NEW_COLOUR)


def kept_back() -> tuple[tuple[str, str], ...]:
    """Pairs of colour and shape that the training never shows together, each word of them once."""
    return tuple(zip(known_colours(), SHAPES, strict=True))


def training_things() -> tuple[Thing, ...]:
    """All that the training shows: every known colour and shape, but for the pairs that are kept back."""
    hidden = set(kept_back())
    pairs = ((colour, shape) for colour in known_colours() for shape in SHAPES)
    return tuple(Thing(*pair) for pair in pairs if pair not in hidden)


def draw(things: Sequence[Thing], rng: np.random.Generator) -> Tensor:
    """Paint one picture of each.

    Pictures are (B, 3, 16, 16), numbers from 0 to 1, float32; rng draws size, place, brightness and noise.
    """
    rows, columns = np.mgrid[:SIDE, :SIDE]
    pixels = np.empty((len(things), 3, SIDE, SIDE))
    for picture, thing in zip(pixels, things, strict=True):
        radius = rng.uniform(4.0, 6.0)
        y, x = (SIDE - 1) / 2 + rng.uniform(-1.5, 1.5, 2)
        inside = _inside(thing.shape, (rows - y) / radius, (columns - x) / radius)
        ink = np.array(COLOURS[thing.colour])[:, None, None] * rng.uniform(0.85, 1.05)
        ground = rng.uniform(0.0, 0.1) + 0.06 * rng.standard_normal((3, SIDE, SIDE))
        picture[:] = np.where(inside, ink + 0.06 * rng.standard_normal((3, SIDE, SIDE)), ground)
    return torch.from_numpy(pixels.clip(0, 1).astype("float32"))


def _inside(shape: str, down: np.ndarray, across: np.ndarray) -> np.ndarray:
    away = np.hypot(down, across)
    return {
        "circle": away <= 1,
        "square": np.maximum(abs(down), abs(across)) <= 0.85,
        "triangle": (abs(across) <= (down + 1) / 2) & (down <= 0.8),
        "cross": (np.minimum(abs(down), abs(across)) <= 0.3) & (np.maximum(abs(down), abs(across)) <= 1),
        "ring": (away <= 1) & (away >= 0.55),
        "bar": (abs(down) <= 0.4) & (abs(across) <= 1),
    }[shape]


def encode(captions: Sequence[str]) -> Tensor:
    """Cut captions into words, and give their ids.

    Words are parted by spaces; ids are (B, 10), with a start and an end, filled up on the right. ValueError, which
    names it, if a word is not in the vocabulary, or a caption is too long.
    """
    id_of = {word: i for i, word in enumerate(VOCABULARY)}
    rows = []
    for caption in captions:
        unknown = [word for word in caption.split() if word not in id_of]
        if unknown:
            raise ValueError(f"{caption!r}: the vocabulary does not have {', '.join(unknown)}")
        ids = [START, *(id_of[word] for word in caption.split()), END]
        if len(ids) > LONGEST:
            raise ValueError(f"{caption!r} has {len(ids) - 2} words; wanted at most {LONGEST - 2}")
        rows.append(ids + [PAD] * (LONGEST - len(ids)))
    return torch.tensor(rows)


def small_pair() -> ImageTextPair:
    """Make the two small encoders: patches of 4 by 4 pixels on one side, words on the other, 24 numbers in common."""
    pictures = ViT(SIDE, 4, None, d_model=48, n_heads=4, n_layers=2, d_hidden=96, dropout=0.0)
    words = Config(
        len(VOCABULARY),
        d_model=32,
        n_heads=4,
        n_layers=1,
        d_hidden=64,
        max_length=LONGEST,
        pre_norm=True,
        dropout=0.0,
        pad_id=PAD,
        start_id=START,
        end_id=END,
    )
    return ImageTextPair(pictures, TextEncoder(words), 24)
