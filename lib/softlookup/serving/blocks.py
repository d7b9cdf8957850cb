"""The blocks of a whole model's cache: one table for each sequence, shared beginnings, rows of any length in one pass.

Letters of its own: P blocks, M tokens that a block holds.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.model.cache import KVCache, LayerCache
from softlookup.model.config import Config
from softlookup.model.paged_cache import BlockTables


class Blocks(BlockTables):
    """Keys and values of all layers in blocks; what was computed once for a beginning is found again.

    A block that nobody has any more keeps its numbers until it is taken, the one that has been free longest first. So
    a later prompt with the same beginning finds them.

    Args:
        config: The sizes of the model.
        n_blocks: P.
        block_size: M.
        share: Whether prompts with the same beginning share its blocks (prefix caching).
        dtype: What numbers are kept in.
        device: Where.

    Raises:
        ValueError: If a size is below 1.

    Attributes:
        k: The keys, (L, P, M, K, H).
        v: The values, of the same shape.

    Source: Kwon et al. 2023 (vLLM, arXiv 2309.06180), sections 4.1 to 4.4; Zheng et al. 2024 (SGLang, arXiv
    2312.07104), section 3 (beginnings that are kept after their request).
    Book: 16_serving.html#serving-blocks.
    """

    def __init__(
        self,
        config: Config,
        n_blocks: int,
        block_size: int,
        *,
        share: bool = True,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(n_blocks, block_size)
        heads = config.n_kv_heads or config.n_heads
        shape = (config.n_layers, n_blocks, block_size, heads, config.head_width or config.d_model // config.n_heads)
        self.k, self.v = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))
        self.share = share
        self._free = dict.fromkeys(range(n_blocks))  # in the order in which they became free
        self._holds: dict[int, tuple[int, ...]] = {}  # block -> the text up to its end
        self._found: dict[tuple[int, ...], int] = {}  # and the way back

    @property
    def n_free(self) -> int:
        """How many blocks no sequence has."""
        return len(self._free)

    def start_for(self, prompt: Sequence[int]) -> int:
        """Begin a sequence for a prompt, with the blocks that earlier prompts have left of its beginning.

        Only full blocks are shared, and at least one token of the prompt is left to compute.

        Args:
            prompt: Its ids.

        Returns:
            The number of the sequence; its length says how many tokens need not be computed.
        """
        blocks: list[int] = []
        while self.share and (end := (len(blocks) + 1) * self.block_size) < len(prompt):
            block = self._found.get(tuple(prompt[:end]))
            if block is None:
                break
            blocks.append(block)
        for block in blocks:
            self._free.pop(block, None)
        return self.start_with(blocks, len(blocks) * self.block_size)

    def remember(self, sequence: int, ids: Sequence[int]) -> None:
        """Let later prompts find the full blocks of a sequence.

        Args:
            sequence: Its number.
            ids: Its tokens, those alone whose keys and values have been computed.

        Raises:
            KeyError: If there is no such sequence.
        """
        for i, block in enumerate(self.table(sequence)[: len(ids) // self.block_size]):
            text = tuple(ids[: (i + 1) * self.block_size])
            if self.share and block not in self._holds and text not in self._found:
                self._holds[block], self._found[text] = text, block

    def grow(self, sequence: int, tokens: int) -> list[tuple[int, int]]:
        """Make room for tokens at the end of a sequence, and copy what was shared.

        Args:
            sequence: Its number.
            tokens: How many.

        Returns:
            The pairs (old, new) of blocks that were copied: one or none.

        Raises:
            KeyError: If there is no such sequence.
            MemoryError: If more blocks are needed than are free; nothing has changed then.
        """
        copies = super().grow(sequence, tokens)
        for old, new in copies:
            self.k[:, new], self.v[:, new] = self.k[:, old], self.v[:, old]
        return copies

    def rows(self, sequences: Sequence[int], new: int) -> "Rows":
        """Make a cache of some sequences, whose newest tokens are about to be computed; grow has made room for them.

        Args:
            sequences: Their numbers.
            new: How many tokens each computes now.

        Returns:
            A cache for one pass of a decoder.

        Raises:
            KeyError: If there is no such sequence.
            ValueError: If rows of different lengths compute more than one token each.
        """
        return Rows(self, sequences, new)

    def _taken(self) -> int:
        block = next(iter(self._free))
        del self._free[block]
        self.owners[block] = 1
        if block in self._holds:
            del self._found[self._holds.pop(block)]
        return block

    def _freed(self, block: int) -> None:
        self._free[block] = None


class Rows(KVCache):
    """Some sequences as a decoder's cache for one pass: gathered from their blocks, filled up to the longest.

    Attributes:
        mask: Which of the gathered positions belong to each row, (B, 1, 1, S); None where all do.
        places: The place of each new token in its text, (B, T).

    Book: 16_serving.html#serving-blocks.
    """

    mask: Bool[Tensor, "B 1 1 S"] | None
    places: Int[Tensor, "B T"]

    def __init__(self, blocks: Blocks, sequences: Sequence[int], new: int) -> None:
        super().__init__(0)
        device = blocks.k.device
        ends = torch.tensor([blocks.length(one) for one in sequences], device=device)
        longest = int(ends.max())
        ragged = bool((ends < longest).any())
        if new > 1 and ragged:
            raise ValueError(f"rows of lengths {ends.tolist()} compute {new} tokens each; wanted one, or equal lengths")
        size = blocks.block_size
        slots_BS = torch.zeros(len(sequences), longest, dtype=torch.long, device=device)
        for row, one in zip(slots_BS, sequences, strict=True):
            table = torch.tensor(blocks.table(one), device=device)
            positions = torch.arange(blocks.length(one), device=device)
            row[: len(positions)] = table[positions // size] * size + positions % size
        self.places = ends[:, None] - new + torch.arange(new, device=device)
        self.mask = (torch.arange(longest, device=device) < ends[:, None])[:, None, None] if ragged else None
        written_BT = slots_BS.gather(1, self.places)
        self.layers = [
            _Gathered(k.flatten(0, 1), v.flatten(0, 1), slots_BS, written_BT, longest - new, ends - new)
            for k, v in zip(blocks.k, blocks.v, strict=True)
        ]


class _Gathered(LayerCache):
    """One layer's store, P*M slots in a row, and which slots hold the positions of each row."""

    def __init__(
        self,
        store_k: Float[Tensor, "slots K H"],
        store_v: Float[Tensor, "slots K H"],
        slots: Int[Tensor, "B S"],
        written: Int[Tensor, "B T"],
        before: int,
        offset: Int[Tensor, " B"],
    ) -> None:
        super().__init__()
        self._stores, self._slots, self._written, self._offset = (store_k, store_v), slots, written, offset
        self._length = before

    @property
    def offset(self) -> Int[Tensor, " B"]:
        """The place of each row's next token."""
        return self._offset

    def append(
        self, k: Float[Tensor, "B K T H"], v: Float[Tensor, "B K T H"]
    ) -> tuple[Float[Tensor, "B K S H"], Float[Tensor, "B K S H"]]:
        """Write the newest keys and values into their slots, and gather all of each row."""
        gathered = []
        for store, newest in zip(self._stores, (k, v), strict=True):
            store[self._written] = newest.transpose(1, 2)
            gathered.append(store[self._slots].transpose(1, 2))
        return gathered[0], gathered[1]
