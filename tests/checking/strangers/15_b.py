# %% 15.schedule | wrong | `stable` is read as the step at which the decay begins, not as a number of further steps | names=plateau-ends-at-stable
def wsd_rate(step, peak, warmup, stable, decay):
    if step < warmup:
        return peak * step / warmup
    return peak * min(1, max(0, 1 - (step - max(stable, warmup)) / decay))


# %% 15.schedule | right | no branches: the lowest of three lines, not below 0
def wsd_rate(step, peak, warmup, stable, decay):
    rising = step / warmup
    falling = 1 - (step - warmup - stable) / decay
    return peak * max(0.0, min(rising, 1.0, falling))


# %% 15.sinks | wrong | shifts by the largest score of the row without the sink: nan in rows masked everywhere, overflow for a sink in the thousands | names=maximum-of-scores
def sink_attention(scores, values, sink):
    top = scores.amax(dim=-1, keepdim=True)
    raised = torch.exp(scores - top)
    extra = torch.exp(sink[:, None, None] - top)
    total = raised.sum(dim=-1, keepdim=True) + extra
    return raised / total @ values, (extra / total)[..., 0]


# %% 15.sinks | right | log-space: logsumexp of the scores, logaddexp with the sink, exponentials of differences
def sink_attention(scores, values, sink):
    own = torch.logsumexp(scores, dim=-1)
    bias = sink.unsqueeze(-1).expand_as(own)
    total = torch.logaddexp(own, bias)
    weights = torch.exp(scores - total.unsqueeze(-1))
    return torch.matmul(weights, values), torch.exp(bias - total)


# %% 15.speculate | wrong | the replacement is drawn from p of that position, not from what is left over | names=drawn-from-p
def speculate(p, q, drafted, u):
    T = len(drafted)
    ids = []
    row = p[T]
    for t in range(T):
        token = int(drafted[t])
        if u[t] * q[t, token] < p[t, token]:
            ids.append(token)
        else:
            row = p[t]
            break
    sums = torch.cumsum(row, dim=0)
    return ids + [int((sums > u[T]).nonzero()[0])]


# %% 15.speculate | wrong | searchsorted with its default side finds a running sum at least u, so u = 0 draws a first token of probability 0 | names=drawn-at-equality
def speculate(p, q, drafted, u):
    T = len(drafted)
    x = torch.as_tensor(drafted, dtype=torch.long)
    at = torch.arange(T)
    ok = u[:T] * q[at, x] < p[at, x]
    n = int(ok.long().cumprod(0).sum())
    d = p[T] if n == T else (p[n] - q[n]).clamp(min=0)
    c = (d / d.sum()).cumsum(0)
    return x[:n].tolist() + [int(torch.searchsorted(c, u[T]))]


# %% 15.speculate | right | first refusal found at once by cumprod; q gets a row of zeros, so that one formula serves the bonus token, too
def speculate(p, q, drafted, u):
    ids = torch.as_tensor(drafted, dtype=torch.long)
    T = ids.shape[0]
    q_on = q.gather(1, ids[:, None])[:, 0]
    p_on = p[:T].gather(1, ids[:, None])[:, 0]
    n = int((u[:T] * q_on < p_on).long().cumprod(dim=0).sum())
    padded = torch.cat([q, torch.zeros_like(p[:1])])
    rest = torch.clamp(p[n] - padded[n], min=0)
    if n < T:
        rest = rest / rest.sum()
    below = min(int((rest.cumsum(dim=0) <= u[T]).sum()), len(rest) - 1)
    return torch.cat([ids[:n], torch.tensor([below])])


# %% 15.yarn | wrong | the ramp is a straight line over the turns, as in the paper's formula, not over i | names=ramp-by-turns
def yarn(head_width, base, factor, trained_length, fast_turns, slow_turns):
    i = torch.arange(head_width // 2, dtype=torch.float64)
    speed = base ** (-2 * i / head_width)
    turns = trained_length * speed / (2 * math.pi)
    part = ((fast_turns - turns) / (fast_turns - slow_turns)).clamp(0, 1)
    return speed * (1 - part) + speed / factor * part, 0.1 * math.log(factor) + 1


# %% 15.yarn | wrong | clamps the ends of the ramp to existing pairs (>= 0, <= H/2 - 1), wrong where even pair 0 makes fewer than fast_turns turns | names=ends-within
def yarn(head_width, base, factor, trained_length, fast_turns, slow_turns):
    def pair(turns):
        return head_width / (2 * math.log(base)) * math.log(trained_length / (2 * math.pi * turns))

    low = max(pair(fast_turns), 0)
    high = min(pair(slow_turns), head_width // 2 - 1)
    i = torch.arange(head_width // 2).double()
    speed = base ** (-2 * i / head_width)
    r = ((i - low) / max(high - low, 1e-3)).clamp(0, 1)
    return speed * (1 - r) + speed / factor * r, 0.1 * math.log(factor) + 1


# %% 15.yarn | right | the ramp in logarithms of turns (they fall in a straight line over i), pair by pair in plain python
def yarn(head_width, base, factor, trained_length, fast_turns, slow_turns):
    speeds = []
    for i in range(head_width // 2):
        speed = math.exp(-2 * i * math.log(base) / head_width)
        turns = trained_length * speed / (2 * math.pi)
        if turns >= fast_turns:
            part = 0.0
        elif turns <= slow_turns:
            part = 1.0
        else:
            part = math.log(fast_turns / turns) / math.log(fast_turns / slow_turns)
        speeds.append(speed + part * (speed / factor - speed))
    return torch.tensor(speeds, dtype=torch.float64), 1 + math.log(factor) / 10
