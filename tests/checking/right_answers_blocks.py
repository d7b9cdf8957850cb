"""Chapter 16's tasks on blocks of the cache: right answers written otherwise."""

import numpy as np
import torch
from torch.nn import functional as F


def append_recursive(tables, lengths, owners, block_size):
    tables, owners, copies, out = [t[:] for t in tables], owners[:], [], []

    def serve(i):
        if i in out:
            return
        last = tables[i][-1] if lengths[i] % block_size else None
        if last is not None and owners[last] == 1:
            return
        free = [b for b, users in enumerate(owners) if users == 0]
        if not free:
            victim = max(set(range(len(tables))) - set(out))
            out.append(victim)
            for b in tables[victim]:
                owners[b] -= 1
            tables[victim] = []
            return serve(i)
        owners[free[0]] += 1
        if last is None:
            tables[i] = tables[i] + [free[0]]
        else:
            owners[last] -= 1
            tables[i] = tables[i][:-1] + [free[0]]
            copies.append([last, free[0]])

    for i in range(len(tables)):
        serve(i)
    return tables, owners, copies, out


def append_numpy(tables, lengths, owners, block_size):
    owners, copies, gone = np.array(owners), [], []
    tables = [np.array(t, dtype=int) for t in tables]
    count = len(tables)
    for i in range(count):
        while i < count - len(gone):
            room = len(tables[i]) * block_size - lengths[i]
            if room > 0 and owners[tables[i][-1]] == 1:
                break
            empty = np.flatnonzero(owners == 0)
            if len(empty):
                owners[empty[0]] = 1
                if room > 0:
                    copies.append([int(tables[i][-1]), int(empty[0])])
                    owners[tables[i][-1]] -= 1
                    tables[i] = tables[i][:-1]
                tables[i] = np.append(tables[i], empty[0])
                break
            victim = count - 1 - len(gone)
            np.subtract.at(owners, tables[victim], 1)
            tables[victim] = tables[victim][:0]
            gone.append(victim)
    return tables, owners, copies, gone


def free_pop(tables, owners, ended):
    tables, owners, freed = [t[:] for t in tables], owners[:], []
    for sequence in ended:
        while tables[sequence]:
            block = tables[sequence].pop()
            owners[block] -= 1
            freed += [block] if owners[block] == 0 else []
    return tables, owners, freed


def free_numpy(tables, owners, ended):
    once, owners, order = list(dict.fromkeys(ended)), np.array(owners), []
    for sequence in once:
        blocks = np.array(tables[sequence][::-1], dtype=int)
        owners[blocks] -= 1
        order += blocks[owners[blocks] == 0].tolist()
    return [table * (i not in once) for i, table in enumerate(tables)], owners, order


def ragged_loop(q, k_blocks, v_blocks, tables, lengths):
    out = torch.zeros_like(q)
    per = q.shape[1] // k_blocks.shape[2]
    for b in range(len(q)):
        keys = torch.cat([k_blocks[i] for i in tables[b] if i >= 0])[: lengths[b]]
        values = torch.cat([v_blocks[i] for i in tables[b] if i >= 0])[: lengths[b]]
        for n in range(q.shape[1]):
            weights = torch.softmax(keys[:, n // per] @ q[b, n] / q.shape[-1] ** 0.5, dim=0)
            out[b, n] = weights @ values[:, n // per]
    return out


def ragged_fused(q, k_blocks, v_blocks, tables, lengths):
    keys, values = (blocks[tables.clamp(min=0)].flatten(1, 2).transpose(1, 2) for blocks in (k_blocks, v_blocks))
    mask = torch.arange(keys.shape[2]) < lengths[:, None]
    mask = mask[:, None, None]
    return F.scaled_dot_product_attention(q[:, :, None], keys, values, attn_mask=mask, enable_gqa=True)[:, :, 0]


def prefix_set(prompt, earlier, block_size):
    known = {tuple(ids[: i + block_size]) for ids in earlier for i in range(0, len(ids) - block_size + 1, block_size)}
    taken = 0
    while taken + block_size < len(prompt) and tuple(prompt[: taken + block_size]) in known:
        taken += block_size
    return taken


def prefix_blocks(prompt, earlier, block_size):
    most, best = (len(prompt) - 1) // block_size, 0
    for other in earlier:
        blocks = 0
        while blocks < most:
            part = slice(blocks * block_size, (blocks + 1) * block_size)
            if prompt[part] != other[part]:
                break
            blocks += 1
        best = max(best, blocks)
    return best * block_size


BLOCKS = {
    "16.append": [append_recursive, append_numpy],
    "16.free": [free_pop, free_numpy],
    "16.ragged": [ragged_loop, ragged_fused],
    "16.prefix": [prefix_set, prefix_blocks],
}
