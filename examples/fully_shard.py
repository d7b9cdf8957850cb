"""Fully sharded data parallelism (FSDP, ZeRO stage 3) in one file: the losses of one process, half of the memory.

    torchrun --standalone --nproc-per-node 2 examples/fully_shard.py

torchrun starts the file twice, as ranks 0 and 1. Each rank first trains a small language model alone, on the whole
batches; then both train it together, each with its rows of every batch and its shard of all weights. The losses are the
same. What follows runs on CPUs, with gloo; on GPUs, set the device of each rank, and take nccl and a mesh on "cuda".

Letters of axes, as in ids_BT: B sequences in a batch, T positions, D model width, V tokens in the vocabulary.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn import functional as F

B, T, D, V = 8, 32, 32, 256
STEPS = 5


class Decoder(nn.Module):
    """A decoder-only language model of torch's own layers; a byte is a token."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(D, nhead=4, dim_feedforward=4 * D, dropout=0.0, batch_first=True)
            for _ in range(2)
        )
        self.output = nn.Linear(D, V)

    def forward(self, ids_BT: Tensor, next_BT: Tensor) -> Tensor:
        """Return the mean loss of predicting next_BT."""
        x_BTD = self.tokens(ids_BT) + self.positions.weight
        future_TT = nn.Transformer.generate_square_subsequent_mask(T)
        for layer in self.layers:
            x_BTD = layer(x_BTD, src_mask=future_TT)
        return F.cross_entropy(self.output(x_BTD).flatten(0, 1), next_BT.flatten())


def draw_batches() -> list[Tensor]:
    """Draw rows of T + 1 bytes from this file: the same on every rank."""
    text = torch.tensor(list(Path(__file__).read_bytes()))
    generator = torch.Generator().manual_seed(1)
    starts = torch.randint(len(text) - T, (STEPS, B, 1), generator=generator)
    return list(text[starts + torch.arange(T + 1)])


def train(model: nn.Module, batches: Sequence[Tensor], rank: int = 0, world: int = 1) -> list[float]:
    """Train on every world-th row of each batch; return the losses on whole batches."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for ids in batches:
        share = ids[rank::world]
        loss = model(share[:, :-1], share[:, 1:])
        # FSDP takes the mean of all ranks' gradients. It is the batch's, since all ranks have as many tokens.
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach()
        if world > 1:
            dist.all_reduce(total)
        losses.append(total.item() / world)
    return losses


def main() -> None:
    """Train alone and together, and compare."""
    if "RANK" not in os.environ:
        raise SystemExit("Start this file with: torchrun --standalone --nproc-per-node 2 examples/fully_shard.py")
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    if B % world:
        raise SystemExit(f"A batch has {B} rows, which {world} ranks cannot share evenly: start 2, 4 or 8 of them.")

    torch.manual_seed(0)
    alone = Decoder()
    sharded = Decoder()
    sharded.load_state_dict(alone.state_dict())
    # A layer's weights are gathered just before it runs, and freed after: shard layers first, then the rest.
    mesh = init_device_mesh("cpu", (world,))
    for layer in sharded.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(sharded, mesh=mesh)

    batches = draw_batches()
    losses_alone = train(alone, batches)
    losses = train(sharded, batches, rank, world)
    whole = sum(weight.numel() for weight in alone.parameters())
    here = sum(weight.to_local().numel() for weight in sharded.parameters() if isinstance(weight, DTensor))
    if rank == 0:
        for step, (single, together) in enumerate(zip(losses_alone, losses, strict=True), start=1):
            print(f"step {step}: loss {single:.4f} alone, {together:.4f} on {world} ranks")
        print(f"rank 0 has {here:,} of {whole:,} weights, and of each of Adam's two averages")
    torch.testing.assert_close(torch.tensor(losses), torch.tensor(losses_alone), rtol=1e-4, atol=1e-4)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
