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
        policy: continuous lets a request enter and leave with every step; wait takes a batch and ends it before the
            next one begins.
        most: How many requests run at once.
        budget: How many tokens a step computes at most, so that long prompts are computed in chunks; None computes
            every prompt whole.
        queue: How many requests may wait.

    Raises:
        ValueError: If a rule is unknown, or a number is out of its range.

    Book: 16_serving.html#serving-batching, 16_serving.html#serving-chunks.
    """

    policy: Policy = "continuous"
    most: int = 8
    budget: int | None = None
    queue: int = 64

    def __post_init__(self) -> None:
        """Refuse rules under which nothing could run."""
        if self.policy not in get_args(Policy):
            raise ValueError(f"policy is {self.policy!r}; wanted one of {', '.join(get_args(Policy))}")
        if self.most < 1 or self.queue < 1 or (self.budget is not None and self.budget < self.most):
            raise ValueError(
                f"most is {self.most}, queue {self.queue}, budget {self.budget}; wanted at least 1, and a budget of at "
                "least most: each running request gets a token"
            )


class Scheduler:
    """The queue, the running requests, and who is next: first come, first served.

    Args:
        blocks: Where keys and values will stand.
        rules: How steps are shared.

    Attributes:
        waiting: Requests that have not begun, or had to leave and come back; the next one first.
        running: Those with blocks, in the order of their arrival.
        preempted: How often a request had to leave.

    Source: Yu et al. 2022 (Orca: a batch that changes with every step); Agrawal et al. 2024 (Sarathi-Serve, arXiv
    2403.02310: chunks of prompts beside tokens of answers).
    Book: 16_serving.html#serving-batching.
    """

    def __init__(self, blocks: Blocks, rules: Rules) -> None:
        self.blocks, self.rules = blocks, rules
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.preempted = 0

    def refusal(self, request: Request) -> str:
        """Say why a request cannot be taken.

        Args:
            request: A new one.

        Returns:
            The reason; empty if it can wait in the queue.
        """
        needed = -(-(len(request.prompt) + request.max_new_tokens) // self.blocks.block_size)
        if needed > len(self.blocks.owners):
            return f"it may need {needed} blocks of the cache, which has {len(self.blocks.owners)}"
        if len(self.waiting) >= self.rules.queue:
            return f"{len(self.waiting)} requests are waiting, as many as the queue holds: come again later"
        return ""

    def step(self) -> list[tuple[Request, int]]:
        """Decide what the next step computes, and make room for it in the cache.

        Answers come first, one token each; then prompts that have begun; then new requests, while a place, blocks and
        budget are left. If blocks run out, the newest request leaves: its blocks are free at once, and what it had is
        computed again later.

        Returns:
            The requests of the step, each with the number of tokens that it computes.
        """
        plan: list[tuple[Request, int]] = []
        left = self.rules.budget if self.rules.budget is not None else 1 << 60
        for request in sorted(self.running, key=lambda one: one.missing > 1):
            tokens = min(request.missing, left)
            if request in self.running and tokens and self._room(request, tokens):
                plan.append((request, tokens))
                left -= tokens
        plan = [(request, tokens) for request, tokens in plan if request in self.running]
        may_enter = self.rules.policy == "continuous" or not self.running
        while may_enter and self.waiting and left and len(self.running) < self.rules.most:
            request = self.waiting[0]
            sequence = self.blocks.start_for(request.ids)
            found = self.blocks.length(sequence)
            tokens = min(len(request.ids) - found, left)
            if self.blocks.needed(sequence, tokens) > self.blocks.n_free:
                self.blocks.release(sequence)
                break
            self.blocks.grow(sequence, tokens)
            self.waiting.popleft()
            request.sequence, request.computed, request.state = sequence, found, "running"
            request.reused += found
            self.running.append(request)
            plan.append((request, tokens))
            left -= tokens
        return plan

    def leave(self, request: Request) -> None:
        """Take a request's blocks back, or take it out of the queue.

        Args:
            request: One that is running or waiting.
        """
        if request.sequence is not None:
            self.blocks.remember(request.sequence, request.ids[: request.computed])
            self.blocks.release(request.sequence)
            self.running.remove(request)
            request.sequence, request.computed = None, 0
        elif request in self.waiting:
            self.waiting.remove(request)

    def _room(self, request: Request, tokens: int) -> bool:
        assert request.sequence is not None
        while self.blocks.needed(request.sequence, tokens) > self.blocks.n_free:
            newest = self.running[-1]
            self.leave(newest)
            newest.state = "waiting"
            self.waiting.appendleft(newest)
            self.preempted += 1
            if newest is request:
                return False
        self.blocks.grow(request.sequence, tokens)
        return True
