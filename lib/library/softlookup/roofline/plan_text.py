"""A plan in words and in numbers, for ``softlookup plan``."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from softlookup.roofline.config_json import Config
from softlookup.roofline.hardware import hardware, known_hardware
from softlookup.roofline.layout_costs import plan
from softlookup.roofline.layouts import LayoutCost, TrainingCluster
from softlookup.roofline.links import LINKS, node_link
from softlookup.roofline.planner_sizes import PlannerSizes, planner_sizes

_CONTEXTS = (1, 2, 4, 8)
_SPENT = 3
"""On how many things a line says that a step is spent."""


@dataclass(frozen=True)
class ClusterPlan:
    """The best layouts of a model on a cluster.

    Attributes:
        sizes: The model.
        cluster: Cards and links.
        devices: How many cards.
        tokens: Of a step.
        sequence: Tokens of a sequence.
        planned: How many layouts were costed.
        costs: The best of them, one for each grid of cards: those that fit first.
    """

    sizes: PlannerSizes
    cluster: TrainingCluster
    devices: int
    tokens: int
    sequence: int
    planned: int
    costs: tuple[LayoutCost, ...]

    def mfu(self, cost: LayoutCost) -> float:
        """Model FLOPs utilization of one of ``costs``, of the data sheet's peak: a fraction."""
        return cost.utilization(self.cluster.card.peak_flops_per_s(self.cluster.dtype))

    def as_json(self) -> dict[str, Any]:
        """The same as numbers, lists and words alone; "layouts" has the best, with bytes and seconds."""
        return {
            "model_type": self.sizes.name,
            "parameters": self.sizes.whole,
            "active": self.sizes.active,
            "devices": self.devices,
            "device": self.cluster.card.name,
            "node": self.cluster.node,
            "ports": self.cluster.ports or self.cluster.node,
            "links": [asdict(link) for link in (self.cluster.within, self.cluster.between)],
            "tokens": self.tokens,
            "sequence": self.sequence,
            "planned": self.planned,
            "layouts": [
                {
                    **asdict(cost.layout),
                    "micro_batches": cost.micro_batches,
                    "fits": cost.fits,
                    "memory_bytes": dict(cost.memory),
                    "step_s": cost.step_s,
                    "spent_s": cost.spent_s,
                    "hidden_s": cost.hidden_s,
                    "mfu": self.mfu(cost),
                    "reasons": list(cost.reasons),
                }
                for cost in self.costs
            ],
        }


def cluster_plan(
    config: Config,
    devices: int,
    device: str,
    link: str,
    *,
    node: int,
    tokens: int,
    sequence: int,
    best: int,
    ports: int | None = None,
) -> ClusterPlan:
    """Plan the training of a published model.

    ``device`` and ``link`` (between nodes) are names or how they begin ("h100" is the last that begins so, H100 SXM); a
    ``node`` is so many cards on its sheet's fastest link, with so many ``ports`` (None: one for each card); ``tokens``
    are of a step, ``sequence`` of a sequence; the ``best`` grids are kept, with contexts of up to 8 cards. TypeError if
    config is no mapping; ValueError, which says what, if it cannot be planned.
    """
    sizes = planner_sizes(config, str(config.get("model_type")))
    card = hardware(_named(device, known_hardware(), "device"))
    cluster = TrainingCluster(card, node_link(card), LINKS[_named(link, LINKS, "link")], node, ports=ports)
    costs = plan(sizes, devices, cluster, tokens=tokens, sequence=sequence, contexts=_CONTEXTS)
    if not costs:
        raise ValueError(
            f"no layout has {devices} devices for a step of {tokens // sequence} sequences: "
            "wanted a number of devices whose divisors divide sequences or the model's sizes"
        )
    grids: dict[tuple[int, ...], LayoutCost] = {}
    for cost in costs:
        layout = cost.layout
        grid = layout.data, layout.tensor, layout.pipeline, layout.context, layout.expert
        grids.setdefault(grid, cost)
    return ClusterPlan(sizes, cluster, devices, tokens, sequence, len(costs), tuple(grids.values())[:best])


def _named(beginning: str, names: Iterable[str], what: str) -> str:
    """The last of some names that begins with a word."""
    if like := [name for name in names if name.lower().startswith(beginning.lower())]:
        return like[-1]
    raise ValueError(f"no {what} begins with {beginning!r}; there are {', '.join(names)}")


def plan_text(training_plan: ClusterPlan) -> str:
    """A plan as lines of text, with a small table."""
    cluster, sizes = training_plan.cluster, training_plan.sizes
    ports = cluster.ports or cluster.node
    links = f"{cluster.within.name} within nodes of {cluster.node}, {ports} x {cluster.between.name} between them"
    active = f", {sizes.active / 1e9:.4g} billion for a token" if sizes.experts else ""
    lines = [
        f"{sizes.name}: {sizes.whole / 1e9:.4g} billion parameters{active}",
        f"{training_plan.devices} x {cluster.card.name}, {cluster.card.memory_bytes / 1e9:.0f} GB each; {links}",
        f"{training_plan.tokens:,} tokens a step, in sequences of {training_plan.sequence:,}; "
        "Adam, 16 bytes for a parameter",
        "",
    ]
    if not training_plan.costs[0].fits:
        lines += [f"None of {training_plan.planned:,} layouts fits. These need least memory:", ""]
    wide = max(len(str(cost.layout)) for cost in training_plan.costs)
    lines.append(f"{'layout':{wide}}  GB a card  step, s  MFU   spent on")
    for cost in training_plan.costs:
        spent = sorted(cost.spent_s.items(), key=lambda item: -item[1])[:_SPENT]
        words = ", ".join(f"{name} {part / cost.step_s:.0%}" for name, part in spent if part > 0.005 * cost.step_s)
        gigabytes, step = f"{cost.memory_bytes / 1e9:.1f}", f"{cost.step_s:.3g}"
        lines.append(f"{str(cost.layout):{wide}}  {gigabytes:>9}  {step:>7}  {training_plan.mfu(cost):>4.0%}  {words}")
    lines += [
        "",
        f"The best of each grid, of {training_plan.planned:,} layouts. Rates are those of data sheets, "
        "which no step reaches;",
        "messages of tensors and experts are planned without any overlap, and some schedules hide a part of them.",
    ]
    return "\n".join(lines)
