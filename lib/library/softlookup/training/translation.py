"""Train a translator by a recipe: a run that can be killed, and that leaves what load_translator reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from softlookup.model.whole.schedules import warmup_hold_decay
from softlookup.model.whole.transformer import Transformer
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.segmentations import SegmentationPool
from softlookup.training.averaging import MovingAverage
from softlookup.training.checkpoint import Checkpoints, TrainingState
from softlookup.training.data import BucketedBatches, IdPair, encode_pairs, redrawn
from softlookup.training.devices import agreed, run_on_ranks, shard
from softlookup.training.fast import FastLoss, quick_dtype
from softlookup.training.growing import load_grown
from softlookup.training.loop import Objective, Progress, summed_loss, train, validation_loss
from softlookup.training.plain_loss import PlainLoss
from softlookup.training.recipe import Recipe
from softlookup.training.run_folder import Say, fixed, learned_tokenizer, leave_model, same_run

SentencePair = tuple[str, str]

_CUTS = 24  # ways to cut each word that are kept ready; an epoch draws among them


def train_translator(
    pairs: Sequence[SentencePair],
    validation_pairs: Sequence[SentencePair],
    folder: str | Path,
    recipe: Recipe | None = None,
    *,
    begin: str | Path | None = None,
    device: torch.device | str = "cpu",
    devices: int = 1,
    sharded: bool = False,
    tensor: int = 1,
    on_step: Callable[[Progress], None] | None = None,
    note: Say | None = None,
    every: int = 500,
) -> TrainingState:
    """Train, keep the best, and leave behind what load_translator reads; a killed run goes on where it was.

    Args:
        pairs: Source and target sentences.
        validation_pairs: Sentences that are not trained on; the weights of the lowest loss on them are kept.
        folder: Where everything goes: merges.txt, config.json, model.safetensors, recipe.json, curve.json, and
            the run's own state under run/.
        recipe: What decides the run; None means the default one.
        begin: The folder of another translator to go on from, with its pieces of words: a second stage with other
            dropout, say, or with more layers and wider feed-forward networks than it had. None begins with random
            weights.
        device: Where to train.
        devices: On how many processes, each with its share of every batch: of one device's CPUs, or with a GPU each.
            The run's state is the same for any number, so that a run may go on with another one.
        sharded: Whether they cut weights and optimizer states among them, layer by layer.
        tensor: How many of them divide the heads and hidden units of each layer; they share their rows of a batch.
        on_step: Told what happened in each step.
        note: Told in a line what is worth a line.
        every: After how many steps the run's state is written.

    Returns:
        The state at the end: steps, losses, validation losses.

    Raises:
        ValueError: If there are no pairs, or none short enough; if devices is below 1; if the weights are to be cut
            for one device; if tensor does not divide devices, heads and hidden units.
        RankLostError: If one of several processes is killed. What it had written stays.
        FileNotFoundError: If begin holds no translator.
        CheckpointError: If begin holds a larger model, or one of another width; if the folder holds a run of another
            recipe or of other pairs. The number of steps, and where the rate begins to fall, may change.
        DivergedError: If a loss is no longer a number.
    """
    recipe, folder = Recipe() if recipe is None else recipe, Path(folder)
    say = note or (lambda line: None)
    check_devices(devices, sharded, recipe, tensor)
    same_run(folder / "run" / "settings.json", recipe, pairs=[list(pairs), list(validation_pairs)])
    if begin is not None and not (folder / "merges.txt").exists():
        (folder / "merges.txt").write_bytes((Path(begin) / "merges.txt").read_bytes())
    sentences = [sentence for pair in pairs for sentence in pair]
    tokenizer = learned_tokenizer(sentences, folder / "merges.txt", recipe.vocab_size, say)
    short_pairs, ids = _short_enough(pairs, tokenizer, recipe.max_length, "training", say)
    _, validation_ids = _short_enough(validation_pairs, tokenizer, recipe.max_length, "validation", say)
    run = _Run(recipe, folder, tokenizer, short_pairs, ids, validation_ids, begin, every, devices, sharded, tensor)
    if devices == 1:
        state = run.optimised(torch.device(device), on_step or (lambda progress: None), say)
    else:

        def hear(content: Progress | str) -> None:
            if isinstance(content, str):
                say(content)
            elif on_step is not None:
                on_step(content)

        state = run_on_ranks(partial(_on_a_rank, run), devices, str(device), hear)
    counts = {"pairs": len(short_pairs), "too_long": len(pairs) - len(short_pairs)}
    leave_model(Transformer(recipe.config(tokenizer)), folder, recipe, run.checkpoints.best_path, state, **counts)
    return state


def check_devices(devices: int, sharded: bool, recipe: Recipe, tensor: int = 1) -> None:
    """Refuse devices, sharded, recipe and tensor that do not go together, with a ValueError."""
    if devices < 1:
        raise ValueError(f"devices is {devices}: give at least 1")
    if sharded and devices == 1:
        raise ValueError("the weights are to be cut among devices (shard), and there is one: give 2 devices or more")
    if tensor < 1 or devices % tensor:
        raise ValueError(f"tensor is {tensor}, and devices is {devices}: give a divisor of the number of devices")
    if tensor > 1 and sharded:
        raise ValueError("shard and tensor are both given: weights are cut in one of the two ways, give one of them")
    for name, size in (("heads", recipe.n_heads), ("hidden units", recipe.d_hidden)):
        if size % tensor:
            raise ValueError(f"a layer has {size} {name}, and tensor is {tensor}: give a divisor of both")


@dataclass(frozen=True)
class _Run:
    """What each process of a run is handed."""

    recipe: Recipe
    folder: Path
    tokenizer: BytePairTokenizer
    pairs: list[SentencePair]
    ids: list[IdPair]
    validation_ids: list[IdPair]
    begin: str | Path | None
    every: int
    devices: int
    sharded: bool
    tensor: int

    @property
    def checkpoints(self) -> Checkpoints:
        """Where the run's states are."""
        return Checkpoints(self.folder / "run", every=self.every, settings=fixed(self.recipe))

    @property
    def weights_are_cut(self) -> bool:
        """Whether processes divide the weights among them."""
        return self.sharded or self.tensor > 1

    def optimised(self, device: torch.device, on_step: Callable[[Progress], None], say: Say) -> TrainingState:
        """Train on this device, alone or as one rank of several, and leave the run's states in its folder."""
        recipe, pad_id = self.recipe, self.tokenizer.pad_id
        batches = BucketedBatches(
            self.ids,
            pad_id=pad_id,
            tokens_per_batch=recipe.tokens_per_batch,
            seed=recipe.seed,
            resegment=_recut(self.pairs, self.ids, self.tokenizer, recipe) if recipe.segmentation_dropout else None,
        )
        validation = BucketedBatches(
            self.validation_ids, pad_id=pad_id, tokens_per_batch=max(4000, 2 * recipe.max_length)
        )
        torch.manual_seed(recipe.seed)
        model = Transformer(recipe.config(self.tokenizer)).to(device)
        if self.begin is not None:
            grown = load_grown(model, Path(self.begin) / "model.safetensors")
            say(f"beginning with the weights of {self.begin}" + (", in a larger model" if grown else ""))
        dtype = quick_dtype(device)
        where = f"{device}" if self.devices == 1 else f"{self.devices} devices ({device.type})"
        say(f"{sum(p.numel() for p in model.parameters()):,} parameters; matrix products in {dtype}, on {where}")
        objective, is_plain = self._objective(model, device, dtype)
        if self.sharded:
            shard(model)
        if self.tensor > 1:
            from softlookup.training.grid import cut_layers

            cut_layers(model, self.tensor)

        def schedule(step: int) -> float:
            return warmup_hold_decay(
                step, peak=recipe.peak, warmup=recipe.warmup, decay_from=recipe.decay_from, total=recipe.steps
            )

        def evaluate(model: nn.Module) -> float:
            loss = validation_loss(model, validation)
            if self.devices > 1:
                loss = agreed(loss)
            say(f"validation loss {loss:.4f}")
            return loss

        if self.checkpoints.paths:
            say(f"going on from {self.checkpoints.paths[-1].name}")
        return train(
            model,
            batches,
            optimizer=torch.optim.Adam(model.parameters(), lr=recipe.peak, betas=(0.9, 0.98), eps=1e-9, fused=True),
            schedule=schedule,
            steps=recipe.steps,
            epsilon=recipe.epsilon,
            autocast=torch.bfloat16 if is_plain and dtype == torch.bfloat16 else None,
            objective=objective,
            average=MovingAverage(model, recipe.average),
            evaluate=evaluate,
            on_step=on_step,
            checkpoint=self.checkpoints,
            shared=self.devices > 1,
        )

    def _objective(self, model: Transformer, device: torch.device, dtype: torch.dtype) -> tuple[Objective, bool]:
        """Give what is trained by, and whether that is the plain model, which suits a GPU."""
        # Weights that are cut can be read in forward methods alone, and only the plain model calls them.
        if self.weights_are_cut:
            return summed_loss, True
        is_plain, epsilon = device.type == "cuda", self.recipe.epsilon
        loss = PlainLoss(model, epsilon=epsilon) if is_plain else FastLoss(model, epsilon=epsilon, dtype=dtype)
        return lambda model, batch, epsilon: loss.summed(batch), is_plain


def _on_a_rank(run: _Run, device: torch.device, tell: Callable[[Any], None]) -> TrainingState:
    return run.optimised(device, tell, tell)


def _short_enough(
    pairs: Sequence[SentencePair], tokenizer: BytePairTokenizer, max_length: int, split_name: str, say: Say
) -> tuple[list[SentencePair], list[IdPair]]:
    """Give the pairs that the model can take, and their ids; say how many it cannot."""
    together = [
        (pair, ids)
        for pair, ids in zip(pairs, encode_pairs(pairs, tokenizer), strict=True)
        if max(map(len, ids)) <= max_length
    ]
    if not together:
        raise ValueError(f"none of {len(pairs):,} {split_name} pairs has at most {max_length} pieces on both sides")
    if len(together) < len(pairs):
        n_long = len(pairs) - len(together)
        say(f"{n_long:,} of {len(pairs):,} {split_name} pairs are longer than {max_length} pieces and are left out")
    return [pair for pair, _ in together], [ids for _, ids in together]


def _recut(
    pairs: Sequence[SentencePair], plain: Sequence[IdPair], tokenizer: BytePairTokenizer, recipe: Recipe
) -> Callable[[int], list[IdPair]]:
    """Cut the words anew in each epoch; a pair that its cut makes too long keeps the plain one."""
    sources, targets = zip(*pairs, strict=True)
    dropout, seed = recipe.segmentation_dropout, recipe.seed
    draw = redrawn(
        SegmentationPool(tokenizer, sources, samples=_CUTS, dropout=dropout, seed=seed, end=True),
        SegmentationPool(tokenizer, targets, samples=_CUTS, dropout=dropout, seed=seed + 1, start=True, end=True),
        seed,
    )

    def recut(epoch: int) -> list[IdPair]:
        return [
            new_cut if max(map(len, new_cut)) <= recipe.max_length else shorter
            for new_cut, shorter in zip(draw(epoch), plain, strict=True)
        ]

    return recut
