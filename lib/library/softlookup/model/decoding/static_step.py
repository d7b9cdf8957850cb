"""Writing on a GPU without waiting for the CPU: a cache of fixed size, and a token's whole step as one launch.

A GPU does what a token needs in less time than a CPU takes to ask for it: a step of a small model is some hundred
kernels, each asked for by Python. Here the step is recorded once, with every tensor in its place for good, and
replayed: the newest token, its position and the cache are written where the next replay reads them.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.config import PLACES_IN_A_TENSOR, check_parts
from softlookup.model.whole.language import DecoderLM

_ROOM_IN = 64  # kernels read whole blocks of keys: room comes in multiples of this
_WARM = 3  # steps before the recording, in which libraries make ready what may not be made while it runs


class StaticStep:
    """Writes greedily, with a cache of fixed size; on a GPU each step is one launch of a recorded graph.

    Args:
        model: A decoder-only model in eval mode. Its weights are read where they lie, so they must not be moved.
        batch: B, how many texts are written at once, all of one length.
        room: How many positions a text may come to, its prompt counted; it is rounded up to a multiple of 64.
        compiled: Whether torch compiles the step before it is recorded, which joins small kernels; it takes a minute.

    Raises:
        TypeError: If the model is no DecoderLM.
        ValueError: If it is in training mode, has parts that this path does not know (the message names them), or a
            size is out of range.

    Cost: 2*L*B*K*room*H numbers of cache; each step reads the whole room of it.

    Source: the PyTorch team's gpt-fast, 2023 (a static cache and one graph).
    """

    def __init__(self, model: DecoderLM, *, batch: int = 1, room: int, compiled: bool = False) -> None:
        if not isinstance(model, DecoderLM):
            raise TypeError(f"model is a {type(model).__name__}; wanted a DecoderLM")
        if model.training:
            raise ValueError("model is in training mode, and this path drops nothing: call eval() first")
        config = model.config
        check_parts(config, PLACES_IN_A_TENSOR, "StaticStep")
        if batch < 1 or not 1 <= room <= config.max_length:
            raise ValueError(
                f"batch is {batch}, room {room}; wanted at least one text, and 1 to {config.max_length} positions"
            )
        self.model, self.batch, self.room = model, batch, room
        table = model.embedder.tokens.table
        slots = -(-room // _ROOM_IN) * _ROOM_IN
        self._place = torch.zeros(1, dtype=torch.int64, device=table.device)  # of the newest token
        self._newest = torch.zeros(batch, 1, dtype=torch.int64, device=table.device)
        self._written = torch.zeros(batch, slots + 1, dtype=torch.int64, device=table.device)
        self._slots = torch.arange(slots, device=table.device)
        self._state = KVCache(0)
        heads, width = config.n_kv_heads or config.n_heads, config.head_width or config.d_model // config.n_heads
        self._state.layers = [
            _StaticLayer(heads, width, batch, slots, self._place, table) for _ in model.decoder.layers
        ]
        self._step: Callable[[], None] = torch.compile(self._write_next) if compiled else self._write_next
        self._graph: Any = None

    @torch.no_grad()
    def write(self, prompt_ids: Int[Tensor, "B T"], new_tokens: int) -> Int[Tensor, "B L"]:
        """Continue the prompts by the likeliest tokens.

        Args:
            prompt_ids: At least one token in each row, on the model's device.
            new_tokens: M, how many are written; nothing ends a row sooner.

        Returns:
            The prompts and what follows them, L = T + M.

        Raises:
            ValueError: If there are not B rows, a prompt is empty, or the text outgrows the room.
            TypeError: If the ids are not whole numbers.
        """
        rows, length = prompt_ids.shape
        if rows != self.batch or length < 1 or new_tokens < 1 or length + new_tokens > self.room:
            raise ValueError(
                f"{rows} prompts of {length} tokens and {new_tokens} more; wanted {self.batch} prompts, at least one "
                f"token of each kind, and no more than {self.room} together"
            )
        if self._graph is None:
            self._record()
        logits, state = self.model.step(prompt_ids)  # prefill, the plain way
        for layer, plain in zip(self._state.layers, state.layers, strict=True):
            assert isinstance(layer, _StaticLayer)
            layer.take(plain.k, plain.v)
        self._newest.copy_(logits.argmax(dim=-1, keepdim=True))
        self._written[:, :length], self._written[:, length] = prompt_ids, self._newest[:, 0]
        self._place.fill_(length)
        for _ in range(new_tokens - 1):
            self._graph()
        return self._written[:, : length + new_tokens].clone()

    def _write_next(self) -> None:
        """Take the newest token at its place; leave the next one, and the next place, where this was read."""
        model = self.model
        mask = (self._slots <= self._place)[None, None, None]
        x = model.embedder(self._newest, places=self._place[None].expand(self.batch, 1))
        x = model.decoder(x, mask=mask, cache=self._state)
        self._newest.copy_(model.head(x)[:, 0].argmax(dim=-1, keepdim=True))
        self._place.add_(1)
        self._written.index_copy_(1, self._place, self._newest)

    def _record(self) -> None:
        """Record one step; without a GPU a step is done as it is."""
        if self._place.device.type != "cuda":
            self._graph = self._step
            return
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(_WARM):
                self._place.zero_()
                self._step()
        torch.cuda.current_stream().wait_stream(beside)
        self._place.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        self._graph = graph.replay


class _StaticLayer(LayerCache):
    """One layer's keys and values in memory that stays; the place of the newest is a number on the device."""

    def __init__(self, heads: int, width: int, batch: int, slots: int, position: Tensor, like: Tensor) -> None:
        super().__init__()
        self._room_k, self._room_v = (like.new_zeros(batch, heads, slots, width) for _ in range(2))
        self._place = position

    @property
    def offset(self) -> Int[Tensor, " B"]:
        """The place of each row's newest token."""
        return self._place.expand(len(self._room_k))

    def append(
        self, k: Float[Tensor, "B K T H"], v: Float[Tensor, "B K T H"]
    ) -> tuple[Float[Tensor, "B K S H"], Float[Tensor, "B K S H"]]:
        """Write the newest in its place, and give the whole room: a mask hides what is not filled."""
        self._room_k.index_copy_(2, self._place, k)
        self._room_v.index_copy_(2, self._place, v)
        return self._room_k, self._room_v

    def take(self, k: Tensor, v: Tensor) -> None:
        """Begin with the keys and values of a prompt."""
        self._room_k[:, :, : k.shape[2]] = k
        self._room_v[:, :, : v.shape[2]] = v
