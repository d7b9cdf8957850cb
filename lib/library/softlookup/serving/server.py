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
        """Compute a step, and return the next token of each request; after an exception it is called once more."""


class Server:
    """Serves requests with one model, in one process.

    An exception costs the request that raised it: one that cannot be computed, or whose reader raises in `say`, has
    failed with a reason, and the others are served.

    Args:
        runner: A ModelRunner, or the costs of one in its place.
        blocks: The cache.
        rules: How steps are shared.
        end_id: The token that ends an answer; None lets every answer reach its length.
        say: Called with a request and its newest token, as soon as it is there: streaming.

    Attributes:
        steps: What each step computed: its plan's (tokens, tokens in the cache after it), and its seconds.
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
            ValueError: If it was submitted before, or a field of it has been changed to what nobody could serve.
        """
        if self._was_submitted(request):
            raise ValueError(f"the request is {request.state} and cannot be submitted again")
        try:
            request.check()
        except ValueError as error:
            self._refuse(request, str(error))
            raise
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
        computed = [(new, request.computed + new) for request, new in plan]
        tokens = self._next_tokens(plan)
        now_s = self.runner.now()
        for (request, new), token in zip(plan, tokens, strict=True):
            if token is None:
                continue
            request.computed += new
            if request.missing == 0 and request.state == "running":
                self._hand_out(request, token, now_s)
        self.steps.append((computed, self.runner.now() - begun_s))
        return True

    def serve(self, requests: Iterable[Request]) -> None:
        """Serve requests as they arrive, until all have ended.

        Args:
            requests: Each is submitted once its arrival has come, counted from now on. One that cannot be submitted
                is refused with a reason; one that is there twice, or was submitted before, is left as it is.
        """
        begun_s = self.runner.now()
        coming = sorted(self._sound(requests), key=lambda request: request.arrival_s)
        for request in coming:
            request.arrival_s += begun_s
        while coming or self.scheduler.waiting or self.scheduler.running:
            while coming and coming[0].arrival_s <= self.runner.now():
                self.submit(coming.pop(0))
            if not self.step() and coming:
                self.runner.wait_until(coming[0].arrival_s)

    def _was_submitted(self, request: Request) -> bool:
        has_begun = bool(request.written or request.computed)
        return request.state != "waiting" or has_begun or request in self.scheduler.waiting

    def _sound(self, requests: Iterable[Request]) -> list[Request]:
        """Take each request once, and refuse those that nobody could serve."""
        valid_requests = []
        for request in dict.fromkeys(requests):
            if self._was_submitted(request):
                continue
            try:
                request.check()
                valid_requests.append(request)
            except ValueError as error:
                self._refuse(request, str(error))
        return valid_requests

    def _next_tokens(self, plan: Sequence[tuple[Request, int]]) -> list[int | None]:
        """Compute a step; where that raises, compute each request by itself, so that one does not stop the others."""
        try:
            return list(self.runner.run(plan))
        except Exception as error:
            if len(plan) > 1:
                return [token for entry in plan for token in self._next_tokens([entry])]
            self._fail(plan[0][0], f"its next token could not be computed: {_named(error)}")
            return [None]

    def _fail(self, request: Request, reason: str) -> None:
        self.scheduler.leave(request)
        request.state, request.reason = "failed", reason

    def _refuse(self, request: Request, reason: str) -> None:
        request.state, request.reason = "refused", reason

    def _hand_out(self, request: Request, token: int, now_s: float) -> None:
        if not request.written and request.sequence is not None:
            self.blocks.remember(request.sequence, request.prompt)
        request.written.append(token)
        request.times_s.append(now_s)
        if self.say is not None:
            try:
                self.say(request, token)
            except Exception as error:
                if request.state == "running":
                    self._fail(request, f"its reader failed: {_named(error)}")
        if request.state == "running" and (token == self.end_id or len(request.written) == request.max_new_tokens):
            self.scheduler.leave(request)
            request.state = "finished"


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
