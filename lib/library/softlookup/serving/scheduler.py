"""Which requests compute how many tokens in the next step. No model, no clock: lists and blocks alone."""

from collections import deque
from dataclasses import dataclass
from typing import Literal, get_args

from softlookup.serving.blocks import Blocks
from softlookup.serving.request import Request

Policy = Literal["continuous", "wait"]


@dataclass(frozen=True)
class Rules:
    """How a server shares its steps.

    Attributes:
        policy: continuous lets a request enter and leave with every step; wait takes those that wait as a batch, `most`
            of them at most, and ends it before the next one begins.
        most: How many requests run at once.
        budget: How many tokens a step computes at most, so that long prompts are computed in chunks; None computes
            every prompt whole.
        queue: How many requests may wait.

    Raises:
        ValueError: If a rule is unknown, or a number is out of its range.
    """

    policy: Policy = "continuous"
    most: int = 8
    budget: int | None = None
    queue: int = 64

    def __post_init__(self) -> None:
        """Refuse rules under which nothing could run."""
        if self.policy not in get_args(Policy):
            raise ValueError(f"policy is {self.policy!r}; wanted one of {', '.join(get_args(Policy))}")
        numbers = (self.most, self.queue, self.most if self.budget is None else self.budget)
        if any(type(value) is not int for value in numbers) or min(numbers) < 1 or numbers[2] < self.most:
            raise ValueError(
                f"most is {self.most}, queue {self.queue}, budget {self.budget}; wanted whole numbers of at least "
                "1, and a budget of at least most: each running request gets a token"
            )


class Scheduler:
    """The queue, the running requests, and who is next: first come, first served.

    Args:
        blocks: Where keys and values will stand.
        rules: How steps are shared.

    Attributes:
        blocks: The cache.
        rules: How steps are shared.
        waiting: Requests that have not begun, or had to leave and come back; the next one first.
        running: Those with blocks, in the order of their arrival.
        preempted: How often a request had to leave.

    Source: Yu et al. 2022 (Orca: a batch that changes with every step); Agrawal et al. 2024 (Sarathi-Serve, arXiv
    2403.02310: chunks of prompts beside tokens of answers).
    """

    def __init__(self, blocks: Blocks, rules: Rules) -> None:
        self.blocks, self.rules = blocks, rules
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.preempted = 0
        self._short = False  # whether a request had to leave, and none has ended since
        self._places = 0  # how many requests may still enter

    def refusal(self, request: Request) -> str:
        """Say why a request cannot be taken.

        Returns:
            The reason; empty if it can wait in the queue.
        """
        config, most = self.blocks.config, len(self.blocks.owners)
        if strange := [token for token in request.prompt if not 0 <= token < config.vocab_size]:
            return f"its prompt holds id {strange[0]}; the model has ids 0 to {config.vocab_size - 1}"
        tokens = len(request.prompt) + request.max_new_tokens - 1  # the last one is written and never computed
        if (needed := -(-tokens // self.blocks.block_size)) > most:
            return f"it may need {needed} blocks of the cache, which has {most}: ask for a shorter answer"
        if tokens > config.max_length:
            return f"it may need {tokens} positions, and the model has {config.max_length}: ask for a shorter answer"
        if len(self.waiting) >= self.rules.queue:
            return f"{len(self.waiting)} requests are waiting, as many as the queue holds: come again later"
        return ""

    def step(self) -> list[tuple[Request, int]]:
        """Decide what the next step computes, and make room for it in the cache.

        Answers come first, one token each; then prompts that have begun; then new requests, while a place, budget and
        blocks for all of their prompt are left. If blocks run out, the newest request leaves: its blocks are free at
        once, and what it had is computed again later. From then on nobody enters until a request has ended: what is
        free is for those that are still running.

        Returns:
            The requests of the step, each with the number of tokens that it computes.
        """
        plan: dict[Request, int] = {}
        budget = self.rules.budget if self.rules.budget is not None else 1 << 60
        for request in sorted(self.running, key=lambda candidate: candidate.missing > 1):
            tokens = min(request.missing, budget - sum(plan.values()))
            if tokens and self._room(request, tokens, plan):
                plan[request] = tokens
        if self.rules.policy == "continuous" or not self.running:
            self._places = min(self.rules.most - len(self.running), len(self.waiting))
        if self._short and self.running:
            self._places = 0
        while self._places and self.waiting and (remaining := budget - sum(plan.values())):
            request = self.waiting[0]
            sequence = self.blocks.start_for(request.ids)
            n_cached = self.blocks.length(sequence)
            if self.blocks.needed(sequence, len(request.ids) - n_cached) > self.blocks.n_free:
                self.blocks.release(sequence)
                self._places = 0
                break
            plan[request] = min(len(request.ids) - n_cached, remaining)
            self.blocks.grow(sequence, plan[request])
            self.running.append(self.waiting.popleft())
            request.sequence, request.computed, request.state = sequence, n_cached, "running"
            request.reused += n_cached
            self._places -= 1
        return list(plan.items())

    def leave(self, request: Request) -> None:
        """Take a request's blocks back, or take it out of the queue.

        Args:
            request: One that is running or waiting.
        """
        if request.sequence is not None:
            self.blocks.remember(request.sequence, request.ids[: request.computed])
            self.blocks.release(request.sequence)
            self.running.remove(request)
            request.sequence, request.computed, self._short = None, 0, False
        elif request in self.waiting:
            self.waiting.remove(request)

    def _room(self, request: Request, tokens: int, plan: dict[Request, int]) -> bool:
        """Make room for a running request; whoever has to leave for it is out of the plan."""
        while request.sequence is not None and self.blocks.needed(request.sequence, tokens) > self.blocks.n_free:
            newest = self.running[-1]
            self.leave(newest)
            newest.state = "waiting"
            self.waiting.appendleft(newest)
            plan.pop(newest, None)
            self.preempted += 1
            self._short = True
        if request.sequence is not None:
            self.blocks.grow(request.sequence, tokens)
        return request.sequence is not None
