"""What a decoder keeps while it writes: the keys and values of every token so far, so that none is computed twice."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class LayerCache:
    """The keys and values of one attention layer.

    The tensors are kept with room to grow: adding a token writes one row, and only when the room is used up are
    all of them copied, into twice the space. Where a layer attends through a window of W positions, the newest W are
    kept and older ones are let go.

    Args:
        once: Whether the first call brings all the keys (cross-attention).
        window: W; None keeps all positions.

    Raises:
        ValueError: If the window is below 1, or is given beside once.

    Attributes:
        complete: Whether the keys are all there (cross-attention after its first call): nothing is added any more.
        window: W, or None.

    Cost: a call that adds a token copies W rows where there is a window, as many as attention then reads.

    Source: Jiang et al. 2023 (Mistral), section 2 (a cache no longer than the window).
    """

    def __init__(self, *, once: bool = False, window: int | None = None) -> None:
        if window is not None and (window < 1 or once):
            raise ValueError(f"window is {window}, once is {once}; wanted a window of at least 1, and without once")
        self.complete = False
        self.window = window
        self._once = once
        self._length = 0
        self._k: Tensor | None = None
        self._v: Tensor | None = None

    @property
    def length(self) -> int:
        """How many positions were added: the place of the next token. A window keeps fewer of them."""
        return self._length

    @property
    def offset(self) -> int | Int[Tensor, " B"]:
        """The place of the next token: one number, or one for each row where rows differ in length."""
        return self._length

    @property
    def carried(self) -> int:
        """How many earlier positions the next token may attend to: all, or W - 1 beside itself."""
        return self._length if self.window is None else min(self._length, self.window - 1)

    @property
    def bytes(self) -> int:
        """How much memory the kept keys and values take, without the room to grow."""
        return sum(t.numel() * t.element_size() for t in (self.k, self.v)) if self._length else 0

    @property
    def k(self) -> Float[Tensor, "B K S H"]:
        """The keys so far; with a window, the newest W. A ValueError where nothing has been kept yet."""
        return self._kept(self._k)

    @property
    def v(self) -> Float[Tensor, "B K S Hv"]:
        """The values so far; with a window, the newest W. A ValueError where nothing has been kept yet."""
        return self._kept(self._v)

    def append(
        self, k: Float[Tensor, "B K T H"], v: Float[Tensor, "B K T Hv"]
    ) -> tuple[Float[Tensor, "B K S H"], Float[Tensor, "B K S Hv"]]:
        """Add the newest keys and values.

        Args:
            k: Keys of the tokens that are new.
            v: Their values.

        Returns:
            All keys and all values, the new ones last: views, to be read before the next call. With a window, the
            new ones and the W - 1 before them, which the first of them may attend to.

        Raises:
            ValueError: If the sizes, but for the positions, are not those of what is kept.
        """
        end = self._length + k.shape[2]
        if self._k is None or self._v is None:
            self._k, self._v = k, v
        elif k.shape[:2] != self._k.shape[:2] or k.shape[3] != self._k.shape[3] or v.shape[3] != self._v.shape[3]:
            raise ValueError(f"keys have shape {tuple(k.shape)}, beside kept ones of {tuple(self.k.shape)}")
        elif self.window is not None:
            gone = self._k.shape[2] - self.carried
            self._k, self._v = torch.cat((self._k[:, :, gone:], k), dim=2), torch.cat((self._v[:, :, gone:], v), dim=2)
        elif torch.is_grad_enabled() and (k.requires_grad or self._k.requires_grad):
            # Writing into a tensor that the backward pass still needs is an error; joining is not.
            self._k, self._v = torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2)
        else:
            self._k = _grown(self._k, self._length, end)
            self._v = _grown(self._v, self._length, end)
            self._k[:, :, self._length : end] = k
            self._v[:, :, self._length : end] = v
        self._length = end
        self.complete = self._once
        k, v = self.k, self.v
        if self.window is not None and k.shape[2] > self.window:  # a copy, so that a long prompt's keys are let go
            self._k, self._v = k[:, :, -self.window :].clone(), v[:, :, -self.window :].clone()
        return k, v

    def select(self, rows: Int[Tensor, " M"]) -> "LayerCache":
        """Take some rows of the batch, in the order given; a row may be taken more than once.

        Args:
            rows: Whole numbers, which rows.

        Returns:
            A new cache; this one stays as it was.
        """
        chosen = LayerCache(once=self._once, window=self.window)
        chosen.complete, chosen._length = self.complete, self._length
        if self._k is not None and self._v is not None:
            chosen._k, chosen._v = self._k.index_select(0, rows), self._v.index_select(0, rows)
        return chosen

    def cut(self, length: int) -> None:
        """Forget what stands behind a position.

        Args:
            length: How many positions stay.

        Raises:
            ValueError: If there are fewer, or a window has let earlier ones go.
        """
        if not 0 <= length <= self._length:
            raise ValueError(f"length is {length}; the cache has {self._length} positions")
        if self.window is not None and length < self._length:
            raise ValueError(f"a cache with a window of {self.window} cannot be cut: older positions are gone")
        self._length = length

    def _kept(self, tensor: Tensor | None) -> Tensor:
        if tensor is None:
            raise ValueError("the cache is empty: no keys have been kept yet")
        return tensor[:, :, : self._length]


class StateCache(LayerCache):
    """What a layer of linear attention hands from token to token, whose size does not grow.

    Attributes:
        state: The memory of each head, (B, N, H, Hv); None before the first call.
        tail: The newest inputs of the short convolution, (B, C, kernel - 1); None before the first call.

    Source: Yang et al. 2024 (arXiv 2412.06464).
    """

    def __init__(self) -> None:
        super().__init__()
        self.state: Tensor | None = None
        self.tail: Tensor | None = None

    @property
    def bytes(self) -> int:
        """How much memory the state and the tail take."""
        return sum(t.numel() * t.element_size() for t in (self.state, self.tail) if t is not None)

    def advance(self, tail: Float[Tensor, "B C left"], state: Float[Tensor, "B N H Hv"], length: int) -> None:
        """Take what a call of so many positions leaves behind."""
        self.tail, self.state = tail, state
        self._length += length

    def select(self, rows: Int[Tensor, " M"]) -> "StateCache":
        """Take some rows of the batch, as LayerCache.select does."""
        chosen = StateCache()
        chosen._length = self._length
        if self.tail is not None and self.state is not None:
            chosen.tail, chosen.state = self.tail.index_select(0, rows), self.state.index_select(0, rows)
        return chosen

    def cut(self, length: int) -> None:
        """Refuse to forget positions: the state has taken them in."""
        if length != self._length:
            raise ValueError(f"a recurrent state cannot be cut from {self._length} positions to {length}")


class KVCache:
    """The caches of all layers of a decoder, and which of the kept positions are padding.

    It holds L*2*B*K*S*H numbers. With fewer key-value heads (K < N) it is smaller by N/K; a layer with a window of W
    keeps W positions instead of S.

    Args:
        n_layers: L, the decoder's layers.
        cross: Whether the layers also look at an encoder's output, whose keys are kept from the first step on.
        memory_mask: Which of the encoder's positions may be looked at, (B, 1, 1, S).
        windows: The window of each layer, or None for a layer that keeps all positions; None keeps all in every layer.
        linear: Which layers have linear attention, and so a state in place of keys and values; None: none has.

    Raises:
        ValueError: If there is not one window for each layer, or one is below 1.

    Source: Shazeer 2019, section 3 (the cost of reading the cache); Pope et al. 2022.
    """

    def __init__(
        self,
        n_layers: int,
        *,
        cross: bool = False,
        memory_mask: Bool[Tensor, "B 1 1 S"] | None = None,
        windows: Sequence[int | None] | None = None,
        linear: Sequence[bool] | None = None,
    ) -> None:
        windows = [None] * n_layers if windows is None else windows
        if len(windows) != n_layers:
            raise ValueError(f"{len(windows)} windows are given for {n_layers} layers; wanted one for each")
        linear = [False] * n_layers if linear is None else linear
        self.layers = [
            StateCache() if is_linear else LayerCache(window=window)
            for window, is_linear in zip(windows, linear, strict=True)
        ]
        self.cross = [LayerCache(once=True) for _ in range(n_layers)] if cross else None
        self.memory: Tensor | None = None
        self.memory_mask = memory_mask
        self.padding: Tensor | None = None

    @property
    def length(self) -> int:
        """How many positions were added."""
        return self.layers[0].length

    @property
    def bytes(self) -> int:
        """How much memory the kept keys and values take: those in use, without the room to grow."""
        return sum(cache.bytes for cache in self.layers + (self.cross or []))

    def select(self, rows: Int[Tensor, " M"]) -> "KVCache":
        """Take some rows of the batch, in the order given: beams are reordered and finished sentences dropped so.

        Args:
            rows: Whole numbers, which rows; a row may be taken more than once.

        Returns:
            A new cache; this one stays as it was.
        """
        chosen = KVCache(0)
        chosen.layers = [layer.select(rows) for layer in self.layers]
        chosen.cross = None if self.cross is None else [layer.select(rows) for layer in self.cross]
        for name in ("memory", "memory_mask", "padding"):
            tensor = getattr(self, name)
            setattr(chosen, name, None if tensor is None else tensor.index_select(0, rows))
        return chosen

    def cut(self, length: int) -> None:
        """Forget what stands behind a position, in every layer: what was drafted and not accepted.

        Args:
            length: How many positions stay.

        Raises:
            ValueError: If there are fewer, or a window has let earlier ones go.
        """
        for layer in self.layers:
            layer.cut(length)
        if self.padding is not None:
            self.padding = self.padding[:, :length]


def _grown(tensor: Tensor, used: int, needed: int) -> Tensor:
    if needed <= tensor.shape[2] and used < tensor.shape[2]:
        return tensor
    room = tensor.new_empty((*tensor.shape[:2], max(2 * used, needed, 16), tensor.shape[3]))
    room[:, :, :used] = tensor[:, :, :used]
    return room
