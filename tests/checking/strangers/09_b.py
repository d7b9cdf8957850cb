# %% 09.warmup | wrong | exponents exchanged | variant=5, names=exponents-exchanged
def learning_rate(warmup, d_model, done):
    step = done + 1
    return min(step**-1.5, step * warmup**-0.5) / math.sqrt(d_model)


# %% 09.warmup | right | peak times the share of the warm-up, or times the root of warmup / step: two branches | variant=5
def learning_rate(warmup, d_model, done):
    step = done + 1
    peak = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return peak * (step / warmup)
    return peak * math.sqrt(warmup / step)
