"""What must not be called in tasks of several chapters."""

ATTENTIONS = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
    "softlookup.model",
    "softlookup.reference",
)
"""What must not be called where attention is to be written."""

SOFTMAXES = (
    "torch.softmax",
    "torch.log_softmax",
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.functional.softmin",
    "torch.nn.functional.gumbel_softmax",
    "torch.special.softmax",
    "torch.logsumexp",
    "torch.logcumsumexp",
    "torch.nn.Softmax",
    "torch.nn.Softmax2d",
    "torch.nn.Softmin",
    "torch.nn.LogSoftmax",
    "torch.special.log_softmax",
    "torch.distributions.Categorical",
    "torch.distributions.OneHotCategorical",
    "torch.nn.functional.cross_entropy",
    "scipy.special.softmax",
    "scipy.special.log_softmax",
    "scipy.special.logsumexp",
    "softlookup.reference",
    "softlookup.model",
)
"""What must not be called where a softmax is to be written."""

AUTOGRAD = (
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.autograd.graph._engine_run_backward",
    "torch.Tensor.backward",
    "torch.func.grad",
    "torch.func.grad_and_value",
    "torch.func.hessian",
    "torch.func.linearize",
    "torch.func.vjp",
    "torch.func.jvp",
    "torch.func.jacrev",
    "torch.func.jacfwd",
    "torch.autograd.forward_ad",
    "torch.autograd.functional.jacobian",
    "torch.autograd.functional.hessian",
    "torch.autograd.functional.hvp",
    "torch.autograd.functional.vhp",
    "torch.autograd.functional.jvp",
    "torch.autograd.functional.vjp",
    "softlookup.reference",
    "softlookup.model",
)
"""What must not be called where gradients are to be written."""
