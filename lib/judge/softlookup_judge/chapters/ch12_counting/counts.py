"""What the oracles of this chapter count with."""

from typing import Any

from softlookup_inside.asking.case import Case


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
