"""The steps of a layer: how long the operations of each take, how long its bytes, and which waits for which."""

from collections.abc import Sequence
from html import escape
from typing import Any

import traitlets

from softlookup import roofline as rl
from softlookup_course.widgets.batching_explorer import machine_record
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

CONTEXT = 1000
"""S: tokens of the text that the newest attend to, themselves among them."""
TOKENS = (1, 2, 5, 10, 20, 50, 100, 150, 200, 300, 500, 1000)
"""T: how many of them pass through the layer in one step."""
FUSED = "fused attention"
STEPS: dict[str, tuple[str, str, str]] = {
    "q": ("queries", "2·T·D·NH", "T·D + D·NH + T·NH"),
    "k": ("keys and values", "4·T·D·KH", "2·(T·D + D·KH + T·KH)"),
    "scores": ("scores", "2·T·S·NH", "T·NH + S·KH + N·T·S"),
    "softmax": ("softmax", "6·N·T·S", "2·N·T·S"),
    "mix": ("mixing", "2·T·S·NH", "N·T·S + S·KH + T·NH"),
    FUSED: ("fused attention", "4·T·S·NH + 6·N·T·S", "2·T·NH + 2·S·KH"),
    "output": ("output", "2·T·NH·D", "T·NH + NH·D + T·D"),
    "up": ("gate and up", "4·T·D·F", "2·(T·D + D·F + T·F)"),
    "silu": ("SiLU and gating", "5·T·F", "5·T·F"),
    "down": ("down", "2·T·F·D", "T·F + F·D + T·D"),
    "rest": ("the rest", "10·T·D + 3·T·(NH + KH)", "10·T·D + 2·D + 2·T·(NH + KH + H)"),
}
"""For each step its title, and formulas of its operations and of the numbers that it moves, one sequence.

The rest are the norms, the rotations and the residual connections.
"""
KERNELS: dict[str, tuple[str, ...]] = {
    "k": ("k", "v"),
    "up": ("gate", "up"),
    "silu": ("silu", "gated"),
    "rest": ("norm 1", "rotary q", "rotary k", "add 1", "norm 2", "add 2"),
}
"""For a step of several kernels their names in ``roofline.layer``: all of them wait for the same, cooks or van."""


def counted(model: str, tokens: int) -> dict[str, list[int]]:
    """Count operations and bytes, in half precision, of each of ``STEPS`` for the T newest of ``CONTEXT`` tokens."""
    sizes = rl.MODELS[model]
    both = [rl.layer(sizes, 1, tokens, cached=CONTEXT - tokens, fused=fused) for fused in (False, True)]
    steps = {step.name: step for steps in both for step in steps}
    of_row = {name: [steps[kernel] for kernel in KERNELS.get(name, (name,))] for name in STEPS}
    return {name: [sum(step.flops for step in row), sum(step.bytes for step in row)] for name, row in of_row.items()}


def step_seconds(model: str, machine: str, tokens: int) -> dict[str, tuple[float, float]]:
    """Give for each of ``STEPS`` the seconds of its operations at the peak, and of its bytes at the bandwidth."""
    roof = machine_record(machine)
    return {
        name: (flops / roof["peak"], moved / roof["bandwidth"])
        for name, (flops, moved) in counted(model, tokens).items()
    }


def static_table(model: str, machine: str) -> str:
    """Write the steps of a whole prompt as HTML, for readers whose browser runs no script."""
    times = step_seconds(model, machine, CONTEXT)
    rows = ((*words, *(f"{1e6 * seconds:.3g}" for seconds in times[name])) for name, words in STEPS.items())
    sentence = (
        f"<p>A layer of {escape(model)} on {escape(machine)}, {CONTEXT} tokens at once. The rest: norms, rotations, "
        "residual connections. With scripts switched on, you "
        "can choose model, machine and how many tokens a step has.</p>"
    )
    return sentence + plain_table(("step", "operations", "numbers moved", "cooks (µs)", "van (µs)"), rows)


class CooksAndVan(InteractiveFigure):
    """Change how many tokens a step has, and see which steps of a layer wait for memory."""

    counts = traitlets.Dict(help="for each model and number of tokens: operations and bytes by step").tag(sync=True)
    machines = traitlets.List(traitlets.Dict(), help="machines: peak, bandwidth").tag(sync=True)
    tokens = traitlets.List(traitlets.Int(), list(TOKENS), help="tokens of a step to choose from").tag(sync=True)
    models = traitlets.List(traitlets.Unicode(), help="models, in their order").tag(sync=True)
    steps = traitlets.List(traitlets.List(), help="steps in their order: name, title and formulas").tag(sync=True)
    context = traitlets.Int(CONTEXT, help="tokens of the text").tag(sync=True)

    def __init__(self, models: Sequence[str], machines: Sequence[str]) -> None:
        counts: dict[str, Any] = {name: [counted(name, tokens) for tokens in TOKENS] for name in models}
        super().__init__(
            counts=counts,
            models=list(models),
            machines=[machine_record(name) for name in machines],
            steps=[[name, *words] for name, words in STEPS.items()],
            fallback=static_table(models[0], machines[0]),
        )
