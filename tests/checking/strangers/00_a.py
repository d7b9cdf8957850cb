# %% 00.cross-entropy | wrong | hands probabilities to a function that expects logits: softmax twice | names=softmax-before
def cross_entropy(logits, target):
    probs = torch.softmax(logits, dim=-1)
    return torch.nn.functional.cross_entropy(probs, target)


# %% 00.cross-entropy | right | logsumexp minus the target's logit, row by row in a loop
def cross_entropy(logits, target):
    losses = []
    for row, t in zip(logits, target):
        losses.append(torch.logsumexp(row, dim=0) - row[int(t)])
    return torch.stack(losses).mean()


# %% 00.descent | wrong | right result, but works on w's own memory: detach() is not a copy | names=given-changed
def two_steps(w, x, y, rate):
    weights = w.detach()
    for _ in range(2):
        gradient = 2 * x.T @ (x @ weights - y) / len(y)
        weights -= rate * gradient
    return weights


# %% 00.error | wrong | subtracts (B, 1) and (B,) and averages a (B, B) table | names=every-with-every
def mean_square(predicted, target):
    return torch.mean((predicted - target) ** 2)


# %% 00.error | right | the difference as one row vector, its dot product with itself divided by B
def mean_square(predicted, target):
    gap = predicted.reshape(-1) - target
    return torch.dot(gap, gap) / gap.numel()


# %% 00.gradient | wrong | divides by all numbers of x (B * D) and not by B | names=divided-by-all
def gradient_by_hand(x, w, y):
    err = x @ w - y
    return 2 * x.T @ err / x.size


# %% 00.product | wrong | forgot the third term of the sum in the second row (3*2 + 1*0 and 3*1 + 1*3)
def product_by_hand():
    return [[2, 7], [6, 6]]


# %% 00.shapes | wrong | stops after x @ w: the third factor's .T is thought to change only w's columns back, so columns are those of w | names=not-turned
def shape_of_product():
    return [5, 4]


# %% 00.shares | wrong | takes the rows' axis as 1 always: for three or more axes it divides by the sums of another axis | names=fixed-axis
def row_shares(counts):
    return counts / counts.sum(1, keepdim=True)


# %% 00.shares | wrong | squeezes at the end, so an axis of size 1 is lost (input of shape (1, 2, 3)) | names=axes-of-one
def row_shares(counts):
    totals = counts.sum(dim=-1).unsqueeze(-1)
    return (counts / totals).squeeze()


# %% 00.slope | wrong | forgot the inner derivative x: 2 (wx - t) = 10 | names=inner-missing
def slope_by_hand():
    return 10


# %% 00.slope | right | central difference with step 1, exact for a square
def slope_by_hand():
    loss = lambda w: (w * 3 - 1) ** 2
    return (loss(3) - loss(1)) / 2


# %% 00.softmax | wrong | took the columns and not the rows: each column sums to 1 | names=over-columns
def softmax_by_hand():
    return [[0.25, 0.67, 0.56], [0.75, 0.33, 0.44]]


# %% 00.transpose | wrong | reshapes: right shape, numbers in the wrong places | names=cut-anew
def turned(x):
    B, T, D = x.shape
    return x.reshape(B, D, T)


# %% 00.transpose | right | unbinds the last axis and stacks the pieces on axis 1
def turned(x):
    return torch.stack(x.unbind(dim=-1), dim=1)
