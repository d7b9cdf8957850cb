"""A model's weights in one safetensors file: written whole or not at all, and checked name by name when read."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from softlookup_inside.untrusted_files import open_regular, parse_json, shortened

RUN_KIND = "training state"  # what the header of a run's whole state calls itself
_HEADER, _DIGEST = "softlookup", "sha256"
_MOST_HEADER_BYTES, _MOST_TENSORS, _LONGEST_NAME = 32_000_000, 100_000, 500


class CheckpointError(ValueError):
    """A file that cannot be used: damaged, of another kind, or of another model or run."""


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """List the model's own tensors, parameters and persistent buffers by name, each once.

    A table that also serves as the output matrix stands under two names in a state dict; it is kept under the
    first alone, and loading that one fills both.

    TypeError if the module keeps something that is no tensor.
    """
    tensors: dict[str, Tensor] = {}
    tensor_ids: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}; only tensors can be kept in a safetensors file")
        if id(tensor) not in tensor_ids:
            tensor_ids.add(id(tensor))
            tensors[name] = tensor
    return tensors


def save_weights(
    model: nn.Module, path: str | Path, dtype: torch.dtype | None = None, *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a model's weights for others to use: no optimizer, no position in a run.

    Args:
        model: Whose weights.
        path: Where to. What is there is replaced, in one move.
        dtype: What floating-point weights are rounded to (torch.float16 halves the file); None keeps theirs.
        notes: What to write beside them, as JSON: a configuration, a score.

    Raises:
        TypeError: If dtype is no floating-point dtype, or the notes are no JSON.
        ValueError: If a weight does not fit into the dtype: 70000 is infinite in float16.
    """
    if dtype is not None and not dtype.is_floating_point:
        raise TypeError(f"dtype is {dtype}; wanted a floating-point dtype")
    rounded = {}
    for name, tensor in model_tensors(model).items():
        rounded[name] = tensor.detach()
        if dtype is not None and tensor.is_floating_point():
            rounded[name] = rounded[name].to(dtype)
            if not torch.equal(rounded[name].isfinite(), tensor.isfinite()):
                raise ValueError(f"{name} holds numbers too large for {dtype}: the largest is {tensor.abs().max():g}")
    write_tensors(path, rounded, {"kind": "weights", "notes": dict(notes or {})})


def load_weights(model: nn.Module, path: str | Path) -> dict[str, Any]:
    """Fill a model with the weights of a file, in the model's own dtype and on its own device.

    Args:
        model: To be filled. Nothing is changed unless everything fits.
        path: A file of save_weights, or another safetensors file with the same names.

    Returns:
        The notes that were written beside the weights.

    Raises:
        FileNotFoundError: If there is no such file.
        CheckpointError: If the file is damaged, or names or shapes are not the model's. The message names those
            that are missing, unexpected or of another shape.
    """
    tensors, header = read_tensors(path)
    fill(model_tensors(model), tensors, path)
    return header.get("notes", {})


def fill(targets: Mapping[str, Tensor], got: Mapping[str, Tensor], path: str | Path) -> None:
    """Copy tensors into others of the same names, or say all that does not fit.

    ``targets`` are overwritten in place; ``got`` may be of another device or precision. CheckpointError with the file's
    name if names or shapes differ, or numbers with and without fractions meet; nothing is copied then.
    """
    check_fit(targets, got, path)
    with torch.no_grad():
        for name, tensor in targets.items():
            tensor.copy_(cut_like(tensor, got[name]))


def check_fit(targets: Mapping[str, Tensor], got: Mapping[str, Tensor], path: str | Path) -> None:
    """Raise the CheckpointError with which fill would refuse to copy; all arguments are those of fill."""
    wrong = [f"missing {name}" for name in targets if name not in got]
    wrong += [f"unexpected {name}" for name in got if name not in targets]
    wrong += [
        f"{name} has shape {tuple(got[name].shape)}, wanted {tuple(tensor.shape)}"
        for name, tensor in targets.items()
        if name in got and got[name].shape != tensor.shape
    ]
    wrong += [
        f"{name} has dtype {got[name].dtype}, wanted {tensor.dtype} or the like"
        for name, tensor in targets.items()
        if name in got and got[name].is_floating_point() != tensor.is_floating_point()
    ]
    if wrong:
        summary = "; ".join(wrong[:8]) + (f"; and {len(wrong) - 8} more" if len(wrong) > 8 else "")
        raise CheckpointError(f"{path} does not fit this model: {summary}")


def cut_like(target: Tensor, tensor: Tensor) -> Tensor:
    """Lay a whole tensor out as another is: where that one is cut among ranks (a DTensor), this rank's part of it."""
    if not hasattr(target, "full_tensor") or hasattr(tensor, "full_tensor"):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(target, DTensor)
    return distribute_tensor(tensor.to(target.device), target.device_mesh, target.placements)


def write_tensors(path: str | Path, tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and a JSON header as one safetensors file, so that no reader ever sees half of it.

    The file is written beside its place and then moved there, which a file system does whole or not at all. A
    digest over everything makes a later flaw of the disk show. In a process group all ranks call this: tensors that
    are cut among them are gathered, and rank 0 writes.

    The tensors may be on any device; missing folders are made. TypeError if the header is no JSON.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Copies: tensors that share their memory, or are views of more, cannot be written as they are.
    copies = {name: whole(tensor.detach()).to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
    if torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_rank() > 0:
        return
    text = json.dumps(header, allow_nan=False)
    partial = path.with_name(path.name + ".partial")
    save_file(copies, partial, metadata={_HEADER: text, _DIGEST: _digest(copies, text)})
    with open(partial, "rb") as written:
        os.fsync(written.fileno())
    os.replace(partial, path)


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what write_tensors wrote; another safetensors file has no header.

    The tensors are on the CPU. FileNotFoundError; CheckpointError if the file is no safetensors file, was cut short, or
    does not have the digest it states.
    """
    try:
        with open_regular(path) as file:
            header_bytes = int.from_bytes(file.read(8), "little")
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    if header_bytes > _MOST_HEADER_BYTES:
        raise CheckpointError(
            f"{path} is damaged, or no safetensors file: its header has {header_bytes:,} bytes, which is more than is "
            "read"
        )
    try:
        with safe_open(path, framework="pt") as opened:
            metadata, names = opened.metadata() or {}, opened.keys()
            _check_names(names, path)
            tensors = {name: opened.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise CheckpointError(f"{path} is damaged, or no safetensors file: {shortened(str(error), 200)}") from error
    text = metadata.get(_HEADER, "{}")
    if _HEADER in metadata and metadata.get(_DIGEST) != _digest(tensors, text):
        raise CheckpointError(f"{path} is damaged: its content does not have the digest it was written with")
    return tensors, _parsed_header(text, path)


def whole(tensor: Tensor) -> Tensor:
    """Give all of a tensor, gathered from all ranks where it is cut among them; all of them call this then."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def _check_names(names: Sequence[str], path: str | Path) -> None:
    if len(names) > _MOST_TENSORS:
        raise CheckpointError(f"{path} holds {len(names):,} tensors; at most {_MOST_TENSORS:,} are read")
    for name in names:
        if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
            raise CheckpointError(
                f"{path} holds a tensor with the name {shortened(name)!r}; wanted 1 to {_LONGEST_NAME} characters that "
                "can be printed"
            )


def _parsed_header(text: str, path: str | Path) -> dict[str, Any]:
    """Parse the header beside the tensors; that of a long run has a loss for each of its steps."""
    try:
        header = parse_json(
            text.encode(), f"{path}: its header", max_bytes=_MOST_HEADER_BYTES, max_items=_MOST_HEADER_BYTES // 16
        )
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    notes = header.get("notes", {}) if isinstance(header, dict) else None
    if not isinstance(header, dict) or not isinstance(notes, dict):
        raise CheckpointError(f"{path} has a header that is no JSON object, or notes that are none")
    return header


def _digest(tensors: Mapping[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
