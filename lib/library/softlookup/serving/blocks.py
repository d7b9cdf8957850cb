"""The blocks of a whole model's cache: one table for each sequence, shared beginnings, rows of any length in one pass.

Letters of its own: P blocks, M tokens that a block holds.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.model.parts._inputs import check_sizes
from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.config import Config


class Blocks:
    """Keys and values of all layers in blocks; what was computed once for a beginning is found again.

    A sequence has a table of blocks, in the order of its tokens, and takes another one when the last is full. Sequences
    share full blocks alone, to which nobody writes any more. A block that nobody has any more keeps its numbers until
    it is taken, the one that has been free longest first. So a later prompt with the same beginning finds them.

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
        config: The sizes of the model.
        block_size: M.
        k: The keys, (L, P, M, K, H).
        v: The values, of the same shape.
        share: Whether beginnings are shared.
        owners: For each block, how many sequences have it in their table; 0 is free.

    Source: Kwon et al. 2023 (vLLM, arXiv 2309.06180), sections 4.1 to 4.4; Zheng et al. 2024 (SGLang, arXiv
    2312.07104), section 3 (beginnings that are kept after their request).

    >>> blocks = Blocks(Config(9, d_model=4, n_heads=1, n_layers=1), n_blocks=4, block_size=2)
    >>> one = blocks.start()
    >>> blocks.grow(one, 3)
    >>> blocks.table(one), blocks.n_free
    ([0, 1], 2)
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
        check_sizes(n_blocks=n_blocks, block_size=block_size)
        heads = config.n_kv_heads or config.n_heads
        shape = (config.n_layers, n_blocks, block_size, heads, config.head_width or config.d_model // config.n_heads)
        self.k, self.v = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))
        self.config, self.block_size, self.share = config, block_size, share
        self.owners = [0] * n_blocks
        self._tables: dict[int, list[int]] = {}
        self._lengths: dict[int, int] = {}
        self._next = 0
        self._free = dict.fromkeys(range(n_blocks))  # in the order in which they became free
        self._holds: dict[int, tuple[int, ...]] = {}  # block -> the text up to its end
        self._found: dict[tuple[int, ...], int] = {}  # and the way back

    @property
    def n_free(self) -> int:
        """How many blocks no sequence has."""
        return len(self._free)

    def start(self) -> int:
        """Begin a sequence without tokens, which takes no block yet.

        Returns:
            Its number, by which it is called from now on.
        """
        block_id, self._next = self._next, self._next + 1
        self._tables[block_id], self._lengths[block_id] = [], 0
        return block_id

    def start_for(self, prompt: Sequence[int]) -> int:
        """Begin a sequence for a prompt, with the blocks that earlier prompts have left of its beginning.

        Only full blocks are shared, and at least one token of the prompt is left to compute.

        Returns:
            The number of the sequence; its length says how many tokens need not be computed.
        """
        sequence = self.start()
        table = self._tables[sequence]
        while self.share and (end := (len(table) + 1) * self.block_size) < len(prompt):
            block = self._found.get(tuple(prompt[:end]))
            if block is None:
                break
            self._free.pop(block, None)
            self.owners[block] += 1
            table.append(block)
        self._lengths[sequence] = len(table) * self.block_size
        return sequence

    def table(self, sequence: int) -> list[int]:
        """The blocks of a sequence, in the order of its tokens: entry i holds tokens i*M to (i + 1)*M - 1.

        Returns:
            The numbers of the blocks.

        Raises:
            KeyError: If there is no such sequence.
        """
        if sequence not in self._tables:
            raise KeyError(f"there is no sequence {sequence}; there are {sorted(self._tables)}")
        return list(self._tables[sequence])

    def length(self, sequence: int) -> int:
        """How many tokens a sequence has.

        Returns:
            The number of its tokens.

        Raises:
            KeyError: If there is no such sequence.
        """
        self.table(sequence)
        return self._lengths[sequence]

    def needed(self, sequence: int, tokens: int) -> int:
        """How many free blocks a sequence would take to grow.

        Returns:
            The number of blocks.

        Raises:
            KeyError: If there is no such sequence.
            ValueError: If tokens is below 0.
        """
        if tokens < 0:
            raise ValueError(f"tokens is {tokens}; wanted at least 0: a sequence gives its blocks back when it ends")
        table = self.table(sequence)
        return -(-(self._lengths[sequence] + tokens) // self.block_size) - len(table)

    def grow(self, sequence: int, tokens: int) -> None:
        """Make room for tokens at the end of a sequence.

        Args:
            sequence: Its number.
            tokens: How many.

        Raises:
            KeyError: If there is no such sequence.
            ValueError: If tokens is below 0.
            MemoryError: If more blocks are needed than are free; nothing has changed then.
        """
        if (needed := self.needed(sequence, tokens)) > self.n_free:
            free = f"{self.n_free} of {len(self.owners)} blocks are free"
            raise MemoryError(f"{free}, {needed} needed: release a sequence, or make more blocks")
        self._lengths[sequence] += tokens
        for _ in range(needed):
            block = next(iter(self._free))
            del self._free[block]
            self.owners[block] = 1
            if block in self._holds:
                del self._found[self._holds.pop(block)]
            self._tables[sequence].append(block)

    def release(self, sequence: int) -> None:
        """End a sequence. Its blocks are free unless another sequence has them, too.

        Raises:
            KeyError: If there is no such sequence.
        """
        for block in reversed(self.table(sequence)):
            self.owners[block] -= 1
            if self.owners[block] == 0:
                self._free[block] = None
        del self._tables[sequence], self._lengths[sequence]

    def remember(self, sequence: int, ids: Sequence[int]) -> None:
        """Let later prompts find the full blocks of a sequence.

        Args:
            sequence: Its number.
            ids: Its tokens, those alone whose keys and values have been computed.

        Raises:
            KeyError: If there is no such sequence.
        """
        full_blocks = self.table(sequence)[: len(ids) // self.block_size]
        if not self.share:
            return
        for i, block in enumerate(full_blocks):
            text = tuple(ids[: (i + 1) * self.block_size])
            if block not in self._holds and text not in self._found:
                self._holds[block], self._found[text] = text, block

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


class Rows(KVCache):
    """Some sequences as a decoder's cache for one pass: gathered from their blocks, filled up to the longest.

    Attributes:
        mask: Which of the gathered positions belong to each row, (B, 1, 1, S); None where all do.
        places: The place of each new token in its text, (B, T).
    """

    mask: Bool[Tensor, "B 1 1 S"] | None
    places: Int[Tensor, "B T"]

    def __init__(self, blocks: Blocks, sequences: Sequence[int], new: int) -> None:
        super().__init__(0)
        device = blocks.k.device
        ends = torch.tensor([blocks.length(sequence) for sequence in sequences], device=device)
        longest = int(ends.max())
        ragged = bool((ends < longest).any())
        if new > 1 and ragged:
            raise ValueError(f"rows of lengths {ends.tolist()} compute {new} tokens each; wanted one, or equal lengths")
        size = blocks.block_size
        slots_BS = torch.zeros(len(sequences), longest, dtype=torch.long, device=device)
        for row, sequence in zip(slots_BS, sequences, strict=True):
            table = torch.tensor(blocks.table(sequence), device=device)
            positions = torch.arange(blocks.length(sequence), device=device)
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
