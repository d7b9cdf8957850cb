"""What a rank calls, in the words of torch.distributed, and a rank's run."""

import difflib
import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from softlookup_inside.ranks.names import EVERYTHING, NOT_HERE, offered
from softlookup_inside.ranks.operations import Operations
from softlookup_inside.ranks.packing import Record, unpack_inbox
from softlookup_inside.ranks.recording import NeedsMessage, RankRecorder


class Dist:
    """What a rank knows of the others, and says to them: names and arguments are those of torch.distributed."""

    def __init__(self, recorder: RankRecorder, offers: Sequence[str] = EVERYTHING) -> None:
        self._recorder, self._operations, self._names = recorder, Operations(recorder), offered(tuple(offers))

    def __getattr__(self, name: str) -> Any:
        names = self.__dict__.get("_names", ())
        if name not in names:
            raise AttributeError(_missing(name, names))
        value = getattr(self._operations, name)
        return _with_words(name, value) if inspect.ismethod(value) else value


def _missing(name: str, names: Sequence[str]) -> str:
    """Why a name is not there."""
    if name in NOT_HERE:
        return f"torch.distributed has {name!r}, and dist has not: {NOT_HERE[name]}"
    near = difflib.get_close_matches(name, names, 3)
    if near and name not in EVERYTHING:
        return f"dist has no {name!r}; similar names are {', '.join(near)}"
    return f"dist has no {name!r} here: it has {', '.join(names)}"


def _with_words(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that says how ``dist`` is called if its arguments do not fit."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TypeError:
            signature = inspect.signature(method)
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"dist.{name}({', '.join(signature.parameters)}): {error}") from None
            raise

    return call


def record(
    function: Callable[[Dist], Sequence[np.ndarray]],
    rank: int,
    world: int,
    inbox: Record,
    offers: Sequence[str] = EVERYTHING,
) -> Record:
    """Run one rank on the messages in ``inbox``, and give what it did, up to its end or the first that is missing."""
    recorder = RankRecorder(rank, world, unpack_inbox(inbox))
    try:
        results = function(Dist(recorder, offers))
    except NeedsMessage:
        pass
    except Exception:
        # An exception after a message that was missing says nothing of the program: its code saw no numbers there.
        if not recorder.halted:
            raise
    else:
        if not recorder.halted:
            recorder.returns(results)
    return recorder.record()
