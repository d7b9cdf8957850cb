"""What somebody asks a server for, and what became of it."""

import secrets
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Literal

from softlookup_inside.untrusted_files import shortened

State = Literal["waiting", "running", "finished", "refused", "cancelled", "failed"]

LATEST_S = 1e9
"""The latest arrival, some thirty years: above it no clock can wait."""
_COLDEST, _HOTTEST = 1e-30, 1e30  # within them a logit divided by the temperature is a number in float32
_SEEDS = (-(2**63), 2**64 - 1)  # torch takes these


@dataclass(eq=False)
class Request:
    """A prompt that wants to be continued.

    Attributes:
        prompt: Its ids, at least one.
        max_new_tokens: How many tokens may be written.
        arrival_s: When it comes, in seconds on the server's clock.
        temperature: 0 takes the likeliest token; above it the token is drawn.
        seed: Where its luck comes from; the tokens of other requests do not change it. Each request draws a new one
            where none is handed in; the same seed gives the same answer again.
        state: waiting, running, finished, refused, cancelled or failed.
        reason: Why it was refused, or failed.
        written: The ids of its answer so far.
        times_s: When each of them came, on the same clock.
        sequence: Its number in the cache while it runs.
        computed: How many tokens of prompt and answer stand in the cache.
        reused: How many of these were found there and not computed.

    Raises:
        ValueError: If the prompt is empty or holds something that is no id, or a number is of another type or out of
            its range; the message names the field and its value.
    """

    prompt: tuple[int, ...]
    max_new_tokens: int
    arrival_s: float = 0.0
    temperature: float = 0.0
    seed: int = field(default_factory=lambda: secrets.randbits(63))
    state: State = "waiting"
    reason: str = ""
    written: list[int] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    sequence: int | None = None
    computed: int = 0
    reused: int = 0

    def __post_init__(self) -> None:
        """Refuse what nobody could serve."""
        self.check()

    def check(self) -> None:
        """Refuse what nobody could serve; a field may have been changed since the request was made.

        Raises:
            ValueError: As above.
        """
        if not isinstance(self.prompt, tuple | list):
            raise ValueError(f"the prompt is a {type(self.prompt).__name__}; wanted a tuple of ids")
        if not self.prompt:
            raise ValueError("the prompt has no token; wanted at least one")
        if set(map(type, self.prompt)) != {int}:  # numpy's ids are among them, or what is none: each is looked at
            for token in self.prompt:
                if not _is_whole(token):
                    raise ValueError(f"the prompt holds {shortened(repr(token))}; wanted ids, whole numbers")
        if not _is_whole(self.max_new_tokens) or self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens is {shortened(self.max_new_tokens)}; wanted a whole number of at least 1")
        if not _is_number(self.arrival_s) or not 0 <= self.arrival_s <= LATEST_S:
            raise ValueError(f"arrival_s is {shortened(self.arrival_s)}; wanted seconds from 0 to {LATEST_S:g}")
        if not _is_number(self.temperature) or not (self.temperature == 0 or _COLDEST <= self.temperature <= _HOTTEST):
            raise ValueError(
                f"temperature is {shortened(self.temperature)}; wanted 0, or a number from {_COLDEST:g} to {_HOTTEST:g}"
            )
        if not _is_whole(self.seed) or not _SEEDS[0] <= self.seed <= _SEEDS[1]:
            raise ValueError(f"seed is {shortened(self.seed)}; wanted a whole number from -2**63 to 2**64 - 1")

    @property
    def ids(self) -> tuple[int, ...]:
        """Prompt and answer so far."""
        return (*self.prompt, *self.written)

    @property
    def missing(self) -> int:
        """How many tokens have to be computed before the next one can be written: 1 while decoding."""
        return len(self.prompt) + len(self.written) - self.computed

    @property
    def first_token_s(self) -> float:
        """The time to first token, in seconds; NaN if none came."""
        return self.times_s[0] - self.arrival_s if self.times_s else float("nan")

    @property
    def between_s(self) -> list[float]:
        """The times between tokens, in seconds."""
        return [later - earlier for earlier, later in zip(self.times_s, self.times_s[1:], strict=False)]


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
