"""Conventions of a variant: orders of arguments and results, which tensors are transposed, what is counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays, Case

MOST = 8
"""How many conventions a task has at most, besides the published one."""


@dataclass(frozen=True)
class Convention:
    """How a variant differs from the published function, by published positions; everything is empty or 1 where not."""

    order: tuple[int, ...] = ()
    turned: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    turned_results: tuple[int, ...] = ()
    times: int = 1

    @property
    def body(self) -> tuple[Any, ...]:
        """What changes the body of an answer; another order of the arguments changes its first line alone."""
        return self.turned, self.results, self.turned_results, self.times

    @property
    def layout(self) -> list[list[int]]:
        """All but the multiple, as plain lists."""
        return [list(positions) for positions in (self.order, self.turned, self.results, self.turned_results)]

    def overlooked(self) -> Iterator["Convention"]:
        """The conventions of somebody who overlooks some changes: this one without one of them, or without several."""
        none = Convention()
        changed = [field.name for field in fields(self) if getattr(self, field.name) != getattr(none, field.name)]
        for count in range(1, len(changed) + 1):
            for some in combinations(changed, count):
                yield replace(self, **{name: getattr(none, name) for name in some})

    def convert_case(self, case: Case) -> Case:
        """A question of the published task, as it is asked under this convention."""
        args = [turned(arg) if at in self.turned else arg for at, arg in enumerate(case.args)]
        new_position = {old: new for new, old in enumerate(self.order)}
        moved = [args[old] for old in self.order] + args[len(self.order) :]
        upstream = case.upstream
        if upstream is not None and self.turned_results:
            upstream = turned(upstream)
        fed = None if case.fed is None else (new_position.get(case.fed[0], case.fed[0]), *case.fed[1:])
        gradients = tuple(new_position.get(at, at) for at in case.gradients)
        return replace(case, args=tuple(moved), gradients=gradients, upstream=upstream, fed=fed)

    def plain(self, case: Case) -> Case:
        """A question that is asked under this convention, as the published task asks it; its arguments alone."""
        return replace(case, args=tuple(self.published_args(case.args)))

    def published_args(self, args: Sequence[Any]) -> list[Any]:
        """Arguments as the published function takes them."""
        back = list(args)
        for new, old in enumerate(self.order):
            back[old] = args[new]
        return [turned(arg) if at in self.turned else arg for at, arg in enumerate(back)]

    def returned(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Results of the published function as they are returned under this convention."""
        values = [turned(result) if at in self.turned_results else result for at, result in enumerate(results)]
        values = [self.times * value for value in values] if self.times != 1 else values
        return tuple(values[old] for old in self.results or range(len(values)))

    def read(self, results: Arrays) -> Arrays:
        """Results under this convention as the published function returns them."""
        back = list(results)
        for new, old in enumerate(self.results):
            back[old] = results[new]
        back = [
            turned(result) if at in self.turned_results and result.ndim > 1 else result
            for at, result in enumerate(back)
        ]
        return tuple(result / self.times if self.times != 1 else result for result in back)


def turned(value: Any) -> Any:
    """A tensor or array with its last two axes exchanged; anything else as it is."""
    if isinstance(value, np.ndarray):
        return np.swapaxes(value, -2, -1).copy() if value.ndim > 1 else value
    return value.transpose(-2, -1) if hasattr(value, "transpose") else value


def conventions(
    task_id: str, required: int, names: Sequence[str], returns: int, varies: Mapping[str, Any]
) -> tuple[Convention, ...]:
    """Up to ``MOST`` conventions of a task, always the same ones; ``varies`` is explained in CONTRIBUTING.md."""
    orders = list(_orders(required)) if varies.get("order", True) else []
    positions = [names.index(name) for name in varies.get("turned", ())]
    swapped = [order for order in permutations(range(returns)) if order != tuple(range(returns))]
    candidates = [
        Convention(*values)
        for values in product(
            orders or [()],
            _subsets(positions),
            [(), *swapped[:23]],
            _subsets(varies.get("results", ())),
            range(2, 10) if varies.get("times") else [1],
        )
    ]
    never = [*varies.get("never", ()), [[], [], [], []]]
    candidates = [candidate for candidate in candidates if candidate.times != 1 or candidate.layout not in never]
    candidates.sort(key=lambda candidate: sha256(f"{task_id} {candidate}".encode()).digest())
    chosen: list[Convention] = []
    for new_body in (True, False):  # first those with bodies of their own
        for convention in candidates:
            unlike = convention.body not in (Convention().body, *(other.body for other in chosen))
            if len(chosen) < MOST and convention not in chosen and (unlike or not new_body):
                chosen.append(convention)
    return tuple(chosen)


def _subsets(positions: Sequence[int]) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(positions, size) for size in range(len(positions) + 1)))


def _orders(count: int) -> Iterator[tuple[int, ...]]:
    """Other orders of so many arguments: all of few, and of many those that exchange two or move all."""
    identity = tuple(range(count))
    if count <= 3:
        yield from (order for order in permutations(identity) if order != identity)
        return
    yield identity[::-1]
    yield from (identity[by:] + identity[:by] for by in range(1, count))
    for a, b in combinations(identity, 2):
        swapped = list(identity)
        swapped[a], swapped[b] = b, a
        yield tuple(swapped)
