"""Train a decoder-only model on one text by a recipe: a run that can be killed, and leaves what load_writer reads."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import nn

from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.schedules import warmup_hold_decay
from softlookup.text.lines import mark_lines
from softlookup.training.checkpoint import Checkpoints, TrainingState
from softlookup.training.fast import quick_dtype
from softlookup.training.loop import Progress, summed_loss, train, validation_loss
from softlookup.training.plain_loss import PlainLoss
from softlookup.training.recipe import WriterRecipe
from softlookup.training.run_folder import Say, fixed, learned_tokenizer, leave_model, same_run
from softlookup.training.windows import WindowBatches

HELD_OUT = 0.1
"""The last part of a text, which is not learned from."""


def hold_out(text: str, fraction: float = HELD_OUT) -> tuple[str, str]:
    """Cut a text into what is learned from and what is not: its last part, from the beginning of a paragraph on.

    ValueError if the text has no empty line before its last part: there is no paragraph to begin at.
    """
    at = text.rfind("\n\n", 0, round(len(text) * (1 - fraction)))
    if at < 1:
        raise ValueError("the text has no empty line before its last part, so that no paragraph can be held out")
    return text[:at], text[at + 2 :]


def train_writer(
    text: str,
    folder: str | Path,
    recipe: WriterRecipe | None = None,
    *,
    device: torch.device | str = "cpu",
    on_step: Callable[[Progress], None] | None = None,
    note: Say | None = None,
    every: int = 500,
) -> TrainingState:
    """Train, keep the best, and leave behind what load_writer reads; a killed run goes on where it was.

    What is chosen by is at the text's end (see hold_out); recipe None is the default one. Everything goes into
    ``folder``: merges.txt, config.json, model.safetensors, recipe.json, curve.json, and the run's state, each ``every``
    steps, under run/; ``note`` gets lines worth reading. ValueError if the text is too short; CheckpointError if the
    folder holds a run of another recipe or text, but for the number of steps and where the rate begins to fall;
    DivergedError if a loss is no longer a number.
    """
    recipe, folder = WriterRecipe() if recipe is None else recipe, Path(folder)
    say = note or (lambda line: None)
    same_run(folder / "run" / "settings.json", recipe, text=text)
    parts = [mark_lines(part) for part in hold_out(text)]
    tokenizer = learned_tokenizer(parts[:1], folder / "merges.txt", recipe.vocab_size, say)
    ids, validation_ids = (tokenizer.encode(part) for part in parts)
    say(f"{len(ids):,} tokens to learn from, {len(validation_ids):,} to choose by")
    sizes = {"length": recipe.max_length, "rows": recipe.rows, "pad_id": tokenizer.pad_id}
    validation = WindowBatches(validation_ids, seed=None, **sizes)
    torch.manual_seed(recipe.seed)
    model = DecoderLM(recipe.config(tokenizer)).to(device)
    autocast = torch.bfloat16 if quick_dtype(device) is torch.bfloat16 else None
    say(f"{sum(p.numel() for p in model.parameters()):,} parameters, on {device}")
    # A GPU is fastest with the plain model, compiled where torch's compiler can write for it.
    on_gpu = torch.device(device).type == "cuda"
    plain = PlainLoss(model, compiled=find_spec("triton") is not None) if on_gpu else None

    def schedule(step: int) -> float:
        return warmup_hold_decay(
            step, peak=recipe.peak, warmup=recipe.warmup, decay_from=recipe.decay_from, total=recipe.steps
        )

    def evaluate(model: nn.Module) -> float:
        loss = validation_loss(model, validation, autocast=autocast)
        say(f"validation loss {loss:.4f}")
        return loss

    matrices = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    gains = [parameter for parameter in model.parameters() if parameter.ndim == 1]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": gains, "weight_decay": 0.0}]
    checkpoints = Checkpoints(folder / "run", every=every, settings=fixed(recipe))
    if checkpoints.paths:
        say(f"going on from {checkpoints.paths[-1].name}")
    state = train(
        model,
        WindowBatches(ids, seed=recipe.seed, **sizes),
        optimizer=torch.optim.AdamW(groups, lr=recipe.peak, betas=(0.9, 0.98), fused=True),
        schedule=schedule,
        steps=recipe.steps,
        epsilon=0.0,
        autocast=autocast,
        objective=summed_loss if plain is None else lambda model, batch, epsilon: plain.summed(batch),
        evaluate=evaluate,
        on_step=on_step,
        checkpoint=checkpoints,
    )
    leave_model(model, folder, recipe, checkpoints.best_path, state, tokens=len(ids))
    return state
