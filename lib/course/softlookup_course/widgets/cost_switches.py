"""One model whose parts can be changed: what each change does to memory, and to the next token."""

from collections.abc import Collection, Sequence
from itertools import product

import traitlets

from softlookup.roofline import hardware
from softlookup.roofline.config_json import QUOTED, Config, cache_rows, layers, sizes
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

LENGTHS = tuple(2**power for power in range(10, 18))
"""Lengths of the text that can be chosen, in tokens."""
CHANGES = {
    "heads": "8 key-value heads",
    "latent": "latent cache",
    "windows": "windows of 1,024",
    "bits": "4 bits",
    "experts": "2 of 8 experts",
}
"""The changes, with the words on their buttons. Shared heads and latents are two ways to do one thing."""
COSTS = ("memory", "bytes", "flops")
"""What can be shown: memory, and bytes and operations of the next token."""
WINDOW, GLOBAL_EVERY = 1024, 6
SCALED_BITS = 5
"""Bits of a number that is rounded to 4 in groups of 32, with its part of the group's least number and step."""
_LATENT = {
    "model_type": "deepseek_v3",
    "q_lora_rank": None,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 0,
}
_EXPERTS = {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}


def changed_config(config: Config, changes: Collection[str]) -> Config:
    """Write the config of a model of type llama with other keys and values, or with experts."""
    if "latent" in changes:
        dense = 0 if "experts" in changes else config["num_hidden_layers"]
        widths = {"moe_intermediate_size": config["intermediate_size"], "first_k_dense_replace": dense}
        return {**config, **_LATENT, **widths}
    heads = {"num_key_value_heads": 8} if "heads" in changes else {}
    return {**config, **heads, **(_EXPERTS if "experts" in changes else {})}


def changed_sizes(config: Config, changes: Collection[str]) -> dict[str, int]:
    """Write down what the script needs of one changed config; windows and bits it works out."""
    model = layers(changed_config(config, changes))
    counts, rows = sizes(model), cache_rows(model)[0]
    return {"total": counts.total, "met": counts.in_products, "numbers": rows.numbers, "mixed": rows.mixed}


def cached_by_layer(n_layers: int, length: int, changes: Collection[str]) -> list[int]:
    """Positions that each layer holds: with windows, every sixth layer holds all of them."""
    narrow = min(WINDOW, length) if "windows" in changes else length
    return [narrow if (layer + 1) % GLOBAL_EVERY else length for layer in range(n_layers)]


def describe(config: Config, changes: Collection[str], length: int) -> dict[str, int]:
    """Compute what the figure shows of a config of type llama with ``changes`` of ``CHANGES``."""
    return priced(changed_sizes(config, changes), config["num_hidden_layers"], changes, length)


def priced(model_sizes: dict[str, int], n_layers: int, changes: Collection[str], length: int) -> dict[str, int]:
    """Work out the numbers of `describe` from what was described of the config: windows and bits come in here."""
    positions = sum(cached_by_layer(n_layers, length, changes))
    bits = SCALED_BITS if "bits" in changes else 16
    return {
        "stored": 2 * model_sizes["total"],
        "cache": bits * model_sizes["numbers"] * positions // 8,
        "met": 2 * model_sizes["met"],
        "weights": 2 * model_sizes["met"],
        "mixing": 2 * model_sizes["mixed"] * positions,
    }


def every_choice(offered: Collection[str] = tuple(CHANGES)) -> list[tuple[str, ...]]:
    """List the sets of changes that can be chosen among those offered."""
    keys = ((), ("heads",), ("latent",))
    every = [(*a, *b, *c, *d) for a, b, c, d in product(keys, ((), ("windows",)), ((), ("bits",)), ((), ("experts",)))]
    return [changes for changes in every if set(changes) <= set(offered)]


def static_table(config: Config, machine: str, offered: Collection[str], costs: Collection[str]) -> str:
    """Write each change alone, and several together, as HTML, for readers whose browser runs no script."""
    roof, length, rows = hardware(machine), LENGTHS[-1], []
    together = tuple(name for name in ("heads", "windows", "bits") if name in offered)
    for changes in ((), *((name,) for name in offered), together):
        now = describe(config, changes, length)
        fetched = now["met"] + now["cache"]
        billions = {"memory": now["stored"] + now["cache"], "bytes": fetched, "flops": now["weights"] + now["mixing"]}
        name = ", ".join(CHANGES[change] for change in changes) or "as published"
        waits = [f"{1e3 * fetched / roof.bandwidth_bytes_per_s:.1f}"] if "bytes" in costs else []
        rows.append((name, *(f"{billions[cost] / 1e9:.0f}" for cost in costs), *waits))
    heads = {"memory": "GB of weights and cache", "bytes": "GB fetched for a token", "flops": "GFLOP for a token"}
    more = ["ms for the bytes"] if "bytes" in costs else []
    return plain_table(("change", *(heads[cost] for cost in costs), *more), rows)


class CostSwitches(InteractiveFigure):
    """Change the parts of one model, and see which of its costs each change lowers."""

    name = traitlets.Unicode(help="the model").tag(sync=True)
    card = traitlets.Dict(help="name, bytes of memory, bytes and operations a second").tag(sync=True)
    records = traitlets.Dict(help="what the script needs, by the changes of weights").tag(sync=True)
    changes = traitlets.List(traitlets.List(), help="changes, with the words on their buttons").tag(sync=True)
    lengths = traitlets.List(traitlets.Int(), list(LENGTHS), help="lengths to choose from").tag(sync=True)
    fixed = traitlets.Dict(help="layers, window, which layers have none, bits with scales").tag(sync=True)
    most = traitlets.Dict(help="the largest bytes and operations of all choices").tag(sync=True)
    costs = traitlets.List(traitlets.Unicode(), help="the costs that are shown").tag(sync=True)

    def __init__(
        self,
        model: str,
        machine: str,
        offered: Sequence[str] = tuple(CHANGES),
        costs: Sequence[str] = COSTS,
    ) -> None:
        config = QUOTED.get(model, {"model_type": None})
        roof = hardware(machine)
        records: dict[str, dict[str, int]] = {}
        every = []
        for changes in every_choice(offered):
            name = "+".join(change for change in changes if change not in {"windows", "bits"})
            records[name] = model_sizes = records.get(name) or changed_sizes(config, changes)
            every.append(priced(model_sizes, config["num_hidden_layers"], changes, LENGTHS[-1]))
        super().__init__(
            name=model,
            card={
                "name": machine.split()[0],
                "memory": roof.memory_bytes,
                "bandwidth": roof.bandwidth_bytes_per_s,
                "peak": roof.peak_flops_per_s("bfloat16"),
            },
            records=records,
            changes=[[name, CHANGES[name]] for name in offered],
            costs=list(costs),
            fixed={"layers": config["num_hidden_layers"], "window": WINDOW, "every": GLOBAL_EVERY, "bits": SCALED_BITS},
            most={
                "memory": max(now["stored"] + now["cache"] for now in every),
                "flops": max(now["weights"] + now["mixing"] for now in every),
            },
            fallback=static_table(config, machine, offered, costs),
        )
