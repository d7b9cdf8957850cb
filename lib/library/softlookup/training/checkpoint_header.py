"""The header of a run's state, which may come from anywhere: each field that is used has to be of its type."""

import random
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer

from softlookup.model.whole.weights import RUN_KIND, CheckpointError
from softlookup_inside.untrusted_files import shortened

VERSION = 1


def check_header(header: Mapping[str, Any], state_type: type[Any], path: str | Path) -> None:
    """Refuse a header of another kind or version, and one whose fields are missing or of another type.

    ``state_type`` is the dataclass of how far a run has come. CheckpointError names the file and the field.
    """
    if header.get("kind") != RUN_KIND:
        file_type = shortened(header.get("kind", "bare tensors"))
        raise CheckpointError(f"{path} is no checkpoint of a training run: it holds {file_type}")
    if header.get("version") != VERSION:
        version = shortened(header.get("version"))
        raise CheckpointError(f"{path} has version {version} of the format; this program reads {VERSION}")
    _check(header, _FIELDS, "its header", path)
    state = header["state"]
    _check(state, _STATE, "the state in its header", path)
    if unknown := sorted(state.keys() - {field.name for field in fields(state_type)}):
        raise CheckpointError(f"{path} is damaged: the state in its header has {shortened(unknown[0])}")
    _check(header["optimizer"], _OPTIMIZER, "the optimizer in its header", path)
    _check(header["random"], {"python": _is_list, "numpy": _is_list}, "the random numbers in its header", path)


def check_optimizer(
    optimizer: Optimizer, header: Mapping[str, Any], tensors: Mapping[str, Tensor], path: str | Path
) -> None:
    """Refuse the state of another optimizer, or options and tensors that this one cannot have.

    ``optimizer`` is that of the run that goes on, ``header`` has passed check_header, ``tensors`` are the file's, named
    number/key. CheckpointError names what differs.
    """
    if header["class"] != type(optimizer).__name__:
        raise CheckpointError(
            f"{path} was written with {shortened(header['class'])}; this run has {type(optimizer).__name__}"
        )
    groups = optimizer.state_dict()["param_groups"]
    had, has = ([len(group["params"]) for group in some] for some in (header["groups"], groups))
    if had != has:
        raise CheckpointError(f"{path} has optimizer groups of {shortened(had)} parameters; this run has {has}")
    for group, now in zip(header["groups"], groups, strict=True):
        for name, value in group.items():
            is_fixed = name not in _CHOICES
            if name in now and not (value == now[name] if name == "params" else _is_alike(value, now[name], is_fixed)):
                raise CheckpointError(
                    f"{path} has {name} {shortened(value)} in its optimizer; this run has {shortened(now[name])}"
                )
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    numbers = {str(parameter_index) for parameter_index in range(len(parameters))}
    if strange := [name for name in header["values"] if name not in numbers]:
        raise CheckpointError(f"{path} has an optimizer state of parameter {shortened(strange[0])}; there is none")
    for name, tensor in tensors.items():
        parameter_index, _, key = name.partition("/")
        if parameter_index not in numbers or not key:
            raise CheckpointError(f"{path} has an optimizer state {shortened(name)}, of no parameter")
        if type(optimizer).__module__.startswith("torch.optim") and not _fits(tensor, parameters[int(parameter_index)]):
            raise CheckpointError(
                f"{path} has an optimizer state {name} of shape {tuple(tensor.shape)} and {tensor.dtype}; the "
                f"parameter has shape {tuple(parameters[int(parameter_index)].shape)}"
            )


def check_random(header: Mapping[str, Any], tensors: Mapping[str, Tensor], path: str | Path) -> None:
    """Try the states of all random numbers on generators that nobody uses.

    The header, which has passed check_header, has the states of Python and numpy, ``tensors`` those of torch:
    random/torch, random/cuda0 and so on. CheckpointError if a generator does not take its state.
    """
    n_cuda = sum(name.startswith("random/cuda") for name in tensors)
    try:
        set_python(random.Random(), header["python"])
        set_numpy(np.random.RandomState(), header["numpy"])
        torch.Generator().set_state(tensors["random/torch"])
        for device_index in range(min(n_cuda, torch.cuda.device_count())):
            torch.Generator(f"cuda:{device_index}").set_state(tensors[f"random/cuda{device_index}"])
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path} is damaged: the state of its random numbers cannot be used ({shortened(str(error))})"
        ) from error


def set_python(generator: Any, state: list[Any]) -> None:
    """Put a generator of Python's module random, or the module itself, back to a state of JSON."""
    version, numbers, gauss = state
    if gauss is not None:
        gauss = float(gauss)
    generator.setstate((version, tuple(numbers), gauss))


def set_numpy(generator: Any, state: list[Any]) -> None:
    """Put a RandomState of numpy, or the module numpy.random, back to a state of JSON."""
    name, keys, position, has_gauss, cached = state
    generator.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))


def _check(
    entries: Mapping[str, Any], wanted_types: Mapping[str, Callable[[Any], bool]], what: str, path: str | Path
) -> None:
    for name, is_sound in wanted_types.items():
        if name not in entries:
            raise CheckpointError(f"{path} is damaged: {what} has no {name}")
        if not is_sound(entries[name]):
            raise CheckpointError(f"{path} is damaged: {what} has {name} {shortened(entries[name])}")


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_list_of(is_sound: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_sound, value))


def _or_none(is_sound: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_sound(value)


def _is_validation(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_count(value[0]) and _is_number(value[1])


def _is_group(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("params"), list)


def _are_values(value: object) -> bool:
    """Whether these are the values of an optimizer that are no tensors: for each parameter, by name."""
    return isinstance(value, dict) and all(
        isinstance(entries, dict)
        and all(isinstance(entry, bool | int | float | str | None) for entry in entries.values())
        for entries in value.values()
    )


_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "settings": _is_object,
    "state": _is_object,
    "optimizer": _is_object,
    "random": _is_object,
    "average_updates": _or_none(_is_count),
}
_STATE: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("step", "epoch", "position", "tokens"), _is_count),
    "losses": _is_list_of(_is_number),
    "validations": _is_list_of(_is_validation),
    "best_step": _or_none(_is_count),
    "best_loss": _or_none(_is_number),
}
_OPTIMIZER: Mapping[str, Callable[[Any], bool]] = {
    "class": lambda value: isinstance(value, str),
    "groups": _is_list_of(_is_group),
    "values": _are_values,
}


_CHOICES = ("capturable", "differentiable", "foreach", "fused")
"""Options of an optimizer that decide how it computes, and not what: those may change while a run stands still."""


def _is_alike(value: Any, now: Any, is_fixed: bool = True) -> bool:
    """Whether an option could be in the place of another: a number of a number, a flag only of the same one."""
    if isinstance(now, list | tuple):
        return isinstance(value, list) and len(value) == len(now) and all(map(_is_alike, value, now))
    if isinstance(now, bool | None):
        return value is now if is_fixed else isinstance(value, bool | None)
    if isinstance(now, int | float):
        return type(value) in (int, float) and abs(value) < 1e15
    return isinstance(value, type(now))


def _fits(tensor: Tensor, parameter: Tensor) -> bool:
    """Whether a tensor can be a part of the state of torch's optimizers: as the parameter, or 1 wide."""
    if not tensor.is_floating_point():
        return False
    if tensor.numel() == 1:
        return True
    sizes = zip(tensor.shape, parameter.shape, strict=False)
    return tensor.ndim == parameter.ndim and all(size in (1, whole) for size, whole in sizes)
