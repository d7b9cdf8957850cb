"""One run on a grid of processes: ranks of a row divide the weights of every layer, ranks of a column the batch.

A weight is a DTensor of torch's on the grid; a forward pass computes with this rank's part of it.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_tensor

from softlookup.model.parts.feedforward import FeedForward
from softlookup.model.parts.multihead import MultiHeadAttention

_CUT_AXES = {"w_q": 1, "w_k": 1, "w_v": 1, "b_q": 0, "b_k": 0, "b_v": 0, "w_o": 0} | {
    "w_1": 1, "w_gate": 1, "b_1": 0, "b_gate": 0, "w_2": 0
}  # fmt: skip
"""Columns, then rows: whole heads, or hidden units, of a rank. Biases after the rows are whole on all ranks."""

_LAST_BIAS = {MultiHeadAttention: "b_o", FeedForward: "b_2"}


def cut_layers(model: nn.Module, tensor: int) -> None:
    """Divide the heads and the hidden units of a model among ranks; before its optimizer is made.

    With R ranks, rank r has part ``r % tensor`` of every attention layer and feed-forward network. All other weights
    are whole on every rank. Each of these layers then has one all-reduce in the forward pass and one in the backward
    pass. Call the model by its forward method from now on; gradients are those of this rank's rows of the batch until
    ``add_gradients`` is called.

    The model is the same on all ranks. ValueError if ``tensor`` does not divide ranks, heads or hidden units, or an
    attention layer has parts that are not divided here: norms of queries and keys, sinks, or relative positions.

    Source: Shoeybi et al. 2019 (Megatron-LM), section 3.
    """
    world = torch.distributed.get_world_size()
    if tensor < 1 or world % tensor:
        raise ValueError(f"{world} ranks cannot be divided into rows of {tensor}: give a divisor")
    layers = [module for module in model.modules() if isinstance(module, MultiHeadAttention | FeedForward)]
    for layer in layers:
        _check(layer, tensor)
    device = next(model.parameters()).device.type
    mesh = init_device_mesh(device, (world // tensor, tensor), mesh_dim_names=("data", "tensor"))
    weights: dict[int, nn.Parameter] = {}  # a table that two modules share stays one
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            if id(parameter) not in weights:
                cut = Shard(_CUT_AXES[name]) if module in layers and name in _CUT_AXES else Replicate()
                laid_out = distribute_tensor(parameter.detach(), mesh, [Replicate(), cut])
                weights[id(parameter)] = nn.Parameter(laid_out)
            module.register_parameter(name, weights[id(parameter)])
    for layer in layers:
        if isinstance(layer, MultiHeadAttention):
            layer.n_heads, layer.n_kv_heads = layer.n_heads // tensor, layer.n_kv_heads // tensor
        _Reductions(layer, mesh["tensor"])
    _LocalWeights(model)


def add_gradients(model: nn.Module) -> None:
    """Leave on every rank the mean of the gradients of its column: all ranks with the same part of the weights.

    The model has been cut by cut_layers, and a backward pass is behind it.
    """
    for parameter in model.parameters():
        if isinstance(parameter.grad, DTensor):
            gradient = parameter.grad
            placements = [Replicate(), *gradient.placements[1:]]
            parameter.grad = gradient.redistribute(placements=placements) / gradient.device_mesh.size(0)


class _LocalWeights:
    """While a model runs, each weight is this rank's part of it, an ordinary tensor."""

    def __init__(self, model: nn.Module) -> None:
        self.whole: list[tuple[nn.Module, str, DTensor]] = []
        model.register_forward_pre_hook(self.before, prepend=True)
        model.register_forward_hook(self.after, always_call=True)

    def before(self, model: nn.Module, args: Any) -> None:
        local: dict[int, Tensor] = {}
        for module in model.modules():
            parameters: dict[str, Any] = module._parameters
            for name, parameter in parameters.items():
                if isinstance(parameter, DTensor):
                    self.whole.append((module, name, parameter))
                    if id(parameter) not in local:
                        summed: list[Placement] = [Partial(), *parameter.placements[1:]]
                        local[id(parameter)] = parameter.to_local(grad_placements=summed)
        for module, name, parameter in self.whole:
            module._parameters[name] = local[id(parameter)]  # type: ignore[assignment]

    def after(self, model: nn.Module, args: Any, output: Any) -> None:
        for module, name, parameter in self.whole:
            module._parameters[name] = parameter  # type: ignore[assignment]
        self.whole.clear()


class _Reductions:
    """The all-reduces of one layer: of gradients at its inputs, of sums at its output, where its bias is added."""

    def __init__(self, layer: nn.Module, mesh: DeviceMesh) -> None:
        self.mesh, self.name = mesh, _LAST_BIAS[type(layer)]
        self.bias: Tensor | None = None
        layer.register_forward_pre_hook(self.before, with_kwargs=True)
        layer.register_forward_hook(self.after)

    def before(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.bias, layer._parameters[self.name] = layer._parameters[self.name], None
        inputs = {name: kwargs[name] for name in ("x", "x_kv") if isinstance(kwargs.get(name), Tensor)}
        rows = tuple(self._summed_gradient(x) if x is not None and x.is_floating_point() else x for x in args[:2])
        return rows + args[2:], kwargs | {name: self._summed_gradient(x) for name, x in inputs.items()}

    def after(self, layer: nn.Module, args: Any, output: Tensor) -> Tensor:
        layer._parameters[self.name] = self.bias  # type: ignore[assignment]
        partial_sum = DTensor.from_local(output, self.mesh, [Partial()])
        total = partial_sum.redistribute(placements=[Replicate()]).to_local()
        return total if self.bias is None else total + self.bias

    def _summed_gradient(self, x: Tensor) -> Tensor:
        return DTensor.from_local(x, self.mesh, [Replicate()]).to_local(grad_placements=[Partial()])


def _check(layer: nn.Module, tensor: int) -> None:
    if isinstance(layer, FeedForward):
        if layer.w_1.shape[1] % tensor:
            raise ValueError(f"{layer.w_1.shape[1]} hidden units cannot be divided among {tensor} ranks")
        return
    assert isinstance(layer, MultiHeadAttention)
    if layer.n_kv_heads % tensor:
        raise ValueError(f"{layer.n_kv_heads} key-value heads cannot be divided among {tensor} ranks")
    parts = {"qk_norm": layer.q_norm, "sinks": layer.sinks, "relative": layer.relative}
    undivided = [name for name, part in parts.items() if part is not None]
    if undivided:
        raise ValueError(f"an attention layer has {', '.join(undivided)}, whose weights are not divided among ranks")
