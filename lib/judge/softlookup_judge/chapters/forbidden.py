"""What must not be called in tasks of several chapters."""


def dotted(module: str, names: str) -> tuple[str, ...]:
    """Dotted names of what a module has, from a text with a space between them."""
    return tuple(f"{module}.{name}" for name in names.split())


ATTENTIONS = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
    *dotted("softlookup", "model reference"),
)
"""What must not be called where attention is to be written."""

SOFTMAXES = (
    *dotted("torch", "softmax log_softmax"),
    *dotted("torch.nn.functional", "softmax log_softmax softmin gumbel_softmax"),
    "torch.special.softmax",
    *dotted("torch", "logsumexp logcumsumexp"),
    *dotted("torch.nn", "Softmax Softmax2d Softmin LogSoftmax"),
    "torch.special.log_softmax",
    *dotted("torch.distributions", "Categorical OneHotCategorical"),
    "torch.nn.functional.cross_entropy",
    *dotted("scipy.special", "softmax log_softmax logsumexp"),
    *dotted("softlookup", "reference model"),
)
"""What must not be called where a softmax is to be written."""

AUTOGRAD = (
    *dotted("torch.autograd", "grad backward"),
    "torch.autograd.graph._engine_run_backward",
    "torch.Tensor.backward",
    *dotted("torch.func", "grad grad_and_value hessian linearize vjp jvp jacrev jacfwd"),
    "torch.autograd.forward_ad",
    *dotted("torch.autograd.functional", "jacobian hessian hvp vhp jvp vjp"),
    *dotted("softlookup", "reference model"),
)
"""What must not be called where gradients are to be written."""
