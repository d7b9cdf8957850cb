"""A paged cache: keys and values in blocks of one size, and for each sequence a table of the blocks that it has.

Letters of its own: P blocks, M tokens that a block holds.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model._inputs import check_sizes


class BlockTables:
    """Which blocks each sequence has, in the order of its tokens, and how many sequences have each block.

    A sequence takes a block when its last one is full. A forked sequence shares all blocks with the one it came from;
    whoever writes first into a block that is shared gets a copy of it (copy on write).

    Args:
        n_blocks: P.
        block_size: M.

    Raises:
        ValueError: If a size is below 1.

    Attributes:
        block_size: M, how many tokens a block holds.
        owners: For each block, how many sequences have it in their table; 0 is free.

    Source: Kwon et al. 2023 (vLLM, arXiv 2309.06180), sections 4.1 to 4.4.
    Book: 15_what_changed.html#what-changed-pages.
    """

    def __init__(self, n_blocks: int, block_size: int) -> None:
        check_sizes(n_blocks=n_blocks, block_size=block_size)
        self.block_size = block_size
        self.owners = [0] * n_blocks
        self._tables: dict[int, list[int]] = {}
        self._lengths: dict[int, int] = {}
        self._next = 0

    @property
    def n_free(self) -> int:
        """How many blocks no sequence has."""
        return self.owners.count(0)

    def start(self) -> int:
        """Begin a sequence without tokens, which takes no block yet.

        Returns:
            Its number, by which it is called from now on.
        """
        return self._added([], 0)

    def fork(self, sequence: int) -> int:
        """Begin a sequence with the tokens of another: the blocks are shared, none is copied.

        Args:
            sequence: The other one's number.

        Returns:
            The number of the new one.

        Raises:
            KeyError: If there is no such sequence.
        """
        return self.start_with(self.table(sequence), self._lengths[sequence])

    def start_with(self, blocks: list[int], length: int) -> int:
        """Begin a sequence whose first tokens stand in blocks already.

        Args:
            blocks: Their numbers, in the order of the tokens.
            length: How many tokens they hold for this sequence.

        Returns:
            The number of the new sequence.

        Raises:
            ValueError: If so many tokens need more or fewer blocks.
        """
        if len(blocks) != -(-length // self.block_size):
            raise ValueError(f"{length} tokens are given in {len(blocks)} blocks of {self.block_size}")
        for block in blocks:
            self.owners[block] += 1
        return self._added(list(blocks), length)

    def table(self, sequence: int) -> list[int]:
        """The blocks of a sequence, in the order of its tokens: entry i holds tokens i*M to (i + 1)*M - 1.

        Args:
            sequence: Its number.

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

        Args:
            sequence: Its number.

        Returns:
            The number of its tokens.

        Raises:
            KeyError: If there is no such sequence.
        """
        self.table(sequence)
        return self._lengths[sequence]

    def needed(self, sequence: int, tokens: int) -> int:
        """How many free blocks a sequence would take to grow.

        Args:
            sequence: Its number.
            tokens: By how many tokens.

        Returns:
            The number of blocks, one for a shared block that would be copied included.

        Raises:
            KeyError: If there is no such sequence.
        """
        table, length = self.table(sequence), self._lengths[sequence]
        shared = tokens > 0 and length % self.block_size > 0 and self.owners[table[-1]] > 1
        return -(-(length + tokens) // self.block_size) - len(table) + shared

    def grow(self, sequence: int, tokens: int) -> list[tuple[int, int]]:
        """Make room for tokens at the end of a sequence.

        Args:
            sequence: Its number.
            tokens: How many.

        Returns:
            The pairs (old, new) of blocks whose content has to be copied before anything is written: one or none.

        Raises:
            KeyError: If there is no such sequence.
            MemoryError: If more blocks are needed than are free; nothing has changed then.
        """
        if (needed := self.needed(sequence, tokens)) > self.n_free:
            free = f"{self.n_free} of {len(self.owners)} blocks are free"
            raise MemoryError(f"{free}, {needed} needed: release a sequence, or make more blocks")
        table, copies = self._tables[sequence], []
        if tokens > 0 and self._lengths[sequence] % self.block_size and self.owners[table[-1]] > 1:
            copies.append((table[-1], self._taken()))
            self.owners[table[-1]] -= 1
            table[-1] = copies[0][1]
        self._lengths[sequence] += tokens
        while len(table) * self.block_size < self._lengths[sequence]:
            table.append(self._taken())
        return copies

    def release(self, sequence: int) -> None:
        """End a sequence. Its blocks are free unless another sequence has them, too.

        Args:
            sequence: Its number.

        Raises:
            KeyError: If there is no such sequence.
        """
        for block in reversed(self.table(sequence)):
            self.owners[block] -= 1
            if self.owners[block] == 0:
                self._freed(block)
        del self._tables[sequence], self._lengths[sequence]

    def _added(self, table: list[int], length: int) -> int:
        number, self._next = self._next, self._next + 1
        self._tables[number], self._lengths[number] = table, length
        return number

    def _taken(self) -> int:
        block = self.owners.index(0)
        self.owners[block] = 1
        return block

    def _freed(self, block: int) -> None:
        """Take note of a block that nobody has any more."""


class PagedCache(BlockTables):
    """Keys and values of many sequences in one store, without room reserved for tokens that may never come.

    Args:
        n_blocks: P.
        block_size: M.
        n_kv_heads: K.
        head_width: H, of keys.
        value_width: Hv, of values; None takes the width of the keys.
        dtype: What numbers are kept in.
        device: Where.

    Raises:
        ValueError: If a size is below 1.

    Attributes:
        k: The keys, (P, M, K, H); slots that hold nothing have any numbers.
        v: The values, (P, M, K, Hv).

    Cost: adding a token writes one row, or copies one block beside it; a sequence wastes at most M - 1 slots.

    Source: Kwon et al. 2023 (vLLM, arXiv 2309.06180), sections 4.1 to 4.4.
    Book: 15_what_changed.html#what-changed-pages.
    """

    def __init__(
        self,
        n_blocks: int,
        block_size: int,
        n_kv_heads: int,
        head_width: int,
        *,
        value_width: int | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        value_width = head_width if value_width is None else value_width
        check_sizes(n_kv_heads=n_kv_heads, head_width=head_width, value_width=value_width)
        super().__init__(n_blocks, block_size)
        self.k = torch.zeros(n_blocks, block_size, n_kv_heads, head_width, dtype=dtype, device=device)
        self.v = torch.zeros(n_blocks, block_size, n_kv_heads, value_width, dtype=dtype, device=device)

    def append(self, sequence: int, k: Float[Tensor, "K H"], v: Float[Tensor, "K Hv"]) -> None:
        """Add a token's keys and values at the end of a sequence.

        Args:
            sequence: Its number.
            k: The keys of the token.
            v: Its values.

        Raises:
            KeyError: If there is no such sequence.
            ValueError: If the shapes are not those of a slot.
            MemoryError: If a block is needed and none is free; nothing has changed then.
        """
        if k.shape != self.k.shape[2:] or v.shape != self.v.shape[2:]:
            wanted = f"{tuple(self.k.shape[2:])} and {tuple(self.v.shape[2:])}"
            raise ValueError(f"k and v have shapes {tuple(k.shape)} and {tuple(v.shape)}; wanted {wanted}")
        for old, new in self.grow(sequence, 1):
            self.k[new], self.v[new] = self.k[old], self.v[old]
        block, slot = self.table(sequence)[-1], (self._lengths[sequence] - 1) % self.block_size
        self.k[block, slot], self.v[block, slot] = k, v

    def gather(self, sequence: int) -> tuple[Float[Tensor, "K S H"], Float[Tensor, "K S Hv"]]:
        """Collect a sequence's keys and values in the order of its tokens, for attention that knows of no blocks.

        Args:
            sequence: Its number.

        Returns:
            Its keys and its values: copies.

        Raises:
            KeyError: If there is no such sequence.
        """
        table = torch.tensor(self.table(sequence), dtype=torch.long, device=self.k.device)
        length = self._lengths[sequence]
        k_SKH, v_SKH = (blocks[table].flatten(0, 1)[:length] for blocks in (self.k, self.v))
        return k_SKH.transpose(0, 1), v_SKH.transpose(0, 1)
