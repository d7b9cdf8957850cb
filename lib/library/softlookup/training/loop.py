"""The training loop: batches in, losses out, one readable step after the other."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer

from softlookup.model.whole.objectives import cross_entropy, teacher_forcing
from softlookup.model.whole.weights import whole
from softlookup.training.averaging import MovingAverage
from softlookup.training.checkpoint import Checkpoints, TrainingState
from softlookup.training.data import Batch, Batches
from softlookup.training.devices import joined, mean_over_ranks, on_grid, own_dropout, place_of

Objective = Callable[[nn.Module, Batch, float], Tensor]


class DivergedError(ArithmeticError):
    """A loss or a gradient that is no longer a finite number: going on would spoil the weights."""


@dataclass(frozen=True)
class Progress:
    """What happened in one step, for a progress bar, a widget or a log.

    Attributes:
        step: The optimizer's step, the first being 1.
        epoch: The epoch that is under way, the first being 0.
        loss: The training loss for each token, with its label smoothing, in nats.
        tokens: The labels of this step.
        rate: The learning rate of this step.
        gradient_norm: The norm of all gradients together, before they were clipped.
        tokens_per_s: Labels a second, from the end of the step before to the end of this one.
    """

    step: int
    epoch: int
    loss: float
    tokens: int
    rate: float
    gradient_norm: float
    tokens_per_s: float


def summed_loss(model: nn.Module, batch: Batch, epsilon: float) -> Float[Tensor, ""]:
    """Teach one batch: show the sentences so far, and sum the surprise at each next word.

    Called as model(source_ids, inputs), or model(inputs) without a source, on the model's device. The sum, in nats, is
    over the labels that are no padding; ``epsilon`` is the share of label smoothing. ValueError if the model has
    another id of padding.
    """
    pad_id = getattr(getattr(model, "config", None), "pad_id", batch.pad_id)
    if pad_id != batch.pad_id:
        raise ValueError(f"the batch is padded with id {batch.pad_id}, the model takes {pad_id} for padding")
    inputs_BT, labels_BT = teacher_forcing(batch.target_ids, batch.pad_id)
    logits_BTV = model(inputs_BT) if batch.source_ids is None else model(batch.source_ids, inputs_BT)
    return cross_entropy(logits_BTV, labels_BT, pad_id=batch.pad_id, epsilon=epsilon, reduction="sum")


def train(
    model: nn.Module,
    batches: Batches,
    *,
    optimizer: Optimizer,
    schedule: Callable[[int], float] | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    clip: float | None = 1.0,
    accumulate: int = 1,
    epsilon: float = 0.1,
    autocast: torch.dtype | None = None,
    objective: Objective = summed_loss,
    average: MovingAverage | None = None,
    evaluate: Callable[[nn.Module], float] | None = None,
    on_step: Callable[[Progress], None] | None = None,
    checkpoint: Checkpoints | None = None,
    shared: bool = False,
) -> TrainingState:
    """Train a model by teacher forcing, from the beginning or from where a killed run was.

    Args:
        model: On the device where it is to be trained.
        batches: The data, an epoch at a time.
        optimizer: Over the model's parameters.
        schedule: The learning rate as a function of the step, the first being 1; None leaves the optimizer's own.
        epochs: How many epochs the whole run has, those before a resumption included. Give this or steps.
        steps: How many optimizer steps the whole run has.
        clip: The largest norm that all gradients together may have; longer ones are shortened. None lets them be.
        accumulate: How many batches make one step. The step is that of one batch with all their tokens: sums of
            losses are divided by all the tokens together, where a mean of means would favour small batches.
        epsilon: The share of label smoothing.
        autocast: torch.bfloat16 runs the matrix products in half precision, weights and sums staying as they
            are. None runs all in the weights' dtype.
        objective: What is made small: (model, batch, epsilon) to the sum of losses over the batch's labels.
        average: A moving average of the weights, updated after each step; evaluation and the best weights are
            then those of the average.
        evaluate: The validation loss of a model, asked for after each epoch and at the end.
        on_step: Told what happened in each step.
        checkpoint: Where the state is left, and a killed run found again.
        shared: Whether each rank of torch's process group computes a share of each batch. All ranks call this with
            the same arguments, each with its model, whole or cut by devices.shard or grid.cut_layers. Losses and
            weights are those of one device, but for dropout, which each rank draws for its rows.

    Returns:
        The state at the end: steps, tokens, the loss of each step, validation losses, the best one.

    Raises:
        ValueError: If not exactly one of epochs and steps is given, a number is out of range, the model's
            parameters are on more than one device, or an epoch has no batches.
        TypeError: If autocast is neither None nor torch.bfloat16.
        DivergedError: If a loss, a gradient or a validation loss is not finite. The weights are still those
            before that step.
        CheckpointError: If the last checkpoint cannot be used; see Checkpoints.resume.

    Source: Vaswani et al. 2017, section 5; Pascanu et al. 2013 (clipping); Micikevicius et al. 2018 (precision).
    """
    _check_arguments(epochs, steps, clip, accumulate, autocast)
    device = _device_of(model)
    state = TrainingState()
    if checkpoint is not None:
        state = checkpoint.resume(model, optimizer, average) or state
    step_class = _SharedStep if shared else _Step
    training_step = step_class(model, optimizer, clip, epsilon, autocast, objective)

    while (steps is None or state.step < steps) and (epochs is None or state.epoch < epochs):
        begun_s = time.perf_counter()
        for group, tokens in _groups(batches, state, accumulate, device):
            model.train()  # evaluate, or a sample in on_step, may have switched dropout off
            rate = float(optimizer.param_groups[0]["lr"]) if schedule is None else schedule(state.step + 1)
            where = f"step {state.step + 1} (learning rate {rate:.3g})"
            loss, norm = _finite(*training_step.gradients(group, tokens), where)
            if schedule is not None:
                for part in optimizer.param_groups:
                    part["lr"] = rate
            optimizer.step()
            if average is not None:
                average.update(model)

            state.step += 1
            state.position += len(group)
            state.tokens += tokens
            state.losses.append(loss)
            ended_s = time.perf_counter()
            if on_step is not None:
                on_step(Progress(state.step, state.epoch, loss, tokens, rate, norm, tokens / (ended_s - begun_s)))
            # After on_step: what it drew at random, to show a sample, belongs to the state.
            if checkpoint is not None and state.step % checkpoint.every == 0:
                checkpoint.save(model, optimizer, state, average)
            begun_s = time.perf_counter()
            if state.step == steps:
                break
        else:
            if state.position == 0:
                raise ValueError(f"epoch {state.epoch} has no batches: there is nothing to learn from")
            state.epoch, state.position = state.epoch + 1, 0
        if evaluate is not None:
            _validate(model, evaluate, state, average, checkpoint)
        if checkpoint is not None:
            checkpoint.save(model, optimizer, state, average)
    return state


def validation_loss(model: nn.Module, batches: Batches, *, autocast: torch.dtype | None = None) -> float:
    """Measure the loss for each token on data that is not trained on, without dropout and without smoothing.

    In nats for each label of epoch 0; exp of it is the perplexity. The model is put back into the mode that it was in.
    ValueError if there are no batches.
    """
    device = _device_of(model)
    was_training = model.training
    model.eval()
    total, tokens = 0.0, 0
    try:
        with torch.no_grad(), _precision(device, autocast):
            for batch in batches.epoch(0):
                total += summed_loss(model, batch.to(device), 0.0).item()
                tokens += batch.tokens
    finally:
        model.train(was_training)
    if tokens == 0:
        raise ValueError("there are no validation batches; wanted at least one")
    return total / tokens


def _groups(
    batches: Batches, state: TrainingState, size: int, device: torch.device
) -> Iterator[tuple[list[Batch], int]]:
    """Give the rest of the epoch in groups that make one step each, and their labels; the last may be smaller."""
    remaining = batches.epoch(state.epoch, state.position)
    while group := list(islice(remaining, size)):
        yield [batch.to(device) for batch in group], sum(batch.tokens for batch in group)


@dataclass
class _Step:
    """The gradients of a step, before anything is done by them: the loss may turn out to be none."""

    model: nn.Module
    optimizer: Optimizer
    clip: float | None
    epsilon: float
    autocast: torch.dtype | None
    objective: Objective

    def gradients(self, group: Sequence[Batch], tokens: int) -> tuple[Tensor, Tensor]:
        """Leave the gradient of the loss for each token of the group, clipped; give the loss, and the norm before."""
        self.model.zero_grad(set_to_none=True)
        losses = []
        for batch in group:
            with _precision(batch.target_ids.device, self.autocast):
                loss = self.objective(self.model, batch, self.epsilon) / tokens
            losses.append(loss.detach())
            loss.backward()
        self._exchange()
        parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        norm = nn.utils.clip_grad_norm_(parameters, math.inf if self.clip is None else self.clip)
        return torch.stack(losses).sum(), norm

    def _exchange(self) -> None:
        """Add up the gradients of all ranks, where the backward pass has not."""


@dataclass
class _SharedStep(_Step):
    """The same on a rank of several, whose gradient is that of all their shares."""

    def __post_init__(self) -> None:
        loss = joined(self.model, self.objective)
        self.objective = lambda model, batch, epsilon: loss(batch, epsilon)
        self._share, _ = place_of(self.model)

    def gradients(self, group: Sequence[Batch], tokens: int) -> tuple[Tensor, Tensor]:
        with own_dropout(group[0].target_ids.device, self._share):
            total, norm = super().gradients(group, tokens)
        return mean_over_ranks(total), whole(norm)

    def _exchange(self) -> None:
        if on_grid(self.model):
            from softlookup.training.grid import add_gradients

            add_gradients(self.model)


def _finite(total: Tensor, norm: Tensor, where: str) -> tuple[float, float]:
    """Read the loss and the gradients' norm, both at once, since a GPU has to finish its work for that."""
    loss_value, norm_value = torch.stack((total.double(), norm.to(total.device).double())).tolist()
    if not math.isfinite(loss_value):
        raise DivergedError(f"the loss is {loss_value} at {where}: lower the rate, warm up longer or clip harder")
    if not math.isfinite(norm_value):
        raise DivergedError(f"the gradients' norm is {norm_value} at {where}: lower the rate or warm up longer")
    return loss_value, norm_value


def _validate(
    model: nn.Module,
    evaluate: Callable[[nn.Module], float],
    state: TrainingState,
    average: MovingAverage | None,
    checkpoint: Checkpoints | None,
) -> None:
    if state.validations and state.validations[-1][0] == state.step:
        return  # a run that is taken up again at the end of an epoch has been measured there
    if average is not None:
        with average.applied(model):
            _validate(model, evaluate, state, None, checkpoint)
        return
    loss = float(evaluate(model))
    if not math.isfinite(loss):
        raise DivergedError(f"the validation loss is {loss} after step {state.step}")
    state.validations.append((state.step, loss))
    if state.best_loss is None or loss < state.best_loss:
        state.best_step, state.best_loss = state.step, loss
        if checkpoint is not None:
            checkpoint.save_best(model, state)


def _precision(device: torch.device, autocast: torch.dtype | None) -> torch.autocast:
    return torch.autocast(device.type, dtype=autocast or torch.bfloat16, enabled=autocast is not None)


def _device_of(model: nn.Module) -> torch.device:
    devices = {parameter.device for parameter in model.parameters()}
    if len(devices) != 1:
        names = ", ".join(sorted(map(str, devices))) or "none: it has no parameters"
        raise ValueError(f"the model's parameters must be on one device; they are on {names}")
    return devices.pop()


def _check_arguments(
    epochs: int | None, steps: int | None, clip: float | None, accumulate: int, autocast: torch.dtype | None
) -> None:
    if (epochs is None) == (steps is None):
        raise ValueError(f"epochs is {epochs}, steps is {steps}; wanted exactly one of them")
    length = epochs if steps is None else steps
    if length is not None and length < 1:
        raise ValueError(f"the run has {length} epochs or steps; wanted at least 1")
    if clip is not None and not clip > 0.0:
        raise ValueError(f"clip is {clip}; wanted a norm above 0, or None")
    if accumulate < 1:
        raise ValueError(f"accumulate is {accumulate}; wanted at least 1 batch for each step")
    if autocast not in (None, torch.bfloat16):
        raise TypeError(f"autocast is {autocast}; wanted None or torch.bfloat16 (float16 would need scaled losses)")
