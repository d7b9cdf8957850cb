"""What somebody asks a server for, and what became of it."""

from dataclasses import dataclass, field
from typing import Literal

State = Literal["waiting", "running", "finished", "refused", "cancelled"]


@dataclass(eq=False)
class Request:
    """A prompt that wants to be continued.

    Attributes:
        prompt: Its ids, at least one.
        max_new_tokens: How many tokens may be written.
        arrival_s: When it comes, in seconds on the server's clock.
        temperature: 0 takes the likeliest token; above it the token is drawn.
        seed: Where its luck comes from; the tokens of other requests do not change it.
        state: waiting, running, finished, refused or cancelled.
        reason: Why it was refused.
        written: The ids of its answer so far.
        times_s: When each of them came, on the same clock.
        sequence: Its number in the cache while it runs.
        computed: How many tokens of prompt and answer stand in the cache.
        reused: How many of these were found there and not computed.

    Raises:
        ValueError: If the prompt is empty, or a number is out of its range.

    Book: 16_serving.html#serving-loop.
    """

    prompt: tuple[int, ...]
    max_new_tokens: int
    arrival_s: float = 0.0
    temperature: float = 0.0
    seed: int = 0
    state: State = "waiting"
    reason: str = ""
    written: list[int] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    sequence: int | None = None
    computed: int = 0
    reused: int = 0

    def __post_init__(self) -> None:
        """Refuse what nobody could serve."""
        if not self.prompt:
            raise ValueError("the prompt has no token; wanted at least one")
        if self.max_new_tokens < 1 or self.arrival_s < 0 or self.temperature < 0:
            raise ValueError(
                f"max_new_tokens is {self.max_new_tokens}, arrival_s {self.arrival_s}, temperature {self.temperature}; "
                "wanted at least 1, and no number below 0"
            )

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
