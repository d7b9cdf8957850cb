# %% 00.shapes | wrong | this is the shape of `x` itself | names=first-alone
def shape_of_product():
    return [5, 3]


# %% 00.error | wrong | you took the mean first and squared it, so positive and negative differences cancel | names=mean-before-square
def mean_square(predicted, target):
    return (predicted[:, 0] - target).mean() ** 2


# %% 00.error | wrong | you compared every prediction with every target | names=every-with-every sum-for-mean
def mean_square(predicted, target):
    return ((predicted - target) ** 2).sum()


# %% 00.cross-entropy | wrong | `[:, target]` takes every target in every row, which gives a table (B, B) | names=every-target
def cross_entropy(logits, target):
    return -logits.softmax(-1)[:, target].log().mean()


# %% 00.cross-entropy | wrong | you averaged the probabilities first and took the logarithm of their mean | names=log-of-mean
def picked(logits, target):
    return logits.softmax(-1)[torch.arange(len(target)), target]


def cross_entropy(logits, target):
    return -picked(logits, target).mean().log()


# %% 00.gradient | wrong | hessian only
def mean_square_error(x, w, y):
    return ((torch.tensor(x) @ w - torch.tensor(y)) ** 2).mean()


def gradient_by_hand(x, w, y):
    second = torch.autograd.functional.hessian(lambda weights: mean_square_error(x, weights, y), torch.tensor(w))
    return second.numpy() @ w - 2 * x.T @ y / len(y)


# %% 00.descent | wrong | flagged
def two_steps(w, x, y, rate):
    w.requires_grad_()
    for _ in range(2):
        ((x @ w - y) ** 2).mean().backward()
        w = (w - rate * w.grad).detach().requires_grad_()
    return w


# %% 00.descent | wrong | flag taken back
def flagged(w, x, y, rate):
    w.requires_grad_()
    for _ in range(2):
        ((x @ w - y) ** 2).mean().backward()
        w = (w - rate * w.grad).detach().requires_grad_()
    return w


def two_steps(w, x, y, rate):
    result = flagged(w, x, y, rate)
    w.requires_grad_(False)
    return result


# %% 00.descent | wrong | in place
def two_steps(w, x, y, rate):
    for _ in range(2):
        w -= rate * 2 / len(y) * x.T @ (x @ w - y)
    return w
