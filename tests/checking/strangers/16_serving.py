# %% 16.phases | wrong | reading alone
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    weights = params * bytes_each
    return (weights / bandwidth, (weights + batch * cached * cache_bytes) / bandwidth)


# %% 16.latencies | wrong | `return sorted(values[:256])[math.ceil(percent * len(values) / 100) - 1]` in place of `return sorted(values)[math.ceil(percent * len(values) / 100) - 1]`
def latencies(requests):
    def percentile(values, percent):
        return sorted(values[:256])[math.ceil(percent * len(values) / 100) - 1]

    first = [times[0] - arrival for arrival, times in requests]
    between = [wait for _, times in requests for wait in np.diff(times)]
    return [percentile(first, 50), percentile(first, 95)], [percentile(between, 50), percentile(between, 95)]


# %% 16.batch-limit | wrong | has `batch = weights / (computing - reading) if computing >= reading else math.inf`
def batch_limit(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    weights = params * bytes_each / bandwidth
    computing = 2 * params / peak
    reading = cached * cache_bytes / bandwidth
    batch = weights / (computing - reading) if computing >= reading else math.inf
    return batch, 1 / max(computing, reading)


# %% 16.batches | wrong | has `batch = [lengths[i] for i in range(first, len(lengths)) if arrivals[i] <= time][:min(slots, 32)]`
def finish_times(arrivals, lengths, slots):
    waiting, time = [], 0
    while len(waiting) < len(lengths):
        first = len(waiting)
        time = max(time, arrivals[first])
        batch = [lengths[i] for i in range(first, len(lengths)) if arrivals[i] <= time][: min(slots, 32)]
        waiting += [time + length for length in batch]
        time += max(batch)
    continuous, free_at = [], [0] * slots
    for arrival, length in zip(arrivals, lengths, strict=True):
        place = free_at.index(min(free_at))
        free_at[place] = max(free_at[place], arrival) + length
        continuous.append(free_at[place])
    return waiting, continuous


# %% 16.free | wrong | `for one in ended[:16]:` in place of `for one in ended:`
def release(tables, owners, ended):
    tables, owners, freed = [list(table) for table in tables], list(owners), []
    for one in ended[:16]:
        for block in reversed(tables[one]):
            owners[block] -= 1
            if owners[block] == 0:
                freed.append(block)
        tables[one] = []
    return tables, owners, freed


# %% 16.ragged | wrong | has `weights = torch.softmax(scores.masked_fill(behind[:, None], -10000.0), dim=-1)`
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    groups = q.shape[1] // k_blocks.shape[2]
    keys = k_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=2)
    values = v_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=2)
    scores = torch.einsum("bnh,bsnh->bns", q, keys) / math.sqrt(q.shape[-1])
    behind = torch.arange(keys.shape[1]) >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(behind[:, None], -1e4), dim=-1)
    return torch.einsum("bns,bsnh->bnh", weights, values)


# %% 16.ragged | wrong | adds `scores[..., 256:] = -torch.inf`
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    groups = q.shape[1] // k_blocks.shape[2]
    keys = k_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=2)
    values = v_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=2)
    scores = torch.einsum("bnh,bsnh->bns", q, keys) / math.sqrt(q.shape[-1])
    scores[..., 256:] = -torch.inf
    behind = torch.arange(keys.shape[1]) >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(behind[:, None], -torch.inf), dim=-1)
    return torch.einsum("bns,bsnh->bnh", weights, values)


# %% 16.prefix | wrong | has `while same < min(len(prompt), len(other)) and (prompt[same] - other[same]) % 2 ** 16 == 0:`
def reusable(prompt, earlier, block_size):
    longest = 0
    for other in earlier:
        same = 0
        while same < min(len(prompt), len(other)) and (prompt[same] - other[same]) % 2**16 == 0:
            same += 1
        longest = max(longest, same)
    return min(longest, len(prompt) - 1) // block_size * block_size


# %% 16.prefix | wrong | `for other in earlier[-64:]:` in place of `for other in earlier:`
def reusable(prompt, earlier, block_size):
    longest = 0
    for other in earlier[-64:]:
        same = 0
        while same < min(len(prompt), len(other)) and prompt[same] == other[same]:
            same += 1
        longest = max(longest, same)
    return min(longest, len(prompt) - 1) // block_size * block_size


# %% 16.admit | wrong | `if needed > left + 1:` in place of `if needed > left:`
def admitted(memory, weights, reserve, config, bytes_each, block_size, queue):
    numbers = 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"]
    blocks = (memory - weights - reserve) // (block_size * numbers * bytes_each)
    left, count = blocks, 0
    for prompt, new in queue:
        needed = math.ceil((prompt + new) / block_size)
        if needed > left + 1:
            break
        left -= needed
        count += 1
    return blocks, count


# %% 16.stream | wrong | has `held = max((n for stop in stops[:1] for n in range(len(stop)) if text.endswith(stop[:n])), default=0)`
def streamed(pieces, stops):
    text, sent, parts = "", 0, []
    for piece in pieces:
        text += piece
        found = [text.find(stop) for stop in stops if stop in text]
        if found:
            parts.append(text[sent : min(found)])
            return parts
        held = max((n for stop in stops[:1] for n in range(len(stop)) if text.endswith(stop[:n])), default=0)
        parts.append(text[sent : len(text) - held])
        sent = len(text) - held
    parts[-1] += text[sent:]
    return parts


# %% 16.stream | wrong | `return [one for one in parts if one]` in place of `return parts`
def streamed(pieces, stops):
    text, sent, parts = "", 0, []
    for piece in pieces:
        text += piece
        found = [text.find(stop) for stop in stops if stop in text]
        if found:
            parts.append(text[sent : min(found)])
            return parts
        held = max((n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0)
        parts.append(text[sent : len(text) - held])
        sent = len(text) - held
    parts[-1] += text[sent:]
    return [one for one in parts if one]


# %% 16.stream | wrong | `found = [text.find(stop) for stop in stops[:32] if stop in text]` in place of `found = [text.find(stop) for stop in stops if stop in text]`
def streamed(pieces, stops):
    text, sent, parts = "", 0, []
    for piece in pieces:
        text += piece
        found = [text.find(stop) for stop in stops[:32] if stop in text]
        if found:
            parts.append(text[sent : min(found)])
            return parts
        held = max((n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0)
        parts.append(text[sent : len(text) - held])
        sent = len(text) - held
    parts[-1] += text[sent:]
    return parts


# %% 16.speedup | wrong | `if tokens / steps >= gain:` in place of `if tokens / steps > gain:`
def best_draft(acceptance, draft_cost, most):
    best, gain = 0, 1.0
    for k in range(1, most + 1):
        tokens = sum(acceptance**i for i in range(k + 1))
        steps = k * draft_cost + 1
        if tokens / steps >= gain:
            best, gain = k, tokens / steps
    return best, gain


# %% 16.cost | wrong | it takes the rates for those of each machine
def token_costs(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    second = price * machines / 3600 / utilisation / machines
    costs = (second / input_rate, second / output_rate)
    return (1000000.0 * costs[0], 1000000.0 * costs[1], prompt * costs[0] + answer * costs[1])


# %% 16.token-mask | wrong | `for character in characters[:8]:` in place of `for character in characters:`
def token_mask(table, final, tokens, end, state):
    allowed = []
    for token, characters in enumerate(tokens):
        now = state
        for character in characters[:8]:
            now = table[now][character]
            if now == -1:
                break
        fits = len(characters) > 0 and now != -1
        allowed.append(state in final if token == end else fits)
    return allowed


# %% 16.token-mask | wrong | `for character in characters[:64]:` in place of `for character in characters:`
def token_mask(table, final, tokens, end, state):
    allowed = []
    for token, characters in enumerate(tokens):
        now = state
        for character in characters[:64]:
            now = table[now][character]
            if now == -1:
                break
        fits = len(characters) > 0 and now != -1
        allowed.append(state in final if token == end else fits)
    return allowed


# %% 16.constrained-step | wrong | `least = scores.bfloat16().topk(min(k, scores.shape[1]), dim=-1).values[:, -1:]` in place of `least = scores.topk(min(k, scores.shape[1]), dim=-1).values[:, -1:]`
def constrained_step(logits, mask, temperature, k):
    allowed = torch.nn.functional.pad(mask, (0, logits.shape[1] - mask.shape[1]))
    scores = (logits / temperature).masked_fill(~allowed, -torch.inf)
    least = scores.bfloat16().topk(min(k, scores.shape[1]), dim=-1).values[:, -1:]
    p = torch.softmax(scores.masked_fill(scores < least, -torch.inf), dim=-1)
    return p.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


# %% 16.constrained-step | wrong | `least = scores.topk(min(k, 256, scores.shape[1]), dim=-1).values[:, -1:]` in place of `least = scores.topk(min(k, scores.shape[1]), dim=-1).values[:, -1:]`
def constrained_step(logits, mask, temperature, k):
    allowed = torch.nn.functional.pad(mask, (0, logits.shape[1] - mask.shape[1]))
    scores = (logits / temperature).masked_fill(~allowed, -torch.inf)
    least = scores.topk(min(k, 256, scores.shape[1]), dim=-1).values[:, -1:]
    p = torch.softmax(scores.masked_fill(scores < least, -torch.inf), dim=-1)
    return p.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


# %% 16.split-sum | wrong | adds `if size > 64: part = x[:, start:start + size].sum(dim=1)`
def split_sum(x, size):
    total = 0.0
    for start in range(0, x.shape[1], size):
        part = 0.0
        for column in x[:, start : start + size].unbind(dim=1):
            part = part + column
        if size > 64:
            part = x[:, start : start + size].sum(dim=1)
        total = total + part
    return total
