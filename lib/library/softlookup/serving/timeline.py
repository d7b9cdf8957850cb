"""A handful of guests, served in each of three ways: who has which slot when, if every step takes its least time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from softlookup import roofline as rl
from softlookup.model.parts.config import Config
from softlookup.serving.blocks import Blocks
from softlookup.serving.request import Request
from softlookup.serving.scheduler import Rules
from softlookup.serving.server import Server
from softlookup.serving.simulator import CostRunner, Step, StepCosts

STATIC, CONTINUOUS, CHUNKED = "static", "continuous", "chunked"
TITLES = {STATIC: "static batching", CONTINUOUS: "continuous batching", CHUNKED: "chunked prefill"}
SLOTS = (2, 3, 6)
"""How many requests may run at once."""
BUDGETS = (128, 512, 2048)
"""Tokens that a step may compute with chunked prefill."""
DTYPE, NUMBER_BYTES = "bfloat16", 2


@dataclass(frozen=True)
class Guest:
    """Somebody who sends one request.

    Attributes:
        name: What the figure calls them.
        arrival_s: When the request comes.
        prompt: Tokens of the prompt.
        answer: Tokens of the answer.
    """

    name: str
    arrival_s: float
    prompt: int
    answer: int


def least_seconds(model: str, machine: str, step: Step) -> float:
    """The least time of a step that reads the weights in products and all caches once.

    In seconds of computing or of reading, whichever takes longer. Each request needs the logits of one token; products
    of attention are left out. ``model`` is one of ``roofline.MODELS``, ``machine`` one of
    ``roofline.known_hardware()``.
    """
    sizes, roof = rl.MODELS[model], rl.hardware(machine)
    weights, output = rl.product_weights(sizes), rl.parameters(sizes)["output"]
    flops = 2 * ((weights - output) * sum(new for new, _ in step) + output * len(step))
    cached = sum(rl.cache_bytes(sizes, 1, after) for _, after in step)
    return rl.predicted_time_s(roof, flops, NUMBER_BYTES * weights + cached, DTYPE)


def describe(guests: Sequence[Guest], model: str, machine: str, way: str, slots: int, budget: int) -> dict[str, Any]:
    """Serve the guests one way with the library's own loop, and record who has which slot when.

    ``way`` is STATIC (a batch runs until all of it are complete), CONTINUOUS (enter and leave with every step, prompts
    whole) or CHUNKED (and a step computes at most `budget` tokens), else a ValueError; ``model`` is one of
    ``roofline.MODELS``, ``machine`` of ``roofline.known_hardware()``; ``slots`` run at once.

    Gives steps: from, to (ms), and for each request in the step its slot, its guest's number, and how many tokens of
    the prompt it computes, 0 while decoding; guests: enters, first, pause, ends (ms: when it gets a slot, when its
    first token comes, its longest wait between tokens, when it is complete); and of all of them first (mean wait for
    the first token, ms), worst (the longest such wait), pause, total (ms) and rate (tokens a second).
    """
    if way not in TITLES:
        raise ValueError(f"there is no way {way!r}; wanted {', '.join(TITLES)}")
    requests = [Request((0,) * guest.prompt, guest.answer, arrival_s=guest.arrival_s) for guest in guests]
    longest = max(guest.prompt + guest.answer for guest in guests)
    config = Config(10, d_model=4, n_heads=1, n_layers=1, d_hidden=4, max_length=longest)
    blocks = Blocks(config, len(guests) * -(-longest // 16), 16, share=False)
    rules = Rules("wait" if way == STATIC else "continuous", slots, budget if way == CHUNKED else None)
    runner = _Recorder(_LeastTimes(model, machine))
    Server(runner, blocks, rules).serve(requests)

    slot_of: dict[Request, int] = {}
    steps, enters = [], {}
    for begins, ends, plan in runner.steps:
        rows = []
        for request, tokens in plan:
            if request not in slot_of:
                slot_of[request] = min(set(range(slots)) - set(slot_of.values()))
                enters[request] = begins
            rows.append([slot_of[request], requests.index(request), tokens])
        steps.append([_ms(begins), _ms(ends), rows])
        slot_of = {request: slot for request, slot in slot_of.items() if request.times_s[-1] > ends}
    served = [
        {
            "enters": _ms(enters[request]),
            "first": _ms(request.first_token_s),
            "pause": _ms(max(request.between_s, default=0.0)),
            "ends": _ms(request.times_s[-1]),
        }
        for request in requests
    ]
    waits = [row["first"] for row in served]
    total_s = max(request.times_s[-1] for request in requests)
    return {
        "steps": steps,
        "guests": served,
        "first": round(sum(waits) / len(waits), 2),
        "worst": max(waits),
        "pause": max(row["pause"] for row in served),
        "total": _ms(total_s),
        "rate": round(sum(guest.answer for guest in guests) / total_s, 1),
    }


def timelines(guests: Sequence[Guest], model: str, machine: str) -> dict[str, Any]:
    """Serve the guests every way that the figure lets a reader choose.

    Args:
        guests: Who comes, at least one.
        model: One of ``roofline.MODELS``.
        machine: One of ``roofline.known_hardware()``.

    Returns:
        guests: name, arrives (ms), prompt and answer of each; records: way, slots, budget (0 where it plays no part)
        and what ``describe`` says of them; titles: the ways' names; about: model and machine.

    Raises:
        ValueError: If nobody comes.
    """
    if not guests:
        raise ValueError("wanted at least one guest")
    choices = [
        (way, slots, budget) for way in TITLES for slots in SLOTS for budget in (BUDGETS if way == CHUNKED else (0,))
    ]
    return {
        "guests": [
            {"name": guest.name, "arrives": _ms(guest.arrival_s), "prompt": guest.prompt, "answer": guest.answer}
            for guest in guests
        ],
        "records": [
            {"way": way, "slots": slots, "budget": budget, **describe(guests, model, machine, way, slots, budget)}
            for way, slots, budget in choices
        ],
        "titles": TITLES,
        "about": f"{model} on {machine}",
    }


@dataclass(frozen=True)
class _LeastTimes:
    """Costs of steps that each take their least time."""

    model: str
    machine: str

    def seconds(self, step: Step) -> float:
        return least_seconds(self.model, self.machine, step)


class _Recorder(CostRunner):
    """Remembers of each step when it began and ended, and what it computed of each request's prompt."""

    def __init__(self, costs: StepCosts) -> None:
        super().__init__(costs)
        self.steps: list[tuple[float, float, list[tuple[Request, int]]]] = []

    def run(self, plan: Sequence[tuple[Request, int]]) -> list[int]:
        begins_s = self.now()
        rows = [(request, 0 if request.written else new) for request, new in plan]
        tokens = super().run(plan)
        self.steps.append((begins_s, self.now(), rows))
        return tokens


def _ms(seconds: float) -> float:
    return round(1e3 * seconds, 2)
