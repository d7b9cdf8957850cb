"""What a GPU trains with, decided in one place by what the card and the machine have."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import torch

from softlookup.training.recipe import Recipe
from softlookup_inside.untrusted_files import read_json_object, shortened

MOST_TIMES = 16
"""How many times as large as the default recipe's a GPU's batches may be, which makes 32,000 tokens."""


@dataclass(frozen=True)
class Card:
    """What the choice depends on.

    Attributes:
        name: The card's.
        free_bytes: Memory that nobody uses.
        has_bfloat16: Whether it multiplies in bfloat16.
        has_compiler: Whether torch's compiler can write for it here.
    """

    name: str
    free_bytes: int
    has_bfloat16: bool
    has_compiler: bool


@dataclass(frozen=True)
class TrainingPlan:
    """How a device trains.

    Attributes:
        plain: Whether by the plain model with PlainLoss, which suits GPUs; else by the path that suits CPUs.
        compiled: Whether torch compiles the plain model.
        captured: Whether steps are recorded as CUDA graphs.
        sentence: What was chosen and why, in one line; empty on a CPU.
    """

    plain: bool
    compiled: bool
    captured: bool
    sentence: str


def card_of(device: torch.device | str) -> Card | None:
    """Ask a GPU for what the choice depends on.

    Args:
        device: Where to train.

    Returns:
        The card; None if the device is no GPU.
    """
    device = torch.device(device)
    if device.type != "cuda":
        return None
    free_bytes, _ = torch.cuda.mem_get_info(device)
    has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    return Card(torch.cuda.get_device_name(device), free_bytes, has_bfloat16, find_spec("triton") is not None)


def training_plan(
    card: Card | None, *, processes: int = 1, weights_are_cut: bool = False, consistency: float = 0.0
) -> TrainingPlan:
    """Choose how to train.

    Args:
        card: What card_of gave.
        processes: How many share a batch.
        weights_are_cut: Whether they divide the weights among them, which only forward methods can read.
        consistency: The recipe's; two passes are the work of the fast path.

    Returns:
        The plan, with its reasons.
    """
    if card is None:
        return TrainingPlan(plain=False, compiled=False, captured=False, sentence="")
    products = "products in bfloat16" if card.has_bfloat16 else "products in float32, since it has no bfloat16"
    begin = f"{card.name}, {card.free_bytes / 1e9:.0f} GB free"
    if consistency:
        why = "the fast path, since the recipe's consistency takes two passes, which the plain model's loss does not do"
        return TrainingPlan(False, False, False, f"{begin}: {why}; {products}; no CUDA graphs")
    if weights_are_cut:
        why = "the plain model as it is, since its weights are divided among processes"
        return TrainingPlan(False, False, False, f"{begin}: {why}; {products}; no CUDA graphs")
    compiled = "compiled by torch" if card.has_compiler else "not compiled, since triton is not installed"
    graphs = (
        "a CUDA graph for each shape of batch from its third step on, since launches take longer than small kernels"
    )
    if processes > 1:
        graphs = "no CUDA graphs, since processes exchange gradients within a step"
    sentence = f"{begin}: the plain model, {compiled}; {products}; {graphs}; batches made ahead of their step"
    return TrainingPlan(True, card.has_compiler, processes == 1, sentence)


def default_recipe(card: Card | None, folder: Path) -> Recipe:
    """Give the recipe of a run that names none: on a GPU with batches as large as fit, up to MOST_TIMES the default's.

    Args:
        card: What card_of gave.
        folder: Where the run goes. One that has begun there keeps the size of its batches, on whatever device.

    Returns:
        The default recipe, but for tokens_per_batch.

    Raises:
        ValueError: If the run's settings.json cannot be used; the message names it.
    """
    recipe, settings = Recipe(), folder / "run" / "settings.json"
    if settings.is_file():
        tokens = read_json_object(settings).get("tokens_per_batch", recipe.tokens_per_batch)
        if type(tokens) is not int or tokens < recipe.tokens_per_batch:
            raise ValueError(
                f"{settings} has tokens_per_batch {shortened(tokens)}; wanted at least {recipe.tokens_per_batch}"
            )
    else:
        tokens = recipe.tokens_per_batch if card is None else batch_that_fits(recipe, card.free_bytes)
    return replace(recipe, tokens_per_batch=tokens)


def batch_that_fits(recipe: Recipe, free_bytes: int) -> int:
    """Say how many padded tokens a step takes at once with half of a memory.

    Args:
        recipe: The model's sizes, and the least batch.
        free_bytes: What is free.

    Returns:
        The recipe's tokens_per_batch, doubled as often as fits, at most to MOST_TIMES as many.
    """
    tokens = recipe.tokens_per_batch
    while 2 * tokens <= MOST_TIMES * recipe.tokens_per_batch and 2 * tokens * bytes_per_token(recipe) <= free_bytes / 2:
        tokens *= 2
    return tokens


def bytes_per_token(recipe: Recipe) -> int:
    """Estimate what the forward pass keeps for the backward pass, for each padded token, from above.

    Args:
        recipe: The model's sizes.

    Returns:
        Bytes: in each layer the inputs of norms and products, queries, keys, values and dropout's masks of two
        attentions, and the hidden units twice, all in float32.
    """
    return 4 * recipe.n_layers * (24 * recipe.d_model + 4 * recipe.d_hidden)
