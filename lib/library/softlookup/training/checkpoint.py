"""A run in one file: weights, optimizer, random numbers and place; a killed run goes on as if nothing had been."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from softlookup.model.whole.weights import (
    RUN_KIND,
    CheckpointError,
    check_fit,
    cut_like,
    fill,
    model_tensors,
    read_tensors,
    save_weights,
    write_tensors,
)
from softlookup.training.averaging import MovingAverage
from softlookup.training.checkpoint_header import (
    VERSION,
    check_header,
    check_optimizer,
    check_random,
    set_numpy,
    set_python,
)
from softlookup_inside.untrusted_files import shortened


@dataclass
class TrainingState:
    """How far a run has come.

    Attributes:
        step: Optimizer steps taken.
        epoch: Epochs completed.
        position: Batches used of the epoch that is under way.
        tokens: Labels learned from, over the whole run.
        losses: The training loss of each step, for each token, smoothed as it was trained.
        validations: (step, validation loss) pairs, in order.
        best_step: The step of the lowest validation loss; None before the first.
        best_loss: That loss.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    tokens: int = 0
    losses: list[float] = field(default_factory=list)
    validations: list[tuple[int, float]] = field(default_factory=list)
    best_step: int | None = None
    best_loss: float | None = None


def save_checkpoint(
    path: str | Path,
    *,
    model: nn.Module,
    optimizer: Optimizer,
    state: TrainingState,
    average: MovingAverage | None = None,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write all that a run needs to go on bit for bit: one safetensors file with a JSON header, never pickle.

    What is at ``path`` is replaced in one move: a kill leaves the old file or the new one. ``settings`` are what the
    run was started with, which loading compares. TypeError if the optimizer or the settings hold something that is
    neither a tensor nor JSON.

    Cost: with Adam three times the weights' bytes.
    """
    tensors = {f"model/{name}": tensor for name, tensor in model_tensors(model).items()}
    optimizer_tensors, optimizer_header = _flatten_optimizer(optimizer)
    tensors |= {f"optimizer/{name}": tensor for name, tensor in optimizer_tensors.items()}
    if average is not None:
        tensors |= {f"average/{name}": tensor for name, tensor in average.tensors.items()}
    tensors["random/torch"] = torch.get_rng_state()
    if torch.cuda.is_available():
        for device_index, generator in enumerate(torch.cuda.get_rng_state_all()):
            tensors[f"random/cuda{device_index}"] = generator
    header = {
        "kind": RUN_KIND,
        "version": VERSION,
        "settings": dict(settings or {}),
        "state": asdict(state),
        "optimizer": optimizer_header,
        "average_updates": None if average is None else average.updates,
        "random": {"python": random.getstate(), "numpy": _numpy_state()},
    }
    write_tensors(path, tensors, header)


def load_checkpoint(
    path: str | Path,
    *,
    model: nn.Module,
    optimizer: Optimizer,
    average: MovingAverage | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TrainingState:
    """Put model, optimizer, average and random numbers back to where a run was.

    All arguments have to be as the saved ones: the model built so, the optimizer of the same class over the same
    parameters, an average if, and only if, the run had one, and the settings. FileNotFoundError; CheckpointError, which
    names what differs, if the file is damaged, is no checkpoint, or is one of another model, optimizer or run.
    """
    tensors, header = read_tensors(path)
    check_header(header, TrainingState, path)
    if changes := changed_settings(header["settings"], dict(settings or {})):
        raise CheckpointError(f"{path} is of a run with other settings: {changes}")
    if (average is None) != (header["average_updates"] is None):
        had, has = ("no", "one") if header["average_updates"] is None else ("one", "no")
        raise CheckpointError(f"{path} is of a run with {had} moving average of weights; this run has {has}")
    check_optimizer(optimizer, header["optimizer"], _under("optimizer", tensors), path)
    check_random(header["random"], tensors, path)
    if average is not None:
        check_fit(average.tensors, _under("average", tensors), path)

    fill(model_tensors(model), _under("model", tensors), path)
    _restore_optimizer(optimizer, _under("optimizer", tensors), header["optimizer"])
    if average is not None:
        fill(average.tensors, _under("average", tensors), path)
        average.updates = header["average_updates"]
    _restore_random(tensors, header["random"])
    state = header["state"]
    state["losses"] = [float(loss) for loss in state["losses"]]  # JSON writes 1.0 and 1 alike
    state["validations"] = [(step, float(loss)) for step, loss in state["validations"]]
    state["best_loss"] = None if state["best_loss"] is None else float(state["best_loss"])
    return TrainingState(**state)


class Checkpoints:
    """A folder in which a run leaves its state every so many steps, and finds it again.

    States, step-00001000.safetensors and so on, are written each ``every`` steps and after each epoch; the last
    ``keep`` stay; best.safetensors holds the weights alone of the lowest validation loss. ``settings`` decide the run
    (sizes, seed, rate), as JSON: going on with others is refused. ValueError if every or keep is below 1.
    """

    def __init__(
        self, folder: str | Path, *, every: int = 500, keep: int = 1, settings: Mapping[str, Any] | None = None
    ) -> None:
        if min(every, keep) < 1:
            raise ValueError(f"every is {every}, keep {keep}; wanted at least 1 of each")
        self.folder, self.every, self.keep, self.settings = Path(folder), every, keep, dict(settings or {})

    @property
    def paths(self) -> list[Path]:
        """The states there are, the oldest first."""
        return sorted(self.folder.glob("step-*.safetensors"))

    @property
    def best_path(self) -> Path:
        """Where the weights of the lowest validation loss are."""
        return self.folder / "best.safetensors"

    def save(
        self, model: nn.Module, optimizer: Optimizer, state: TrainingState, average: MovingAverage | None = None
    ) -> None:
        """Write the state of a run by save_checkpoint, then delete what is no longer kept."""
        path = self.folder / f"step-{state.step:08d}.safetensors"
        save_checkpoint(path, model=model, optimizer=optimizer, state=state, average=average, settings=self.settings)
        for old in self.paths[: -self.keep]:
            old.unlink(missing_ok=True)  # another rank may have been faster

    def save_best(self, model: nn.Module, state: TrainingState) -> None:
        """Write the weights alone, as those of the lowest validation loss; its step and loss are noted beside them."""
        save_weights(model, self.best_path, notes={"step": state.step, "validation_loss": state.best_loss})

    def resume(
        self, model: nn.Module, optimizer: Optimizer, average: MovingAverage | None = None
    ) -> TrainingState | None:
        """Put a run back to the last state in the folder, by load_checkpoint.

        Gives how far the run had come; None where there is nothing to go on from. CheckpointError if the last state
        cannot be used: an older one is not taken in silence; delete the damaged file to go on from the one before.
        """
        for partial_path in self.folder.glob("*.partial"):  # of a run that was killed while it wrote
            partial_path.unlink(missing_ok=True)  # another rank may have been faster
        if not self.paths:
            return None
        return load_checkpoint(
            self.paths[-1], model=model, optimizer=optimizer, average=average, settings=self.settings
        )


def _under(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(f"{part}/"): t for name, t in tensors.items() if name.startswith(f"{part}/")}


def _flatten_optimizer(optimizer: Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Part an optimizer's state into tensors, named number/key, and plain values."""
    whole = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    values: dict[str, dict[str, Any]] = {}
    for index, entries in whole["state"].items():
        for key, value in entries.items():
            if isinstance(value, Tensor):
                tensors[f"{index}/{key}"] = value
            else:
                values.setdefault(str(index), {})[key] = value
    header = {"class": type(optimizer).__name__, "groups": whole["param_groups"], "values": values}
    return tensors, header


def _restore_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> None:
    state: dict[int, dict[str, Any]] = {int(index): dict(entries) for index, entries in header["values"].items()}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for name, tensor in tensors.items():
        index, key = name.split("/", maxsplit=1)
        parameter = parameters[int(index)]
        whole = tensor.shape == parameter.shape  # and not Adam's count of steps
        # A copy: what was read may still lie in the file, which is deleted when newer ones are there.
        state.setdefault(int(index), {})[key] = cut_like(parameter, tensor.clone()) if whole else tensor.clone()
    groups = [_restored(group, now) for group, now in zip(header["groups"], optimizer.param_groups, strict=True)]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _restored(group: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a group of parameters as they were."""
    # JSON knows no tuples; Adam's betas were one.
    options = {key: value for key, value in now.items() if key != "params"}
    return options | {key: tuple(value) if isinstance(now.get(key), tuple) else value for key, value in group.items()}


def _numpy_state() -> list[Any]:
    state: Any = np.random.get_state(legacy=True)
    name, keys, position, has_gauss, cached = state
    return [name, keys.tolist(), int(position), int(has_gauss), float(cached)]


def _restore_random(tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> None:
    torch.set_rng_state(tensors["random/torch"])
    # A run may go on where there are fewer GPUs, or none; its random numbers there are then others.
    cuda = [name for name in tensors if name.startswith("random/cuda")]
    for device_index in range(min(len(cuda), torch.cuda.device_count())):
        torch.cuda.set_rng_state(tensors[f"random/cuda{device_index}"], device_index)
    set_python(random, header["python"])
    set_numpy(np.random, header["numpy"])


def changed_settings(had: Mapping[str, Any], has: Mapping[str, Any]) -> str:
    """Say which settings of a run differ from those that it had; nothing where none does."""

    def value(settings: Mapping[str, Any], name: str) -> str:
        return shortened(settings.get(name, "not given"), 300)

    return "; ".join(
        f"{shortened(name)} was {value(had, name)}, is {value(has, name)}"
        for name in sorted({*had, *has})
        if name not in had or name not in has or had[name] != has[name]
    )
