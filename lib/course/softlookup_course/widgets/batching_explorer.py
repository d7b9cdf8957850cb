"""A batch that grows: what becomes of dense layers and of attention under a machine's roof."""

from collections.abc import Sequence
from html import escape
from typing import Any

import traitlets

from softlookup import roofline as rl
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

BATCHES = tuple(2**power for power in range(11))
LENGTHS = (50, 100, 200, 500, 1000, 2000, 4000, 8000, 16_000, 32_000)
READING, WRITING = "reading", "writing"
DTYPE = "bfloat16"


def sizes_record(name: str) -> dict[str, Any]:
    """Write what the scripts need of one of ``roofline.MODELS``, or raise a ValueError."""
    if name not in rl.MODELS:
        raise ValueError(f"there is no model {name!r}; there are {', '.join(rl.MODELS)}")
    model = rl.MODELS[name]
    letters = {
        "D": model.D,
        "N": model.N,
        "K": model.kv_heads,
        "H": model.head_width,
        "F": model.F,
        "V": model.V,
        "L": model.L,
    }
    counts = {"parameters": sum(rl.parameters(model).values()), "product_weights": rl.product_weights(model)}
    return {"name": name, **letters, "matrices": 3 if model.gated else 2, **counts}


def machine_record(name: str) -> dict[str, Any]:
    """Write what the scripts need of a machine: peak for half-precision products, bandwidth, memory."""
    machine = rl.hardware(name)
    return {
        "name": name,
        "peak": machine.peak_flops_per_s(DTYPE),
        "bandwidth": machine.bandwidth_bytes_per_s,
        "memory": machine.memory_bytes,
    }


def describe(model: str, machine: str, stage: str, batch: int, length: int) -> dict[str, Any]:
    """Compute what the figure shows of B sequences of so many tokens, READING or WRITING."""
    sizes, roof = rl.MODELS[model], rl.hardware(machine)
    tokens, cached = (length, 0) if stage == READING else (1, length - 1)
    steps = [operation for operation in rl.layer(sizes, batch, tokens, cached=cached) if operation.product_flops]
    parts: dict[str, Any] = {"ridge": rl.ridge(roof, DTYPE)}
    for part in ("dense", "attention"):
        sums = rl.total(
            operation for operation in steps if (operation.name in ("scores", "mix")) == (part == "attention")
        )
        parts[part] = {
            "flops": sums.product_flops,
            "bytes": sums.bytes - (2 * sum(t.elements for s in steps for t in s.reads[2:]) if part == "dense" else 0),
        }
        parts[part]["intensity"] = parts[part]["flops"] / parts[part]["bytes"]
        parts[part]["rate"] = rl.attainable_flops_per_s(roof, parts[part]["intensity"], DTYPE)
    memory = rl.inference_memory(sizes, batch, length)
    step = rl.total(rl.forward(sizes, batch, tokens, cached=cached))
    read_bytes = rl.product_weights(sizes) * 2  # of the table of embeddings a step reads a few rows
    seconds = rl.predicted_time_s(roof, step.product_flops, read_bytes + memory["cache"], DTYPE)
    return parts | {
        "weight_bytes": read_bytes,
        "cache_bytes": memory["cache"],
        "flops": step.product_flops,
        "seconds": seconds,
        "tokens_per_s": batch * tokens / seconds,
        "fits": sum(memory.values()) <= roof.memory_bytes,
    }


def static_table(model: str, machine: str, length: int) -> str:
    """Write the writing stage over batches as HTML, for readers whose browser runs no script."""
    rows = []
    for batch in BATCHES[::2]:
        facts = describe(model, machine, WRITING, batch, length)
        rows.append((batch, *(f"{facts[part]['intensity']:.2f}" for part in ("dense", "attention"))))
    sentence = (
        f"<p>{escape(model)} on {escape(machine)}, decoding after {length} tokens: operations per byte. With "
        "scripts switched on, you can choose model, machine, stage, batch and length.</p>"
    )
    return sentence + plain_table(("batch", "dense layers", "attention"), rows)


class BatchingExplorer(InteractiveFigure):
    """Let the batch grow, and see which steps move along the roof, for models of one stack."""

    models = traitlets.List(traitlets.Dict(), help="models: sizes and counts").tag(sync=True)
    machines = traitlets.List(traitlets.Dict(), help="machines: peak, bandwidth, memory").tag(sync=True)
    batches = traitlets.List(traitlets.Int(), list(BATCHES), help="batches to choose from").tag(sync=True)
    lengths = traitlets.List(traitlets.Int(), list(LENGTHS), help="lengths to choose from").tag(sync=True)

    def __init__(self, models: Sequence[str], machines: Sequence[str]) -> None:
        records = [sizes_record(name) for name in models]
        super().__init__(
            models=records,
            machines=[machine_record(name) for name in machines],
            fallback=static_table(models[0], machines[0], 1000),
        )
