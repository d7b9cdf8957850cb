"""Chapter 12: right answers written otherwise: formulas multiplied out, loops, shapes and tensors, numpy."""

import numpy as np
import torch


def product_by_the_reciprocal(m, k, n, size):
    per_byte = 2 / size / (1 / n + 1 / m + 1 / k)
    return 2.0 * m * k * n, 2.0 * m * k * n / per_byte, per_byte


def product_tensor(rows, d_in, d_out, size):
    flops = torch.tensor(2.0 * rows * d_in * d_out, dtype=torch.float64)
    moved = torch.tensor(float(size * (rows * (d_in + d_out) + d_in * d_out)), dtype=torch.float64)
    return flops, moved, flops / moved


def table_products(b, t, n, h, size):
    d = n * h

    def product(rows, inner, columns, times=1):
        return 2 * times * rows * inner * columns, times * size * (rows * inner + inner * columns + rows * columns)

    def each(operations, numbers):
        return operations * numbers, 2 * size * numbers

    rows = [
        product(b * t, d, d, 3),
        product(t, h, t, b * n),
        each(6, b * n * t * t),
        product(t, t, h, b * n),
        product(b * t, d, d),
        product(b * t, d, 4 * d),
        each(1, b * t * 4 * d),
        product(b * t, 4 * d, d),
    ]
    return [(flops, moved, flops / moved) for flops, moved in rows]


def layer_pairs_one_by_one(t, s, d, n, k, h, f, gated, causal):
    pairs = sum(j <= i + s - t or not causal for i in range(t) for j in range(s))
    weights = d * n * h * 2 + d * k * h * 2 + (2 + gated) * d * f
    return 2 * t * weights + 4 * n * h * pairs


def layer_mean_context(t, s, d, n, k, h, f, gated, causal):
    seen = (s - t + 1 + s) / 2 if causal else s
    return 2 * t * (2 * d * h * (n + k) + d * f * (3 if gated else 2) + 2 * n * h * seen)


def parameters_loop(v, d, n, k, h, f, layers, tied):
    total = v * d
    products = 0
    for _ in range(layers):
        products += d * n * h + d * k * h + d * k * h + n * h * d
        products += d * f + d * f + f * d
        total += d + d
    total += d
    return total + products + (0 if tied else v * d), products + v * d


def token_multiply_adds(weights, layers, n, h, s):
    forward = weights + 2 * layers * n * h * s
    return 2 * forward, 6 * forward


def token_float(weights, layers, n, h, s):
    return 2.0 * weights + 4.0 * layers * n * h * s, 6.0 * weights + 12.0 * layers * n * h * s


def pair_loops(b, s, t, d, f, layers, v):
    encoder = decoder = 0
    for _ in range(b):
        for _ in range(layers):
            encoder += sum(8 * d * d + 4 * d * s + 4 * d * f for _ in range(s))
            decoder += sum(12 * d * d + 4 * d * (t + s) + 4 * d * f for _ in range(t)) + 4 * s * d * d
        decoder += 2 * t * d * v
    return encoder, decoder


def days_numpy(parameters, tokens, devices, sheet, share):
    a_day = np.float64(devices) * share * sheet["dense"] * 1e12 * 24 * 3600
    return np.prod(np.array([6.0, parameters, tokens])) / a_day


def states_array(n, recipe):
    return n * np.array([2, 2, 4, 8] if recipe == "master" else [4, 4, 0, 8])


def activation_multiplied_out(b, t, d, n, f, fused):
    return b * t * (16 * d + 4 * f + (0 if fused else 2 * n * t))


def activation_tensors(b, t, d, n, f, fused):
    shapes = [(b, t, d)] * 5 + [(b, n, t, d // n)] * 3 + [(b, t, f)] * 2
    if not fused:
        shapes.append((b, n, t, t))
    return sum(torch.empty(shape, dtype=torch.bfloat16, device="meta").nbytes for shape in shapes)


def cache_numpy(memory, parameters, layers, n, k, h, s):
    each = np.prod(np.array([2, 2, layers, k, h, s], dtype=np.int64))
    return np.clip((memory * 10**9 - 2 * parameters) // each, 0, None)


def decode_tensors(b, s, d, f, n, k, h, size):
    flops = torch.tensor([2.0 * b * d * f, 2.0 * b * n * s * h], dtype=torch.float64)
    numbers = torch.tensor([b * d + d * f + b * f, b * (n * h + k * s * h + n * s)], dtype=torch.float64)
    return tuple(flops / numbers / size)


def ridge_numpy(t, d, f, size, ridge):
    b = np.arange(1, 200_001)
    good = 2 * b * t * d * f >= ridge * size * (b * t * d + d * f + b * t * f)
    return int(b[good][0]) if good.any() else 0


def step_numpy(b, weights, cache, flops, gb, tflop):
    step = np.maximum((weights + b * cache) / np.float64(gb * 1e9), np.float64(b * flops) / (tflop * 1e12))
    return step, b / step


RIGHT = {
    "12.product": [product_by_the_reciprocal, product_tensor],
    "12.table": [table_products],
    "12.layer": [layer_pairs_one_by_one, layer_mean_context],
    "12.parameters": [parameters_loop],
    "12.token": [token_multiply_adds, token_float],
    "12.encoder-decoder": [pair_loops],
    "12.days": [days_numpy],
    "12.states": [states_array],
    "12.activations": [activation_multiplied_out, activation_tensors],
    "12.cache": [cache_numpy],
    "12.decode": [decode_tensors],
    "12.ridge": [ridge_numpy],
    "12.step": [step_numpy],
}
