"""One loop between the queue and the model: requests come, wait or are refused, run together, stream, and leave."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from softlookup.serving.blocks import Blocks
from softlookup.serving.request import Request
from softlookup.serving.scheduler import Rules, Scheduler


class Runner(Protocol):
    """What computes steps, and knows what time it is: a model, or the costs of one."""

    def now(self) -> float:
        """Seconds on its clock."""

    def wait_until(self, moment_s: float) -> None:
        """Let time pass until a moment."""

    def run(self, plan: Sequence[tuple[Request, int]]) -> list[int]:
        """Compute a step, and return the next token of each request."""


class Server:
    """Serves requests with one model, in one process.

    Args:
        runner: A ModelRunner, or the costs of one in its place.
        blocks: The cache.
        rules: How steps are shared.
        end_id: The token that ends an answer; None lets every answer reach its length.
        say: Called with a request and its newest token, as soon as it is there: streaming.

    Attributes:
        steps: What each step computed: its plan's (tokens, tokens in the cache after it), and its seconds.

    Book: 16_serving.html#serving-loop.
    """

    def __init__(
        self,
        runner: Runner,
        blocks: Blocks,
        rules: Rules = Rules(),  # noqa: B008 (frozen)
        *,
        end_id: int | None = None,
        say: Callable[[Request, int], None] | None = None,
    ) -> None:
        self.runner, self.blocks, self.end_id, self.say = runner, blocks, end_id, say
        self.scheduler = Scheduler(blocks, rules)
        self.steps: list[tuple[list[tuple[int, int]], float]] = []

    def submit(self, request: Request) -> bool:
        """Take a request into the queue, or refuse it with a reason.

        Returns:
            Whether it was taken.

        Raises:
            ValueError: If it was submitted before.
        """
        if request.state != "waiting" or request.written:
            raise ValueError(f"the request is {request.state} and cannot be submitted again")
        if reason := self.scheduler.refusal(request):
            self._refuse(request, reason)
        else:
            self.scheduler.waiting.append(request)
        return not reason

    def cancel(self, request: Request) -> bool:
        """Forget a request whose reader has gone; its blocks are free at once.

        Args:
            request: One that waits or runs. For any other nothing happens.

        Returns:
            Whether it was still there.
        """
        if request.state not in ("waiting", "running"):
            return False
        self.scheduler.leave(request)
        request.state = "cancelled"
        return True

    def step(self) -> bool:
        """Compute one step, and hand out the tokens that it gives.

        Returns:
            Whether there was anything to compute.
        """
        begun_s = self.runner.now()
        while not (plan := self.scheduler.step()):
            if not self.scheduler.waiting:
                return False
            # Nobody runs who could give a block back: sequences that no request has hold them.
            self._refuse(self.scheduler.waiting.popleft(), f"{self.blocks.n_free} blocks are free, too few for it")
        tokens = self.runner.run(plan)
        now_s = self.runner.now()
        computed = [(new, request.computed + new) for request, new in plan]
        for (request, new), token in zip(plan, tokens, strict=True):
            request.computed += new
            if request.missing == 0 and request.state == "running":
                self._hand_out(request, token, now_s)
        self.steps.append((computed, self.runner.now() - begun_s))
        return True

    def serve(self, requests: Iterable[Request]) -> None:
        """Serve requests as they arrive, until all have ended.

        Args:
            requests: Each is submitted once its arrival has come, counted from now on.

        Book: 16_serving.html#serving-loop.
        """
        begun_s = self.runner.now()
        coming = sorted(requests, key=lambda request: request.arrival_s)
        for request in coming:
            request.arrival_s += begun_s
        while coming or self.scheduler.waiting or self.scheduler.running:
            while coming and coming[0].arrival_s <= self.runner.now():
                self.submit(coming.pop(0))
            if not self.step() and coming:
                self.runner.wait_until(coming[0].arrival_s)

    def _refuse(self, request: Request, reason: str) -> None:
        request.state, request.reason = "refused", reason

    def _hand_out(self, request: Request, token: int, now_s: float) -> None:
        if not request.written and request.sequence is not None:
            self.blocks.remember(request.sequence, request.prompt)
        request.written.append(token)
        request.times_s.append(now_s)
        if self.say is not None:
            self.say(request, token)
        if request.state == "running" and (token == self.end_id or len(request.written) == request.max_new_tokens):
            self.scheduler.leave(request)
            request.state = "finished"
