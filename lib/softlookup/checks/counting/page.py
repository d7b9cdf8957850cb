"""The page of the book that the tasks of this chapter belong to, and what their oracles count with."""

from typing import Any

from softlookup.checks.task import Case

PAGE = "12_counting"


SAID = {
    "one-operation": (78, "A multiply-add is counted once: it is two operations, a product and a sum."),
    "elements-for-bytes": (80, "This counts numbers, not bytes: each takes bytes_per_number bytes."),
    "intensity-inverted": (None, "The intensity is upside down: operations go above the line, bytes below."),
    "own-keys": (
        83,
        "Keys and values are counted for N heads: there are K of them, which query heads share.",
    ),
    "pair-swapped": (None, "The results have changed places."),
}
"""Words that several tasks of this chapter share, with the number of the misconception."""


def plain(names: str, *sizes: tuple[Any, ...], tolerance: float | None = None) -> list[Case]:
    """One case for each tuple of arguments, labelled by them."""
    return [Case(f"({names}) = {args}", args, frame="plain", tolerance=tolerance) for args in sizes]


def meta(*shape: int, size: int = 2) -> Any:
    """A tensor that has a shape, bytes and no numbers."""
    import torch

    kinds = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}
    return torch.empty(shape, device="meta", dtype=kinds[size])


def product_flops(*pairs: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
    """Operations of the products of pairs of shapes: torch says the result's shape, each number of it is a sum."""
    return sum(2 * int((meta(*left) @ meta(*right)).numel()) * left[-1] for left, right in pairs)
