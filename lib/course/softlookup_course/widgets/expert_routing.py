"""A token on its way through a mixture of experts, and what a batch of tokens fetches.

The models are those of ``softlookup bench experts``: one trained with a balancing bias, one without.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import traitlets
from torch import Tensor

from softlookup.model import Router
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

ROUTERS = {"with_bias": "with a bias", "without": "without a bias"}
"""How the two models are trained, in the order of the figure."""


def mean_fetched(load: Sequence[float], tokens: int) -> list[float]:
    """Compute how many experts batches of 1 to ``tokens`` tokens need, in the mean over tokens drawn at random.

    ``load`` (E,) is the probability of a token to choose each expert: n tokens all leave out an expert of load p with
    the probability (1 - p)^n.
    """
    return [round(sum(1 - (1 - p) ** n for p in load), 4) for n in range(1, tokens + 1)]


def describe(run: Mapping[str, Any], per_token: int) -> dict[str, Any]:
    """Compute what the figure shows of one model, by the library's router on the recorded vectors."""
    x, before, outputs = (_matrix(run[name]) for name in ("x", "before", "outputs"))
    w, bias = torch.tensor(run["w"], dtype=torch.float64), torch.tensor(run["bias"], dtype=torch.float64)
    with torch.random.fork_rng(devices=()):  # its first weights are drawn, and a page's random numbers stay as they are
        router = Router(w.shape[0], w.shape[1], per_token, gate="sigmoid").double()
    router.w.data, router.bias = w, bias
    with torch.no_grad():
        weights, chosen = router(x)
    logits = x @ w
    gates = logits.sigmoid()
    parts = weights[..., None] * outputs.unflatten(0, (-1, per_token))
    return {
        "logits": _rounded(logits),
        "gates": _rounded(gates),
        "bias": _rounded(bias),
        "raised": _rounded(gates + bias),
        "chosen": chosen.tolist(),
        "unbiased": gates.topk(per_token).indices.tolist(),
        "weights": _rounded(weights),
        "x": _rounded(x),
        "parts": _rounded(parts),
        "before": _rounded(before),
        "after": _rounded(before + parts.sum(dim=1)),
        "load": list(run["load"]),
        "mean_fetched": mean_fetched(run["load"], len(x)),
        "favourites": [[favourite for favourite, _ in favourites] for favourites in run["favourites"]],
    }


def _matrix(rows: Sequence[str]) -> Tensor:
    return torch.tensor([[float(entry) for entry in row.split()] for row in rows], dtype=torch.float64)


def _rounded(tensor: Tensor) -> Any:
    return tensor.mul(1e4).round().div(1e4).tolist()


def static_table(tokens: Sequence[str], routers: Sequence[Mapping[str, Any]]) -> str:
    """Write the chosen experts of all tokens as HTML, for readers whose browser runs no script."""
    columns = [[" and ".join(map(str, experts)) for experts in router["chosen"]] for router in routers]
    needed = (
        f"{len({e for experts in router['chosen'] for e in experts})} of {len(router['bias'])} {router['title']}"
        for router in routers
    )
    sentence = (
        f"<p>The experts that a trained router chooses for each token of a text. All {len(tokens)} tokens together "
        f"need {' and '.join(needed)}. With scripts switched on, you can follow a token step by step, and choose how "
        "many tokens are in the batch.</p>"
    )
    head = ("token", *(f"experts, {router['title']}" for router in routers))
    return sentence + plain_table(head, zip(tokens, *columns, strict=True))


class ExpertRouting(InteractiveFigure):
    """Follow a token through router and experts, and count the experts that a batch of tokens fetches.

    Source: Shazeer et al. 2017, section 2; Wang et al. 2024 (arXiv 2408.15664).
    """

    tokens = traitlets.List(traitlets.Unicode(), help="the text").tag(sync=True)
    routers = traitlets.List(traitlets.Dict(), help="what `describe` returned for each model, and its name").tag(
        sync=True
    )

    def __init__(self, measured: Mapping[str, Any]) -> None:
        per_token = measured["plan"]["per_token"]
        routers = [
            {"name": name, "title": title, **describe(measured["routers"][name], per_token)}
            for name, title in ROUTERS.items()
        ]
        tokens = [str(token) for token in measured["text"]]
        super().__init__(tokens=tokens, routers=routers, fallback=static_table(tokens, routers))
