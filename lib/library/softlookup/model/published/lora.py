"""LoRA: a frozen model learns by two narrow matrices beside each of some weight matrices.

Letters of its own: R rank, I inputs of a matrix, O outputs of a matrix, A the matrix (R, I) of a change.
"""

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from softlookup.model.published._decoder_weights import LAYER_NAMES
from softlookup.model.published._renaming import FLOATS, spread
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.weights import CheckpointError, read_tensors, write_tensors
from softlookup_inside.untrusted_files import read_json, shortened

ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
"""The two files of an adapter, as PEFT names them."""

_HAS_ADAPTERS = "the model has LoRA adapters already: merge them first with merge_lora"
_PREFIX = "base_model.model."
_LLAMA_NAMES = {name: published.removesuffix(".weight") for name, published in spread(LAYER_NAMES).items()}
_PLAIN = {"bias": "none", "fan_in_fan_out": False, "use_dora": False, "use_rslora": False, "modules_to_save": None}
_READ = {"peft_type", "r", "lora_alpha", "target_modules", "base_model_name_or_path"}
# Entries that change nothing once the adapter is trained, or nothing by themselves.
_HARMLESS = {
    "task_type", "auto_mapping", "peft_version", "revision", "inference_mode", "lora_dropout", "layers_pattern",
    "megatron_core", "loftq_config", "eva_config", "corda_config", "lora_ga_config", "qalora_group_size",
    "runtime_config",
}  # fmt: skip
# The other ways to begin (pissa, olora, corda, loftq, lora_ga) change the frozen matrices, which no adapter holds.
_BEGINNINGS = (True, "gaussian", "orthogonal", "eva", "mica")
_NEUTRAL: tuple[Any, ...] = (None, False, [], {})
_ACCEPTED: dict[str, tuple[Any, ...]] = {"bias": ("none",), "init_lora_weights": _BEGINNINGS}


class LoraChange(nn.Module):
    """What is added to one weight matrix: alpha / rank times the product of two narrow matrices.

    ``w`` is frozen; ``rank`` is R, the width between the two. ``is_linear``: w stands as torch's Linear has it, (O, I);
    otherwise as in the book, (I, O).

    Source: Hu et al. 2021, section 4.1.
    """

    def __init__(self, w: Tensor, rank: int, alpha: float | int, *, is_linear: bool) -> None:
        super().__init__()
        n_out, n_in = w.shape if is_linear else (w.shape[1], w.shape[0])
        self.rank, self.alpha, self.is_linear = rank, alpha, is_linear
        # In float32 also beside a matrix of half precision: small steps would be lost there.
        dtype = torch.promote_types(w.dtype, torch.float32)
        self.a = nn.Parameter(torch.empty(rank, n_in, device=w.device, dtype=dtype))
        self.b = nn.Parameter(torch.zeros(n_out, rank, device=w.device, dtype=dtype))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, w: Tensor) -> Tensor:
        """Give the changed matrix, w + alpha / R * B A, in the shape and the dtype of the frozen matrix w."""
        change = (self.alpha / self.rank) * (self.b @ self.a)
        return (w + (change if self.is_linear else change.mT)).to(w.dtype)


def add_lora(
    model: nn.Module, rank: int = 8, alpha: float | int = 16, targets: Sequence[str] = ("w_q", "w_v")
) -> list[str]:
    """Freeze a model, and give some of its matrices a change of low rank that can be trained.

    At first the change is zero: A is drawn (Kaiming, uniform, a = sqrt(5), as in PEFT), B is zero. Whatever reads the
    matrix reads the changed matrix, FastStep too; FastStep copies it, and does not see later training.

    Args:
        model: A model; its weights are frozen in place.
        rank: R, at least 1.
        alpha: The change is multiplied by alpha / R.
        targets: Last names of matrices (w_q, w_k, w_v, w_o, w_gate, w_1, w_2) or of torch's Linear layers.

    Returns:
        The full names of the changed matrices, in the order of the model.

    Raises:
        ValueError: If rank is below 1, alpha is no finite number above 0, the model has adapters, or a target is not in
            the model; the message lists the names there are.

    Source: Hu et al. 2021, section 4.

    >>> add_lora(nn.Sequential(nn.Linear(4, 3)), rank=2, alpha=4, targets=["0"])
    ['0']
    """
    if rank < 1 or not 0 < alpha < math.inf:
        raise ValueError(f"rank is {rank}, alpha {alpha}; wanted a rank of at least 1 and a finite alpha above 0")
    if _changes(model):
        raise ValueError(_HAS_ADAPTERS)
    matrices = _matrices(model)
    last_names = sorted({name.rpartition(".")[2] for name in matrices})
    if unknown := [target for target in targets if target not in last_names]:
        raise ValueError(f"the model has no matrix {unknown[0]!r}; it has {', '.join(last_names)}")
    if not targets:
        raise ValueError(f"targets is empty; wanted names of matrices, among {', '.join(last_names)}")
    names = [name for name in matrices if name.rpartition(".")[2] in targets]
    _attach(model, [matrices[name] for name in names], rank, alpha)
    return names


def lora_parameters(model: nn.Module) -> list[nn.Parameter]:
    """List what is trained of a model of add_lora, for an optimizer: A (R, I) and B (O, R) of each changed matrix.

    ValueError if the model has no adapters.
    """
    return list(lora_changes(model).parameters())


def lora_changes(model: nn.Module) -> nn.ModuleList:
    """Collect the adapters of a model as a module of their own: what a checkpoint of the training has to hold.

    Gives the LoraChange of each changed matrix, in the order of the model: the same objects, not copies. ValueError if
    there is none.
    """
    if not (changes := _changes(model)):
        raise ValueError("the model has no LoRA adapters; add_lora adds them")
    return nn.ModuleList(changes.values())


def count_lora(model: nn.Module) -> tuple[int, float]:
    """Count what is trained: R * (I + O) numbers for each changed matrix.

    Args:
        model: A model of add_lora.

    Returns:
        The number of trained parameters, and their fraction of all parameters, adapters included.

    Raises:
        ValueError: If the model has no adapters.
    """
    n_trained = sum(parameter.numel() for parameter in lora_parameters(model))
    return n_trained, n_trained / sum(parameter.numel() for parameter in model.parameters())


@torch.no_grad()
def merge_lora(model: nn.Module) -> None:
    """Add the changes to the matrices for good, in place: the model is then as plain, and as fast, as before.

    All weights can be trained again afterwards.

    Args:
        model: A model of add_lora.

    Raises:
        ValueError: If the model has no adapters.

    Source: Hu et al. 2021, section 4.1 (no additional inference latency).
    """
    lora_changes(model)  # refuses a model without any
    for _, module, parameter, _ in list(_changed_matrices(model)):
        parametrize.remove_parametrizations(module, parameter, leave_parametrized=True)
    model.requires_grad_(True)


def save_adapter(model: nn.Module, folder: str | Path, *, base: str | None = None) -> None:
    """Write the adapters of a model in the format of PEFT: adapter_config.json and adapter_model.safetensors.

    A model of Llama's kind gets Llama's names, so that PEFT loads the adapter beside the published weights.

    The folder is made if it is missing; ``base`` is the name or the folder of the frozen model. ValueError if the model
    has no adapters.
    """
    lora_changes(model)  # refuses a model without any
    folder, changes = Path(folder), _changes(model)
    first = next(iter(changes.values()))
    tensors, targets = {}, set()
    for name, change in changes.items():
        public = _public_name(model, name)
        targets.add(public.rpartition(".")[2])
        tensors[f"{_PREFIX}{public}.lora_A.weight"] = change.a
        tensors[f"{_PREFIX}{public}.lora_B.weight"] = change.b
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM" if isinstance(model, DecoderLM) else None,
        "base_model_name_or_path": base,
        "r": first.rank,
        "lora_alpha": first.alpha,
        "lora_dropout": 0.0,
        "target_modules": sorted(targets),
        "inference_mode": True,
        "init_lora_weights": True,
        **_PLAIN,
    }
    write_tensors(folder / ADAPTER_WEIGHTS, tensors, {"format": "pt"})
    partial = folder / f"{ADAPTER_CONFIG}.partial"
    partial.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, folder / ADAPTER_CONFIG)


def load_adapter(model: nn.Module, folder: str | Path) -> None:
    """Give a model the adapters of a folder, written by save_adapter or by PEFT.

    Nothing is changed unless everything fits. FileNotFoundError; CheckpointError, which names what differs, if a file
    is damaged, is of another kind of adapter, or does not fit the model in its names, its rank or its sizes; ValueError
    if the model has adapters already.
    """
    folder = Path(folder)
    config = read_adapter_config(folder)
    tensors, _ = read_tensors(folder / ADAPTER_WEIGHTS)
    rank, alpha, targets = config["r"], config["lora_alpha"], set(config["target_modules"])
    if _changes(model):
        raise ValueError(_HAS_ADAPTERS)
    matrices = _matrices(model)
    publics = {name: _public_name(model, name) for name in matrices}
    known = {public.rpartition(".")[2] for public in publics.values()}
    if unknown := sorted(targets - known):
        raise CheckpointError(
            f"{folder} does not fit this model: it changes {shortened(unknown[0])!r}; the model has "
            f"{', '.join(sorted(known))}"
        )
    names = {name: public for name, public in publics.items() if public.rpartition(".")[2] in targets}
    shapes, wrong = {}, []
    for name, public in names.items():
        module, parameter = matrices[name]
        w = getattr(module, parameter)
        w = w if isinstance(module, nn.Linear) else w.mT
        n_out, n_in = w.shape
        shapes[f"{_PREFIX}{public}.lora_A.weight"] = (rank, n_in)
        shapes[f"{_PREFIX}{public}.lora_B.weight"] = (n_out, rank)
        # PEFT writes the frozen table of the output beside its change.
        frozen = tensors.pop(table := f"{_PREFIX}{public}.base_layer.weight", None)
        if frozen is not None and not (frozen.shape == w.shape and torch.equal(frozen.to(w), w)):
            wrong.append(f"{table} is another matrix than the model's")
    wrong += [f"missing {key}" for key in shapes if key not in tensors]
    wrong += [f"unexpected {key}" for key in tensors if key not in shapes]
    wrong += [
        f"{key} has shape {tuple(tensors[key].shape)}, wanted {shape}"
        for key, shape in shapes.items()
        if key in tensors and tuple(tensors[key].shape) != shape
    ]
    wrong += [
        f"{key} has dtype {tensors[key].dtype}, wanted floating-point numbers of 16 bits or more"
        for key in shapes
        if key in tensors and tensors[key].dtype not in FLOATS
    ]
    if wrong:
        more = f"; and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        raise CheckpointError(f"{folder} does not fit this model: {'; '.join(wrong[:4])}{more}")
    _attach(model, [matrices[name] for name in names], rank, alpha)
    with torch.no_grad():
        for name, change in _changes(model).items():
            change.a.copy_(tensors[f"{_PREFIX}{names[name]}.lora_A.weight"])
            change.b.copy_(tensors[f"{_PREFIX}{names[name]}.lora_B.weight"])


def read_adapter_config(folder: str | Path) -> dict[str, Any]:
    """Read the description of an adapter, and refuse a kind that this library does not compute.

    Among the entries are r, lora_alpha, target_modules and base_model_name_or_path. FileNotFoundError if
    adapter_config.json is missing; CheckpointError if it is no JSON, lacks an entry, or asks for what plain LoRA does
    not have.
    """
    path = Path(folder) / ADAPTER_CONFIG
    try:
        config = read_json(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{folder} holds no adapter: {error}") from error
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        raise CheckpointError(f"{path} describes no LoRA adapter; wanted an object with peft_type 'LORA'")
    for name, value in config.items():
        accepted = _ACCEPTED.get(name, ())
        # layers_to_transform 0 is the first layer alone, and equals False.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name not in _READ | _HARMLESS and (is_number or value not in (*accepted, *_NEUTRAL)):
            known = f"with {' or '.join(map(repr, accepted))}" if accepted else "without it"
            raise CheckpointError(
                f"{path} has {shortened(name)} {shortened(value)}; plain LoRA alone is read, {known}: merge the "
                "adapter into its model with PEFT"
            )
    rank, alpha, targets = (config.get(name) for name in ("r", "lora_alpha", "target_modules"))
    is_rank = isinstance(rank, int) and not isinstance(rank, bool) and rank >= 1
    is_alpha = isinstance(alpha, int | float) and not isinstance(alpha, bool) and 0 < alpha < math.inf
    if not is_rank or not is_alpha:
        raise CheckpointError(
            f"{path} has r {shortened(rank)} and lora_alpha {shortened(alpha)}; wanted numbers above 0"
        )
    if not isinstance(targets, list) or not targets or not all(isinstance(target, str) for target in targets):
        raise CheckpointError(f"{path} has target_modules {shortened(targets)}; wanted a list of names")
    if not isinstance(base := config.get("base_model_name_or_path"), str | None):
        raise CheckpointError(f"{path} has base_model_name_or_path {shortened(base)}; wanted a name or null")
    return config


def _matrices(model: nn.Module) -> dict[str, tuple[nn.Module, str]]:
    """Find what can be changed: matrices w_... of the library's parts, and torch's Linear layers."""
    matrices: dict[str, tuple[nn.Module, str]] = {}
    for path, module in model.named_modules():
        if isinstance(module, nn.Linear):
            matrices[path] = (module, "weight")
            continue
        for name, parameter in module.named_parameters(recurse=False):
            if name.startswith("w_") and parameter.ndim == 2:
                matrices[f"{path}.{name}" if path else name] = (module, name)
    return matrices


def _attach(model: nn.Module, matrices: Sequence[tuple[nn.Module, str]], rank: int, alpha: float | int) -> None:
    """Freeze a model, and give matrices of it a change."""
    model.requires_grad_(False)
    for module, parameter in matrices:
        change = LoraChange(getattr(module, parameter), rank, alpha, is_linear=isinstance(module, nn.Linear))
        parametrize.register_parametrization(module, parameter, change)


def _changes(model: nn.Module) -> dict[str, LoraChange]:
    return {name: change for name, _, _, change in _changed_matrices(model)}


def _changed_matrices(model: nn.Module) -> Iterator[tuple[str, nn.Module, str, LoraChange]]:
    """Give the full name, the module, the name there and the change of each changed matrix."""
    for path, module in model.named_modules():
        parametrizations = getattr(module, "parametrizations", None)
        if not isinstance(parametrizations, nn.ModuleDict):
            continue
        for name, changes in parametrizations.items():
            change = next(changes.children(), None)
            if isinstance(change, LoraChange):
                full_name = path if isinstance(module, nn.Linear) else f"{path}.{name}" if path else name
                yield full_name, module, name, change


def _public_name(model: nn.Module, name: str) -> str:
    """Give a matrix the name that PEFT knows it by: Llama's, where the model is of Llama's kind."""
    if isinstance(model, DecoderLM) and (model.config.norm, model.config.activation) == ("rms", "swiglu"):
        if name == "head.w_out":
            return "lm_head"
        matrix = r"attention\.w_[qkvo]|feed_forward\.w_(?:gate|[12])"
        if match := re.fullmatch(rf"decoder\.layers\.(\d+)\.({matrix})", name):
            return f"model.layers.{match[1]}.{_LLAMA_NAMES[match[2]]}"
    return name
