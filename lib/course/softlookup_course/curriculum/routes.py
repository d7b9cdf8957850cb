"""Two routes through the chapters, and what is left out of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Route:
    """A course made of chapters; ``only`` and ``without`` pick sections by their labels for some of them."""

    name: str
    title: str
    says: str
    chapters: tuple[int, ...]
    only: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    without: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def labels(topic: str, names: str) -> tuple[str, ...]:
    """Labels of a topic's sections, from their ends with a space between them."""
    return tuple(f"{topic}-{name}" for name in names.split())


INTRODUCTION = Route(
    "introduction",
    "An introduction",
    "For students who meet transformers for the first time. It ends with a translator of their own that writes.",
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 90),
    only={
        6: labels("positions", "order sinusoids adding dog rotary relative beyond compare"),
        13: labels("beyond-text", "patches vit cross contrastive maps"),
    },
    without={
        2: ("soft-lookup-lead", "soft-lookup-analogy"),
        3: ("tokens-size",),
        5: ("many-heads-init",),
        7: ("encoder-refined",),
        9: ("training-details",),
        10: ("inference-gain", "inference-phases"),
    },
)

SYSTEMS = Route(
    "systems",
    "A systems course",
    "For students of computer systems: what a transformer computes, moves and keeps, and what a machine makes of it.",
    (0, 2, 4, 5, 7, 8, 11, 9, 10, 12, 13),
    only={
        2: ("soft-lookup-mix", "soft-lookup-temperature", "soft-lookup-whole"),
        7: ("encoder-residual", "encoder-norm", "encoder-feed-forward", "encoder-layer", "encoder-stack"),
        9: ("training-forcing", "training-adam", "training-details"),
        13: ("beyond-text-cost",),
    },
    without={
        4: ("one-head-learn",),
        5: ("many-heads-learn", "many-heads-init"),
        8: ("decoder-families",),
        10: ("inference-penalty",),
    },
)

ROUTES: dict[str, Route] = {route.name: route for route in (INTRODUCTION, SYSTEMS)}
"""Routes by name."""
