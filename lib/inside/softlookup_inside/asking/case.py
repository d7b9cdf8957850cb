"""What one question to a student's object consists of."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]

CORE = "core"  # the part that has to be right before any other part of a task earns points


SINGLE = "single"
"""The part of questions with an axis of length 1, which are made from the others; it has to be right like the core."""


@dataclass(frozen=True, eq=False)
class Case:
    """One question to the student's object: plain inputs, and what is looked at in the answer. It equals itself alone.

    Attributes:
        label: What is special about it, in words for the student ("a mask, unequal sizes").
        args: Positional arguments: numpy arrays (a tensor becomes one), numbers, or None; with the frames "text" and
            "plain" also text, lists and dictionaries. A dictionary with the key "candidate" is turned into something to
            call, beside the student's code (see ``candidates``).
        part: The part of the task that it belongs to.
        frame: What arrays are turned into before the call: "torch", "numpy" or "plain" (numbers only); "text" where the
            answer is text, whole numbers, lists or dictionaries (see ``texts``).
        gradients: Positions of the arguments whose gradients are asked for; empty asks for the values.
        upstream: For gradients: the gradient of a loss with respect to the (only) result.
        descends: The answer goes down gradients of its own: lent functions give theirs, though values are asked for.
        keeps_dtype: The first result must have the dtype of the narrowest array of floats among the arguments.
        tolerance: Absolute and relative tolerance; None takes the one of the dtype.
        absolute: The tolerance is absolute alone, as for numbers rounded by hand.
        exact_zeros: Where the right number is 0, nothing else will do.
        sizes: Where the answer is a layer's class: how many of the first arguments it is made with.
        parameters: Names of the layer's parameters, which the arguments that follow are put in place of; the layer
            is called with the rest. Empty where the answer is a function.
        fed: Where the way is asked for: the position of a matrix among the arguments, how many vectors may be
            multiplied with it in all, and in how many products. None where the results are all that counts.
        grid: Where the answer is a kernel (see ``softlookup.tiles``): how many programs it is launched with. It is
            recorded without the numbers in its arrays. Empty where the answer is called.
        outputs: Positions of the arrays that a kernel writes, which are its results.
        limits: Bytes that a kernel may read, write, and hold on chip, and that each program may read and write together
            (drawing a question adds the last); of a parallel program the bytes on its busiest link, its messages, the
            steps of their longest chain, and the bytes that one rank sends or receives. None for one of them leaves it
            free, and so does leaving out the last ones; None where the values are all that counts.
        world: Where the answer is what one rank of a parallel program does (see ``softlookup.ranks``): how many ranks
            there are. Each is asked by itself, with its inputs and ``dist``. 0 where the answer is called alone.
        offers: What ``dist`` has beside rank and world size.
        rank: In the question to one rank its number.
        inbox: In the question to one rank the messages that it has received so far.
    """

    label: str
    args: tuple[Any, ...]
    part: str = CORE
    frame: str = "torch"
    gradients: tuple[int, ...] = ()
    upstream: np.ndarray | None = None
    descends: bool = False
    keeps_dtype: bool = False
    tolerance: float | None = None
    absolute: bool = False
    exact_zeros: bool = False
    sizes: int = 0
    parameters: tuple[str, ...] = ()
    fed: tuple[int, int, int] | None = None
    grid: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    limits: tuple[int | None, ...] | None = None
    world: int = 0
    offers: tuple[str, ...] = ()
    rank: int = 0
    inbox: Arrays = ()

    def __post_init__(self) -> None:
        """Take tensors as arrays, which is what travels; ValueError if numpy has no dtype for one."""
        if "torch" in sys.modules:
            object.__setattr__(self, "args", _without_tensors(self.args, self.label))
            object.__setattr__(self, "upstream", _without_tensors(self.upstream, self.label))

    @property
    def is_recorded(self) -> bool:
        """Whether what comes back is a record, of which the judge makes the results."""
        return bool(self.grid or self.world)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the narrowest array of floats among the arguments, else of the first array there is."""
        arrays = [arg for arg in self.args if isinstance(arg, np.ndarray)]
        if not arrays:
            raise ValueError(f"the case {self.label!r} has no array among its arguments")
        floats = (array.dtype for array in arrays if array.dtype.kind == "f")
        return min(floats, key=lambda dtype: dtype.itemsize, default=arrays[0].dtype)


def _without_tensors(value: Any, label: str) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_without_tensors(item, label) for item in value])
    if type(value) is dict:
        return {key: _without_tensors(item, label) for key, item in value.items()}
    if not isinstance(value, sys.modules["torch"].Tensor):
        return value
    try:
        return value.detach().cpu().numpy().copy()
    except TypeError as error:
        raise ValueError(f"the case {label!r} holds a tensor that numpy cannot hold ({error}): use float32") from None


@dataclass(frozen=True)
class LayerAnswer:
    """A layer's class as an answer."""

    sizes: int  # how many arguments it is made with
    # names of its parameters, in the order of the oracle; a star ("encoder.*.norm_1.weight") stands for all layers:
    # a layer's together, one layer after the other
    parameters: tuple[str, ...]
    depth: int | None = None  # which of the sizes says how many layers there are; None where no name has a star

    def names(self, made_with: Sequence[Any]) -> list[str]:
        """Names of all parameters of one that is made with these sizes."""
        names: list[str] = []
        for before, alike in groupby(self.parameters, lambda name: name.partition("*")[0] if "*" in name else ""):
            layers = range(made_with[self.depth] if before and self.depth is not None else 1)
            group = list(alike)
            names += [name.replace("*", str(i)) for i in layers for name in group]
        return names
