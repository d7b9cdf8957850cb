"""Right answers to the tasks of chapter 0, each written in another way than the published solution."""

import math
import sys
import warnings
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F


def shapes_torch_size():
    return torch.empty(5, 3).matmul(torch.empty(3, 4)).matmul(torch.empty(2, 4).mT).shape


def shapes_tuple_of_floats():
    return 5.0, 2.0


def shapes_array_noisy():
    print("rows of x, rows of v", file=sys.stderr)
    return np.array([5, 2])


def product_pencil():
    return [[2, 7], [8, 14]]


def product_tensor():
    return torch.tensor([[1, 2, 0], [3, 1, 2]]) @ torch.tensor([[2, 1], [0, 3], [1, 4]])


def shares_unsqueezed(counts):
    return counts.double() / counts.double().sum(-1).unsqueeze(-1)


def shares_lists(counts):
    def walk(values):
        return (
            [walk(part) for part in values]
            if isinstance(values[0], list)
            else [Fraction(n, sum(values)) for n in values]
        )

    return walk(counts.tolist())


def error_mse_loss(predicted, target):
    return F.mse_loss(predicted, target[:, None])


def error_loop_noisy(predicted, target):
    warnings.warn("slow", stacklevel=1)
    return sum((p[0] - t) ** 2 for p, t in zip(predicted, target, strict=True)) / len(target)


def softmax_fractions():
    return [[Fraction(n, 8) for n in row] for row in ((1, 2, 5), (3, 1, 4))]


def softmax_rounded_down():
    return ((0.12, 0.25, 0.62), (0.37, 0.12, 0.5))


def entropy_lists(logits, target):
    total = 0.0
    for row, t in zip(logits.tolist(), target.tolist(), strict=True):
        total += math.log(sum(math.exp(u) for u in row)) - row[t]
    return total / len(target)


def entropy_one_hot(logits, target):
    return -(F.one_hot(target, logits.shape[1]) * logits.softmax(-1).log()).sum() / len(logits)


def slope_pencil():
    return 30


def slope_expanded():
    w, x, t = 2, 3, 1
    return 2 * w * x**2 - 2 * x * t


def gradient_einsum(x, w, y):
    return np.einsum("bd,b->d", x, x @ w - y) * 2 / x.shape[0]


def gradient_mean_tensor(x, w, y):
    return torch.from_numpy((2 * (x @ w - y)[:, None] * x).mean(axis=0))


def turned_mt(x):
    return x.mT


def turned_contiguous(x):
    return x.permute(0, 2, 1).contiguous()


def descent_functional(w, x, y, rate):
    for _ in range(2):
        w = w.detach().requires_grad_()
        w = w - rate * torch.autograd.grad(F.mse_loss(x @ w, y), w)[0]
    return w


def descent_numpy(w, x, y, rate):
    w, x, y = (tensor.numpy().astype(np.float64) for tensor in (w, x, y))
    w = w - rate * 2 * x.T @ (x @ w - y) / len(y)
    return w - rate * 2 * x.T @ (x @ w - y) / len(y)


RIGHT = {
    "00.shapes": [shapes_torch_size, shapes_tuple_of_floats, shapes_array_noisy],
    "00.product": [product_pencil, product_tensor],
    "00.shares": [shares_unsqueezed, shares_lists],
    "00.error": [error_mse_loss, error_loop_noisy],
    "00.softmax": [softmax_fractions, softmax_rounded_down],
    "00.cross-entropy": [entropy_lists, entropy_one_hot],
    "00.slope": [slope_pencil, slope_expanded],
    "00.gradient": [gradient_einsum, gradient_mean_tensor],
    "00.transpose": [turned_mt, turned_contiguous],
    "00.descent": [descent_functional, descent_numpy],
}
